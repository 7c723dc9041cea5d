"""The viewer uses features of the run's own videos alone: files and feature specs may have been replaced since."""

import json
from dataclasses import replace

import pytest

from crosstask.features import write_feature_spec
from crosstask.model.file import load_model
from crosstask.pipeline.features_of_run import FeaturesOfRun, why_not_for_model
from crosstask.pipeline.relearning import why_not_learning
from crosstask.pipeline.viewer_backend import StepLocalizer, build_backend, features_for_run
from crosstask.records import InputError, NoFeatures
from crosstask.runs import open_run, write_run
from pipeline.test_run_labels import folder, run  # noqa: F401 - fixture


@pytest.fixture
def done(folder):  # noqa: F811
    """A run whose videos have known contents, with the record of an extraction for one of them."""
    run(folder)
    opened = open_run(folder / "run")
    described = replace(opened.run, videos=tuple(replace(video, content="then") for video in opened.run.videos))
    write_run(folder / "run", described, {name: list(found.values()) for name, found in opened.localizations.items()})
    (folder / "features" / ".done").mkdir()
    return open_run(folder / "run")


def extracted_from(done, video_id, content):
    record = done.folder.parent / "features" / ".done" / f"{video_id}.json"
    record.write_text(json.dumps({"values": {"video": "a.mp4", "stamp": content}, "result": {}}))


def test_features_of_a_replaced_video_are_not_used_for_the_run_of_the_old_one(done):
    video = done.run.videos[0]
    extracted_from(done, video.id, "then")
    features = features_for_run(done, None)
    assert isinstance(features, FeaturesOfRun) and all(one.id in features for one in done.run.videos)
    assert len(features.rows(video.id)) == 40
    extracted_from(done, video.id, "now")
    assert video.id not in features and done.run.videos[1].id in features
    with pytest.raises(InputError, match="its features are of another file than the run is of; repeat `crosstask run`"):
        features.rows(video.id)
    backend = build_backend(done, done.folder / "model.safetensors", features)
    assert backend.localize_steps(done, "hmm", video, ("pour milk",)).how == "kept scores"


def test_features_of_another_spec_than_the_models_are_an_error_that_says_so(done):
    model = replace(load_model(done.folder / "model.safetensors"), feature_spec="log-mel")
    features = features_for_run(done, None)
    assert why_not_for_model(features, model) == "" == why_not_for_model(NoFeatures(), model)
    write_feature_spec(done.folder.parent / "features", "light")
    said = "the features are 'light' now, but the model was trained on 'log-mel'"
    assert said in why_not_learning(done, model, features)
    localizer = StepLocalizer(done.folder / "model.safetensors", features)
    localizer._loaded["model"] = (localizer.model_file.stat().st_mtime_ns, model)
    with pytest.raises(InputError, match=said):
        localizer.localize_steps(done, "hmm", done.run.videos[0], ("pour milk",))
