import gzip
import io
import json
import os
import shutil
import ssl
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from cli.running import crosstask, json_of, refused
from corpus_building.server import misbehaving_server
from crosstask.corpus_building import fetching
from crosstask.corpus_building.download import download_part
from crosstask.corpus_building.fetching import RetryPolicy, fetch_file
from crosstask.corpus_building.published_parts import PARTS
from crosstask.corpus_building.unpacking import UnpackLimits, unpack
from crosstask.records import InputError

QUICK = RetryPolicy(timeout_s=0.3, attempts=4, pause_s=0.01, max_bytes=10**6)
CONTENT = bytes(range(256)) * 40
FILES = {
    "crosstask_release/videos.csv": b"1,a,http://y\n",
    "crosstask_release/annotations/1_a.csv": b"1,0,3\n",
    "crosstask_release/tasks_primary.txt": b"1\nMake Latte\n\n1\npour milk\n\n",
}


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(*members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data, kind in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size, entry.linkname = kind, len(data) if kind == tarfile.REGTYPE else 0, "/etc/passwd"
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


@pytest.fixture
def server():
    with misbehaving_server(CONTENT, second=b"new" * 1000) as running:
        yield running


@pytest.mark.parametrize("path", ["plain", "truncates", "redirects", "busy", "ignores-ranges"])
def test_the_whole_file_is_downloaded(server, tmp_path, path):
    assert fetch_file(f"{server.address}/{path}", tmp_path / "f", QUICK).read_bytes() == CONTENT
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f"], "no partial file is left"


def test_a_truncated_download_resumes_where_it_stopped(server, tmp_path):
    fetch_file(f"{server.address}/truncates", tmp_path / "f", QUICK)
    piece = len(CONTENT) // 3 + 1
    assert [asked for _, asked in server.asked] == [None, f"bytes={piece}-", f"bytes={2 * piece}-"]


def test_the_next_command_resumes_too(server, tmp_path):
    with pytest.raises(InputError, match="repeat the command to resume"):
        fetch_file(f"{server.address}/truncates", tmp_path / "f", RetryPolicy(0.3, 1, 0.01))
    assert (tmp_path / "f.part").stat().st_size == len(CONTENT) // 3 + 1
    fetch_file(f"{server.address}/plain", tmp_path / "f", QUICK)
    assert (tmp_path / "f").read_bytes() == CONTENT and server.asked[-1][1] is not None


def test_parts_of_different_versions_are_never_joined(server, tmp_path):
    assert fetch_file(f"{server.address}/changes", tmp_path / "f", QUICK).read_bytes() == b"new" * 1000


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("stalls", "timed out"),
        ("promises-too-much", "bytes received"),
        ("promises-the-moon", "free some space"),
        ("endless", "more bytes received"),
        ("to-a-file", "not allowed"),
        ("to-ftp", "not a web address"),
        ("round", "redirect"),
        ("gone", "404"),
    ],
)
def test_a_failed_download_is_reported_in_one_line_and_leaves_no_file(server, tmp_path, path, message):
    with pytest.raises(InputError, match=message) as caught:
        fetch_file(f"{server.address}/{path}", tmp_path / "f", QUICK)
    assert not (tmp_path / "f").exists() and "\n" not in str(caught.value)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://x/y", "http://", "gone.zip"])
def test_other_addresses_are_refused(tmp_path, address):
    with pytest.raises(InputError, match="not a web address"):
        fetch_file(address, tmp_path / "f", QUICK)


def test_a_full_disk_is_seen_before(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_SPARE_BYTES", 10**18)
    with pytest.raises(InputError, match="free some space"):
        fetch_file(f"{server.address}/plain", tmp_path / "f", QUICK)


def test_a_part_is_fetched_unpacked_recorded_and_verified(tmp_path):
    with misbehaving_server(zipped(FILES)) as server:
        first = download_part(PARTS["release"], tmp_path, [f"{server.address}/gone", f"{server.address}/truncates"], QUICK)
        assert first["files"] == 3 and not first["verified"] and first["from"].endswith("truncates")
        assert (tmp_path / "crosstask_release" / "annotations" / "1_a.csv").read_bytes() == b"1,0,3\n"
        again = download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)
        assert again["verified"] and again["from"] is None, "an existing archive is not downloaded again"
        (tmp_path / ".crosstask" / "downloads" / "crosstask_release.zip").unlink()
        server.content = zipped(FILES | {"crosstask_release/videos.csv": b"other\n"})
        with pytest.raises(InputError, match="was recorded on first use"):
            download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)
    assert (tmp_path / "crosstask_release" / "videos.csv").read_bytes() == b"1,a,http://y\n"


