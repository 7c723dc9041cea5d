"""Small random learning problems as arrays."""

import numpy as np

from crosstask.learning.zhukov19.training_set import TaskOfSteps, TrainingVideo, task_arrays, video_arrays


def random_problem(seed=0, n_tasks=3, n_components=9, n_dimensions=11, n_videos=6, n_segments=15, windows=True, dtype=np.float32):
    """(rows, videos, tasks, M) with overlapping components and feasible windows."""
    rng = np.random.default_rng(seed)
    tasks = []
    for _ in range(n_tasks):
        n_steps = int(rng.integers(2, 5))
        membership = rng.random((n_steps, n_components)) < 0.35
        membership[np.arange(n_steps), rng.integers(n_components, size=n_steps)] = True
        used = np.flatnonzero(membership.any(axis=0))
        kept = membership[:, used].astype(float)
        tasks.append(TaskOfSteps(used, kept / kept.sum(axis=1, keepdims=True)))
    arrays = task_arrays(tasks)
    rows = rng.standard_normal((n_videos * n_segments, n_dimensions)).astype(dtype)
    videos = []
    for i in range(n_videos):
        n_steps = int(arrays.n_steps[i % n_tasks])
        allowed = None
        if windows:
            centres = np.linspace(1, n_segments - 2, n_steps)
            allowed = np.abs(np.arange(n_segments)[:, None] - centres[None, :]) <= 3
        videos.append(TrainingVideo(i % n_tasks, i * n_segments, n_segments, allowed))
    return rows, video_arrays(videos, arrays), arrays, n_components
