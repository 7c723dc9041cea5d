"""A part of the published dataset: download from the first address that works, record or compare its checksum, unpack."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crosstask.corpus_building.fetching import Progress, RetryPolicy, discard_part, fetch_file, sha256_of
from crosstask.corpus_building.published_parts import OTHER_SETS, PARTS, Part
from crosstask.corpus_building.unpacking import UnpackLimits, unpack
from crosstask.records import InputError
from crosstask.storage import MAX_SMALL_BYTES, derived_folder, nonblocking_lock, read_text, write_json

CHECKSUMS = "checksums.json"


def part_named(name: str) -> Part:
    """The part of that name."""
    known = PARTS | OTHER_SETS
    if name not in known:
        raise InputError(f"part '{name}' is unknown; expected one of {', '.join(PARTS)}, all, or {', '.join(OTHER_SETS)}")
    return known[name]


def download_part(
    part: Part,
    folder: Path,
    addresses: Sequence[str] = (),
    policy: RetryPolicy = RetryPolicy(),  # noqa: B008
    limits: UnpackLimits = UnpackLimits(),  # noqa: B008
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """A report: the address, the checksum, whether it was compared with a recorded one, and the number of files unpacked into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    downloads = derived_folder(folder, "downloads")
    downloads.mkdir(exist_ok=True)
    archive = downloads / part.file
    with nonblocking_lock(archive):
        if archive.exists():
            discard_part(archive)  # of a command that was stopped just after it had renamed the archive
        fetched_from = None if archive.exists() else _first_that_works(addresses or part.addresses, archive, policy, progress)
        found, known = sha256_of(archive), _read_checksums(downloads).get(part.file)
        if known is not None and known != found:
            archive.replace(archive.with_name(archive.name + ".other"))
            raise InputError(
                f"{part.file}: its checksum is {found[:12]}.., {known[:12]}.. was recorded on first use; kept as {part.file}.other, "
                f"nothing was unpacked. If the publishers changed it, delete {downloads / CHECKSUMS} and repeat"
            )
        files = _unpack_or_rename(archive, folder, part, limits)
        write_json(downloads / CHECKSUMS, _read_checksums(downloads) | {part.file: found})
    return {"part": part.name, "from": fetched_from, "sha256": found, "verified": known is not None, "files": files}


def _unpack_or_rename(archive: Path, folder: Path, part: Part, limits: UnpackLimits) -> int:
    """The number of files unpacked; a rejected archive is renamed, so that the next attempt downloads it again."""
    try:
        return unpack(archive, folder, part.folder, part.holds, limits)
    except InputError:
        archive.replace(archive.with_name(archive.name + ".refused"))
        raise


def _first_that_works(addresses: Sequence[str], archive: Path, policy: RetryPolicy, progress: Progress) -> str:
    """The address from which the archive was downloaded; addresses are tried in order."""
    problems = []
    for address in addresses:
        try:
            fetch_file(address, archive, policy, progress)
            return address
        except InputError as error:
            problems.append(str(error))
    raise InputError("; ".join(problems))


def _read_checksums(downloads: Path) -> dict[str, str]:
    try:
        value = json.loads(read_text(downloads / CHECKSUMS, max_bytes=MAX_SMALL_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise InputError(
            f"{downloads / CHECKSUMS}: cannot be read; repair or delete it (checksums are then recorded again)"
        ) from None
    if not isinstance(value, dict):
        raise InputError(f"{downloads / CHECKSUMS}: expected names with checksums; repair or delete it")
    return {str(name): str(checksum) for name, checksum in value.items()}
