"""Tables of the pages on cost, reliability and building a corpus, made from results/*.json."""

import numpy as np
from detailed_tables import table
from tables import recorded

SHELVES, TOAST = "Build Simple Floating Shelves", "Make French Toast"


def _measured(what: str, cost: str, *files: str) -> list[str]:
    return [what, cost, f"measured, {', '.join(f'`{file}`' for file in files)}"]


def time_table() -> str:
    """What each part takes, measured; estimates stand in the page."""
    rows = [*_decoding_rows(), *_training_rows(), *_localize_rows(), *_video_rows(), *_other_rows()]
    return table(["what", "cost", ""], rows)


def _decoding_rows() -> list[list[str]]:
    data = recorded("decoding-speed")
    at = {T: f"{data['once'][f'T={T}, K=8']['kernel_us']:.1f}" for T in (300, 600, 1200)}
    marginals, intervals = data["marginals_us"]["T=300, K=8"], data["runs_single_call_us"]["T=300, K=8"]
    return [
        _measured(
            "one ordered labelling, T = 300, K = 8",
            f"{at[300]} µs; {at[600]} at T = 600, {at[1200]} at T = 1200: linear in T",
            "decoding-speed",
        ),
        _measured("posterior probabilities / intervals", f"{marginals:.1f} µs / {intervals:.1f} µs", "decoding-speed"),
    ]


def _training_rows() -> list[list[str]]:
    speed, splits, cost = recorded("training-speed"), recorded("many-splits"), recorded("training-cost")["rows"]
    rounds = speed["floor_ratio_by_round"]
    seconds = ", ".join(f"{of['best_s']:.0f} / {of['paper_s']:.0f} s ({size})" for size, of in cost.items())
    return [
        _measured(
            "`--method zhukov19`, a video and epoch, D = 3200, 180 videos of about 300 s",
            f"{speed['ours_ms_per_video']:.2f} ms; a textbook trainer {speed['textbook_ms_per_video']:.1f} ms, the published code "
            f"{speed['published_ms_per_video']:.1f} ms in the same run",
            "training-speed",
        ),
        _measured(
            "the same at CrossTask's size (2,490 training videos), 60 epochs",
            f"{speed['sixty_epochs_s']:.0f} s alone on the machine, {speed['floor_ratio']:.1f} times the time of reading the rows in use once "
            f"(median of {len(rounds)} rounds, {min(rounds):.1f} to {max(rounds):.1f}); {splits['one_process_s_per_split']:.0f} s beside other work",
            "training-speed",
            "many-splits",
        ),
        _measured(
            f"{splits['splits']} splits of that size, two processes on one pack",
            f"{splits['two_processes_s_in_all']:.0f} s beside other work",
            "many-splits",
        ),
        _measured("training, CPU of one core: `hmm` / `zhukov19`, 60 epochs", seconds, "training-cost"),
        _full_shape_row(),
    ]


def _full_shape_row() -> list[str]:
    """Training by the default method at CrossTask's full shape."""
    full = recorded("default-method-cost")["full"]
    return _measured(
        f"`train` by `hmm` at CrossTask's full shape: {full['tasks']} tasks, {full['videos']:,} *synthetic* videos of {full['mean_T']:.0f} s on average, "
        f"D = {full['D']}, {full['features_mb']:,} MB of packed features",
        f"{full['cpu_s']:.0f} s of CPU on two cores; {full['wall_s']:.0f} s by the clock (load {full['load_before']:.0f}); "
        f"{full['peak_anonymous_mb']:.0f} MB that no file backs",
        "default-method-cost",
    )


def growth_table() -> str:
    """CPU seconds of training by the default method while one size grows, and the fitted exponents."""
    data = recorded("default-method-cost")
    rows = []
    for name, of in data["growth"].items():
        last = np.log(of["cpu_s"][-1] / of["cpu_s"][-2]) / np.log(of["at"][-1] / of["at"][-2])
        seconds = (f"{s:.1f} s ({n:,})" for n, s in zip(of["at"], of["cpu_s"], strict=True))
        rows.append([name, *seconds, f"{of['exponent']:.2f}", f"{last:.2f}"])
    header = ["size that grows (`default-method-cost`)", "once", "twice", "four times", "fitted exponent", "of the last doubling"]
    return table(header, rows)


def _localize_rows() -> list[list[str]]:
    data = recorded("localize-speed")
    hmm, zhukov19 = data["best"], data["paper"]
    return [
        _measured(
            f"`localize` of one video, 3200 columns, {hmm['seconds_of_video']} s: as a process / in Python after loading",
            f"{hmm['process_wall_s']['median']:.1f} s with `hmm`, {zhukov19['process_wall_s']['median']:.1f} s with `zhukov19` (most of it numba and "
            f"SciPy loading) / {hmm['python_ms']['median']:.1f} and {zhukov19['python_ms']['median']:.1f} ms; "
            f"{hmm['first_process_compiling_s']:.0f} s once, where nothing is compiled yet",
            "localize-speed",
        )
    ]


