"""Any `transformers` image model in a folder, without fine-tuning: its pooled output for the frame in the middle of the second."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones.protocol import Rows, group_means, need_torch, stack_frames
from crosstask.extraction.second import Sampling, Second
from crosstask.records import InputError, MissingExtra

_BATCH = 8


class Frozen:
    """As many columns as the pooled output of the model has."""

    name = "frozen"
    sampling = Sampling(224, 1)

    def __init__(self, weights: Path | None = None) -> None:
        self.weights = weights

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        need_torch(self.name)
        if self.weights is None or not self.weights.is_dir():
            raise InputError(
                f"frozen: {self.weights or 'no folder given'}; expected --weights frozen=FOLDER of a transformers model"
            )
        try:
            import transformers
        except ImportError:
            raise MissingExtra("backbone frozen (package transformers)", "sentence") from None
        library: Any = transformers
        try:
            options = {"local_files_only": True, "trust_remote_code": False}
            model = library.AutoModel.from_pretrained(self.weights, use_safetensors=True, **options)
            processor = library.AutoImageProcessor.from_pretrained(self.weights, backend="pil", **options)
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            line = str(error).strip().split("\n")[0][:120]
            raise InputError(f"{self.weights}: cannot be loaded ({line}); expected a transformers image model") from None
        model.eval()
        return model.vision_model if hasattr(model, "vision_model") else model, processor

    @cached_property
    def width(self) -> int:
        """Number of columns, found by running the model on a grey image."""
        return self._pooled(np.full((1, 224, 224, 3), 127, np.uint8)).shape[1]

    @property
    def columns(self) -> str:
        """The name of the model folder and of the output used."""
        return f"{self.weights.name if self.weights else 'no model'}, pooled output, frame at the middle of the second"

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, width)."""
        frames, counts = stack_frames(seconds, self.sampling)
        rows = [self._pooled(frames[first : first + _BATCH]) for first in range(0, len(frames), _BATCH)]
        return group_means(np.concatenate(rows), counts)

    def _pooled(self, frames: Any) -> Rows:
        torch = need_torch(self.name)
        model, processor = self._loaded
        inputs = processor(images=list(frames), return_tensors="pt")
        with torch.inference_mode():
            output = model(**inputs)
        pooled = getattr(output, "pooler_output", None)
        if pooled is None:
            pooled = output.last_hidden_state
            pooled = pooled.mean((2, 3)) if pooled.ndim == 4 else pooled.mean(1)
        return np.asarray(pooled.flatten(1).numpy(), np.float32)
