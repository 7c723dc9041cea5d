from crosstask.experiments.few_videos.controls import PERMUTATIONS, controls_for, sharing_controls
from crosstask.experiments.runner import ExperimentConfig
from experiments.few_videos.people import write_people


def test_all_controls_are_run_where_descriptions_and_a_graph_are_published(tmp_path):
    write_people(tmp_path / "corpus", n_videos=3)
    config = ExperimentConfig(str(tmp_path / "corpus"), tmp_path / "out", folds=2, supervision=("order",), methods=("hmm",))
    summary = sharing_controls(config).summary
    assert len(summary["results"]) == 7 + PERMUTATIONS and len(summary["differences"]) == 4
    shared = summary["results"]["hmm, order, words shared"]["recall"]["mean"]
    drawn = [of["recall"]["mean"] for name, of in summary["results"].items() if "permuted" in name]
    gain = summary["differences"]["hmm, order, words shared - words permuted"]["mean"]
    assert abs(gain - (shared - sum(drawn) / len(drawn))) < 1e-9
    assert (
        summary["results"]["hmm, order, words shared, published names"]["recall"]
        == summary["results"]["hmm, order, words shared"]["recall"]
    )


def test_a_corpus_without_published_texts_has_fewer_controls(tmp_path):
    config = ExperimentConfig("x", tmp_path)
    assert len(controls_for(config, has_texts=False, has_graph=False)) == 4 + PERMUTATIONS
