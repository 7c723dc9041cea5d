"""`crosstask run`: a folder of how-to videos -> a run folder with the steps found in every video.

The corpus is opened once; each stage takes it and returns it with what the stage added, and skips what it finds done:

    transcribe   videos without subtitles -> subtitles      (embedded ones, or speech recognition)
    extract      videos -> features (T, D)
    narrate      subtitles -> narration windows
    train        features, windows, labels -> a model       (unless the user gives one)
    localize     model and features -> run folder           (`localize_corpus.py`)
"""

import shlex
from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crosstask.datasets import open_corpus, write_windows
from crosstask.datasets.corpus_toml import own_features
from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.window_files import read_windows
from crosstask.extraction.extract_many import ExtractionReport
from crosstask.extraction.feature_spec import FeatureSpec, default_features, parse_feature_spec
from crosstask.features import NpyFeatures, find_text_side, read_feature_spec, refuse_other_spec
from crosstask.methods.text_prior import with_text_side
from crosstask.model.file import load_model
from crosstask.model.model import Model
from crosstask.model.training import n_epochs, train
from crosstask.narration.narrate import NarrationResult, narrate_best, transcripts, usable_videos
from crosstask.pipeline.extract import Workers, extract_corpus
from crosstask.pipeline.localize_corpus import KIND, localize_corpus
from crosstask.pipeline.media import content_of, contents_of, files_by_id, media_of
from crosstask.pipeline.preflight import (
    check_before_run,
    check_own_features,
    has_own_features,
    raise_if_no_features,
    warn_about_few_videos,
    warn_about_unusable_subtitles,
)
from crosstask.pipeline.run_labels import labels_of, relevant_videos, remove_learning_backup, with_run_labels
from crosstask.pipeline.transcribe import TranscriptionReport, recognised_in, remove_outdated, transcribe_videos
from crosstask.records import (
    Corpus,
    InputError,
    Localization,
    Progress,
    VideoKey,
    flag_argument,
    list_argument,
    no_progress,
    path_argument,
    text_argument,
    whole_argument,
)
from crosstask.runs import claim_run_folder, inside
from crosstask.storage import derived_folder, existing_derived_folder, nonblocking_lock
from crosstask.text.encoders import Encoder
from crosstask.text.encoders.choice import choose_encoder


def default_encoder(documents: Sequence[str]) -> Encoder:
    """The best encoder that is installed; without documents (speech features) it must be the sentence encoder."""
    return choose_encoder(None if documents else "sentence", None, documents)


@dataclass(frozen=True)
class RunConfig:
    """The options of a run."""

    spec: FeatureSpec = field(default_factory=lambda: parse_feature_spec(default_features()))
    seed: int = 0
    model: Path | None = None  # localize with this one instead of training
    sharing: str = "component"
    workers: Workers = field(default_factory=Workers)
    speech_model: Path | None = None
    transcribe: bool = True
    command: str = ""
    synthetic: bool = False
    train_videos: frozenset[VideoKey] | None = None  # None: all
    decode_with_narration: bool = True  # False: narration is used in training alone
    encoder: Callable[[Sequence[str]], Encoder] = default_encoder
    use_annotations: tuple[str, ...] | str | None = None  # videos whose annotation in the corpus is used as labels, or "all"
    language: str | None = None  # of the speech to recognise; None: detected in each video
    features_named: bool = False  # True: the user asked for the features of `spec`


@dataclass(frozen=True, repr=False)
class RunResult:
    """What a run did: the corpus with features and windows, the model, the localizations, and why videos were skipped."""

    corpus: Corpus
    model: Model
    extracted: ExtractionReport
    transcribed: TranscriptionReport
    windows: int
    localized: tuple[Localization, ...]
    skipped: dict[str, str]
    results: dict[str, Any]
    out: Path

    def __repr__(self) -> str:
        """Counts, and the run folder."""
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"Run of '{self.corpus.name}': steps found in {len(self.localized)} videos{skipped}; run folder {self.out}"


def spec_of_run(features: str | None, model: Path | None, **options: Any) -> FeatureSpec:
    """The features that were named, else those that the model was trained on, else the default ones; options as for `parse_feature_spec`.

    Features that were made elsewhere cannot be extracted: the corpus must have them, and the default ones stand for them.
    """
    known = "unknown" if model is None or features is not None else load_model(model).feature_spec
    try:
        return parse_feature_spec(features or (known if known != "unknown" else default_features()), **options)
    except InputError:
        if features is not None:
            raise
        return parse_feature_spec(default_features(), **options)