def _video_rows() -> list[list[str]]:
    demo, clips, film = recorded("video-demo"), recorded("real-clips")["clips"], recorded("long-video")
    cpu, wall = ([of[name] for of in demo["seeds"].values()] for name in ("cpu_seconds", "wall_seconds"))
    default = film["recipes"]["default"]
    warm = [clip for name, clip in clips.items() if name != "bigbuckbunny"]  # the first clip includes loading the models
    a_second = [clip["default_features_cpu_s"] / clip["seconds"] for clip in warm]
    i3d = [clip["i3d_cpu_s_a_clip"] for clip in clips.values()]
    width, height = film["picture"]
    return [
        _measured(
            "`demo`: 96 synthetic films of about 38 s, rendered, `light` features extracted, trained",
            f"{min(cpu):.0f} to {max(cpu):.0f} s of CPU on 2 cores, {demo['most']['largest_process_mb']:.0f} MB for the largest process; "
            f"{min(wall):.0f} to {max(wall):.0f} s by the clock",
            "video-demo",
        ),
        _measured(
            "features `default`, a second of video, one core",
            f"{min(a_second):.3f} to {max(a_second):.3f} s, decoding included; see [Features](features.md)",
            "real-clips",
        ),
        _measured(
            f"features `default` of a two-hour film ({width} x {height}, {film['frames_per_second']} frames a second, synthetic)",
            f"{default['cpu_seconds']:.0f} s of CPU, {default['peak_memory_mb']:.0f} MB at most",
            "long-video",
        ),
        _measured("features `i3d`, a second of video, one core", f"{min(i3d):.1f} to {max(i3d):.1f} s", "real-clips"),
    ]


def _other_rows() -> list[list[str]]:
    said, halves, viewer = recorded("narration-timings"), recorded("corpus-building")["halves"], recorded("viewer-speed")
    tfidf = " / ".join(f"{said[f'tfidf, {recipe} recipe']['cpu_s']:.1f}" for recipe in ("paper", "best"))
    answers = [of["median_ms"] for of in viewer["answers"].values()]
    return [
        _measured(
            f"`narrate`, {said['videos']} videos, TF-IDF: paper's method / default", f"{tfidf} s of CPU", "narration-timings"
        ),
        _measured(
            "`narrate`, sentence encoder, from its cache",
            f"{said['sentence, best recipe, from the cache']['cpu_s']:.1f} s of CPU",
            "narration-timings",
        ),
        _measured(
            f"related tasks, {halves['articles']:,} queries over {halves['articles']:,} articles",
            f"{halves['seconds']:.1f} s",
            "corpus-building",
        ),
        _measured(
            f"viewer, {viewer['videos']} videos: an answer (median) / first paint",
            f"{min(answers):.1f} to {max(answers):.1f} ms / {viewer['paint']['first_contentful_paint_ms']['median']} ms",
            "viewer-speed",
        ),
    ]


def memory_table() -> str:
    """The memory of training, extraction and the viewer."""
    faults, training = recorded("faults"), recorded("training-memory")
    limited, peak = faults["memory"], training["peak_anonymous_mb"]
    rows = [
        _measured(
            "`--method zhukov19`",
            f"rows are mapped, not loaded: {limited['corpus_mb']:.0f} MiB of features were trained on with room for {limited['allowance_mb']} MiB",
            "faults",
        ),
        _measured(
            f"the same, {training['videos']} videos of about 300 s, D = 3200: {training['rows_mb']:,} MiB of float16 rows",
            f"{peak['paper']} MB that no file backs",
            "training-memory",
        ),
        _measured(
            "`hmm` on these",
            f"{peak['best']} MB: projected features spill to an unlinked temporary file above 256 MiB",
            "training-memory",
        ),
        _measured("`extract`, default features and I3D", f"peak {recorded('real-clips')['peak_rss_mb']} MB", "real-clips"),
        _measured("viewer under load", f"{faults['viewer under load']['anonymous_mb'][0]} MiB", "faults"),
    ]
    return table(["what", "cost", ""], rows)


