"""Random sequences of what a user does: commands end as in a fresh copy of the user's files, and never change these.

What an earlier command left (features, packs, transcripts, windows, labels, models, results) is used only if what it was made from is still the same.
"""

import json
import os
import random
import shutil
from functools import cache
from pathlib import Path

import pytest
import typer.main

pytest.importorskip("av", reason="extra video is not installed")

from crosstask.datasets import open_corpus
from crosstask.extraction.content_hash import content_digest
from crosstask.pipeline import recalibration, transcribe
from crosstask.pipeline.media import files_by_id, media_of
from crosstask.records import Narration
from faults.user_actions import ACTIONS, RUNS, WEIGHTS, command, run_into
from faults.user_folder import WORDS, UserFolder, content

SEQUENCES = int(os.environ.get("CROSSTASK_KILLS", "20"))
PARTS = 2  # for two processes
MOST_ACTIONS = 14
NOT_COMPARED = ("labels.jsonl", "relevance.json", "notes.txt")
NOT_COMPARED_FOLDERS = ("annotations", "before_learning", "scores")  # of videos that are gone nothing reads the scores


def heard(path: Path, model: Path | None, language: str | None) -> Narration:
    """What a speech recogniser might say, decided by the content of the video."""
    from crosstask.datasets.subtitles.timeline import DisplayedCue, narration_from_cues, untimed_words

    first = int(content_digest(path), 16) + len(language or "")
    texts = [WORDS[(first + i) % len(WORDS)] for i in range(3)]
    return narration_from_cues([DisplayedCue(2.0 * i, 2.0 * i + 1.5, (untimed_words(text),)) for i, text in enumerate(texts)])


@pytest.fixture(scope="module", autouse=True)
def quick_commands():
    """Commands that are built once, recognise speech at once, and learn from few answers."""
    patch = pytest.MonkeyPatch()
    patch.setattr(transcribe, "can_transcribe", lambda model: True)
    patch.setattr(transcribe, "transcribe", heard)
    patch.setattr(recalibration, "FEWEST_ANSWERS", 2)
    patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
    yield
    patch.undo()


