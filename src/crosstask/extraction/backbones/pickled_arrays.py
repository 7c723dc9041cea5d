"""Reading nested dictionaries of NumPy arrays from a pickle file without unpickling it.

Only the opcodes that such dictionaries need are interpreted; no name in the file is imported or called, and any other content is an error.
"""

import pickletools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.records import InputError
from crosstask.storage import open_regular

_ALLOWED_NAMES = {  # globals that a file may mention; they are compared as strings and never resolved
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}
_STACK_MARK = object()
_MAX_ARRAY_BYTES = 1 << 31  # ours
_PUSH_OPCODES = {  # opcodes that push their own argument
    "BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINUNICODE", "BINUNICODE", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8",
}  # fmt: skip
_IGNORED_OPCODES = {"PROTO", "FRAME"}


@dataclass(frozen=True)
class _Global:
    """A global name in the file."""

    module: str
    name: str


@dataclass
class _PickledDtype:
    """A dtype under construction."""

    text: str
    order: str = "="


@dataclass
class _PickledArray:
    """An array under construction."""

    value: np.ndarray[Any, Any] | None = None


def read_pickled_arrays(path: Path) -> dict[str, Any]:
    """The nested dictionaries of arrays in a pickle file; `InputError` for any other content."""
    try:
        with open_regular(path) as file:
            value = _PickleInterpreter().read(file)
        if not isinstance(value, dict):
            raise ValueError("not a dictionary")
        return _to_arrays(value)
    except InputError:
        raise
    except Exception as error:  # crafted files raise many kinds of errors
        raise InputError(
            f"{path.name}: refused: {str(error)[:100] or 'damaged'}; expected a dictionary of NumPy arrays only"
        ) from None


def _to_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a key that is not text")
        return {name: _to_arrays(inner) for name, inner in value.items()}
    if isinstance(value, _PickledArray) and value.value is not None:
        return value.value
    raise ValueError(f"a {type(value).__name__.strip('_').lower()} where an array should be")


class _PickleInterpreter:
    """A stack machine with one method per allowed opcode."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def read(self, file: Any) -> Any:
        for opcode, argument, _ in pickletools.genops(file):
            name = opcode.name
            if name == "STOP":
                return self.stack.pop()
            if name in _PUSH_OPCODES:
                self.stack.append(argument)
            elif name not in _IGNORED_OPCODES:
                handler = getattr(self, f"on_{name.lower()}", None)
                if handler is None:
                    raise ValueError(f"opcode {name} is not allowed")
                handler(argument)
        raise ValueError("truncated")

    def _until_mark(self) -> list[Any]:
        at = len(self.stack) - 1 - next(i for i, item in enumerate(reversed(self.stack)) if item is _STACK_MARK)
        items = self.stack[at + 1 :]
        del self.stack[at:]
        return items

    def on_mark(self, _: Any) -> None:
        self.stack.append(_STACK_MARK)

    def on_none(self, _: Any) -> None:
        self.stack.append(None)

    def on_newtrue(self, _: Any) -> None:
        self.stack.append(True)

    def on_newfalse(self, _: Any) -> None:
        self.stack.append(False)

    def on_empty_dict(self, _: Any) -> None:
        self.stack.append({})

    def on_empty_tuple(self, _: Any) -> None:
        self.stack.append(())

    def on_memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def on_binput(self, at: int) -> None:
        self.memo[at] = self.stack[-1]

    on_long_binput = on_binput

    def on_binget(self, at: int) -> None:
        self.stack.append(self.memo[at])

    on_long_binget = on_binget

    def on_tuple(self, _: Any) -> None:
        self.stack.append(tuple(self._until_mark()))

    def on_tuple1(self, _: Any) -> None:
        self.stack[-1:] = [tuple(self.stack[-1:])]

    def on_tuple2(self, _: Any) -> None:
        self.stack[-2:] = [tuple(self.stack[-2:])]

    def on_tuple3(self, _: Any) -> None:
        self.stack[-3:] = [tuple(self.stack[-3:])]

    def on_setitem(self, _: Any) -> None:
        name, value = self.stack[-2:]
        del self.stack[-2:]
        self._dictionary()[name] = value

    def on_setitems(self, _: Any) -> None:
        items = self._until_mark()
        self._dictionary().update(zip(items[::2], items[1::2], strict=True))

    def _dictionary(self) -> dict[Any, Any]:
        if not isinstance(self.stack[-1], dict):
            raise ValueError("items for something that is not a dictionary")
        return self.stack[-1]

    def on_stack_global(self, _: Any) -> None:
        module, name = self.stack[-2:]
        del self.stack[-2:]
        self._push_global(module, name)

    def on_global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._push_global(module, name)

    def _push_global(self, module: Any, name: Any) -> None:
        if (module, name) not in _ALLOWED_NAMES:
            raise ValueError(f"it mentions {module}.{name}")
        self.stack.append(_Global(module, name))

    def on_reduce(self, _: Any) -> None:
        """Start an array for `_reconstruct(ndarray, (0,), b'b')`, a dtype for `dtype('f4', False, True)`; nothing is called."""
        name, arguments = self.stack[-2:]
        del self.stack[-2:]
        if isinstance(name, _Global) and name.name == "_reconstruct":
            self.stack.append(_PickledArray())
        elif isinstance(name, _Global) and name.name == "dtype" and arguments[0] in ("f2", "f4", "f8", "i4", "i8"):
            self.stack.append(_PickledDtype(arguments[0]))
        else:
            raise ValueError("a call that does not create an array")

    def on_build(self, _: Any) -> None:
        """Set the state of an array (version, shape, dtype, order, bytes) or of a dtype (version, byte order, ...)."""
        state = self.stack.pop()
        built = self.stack[-1]
        if isinstance(built, _PickledDtype):
            if state[1] not in ("<", ">", "=", "|"):
                raise ValueError("an unknown byte order")
            built.order = state[1]
        elif isinstance(built, _PickledArray):
            built.value = _array(*state[1:5])
        else:
            raise ValueError("a state for something that is not an array")


def _array(shape: Any, kind: Any, fortran: Any, data: Any) -> np.ndarray[Any, Any]:
    if not (isinstance(kind, _PickledDtype) and isinstance(data, bytes) and all(type(n) is int and n >= 0 for n in shape)):
        raise ValueError("an invalid array")
    if len(data) > _MAX_ARRAY_BYTES:
        raise ValueError("an array of more than 2 GB")
    values = np.frombuffer(data, np.dtype(kind.order + kind.text))
    return values.reshape(shape, order="F" if fortran else "C")