def test_a_length_that_is_too_short_is_found_out_and_set_aside(tmp_path):
    with misbehaving_server(zipped(FILES)) as server:
        with pytest.raises(InputError, match="download it again"):
            download_part(PARTS["release"], tmp_path, [f"{server.address}/promises-too-little"], QUICK)
        assert download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)["files"] == 3


BOMB = zipped({"crosstask_release/a": b"\0" * 30_000_000})
HOSTILE = {
    "escape": (zipped({"../evil": b"x"}), "outside the folder"),
    "absolute": (zipped({"/evil": b"x"}), "outside the folder"),
    "backslash": (zipped({"..\\evil": b"x"}), "outside the folder"),
    "a file as a folder": (zipped({"crosstask_release/a": b"x", "crosstask_release/a/b/c": b"y"}), "or a file as a folder"),
    "a path that is too long": (zipped({"/".join(["crosstask_release", *["d" * 200] * 40, "x"]): b"x"}), "too long for a path"),
    "zip bomb": (BOMB, "unpacks to more than"),
    "many files": (zipped({f"d/{i}": b"" for i in range(60)}), "more than 50 files"),
    "tar escape": (tarred(("a/../../evil", b"x", tarfile.REGTYPE)), "outside the folder"),
    "tar link": (tarred(("crosstask_release/l", b"", tarfile.SYMTYPE)), "link or device"),
    "tar hard link": (tarred(("crosstask_release/l", b"", tarfile.LNKTYPE)), "link or device|outside|damaged"),
    "tar device": (tarred(("crosstask_release/d", b"", tarfile.CHRTYPE)), "link or device"),
    "tar bomb": (tarred(("crosstask_release/a", b"\0" * 30_000_000, tarfile.REGTYPE)), "unpacks to more than"),
    "no archive": (b"<html>moved</html>", "no zip or tar"),
    "empty": (zipped({}), "empty|no zip"),
    "cut zip": (zipped(FILES)[:-30], "no zip or tar"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_write_nothing(tmp_path, name):
    data, message = HOSTILE[name]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.zip").write_bytes(data)
    with pytest.raises(InputError, match=message):
        unpack(tmp_path / "in" / "a.zip", tmp_path / "in" / "out", "crosstask_release", limits=UnpackLimits(max_files=50))
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["a.zip"]


def test_links_in_a_zip_are_refused(tmp_path):
    entry = zipfile.ZipInfo("crosstask_release/l")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="is a link"):
        unpack(tmp_path / "a.zip", tmp_path / "out", "crosstask_release")


def test_a_tar_without_the_folder_still_finds_its_place(tmp_path):
    (tmp_path / "s.tar.gz").write_bytes(tarred(("subs/a.vtt", b"WEBVTT\n", tarfile.REGTYPE)))
    assert unpack(tmp_path / "s.tar.gz", tmp_path, "crosstask_subtitles") == 1
    assert (tmp_path / "crosstask_subtitles" / "a.vtt").exists()


def test_the_verb(tmp_path):
    with misbehaving_server(zipped(FILES)) as server:
        answer = json_of("download", "release", "--out", tmp_path / "d", "--from", f"{server.address}/plain")
        assert answer["parts"][0]["files"] == 3
        assert "not a web address" in refused("download", "release", "--out", tmp_path / "e", "--from", "file:///etc/passwd")
        message = refused("download", "release", "--out", tmp_path / "e", "--from", f"{server.address}/gone", "--attempts", 1)
        assert "404" in message and "--from" in message


def test_a_dry_run_fetches_nothing(tmp_path):
    done = crosstask("download", "all", "--out", tmp_path / "d", "--dry-run")
    assert done.returncode == 0 and "30.0 GB" in done.stdout and not (tmp_path / "d").exists()
    answer = json_of("download", "features", "--dry-run")
    assert json.dumps(answer).count("https://") == len(PARTS["features"].addresses)
    assert "expected one of release" in refused("download", "relese", "--dry-run")
    assert "one part" in refused("download", "all", "--from", "http://127.0.0.1:9/x")


@pytest.mark.parametrize("packing", ["xz", "bz2", "gz"])
def test_a_damaged_archive_is_an_input_error_wherever_the_damage_is(tmp_path, packing):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{packing}") as archive:
        for i in range(20):
            entry = tarfile.TarInfo(f"crosstask_release/{i}.csv")
            entry.size = 3000
            archive.addfile(entry, io.BytesIO(np.random.default_rng(i).bytes(3000)))
    whole = buffer.getvalue()
    for at in range(0, len(whole), len(whole) // 60):
        (tmp_path / "a.tar").write_bytes(whole[:at] + bytes(b ^ 0x55 for b in whole[at : at + 40]) + whole[at + 40 :])
        try:
            unpack(tmp_path / "a.tar", tmp_path / "out", "crosstask_release")
        except InputError as error:
            assert "damaged" in str(error) or "this is not a part" in str(error) or "expected plain files" in str(error)
    assert not list((tmp_path / "out").glob(".*"))


def test_an_archive_that_ends_between_two_entries_is_cut_short(tmp_path):
    entries = [(f"crosstask_release/{i}.csv", b"1" * 600, tarfile.REGTYPE) for i in range(4)]
    whole = gzip.decompress(tarred(*entries))
    block, n_blocks = tarfile.BLOCKSIZE, 3 * len(entries)
    for n_kept in range(1, n_blocks + 1):
        (tmp_path / "a.tar").write_bytes(whole[: n_kept * block])
        with pytest.raises(InputError, match="damaged"):
            unpack(tmp_path / "a.tar", tmp_path / "out", "crosstask_release")
        assert not (tmp_path / "out" / "crosstask_release").exists()
    (tmp_path / "a.tar").write_bytes(whole[: (n_blocks + 2) * block])
    assert unpack(tmp_path / "a.tar", tmp_path / "out", "crosstask_release") == len(entries)


def test_a_duplicate_entry_is_an_input_error(tmp_path):
    (tmp_path / "a.tar").write_bytes(tarred(*[("crosstask_release/a.csv", b"1", tarfile.REGTYPE)] * 2))
    with pytest.raises(InputError, match=r"contains 'a\.csv' twice"):
        unpack(tmp_path / "a.tar", tmp_path / "out", "crosstask_release")


def test_a_malformed_redirect_is_an_input_error(server, tmp_path):
    with pytest.raises(InputError, match="malformed"):
        fetch_file(f"{server.address}/malformed-redirect", tmp_path / "f", QUICK)
    with pytest.raises(InputError, match="malformed"):
        fetching.require_http("http://[::1")
    assert fetching.content_length("http://[::1", QUICK) is None


def test_a_body_without_length_leaves_space_on_the_disk(server, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    policy = RetryPolicy(timeout_s=5, attempts=1)
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda folder: usage._replace(free=fetching._SPARE_BYTES + 1000))
    with pytest.raises(InputError, match="free some space"):
        fetch_file(f"{server.address}/without-length", tmp_path / "f", policy)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_archive_is_downloaded_again_by_the_next_command(tmp_path):
    damaged = bytearray(zipped(FILES))
    damaged[40] ^= 0xFF
    with misbehaving_server(bytes(damaged), second=b"") as server:
        with pytest.raises(InputError):
            download_part(PARTS["release"], tmp_path, (f"{server.address}/plain",), QUICK)
        server.content = zipped(FILES)
        assert download_part(PARTS["release"], tmp_path, (f"{server.address}/plain",), QUICK)["files"] == 3


def test_files_are_on_disk_before_they_have_their_final_names(tmp_path, monkeypatch):
    archive, flushed = tmp_path / "a.zip", []
    archive.write_bytes(zipped(FILES))
    real_fsync, real_replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (flushed.append(os.fstat(descriptor).st_ino), real_fsync(descriptor)))

    def replace_flushed(path, target):
        assert {file.stat().st_ino for file in path.rglob("*")} <= set(flushed), "renamed before it was flushed"
        return real_replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_flushed)
    assert unpack(archive, tmp_path / "set", "crosstask_release") == 3


