"""Simulated disk errors: the n-th call of one operation fails in this process."""

import io
import mmap
import os

OPERATIONS = ("open", "write", "fsync", "rename", "unlink", "lock", "mmap")


class Fault:
    """Counts the calls of one operation and makes the n-th fail; `nth` 0 only counts."""

    def __init__(self, operation: str, nth: int, errno: int) -> None:
        self.operation, self.nth, self.errno, self.calls = operation, nth, errno, 0

    @property
    def has_failed(self) -> bool:
        """True if a call has failed."""
        return 0 < self.nth <= self.calls

    def count_call(self, name: object = None) -> None:
        """Count a call, and raise OSError if it is the n-th."""
        self.calls += 1
        if self.calls == self.nth:
            raise OSError(self.errno, os.strerror(self.errno), *([str(name)] if name is not None else []))

    def failing(self, function):
        """The function, counted before each call."""

        def call(*arguments, **options):
            self.count_call(arguments[0] if arguments and not isinstance(arguments[0], int) else None)
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
        else:
            io.open = self._opening(io.open)
            if self.operation == "open":
                os.open = self._opening_descriptor(os.open, new_files=True)

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

    def _opening(self, ordinary):
        fault = self

        class Raw(io.FileIO):
            def write(self, data):
                if fault.operation == "write":
                    fault.count_call()
                return super().write(data)

        def open_(file, mode="r", *arguments, **options):
            if not set(mode) & set("wax+"):
                return ordinary(file, mode, *arguments, **options)
            if fault.operation == "open" and not isinstance(file, int):
                fault.count_call(file)
            assert "b" in mode, f"{file}: text written without `crosstask.storage`"
            raw = Raw(file, mode.replace("b", ""))
            return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)

        return open_
