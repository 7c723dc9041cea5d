"""Simulated errors of the disk and of the memory: the n-th call of one operation fails in this process."""

import builtins
import io
import mmap
import os

import numpy as np

OPERATIONS = ("open", "write", "short write", "pwrite", "fsync", "rename", "unlink", "lock", "mmap", "allocate")
ALLOCATING = ("empty", "zeros", "full", "ones", "concatenate", "stack")  # functions of NumPy


class Fault:
    """Counts the calls of one operation and makes the n-th fail; `nth` 0 only counts."""

    def __init__(self, operation: str, nth: int, errno: int) -> None:
        self.operation, self.nth, self.errno, self.calls = operation, nth, errno, 0

    @property
    def is_write(self) -> bool:
        """True if the data of files is counted."""
        return self.operation in ("write", "short write")

    def count_call(self, name: object = None) -> None:
        """Count a call, and raise OSError (MemoryError of an allocation) if it is the n-th."""
        if self.is_due():
            if self.operation == "allocate":
                raise MemoryError("Unable to allocate 1.00 TiB for an array")  # NumPy's words
            raise OSError(self.errno, os.strerror(self.errno), *([str(name)] if name is not None else []))

    def is_due(self) -> bool:
        """True if this call, which is counted, is the n-th."""
        self.calls += 1
        return self.calls == self.nth

    def failing(self, function):
        """The function, counted before each call."""

        def call(*arguments, **options):
            self.count_call(arguments[0] if arguments and isinstance(arguments[0], str | os.PathLike) else None)
            return function(*arguments, **options)

        return call

    def install(self) -> None:
        """Replace the operation in this process permanently."""
        if self.operation == "fsync":
            os.fsync = self.failing(os.fsync)
        elif self.operation == "rename":
            os.replace, os.rename = self.failing(os.replace), self.failing(os.rename)
        elif self.operation == "unlink":
            os.unlink = self.failing(os.unlink)
        elif self.operation == "lock":
            os.open = self._opening_descriptor(os.open, new_files=False)
        elif self.operation == "mmap":
            mmap.mmap = self._mapping()
        elif self.operation == "allocate":
            for name in ALLOCATING:
                setattr(np, name, self.failing(getattr(np, name)))
        elif self.operation == "pwrite":
            os.pwrite = self.failing(os.pwrite)
        else:
            io.open, builtins.open = self._opening(io.open, text=False), self._opening(io.open, text=True)
            if self.operation == "open":
                os.open = self._opening_descriptor(os.open, new_files=True)
            elif self.operation == "short write":
                os.write, os.pwrite = self._short(os.write), self._short(os.pwrite)

    def _short(self, ordinary):
        """A function that writes half of the data at the n-th call, as a disk may that is nearly full."""

        def write(descriptor, data, *place):
            return ordinary(descriptor, data[: (len(data) + 1) // 2] if self.is_due() else data, *place)

        return write

    def _opening_descriptor(self, ordinary, new_files):
        """`os.open` that counts temporary files (O_EXCL), or all others: lock files and folders."""

        def open_(path, flags, *arguments, **options):
            if bool(flags & os.O_EXCL) == new_files:
                self.count_call(path)
            return ordinary(path, flags, *arguments, **options)

        return open_

    def _mapping(self):
        fault = self

        class Mapping(mmap.mmap):
            def __new__(cls, *arguments, **options):
                fault.count_call()
                return super().__new__(cls, *arguments, **options)

        return Mapping

    def _opening(self, ordinary, text):
        """`open` that counts what it opens for writing, or what is written to it; text only where the packages below us write it."""
        fault = self

        class Raw(io.FileIO):
            def write(self, data):
                if fault.operation == "short write" and fault.is_due():
                    return super().write(bytes(data)[: (len(data) + 1) // 2])
                if fault.operation == "write":
                    fault.count_call()
                return super().write(data)

        def open_(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
            if not set(mode) & set("wax+"):
                return ordinary(file, mode, buffering, encoding, errors, newline, closefd, opener)
            if fault.operation == "open" and not isinstance(file, int):
                fault.count_call(file)
            assert text or "b" in mode, f"{file}: text written without `crosstask.storage`"
            raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            if buffering == 0:
                return raw
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

        return open_
