"""The page in a real browser, on a real run: start, play, jump, compare, edit steps, drag a label, annotate, reload."""

import json
import time

import numpy as np
import pytest

from viewer.browser import chromium, size, viewing
from viewer.viewed import LINES, write_viewed_run

pytestmark = pytest.mark.slow
VIDEO = "#/video?task=1&video=-v1_0"
N_SEGMENTS = 40


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as page:
        size(page, 1280)
        yield page


def film(path):
    """A small video of N_SEGMENTS seconds."""
    av = pytest.importorskip("av", reason="the extra 'video' is not installed")
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for i in range(5 * N_SEGMENTS):
            picture = np.full((36, 64, 3), i % 255, np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        out.mux(stream.encode())


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    film(folder / "run" / "media" / "first.mp4")
    run = write_viewed_run(folder / "run", media={"-v1_1": "media/first.mp4"}, n_segments=N_SEGMENTS)
    other = write_viewed_run(folder / "older", n_segments=N_SEGMENTS)
    with viewing(run, "--compare", other) as address:
        yield address, run


@pytest.fixture
def at(page, served):
    """A function that opens a screen; afterwards the console must be empty."""
    address, _ = served
    page.get_log("browser")

    def open_screen(hash_=""):
        page.get("about:blank")
        page.get(address + hash_)
        wait(page, "document.querySelector('h1') !== null")
        return page

    yield open_screen
    assert [entry for entry in page.get_log("browser") if entry["level"] != "INFO"] == []
    page.get("about:blank")


def wait(page, condition, seconds=240.0):
    until = time.monotonic() + seconds
    while not page.execute_script(f"return Boolean({condition})"):
        assert time.monotonic() < until, (
            f"{condition} did not come true; page: {page.execute_script('return document.body.innerText')[:800]}"
        )
        time.sleep(0.03)


def one(page, css):
    found = page.find_elements("css selector", css)
    assert found, f"nothing fits {css}"
    return found[0]


def texts(page, css):
    from selenium.common.exceptions import StaleElementReferenceException

    for _ in range(5):  # the page may redraw between finding an element and reading it
        try:
            return [element.text for element in page.find_elements("css selector", css)]
        except StaleElementReferenceException:
            continue
    raise AssertionError(f"{css}: redrawn without end")


def press(page, *keys):
    from selenium.webdriver import ActionChains

    ActionChains(page).send_keys(*keys).perform()


def second(page):
    minutes, seconds = one(page, "#time").text.split(" / ")[0].split(":")
    return 60 * int(minutes) + int(seconds)


def test_the_list_shows_searches_and_opens_a_video(at):
    page = at()
    assert texts(page, "h1") == ["All tasks"] and one(page, "#count").text == "12 videos"
    one(page, "#search").send_keys("tea v2_1")
    wait(page, "document.querySelector('#count').textContent === '1 video'")
    one(page, "a.card").click()
    wait(page, "document.querySelector('.watch h1')?.textContent.includes('-v2_1')")
    assert texts(page, ".chapter-name") == ["boil water", "pour water"]


def test_chapters_jump_and_the_playhead_follows(at):
    page = at(VIDEO)
    chapter = page.find_elements("css selector", ".chapter")[1]
    chapter.click()
    minutes, seconds = one(chapter, ".chapter-time").text.split(":")
    moment = 60 * int(minutes) + int(seconds)
    assert second(page) == moment and chapter.get_attribute("aria-current") == "true"
    share = page.execute_script(
        "const o=document.querySelector('.over').getBoundingClientRect();"
        "const h=document.querySelector('.playhead').getBoundingClientRect();return (h.left+h.width/2-o.left)/o.width"
    )
    assert share == pytest.approx(moment / N_SEGMENTS, abs=0.01)
    assert "stir coffee" in one(page, "#announcer").get_attribute("textContent")


def test_without_a_video_file_a_clock_plays(at):
    page = at(VIDEO)
    press(page, " ")
    wait(page, "/^0:(0[1-9]|[1-5]\\d)/.test(document.querySelector('#time').textContent)")
    press(page, " ")
    stopped = one(page, "#time").text
    time.sleep(0.5)
    assert one(page, "#time").text == stopped and "Play" in one(page, "#play").text


def test_a_video_plays_and_seeks(at):
    page = at("#/video?task=1&video=-v1_1")
    wait(page, "document.querySelector('video').readyState >= 1")
    assert page.execute_script("return document.querySelector('video').duration") == pytest.approx(N_SEGMENTS, abs=0.5)
    one(page, "#play").click()
    wait(page, "document.querySelector('video').currentTime > 0.3")
    one(page, "#play").click()
    press(page, "3")
    wait(page, "!document.querySelector('video').seeking")
    assert page.execute_script("return document.querySelector('video').currentTime") == pytest.approx(second(page), abs=1)
    assert second(page) > 10


def test_keys_move_and_the_help_names_them(at):
    from selenium.webdriver.common.keys import Keys

    page = at(VIDEO)
    press(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert second(page) == 5
    press(page, "2")
    at_two = second(page)
    press(page, Keys.ARROW_DOWN)
    assert second(page) > at_two
    press(page, Keys.ARROW_UP)
    assert second(page) == at_two
    press(page, "?")
    assert one(page, "#help").is_displayed() and "play or pause" in one(page, "#help").text
    press(page, Keys.ESCAPE)
    assert not one(page, "#help").is_displayed()
    press(page, "n")
    wait(page, "document.querySelector('h1').textContent.includes('-v1_1')")


def test_two_methods_and_two_runs_are_compared(at):
    page = at(VIDEO)
    assert texts(page, "#compare option") == ["nothing", "supervised", "uniform", "supervised (older)", "uniform (older)"]
    for value in ("this:uniform", "other:uniform"):
        page.execute_script(f"const s=document.querySelector('#compare');s.value='{value}';s.dispatchEvent(new Event('change'))")
        wait(page, "document.querySelectorAll('.track .mark.other').length === 3")
        assert len(texts(page, ".chapter .other-time")) == 3
    page.refresh()
    wait(page, "document.querySelectorAll('.track .mark.other').length === 3")
    wait(page, "document.querySelector('.legend').innerText.includes('uniform (older)')")


def test_edited_steps_are_found_at_once(at):
    page = at(VIDEO)
    one(page, "#tab-steps").click()
    box = one(page, "#steps-box")
    box.clear()
    box.send_keys("boil milk\nstir cocoa")
    wait(page, "document.querySelector('#steps-message').textContent.startsWith('Localized 2 steps by the model')")
    assert texts(page, ".chapter-name") == ["boil milk", "stir cocoa"] == texts(page, ".step-name")
    box.send_keys("\nquux")
    wait(page, "document.querySelector('#steps-message').textContent.includes('quux')")


def test_a_dragged_label_is_saved_in_the_published_format(at, served):
    from selenium.webdriver import ActionChains

    _, run = served
    page = at("#/video?task=1&video=-v1_2&mode=correct")
    page.execute_script("document.querySelector('.label[data-step=\"1\"]').focus()")
    begun = one(page, "#label-start").get_attribute("value")
    shorten = "const e=document.querySelector('#label-end');e.value=%s;e.dispatchEvent(new Event('change'))"
    page.execute_script(shorten % (float(begun) + 0.3))  # narrower than its handles: dragging its middle must still move it
    label = one(page, '.label[data-step="1"]')
    before = float(page.execute_script("return document.querySelector('.label[data-step=\"1\"]').style.left").rstrip("%"))
    pixels = page.execute_script("return document.querySelector('.track').clientWidth") * 4 / N_SEGMENTS
    ActionChains(page).move_to_element(label).click_and_hold().move_by_offset(int(pixels), 0).release().perform()
    assert "not saved" in one(page, "#saved-state").text
    start = float(one(page, "#label-start").get_attribute("value"))
    assert start == pytest.approx(before * N_SEGMENTS / 100 + 4, abs=0.3)
    assert float(one(page, "#label-end").get_attribute("value")) == pytest.approx(start + 0.3, abs=0.11)
    one(page, "#save").click()
    wait(page, "document.querySelector('#saved-state').textContent.includes('annotations/1_-v1_2.csv')")
    first = (run / "annotations" / "1_-v1_2.csv").read_text().splitlines()[0].split(",")
    assert first[0] == "1" and float(first[1]) == pytest.approx(start, abs=0.01)
    page.refresh()
    wait(page, "document.querySelectorAll('.label').length === 3")
    again = float(page.execute_script("return document.querySelector('.label[data-step=\"1\"]').style.left").rstrip("%"))
    assert again * N_SEGMENTS / 100 == pytest.approx(start, abs=0.01)


def test_labels_move_stretch_and_go_by_keyboard_and_undo_brings_them_back(at):
    from selenium.webdriver.common.keys import Keys

    page = at("#/video?task=1&video=-v1_3&mode=correct")
    page.execute_script("document.querySelector('.label[data-step=\"2\"]').focus()")
    start, end = (float(one(page, f"#label-{name}").get_attribute("value")) for name in ("start", "end"))
    press(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.execute_script(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown',{key:'ArrowRight',shiftKey:true,bubbles:true}))"
    )
    assert float(one(page, "#label-start").get_attribute("value")) == pytest.approx(start + 1)
    assert float(one(page, "#label-end").get_attribute("value")) == pytest.approx(end + 1.5)
    press(page, Keys.DELETE)
    assert len(page.find_elements("css selector", ".label")) == 2
    one(page, "#undo").click()
    assert len(page.find_elements("css selector", ".label")) == 3
    page.execute_script("window.confirm = () => true")
    one(page, "#tab-watch").click()


def test_annotating_hides_the_predictions_and_asks_step_by_step(at, served):
    _, run = served
    page = at("#/video?task=2&video=-v2_0")
    one(page, "#tab-annotate").click()
    for hidden in (".track .mark", ".label", ".chapter"):
        assert [e for e in page.find_elements("css selector", hidden) if e.is_displayed()] == []
    blank = "[...document.querySelectorAll('.track canvas')].every(c => !c.getContext('2d').getImageData(0,0,c.width,c.height).data.some(Boolean))"
    assert page.execute_script(f"return {blank}")
    assert "boil water" in one(page, "#one-step").text and "pour water" not in one(page, "#one-step").text
    seek = "const r=document.querySelector('#ruler').getBoundingClientRect();"
    for moment, key in ((10, "s"), (14, "e")):
        page.execute_script(
            seek + f"document.querySelector('#ruler').dispatchEvent(new PointerEvent('pointerdown',"
            f"{{clientX:r.left+r.width*{moment}/{N_SEGMENTS},button:0,pointerType:'touch',bubbles:true}}))"
        )
        press(page, key)
    one(page, "#next-step").click()
    assert "pour water" in one(page, "#one-step").text
    press(page, "x")
    assert texts(page, ".chip") == ["1 ✓", "2 –"]
    one(page, "#save").click()
    wait(page, "document.querySelector('#saved-state').textContent.includes('annotations/2_-v2_0.csv')")
    assert (run / "annotations" / "2_-v2_0.csv").read_text() == "1,10,14\n"
    page.refresh()
    wait(page, "document.querySelectorAll('.label').length === 1")


def test_a_mark_is_kept_over_a_reload_and_filters_the_list(at):
    page = at("#/video?task=30&video=-v30_0")
    one(page, "#mark-irrelevant").click()
    wait(page, "document.querySelector('#mark-irrelevant').getAttribute('aria-pressed') === 'true'")
    page.refresh()
    wait(page, "document.querySelector('#mark-irrelevant')?.getAttribute('aria-pressed') === 'true'")
    page = at("#/?show=irrelevant")
    wait(page, "document.querySelector('#count').textContent === '1 video'")
    assert "irrelevant" in one(page, ".card").text


@pytest.mark.parametrize(
    "screen",
    [
        "",
        "#/review",
        VIDEO,
        f"{VIDEO}&compare=this:uniform",
        f"{VIDEO}&mode=steps",
        f"{VIDEO}&mode=correct",
        f"{VIDEO}&mode=annotate",
    ],
)
def test_nothing_runs_off_a_phone(at, page, screen):
    size(page, 390, 844)
    try:
        at(screen)
        assert page.execute_script("return document.documentElement.scrollWidth") <= 390
        names = "[...document.querySelectorAll('.chapter-name, .step-name, .card-name')].filter(e => e.offsetParent)"
        squeezed = page.execute_script(f"return {names}.filter(e => e.offsetHeight > 60).map(e => e.textContent)")
        assert squeezed == []
        small = "[...document.querySelectorAll('button:not(.label), select, input')].filter(e => e.offsetParent && e.offsetHeight < 24)"
        assert page.execute_script(f"return {small}.map(e => e.outerHTML)") == []
    finally:
        size(page, 1280)


@pytest.mark.parametrize(
    "screen", ["", "#/review", VIDEO, f"{VIDEO}&mode=steps", f"{VIDEO}&mode=correct", f"{VIDEO}&mode=annotate"]
)
def test_a_screen_reader_finds_names_headings_and_landmarks(at, screen):
    page = at(screen)
    nameless = page.execute_script(
        "const name = e => (e.getAttribute('aria-label') || e.textContent.trim() || [...(e.labels ?? [])].map(l => l.textContent).join('').trim());"
        "return [...document.querySelectorAll('button, a, select, input, textarea, [role=slider]')]"
        ".filter(e => e.offsetParent && !name(e)).map(e => e.outerHTML)"
    )
    assert nameless == []
    assert len(page.find_elements("css selector", "h1")) == 1 and len(page.find_elements("css selector", "main")) == 1
    assert one(page, "#announcer").get_attribute("aria-live") == "polite"
    double = page.execute_script(
        "const ids=[...document.querySelectorAll('[id]')].map(e=>e.id);return ids.filter((id,i)=>ids.indexOf(id)!==i)"
    )
    assert double == []


def test_a_video_that_is_not_there_is_said_kindly(at, page):
    at("#/video?task=1&video=nobody")
    assert "no such video" in one(page, "[role=alert]").text
    assert [e for e in page.get_log("browser") if "404" not in e["message"]] == []


def test_nothing_is_asked_of_other_machines(at):
    page = at(VIDEO)
    hosts = page.execute_script("return [...new Set(performance.getEntriesByType('resource').map(e => new URL(e.name).host))]")
    assert hosts == [page.execute_script("return location.host")]


def test_the_timeline_zooms_by_button_key_and_wheel_and_keeps_the_moment_in_view(at):
    page = at(VIDEO)
    wide = "return document.querySelector('#ruler').clientWidth"
    before = page.execute_script(wide)
    page.find_elements("css selector", ".chapter")[-1].click()
    assert not one(page, "#zoom-out").is_enabled()
    one(page, "#zoom-in").click()
    press(page, "+")
    assert page.execute_script(wide) == pytest.approx(4 * before, rel=0.02) and one(page, "#zoom").text == "4 times"
    head, box = (
        page.execute_script(f"const b = document.querySelector('{css}').getBoundingClientRect(); return [b.left, b.right]")
        for css in (".playhead", ".timeline-scroll")
    )
    assert box[0] <= head[0] <= box[1]  # where one looks stays in view
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")  # the page itself does not grow
    page.execute_script(
        "document.querySelector('.timeline-scroll').dispatchEvent("
        "new WheelEvent('wheel', {deltaY: 100, ctrlKey: true, cancelable: true, bubbles: true}))"
    )
    press(page, "-")
    assert page.execute_script(wide) == pytest.approx(before, rel=0.02) and one(page, "#zoom").text == "whole video"


def test_a_step_predicted_absent_is_marked(page, tmp_path):
    run = write_viewed_run(tmp_path / "run", n_segments=N_SEGMENTS)
    parses = json.loads((run / "localizations.json").read_text("utf-8"))
    for found in parses["methods"].values():
        for parse in found:
            parse["steps"][0]["shown"] = False
    (run / "localizations.json").write_text(json.dumps(parses))
    with viewing(run) as address:
        page.get(address + VIDEO)
        wait(page, "document.querySelector('.chapter') !== null")
        assert [name.endswith("probably not shown") for name in texts(page, ".chapter-name")] == [True, False, False]
        page.get("about:blank")


def test_the_transcript_follows_the_player_is_searched_and_seeks(at):
    page = at(VIDEO)
    wait(page, "document.querySelectorAll('.transcript-line').length === 5")
    assert texts(page, ".transcript-line .said")[4] == "Vielen Dank & <b>bye</b>"
    page.find_elements("css selector", ".transcript-line")[2].click()
    assert second(page) == 16
    wait(page, "document.querySelector('.transcript-line[aria-current] .said').textContent === 'now stir it well'")
    page.find_elements("css selector", ".transcript-line")[1].click()
    page.execute_script("document.activeElement.blur()")  # the space bar would press the line again
    press(page, " ")
    wait(page, "/^0:(09|[1-5]\\d)/.test(document.querySelector('#time').textContent)")
    press(page, " ")
    assert texts(page, ".transcript-line[aria-current] .said") == [LINES[min(4, int(second(page)) // 8)]]  # 1, unless it is slow
    one(page, "#transcript-search").send_keys("pour")
    wait(page, "document.querySelector('#transcript-count').textContent === '2 of 5 lines'")
    shown = [text for text in texts(page, ".transcript-line .said") if text]
    assert shown == ["first pour the milk", "pour the coffee"]


def test_without_a_transcript_there_is_no_empty_box(at):
    page = at("#/video?task=1&video=-v1_2")
    wait(page, "document.querySelector('.transcript') !== null")
    assert page.execute_script("return document.querySelector('.transcript').hidden")
