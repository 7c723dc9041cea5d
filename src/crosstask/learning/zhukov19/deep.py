"""The same alternation with any PyTorch classifier in place of the linear one (the paper's second contribution). Extra: deep.

A classifier maps rows (T, D) to component scores (T, M). Videos, order and random labels are those of the linear path: with a linear classifier,
the same weights and no dropout, both walk the same way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference import decode_once
from crosstask.learning.zhukov19.alternation import AlternationSettings, order_of_videos
from crosstask.learning.zhukov19.kernels import arrays_of, draw_costs
from crosstask.learning.zhukov19.training_set import TaskArrays, VideoArrays

Classifier = Any  # a torch.nn.Module


@dataclass(frozen=True)
class DeepSettings:
    """The alternation's settings, hidden layers, and where to compute."""

    alternation: AlternationSettings
    hidden: tuple[int, ...] = ()  # () is linear; the paper tried deeper ones without gain
    device: str = "cpu"


def layers(n_dimensions: int, n_components: int, hidden: tuple[int, ...], dropout: float) -> Classifier:
    """A classifier with dropout on its input and ReLU layers of the given widths."""
    from torch import nn

    parts: list[Any] = [nn.Dropout(dropout)]
    width = n_dimensions
    for size in hidden:
        parts += [nn.Linear(width, size), nn.ReLU()]
        width = size
    return nn.Sequential(*parts, nn.Linear(width, n_components))


def alternate_deep(
    rows: npt.NDArray[np.generic],
    videos: VideoArrays,
    tasks: TaskArrays,
    classifier: Classifier,
    settings: DeepSettings,
    seed: int,
    after_epoch: Callable[[float], None] = lambda loss: None,
) -> Classifier:
    """The classifier, trained in place on the settings' device."""
    import torch

    torch.manual_seed(seed % 2**63)
    device = torch.device(settings.device)
    classifier = classifier.to(device).train()
    chosen = settings.alternation
    optimiser = torch.optim.Adam(classifier.parameters(), lr=chosen.learning_rate)
    labels: dict[int, npt.NDArray[np.int64]] = {}
    for epoch in range(chosen.initial_epochs + chosen.epochs):
        costs = []
        for v in order_of_videos(len(videos.task), seed, epoch):
            video = _DeepVideo(int(v), rows, videos, tasks, device)
            if epoch < chosen.initial_epochs:
                labels[video.number] = video.drawn_labels(seed, epoch)
            else:
                labels[video.number] = _new_labels(classifier, video, labels.get(video.number), chosen)
            costs.append(_step(classifier, optimiser, video, labels[video.number], chosen))
        after_epoch(float(np.mean(costs)))
    return classifier.eval()


class _DeepVideo:
    """One video's active rows, averaging matrix and allowed places, as tensors."""

    def __init__(self, number: int, rows: npt.NDArray[np.generic], videos: VideoArrays, tasks: TaskArrays, device: Any) -> None:
        import torch

        self.number = number
        components, averaging, self.active, self.allowed = arrays_of(number, videos, tasks)
        at = videos.first_row[number] + self.active.astype(np.int64)
        self.x = torch.as_tensor(np.asarray(rows[at], dtype=np.float32), device=device)
        self.components = torch.as_tensor(components, device=device)
        self.averaging = torch.as_tensor(averaging, device=device)
        self.n_segments = int(videos.n_segments[number])

    def drawn_labels(self, seed: int, epoch: int) -> npt.NDArray[np.int64]:
        """Random labels under order and windows: the linear path's own."""
        cost = np.empty(self.allowed.shape)
        draw_costs(self.active, self.allowed, np.uint64(seed), epoch, self.number, cost)
        return decode_once(cost)

    def scores(self, classifier: Classifier, rows: Any) -> Any:
        """Eq. (1): (n, D) -> (n, K)."""
        return classifier(rows)[:, self.components] @ self.averaging.T


def _new_labels(
    classifier: Classifier, video: _DeepVideo, before: npt.NDArray[np.int64] | None, settings: AlternationSettings
) -> npt.NDArray[np.int64]:
    """Labels of least cost; with `linearised`, the gradient term of the published code at the labels held so far."""
    import torch

    cost = -torch.log_softmax(video.scores(classifier, video.x), dim=1)  # (n, K)
    if settings.label_cost == "linearised" and before is not None:
        y = torch.zeros_like(cost)
        y[torch.as_tensor(before), torch.arange(cost.shape[1])] = 1
        y.requires_grad_(True)
        held = (y * cost).sum() / video.n_segments
        gradients = torch.autograd.grad(held, list(classifier.parameters()), create_graph=True)
        objective = held - 0.5 * settings.learning_rate * sum((g**2).sum() for g in gradients)
        (cost,) = torch.autograd.grad(objective, [y])
    values = cost.detach().cpu().numpy().astype(np.float64)
    return decode_once(np.where(video.allowed, values, np.inf))


def _step(
    classifier: Classifier, optimiser: Any, video: _DeepVideo, labels: npt.NDArray[np.int64], settings: AlternationSettings
) -> float:
    """One optimiser step on the chosen rows; the mean cost of a label."""
    import torch

    scores = video.scores(classifier, video.x[torch.as_tensor(labels)])
    cost = -torch.log_softmax(scores, dim=1).diagonal()
    loss = cost.sum() / video.n_segments if settings.per_segment else cost.sum()
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call,unused-ignore]
    optimiser.step()
    return float(cost.mean().item())
