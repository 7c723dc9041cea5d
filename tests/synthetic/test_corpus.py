import json
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from crosstask.datasets import open_corpus
from crosstask.inference import decode_once
from crosstask.methods.training_videos import places_allowed
from crosstask.metrics.statistics import overall_statistics, task_statistics
from crosstask.records import InputError
from crosstask.synthetic import (
    DIFFICULTIES,
    SHAPES,
    Shape,
    generate_corpus,
    generate_with_permuted_names,
    generate_without_features,
    write_synthetic,
)

TINY = Shape("tiny", 2, 3, 3, 2, 1, 2)


@pytest.fixture(scope="module")
def paper_shape():
    return generate_without_features("paper", "default", seed=11)


def same_rows(a, b, video_id):
    return np.array_equal(a.features.rows(video_id), b.features.rows(video_id))


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    first, again, other = (
        generate_corpus(TINY, seed=4, n_dimensions=6),
        generate_corpus(TINY, seed=4, n_dimensions=6),
        generate_corpus(TINY, seed=5),
    )
    assert first.annotations == again.annotations and first.windows == again.windows
    assert all(same_rows(first, again, video.id) for video in first.videos)
    assert first.subtitles["1001v001"] == again.subtitles["1001v001"]
    assert first.annotations != other.annotations


def test_more_videos_and_tasks_change_no_other_video():
    few, many = (
        generate_corpus(TINY, n_dimensions=6),
        generate_corpus(replace(TINY, primary_tasks=3, test_videos_per_task=4), n_dimensions=6),
    )
    assert {video.key for video in few.videos} < {video.key for video in many.videos}
    assert all(few.windows[video.key] == many.windows[video.key] for video in few.videos)
    assert all(same_rows(few, many, video.id) for video in few.videos)


def test_hash_order_does_not_matter():
    program = (
        "import hashlib; from crosstask.synthetic import Shape, plant; "
        "c = plant(Shape('tiny', 2, 2, 1, 0, 0, 1), n_dimensions=5); "
        "print(hashlib.sha256(b''.join(c.features.rows(v.id).tobytes() for v in c.videos) + repr(c.windows).encode()).hexdigest())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, check=True, text=True,
        ).stdout
        for seed in ("0", "17")
    }  # fmt: skip
    assert len(outputs) == 1


def test_rows_are_half_precision_not_negative_and_as_long_as_the_video():
    corpus = generate_corpus(TINY, n_dimensions=50)
    for video in corpus.videos:
        rows = corpus.features.rows(video.id)
        assert rows.dtype == np.float16 and rows.shape == (corpus.seconds[video.id], 50)
        assert np.isfinite(rows).all() and (rows >= 0).all()
    assert 0.2 < np.mean(rows == 0) < 0.9


def test_statistics_at_the_paper_shape_are_those_of_the_release(paper_shape):
    figures = overall_statistics([task_statistics(paper_shape, task) for task in paper_shape.primary_tasks()])
    assert figures["missing"] == pytest.approx(0.31, abs=0.05)
    assert figures["background"] == pytest.approx(0.72, abs=0.03)
    assert figures["order_consistency"] == pytest.approx(0.86, abs=0.03)
    seconds = [paper_shape.n_segments(video) for video in paper_shape.videos]
    assert np.mean(np.log(seconds)) == pytest.approx(5.53, abs=0.1)
    assert np.std(np.log(seconds)) == pytest.approx(0.56, abs=0.06)


def test_windows_miss_as_many_steps_as_in_the_release(paper_shape):
    outside = []
    for key, truth in paper_shape.annotations.items():
        for window in paper_shape.windows[key]:
            spans = [part.interval for part in truth if part.step == window.step]
            if spans:
                outside.append(not any(window.interval.overlap_s(span) for span in spans))
    assert np.mean(outside) == pytest.approx(0.61, abs=0.03)
    lengths = [window.interval.length_s for windows in paper_shape.windows.values() for window in windows]
    assert np.mean(lengths) == pytest.approx(9, abs=0.3)


def test_windows_cover_every_step_and_always_allow_an_ordered_answer(paper_shape):
    for video in paper_shape.videos[::7]:
        windows, n_steps = paper_shape.windows[video.key], len(paper_shape.task_of(video).steps)
        assert [window.step for window in windows] == list(range(n_steps))
        allowed = places_allowed(windows, paper_shape.n_segments(video), n_steps)
        decode_once(np.where(allowed, 0.0, np.inf))


def test_annotations_lie_inside_the_video_and_only_primary_tasks_have_them(paper_shape):
    assert {key.task for key in paper_shape.annotations} == {task.id for task in paper_shape.primary_tasks()}
    for key, truth in paper_shape.annotations.items():
        n_seconds = paper_shape.seconds[key.video]
        assert truth and all(0 <= p.interval.start_s < p.interval.end_s <= n_seconds for p in truth)


