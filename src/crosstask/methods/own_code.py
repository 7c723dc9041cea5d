"""A class or function of the user's own, named `FILE.py:NAME` on the command line. Only a name that the user typed is ever loaded."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from crosstask.records import InputError


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
        raise InputError(f"'{name}': '{attribute}' is no Python name; expected FILE.py:NAME, e.g. mine.py:Mine")
    return Path(file), attribute


def load_own(name: str) -> Any:
    """The object called NAME in FILE.py, which is run as a module."""
    path, attribute = split_own(name)
    module_name = f"crosstask_own_{path.stem}_{digest_of_own(name)[:12]}"
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
    found = getattr(sys.modules[module_name], attribute, None)
    if found is None:
        defined = sorted(n for n in vars(sys.modules[module_name]) if not n.startswith("_"))[:10]
        raise InputError(f"{path}: defines no '{attribute}'; it has {', '.join(defined) or 'no names'}")
    return found


def digest_of_own(name: str) -> str:
    """The SHA-256 of the file, so that kept results of an edited method are not reused."""
    path, attribute = split_own(name)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a Python file that defines {attribute}")
    return hashlib.sha256(path.read_bytes()).hexdigest()
