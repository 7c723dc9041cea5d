import hashlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from crosstask.datasets import open_corpus
from crosstask.records import InputError
from crosstask.synthetic import (
    DIFFICULTIES,
    Shape,
    generate_corpus,
    generate_with_permuted_names,
    generate_without_features,
    permuted_tasks,
    write_synthetic,
)

TINY = Shape("tiny", 2, 3, 3, 2, 1, 2)


def same_features(a, b, video_id):
    return np.array_equal(a.features.rows(video_id), b.features.rows(video_id))


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    first, again = (generate_corpus(TINY, seed=4, n_dimensions=6) for _ in range(2))
    other = generate_corpus(TINY, seed=5)
    assert first.annotations == again.annotations and first.windows == again.windows
    assert all(same_features(first, again, video.id) for video in first.videos)
    assert first.subtitles["1001v001"] == again.subtitles["1001v001"]
    assert first.annotations != other.annotations


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_more_videos_and_tasks_change_no_other_video(difficulty):
    few = generate_corpus(TINY, difficulty, n_dimensions=6)
    many = generate_corpus(replace(TINY, primary_tasks=3, test_videos_per_task=4), difficulty, n_dimensions=6)
    assert {video.key for video in few.videos} < {video.key for video in many.videos}
    assert all(few.windows[video.key] == many.windows[video.key] for video in few.videos)
    assert all(same_features(few, many, video.id) for video in few.videos)


