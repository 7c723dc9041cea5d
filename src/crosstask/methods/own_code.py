"""A class or function of the user's own, named `FILE.py:NAME` on the command line. Only a name that the user typed is ever loaded."""

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from crosstask.records import InputError

_OURS = Path(__file__).parent.parent


def is_own(name: object) -> bool:
    """True for `FILE.py:NAME`.

    >>> is_own("mine.py:Mine"), is_own("hmm")
    (True, False)
    """
    return isinstance(name, str) and ".py:" in name


def split_own(name: str) -> tuple[Path, str]:
    """The file and the name in it."""
    file, _, attribute = name.rpartition(":")
    if not attribute.isidentifier():
        raise InputError(f"'{name}': '{attribute}' is not a Python name; expected FILE.py:NAME, e.g. mine.py:Mine")
    return Path(file), attribute


def load_own(name: str) -> Any:
    """The object called NAME in FILE.py, which is run as a module."""
    path, attribute = split_own(name)
    module = _load_module(name)
    found = getattr(module, attribute, None)
    if found is None:
        defined = sorted(n for n in vars(module) if not n.startswith("_"))[:10]
        raise InputError(f"{path}: defines no '{attribute}'; it has {', '.join(defined) or 'no names'}")
    return found


def digest_of_own(name: str) -> str:
    """The SHA-256 of the file and of the user's modules that it imports, so that kept results of an edited method are not reused."""
    digest = hashlib.sha256(_content(name))
    for path in sorted(_users_files(_load_module(name), set())):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _load_module(name: str) -> ModuleType:
    path, _ = split_own(name)
    module_name = f"crosstask_own_{path.stem}_{hashlib.sha256(_content(name)).hexdigest()[:12]}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module  # before running it: dataclasses look their module up
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            raise InputError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return sys.modules[module_name]


def _content(name: str) -> bytes:
    path, attribute = split_own(name)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a Python file that defines {attribute}")
    return path.read_bytes()


def _users_files(module: ModuleType, found: set[Path]) -> set[Path]:
    """The files of the modules that a module imports, and these in turn; without installed packages and our own."""
    for name in _imported_names(module):
        imported = sys.modules.get(name)
        file = Path(getattr(imported, "__file__", None) or "none")
        installed = any(file.is_relative_to(prefix) for prefix in (sys.prefix, sys.base_prefix, _OURS))
        if imported is not None and file.suffix == ".py" and file.is_file() and not installed and file not in found:
            found.add(file)
            _users_files(imported, found)
    return found


def _imported_names(module: ModuleType) -> Iterator[str]:
    """Names of modules in the import statements of a module; `from a import b` may name the module a.b."""
    assert module.__file__ is not None
    for node in ast.walk(ast.parse(Path(module.__file__).read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), module.__package__ or None)
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
