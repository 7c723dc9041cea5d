"""`crosstask view`: a run in the browser."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crosstask.cli.output import note, say

if TYPE_CHECKING:
    from crosstask.runs import RunFolder

WARM_UP_AFTER_S = 2.0  # the first screen comes first


def view(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder: the --out of demo, run or experiment cross-task.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8765,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; 0.0.0.0 lets other machines see and change the run.")
    ] = "127.0.0.1",
    compare: Annotated[Path | None, typer.Option("--compare", metavar="OTHER_RUN", help="Show a second run beside it.")] = None,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="Corpus with the features, to localize new steps.")] = None,
    model: Annotated[Path | None, typer.Option("--model", help="Model for new steps; otherwise the one of the run.")] = None,
) -> None:
    """Serve a page to watch, compare, try other steps, correct labels and annotate; stop it with Ctrl-C.

    Example: crosstask view demo --port 8765
    """
    from crosstask.pipeline.viewer_backend import build_backend, features_for_run
    from crosstask.records import InputError
    from crosstask.runs import open_run
    from crosstask.viewer import serve, viewer_app

    opened = open_run(run)
    other = None if compare is None else open_run(compare)
    if model is not None and not model.is_file():
        raise InputError(f"--model {model}: no such file; expected a model written by train")
    own = run / "model.safetensors"
    found = model or (own if own.is_file() else None)
    backend = build_backend(opened, found, features_for_run(opened, corpus))
    app = viewer_app(opened, backend, other, host)
    if host not in {"127.0.0.1", "localhost", "::1"}:
        note(f"note: everyone who reaches {host} can see this run and mark its videos")
    serve(app, host, port, lambda address: _announce(address, opened))


def _announce(address: str, run: "RunFolder") -> None:
    """Say where the page is; open it only for a person at a terminal."""
    from threading import Timer

    from crosstask.pipeline.viewer_backend import warm_up

    say(address)
    sys.stdout.flush()
    warming = Timer(WARM_UP_AFTER_S, warm_up, [run])
    warming.daemon = True
    warming.start()
    if sys.stdout.isatty():
        import webbrowser

        webbrowser.open(address)
