"""Run the command as a person would, in a process of its own or in this one."""

import json
import subprocess
import sys
from typing import Any


def crosstask(*arguments: object, cwd: object = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The finished process."""
    command = [sys.executable, "-m", "crosstask.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env, timeout=600)  # type: ignore[call-overload,no-any-return]


def json_of(*arguments: object) -> Any:
    """What a verb prints with --json, which must be JSON alone."""
    done = crosstask(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(*arguments: object) -> str:
    """The one line a verb says when the input is bad: exit code 2, no traceback."""
    done = crosstask(*arguments)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]
