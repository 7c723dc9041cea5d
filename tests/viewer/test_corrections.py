"""Corrections in a real browser, by keyboard: from the review to Watch, chapters and CSV; learn, accept, undo; two windows; a killed server."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from cli.running import crosstask
from crosstask.datasets import write_step_intervals
from crosstask.records import Interval, StepInterval
from crosstask.runs import open_run
from crosstask.viewer.annotations import AnnotationStore
from pipeline.test_run_labels import folder as corpus_folder  # noqa: F401 - fixture
from pipeline.test_run_labels import run as run_corpus
from viewer.browser import chromium, size, viewing
from viewer.test_page import one, press, texts, wait

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as page:
        size(page, 1280)
        yield page


@pytest.fixture
def run(corpus_folder):  # noqa: F811
    """A finished run of the default method, in the folder of its corpus."""
    run_corpus(corpus_folder)
    return corpus_folder / "run"


def open_at(page, address, hash_):
    page.get("about:blank")
    page.get(address + hash_)
    wait(page, "document.querySelector('h1') !== null")
    return page


def answered(page, n):
    wait(page, f"document.querySelector('#review-counts').textContent.includes(', {n} corrected')")


def asked(page):
    """What the review asks about: (task title, video, number of the step), and its words."""
    about = page.execute_script("return document.querySelector('#review-step .of').firstChild.textContent").split(" · ")
    return about[0], about[1], int(about[2].removeprefix("step "))


def key_of(opened, item):
    return next(v.key for v in opened.run.videos if (opened.run.tasks[v.task].title, v.id) == item[:2])


def test_three_steps_corrected_by_keyboard_are_in_watch_chapters_and_csv(page, run, tmp_path):
    from selenium.webdriver.common.keys import Keys

    opened, items = open_run(run), []
    with viewing(run) as address:
        open_at(page, address, "#/review")
        answered(page, 0)
        items.append(asked(page))
        before = page.execute_script("return document.querySelector('#review-found').textContent")
        press(page, Keys.ENTER)
        answered(page, 1)
        items.append(asked(page))
        press(page, "p", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "m")
        answered(page, 2)
        items.append(asked(page))
        press(page, "x")
        answered(page, 3)
        assert len(set(items)) == 3
        labels = {(key, label.step + 1): label for key, of_video in opened.labels.labels().items() for label in of_video.values()}
        right, moved, absent = (labels[key_of(opened, item), item[2]] for item in items)
        assert right.label.kind == "moment" and right.right and f"{int(right.label.moment_s) // 60}:" in before
        assert moved.label.kind == "moment" and absent.label.kind == "not shown"
        key = key_of(opened, items[1])
        open_at(page, address, f"#/video?task={key.task}&video={key.video}")
        chapters = texts(page, ".chapter")
        second = int(moved.label.moment_s)
        assert "by a person" in chapters[items[1][2] - 1] and f"{second // 60}:{second % 60:02d}" in chapters[items[1][2] - 1]
        assert page.find_elements("css selector", ".mark.by-person")
        open_at(page, address, "")
        wait(page, "document.querySelector('#step-counts').textContent.includes(', 3 corrected')")
        wait_for_report(run, "3 corrected by a person")
    assert crosstask("export", run, "--format", "vtt", "--format", "csv", "--out", tmp_path / "out").returncode == 0
    chapters = (tmp_path / "out" / "vtt" / f"{key}.vtt").read_text()
    stamp = moved.interval.start_s
    assert f"00:00:{int(stamp):02d}.{round(stamp % 1 * 1000):03d} -->" in chapters
    rows = [line.split(",") for line in (tmp_path / "out" / "csv" / "steps.csv").read_text().splitlines()]
    assert sorted(row[-2] for row in rows if row[-1] == "person") == ["no", "yes", "yes"]


def wait_for_report(run, words):
    import time

    until = time.monotonic() + 240
    while words not in (run / "report.html").read_text():
        assert time.monotonic() < until, "the report does not show the corrections"
        time.sleep(0.2)


def test_undo_and_intervals_by_keyboard(page, run):
    opened = open_run(run)
    with viewing(run) as address:
        open_at(page, address, "#/review")
        answered(page, 0)
        item = asked(page)
        press(page, "p", "i")
        wait(page, "document.querySelector('#review-hint').textContent.includes('Starts at')")
        from selenium.webdriver.common.keys import Keys

        press(page, Keys.ARROW_RIGHT, "i")
        answered(page, 1)
        (label,) = opened.labels.labels()[key_of(opened, item)].values()
        assert label.label.kind == "intervals" and label.label.intervals[0].length_s > 1
        press(page, "u")
        answered(page, 0)
        assert opened.labels.labels() == {} and asked(page) == item
        press(page, "n")
        wait(page, f"!document.querySelector('#review-step').textContent.includes({json.dumps(' · '.join(map(str, item[:2])))})")


def set_label(page, step, start, end):
    page.execute_script(f"document.querySelector('.label[data-step=\"{step}\"]').dispatchEvent(new FocusEvent('focus'))")
    for name, value in (("start", start), ("end", end)):
        page.execute_script(
            f"const e=document.querySelector('#label-{name}');e.value={value};e.dispatchEvent(new Event('change'))"
        )


def save(page):
    one(page, "#save").click()
    wait(page, "document.querySelector('#saved-state').textContent.includes('Saved in')")


@pytest.mark.parametrize("mode", ["correct", "annotate"])
def test_a_window_shows_what_another_saved_once_it_has_saved_itself(page, run, mode):
    """What it would save later is not what it showed before the other window's label."""
    opened = open_run(run)
    key = next(video.key for video in opened.run.videos if len(opened.run.tasks[video.task].steps) > 1)
    intervals = tuple(StepInterval(step, Interval(step, step + 1)) for step in range(len(opened.run.tasks[key.task].steps)))
    if mode == "annotate":
        AnnotationStore(opened, write_step_intervals).save_annotation(key, intervals)
    with viewing(run) as address:
        open_at(page, address, f"#/video?task={key.task}&video={key.video}&mode={mode}")
        first = page.current_window_handle
        page.switch_to.new_window("tab")
        second = page.current_window_handle
        open_at(page, address, f"#/video?task={key.task}&video={key.video}&mode={mode}")
        set_label(page, 2, 5, 7)
        save(page)
        page.switch_to.window(first)
        set_label(page, 1, 1, 2.5)
        save(page)
        assert "from 0:05" in page.execute_script("return document.querySelector('.label[data-step=\"2\"]').title")
        assert one(page, "#save").get_attribute("disabled"), "nothing is left to save"
        labels = {label.step: label.label.intervals for label in opened.labels.labels()[key].values()}
        assert labels[1] == (Interval(5, 7),) and labels[0] == (Interval(1, 2.5),)
        page.switch_to.window(second)
        page.close()
        page.switch_to.window(first)


