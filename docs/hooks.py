"""Pages and tables that are generated when the manual is built: verbs, package map, notebook, Python reference."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # the script beside this one
import run_notebook

ROOT = Path(__file__).parent.parent
REFERENCE = re.compile(r"<!-- reference: (\w+) -->")


def on_files(files: Any, config: Any) -> Any:
    """Files with the generated pages among them."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "verbs.md", content=verbs_page()))
    files.append(File.generated(config, "package-map.md", content=package_map_page()))
    files.append(File.generated(config, "notebook.md", content=run_notebook.page_of(run_notebook.NOTEBOOK)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A page with the reference of public names where its source has the markers."""
    return REFERENCE.sub(lambda marker: reference_of(marker[1]), markdown)


def package_map_page() -> str:
    """The packages in order, what each may import and what it contains, from the map that tests/test_architecture.py enforces."""
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "tests" / "test_architecture.py")
    assert spec and spec.loader
    architecture = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = architecture
    spec.loader.exec_module(architecture)
    lines = [
        "# Package map",
        "",
        "The packages of `src/crosstask/`, generated from `tests/test_architecture.py`, which compares this map with the imports of every file.",
        "Data moves down the list; a package imports only packages above it.",
        "",
        "| package | contents | may import |",
        "|---|---|---|",
    ]
    for name, package in architecture.MAP.items():
        allowed = " ".join(f"`{other}`" for other in package.may_import.split())
        lines.append(f"| `{name}/` | {package.contents} | {allowed or 'nothing of this project'} |")
    lines += [
        "| `__init__.py` | the public [Python API](api.md), loaded on first use | everything above |",
        "| `cli/` | command line: arguments, one call, printed result | everything above |",
        "",
        "`learning/` and `inference/` work on arrays alone: they know neither videos nor files.",
        "A video's way through these packages: [Follow one video](follow-a-video.md).",
    ]
    return "\n".join(lines) + "\n"


def reference_of(name: str) -> str:
    """The reference of one public name as Markdown: its signature, docstring, and for a class its public attributes and methods."""
    import crosstask

    found = getattr(crosstask, name)
    if name == "METHODS":
        return _methods_reference(found)
    if not callable(found):
        return f"```text\n{name} = {found!r}\n```"
    lines = ["```text", _wrapped(name, _signature(found)), "```", "", _prose(found)]
    if inspect.isclass(found):
        lines += ["", "| member | what it is |", "|---|---|", *members_of(found)]
    return "\n".join(lines[:-2] if lines[-1] == "|---|---|" else lines)


def members_of(cls: type) -> list[str]:
    """A table row for every public method and property that a class defines."""
    rows = []
    for name, member in vars(cls).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        title = name if isinstance(member, property) else f"{name}{_signature(member, bound=True)}"
        rows.append(f"| `{title}` | {_prose(member)} |")
    return rows


def _methods_reference(methods: Mapping[str, type]) -> str:
    from crosstask.methods.table import ALIASES, setting_names

    lines = ["| name | aliases | what it is | settings |", "|---|---|---|---|"]
    for name, method in methods.items():
        aliases = ", ".join(f"`{alias}`" for alias, of in ALIASES.items() if of == name)
        settings = ", ".join(f"`{setting}`" for setting in sorted(setting_names(method())))
        lines.append(f"| `{name}` | {aliases} | {_prose(method)} | {settings} |")
    return "\n".join(lines)


def _signature(of: Any, bound: bool = False) -> str:
    """The signature without module names and without the callbacks' default objects."""
    try:
        signature = inspect.signature(of)
    except ValueError:
        return ""
    kept = [p for p in signature.parameters.values() if not (bound and p.name == "self")]
    text = str(signature.replace(parameters=kept))
    text = re.sub(r"<function \S+ at 0x\w+>|<factory>", "...", text)
    text = re.sub(r"numpy\.ndarray\[.*?dtype\[(?:numpy\.)?(\w+)\]\]", r"NDArray[\1]", text)
    text = re.sub(r"\b(?:crosstask|collections\.abc|typing|pathlib|numpy\.typing|numpy)(?:\.\w+)*\.(?=\w)", "", text)
    return re.sub(r"-> '([\w.]+)'$", r"-> \1", text).removesuffix(" -> None")


def _wrapped(name: str, signature: str) -> str:
    """The signature on one line, or with a line for each parameter where it is long."""
    if len(name + signature) <= 100:
        return name + signature
    parameters, _, returned = signature[1:].rpartition(")")
    lines = re.split(r", (?=\**\w+:)", parameters)
    return f"{name}(\n" + "".join(f"    {line},\n" for line in lines) + f"){returned}"


def _prose(of: Any) -> str:
    """The docstring as one paragraph, without its doctests."""
    text = (inspect.getdoc(of) or "").partition(">>>")[0]
    return " ".join(text.split()).replace("|", "\\|")


def verbs_page() -> str:
    """Every verb with its arguments, options and example, as Markdown, read from the program."""
    from typer.main import get_command

    from crosstask.cli.main import app

    lines = [
        "# Every verb and option",
        "",
        "Generated from the program when this page was built; `crosstask VERB --help` prints the same. `--version` and `--verbose` go before the verb.",
        "Every verb that prints numbers has `--json`: fractions instead of percent, and nothing else on standard output.",
        "",
    ]
    for path, command in commands(get_command(app), ("crosstask",)):
        lines += _verb(path, command)
    return "\n".join(lines) + "\n"


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Every verb below a command, with its words."""
    children = getattr(command, "commands", None)
    if children is None:
        yield " ".join(path), command
        return
    for name, child in children.items():
        yield from commands(child, (*path, name))


def _verb(path: str, command: Any) -> list[str]:
    help_lines = [line.strip() for line in (command.help or "").splitlines() if line.strip()]
    examples = [line.partition("Example: ")[2] for line in help_lines if "Example: " in line]
    description = [line.partition("Example: ")[0].strip() for line in help_lines]
    lines = [
        f"## {path.removeprefix('crosstask ')}",
        "",
        " ".join(line for line in description if line),
        "",
        "```text",
        *examples,
        "```",
        "",
    ]
    lines += ["| | what | default |", "|---|---|---|"]
    return lines + [_row(parameter) for parameter in command.params] + [""]


def _row(parameter: Any) -> str:
    name = parameter.name.upper() if parameter.param_type_name == "argument" else ", ".join(parameter.opts)
    description = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("<", "&lt;")
    default = parameter.default
    shown = "" if default is None or default is False or callable(default) else f"`{default}`"
    return f"| `{name}` | {description} | {'needed' if parameter.required else shown} |"
