import json
from dataclasses import replace

import pytest

from crosstask.export.annotation_tools import elan, fiftyone, label_studio
from export.videos import VIDEO


def test_elan_is_read_by_pympi(tmp_path):
    pympi = pytest.importorskip("pympi")
    (tmp_path / "a.eaf").write_text(elan(VIDEO), "utf-8")
    found = sorted(pympi.Elan.Eaf(tmp_path / "a.eaf").get_annotation_data_for_tier("steps"))
    assert [tuple(a[:3]) for a in found] == [
        (3250, 9500, "pour milk"),
        (20000, 30000, "stir --> & <b>"),
        (61000, 70125, "=sum(A1)"),
    ]


def test_elan_finds_the_film_by_its_url():
    found = elan(replace(VIDEO, media="/films/tea & milk.mp4"))
    assert 'MEDIA_URL="file:///films/tea%20%26%20milk.mp4"' in found
    assert 'MEDIA_URL="films/tea.mp4"' in elan(replace(VIDEO, media="films/tea.mp4"))


def test_label_studio_counts_frames_from_one_and_keeps_the_seconds():
    (task,) = label_studio([VIDEO], 25.0)
    region = task["predictions"][0]["result"][0]
    assert region["value"] == {"ranges": [{"start": 82, "end": 238}], "timelinelabels": ["pour milk"]}
    assert (region["meta"]["start_s"], region["meta"]["end_s"]) == (3.25, 9.5)
    (slow,) = label_studio([VIDEO], 23.976)
    for wide, narrow in zip(task["predictions"][0]["result"], slow["predictions"][0]["result"], strict=True):
        assert wide["meta"] == narrow["meta"], "seconds do not drift with the frame rate"


def test_fiftyone_labels_have_timestamps_in_seconds():
    labels = json.loads("".join(fiftyone([VIDEO])))
    assert labels["labels"]["1_-vidéo_1"][0] == {"label": "pour milk", "timestamps": [3.25, 9.5], "confidence": 0.5}
    assert set(labels["classes"]) == {step.name for step in VIDEO.steps}
