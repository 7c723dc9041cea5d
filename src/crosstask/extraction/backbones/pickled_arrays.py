"""Arrays out of a pickled dictionary without unpickling it: the few opcodes that spell nested dictionaries of NumPy arrays are followed by hand.

Nothing is imported, looked up or called for the file's sake. Whatever else a file says, it is refused.
"""

import pickletools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.records import InputError

_ADMITTED = {  # names a file may speak of; they stay words here, and never become functions
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}
_MARK = object()
_LARGEST = 1 << 31  # bytes of one array
_PLAIN = {  # opcodes that push their own argument
    "BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINUNICODE", "BINUNICODE", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8",
}  # fmt: skip
_SILENT = {"PROTO", "FRAME"}


@dataclass(frozen=True)
class _Name:
    """A name the file mentions."""

    module: str
    name: str


@dataclass
class _Type:
    """A dtype being spelt."""

    text: str
    order: str = "="


@dataclass
class _Array:
    """An array being spelt."""

    value: np.ndarray[Any, Any] | None = None


def read_pickled_arrays(path: Path) -> dict[str, Any]:
    """Nested dictionaries of arrays, as the file spells them; anything else in it is an `InputError`."""
    try:
        with path.open("rb") as file:
            value = _Reader().read(file)
        if not isinstance(value, dict):
            raise ValueError("not a dictionary")
        return _finished(value)
    except InputError:
        raise
    except Exception as error:  # every way in which a made-up file can fail means the same
        raise InputError(
            f"{path.name}: refused: {str(error)[:100] or 'damaged'}; expected a dictionary of NumPy arrays alone"
        ) from None


def _finished(value: Any) -> Any:
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a name that is no text")
        return {name: _finished(inner) for name, inner in value.items()}
    if isinstance(value, _Array) and value.value is not None:
        return value.value
    raise ValueError(f"a {type(value).__name__.strip('_').lower()} where an array should be")


class _Reader:
    """A stack, a memory, and one short rule an opcode."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memory: dict[int, Any] = {}

    def read(self, file: Any) -> Any:
        for opcode, argument, _ in pickletools.genops(file):
            name = opcode.name
            if name == "STOP":
                return self.stack.pop()
            if name in _PLAIN:
                self.stack.append(argument)
            elif name not in _SILENT:
                rule = getattr(self, f"on_{name.lower()}", None)
                if rule is None:
                    raise ValueError(f"opcode {name} spells no array")
                rule(argument)
        raise ValueError("cut short")

    def _until_mark(self) -> list[Any]:
        at = len(self.stack) - 1 - next(i for i, item in enumerate(reversed(self.stack)) if item is _MARK)
        items = self.stack[at + 1 :]
        del self.stack[at:]
        return items

    def on_mark(self, _: Any) -> None:
        self.stack.append(_MARK)

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
        self.memory[len(self.memory)] = self.stack[-1]

    def on_binput(self, at: int) -> None:
        self.memory[at] = self.stack[-1]

    on_long_binput = on_binput

    def on_binget(self, at: int) -> None:
        self.stack.append(self.memory[at])

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
            raise ValueError("items for something that is no dictionary")
        return self.stack[-1]

    def on_stack_global(self, _: Any) -> None:
        module, name = self.stack[-2:]
        del self.stack[-2:]
        self._mention(module, name)

    def on_global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._mention(module, name)

    def _mention(self, module: Any, name: Any) -> None:
        if (module, name) not in _ADMITTED:
            raise ValueError(f"it speaks of {module}.{name}")
        self.stack.append(_Name(module, name))

    def on_reduce(self, _: Any) -> None:
        """`_reconstruct(ndarray, (0,), b'b')` begins an array, `dtype('f4', False, True)` a type; nothing is called."""
        name, arguments = self.stack[-2:]
        del self.stack[-2:]
        if isinstance(name, _Name) and name.name == "_reconstruct":
            self.stack.append(_Array())
        elif isinstance(name, _Name) and name.name == "dtype" and arguments[0] in ("f2", "f4", "f8", "i4", "i8"):
            self.stack.append(_Type(arguments[0]))
        else:
            raise ValueError("a call that makes no array")

    def on_build(self, _: Any) -> None:
        """The state of an array (version, shape, type, order, bytes), or of a type (version, byte order, ...)."""
        state = self.stack.pop()
        built = self.stack[-1]
        if isinstance(built, _Type):
            if state[1] not in ("<", ">", "=", "|"):
                raise ValueError("an unknown byte order")
            built.order = state[1]
        elif isinstance(built, _Array):
            built.value = _array(*state[1:5])
        else:
            raise ValueError("a state for something that is no array")


def _array(shape: Any, kind: Any, fortran: Any, data: Any) -> np.ndarray[Any, Any]:
    if not (isinstance(kind, _Type) and isinstance(data, bytes) and all(type(n) is int and n >= 0 for n in shape)):
        raise ValueError("an array that is spelt wrongly")
    if len(data) > _LARGEST:
        raise ValueError("an array of more than 2 GB")
    values = np.frombuffer(data, np.dtype(kind.order + kind.text))
    return values.reshape(shape, order="F" if fortran else "C")
