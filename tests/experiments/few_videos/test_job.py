import pytest

from crosstask.experiments.few_videos.job import FewArm, strata, train_on_few
from crosstask.experiments.few_videos.step_lists import with_intervals_in_memory
from experiments.few_videos.people import people_corpus, write_people


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("people")
    write_people(path)
    return str(path)


def values(folder, arm, **changed):
    given = {
        "corpus": folder,
        "names": "given",
        "order": "given",
        "permuted": None,
        "part": 1,
        "seed": 0,
        "most": 30,
        "test_groups": ["P1"],
        "unused_groups": ["P2"],
        "few": ["1"],
        "tested": ["1"],
        "count": 2,
        "learning": {},
    }
    return {**given, **arm.values(), **changed}


@pytest.mark.parametrize("supervision", ["windows", "order", "labels"])
@pytest.mark.parametrize("method", ["hmm", "zhukov19"])
def test_hits_are_by_video_and_step(folder, method, supervision):
    quick = {"learning_rate": 0.01, "dropout": 0.1, "initial_epochs": 3, "epochs": 3} if method == "zhukov19" else {}
    result = train_on_few(values(folder, FewArm(method, "component", supervision, True), learning=quick))
    assert sorted(result["hits"]) == ["1_P1_E1_1_0", "1_P1_E1_1_1"] and result["skipped"] == {}
    hits = [hit for of_video in result["hits"].values() for hit in of_video]
    assert len(hits) == 6 and result["recall"]["1"] == pytest.approx(sum(hits) / 6)
    assert result["trained_on"] == 2 + 3 * 4, "two of the task, all of the others, two people held out"


def test_training_sees_no_annotation_without_labels(folder, tmp_path):
    """The result of weak supervision is the same when the annotation of the training videos is different."""
    corpus = write_people(tmp_path / "other")
    for video in corpus.videos:
        if not video.id.startswith("P1_"):
            (tmp_path / "other" / "crosstask_release" / "annotations" / f"{video.key}.csv").write_text("1,0,1\n")
    arm = FewArm("hmm", "component", "order", True)
    assert train_on_few(values(str(tmp_path / "other"), arm)) == train_on_few(values(folder, arm))
    labelled = FewArm("hmm", "component", "labels", True)
    assert train_on_few(values(str(tmp_path / "other"), labelled)) != train_on_few(values(folder, labelled))


def test_strata_by_what_other_tasks_trained():
    corpus = with_intervals_in_memory(people_corpus())
    train = [v for v in corpus.videos if v.task in ("1", "2")]
    assert strata(corpus, train, ["4"]) == {"4": ["name trained", "words trained", "words trained"]}
    assert strata(corpus, [v for v in corpus.videos if v.task == "1"], ["3"])["3"][0] == "unknown word"
