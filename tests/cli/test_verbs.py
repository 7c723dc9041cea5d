import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from cli.running import crosstask, json_of, refused
from crosstask.datasets import write_release
from tiny import TASKS, write_tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora") / "a corpus, déjà vu"
    write_tiny(folder)
    return folder


@pytest.fixture(scope="module")
def model(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "-model.safetensors"
    done = crosstask("train", corpus, f"--out={path}", "--learning-rate", 0.01, "--dropout", 0, "--recipe", "paper")
    assert done.returncode == 0, done.stderr
    return path


def test_version_and_help():
    assert crosstask("--version").stdout.startswith("crosstask 0.")
    assert "localize" in crosstask("--help").stdout


def test_ids_of_tasks_may_hold_underscores(tmp_path):
    named = replace(TASKS["2"], id="make_tea")
    tiny = write_tiny(tmp_path / "tiny")
    videos = tuple(replace(video, task=named.id if video.task == "2" else video.task) for video in tiny.videos)
    keys = dict(zip((video.key for video in tiny.videos), (video.key for video in videos), strict=True))
    parts = {part: {keys[key]: found for key, found in getattr(tiny, part).items()} for part in ("annotations", "windows")}
    tasks = {"1": TASKS["1"], named.id: named, "30": TASKS["30"]}
    folder = tmp_path / "c"
    write_release(replace(tiny, tasks=tasks, videos=videos, validation=frozenset(), **parts), folder)
    (tmp_path / "tiny" / "crosstask_features").rename(folder / "crosstask_features")
    assert json_of("validate", folder)["problems"] == []
    assert crosstask("train", folder, "--out", tmp_path / "m.safetensors").returncode == 0
    (tmp_path / "some.txt").write_text("make_tea_-v2_0\n")
    done = crosstask("evaluate", folder, "--model", tmp_path / "m.safetensors", "--videos", tmp_path / "some.txt")
    assert done.returncode == 0, done.stderr


def test_help_imports_nothing_heavy():
    code = "import sys; sys.argv = ['crosstask', '--help']\nfrom crosstask.cli.main import app\nimport atexit\n"
    code += "atexit.register(lambda: print('HEAVY', sorted({'numpy', 'numba', 'torch', 'sklearn', 'matplotlib'} & set(sys.modules))))\napp()"
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "HEAVY []" in done.stdout


def all_verbs(command=None, prefix=()):
    from typer.main import get_command

    from crosstask.cli.main import app

    for name, sub in (command or get_command(app)).commands.items():
        if hasattr(sub, "commands"):
            yield from all_verbs(sub, (*prefix, name))
        else:
            yield " ".join((*prefix, name)), sub


def test_every_verb_has_help_with_an_example_on_a_line_of_its_own():
    for name, verb in all_verbs():
        paragraphs = (verb.help or "").split("\n\n")
        examples = [text for text in paragraphs if text.startswith(f"Example: crosstask {name}")]
        assert examples, f"crosstask {name} --help shows no example"
        assert (verb.help or "").count("Example:") == len(examples), f"crosstask {name} --help runs an example into other text"


def test_arguments_are_named_in_capitals():
    arguments = [
        (name, parameter) for name, verb in all_verbs() for parameter in verb.params if not parameter.opts[0].startswith("-")
    ]
    assert len(arguments) > 15
    assert not [(name, parameter.metavar) for name, parameter in arguments if not (parameter.metavar or "").isupper()]


def test_the_help_of_experiment_names_every_experiment():
    from crosstask.experiments.registry import EXPERIMENTS

    verb = dict(all_verbs())["experiment"]
    (name,) = (parameter for parameter in verb.params if parameter.name == "name")
    assert [word for word in EXPERIMENTS if word not in name.help] == []


def test_stats_has_the_documented_shape(corpus):
    figures = json_of("stats", corpus)
    assert set(figures["tasks"]["1"]) >= {
        "title",
        "videos",
        "steps",
        "missing",
        "background",
        "order_consistency",
        "mean_seconds",
    }
    assert set(figures["overall"]) >= {"missing", "background", "order_consistency", "components", "words", "hours", "ids"}
    assert figures["tasks"]["1"]["missing"] == 0 and figures["overall"]["order_consistency"] == 1
    assert figures["tasks"]["30"]["videos"] == 4 and figures["groups"]["related"]["tasks"] == 1


def test_stats_compares_data_sets(corpus):
    figures = json_of("stats", corpus, "--compare", corpus)
    assert [row["videos"] for row in figures["comparison"]] == [12, 12]


def test_evaluate_uniform_and_random(corpus):
    uniform = json_of("evaluate", corpus, "--method", "uniform")
    assert set(uniform) >= {"recall", "map", "f1"} and set(uniform["recall"]["tasks"]) == {"1", "2"}
    drawn = json_of("evaluate", corpus, "--method", "random", "--draws", 3)
    assert drawn["draws"] == 3 and 0 <= drawn["recall"]["mean"] <= 1


def test_train_localize_evaluate(corpus, model):
    result = json_of("evaluate", corpus, f"--model={model}")
    assert result["recall"]["mean"] > 0.9
    assert "were used to train this model" in crosstask("evaluate", corpus, f"--model={model}").stderr
    feature = corpus / "crosstask_features" / "-v1_1.npy"
    (found,) = json_of("localize", model, feature, "--task", 1)
    assert found["video"] == "-v1_1" and [s["step"] for s in found["steps"]] == ["pour milk", "stir coffee", "pour coffee"]
    seconds = [s["moment_s"] for s in found["steps"]]
    assert seconds == sorted(set(seconds))
    assert all(s["start_s"] <= s["moment_s"] < s["end_s"] and isinstance(s["shown"], bool) for s in found["steps"])


def test_the_best_recipe_is_the_default_and_needs_no_flags(corpus, tmp_path):
    best = tmp_path / "best.safetensors"
    done = crosstask("train", corpus, "--out", best, "--dropout", 0.5)
    assert done.returncode == 0 and "--dropout is no setting of hmm" in done.stderr
    assert json_of("evaluate", corpus, "--model", best)["recall"]["mean"] > 0.8
    (found,) = json_of(
        "localize", best, corpus / "crosstask_features" / "-v1_1.npy", "--steps", "pour milk, stir whisky, garnish"
    )
    assert len(found["steps"]) == 3
    again = tmp_path / "again.safetensors"
    assert crosstask("train", corpus, "--out", again).returncode == 0
    assert again.read_bytes() == best.read_bytes()


def test_localize_a_new_task_and_many_inputs(corpus, model):
    inputs = [corpus / "crosstask_features" / f"-v1_{i}.npy" for i in range(2)]
    found = json_of("localize", model, *inputs, "--steps", "pour milk, stir whisky, garnish")
    assert [len(f["steps"]) for f in found] == [3, 3]
    said = crosstask("localize", model, inputs[0], "--steps", "pour milk, stir whisky, garnish").stderr
    assert "never trained: whisky, garnish" in said and "placed by order alone" in said and "garnish" in said


def test_localize_from_subtitles_alone(tmp_path):
    spoken = [
        "hello everyone welcome back",
        "first pour the milk into a pan",
        "let it warm a little",
        "now whisk the egg with sugar",
        "thanks for watching bye",
    ]
    cues = "".join(f"00:00:{10 * i:02d}.000 --> 00:00:{10 * i + 8:02d}.000\n{text}\n\n" for i, text in enumerate(spoken))
    (tmp_path / "talk.vtt").write_text(f"WEBVTT\n\n{cues}")
    (found,) = json_of("localize", "--narration", tmp_path / "talk.vtt", "--steps", "pour milk, whisk egg", "--encoder", "tfidf")
    assert [s["step"] for s in found["steps"]] == ["pour milk", "whisk egg"]
    assert 8 <= found["steps"][0]["moment_s"] < 20 and 28 <= found["steps"][1]["moment_s"] < 40
    assert "--steps" in refused("localize", "--narration", tmp_path / "talk.vtt")
    assert "gone.vtt" in refused("localize", "--narration", tmp_path / "gone.vtt", "--steps", "a")


def test_localize_needs_no_model_where_a_video_is_narrated(tmp_path, model):
    cues = "".join(
        f"00:00:{10 * i:02d}.000 --> 00:00:{10 * i + 8:02d}.000\n{text}\n\n"
        for i, text in enumerate(["hello everyone", "first pour the milk", "let it warm", "now whisk the egg", "thank you"])
    )
    talk = tmp_path / "talk.vtt"
    talk.write_text(f"WEBVTT\n\n{cues}")
    (tmp_path / "steps.txt").write_text("1. pour milk\n2. whisk egg\n")
    done = crosstask("localize", talk, "--steps-file", tmp_path / "steps.txt")
    assert done.returncode == 0 and "found by subtitles talk.vtt" in done.stderr
    assert "pour milk" in done.stdout and "not shown" not in done.stdout
    assert "--task needs a model" in refused("localize", talk, "--task", "1")
    assert "one for each input" in refused("localize", model, talk, talk, "--narration", talk, "--steps", "pour milk")


def test_evaluate_with_narration_needs_a_posterior(corpus):
    assert "has no posterior" in refused("evaluate", corpus, "--method", "uniform", "--with-narration")


def test_the_same_command_ends_with_the_same_bytes_under_any_hash_seed_and_threads(corpus, tmp_path):
    files = []
    for i, (hash_seed, threads) in enumerate([("0", "1"), ("1", "2"), ("42", "2")]):
        out = tmp_path / f"{i}.safetensors"
        env = os.environ | {
            "PYTHONHASHSEED": hash_seed,
            "NUMBA_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        }
        done = crosstask(
            "train", corpus, "--out", out, "--epochs", 3, "--initial-epochs", 3, "--seed", 7, "--recipe", "paper", env=env
        )
        assert done.returncode == 0, done.stderr
        files.append(out.read_bytes())
    assert files[0] == files[1] == files[2]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["stats", "nowhere"], "no such folder"),
        (["evaluate", "CORPUS"], "either --model FILE or --method"),
        (["evaluate", "CORPUS", "--method", "uniform", "--split", "0"], "leaves no annotated video to evaluate"),
        (["evaluate", "CORPUS", "--method", "magic"], "expected one of hmm, zhukov19"),
        (["evaluate", "CORPUS", "--method", "proposed"], "must be trained first"),
        (["evaluate", "CORPUS", "--model", "nope.safetensors"], "no such model file"),
        (["train", "CORPUS", "--out", "x.safetensors", "--sharing", "words"], "component, step, task-component, none"),
        (
            ["train", "CORPUS", "--out", "x.safetensors", "--recipe", "paper", "--dropout", "1.5"],
            "expected a number from 0 to below 1",
        ),
        (["train", "CORPUS", "--out", "x.safetensors", "--tasks", "some"], "all, primary or related"),
        (["train", "CORPUS", "--out", "x.safetensors", "--videos", "nolist"], "no such file"),
        (["localize", "MODEL", "gone.npy", "--task", "1"], "gone.npy: no such file"),
        (["localize", "MODEL", "FEATURE"], "--task ID, --steps"),
        (["localize", "MODEL", "FEATURE", "--task", "make late"], "did you mean make latte"),
        (["localize", "MODEL", "FEATURE", "--steps", "a,,b"], "step 2 is empty"),
        (["localize", "FEATURE", "--model", "CORPUS/crosstask_features/-v1_1.npy", "--task", "1"], "not a crosstask model"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(corpus, model, arguments, says):
    places = {"CORPUS": str(corpus), "MODEL": str(model), "FEATURE": str(corpus / "crosstask_features" / "-v1_1.npy")}
    filled = [a.replace("CORPUS", places["CORPUS"]) if "CORPUS" in a else places.get(a, a) for a in arguments]
    assert says in refused(*filled)


def test_a_list_of_videos(corpus, tmp_path):
    listed = tmp_path / "list.txt"
    listed.write_text("1_-v1_1\n1_-v1_2\n\n")
    assert json_of("evaluate", corpus, "--method", "uniform", "--videos", listed)["videos"] == 2
    listed.write_text("1_-v1_1\n1_other\n")
    assert "line 2: 1_other is not in corpus" in refused("evaluate", corpus, "--method", "uniform", "--videos", listed)


def test_pack_says_what_it_made(corpus):
    made = json_of("pack", corpus, "--check")
    assert made["videos"] == 12 and made["dimensions"] == 6 and made["bytes"] == 12 * 20 * 6 * 2


def test_doctor_knows_the_extras():
    found = json_of("doctor")
    assert set(found["extras"]) == {"deep", "video", "speech", "sentence", "language", "serve", "ray"} and found[
        "kernels"
    ].startswith("working")


def test_interrupted_while_a_kernel_is_compiled_nothing_else_is_printed(monkeypatch, capsys):
    from llvmlite.binding.ffi import ObjectRef

    from crosstask.cli.main import _hide_interrupted_compilation

    class Other:
        def __del__(self):
            raise ValueError("of another object")

    monkeypatch.setattr(sys, "unraisablehook", _hide_interrupted_compilation)
    half_made = ObjectRef.__new__(ObjectRef)  # as Ctrl-C leaves it
    del half_made
    assert capsys.readouterr().err == ""
    Other()
    assert "of another object" in capsys.readouterr().err


def test_interrupted_it_says_so_in_one_line(corpus, tmp_path):
    command = [sys.executable, "-m", "crosstask.cli.main", "train", str(corpus), "--out", str(tmp_path / "out" / "m.safetensors")]
    command += ["--recipe", "paper", "--learning-rate", "0.01", "--epochs", "10000000"]
    training = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list((tmp_path / "out").glob("*")) and training.poll() is None:  # it is at work once something lies there
        time.sleep(0.05)
    time.sleep(1)
    training.send_signal(signal.SIGINT)
    _, said = training.communicate()
    assert training.returncode == 130
    assert said.rstrip().endswith("error: interrupted; repeat the command to resume") and "Traceback" not in said


def test_interrupted_during_an_import_its_exit_code_is_the_same(tmp_path):
    """Imports make named tuples, and CPython would end a process whose Ctrl-C came there by SIGINT."""
    code = """from crosstask.cli import main
main.app = lambda **_: exec("raise KeyboardInterrupt")
main.run()
"""
    (tmp_path / "importing.py").write_text(code, "utf-8")
    done = subprocess.run([sys.executable, "-m", "importing"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "error: interrupted; repeat the command to resume\n")


def test_an_unexpected_end_of_a_file_is_not_called_an_interruption():
    code = """import sys
from crosstask.cli import doctor, main
doctor.examine = lambda: exec("raise EOFError('of a file')")
sys.argv = ["crosstask", "doctor"]
main.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "EOFError: of a file" in done.stderr and "interrupted" not in done.stderr


def test_interrupted_twice_it_ends_at_once_without_a_traceback():
    """The second Ctrl-C comes while the process waits for its workers to end."""
    waits = "atexit.register(lambda: (print('ending', flush=True), time.sleep(60)))"
    code = f"import atexit, time; from crosstask.cli import main; {waits}; main.app = lambda **_: 130; main.run()"
    ending = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ending.stdout.readline() == "ending\n"
    ending.send_signal(signal.SIGINT)
    _, said = ending.communicate()
    assert said == "error: interrupted; repeat the command to resume\n" and ending.returncode == -signal.SIGINT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "--nope"), "No such option: --nope; see "),
        (("nope",), "No such command 'nope'; see "),
        (("train",), "Missing argument 'CORPUS'; see "),
        (("view", "x", "--port", "abc"), "Invalid value for '--port'"),
        (("corpus", "nope"), "No such command 'nope'; see "),
        (("lokalize",), "No such command 'lokalize'; did you mean 'localize'? see "),
    ],
)
def test_errors_of_usage_are_one_line_that_names_the_help(arguments, message):
    said = refused(*arguments)
    assert message in said and said.endswith(" --help")


def test_help_keeps_text_in_brackets_and_lists_whole_sentences():
    assert "As for extract [default: what the model was trained" in crosstask("run", "--help").stdout
    for group in ((), ("corpus",)):
        listed = crosstask(*group, "--help").stdout.partition("Commands:")[2]
        assert listed.count("\n") > 5 and "..." not in listed
    assert crosstask("corpus").returncode == 2 and "Usage: " in crosstask("corpus").stderr + crosstask("corpus").stdout


def test_training_without_features_says_so(tmp_path):
    folder = tmp_path / "my corpus"
    crosstask("init", folder)
    for task in ("latte", "pancakes"):
        (folder / "videos" / task / f"{task}-1.mp4").write_bytes(b"not read")
    said = refused("train", folder, "--out", tmp_path / "m.safetensors")
    assert "none of its 2 videos has features" in said and f"extract '{folder}'" in said


def test_a_corpus_without_videos_says_so(tmp_path):
    folder = tmp_path / "new"
    assert f"{folder}/videos/TASK/" in crosstask("init", folder).stdout
    assert "no videos are listed" in refused("train", folder, "--out", tmp_path / "m.safetensors")
    assert "`crosstask extract` makes them" in refused("pack", folder)
    assert "beside the videos" in refused("narrate", folder)
    checked = crosstask("validate", folder)
    assert (
        "warning: corpus.toml: task latte 'Make Latte' has no videos" in checked.stdout
        and "0 errors, 2 warnings" in checked.stdout
    )


def test_init_leaves_a_link_whose_target_is_not_there(tmp_path):
    (tmp_path / "corpus.toml").symlink_to("/mnt/not-mounted/corpus.toml")
    assert "which is not there; mount that disk" in refused("init", tmp_path)
    assert (tmp_path / "corpus.toml").is_symlink() and list(tmp_path.iterdir()) == [tmp_path / "corpus.toml"]


def test_a_missing_folder_is_named_once_and_a_file_is_not_called_missing(tmp_path):
    missing, video = tmp_path / "missing", tmp_path / "one.mp4"
    video.write_bytes(b"not read")
    assert "missing: no such file or folder" in refused("extract", missing)
    checked = crosstask("validate", missing)
    assert (
        checked.returncode == 2 and "error: missing: no such folder" in checked.stdout and "1 error, 0 warnings" in checked.stdout
    )
    assert "one.mp4: a file; expected the folder of a corpus" in (said := refused("run", video)) and "crosstask localize" in said


def test_a_task_that_the_model_does_not_know(corpus, model):
    features = corpus / "crosstask_features" / "-v1_1.npy"
    said = refused("localize", model, features, "--task", "xyz")
    assert "task 'xyz' is not in the model; it knows " in said and ". For a new task, give its steps instead" in said


def test_localize_checks_its_inputs_before_it_loads_the_model(tmp_path):
    said = refused("localize", tmp_path / "no-model.safetensors", tmp_path / "missing.mp4", "--steps", "pour milk, stir")
    assert "missing.mp4: no such file; expected a video" in said


def test_a_name_that_is_too_long_is_not_blamed_on_the_disk():
    said = refused("info", "x" * 5000)
    assert "a name that is too long for a file; expected a model file" in said and len(said) < 400


def test_models_whose_names_hold_a_number_have_reports_of_their_own(tmp_path):
    write_tiny(tmp_path / "c")
    for name in ("lr-0.1", "lr-0.3", "m.safetensors"):
        done = crosstask("train", tmp_path / "c", "--method", "supervised", "--epochs", 1, "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["lr-0.1.report.html", "lr-0.3.report.html", "m.report.html"]
