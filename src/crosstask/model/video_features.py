"""Features of a single file for a model: read from .npy, or extracted from a video as the model's training features were."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.extraction.extract_video import extract_video
from crosstask.extraction.feature_spec import BackboneSpec, parse_feature_spec
from crosstask.features import read_feature_spec, read_rows
from crosstask.records import InputError, Narration


def features_of_file(path: Path, feature_spec: str, weights: Mapping[str, Path] | None = None) -> npt.NDArray[np.floating]:
    """(T, D) of a feature file (.npy), or of a video file by the model's feature spec; a file of another spec is refused."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a video, or features (T, D) as .npy")
    if path.suffix.lower() == ".npz":
        raise InputError(f"{path}: an archive of arrays; expected features (T, D) as .npy: numpy.save writes one")
    if path.suffix.lower() != ".npy":
        return features_of_video(path, feature_spec, weights)
    found = read_feature_spec(path.parent)
    if "unknown" not in (found, feature_spec) and found != feature_spec:
        raise InputError(f"{path}: features are '{found}' but the model was trained on '{feature_spec}'; extract with those")
    return np.asarray(read_rows(path))


def features_of_video(path: Path, feature_spec: str, weights: Mapping[str, Path] | None = None) -> npt.NDArray[np.floating]:
    """(T, D) extracted from a video file, with the user's weights where the spec needs them; subtitles beside it give its speech features."""
    elsewhere = InputError(
        f"{path}: the model's features ('{feature_spec}') cannot be made from a video here; expected features (T, D) as .npy"
        + (", or --features clip=FOLDER" if feature_spec.startswith("clip") else "")
    )
    if feature_spec == "unknown" or ("#" in feature_spec and not weights):
        raise elsewhere
    try:
        spec = parse_feature_spec(feature_spec, weights)
    except InputError:
        if weights:
            raise
        raise elsewhere from None
    rows = extract_video(
        path, replace(spec, backbones=spec.backbones or (BackboneSpec("log-mel"),))
    )  # any backbone, for the length alone
    if not spec.speech:
        return rows
    from crosstask.text.encoders.choice import sentence_encoder
    from crosstask.text.encoders.speech import speech_features

    subtitles = SubtitleFolders((path.parent,))
    narration = subtitles[path.stem] if path.stem in subtitles else Narration(())
    spoken = speech_features(narration, len(rows), sentence_encoder())
    return np.concatenate([rows, spoken] if spec.backbones else [spoken], axis=1)