def test_learn_shows_what_would_move_and_can_be_accepted_and_undone(page, run):
    opened = open_run(run)
    found = opened.localizations["hmm"]
    with viewing(run) as address:
        open_at(page, address, "#/review")
        answered(page, 0)
        assert one(page, "#learn").get_attribute("disabled")
        for n in range(1, 4):
            press(page, "p", "m")  # 3 s before the found moment
            answered(page, n)
        before = {name: (run / name).read_bytes() for name in ("model.safetensors", "localizations.json")}
        assert one(page, "#learn").text == "Learn from 3 corrections"
        one(page, "#learn").click()
        wait(page, "!document.querySelector('#accept-learning').hidden")
        said = one(page, "#learning-state").text
        assert "would move" in said
        moved = page.find_elements("css selector", "#moved li")
        assert said.startswith(f"{len(moved)} step") or (said == "No step would move." and not moved)
        for link in page.find_elements("css selector", "#moved a")[:1]:
            assert "play=1" in link.get_attribute("href")
        assert {name: (run / name).read_bytes() for name in before} == before, "nothing is written before it is accepted"
        one(page, "#accept-learning").click()
        wait(page, "document.querySelector('#accept-learning').hidden && !document.querySelector('#undo-learning').hidden")
        assert (run / "model.safetensors").read_bytes() != before["model.safetensors"]
        labels = opened.labels.labels()
        for key, of_video in labels.items():
            for step, label in of_video.items():
                assert opened.localizations["hmm"][key].steps[step].moment_s == label.label.moment_s, "a label never moves"
        one(page, "#undo-learning").click()
        wait(page, "document.querySelector('#undo-learning').hidden")
        assert {name: (run / name).read_bytes() for name in before} == before
    assert len(labels) and opened.machine_localizations["hmm"] == open_run(run).machine_localizations["hmm"]
    assert any(opened.localizations["hmm"][key] != found[key] for key in labels)


