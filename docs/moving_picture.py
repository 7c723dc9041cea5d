"""Draw the moving picture of the README from a run folder: the film, the list of its steps, and the timeline that fills up.

crosstask demo --out films --seed 0
python docs/moving_picture.py films pizza_pizza-09 --out docs/demo.gif
"""

import argparse
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from crosstask.records import FoundStep, VideoKey
from crosstask.runs import open_run

WIDTH, HEIGHT = 720, 366  # pixels of the picture
FILM = (300, 225)  # pixels of the film in it; films are 4:3
MARGIN, TOP = 16, 44  # pixels
LIST_LEFT, ROW = 348, 27  # pixels: the list of steps, and the height of one line of it
BAR_TOP, BAR_HEIGHT = 296, 22  # pixels: the timeline
FRAMES_PER_SECOND = 2  # of the film that are shown
MILLISECONDS = 110  # a frame stays, about 4.5 times as fast as the film
LAST_MILLISECONDS = 2600  # the last frame stays
CAPTION = "given: the list of steps; found: when each happens"
COLOURS = 128  # of the whole picture
INK, GREY, PALE, PAPER, MARK = "#1a202c", "#8a94a6", "#e8ebf0", "#ffffff", "#c53030"
STEP_COLOURS = ("#2b6cb0", "#2f855a", "#b7791f", "#805ad5", "#c05621", "#0987a0", "#b83280", "#4a5568")


class Scene(NamedTuple):
    """What the picture shows: a title, the steps that were found, the film's length in seconds, and its frames with their times."""

    title: str
    steps: list[FoundStep]
    length_s: float
    frames: list[tuple[float, Image.Image]]


def main() -> None:
    """Write the moving picture of one video of a run folder."""
    parser = argparse.ArgumentParser(description="Draw the moving picture of the README.")
    parser.add_argument("run", type=Path, help="Run folder of `crosstask demo`")
    parser.add_argument("video", help="TASK_VIDEO")
    parser.add_argument("--out", type=Path, default=Path("docs/demo.gif"))
    arguments = parser.parse_args()
    drawn = [draw(scene, at) for scene in [scene_of(arguments.run, arguments.video)] for at in range(len(scene.frames))]
    palette = several_of(drawn).quantize(COLOURS)
    shown = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in drawn]
    times = [MILLISECONDS] * (len(shown) - 1) + [LAST_MILLISECONDS]
    shown[0].save(arguments.out, save_all=True, append_images=shown[1:], duration=times, loop=0, optimize=False)
    print(f"{arguments.out}: {len(shown)} frames, {arguments.out.stat().st_size / 1e6:.2f} MB")


def several_of(pictures: list[Image.Image]) -> Image.Image:
    """Some of the pictures below each other, to choose colours from."""
    chosen = pictures[:: max(1, len(pictures) // 6)]
    together = Image.new("RGB", (WIDTH, HEIGHT * len(chosen)))
    for number, picture in enumerate(chosen):
        together.paste(picture, (0, number * HEIGHT))
    return together


def scene_of(folder: Path, name: str) -> Scene:
    """The scene of one video, by the first method of the run."""
    run = open_run(folder)
    key = VideoKey(*name.split("_", 1))
    about = next(video for video in run.run.videos if video.key == key)
    found = run.localizations[run.run.methods[0]][key]
    assert about.media is not None
    title = f"{run.run.tasks[key.task].title}: steps found in a synthetic film"
    return Scene(title, [step for step in found.steps if step.shown], about.n_segments, frames_of(folder / about.media))


def frames_of(media: Path) -> list[tuple[float, Image.Image]]:
    """Some frames of a film, small, each with its time in seconds."""
    import av

    chosen: list[tuple[float, Image.Image]] = []
    with av.open(str(media)) as container:
        for frame in container.decode(video=0):
            if float(frame.time) * FRAMES_PER_SECOND >= len(chosen):
                chosen.append((float(frame.time), frame.to_image().convert("RGB").resize(FILM)))
    return chosen


def draw(scene: Scene, number: int) -> Image.Image:
    """The picture at one frame of the film."""
    now_s, film = scene.frames[number]
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen = ImageDraw.Draw(picture)
    pen.text((MARGIN, 14), scene.title, fill=INK, font=font(18))
    picture.paste(film, (MARGIN, TOP))
    ended = number == len(scene.frames) - 1
    for row, step in enumerate(scene.steps):
        _draw_line(pen, row, step, scene.length_s if ended else now_s, ended)
        _draw_interval(pen, row, step, now_s if not ended else scene.length_s, scene.length_s)
    _draw_axis(pen, now_s, scene.length_s)
    pen.text((LIST_LEFT, TOP + FILM[1] - 18), CAPTION, fill=GREY, font=font(14))
    return picture


def _draw_line(pen: ImageDraw.ImageDraw, row: int, step: FoundStep, now_s: float, ended: bool) -> None:
    """A line of the list: grey before the step, on its colour while it lasts, black afterwards."""
    y = TOP + 2 + row * ROW
    started, lasting = now_s >= step.start_s, step.start_s <= now_s < step.end_s and not ended
    colour = STEP_COLOURS[row % len(STEP_COLOURS)]
    if lasting:
        pen.rounded_rectangle((LIST_LEFT - 6, y - 3, WIDTH - MARGIN, y + ROW - 6), 4, fill=colour)
    elif started:
        pen.rectangle((LIST_LEFT - 6, y, LIST_LEFT - 2, y + ROW - 9), fill=colour)
    ink = PAPER if lasting else INK if started else GREY
    pen.text((LIST_LEFT + 6, y), clock(step.start_s) if started else "-:--", fill=ink, font=font(16))
    pen.text((LIST_LEFT + 58, y), step.name, fill=ink, font=font(16))


def _draw_interval(pen: ImageDraw.ImageDraw, row: int, step: FoundStep, now_s: float, length_s: float) -> None:
    """The interval of a step on the timeline, as far as the film has come."""
    left, right = place(step.start_s, length_s), place(min(step.end_s, now_s), length_s)
    if row == 0:
        pen.rectangle((MARGIN, BAR_TOP, WIDTH - MARGIN, BAR_TOP + BAR_HEIGHT), fill=PALE)
    if right > left:
        pen.rectangle((left, BAR_TOP, right, BAR_TOP + BAR_HEIGHT), fill=STEP_COLOURS[row % len(STEP_COLOURS)])


def _draw_axis(pen: ImageDraw.ImageDraw, now_s: float, length_s: float) -> None:
    """The mark of the present moment, and the times below the timeline."""
    x = place(now_s, length_s)
    pen.line((x, BAR_TOP - 5, x, BAR_TOP + BAR_HEIGHT + 5), fill=MARK, width=2)
    for tick_s in range(0, int(length_s) + 1, 10):
        pen.text((place(tick_s, length_s), BAR_TOP + BAR_HEIGHT + 8), clock(tick_s), fill=GREY, font=font(13), anchor="ma")


def place(moment_s: float, length_s: float) -> float:
    """The x of a moment on the timeline, in pixels."""
    return MARGIN + (WIDTH - 2 * MARGIN) * moment_s / length_s


def clock(moment_s: float) -> str:
    """Minutes and seconds.

    >>> clock(75.4)
    '1:15'
    """
    return f"{int(moment_s) // 60}:{int(moment_s) % 60:02d}"


def font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    """Pillow's own font, the same on every machine."""
    return ImageFont.load_default(size)


if __name__ == "__main__":
    main()