def run(
    folder: str | Path,
    out: str | Path | None = None,
    model: str | Path | None = None,
    features: str | None = None,
    seed: int = 0,
    transcribe: bool = True,
    use_annotations: Iterable[str] | str | None = None,
) -> RunResult:
    """Extract features, transcribe speech, train (unless a model is given) and localize every video in a folder with `corpus.toml`.

    Without `features` and model, videos are described by `default` features, or by `light` ones where torch is not installed.
    The run folder is `out`, by default `FOLDER/run`; `crosstask view` and `crosstask export` read it. Labels that people gave in the run folder are
    used in training and stay as they are; `use_annotations` lists videos ("TASK_VIDEO") whose annotation in the corpus is used as well, or is "all".
    """
    folder, seed = path_argument(folder, "a folder with corpus.toml"), whole_argument(seed, "seed")
    if features is not None:
        text_argument(features, "features", "'default', 'light' or 'clip=FOLDER'")
    trained = None if model is None else path_argument(model, "a model file")
    config = RunConfig(
        spec=spec_of_run(features, trained),
        seed=seed,
        model=trained,
        transcribe=flag_argument(transcribe, "transcribe"),
        command=shlex.join(["crosstask", "run", folder.name or folder.resolve().name, "--seed", str(seed)]),
        use_annotations=use_annotations
        if use_annotations is None or isinstance(use_annotations, str)
        else tuple(list_argument(use_annotations, "use_annotations")),
        features_named=features is not None,
    )
    return run_folder(folder, path_argument(out, "the run folder to write") if out is not None else folder / "run", config)


def run_folder(folder: Path, out: Path, config: RunConfig, progress: Progress = no_progress) -> RunResult:
    """All stages; the run is in `out`. No other process may write that meanwhile, nor features of the corpus, which all stages read."""
    corpus = open_corpus(folder)
    check_before_run(corpus, out, config.speech_model if config.transcribe else None)
    check_own_features(corpus, str(config.spec) if config.features_named else None)
    if config.model is not None and not has_own_features(corpus):
        # before features of another kind replace those there are
        refuse_other_spec(load_model(config.model).feature_spec, str(config.spec))
    with nonblocking_lock(out), nonblocking_lock(derived_folder(folder)):
        if inside(folder, out):  # perhaps a copied collection
            claim_run_folder(out, KIND)
        else:
            media = media_of(corpus).values()
            claim_run_folder(out, KIND, media, [video.id for video in corpus.videos], lambda: map(content_of, media))
        return run_stages(corpus, out, config, progress)


def run_stages(corpus: Corpus, out: Path, config: RunConfig, progress: Progress = no_progress) -> RunResult:
    """The stages in order, for a caller that holds the lock of `out`."""
    corpus, transcribed = _transcribe(corpus, config, progress)
    corpus, extracted = _extract(corpus, config, progress)
    corpus, n_windows = _narrate(corpus, config, progress)
    raise_if_no_features(corpus, extracted.skipped)
    corpus = with_run_labels(corpus, out, config.use_annotations)
    model = with_text_side(load_model(config.model), corpus.text_side) if config.model else _train(corpus, out, config, progress)
    refuse_other_spec(model.feature_spec, corpus.feature_spec)
    remove_learning_backup(out)
    with progress("localising", sum(video.id in corpus.features for video in corpus.videos)) as advance:
        found = localize_corpus(corpus, model, out, config, extracted.skipped, advance)
    return RunResult(corpus, model, extracted, transcribed, n_windows, found.localized, found.skipped, found.results, out)


