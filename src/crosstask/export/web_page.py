"""One static page for a video: a player and its steps, which can be clicked. It needs no server and loads nothing but the video file."""

import os
from collections.abc import Mapping
from html import escape
from pathlib import Path
from urllib.parse import quote

from crosstask.export.localized_video import LocalizedVideo
from crosstask.records import FoundStep

# The page may play media and run its own script; it may not fetch anything else.
_POLICY = "default-src 'none'; media-src * file:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; }
video { width: 100%; max-height: 60vh; background: #000; }
ol { list-style: none; padding: 0; }
button { font: inherit; width: 100%; text-align: left; border: 0; border-left: 4px solid #ccc;
  background: #f6f6f6; margin: 2px 0; padding: .4rem .8rem; cursor: pointer; }
button:hover, button:focus-visible { background: #e8eef7; }
button[aria-current="true"] { border-color: #1a5fb4; background: #dce8f7; }
time { font-variant-numeric: tabular-nums; display: inline-block; min-width: 4.5rem; }
small { color: #666; }
"""
_SCRIPT = """
const player = document.querySelector("video");
const buttons = [...document.querySelectorAll("button[data-start]")];
for (const button of buttons) {
  button.addEventListener("click", () => { player.currentTime = Number(button.dataset.start); player.play().catch(() => {}); });
}
player.addEventListener("timeupdate", () => {
  for (const button of buttons) {
    const inside = Number(button.dataset.start) <= player.currentTime && player.currentTime < Number(button.dataset.end);
    button.setAttribute("aria-current", String(inside));
  }
});
player.addEventListener("error", () => { document.querySelector("#missing").hidden = false; });
"""


def web_page(video: LocalizedVideo) -> str:
    """The page of a video; `video.media` is a link relative to the page."""
    title = f"{video.title}: {video.key.video}"
    steps = "\n".join(_step(step) for step in video.steps)
    absent = (
        f"<p><small>Not shown, as far as can be told: {escape(', '.join(step.name for step in video.absent))}</small></p>"
        if video.absent
        else ""
    )
    media = escape(video.media, quote=True)
    return _document(
        title,
        f"""<h1>{escape(title)}</h1>
<video controls preload="metadata" src="{media}"></video>
<p id="missing" hidden>The video file cannot be played: expected <code>{media}</code> beside this page, in a format that the browser knows.</p>
<ol>
{steps}
</ol>
{absent}
<script>{_SCRIPT}</script>""",
    )


def index_page(pages: Mapping[str, LocalizedVideo]) -> str:
    """A list of links to the pages, by file name."""
    links = "\n".join(
        f'<li><a href="{quote(file, errors="replace")}">{escape(video.title)}: {escape(video.key.video)}</a></li>'
        for file, video in pages.items()
    )
    return _document("Steps found", f"<h1>Steps found</h1>\n<ul>\n{links}\n</ul>")


def link_from(folder: Path, media: Path) -> str:
    """The link to a video file from a page in a folder: relative, so that both can be moved together.

    >>> link_from(Path("/out/html"), Path("/films/my film.mp4"))
    '../../films/my%20film.mp4'
    """
    try:
        return quote(Path(os.path.relpath(media, folder)).as_posix(), errors="replace")
    except ValueError:  # on another drive
        return media.resolve().as_uri()


def _step(step: FoundStep) -> str:
    certainty = "" if step.confidence is None else f" <small>confidence {step.confidence:.2f}</small>"
    return (
        f'<li><button type="button" data-start="{step.start_s:g}" data-end="{step.end_s:g}">'
        f"<time>{_clock(step.start_s)}</time> {escape(step.name)}{certainty}</button></li>"
    )


def _clock(second: float) -> str:
    """`1:02`, or `1:02:03` from an hour on."""
    minutes = f"{int(second) // 60 % 60}:{int(second) % 60:02d}"
    return minutes if second < 3600 else f"{int(second) // 3600}:{minutes:0>5}"


def _document(title: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""
