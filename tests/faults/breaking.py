"""Mutation tests: remove each safeguard, or change each term of an equation, in a copy of the code and check that a test fails.

Run `python -m faults.breaking [FILE]` in the folder `tests`. A safeguard whose test still passes is printed as GREEN. FILE receives the table as
JSON.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Mutation(NamedTuple):
    """A safeguard, its code in a file, the code that replaces it, and the test that must fail."""

    safeguard: str
    file: str
    old: str
    new: str
    test: str


MUTATIONS = [
    Mutation(
        "a file gets its final name only when complete",
        "storage/atomic.py",
        "temporary, opened = _open_temporary(path)",
        'temporary, opened = path, path.open("wb")',
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "flush before rename",
        "storage/atomic.py",
        "os.fsync(file.fileno())\n    _flush_folder",
        "pass\n    _flush_folder",
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "temporary names are unique",
        "storage/atomic.py",
        ".{secrets.token_hex(8)}.partial",
        ".{os.getpid()}-0.partial",
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "temporary files of killed processes are removed",
        "storage/atomic.py",
        "    remove_stale_temporaries(path.parent.absolute())\n",
        "",
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "temporary files in use are kept",
        "storage/atomic.py",
        "unlink_if_unlocked(folder / entry.name)",
        "(folder / entry.name).unlink()",
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "only one process writes at a time",
        "storage/locks.py",
        "    except BlockingIOError:\n        return False\n",
        "    except BlockingIOError:\n        return True\n",
        "tests/storage/test_locks.py",
    ),
    Mutation(
        "a second training to one file is an error",
        "cli/train.py",
        "with nonblocking_lock(out), progress",
        "with progress",
        "tests/faults/test_two_writers.py::test_second_training_to_one_file_is_an_error",
    ),
    Mutation(
        "an open pack keeps its rows",
        "features/pack.py",
        '(pack.folder / "unfinished.bin").replace(pack.folder / part.rows)',
        '[p.write_bytes(bytes(p.stat().st_size)) for p in pack.folder.glob("rows-*")]; (pack.folder / "unfinished.bin").replace(pack.folder / part.rows)',
        "tests/features/test_pack.py",
    ),
    Mutation(
        "a rows file of the wrong size is packed again",
        "features/pack_index.py",
        ".st_size == part.n_rows * self.row_bytes for",
        ".st_size for",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "a changed feature file is detected",
        "features/pack.py",
        "(size, mtime_ns) == (video.source_size, video.source_mtime_ns) and video.source_ctime_ns in (0, ctime_ns)",
        "True",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "NaN and infinity are rejected",
        "features/pack.py",
        "if not all_finite(packed):",
        "if False:",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "checksum of packed rows",
        "features/pack_index.py",
        "checksum(self.rows(video_id)) != self.videos[video_id].crc32",
        "False",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "checksum of a model",
        "model/file.py",
        "if not content_is_intact(description, arrays):",
        "if False:",
        "tests/model/test_model.py",
    ),
    Mutation(
        "checksum of a checkpoint",
        "methods/zhukov19_checkpoint.py",
        'not ("content_digest" in description and content_is_intact(description, arrays))',
        "False",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "a checkpoint of other data is rejected",
        "methods/zhukov19_checkpoint.py",
        'kept.get("data") != wanted["data"]',
        "False",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "indices in a checkpoint are within bounds",
        "methods/zhukov19_checkpoint.py",
        "or not _is_sound(found, arrays, settings)",
        "",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "training resumes from its checkpoint",
        "methods/zhukov19_checkpoint.py",
        "        return found\n",
        "        return fresh\n",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "no memory is allocated for a claimed size",
        "storage/arrays.py",
        "if found < expected:",
        "if False:",
        "tests/features/test_npy_files.py",
    ),
    Mutation(
        "an oversized array header is not read",
        "storage/arrays.py",
        " or n_bytes > _MAX_HEADER_BYTES",
        "",
        "tests/fuzz/test_hostile_files.py::test_oversized_header_is_not_read",
    ),
    Mutation(
        "ids cannot escape their folder",
        "records/video.py",
        "or any(map(_unfit_for_a_name, identifier))",
        "",
        "tests/fuzz/test_hostile_files.py",
    ),
    Mutation(
        "deeply nested JSON is rejected",
        "runs/folder.py",
        "except (OSError, ValueError, RecursionError):",
        "except (OSError, ValueError):",
        "tests/fuzz/test_readers.py::test_arbitrary_bytes[run]",
    ),
    Mutation(
        "inconsistent values in a model file are rejected",
        "model/file.py",
        "except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:",
        "except KeyError as error:",
        "tests/fuzz/test_inconsistent_files.py::test_descriptions_in_safetensors",
    ),
    Mutation(
        "a disk error is reported in one line",
        "cli/main.py",
        "except OSError as error:",
        "except ZeroDivisionError as error:",
        "tests/faults/test_failing_disk.py::test_disk_errors_are_reported_and_recoverable[pack]",
    ),
    Mutation(
        "training streams its features",
        "features/pack_index.py",
        'return np.memmap(self.folder / self.parts[0].rows, dtype=self.dtype, mode="r", shape=shape)',
        "return np.fromfile(self.folder / self.parts[0].rows, dtype=self.dtype).reshape(shape)",
        "tests/faults/test_memory.py",
    ),
]

# The default method, one mutation for each term of its equations.
MUTATIONS += [
    Mutation(
        "class means: word kernel",
        "learning/hmm/class_means.py",
        "return prior.shared * (kernel @ coefficients) + prior.own * coefficients",
        "return (prior.shared + prior.own) * coefficients",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "class means: effective sample size",
        "learning/hmm/class_means.py",
        "noise / np.maximum(counts, _FEWEST_SEGMENTS)",
        "noise / np.maximum(counts, _FEWEST_SEGMENTS) ** 0.5",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "class means: bias of weak labels",
        "learning/hmm/class_means.py",
        "variance + self.bias, _UNOBSERVED",
        "variance, _UNOBSERVED",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "class means: unobserved classes",
        "learning/hmm/class_means.py",
        "np.where(self.counts > _FEWEST_SEGMENTS, variance + self.bias, _UNOBSERVED_VARIANCE)",
        "variance + self.bias",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "class means: observation noise",
        "learning/hmm/class_means.py",
        "return _ROWS_PER_OBSERVATION * autocorrelation_time",
        "return _ROWS_PER_OBSERVATION",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "within-class covariance",
        "learning/hmm/class_means.py",
        "within = second_moment - between",
        "within = second_moment",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "ridge of the covariance",
        "learning/hmm/class_means.py",
        "return (1 - prior.ridge) * within + ",
        "return within + ",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "LDA offset",
        "learning/hmm/class_means.py",
        "(0.5 * (weights * means).sum(axis=1))",
        "((weights * means).sum(axis=1))",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "log-ratios to the background",
        "learning/hmm/class_means.py",
        "return scores - scores[:, -1:]",
        "return scores",
        "tests/learning/hmm/test_class_means.py",
    ),
    Mutation(
        "prior: initial spread",
        "learning/hmm/task_prior.py",
        "(_INITIAL_SPREAD / np.sqrt(n_steps))",
        "(_INITIAL_SPREAD / n_steps)",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: interpolation of the position",
        "learning/hmm/task_prior.py",
        "np.clip(at - low, 0, 1)[:, None]",
        "np.zeros((n_segments, 1))",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: weight of the position",
        "learning/hmm/task_prior.py",
        "factor = min(weight.largest, weight.segments * len(self.duration) / n_segments)",
        "factor = weight.largest",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: self-transition",
        "learning/hmm/task_prior.py",
        "return 1 - 1 / np.maximum(self.duration * n_segments, _SHORTEST_DURATION)",
        "return 1 - 1 / np.maximum(self.duration * (n_segments + 1), _SHORTEST_DURATION)",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: background self-transition",
        "learning/hmm/task_prior.py",
        "return 1 - 1 / max(self.background_duration * n_segments, _SHORTEST_DURATION)",
        "return 1 - 1 / max(n_segments, _SHORTEST_DURATION)",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: counts are shares of the video",
        "learning/hmm/task_prior.py",
        "self.histogram += in_bin @ labels / n_segments",
        "self.histogram += in_bin @ labels",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: pseudo-videos of presence",
        "learning/hmm/task_prior.py",
        "(counts.videos + _PSEUDO_VIDEOS)",
        "counts.videos",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: limits of presence",
        "learning/hmm/task_prior.py",
        "presence=np.clip(presence, *_PRESENCE_RANGE)",
        "presence=presence",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: duration",
        "learning/hmm/task_prior.py",
        "/ (counts.starts + _PSEUDO_VIDEOS),",
        "/ (counts.videos + _PSEUDO_VIDEOS),",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: mirrored smoothing",
        "learning/hmm/task_prior.py",
        "np.vstack([histogram[:reach][::-1], histogram, histogram[-reach:][::-1]])",
        "np.vstack([histogram[-reach:], histogram, histogram[:reach]])",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "prior: stays without videos",
        "learning/hmm/task_prior.py",
        "    if counts.videos == 0:\n        return before\n",
        "    counts.videos = max(counts.videos, 1)\n",
        "tests/learning/hmm/test_task_prior.py",
    ),
    Mutation(
        "whitening: centring within the video",
        "learning/hmm/whitening.py",
        "return single - single.mean(axis=0, dtype=np.float64).astype(np.float32)",
        "return single",
        "tests/learning/hmm/test_whitening.py",
    ),
    Mutation(
        "whitening: pooled deviation",
        "learning/hmm/whitening.py",
        "deviation = np.sqrt(squares / n_rows)",
        "deviation = np.sqrt(squares / len(videos))",
        "tests/learning/hmm/test_whitening.py",
    ),
    Mutation(
        "whitening: constant dimensions",
        "learning/hmm/whitening.py",
        "deviation[constant | (deviation == 0)] = np.inf",
        "deviation[deviation == 0] = 1.0",
        "tests/learning/hmm/test_whitening.py",
    ),
    Mutation(
        "whitening: folded weights",
        "learning/hmm/whitening.py",
        "np.ascontiguousarray(projected / self.deviation, dtype=np.float32)",
        "np.ascontiguousarray(projected, dtype=np.float32)",
        "tests/learning/hmm/test_whitening.py",
    ),
    Mutation(
        "whitening: largest directions first",
        "learning/hmm/whitening.py",
        "eigenvectors[:, ::-1][:, :kept]",
        "eigenvectors[:, :kept]",
        "tests/learning/hmm/test_whitening.py",
    ),
    Mutation(
        "autocorrelation: both signs of the lag",
        "learning/hmm/whitening.py",
        "total += 2 * correlation",
        "total += correlation",
        "tests/learning/hmm/test_whitening.py",
    ),
    Mutation(
        "autocorrelation: mean over rows",
        "learning/hmm/whitening.py",
        "count += len(rows) - lag",
        "count += len(rows) + lag",
        "tests/learning/hmm/test_whitening.py",
    ),
    Mutation(
        "statistics: fold that is left out",
        "learning/hmm/statistics.py",
        "counts - self.counts[:, without], sums - self.sums[:, without]",
        "counts - self.counts[:, without], sums",
        "tests/learning/hmm/test_statistics.py",
    ),
    Mutation(
        "statistics: classes of a task",
        "learning/hmm/statistics.py",
        "np.cumsum([n + 1 for n in self.n_steps])",
        "np.cumsum(self.n_steps)",
        "tests/learning/hmm/test_statistics.py",
    ),
    Mutation(
        "statistics: folds by task",
        "learning/hmm/statistics.py",
        "of_task.setdefault(video.task, []).append(number)",
        "of_task.setdefault(number % 2, []).append(number)",
        "tests/learning/hmm/test_statistics.py",
    ),
    Mutation(
        "statistics: means without the fold",
        "learning/hmm/statistics.py",
        "self.totals(bias, without=fold).relative_to(mu)",
        "self.totals(bias).relative_to(mu)",
        "tests/learning/hmm/test_statistics.py",
    ),
    Mutation(
        "statistics: labels sum to at most 1",
        "learning/hmm/statistics.py",
        "return labels / np.maximum(labels.sum(axis=1, keepdims=True), 1)",
        "return labels / np.maximum(labels.max(axis=1, keepdims=True), 1)",
        "tests/learning/hmm/test_statistics.py",
    ),
    Mutation(
        "statistics: second moment",
        "learning/hmm/statistics.py",
        "return (first + second) / sum(len(rows) for rows in videos)",
        "return (first + second) / len(videos)",
        "tests/learning/hmm/test_statistics.py",
    ),
    Mutation(
        "EM: cross-fitting",
        "learning/hmm/em.py",
        "None if video.task in with_initial_labels else lda[statistics.folds[number]]",
        "None if video.task in with_initial_labels else lda[0]",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: agreement gate",
        "learning/hmm/em.py",
        "np.where(has_window, 1.0, agreement / (agreement + settings.gate))",
        "1.0",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: mixture of labels",
        "learning/hmm/em.py",
        "return normalised_labels(weight * gated + (1 - weight) * in_step), starts",
        "return normalised_labels(weight * gated + weight**2 * in_step), starts",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: windows in the E step",
        "learning/hmm/em.py",
        "with_windows = ratios + window_log_ratios(windows) if has_window.any() else ratios",
        "with_windows = ratios",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: position in the E step",
        "learning/hmm/em.py",
        "ratios = prior.position_log_ratios(n_segments) + of_features",
        "ratios = of_features",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: weight of the evidence",
        "learning/hmm/em.py",
        "of_features = settings.evidence_weight * log_likelihood_ratios(",
        "of_features = log_likelihood_ratios(",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "ensemble: every member counts",
        "methods/hmm_ensemble.py",
        "for member in self.members]\n        in_step, starts",
        "for member in self.members[:1]]\n        in_step, starts",
        "tests/methods/test_hmm_ensemble.py",
    ),
    Mutation(
        "ensemble: one autocorrelation time",
        "methods/hmm_ensemble.py",
        "member.feature_evidence(task, features, self.autocorrelation_time)",
        "member.feature_evidence(task, features)",
        "tests/methods/test_hmm_ensemble.py",
    ),
    Mutation(
        "informativeness: class means of the other folds",
        "learning/hmm/informativeness.py",
        "lda[folds[number]]",
        "lda[0]",
        "tests/learning/hmm/test_informativeness.py",
    ),
    Mutation(
        "confidence: order alone where features are wrong",
        "inference/confidence.py",
        "np.asarray(q + (1 - q) * np.asarray(by_order, dtype=np.float64))",
        "np.asarray(q)",
        "tests/inference/test_confidence.py",
    ),
    Mutation(
        "confidence: informativeness of the features",
        "inference/confidence.py",
        "q = np.asarray(informativeness, dtype=np.float64) * calibrated(p, right)",
        "q = calibrated(p, right)",
        "tests/inference/test_confidence.py",
    ),
    Mutation(
        "joint confidence: order alone where neither source is right",
        "inference/narration_evidence.py",
        "np.stack([*located, by_order])",
        "np.stack([*located, np.zeros_like(by_order)])",
        "tests/inference/test_narration_evidence.py",
    ),
    Mutation(
        "window test: windows in list order",
        "learning/hmm/window_test.py",
        "share_in_order(videos) >= _IN_ORDER",
        "share_in_order(videos) < _IN_ORDER",
        "tests/learning/hmm/test_window_test.py",
    ),
    Mutation(
        "EM: expected number of intervals",
        "learning/hmm/em.py",
        "(gamma.in_step, gamma.p_shown) if known is None",
        "(gamma.in_step, np.ones(len(windows[0]))) if known is None",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: prior is updated",
        "learning/hmm/em.py",
        "return statistics, [update_prior(of_task, before) for",
        "return statistics, [before for",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: resumed statistics",
        "learning/hmm/em.py",
        "statistics = SufficientStatistics(classes, folds, videos, resume_from.counts, resume_from.sums)",
        "statistics = SufficientStatistics(classes, folds, videos)",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: resumed priors",
        "learning/hmm/em.py",
        "first, priors = resume_from.iterations, list(resume_from.priors)",
        "first, priors = resume_from.iterations, [initial_prior(n) for n in classes.n_steps]",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: uninformative windows are not used",
        "learning/hmm/em.py",
        "video.windows if informative else np.zeros_like(video.windows)",
        "video.windows",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: label bias by share of windows",
        "learning/hmm/em.py",
        "return settings.window_bias * share + settings.spacing_bias * (1 - share)",
        "return settings.window_bias + settings.spacing_bias * (1 - share)",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "EM: a window is one observation",
        "learning/hmm/em.py",
        "np.log(1 + 1 / share) / np.maximum(lengths, 1)",
        "np.log(1 + 1 / share)",
        "tests/learning/hmm/test_em.py",
    ),
    Mutation(
        "labels: the rest is conditional on them",
        "learning/hmm/em.py",
        "strict = posterior(ratios + known.log_ratios, prior)",
        "strict = posterior(ratios, prior)",
        "tests/learning/hmm/test_known_steps.py",
    ),
    Mutation(
        "labels: hard ones have no bias",
        "learning/hmm/class_means.py",
        "hard_variance = np.where(self.hard_counts > _FEWEST_SEGMENTS, hard_variance, _UNOBSERVED_VARIANCE)",
        "hard_variance = np.where(self.hard_counts > _FEWEST_SEGMENTS, hard_variance + self.bias, _UNOBSERVED_VARIANCE)",
        "tests/learning/hmm/test_known_steps.py",
    ),
    Mutation(
        "labels: a labelled video counts as hard",
        "learning/hmm/statistics.py",
        "hard = np.append(video.known.labelled, False)",
        "hard = np.append(~video.known.labelled, False)",
        "tests/model/test_training.py",
    ),
    Mutation(
        "window test: own window is left out of the others",
        "learning/hmm/window_test.py",
        "np.maximum(of_task - _histogram(windows), 0)[at]",
        "of_task[at]",
        "tests/learning/hmm/test_window_test.py",
    ),
    Mutation(
        "window test: comparison with other videos",
        "learning/hmm/window_test.py",
        "return (inside - elsewhere)[compared]",
        "return inside[compared]",
        "tests/learning/hmm/test_window_test.py",
    ),
    Mutation(
        "window test: cross-fitting",
        "learning/hmm/window_test.py",
        "lda[folds[i]], classes) for i, v in enumerate(videos)",
        "lda[(folds[i] + 1) % len(lda)], classes) for i, v in enumerate(videos)",
        "tests/learning/hmm/test_window_test.py",
    ),
    Mutation(
        "window test: penalty of the hypothesis",
        "learning/hmm/window_test.py",
        " - 0.5 * _EFFECT**2 * n)",
        ")",
        "tests/learning/hmm/test_window_test.py",
    ),
    Mutation(
        "window test: number of pairs",
        "learning/hmm/window_test.py",
        "(gains.std() + _SMALLEST_DEVIATION) * np.sqrt(n)",
        "(gains.std() + _SMALLEST_DEVIATION)",
        "tests/learning/hmm/test_window_test.py",
    ),
    Mutation(
        "window test: no windows",
        "learning/hmm/window_test.py",
        "    if not any(video.windows.any() for video in videos):\n        return False\n",
        "",
        "tests/learning/hmm/test_window_test.py",
    ),
    Mutation(
        "HMM posterior: skipped steps",
        "inference/hmm_posterior.py",
        "                moving_on *= 1 - presence[k]\n",
        "",
        "tests/inference/test_hmm_posterior.py",
    ),
    Mutation(
        "HMM posterior: end of the video",
        "inference/hmm_posterior.py",
        "background[T - 1, k] = background[T - 1, k + 1] * (1 - presence[k])",
        "background[T - 1, k] = 1.0",
        "tests/inference/test_hmm_posterior.py",
    ),
    Mutation(
        "HMM posterior: scaling",
        "inference/hmm_posterior.py",
        "        largest = max(background[t].max(), step[t].max(), TINY)\n",
        "        largest = 1.0\n",
        "tests/inference/test_hmm_posterior.py",
    ),
    Mutation(
        "decoder drops: cost of absence",
        "inference/decoders.py",
        "decode_with_drops(cost, np.log(len(scores)))",
        "decode_with_drops(cost, len(scores))",
        "tests/inference/test_decoders.py",
    ),
    Mutation(
        "decoder drops: softmax over segments",
        "inference/decoders.py",
        "cost = np.log(np.exp(shifted).sum(axis=0)) - shifted",
        "cost = -shifted",
        "tests/inference/test_decoders.py",
    ),
    Mutation(
        "decoder swaps: sign of the scores",
        "inference/decoders.py",
        "return decode_with_swaps(-scores)",
        "return decode_with_swaps(scores)",
        "tests/inference/test_decoders.py",
    ),
    Mutation(
        "decoder by name",
        "inference/decoders.py",
        '"swaps": _swaps',
        '"swaps": _once',
        "tests/inference/test_decoders.py",
    ),
    Mutation(
        "intervals: neighbours in time order",
        "inference/intervals.py",
        "ordered = np.unique(times)",
        "ordered = np.asarray(times)",
        "tests/inference/test_intervals.py",
    ),
    Mutation(
        "scorer: own part of a trained mean",
        "methods/hmm_scorer.py",
        "return prior_means + shared_part + prior.own * coefficients[classes], self.parameters.priors[number]",
        "return prior_means + shared_part, self.parameters.priors[number]",
        "tests/methods/test_hmm.py",
    ),
    Mutation(
        "scorer: weight of the position",
        "methods/hmm_scorer.py",
        "DECODING_WEIGHT if prior.trained else UNSEEN_TASK_WEIGHT",
        "UNSEEN_TASK_WEIGHT",
        "tests/methods/test_hmm.py",
    ),
    Mutation(
        "scorer: new tasks",
        "methods/hmm_scorer.py",
        "replace(initial_prior(len(task.steps)), trained=False)",
        "initial_prior(len(task.steps))",
        "tests/methods/test_hmm.py",
    ),
    Mutation(
        "scorer: position",
        "methods/hmm_scorer.py",
        "log_ratios = position + scores - scores[:, -1:]",
        "log_ratios = scores - scores[:, -1:]",
        "tests/methods/test_hmm.py",
    ),
    Mutation(
        "windows over most of the video",
        "methods/hmm_arrays.py",
        "    mask[:, mask.mean(axis=0) > LARGEST_WINDOW] = False\n",
        "",
        "tests/methods/test_hmm.py",
    ),
    Mutation(
        "features are whitened for training",
        "methods/hmm_arrays.py",
        "whitened[video_id][:] = whitening.transform(corpus.features.rows(video_id))",
        "whitened[video_id][:] = corpus.features.rows(video_id)[:, : whitening.width]",
        "tests/methods/test_hmm.py",
    ),
    Mutation(
        "autocorrelation sets the noise",
        "methods/hmm.py",
        "mean_prior=replace(self.settings.mean_prior, noise=noise)",
        "mean_prior=self.settings.mean_prior",
        "tests/methods/test_hmm.py",
    ),
]


def first_failing_test(mutation: Mutation) -> str | None:
    """The first test that fails without the safeguard, or None."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        file = source / "crosstask" / mutation.file
        text = file.read_text("utf-8")
        assert text.count(mutation.old) == 1, f"{mutation.safeguard}: {mutation.old!r} is not once in {mutation.file}"
        file.write_text(text.replace(mutation.old, mutation.new), "utf-8")
        env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *mutation.test.split()]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed and done.returncode == 1 else None


def main(out: Path | None) -> int:
    """Apply all mutations; returns the number that no test detects."""
    rows = []
    for mutation in MUTATIONS:
        failing = first_failing_test(mutation)
        print(f"{'failing  ' if failing else 'GREEN'}  {mutation.safeguard}: {failing or mutation.test}", flush=True)
        rows.append({"safeguard": mutation.safeguard, "file": mutation.file, "instead": mutation.new.strip(), "red": failing})
    if out is not None:
        out.write_text(json.dumps({"command": "cd tests && python -m faults.breaking FILE", "safeguards": rows}, indent=2) + "\n")
    return sum(row["red"] is None for row in rows)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else None))
