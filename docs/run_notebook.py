"""Run the notebook of the manual cell by cell, keep what the cells print, and show it as a page.

python docs/run_notebook.py          runs docs/notebook.ipynb in an empty folder and writes its outputs into it

The cells need no notebook server to run: they are plain Python, and the value of a last line that is an expression is shown, as in a notebook.
"""

import ast
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent / "notebook.ipynb"


def run(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The notebook with the outputs of its code cells, run from top to bottom in one namespace with `folder` as working directory."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number += 1
                cell = cell | {"execution_count": number, "outputs": list(_outputs("".join(cell["source"]), scope, number))}
            cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(code: str, scope: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """What a cell prints, then the value of its last line, in the form of a notebook file."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), scope)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), scope)
    if printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
    if value is not None:
        text = repr(value).splitlines(keepends=True)
        yield {"data": {"text/plain": text}, "execution_count": number, "metadata": {}, "output_type": "execute_result"}


def page_of(path: Path) -> str:
    """The notebook as a Markdown page: text, code, and what the code printed."""
    lines: list[str] = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell["outputs"]:
            text = "".join(output.get("text") or output["data"]["text/plain"])
            lines += ["```text", text.rstrip("\n"), "```", ""]
    return "\n".join(lines)


def main() -> None:
    """Run the notebook and write it back."""
    os.environ["CROSSTASK_WORDS_ONLY"] = "1"  # the same figures whatever is installed
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        ran = run(notebook, Path(folder))
    NOTEBOOK.write_text(json.dumps(ran, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