def written(user: UserFolder, folder: Path) -> dict[str, bytes]:
    """The files of a folder, without what the user wrote there, and with one name for the folder around the corpus."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    names = {path.relative_to(folder).as_posix(): path for path in files if path.name not in NOT_COMPARED}
    kept = {name: path for name, path in names.items() if name.partition("/")[0] not in NOT_COMPARED_FOLDERS}
    return {name: path.read_bytes().replace(str(user.root).encode(), b"ROOT") for name, path in kept.items()}


def outcome_of_run(user: UserFolder, name: str) -> dict[str, object]:
    """Everything that `run`, `review`, `labels list` and `export` say and write."""
    code, _, messages = run_into(user, name)
    if code != 0:
        return {"refused": messages.replace(str(user.root), "ROOT").splitlines()[-1]}
    out, exports = user.out(name), user.root / "exports"
    shutil.rmtree(exports, ignore_errors=True)
    shown = {verb: command(user, *verb.split(), out, "--json")[1] for verb in ("review", "labels list")}
    command(user, "export", out, "--out", exports, "--all-steps")
    files = written(user, out) | {f"exports/{file}": data for file, data in written(user, exports).items()}
    return {verb: json.loads(said) for verb, said in shown.items()} | dict(files)


def outcome_of_training(user: UserFolder) -> dict[str, object]:
    """The windows and the model of `extract`, `narrate` and `train`."""
    model = user.root / "model.safetensors"
    model.unlink(missing_ok=True)
    codes = [command(user, "extract", user.corpus, "--features", "log-mel", "--workers", 1)[0]]
    codes += [command(user, "narrate", user.corpus)[0], command(user, "train", user.corpus, "--out", model)[0]]
    return {
        "codes": codes,
        "windows": dict(open_corpus(user.corpus).windows),
        "model": model.read_bytes() if model.is_file() else b"",
    }


def differences(found: dict[str, object], expected: dict[str, object]) -> list[str]:
    """The names of what differs, with the beginning of both."""
    names = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    return [f"{name}: {found.get(name)!r:.600}\n    expected {expected.get(name)!r:.600}" for name in names]


def recognise_again(user: UserFolder, fresh: UserFolder) -> None:
    """Recognise speech in a fresh copy where this was done before in the same file."""
    place, (files, _) = ".crosstask/subtitles", files_by_id(media_of(open_corpus(fresh.corpus)))
    heard_in = {path.stem: path.read_text()[:100] for path in (user.corpus / place).glob("*.vtt")}
    same = {video: path for video, path in files.items() if f"heard in {content_digest(path)}" in heard_in.get(video, "")}
    transcribe.transcribe_videos(same, fresh.corpus / place)


def follow(root: Path, actions: list[tuple[str, int, int]], run_name: str) -> None:
    """Do what is listed, then compare the outcome of the commands with that in a fresh copy."""
    user = UserFolder(root / "old")
    for action, a, b in actions:
        ACTIONS[action](user, a, b)
    fresh = user.fresh_copy(root / "new", run_name)
    if len(actions) % 3 == 0:
        recognise_again(user, fresh)
        assert not (different := differences(outcome_of_training(user), outcome_of_training(fresh))), "\n".join(different)
    found, expected = outcome_of_run(user, run_name), outcome_of_run(fresh, run_name)
    if "holds the steps found in other videos" not in str(found.get("refused")):
        assert not (different := differences(found, expected)), "\n".join(different)


def sequence(number: int) -> list[tuple[str, int, int]]:
    """The random actions of this number, after a first run."""
    rng = random.Random(f"sequence {number}")
    names = rng.choices(sorted(ACTIONS), [WEIGHTS.get(name, 1) for name in sorted(ACTIONS)], k=rng.randint(1, MOST_ACTIONS))
    return [("run", 1, 1), *((name, rng.randrange(100), rng.randrange(100)) for name in names)]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_commands_end_as_in_a_fresh_copy_of_the_users_files(part, tmp_path):
    for number in range(part, SEQUENCES, PARTS):
        actions = sequence(number)
        try:
            follow(tmp_path / str(number), actions, RUNS[number % 4 == 0])
        except Exception as error:
            raise AssertionError(f"sequence {number}: {actions}") from error
        shutil.rmtree(tmp_path / str(number))


def test_models_are_not_trained_on_or_tested_with_features_of_a_replaced_video(tmp_path):
    user, model = UserFolder(tmp_path), tmp_path / "model.safetensors"
    user.write("annotations/latte_a.csv", b"1,1,2\n2,3,4\n")
    extract = ("extract", user.corpus, "--features", "log-mel", "--workers", 1)
    verbs = [
        ("train", user.corpus, "--out", model),
        ("evaluate", user.corpus, "--model", model),
        ("corpus", "convert", user.corpus, tmp_path / "converted"),
        (
            "experiment",
            "cross-task",
            user.corpus,
            "--methods",
            "uniform",
            "--runs",
            1,
            "--train-videos",
            1,
            "--out",
            tmp_path / "table",
        ),
    ]
    command(user, *extract)
    assert [command(user, *verb)[0] for verb in verbs] == [0] * len(verbs)
    user.write("videos/latte/a.mp4", content(4))
    for verb in verbs:
        code, _, messages = command(user, *verb)
        assert code == 2 and "a.npy: extracted from another file than a.mp4 is now; repeat `crosstask extract" in messages
    command(user, *extract)
    verbs[2] = (*verbs[2][:-1], tmp_path / "converted anew")  # a conversion of other features is not written over the first
    assert [command(user, *verb)[0] for verb in verbs] == [0] * len(verbs)


def test_the_users_check_does_not_complain_about_windows_of_other_steps(tmp_path):
    """They are ours, and not used."""
    user = UserFolder(tmp_path)
    run_into(user, "run")
    text = (user.corpus / "corpus.toml").read_text("utf-8")
    first = text.index("steps = [")
    last = text.index("]", first)
    user.write("corpus.toml", (text[:first] + 'steps = ["one thing"' + text[last:]).encode())
    code, said, messages = command(user, "validate", user.corpus)
    assert "does not exist" not in said + messages and code == 0


def test_narration_does_not_use_speech_that_was_recognised_in_a_replaced_video(tmp_path):
    user = UserFolder(tmp_path)
    for name in user.named(".srt"):
        user.remove(name)
    run_into(user, "run")
    for number, name in enumerate(user.named(".mp4")):
        user.write(name, content(3 + number % 2))
    code, _, messages = command(user, "narrate", user.corpus)
    assert code == 2 and "no video with subtitles" in messages