def test_hash_order_does_not_matter():
    program = (
        "import hashlib; from crosstask.synthetic import Shape, generate_corpus; "
        "c = generate_corpus(Shape('tiny', 2, 2, 1, 0, 0, 1), n_dimensions=5); "
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


def test_stored_results_stay_reproducible():
    """Golden values: if they change, every stored result on synthetic data is void."""
    corpus = generate_corpus(Shape("tiny", 2, 2, 1, 0, 0, 1), "default", 0, 5)
    intervals = [[(p.step, p.interval.start_s, p.interval.end_s) for p in parts] for parts in corpus.windows.values()]
    truth = [[(p.step, p.interval.start_s, p.interval.end_s) for p in parts] for parts in corpus.annotations.values()]
    assert (
        hashlib.sha256(repr((intervals, truth)).encode()).hexdigest()
        == "087a82b8a615eb808faad2bf56d14cf4a732dbe02ef5cf78af94a4f8c6bf0826"
    )
    assert corpus.features.rows("1001v001").astype(float).mean(axis=0) == pytest.approx(
        [0.0433, 0.015, 0.1789, 0.3809, 0.2691], abs=1e-3
    )


def test_features_are_half_precision_non_negative_and_as_long_as_the_video():
    corpus = generate_corpus(TINY, n_dimensions=50)
    for video in corpus.videos:
        rows = corpus.features.rows(video.id)
        assert rows.dtype == np.float16 and rows.shape == (corpus.seconds[video.id], 50)
        assert np.isfinite(rows).all() and (rows >= 0).all()
    assert 0.2 < np.mean(rows == 0) < 0.9


def test_without_features_everything_else_is_the_same():
    whole, bare = generate_corpus(TINY, "noisy", 3, 4), generate_without_features(TINY, "noisy", 3)
    assert whole.windows == bare.windows and whole.annotations == bare.annotations and whole.tasks == bare.tasks
    assert whole.subtitles["1001v001"] == bare.subtitles["1001v001"] and "1001v001" not in bare.features


def test_irrelevant_videos_are_as_many_as_the_difficulty_says():
    shape = Shape("related", 1, 65, 1, 0, 0, 10)
    relevant = generate_without_features(shape, replace(DIFFICULTIES["default"], irrelevant_related_rate=0.0), 1)
    drawn = generate_without_features(shape, "default", 1)
    related = [video for video in drawn.videos if video.task != "1001"]
    changed = [relevant.windows[video.key] != drawn.windows[video.key] for video in related]
    assert np.mean(changed) == pytest.approx(0.44, abs=0.05)


def test_permuted_names_keep_the_videos_and_change_only_the_words():
    true, control = generate_corpus(TINY, n_dimensions=6), generate_with_permuted_names(TINY, n_dimensions=6)
    assert true.videos == control.videos and true.annotations == control.annotations and true.windows == control.windows
    assert all(same_features(true, control, video.id) for video in true.videos)
    assert [t.steps for t in true.tasks.values()] != [t.steps for t in control.tasks.values()]
    assert permuted_tasks(true.tasks, 0) == control.tasks


def test_steps_that_share_words_are_similar_and_permuted_names_are_not():
    shape = Shape("still", 4, 0, 8, 0, 0, 0)
    similarity = {}
    for name, corpus in (
        ("true", generate_corpus(shape, "easy", 1)),
        ("control", generate_with_permuted_names(shape, "easy", 1)),
    ):
        means = step_means(corpus)
        pairs = [(a, b) for a in means for b in means if a[0] < b[0]]
        shares = np.array([bool(set(a[1].split()) & set(b[1].split())) for a, b in pairs])
        cosines = np.array([np.dot(means[a], means[b]) for a, b in pairs])
        similarity[name] = cosines[shares].mean() - cosines[~shares].mean()
    assert similarity["true"] > 0.2
    assert abs(similarity["control"]) < 0.1


def step_means(corpus):
    """(task, step) -> unit vector from the mean of the task's features to the mean of the step's."""
    rows = {}
    centre = {
        task: np.mean(np.concatenate([corpus.features.rows(v.id) for v in corpus.videos_of(task)]).astype(float), axis=0)
        for task in corpus.tasks
    }
    for video in corpus.videos:
        for part in corpus.annotations[video.key]:
            segments = part.interval.segments(corpus.n_segments(video))
            key = (video.task, corpus.task_of(video).steps[part.step])
            rows.setdefault(key, []).append(corpus.features.rows(video.id)[segments.start : segments.stop].astype(float))
    means = {key: np.concatenate(parts).mean(axis=0) - centre[key[0]] for key, parts in rows.items()}
    return {key: mean / np.linalg.norm(mean) for key, mean in means.items()}


def test_a_written_folder_has_the_corpus_in_memory(tmp_path):
    memory = generate_corpus(TINY, seed=2, n_dimensions=7)
    folder = open_corpus(write_synthetic(tmp_path, TINY, seed=2, n_dimensions=7))
    assert dict(folder.tasks) == dict(memory.tasks) and folder.videos == memory.videos
    assert folder.validation == memory.validation and folder.seconds == memory.seconds
    assert folder.feature_spec == memory.feature_spec
    for video in memory.videos:
        assert folder.windows[video.key] == memory.windows[video.key]
        assert same_features(folder, memory, video.id)
        read, said = folder.subtitles[video.id], memory.subtitles[video.id]
        assert [w.text for w in read.words] == [w.text for w in said.words]
        assert [w.start_s for w in read.words] == pytest.approx([w.start_s for w in said.words], abs=1e-3)
    assert all(folder.annotations[key] == truth for key, truth in memory.annotations.items())


def test_writing_twice_ends_with_the_same_bytes(tmp_path):
    def contents():
        write_synthetic(tmp_path, TINY, n_dimensions=3)
        return {p.relative_to(tmp_path): p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}

    assert contents() == contents()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"shape": "huge"}, "unknown shape 'huge'; expected one of small, demo, paper, speed"),
        ({"difficulty": "matched-default"}, "unknown difficulty 'matched-default'; expected one of easy, clear, default"),
        ({"n_dimensions": 0}, "expected at least 1 dimension"),
        ({"seed": -1}, "expected at least 1 dimension and a seed of at least 0"),
    ],
)
def test_wrong_settings_are_refused_by_name(wrong, message):
    with pytest.raises(InputError, match=message):
        generate_corpus(**({"shape": TINY} | wrong))
