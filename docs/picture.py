"""Draw the manual's picture of a found timeline from a run folder.

crosstask demo --out films --seed 0
python docs/picture.py films omelette_omelette-09 --media films/corpus/videos/omelette/omelette-09.mp4 --out docs/timeline.svg
"""

import argparse
import base64
import io
from pathlib import Path
from xml.sax.saxutils import escape

from crosstask.records import VideoKey
from crosstask.report.drawing import LABEL, ROW, WIDTH, timeline
from crosstask.runs import open_run

STYLE = "text{font-family:system-ui,sans-serif;fill:#1a202c}.step{font-size:13px}.axis{font-size:11px}.title{font-size:14px}"
PICTURE = 96  # width of a thumbnail; films are 4:3


def main() -> None:
    """Write the picture of one video of a run folder."""
    parser = argparse.ArgumentParser(description="Draw the manual's picture of a found timeline.")
    parser.add_argument("run", type=Path)
    parser.add_argument("video", help="TASK_VIDEO")
    parser.add_argument("--media", type=Path, help="The video file, for small pictures above the moments found")
    parser.add_argument("--out", type=Path, default=Path("docs/timeline.svg"))
    arguments = parser.parse_args()
    run = open_run(arguments.run)
    key = VideoKey(*arguments.video.split("_", 1))
    about = next(video for video in run.run.videos if video.key == key)
    method = run.run.methods[0]
    found, scores = run.localizations[method][key], run.scores(method, key)
    assert scores is not None
    drawn = timeline(found, len(scores), scores, about.truth, about.windows)
    inner = drawn[drawn.index(">") + 1 : drawn.rindex("</svg>")]
    title = f"{run.run.tasks[key.task].title}: synthetic film, steps found by '{method}'"
    strip = pictures(arguments.media, [step.segment for step in found.steps], len(scores)) if arguments.media else ""
    top = 26 + (PICTURE * 3 // 4 + 8 if strip else 0)
    height = top + len(found.steps) * ROW + 22
    arguments.out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"><style>{STYLE}</style>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/><text class="title" x="{LABEL}" y="16">{escape(title)}</text>'
        f'{strip}<g transform="translate(0 {top})">{inner}</g></svg>\n',
        "utf-8",
    )


def pictures(media: Path, seconds: list[int], n_segments: int) -> str:
    """Small pictures of the film, each as near as may be to its second on the timeline."""
    import av

    scale, parts, free = (WIDTH - LABEL - 10) / n_segments, [], float(LABEL)
    with av.open(str(media)) as container:
        frames = {round(float(frame.time), 1): frame.to_image() for frame in container.decode(video=0)}
    for i, second in enumerate(seconds):
        image = (
            frames[min(frames, key=lambda at: abs(at - second - 0.5))].convert("RGB").resize((2 * PICTURE, 2 * PICTURE * 3 // 4))
        )
        held = io.BytesIO()
        image.save(held, "JPEG", quality=55)
        latest = WIDTH - 10 - (len(seconds) - i) * (PICTURE + 4)
        x = min(max(free, LABEL + (second + 0.5) * scale - PICTURE / 2), latest)
        free = x + PICTURE + 4
        data = base64.b64encode(held.getvalue()).decode()
        parts.append(
            f'<image x="{x:.1f}" y="24" width="{PICTURE}" height="{PICTURE * 3 // 4}" href="data:image/jpeg;base64,{data}"/>'
        )
    return "".join(parts)


if __name__ == "__main__":
    main()
