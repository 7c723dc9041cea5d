"""The command that installs an extra into this environment, from the same place as the package itself."""

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

_PACKAGE = "crosstask"


def install_command(extra: str) -> str:
    """A shell command that installs an extra: from the folder or file that the package was installed from, if that is known."""
    source, editable = _source()
    versions = Path(source) / "constraints.txt"  # of a clone: the versions that are tested
    words = [_shortened(Path(sys.executable)), "-m", "pip", "install"]
    words += ["-c", _shortened(versions)] if versions.is_file() else []
    return shlex.join([*words, *(["-e"] if editable else []), f"{source}[{extra}]"])


def _source() -> tuple[str, bool]:
    """What pip installed (a path, or the name of the package), and whether it was installed as an editable folder (PEP 610)."""
    try:
        recorded = json.loads(distribution(_PACKAGE).read_text("direct_url.json") or "{}")
        url, editable = urlsplit(recorded.get("url", "")), bool(recorded.get("dir_info", {}).get("editable", False))
    except (PackageNotFoundError, ValueError, AttributeError):
        return _PACKAGE, False
    return (_shortened(Path(unquote(url.path))), editable) if url.scheme == "file" else (_PACKAGE, False)


def _shortened(path: Path) -> str:
    """The path relative to the working folder if it lies in it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