def test_what_a_killed_download_left_is_removed_once_the_archive_is_there(tmp_path):
    downloads = tmp_path / ".crosstask" / "downloads"
    downloads.mkdir(parents=True)
    (downloads / PARTS["release"].file).write_bytes(zipped(FILES))
    (downloads / f"{PARTS['release'].file}.part.json").write_text("{}")
    download_part(PARTS["release"], tmp_path)
    assert sorted(path.name for path in downloads.iterdir()) == ["checksums.json", PARTS["release"].file]


def test_a_download_stopped_as_the_server_changes_does_not_mix_two_versions(server, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="repeat the command"):
        fetch_file(f"{server.address}/changes", tmp_path / "f", RetryPolicy(0.3, 1, 0.01))
    assert (tmp_path / "f.part").read_bytes() == CONTENT[:1000]
    write = fetching.write_json

    def write_and_stop(path, value):
        write(path, value)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(fetching, "write_json", write_and_stop)
        fetch_file(f"{server.address}/changes", tmp_path / "f", QUICK)
    assert fetch_file(f"{server.address}/changes", tmp_path / "f", QUICK).read_bytes() == b"new" * 1000


def test_a_broken_encrypted_connection_is_tried_again(server, tmp_path, monkeypatch):
    append, broken = fetching._append, [True]

    def break_once(*arguments):
        if broken:
            broken.pop()
            raise ssl.SSLEOFError("EOF occurred in violation of protocol")
        return append(*arguments)

    monkeypatch.setattr(fetching, "_append", break_once)
    assert fetch_file(f"{server.address}/plain", tmp_path / "f", QUICK).read_bytes() == CONTENT


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_huge_header_in_a_tar_is_refused_before_it_is_read(tmp_path, kind):
    entry = tarfile.TarInfo("a")
    entry.type, entry.size = kind, 2**31
    (tmp_path / "a.tar").write_bytes(entry.tobuf(tarfile.USTAR_FORMAT) + bytes(4096))
    with pytest.raises(InputError, match="extended header of 2147483648 bytes"):
        unpack(tmp_path / "a.tar", tmp_path / "out", "crosstask_release")


