"""The paper's training written as it reads: a video at a time, every frame, autograd, a dense optimiser. The yardstick, not a straw man.

Per video and epoch: load the `.npy`, score all T segments with dropout, differentiate the loss twice for the label costs (the exact form,
linearised at the labels held), place each step once, score again with a fresh mask, back-propagate, and let Adam move every component.
"""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from crosstask.inference import decode_once


@dataclass(frozen=True)
class TextbookVideo:
    """A training video: its feature file, task number and allowed places (T, K)."""

    path: Path
    task: int
    allowed: np.ndarray


def train_textbook(
    videos: list[TextbookVideo],
    averaging: list[np.ndarray],
    n_components: int,
    n_dimensions: int,
    learning_rate: float,
    dropout: float,
    initial_epochs: int,
    epochs: int,
    seed: int,
) -> tuple[np.ndarray, list[float]]:
    """Component parameters (M, D + 1), and the seconds of each epoch. `averaging` is (K, M) per task."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    classifier = torch.nn.Linear(n_dimensions, n_components)
    optimiser = torch.optim.Adam(classifier.parameters(), lr=learning_rate)
    matrices = [torch.tensor(a.T, dtype=torch.float32) for a in averaging]
    drop = torch.nn.Dropout(dropout)
    labels: dict[int, torch.Tensor] = {}
    seconds = []
    for epoch in range(initial_epochs + epochs):
        begun = perf_counter()
        for v in rng.permutation(len(videos)):
            video = videos[v]
            x = torch.tensor(np.load(video.path), dtype=torch.float32)
            forbidden = torch.tensor(1.0 - video.allowed, dtype=torch.float32)
            if epoch < initial_epochs:
                cost = rng.random(video.allowed.shape) + 1e4 * (1 - video.allowed)
            else:
                held = labels[v].requires_grad_(True)
                loss = _loss(classifier(drop(x)) @ matrices[video.task], held, forbidden)
                gradients = torch.autograd.grad(loss, list(classifier.parameters()), create_graph=True)
                bound = loss - 0.5 * learning_rate * sum((g**2).sum() for g in gradients)
                cost = torch.autograd.grad(bound, [held])[0].numpy().astype(np.float64)
            labels[v] = _one_hot(decode_once(cost), video.allowed.shape)
            optimiser.zero_grad()
            _loss(classifier(drop(x)) @ matrices[video.task], labels[v], forbidden).backward()
            optimiser.step()
        seconds.append(perf_counter() - begun)
    weights = classifier.weight.detach().numpy()
    return np.column_stack([weights, classifier.bias.detach().numpy()]), seconds


def _loss(scores: torch.Tensor, labels: torch.Tensor, forbidden: torch.Tensor) -> torch.Tensor:
    return (labels * (1e4 * forbidden - torch.log_softmax(scores, dim=1))).mean(dim=0).sum()


def _one_hot(times: np.ndarray, shape: tuple[int, int]) -> torch.Tensor:
    y = torch.zeros(shape)
    y[torch.as_tensor(times), torch.arange(shape[1])] = 1
    return y
