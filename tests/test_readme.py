"""The README's Python example runs, and the verbs it names exist."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_the_python_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["scores"].shape[1] == 2


def test_every_verb_of_the_readme_exists():
    from typer.main import get_command

    from crosstask.cli.main import app

    known = set(get_command(app).commands)
    named = set(re.findall(r"^crosstask +(\w+)", README, flags=re.MULTILINE))
    assert named and named <= known, named - known