def test_folders_count_as_entries_of_an_archive(tmp_path):
    folders = [(f"crosstask_release/{i}", b"", tarfile.DIRTYPE) for i in range(9)]
    (tmp_path / "a.tar").write_bytes(tarred(*folders, ("crosstask_release/a.csv", b"1", tarfile.REGTYPE)))
    with pytest.raises(InputError, match="more than 9 files"):
        unpack(tmp_path / "a.tar", tmp_path / "out", "crosstask_release", limits=UnpackLimits(max_files=9))
    assert unpack(tmp_path / "a.tar", tmp_path / "out", "crosstask_release", limits=UnpackLimits(max_files=10)) == 1


def test_a_file_that_was_edited_since_is_not_overwritten_by_a_repeated_download(tmp_path, caplog):
    """`download all` is repeated until the last part is there; annotations may have been corrected meanwhile."""
    with misbehaving_server(zipped(FILES)) as server:
        download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)
        release = tmp_path / "crosstask_release"
        (release / "annotations" / "1_a.csv").write_bytes(b"1,1,3\n")
        (release / "videos.csv").unlink()
        download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)
    assert (release / "annotations" / "1_a.csv").read_bytes() == b"1,1,3\n"
    assert (release / "videos.csv").read_bytes() == b"1,a,http://y\n", "what is missing is unpacked"
    assert "1_a.csv: other than in the archive, and kept" in caplog.text


def test_a_part_goes_to_the_disk_to_which_a_link_leads(tmp_path):
    other_disk = Path("/dev/shm")
    if not other_disk.is_dir() or other_disk.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second disk")
    with TemporaryDirectory(dir=other_disk) as place, misbehaving_server(zipped(FILES)) as server:
        (tmp_path / "crosstask_release").symlink_to(place)
        assert download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)["files"] == 3
        assert (Path(place) / "videos.csv").read_bytes() == b"1,a,http://y\n" and len(list(Path(place).iterdir())) == 3


def test_the_verb_says_that_nothing_was_downloaded(tmp_path):
    with misbehaving_server(zipped(FILES)) as server:
        for said in (False, True):
            done = crosstask("download", "release", "--out", tmp_path, "--from", f"{server.address}/plain")
            assert ("nothing downloaded, the archive of an earlier command was there" in done.stdout) == said


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/\N{LATIN SMALL LETTER E WITH ACUTE}", f"http://{'a' * 70}.x/"])
def test_a_malformed_address_is_not_blamed_on_the_server(tmp_path, address):
    with pytest.raises(InputError, match="the address, or one that the server redirects to, is malformed"):
        fetch_file(address, tmp_path / "f", QUICK)


@pytest.mark.parametrize("other", ["__MACOSX/crosstask_release/._videos.csv", "backup/crosstask_release/tasks_primary.txt"])
def test_the_outermost_folder_of_an_archive_is_taken(tmp_path, other):
    with misbehaving_server(zipped({other: b"old"} | FILES)) as server:
        report = download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)
    release = tmp_path / "crosstask_release"
    found = {str(path.relative_to(tmp_path)): path.read_bytes() for path in release.rglob("*") if path.is_file()}
    assert found == FILES and report["files"] == len(FILES)


@pytest.mark.parametrize("name", ["holiday/photo.txt", "crosstask_release/readme.txt", "readme.txt"])
def test_an_archive_of_something_else_is_refused_and_not_recorded(tmp_path, name):
    with misbehaving_server(zipped({name: b"x"})) as server:
        with pytest.raises(InputError, match=r"no crosstask_release/tasks_primary\.txt in it; expected an archive of this part"):
            download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)
        assert not (tmp_path / "crosstask_release").exists()
        server.content = zipped(FILES)
        assert download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)["files"] == 3


def test_a_file_in_the_place_of_a_folder_leaves_the_archive(tmp_path):
    (tmp_path / "crosstask_release").mkdir()
    (tmp_path / "crosstask_release" / "annotations").write_text("mine")
    with misbehaving_server(zipped(FILES)) as server, pytest.raises(OSError, match="annotations"):
        download_part(PARTS["release"], tmp_path, [f"{server.address}/plain"], QUICK)
    assert [path.name for path in (tmp_path / ".crosstask" / "downloads").glob("*.zip*")] == ["crosstask_release.zip"]
