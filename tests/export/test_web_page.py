"""The static page: opened as a file in a real browser, steps clicked, the video played from the relative link."""

import shutil
import time
from dataclasses import replace

import pytest

from crosstask.export import exported_files
from crosstask.export.web_page import index_page, web_page
from export.videos import VIDEO
from viewer.browser import chromium
from viewer.test_page import film

STEP = "document.querySelectorAll('button')[{}]"
HERE = "document.querySelector('video').currentTime"


def wait(page, condition, seconds=240):
    until = time.monotonic() + seconds
    while not page.execute_script(f"return {condition}"):
        assert time.monotonic() < until, condition
        time.sleep(0.05)


def test_names_are_escaped_and_absent_steps_are_named():
    page = web_page(replace(VIDEO, media="a%20b.mp4"))
    assert "stir --&gt; &amp; &lt;b&gt;" in page and "<b>" not in page and "Make &lt;Latte&gt;" in page
    assert 'src="a%20b.mp4"' in page and "as far as can be told: serve" in page
    assert 'data-start="3.25" data-end="9.5"' in page and "<time>1:01</time>" in page


def test_several_videos_have_an_index():
    assert 'href="1_-vid%C3%A9o.html"' in index_page({"1_-vidéo.html": VIDEO})


@pytest.mark.slow
def test_a_colleague_opens_the_page_without_a_server(tmp_path):
    film(tmp_path / "films" / "my film.mp4")
    video = replace(VIDEO, length_s=40.0, media="films/my film.mp4")
    folder = tmp_path / "pages" / "html"
    files, _ = exported_files([video], "html", folder, tmp_path)
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.move(tmp_path / "films", moved)
    shutil.move(tmp_path / "pages", moved)
    with chromium(tmp_path / "profile") as page:
        page.get((moved / "pages" / "html" / next(iter(files))).as_uri())
        wait(page, "document.querySelector('video').readyState >= 1")
        assert page.execute_script("return document.querySelectorAll('button').length") == 3
        page.execute_script(STEP.format(1) + ".click()")
        wait(page, f"{HERE} >= 20 && {HERE} < 30")
        wait(page, STEP.format(1) + ".getAttribute('aria-current') === 'true'")
        assert page.execute_script(f"return {STEP.format(0)}.getAttribute('aria-current')") == "false"
        assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