def corpus_building_table() -> str:
    """How well related articles and relevant videos are found."""
    data = recorded("corpus-building")
    halves, title, neighbours = data["halves"], data["title_alone"], data["task_map"]
    relevance = {task: data["relevance"][task] for task in (SHELVES, TOAST)}
    rows = [
        [
            f"half of an article finds its other half first, of {halves['articles']:,}",
            f"{100 * halves['rank_1']:.0f} %, in {halves['seconds']:.0f} s",
        ],
        [
            "a title alone finds its article first",
            f"{100 * title['rank_1']:.0f} % ({100 * title['rank_1_without_titles_in_articles']:.0f} % when titles are taken out of the articles)",
        ],
        ["nonsense", "finds nothing" if not any(data["nonsense"].values()) else "finds something"],
        *([pair, "near duplicates" if near else "not near"] for pair, near in data["near_duplicate"].items()),
        [
            "top-3 neighbours of the 18 primary tasks in their category",
            f"{100 * neighbours['top_3_neighbours_in_category']:.0f} % of {neighbours['neighbours']}",
        ],
        ["silhouette, car and home against cooking", f"{neighbours['silhouette_car_home_against_cooking']:.2f}"],
        [
            "narration: right step list against the 82 others, area under the curve; settings chosen on the other task",
            ", ".join(f"{task} {of['auc']:.3f}" for task, of in relevance.items()),
        ],
        ["the right list is first of 83", ", ".join(f"{100 * of['first']:.0f} %" for of in relevance.values())],
    ]
    return table(["question", "found"], rows)


def release_sentence() -> str:
    """What the release gives without features, beside the paper's figures."""
    data = recorded("release-baselines")
    overall, paper = data["statistics"]["overall"], data["paper"]
    ours = ", ".join(
        f"{words} {100 * overall[name]:.1f} %"
        for name, words in {
            "order_consistency": "order consistency",
            "missing": "missing steps",
            "background": "background",
        }.items()
    )
    theirs = ", ".join(f"{100 * paper[name]:.0f}" for name in ("order_consistency", "missing", "background"))
    recalls = {name: 100 * data["results"][name]["recall"]["mean"] for name in ("uniform", "random")}
    return (
        f"Expect on the real release: {ours} (paper: {theirs}); recall {recalls['uniform']:.1f} for Uniform and {recalls['random']:.1f} for Random "
        f"as means of {len(data['seeds'])} splits (paper: {100 * paper['uniform recall']:.1f} and {100 * paper['random recall']:.2f}). "
        "These need no features and were measured (`results/release-baselines.json`)."
    )


def transcription_sentence() -> str:
    """How well the packaged model recognises speech."""
    data = recorded("transcription")
    seconds = sum(of["seconds_of_speech"] for of in data["sentences"].values())
    return (
        f"On {seconds:.0f} s of real read speech {100 * data['word_error_rate']:.1f} % of the words were wrong, and half of them began within "
        f"{data['median_start_error_s']:.2f} s of a reference alignment (`results/transcription.json`)."
    )


def long_film_sentence() -> str:
    """What a film of two hours costs."""
    default = recorded("long-video")["recipes"]["default"]
    return (
        f"One long film costs time, not memory: a *synthetic* film of two hours took `default` {default['cpu_seconds']:.0f} s of one core with a peak of "
        f"{default['peak_memory_mb']:.0f} MB (`results/long-video.json`)."
    )


def presence_sentence() -> str:
    """How well features predict that a step is not shown."""
    found = [
        of["shown"]["absence"] for of in recorded("confidence")["corpora"].values() if of["shown"]["absence"]["auroc"] is not None
    ]
    aurocs, recalls = [of["auroc"] for of in found], [100 * of["recall at precision 0.5"] for of in found]
    return (
        f"Whether a step is missing is hardly predictable from features: AUROC {min(aurocs):.2f} to {max(aurocs):.2f}, and if half of the steps called "
        f"absent are to be absent, {min(recalls):.1f} to {max(recalls):.1f} % of the absent ones are found. So no step is called absent by default."
    )


def collections_table() -> str:
    """CPU seconds and memory of each verb by number of videos, and the exponent of the growth."""
    data = recorded("collections")
    sizes = sorted(data["sizes"], key=int)
    rows = []
    for verb, exponent in data["exponents"].items():
        costs = [data["sizes"][size][verb] for size in sizes]
        rows.append([f"`{verb}`", *(f"{of['cpu_seconds']:.1f} s, {of['mb']:.0f} MB" for of in costs), f"{exponent:.2f}"])
    return table(["verb (`collections`)", *(f"{int(size):,} videos" for size in sizes), "exponent"], rows)


def large_collection_sentence() -> str:
    """What the viewer and the report are like at the largest size."""
    data = recorded("collections")
    largest = max(data["sizes"], key=int)
    answers = data["sizes"][largest]["view"]["answers_ms"]
    slowest = max(answers, key=lambda kind: answers[kind])
    report = data["sizes"][largest]["report"]["report_bytes"]
    return (
        f"With {int(largest):,} videos the viewer answers within {answers[slowest]:.0f} ms (medians by kind of request; the slowest is "
        f'"{slowest}"), and the report has {report / 1e6:.1f} MB.'
    )
