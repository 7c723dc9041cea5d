"""The features of the videos of a run, for the viewer: those of other files or of another spec than the run's, made since, are not used."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crosstask.extraction.extract_many import content_of_features
from crosstask.features import NpyFeatures, read_feature_spec
from crosstask.model.model import Model
from crosstask.records import FeatureRows, InputError


@dataclass(frozen=True)
class FeaturesOfRun(NpyFeatures):
    """The features in a folder without those that were extracted from other files than `contents`, video id -> digest, says."""

    contents: Mapping[str, str] = field(default_factory=dict)

    def __contains__(self, video_id: object) -> bool:
        """True if the video has a file of features, and these are of the file that the run is of, as far as that is known."""
        return super().__contains__(video_id) and self._is_of_run(str(video_id))

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D), read into memory; an error where the video was replaced and its features made again while the viewer is open."""
        if not self._is_of_run(video_id):
            raise InputError(f"{video_id}: its features are of another file than the run is of; repeat `crosstask run`")
        return super().rows(video_id)

    def _is_of_run(self, video_id: str) -> bool:
        return video_id not in self.contents or content_of_features(self.folder, video_id) in (None, self.contents[video_id])


def why_not_for_model(features: FeatureRows, model: Model) -> str:
    """Why a model cannot score features: they are of another spec than it was trained on; an empty text where it can."""
    found = read_feature_spec(features.folder) if isinstance(features, NpyFeatures) else "unknown"
    if "unknown" in (found, model.feature_spec) or found == model.feature_spec:
        return ""
    return f"the features are '{found}' now, but the model was trained on '{model.feature_spec}'; repeat `crosstask run`"
