import os

import pytest

from crosstask.storage import UnreadableFile, map_array, open_regular, read_bytes, read_text, require_regular


@pytest.fixture(params=["fifo", "device"])
def special(request, tmp_path):
    """A FIFO without a writer, or a device without an end."""
    path = tmp_path / "special"
    os.mkfifo(path) if request.param == "fifo" else path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("reader", [open_regular, require_regular, read_bytes, read_text, map_array])
def test_pipes_and_devices_are_never_read(special, reader):
    with pytest.raises(UnreadableFile, match="a pipe or device"):
        reader(special)


def test_size_is_bounded_before_reading(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(UnreadableFile, match="too large"):
        read_bytes(tmp_path / "large")


def test_text_is_read_as_python_reads_it(tmp_path):
    (tmp_path / "a").write_bytes("\ufeffä\r\nb\rc\n".encode())
    assert read_text(tmp_path / "a") == (tmp_path / "a").read_text("utf-8-sig") == "ä\nb\nc\n"
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "b")