def test_two_windows_overwrite_nothing(page, run):
    opened = open_run(run)
    with viewing(run) as address:
        hash_ = "#/video?task=1&video=-v1_0&mode=correct"
        open_at(page, address, hash_)
        first = page.current_window_handle
        page.switch_to.new_window("tab")
        second = page.current_window_handle
        open_at(page, address, hash_)
        move(page, 1, 1)
        save(page)
        page.switch_to.window(first)
        move(page, 1, 3)
        one(page, "#save").click()
        wait(page, "document.querySelector('.notice') !== null")
        assert "labelled somewhere else meanwhile" in one(page, ".notice").text
        (label,) = opened.labels.labels()[opened.run.videos[0].key].values()
        assert page.execute_script("return document.querySelector('#saved-state').textContent").endswith("not saved yet")
        one(page, "#undo").click()
        move(page, 2, 2)
        save(page)
        labels = opened.labels.labels()[opened.run.videos[0].key]
        assert set(labels) == {0, 1} and labels[0] == label, "another step is saved beside it"
        page.execute_script("document.querySelector('#history').open = true")
        page.find_elements("css selector", "#history button")[0].click()
        wait(page, "document.querySelector('#history summary').textContent.includes('1 saved change')")
        assert set(opened.labels.labels()[opened.run.videos[0].key]) == {0}
        page.switch_to.window(second)
        page.close()
        page.switch_to.window(first)


def move(page, step, seconds):
    """Move the label of a step by its input field."""
    one(page, f'.label[data-step="{step}"]').click()
    wait(page, "!document.querySelector('.chosen-label').hidden")
    page.execute_script(
        f"const f = document.querySelector('#label-end'); f.value = Number(f.value) + {seconds}; f.dispatchEvent(new Event('change'))"
    )
    wait(page, "document.querySelector('#saved-state').textContent.includes('not saved yet')")


def test_a_killed_server_keeps_what_it_confirmed(run):
    httpx = pytest.importorskip("httpx")
    command = [sys.executable, "-m", "crosstask.cli.main", "view", str(run), "--port", "0"]
    confirmed = []
    for kill_after in (1, 6):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        address = process.stdout.readline().strip()

        def save_forever(address=address, offset=kill_after):
            for i in range(10_000):
                label = {"task": "1", "video": f"-v1_{i % 4}", "step": 1 + i % 3, "kind": "moment", "moment_s": (i + offset) % 40}
                try:
                    answer = httpx.put(address + "api/label", json=label, timeout=240)
                except httpx.HTTPError:
                    return
                confirmed.append((answer.json()["change"], label))

        thread = threading.Thread(target=save_forever)
        thread.start()
        at_start = len(confirmed)
        while len(confirmed) < at_start + kill_after and thread.is_alive():
            pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        thread.join()
        process.stdout.close()
    written = {change.id: change for change in open_run(run).labels.changes()}
    assert len(confirmed) >= 7
    for change, label in confirmed:
        (one_label,) = written[change].labels
        assert (written[change].key.video, one_label.step + 1, one_label.label.moment_s) == (
            label["video"],
            label["step"],
            label["moment_s"],
        )


@pytest.mark.parametrize("ended_by", [signal.SIGHUP, signal.SIGKILL])
def test_the_report_has_the_last_label_however_the_server_ended(run, ended_by):
    httpx = pytest.importorskip("httpx")
    command = [sys.executable, "-m", "crosstask.cli.main", "view", str(run), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        address = process.stdout.readline().strip()
        label = {"task": "1", "video": "-v1_1", "step": 1, "kind": "moment", "moment_s": 7}
        assert httpx.put(f"{address}api/label", json=label, timeout=60).status_code == 200
        process.send_signal(ended_by)
        process.wait(240)
    if ended_by == signal.SIGKILL:
        assert "1 corrected by a person" not in (run / "report.html").read_text()
        with viewing(run):
            wait_for_report(run, "1 corrected by a person")
    assert "1 corrected by a person" in (run / "report.html").read_text()
