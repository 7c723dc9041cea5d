"""Scripts of rendered videos: the shown steps with their times, the shots between them, and the spoken lines."""

from dataclasses import dataclass

import numpy as np

from crosstask.records import Interval, StepInterval, Task

Rng = np.random.Generator

TASKS: tuple[Task, ...] = (
    Task("latte", "Make Latte", ("press coffee", "pour coffee", "add sugar", "pour milk", "stir milk")),
    Task("omelette", "Make Omelette", ("cut onion", "stir egg", "pour egg", "add cheese", "flip egg")),
    Task("salad", "Make Salad", ("cut tomato", "add lettuce", "cut onion", "pour oil", "stir lettuce")),
    Task("sandwich", "Make Sandwich", ("cut bread", "spread butter", "add cheese", "add tomato", "press bread")),
    Task("pancakes", "Make Pancakes", ("stir egg", "add sugar", "pour milk", "spread butter", "flip pancake")),
    Task("lemonade", "Make Lemonade", ("cut lemon", "press lemon", "add sugar", "pour water", "stir lemon")),
    Task("pizza", "Make Pizza", ("press dough", "pour oil", "spread tomato", "add cheese", "cut pizza")),
    Task("toast", "Make French Toast", ("stir egg", "cut bread", "pour milk", "flip bread", "add butter")),
)
# All ours: videos of about 38 s, in which steps are neither evenly spread nor most of the time.
_STEP_S = (2.0, 4.0)  # seconds
_LONG_TALK_S, _SHORT_TALK_S = (9.0, 15.0), (1.5, 3.5)  # seconds, one before the first step and one after the last
_MIN_PAUSE_S, _PAUSE_GAMMA = 0.8, (0.6, 4.0)  # seconds between steps: the least, and shape and scale of what is added
_NAMED = 0.85  # share of the steps that the narrator names
_SYNONYMS = {
    "pour": ("pour in the {}", "pour the {} now", "in goes the {}, just pour it"),
    "cut": ("cut the {}", "we cut our {} into pieces", "slice and cut the {}"),
    "stir": ("stir the {}", "keep stirring the {}", "give the {} a good stir"),
    "add": ("add the {}", "now add some {}", "we are adding {} here"),
    "spread": ("spread the {}", "spread some {} all over", "I am spreading the {}"),
    "flip": ("flip the {}", "now flip the {} over", "time to flip our {}"),
    "press": ("press the {}", "press down on the {}", "pressing the {} firmly"),
}
_CHATTER = (
    "hello everybody and welcome back",
    "this is my favourite recipe",
    "do not forget to subscribe",
    "my grandmother taught me this",
    "that looks really good already",
    "you can find everything in the description",
    "take your time with this one",
    "it smells wonderful in here",
    "I love a good {}",
    "make sure you have enough {} at home",
)


@dataclass(frozen=True)
class Shot:
    """An interval of the video that shows a step, or (step None) a person who talks, or the table."""

    start_s: float
    end_s: float
    step: int | None
    kind: str  # the verb, or 'talking', or 'table'
    noun: str


@dataclass(frozen=True)
class Line:
    """A spoken line."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True)
class Script:
    """Shots and lines of a whole video."""

    task: Task
    shots: tuple[Shot, ...]
    lines: tuple[Line, ...]

    @property
    def seconds(self) -> float:
        """Length of the video in seconds."""
        return self.shots[-1].end_s

    @property
    def truth(self) -> tuple[StepInterval, ...]:
        """The true intervals of the steps."""
        return tuple(StepInterval(s.step, Interval(s.start_s, s.end_s)) for s in self.shots if s.step is not None)


def random_script(task: Task, rng: Rng) -> Script:
    """A random script: one step in seven is missing, one video in five swaps two neighbours, and a long talk opens or closes the video."""
    order = [k for k in range(len(task.steps)) if rng.random() > 1 / 7] or [0]
    if len(order) > 2 and rng.random() < 0.2:
        i = int(rng.integers(len(order) - 1))
        order[i], order[i + 1] = order[i + 1], order[i]
    nouns = [step.split()[1] for step in task.steps]
    shots: list[Shot] = []
    opening_s, closing_s = rng.permutation([rng.uniform(*_LONG_TALK_S), rng.uniform(*_SHORT_TALK_S)])
    at = _pause(shots, 0.0, float(opening_s), nouns, rng)
    for k in order:
        verb, noun = task.steps[k].split()
        length_s = rng.uniform(*_STEP_S)
        shots.append(Shot(at, at + length_s, k, verb, noun))
        pause_s = float(closing_s) if k == order[-1] else _MIN_PAUSE_S + rng.gamma(*_PAUSE_GAMMA)
        at = _pause(shots, at + length_s, pause_s, nouns, rng)
    return Script(task, tuple(shots), tuple(_speak(task, shots, rng)))


def _pause(shots: list[Shot], at: float, length: float, nouns: list[str], rng: Rng) -> float:
    """Append shots of a person or the table that fill a pause; the time at which it ends."""
    cut = length * rng.uniform(0.3, 0.7) if length > 4 else length
    for piece in (cut, length - cut):
        if piece > 0.4:
            kind = "talking" if rng.random() < 0.6 else "table"
            shots.append(Shot(at, at + piece, None, kind, str(rng.choice(nouns))))
            at += piece
    return at


def _speak(task: Task, shots: list[Shot], rng: Rng) -> list[Line]:
    """Spoken lines: most steps are named at about the time they are shown; other lines are small talk, some of it misleading."""
    said: list[Line] = []
    for shot in shots:
        if shot.step is not None and rng.random() < _NAMED:
            text = str(rng.choice(_SYNONYMS[shot.kind])).format(shot.noun)
            start = max(0.0, shot.start_s - rng.uniform(-1.0, 3.0))
        elif shot.step is None and rng.random() < 0.7:
            text, start = str(rng.choice(_CHATTER)).format(shot.noun), shot.start_s + rng.uniform(0, 0.5)
        else:
            continue
        said.append(Line(start, start + 0.35 * len(text.split()) + 0.3, text))
    lines: list[Line] = []
    for line in sorted(said, key=lambda line: line.start_s):
        start = max(line.start_s, lines[-1].end_s if lines else 0.0)
        lines.append(Line(start, start + line.end_s - line.start_s, line.text))
    return [line for line in lines if line.end_s < shots[-1].end_s + 1]
