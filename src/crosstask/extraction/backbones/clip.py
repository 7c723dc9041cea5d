"""The image side of an image-text model in a folder (CLIP, SigLIP, SigLIP 2, X-CLIP): unit vectors that step names can be compared with.

Image models see the frame in the middle of the second, X-CLIP as many frames of it as it was trained on.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones.protocol import Rows, need_torch
from crosstask.extraction.second import Sampling, Second
from crosstask.records import InputError
from crosstask.text.encoders.image_text import load_image_text, load_tokenizer, model_type, need_transformers, pooled

DEVICES = ("auto", "cpu", "cuda", "mps")
_MAX_SIZE = 2048  # pixels; ours: several times what any such model takes
_CPU_SECONDS = 8  # at a time; larger batches are not faster on a CPU
_MOST_SECONDS = 256  # at a time; ours: beyond this a GPU gains little
_BYTES_PER_VALUE = 2_000  # ours: memory of one input value (pixel x channel) through a large vision transformer in half precision


class Clip:
    """As many columns as the common space of the model has; rows have length one."""

    name = "clip"

    def __init__(self, weights: Path | None = None, device: str = "auto") -> None:
        self.weights = weights
        self.device = device

    @property
    def _folder(self) -> Path:
        if self.weights is None:
            raise InputError("clip: no model given; expected --features clip=FOLDER")
        return self.weights

    @cached_property
    def sampling(self) -> Sampling:
        """One frame a second, or those of a clip of X-CLIP."""
        return Sampling(self._size, self._frames_per_second)

    @cached_property
    def _vision(self) -> Any:
        library = need_transformers()
        model_type(self._folder)
        return library.AutoConfig.from_pretrained(self._folder, local_files_only=True).vision_config

    @property
    def _size(self) -> int:
        fixed = int(getattr(self._vision, "image_size", 0) or 0)
        size = fixed or round(self._vision.num_patches**0.5) * int(self._vision.patch_size)  # SigLIP 2 of any resolution
        if not 0 < size <= _MAX_SIZE:
            raise InputError(f"{self._folder}: config.json asks for frames of {size} pixels; expected at most {_MAX_SIZE}")
        return size

    @property
    def _frames_per_second(self) -> int:
        return int(self._vision.num_frames) if model_type(self._folder) == "xclip" else 1

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any]:
        """Model, image processor and device; half precision on GPUs."""
        need_torch(self.name)
        device = chosen_device(self.device)
        model = load_image_text(self._folder)
        load_tokenizer(self._folder, int(model.config.text_config.vocab_size))  # refused now, not after hours of extraction
        try:
            processor = need_transformers().AutoImageProcessor.from_pretrained(
                self._folder, backend="pil", local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # a missing or damaged file raises many kinds of errors
            line = str(error).strip().split("\n")[0][:120]
            raise InputError(
                f"{self._folder}: no image processor can be loaded ({line}); copy preprocessor_config.json too"
            ) from None
        return (model if device == "cpu" else model.half().to(device)), processor, device

    @cached_property
    def width(self) -> int:
        """Number of columns, found by running the model on a grey image."""
        grey = np.full((1, self._frames_per_second, self._size, self._size, 3), 127, np.uint8)
        return self._embed(grey).shape[1]

    @property
    def columns(self) -> str:
        """The model type and what it saw."""
        seen = "the frame at the middle" if self._frames_per_second == 1 else f"{self._frames_per_second} frames"
        return f"image side of {model_type(self._folder)}, unit vectors, {seen} of the second; text_side.safetensors has the text side"

    @cached_property
    def seconds_at_once(self) -> int:
        """Seconds of video that fit into the free memory of the device at once; constant on a CPU, so that rows are equal everywhere."""
        _, _, device = self._loaded
        if device == "cpu":
            return _CPU_SECONDS
        free = need_torch(self.name).cuda.mem_get_info()[0] if device == "cuda" else 2**31
        return seconds_that_fit(free, self._frames_per_second * self._size**2 * 3)

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, width)."""
        clips = np.stack([_exactly(second.frames[self.sampling], self._frames_per_second) for second in seconds])
        return halved_on_memory_error(self._embed, clips)

    def _embed(self, clips: Any) -> Rows:
        """(n, width) unit rows of clips (n, frames, size, size, 3)."""
        torch = need_torch(self.name)
        model, processor, device = self._loaded
        n, n_frames = clips.shape[:2]
        inputs = processor(images=list(clips.reshape(-1, *clips.shape[2:])), return_tensors="pt")
        half = {name: value.half() if value.is_floating_point() and device != "cpu" else value for name, value in inputs.items()}
        given = {name: value.to(device) for name, value in half.items()}
        with torch.inference_mode():
            if hasattr(model, "get_video_features"):
                pixels = given["pixel_values"]
                rows = pooled(model.get_video_features(pixel_values=pixels.reshape(n, n_frames, *pixels.shape[1:])))
            else:
                rows = pooled(model.get_image_features(**given))
            rows = rows.float()
            return np.asarray((rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)).cpu().numpy(), np.float32)


def chosen_device(name: str) -> str:
    """`cuda`, `mps` or `cpu`: the one named, or for `auto` the fastest that this computer has."""
    torch = need_torch("clip")
    if name not in DEVICES:
        raise InputError(f"--device {name}: unknown; expected one of {', '.join(DEVICES)}")
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name != "auto" and not here[name]:
        raise InputError(f"--device {name}: PyTorch finds none on this computer; use --device auto")
    return next(device for device in ("cuda", "mps", "cpu") if here[device]) if name == "auto" else name


def seconds_that_fit(free_bytes: int, values_per_second: int) -> int:
    """How many seconds of video to embed at once, from free memory and input values per second.

    >>> seconds_that_fit(8 * 2**30, 3 * 224 * 224), seconds_that_fit(0, 3 * 224 * 224)
    (14, 1)
    """
    return int(np.clip(free_bytes // 2 // (_BYTES_PER_VALUE * values_per_second), 1, _MOST_SECONDS))


def halved_on_memory_error(embed: Callable[[Any], Rows], clips: Any) -> Rows:
    """The rows of all clips; where a batch does not fit into the memory of the device, its halves are embedded."""
    torch = need_torch("clip")
    try:
        return embed(clips)
    except torch.OutOfMemoryError:
        if len(clips) == 1:
            raise InputError("clip: one second of video does not fit into the memory of the device; use --device cpu") from None
    middle = len(clips) // 2
    return np.concatenate([halved_on_memory_error(embed, clips[:middle]), halved_on_memory_error(embed, clips[middle:])])


def _exactly(frames: Any, count: int) -> Any:
    """`count` evenly spaced frames; a second cut short at the end of a video repeats some."""
    return frames[np.linspace(0, len(frames) - 1, count).round().astype(int)]