def _transcribe(corpus: Corpus, config: RunConfig, progress: Progress) -> tuple[Corpus, TranscriptionReport]:
    """The corpus with subtitles of videos that had none, where the file embeds them or speech was recognised; otherwise with the user's alone."""
    assert corpus.folder is not None
    files, _ = files_by_id(media_of(corpus))
    ours = derived_folder(corpus.folder, "subtitles")
    theirs = corpus.subtitles if isinstance(corpus.subtitles, SubtitleFolders) else SubtitleFolders(())
    derived = {ours, existing_derived_folder(corpus.folder, "subtitles")}
    of_user = tuple(folder for folder in theirs.folders if folder not in derived)
    remove_outdated(files, ours)
    folders = (ours, *of_user)  # the user's subtitles go before ours
    left_out = frozenset() if config.transcribe else recognised_in(ours)  # by an earlier run
    found = SubtitleFolders(folders, theirs.beside, left_out)
    without = {v: path for v, path in files.items() if v not in found or (ours / f"{v}.vtt").is_file()}
    if not without:
        return replace(corpus, subtitles=found), TranscriptionReport()
    with progress("transcribing", len(without)) as advance:
        model = config.speech_model if config.transcribe else None
        report = transcribe_videos(without, ours, model, advance, config.language, config.transcribe)
    return replace(corpus, subtitles=SubtitleFolders(folders, theirs.beside, left_out)), report


def _extract(corpus: Corpus, config: RunConfig, progress: Progress) -> tuple[Corpus, ExtractionReport]:
    """The corpus with the features of its videos; a user's own `features/` folder goes before extracted ones."""
    assert corpus.folder is not None
    if own_features(corpus.folder) or (has_own_features(corpus) and not media_of(corpus)):
        reused = [video.id for video in corpus.videos if video.id in corpus.features]
        missing = sorted({video.id for video in corpus.videos} - set(reused))
        return corpus, ExtractionReport(reused=reused, skipped={video: _without_own_features(video) for video in missing})
    encoder = config.encoder(()) if config.spec.speech else None
    with progress("extracting", len(media_of(corpus))) as advance:
        extracted, folder = extract_corpus(corpus, config.spec, None, config.workers, encoder, advance)
    spec, side = read_feature_spec(folder), find_text_side(folder)
    return replace(corpus, features=NpyFeatures(folder), feature_spec=spec, text_side=side), extracted


def _without_own_features(video: str) -> str:
    return f"{video}: not in the folder features, which is used as it is; add {video}.npy, or move the folder away"


def _narrate(corpus: Corpus, config: RunConfig, progress: Progress) -> tuple[Corpus, int]:
    """The corpus with narration windows, and their number; published ones and those of the user go first, and no others are made if all have them."""
    assert corpus.folder is not None
    own = corpus.windows.maps[0] if isinstance(corpus.windows, ChainMap) else {}
    if all(video.key in own for video in corpus.videos):
        return corpus, len(corpus.windows)
    usable, unusable = usable_videos(corpus, [video for video in corpus.videos if corpus.knows_length(video)])
    warn_about_unusable_subtitles(unusable)
    folder = derived_folder(corpus.folder, "constraints")
    if not usable and not folder.is_dir():
        return corpus, len(corpus.windows)
    with nonblocking_lock(folder):
        found = NarrationResult({})  # also replaces the windows of subtitles that are gone
        if usable:
            with progress("narrating", len(usable)) as advance:
                found = narrate_best(corpus, usable, config.encoder(transcripts(usable)), advance=advance)
        write_windows(folder, corpus.tasks, found.windows, corpus.subtitles)
        windows = ChainMap(own, read_windows(folder, corpus.tasks, corpus.subtitles))  # type: ignore[arg-type]
        n_windows = len(windows)  # reads them all, before another command can replace them
    return replace(corpus, windows=windows), n_windows


def _train(corpus: Corpus, out: Path, config: RunConfig, progress: Progress) -> Model:
    """The model of all relevant videos with features; labels of a person are hard supervision."""
    described = [video for video in corpus.videos if video.id in corpus.features]
    chosen = relevant_videos(described, out, contents_of(corpus))
    if described and not chosen:
        raise InputError(f"corpus '{corpus.name}': every video is marked irrelevant in {out}; mark some as relevant in `view`")
    if config.train_videos is not None:
        chosen = [video for video in chosen if video.key in config.train_videos]
    if not chosen:
        raise InputError(
            f"corpus '{corpus.name}': no features could be extracted from any video, so there is nothing to train on"
        )
    if not config.synthetic:
        warn_about_few_videos(chosen, out)
    kept = replace(corpus.only_tasks({video.task for video in chosen}).only(chosen), labels=labels_of(corpus, chosen))
    with progress("training", n_epochs("hmm")) as advance:
        return train(kept, "hmm", config.sharing, seed=config.seed, after_epoch=lambda state: advance(), pack=False)