def test_speech_names_each_step_near_its_window():
    corpus = generate_corpus(TINY, n_dimensions=2)
    near = []
    for video in corpus.videos:
        words = corpus.subtitles[video.id].words
        assert all(a.end_s <= b.start_s + 1e-6 for a, b in pairwise(words))
        assert words[-1].end_s <= corpus.seconds[video.id]
        for window in corpus.windows[video.key]:
            verb = corpus.task_of(video).steps[window.step].split()[0].split("_")[0]
            start, end = window.interval.start_s - 3, window.interval.end_s + 3
            near.append(any(word.text == verb and start <= word.start_s <= end for word in words))
    assert np.mean(near) > 0.75


def test_permuted_names_keep_the_videos_and_change_only_the_words():
    true, control = generate_corpus(TINY, n_dimensions=6), generate_with_permuted_names(TINY, n_dimensions=6)
    assert true.videos == control.videos and true.annotations == control.annotations and true.windows == control.windows
    assert all(same_rows(true, control, video.id) for video in true.videos)
    assert [t.steps for t in true.tasks.values()] != [t.steps for t in control.tasks.values()]


def test_words_that_steps_share_look_alike_and_names_dealt_anew_do_not():
    shape, still = Shape("still", 4, 0, 8, 0, 0, 0), replace(DIFFICULTIES["clear"], noise=0.5, scene=0.0)
    alike = {}
    for name, corpus in (("true", generate_corpus(shape, still, 1)), ("control", generate_with_permuted_names(shape, still, 1))):
        looks = step_means(corpus)
        pairs = [(a, b) for a in looks for b in looks if a[0] < b[0]]
        shares = np.array([bool(set(a[1].split()) & set(b[1].split())) for a, b in pairs])
        cosines = np.array([np.dot(looks[a], looks[b]) for a, b in pairs])
        alike[name] = cosines[shares].mean() - cosines[~shares].mean()
    assert alike["true"] > 0.2
    assert abs(alike["control"]) < 0.1


def step_means(corpus):
    """(task, step) -> unit vector from the mean of all rows to the mean of the step's."""
    rows, centre = {}, np.mean(np.concatenate([corpus.features.rows(v.id) for v in corpus.videos]).astype(float), axis=0)
    for video in corpus.videos:
        for part in corpus.annotations[video.key]:
            segments = part.interval.segments(corpus.n_segments(video))
            key = (video.task, corpus.task_of(video).steps[part.step])
            rows.setdefault(key, []).append(corpus.features.rows(video.id)[segments.start : segments.stop].astype(float))
    means = {key: np.concatenate(parts).mean(axis=0) - centre for key, parts in rows.items()}
    return {key: mean / np.linalg.norm(mean) for key, mean in means.items()}


def test_a_folder_says_the_same_as_memory(tmp_path):
    memory, folder = (
        generate_corpus(TINY, seed=2, n_dimensions=7),
        open_corpus(write_synthetic(tmp_path, TINY, seed=2, n_dimensions=7)),
    )
    assert dict(folder.tasks) == dict(memory.tasks) and folder.videos == memory.videos
    assert folder.validation == memory.validation and folder.seconds == memory.seconds
    assert folder.feature_spec == memory.feature_spec
    for video in memory.videos:
        assert folder.windows[video.key] == memory.windows[video.key]
        assert same_rows(folder, memory, video.id)
        read, said = folder.subtitles[video.id], memory.subtitles[video.id]
        assert [w.text for w in read.words] == [w.text for w in said.words]
        assert [w.start_s for w in read.words] == pytest.approx([w.start_s for w in said.words], abs=1e-3)
    assert all(folder.annotations[key] == truth for key, truth in memory.annotations.items())


def test_writing_twice_ends_with_the_same_bytes(tmp_path):
    def contents():
        write_synthetic(tmp_path, TINY, n_dimensions=3)
        return {p.relative_to(tmp_path): p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}

    assert contents() == contents()


@pytest.mark.parametrize("wrong", [{"shape": "huge"}, {"difficulty": "easy"}, {"n_dimensions": 0}, {"seed": -1}])
def test_wrong_settings_are_refused_by_name(wrong):
    with pytest.raises(InputError, match=r"expected"):
        generate_corpus(**({"shape": TINY} | wrong))


def test_frozen_settings_are_those_on_record():
    recorded = json.loads((Path(__file__).parents[3] / "results" / "planted-statistics.json").read_text("utf-8"))
    assert {name: asdict(difficulty) for name, difficulty in DIFFICULTIES.items()} == recorded["difficulties"]
    assert {name: asdict(shape) for name, shape in SHAPES.items()} == recorded["shapes"]
