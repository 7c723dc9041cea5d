"""What a model file contains, for `crosstask info`."""

import hashlib
from pathlib import Path
from typing import Any

from crosstask.model.file import load_model


def model_info(path: str | Path) -> dict[str, Any]:
    """Method, settings, tasks, vocabulary size, feature spec, training videos, absence rule, size and checksum of a model file."""
    path = Path(path)
    model = load_model(path)
    scorer: Any = model.scorer
    content = path.read_bytes()
    return {
        "file": str(path),
        "method": model.method,
        "settings": dict(model.settings),
        "tasks": [{"id": t.id, "title": t.title, "steps": len(t.steps)} for t in model.tasks.values()],
        "vocabulary": len(_vocabulary(scorer)),
        "features": model.feature_spec,
        "feature_dimensions": _width(scorer),
        "training_videos": len(model.trained_on),
        "seed": model.seed,
        "absence": "a step is called absent only when its calibrated probability of being shown is below one half",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _vocabulary(scorer: Any) -> set[str]:
    """The component names of a scorer; empty for one without words."""
    if hasattr(scorer, "vocabulary"):
        return set(scorer.vocabulary.names)
    return set(getattr(scorer, "known_words", ()))


def _width(scorer: Any) -> int | None:
    """D, the feature dimensions that a scorer expects."""
    if hasattr(scorer, "whitening"):
        return len(scorer.whitening.deviation)
    if hasattr(scorer, "parameters"):
        return int(scorer.parameters.shape[1]) - 1
    weights = list(getattr(scorer, "weights", {}).values())
    return int(weights[0].shape[1]) - 1 if weights else None
