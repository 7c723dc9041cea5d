"""A part of the published set: fetched (alternates in turn), its checksum recorded or compared, unpacked."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crosstask.corpus_building.fetching import Patience, Progress, fetch_file, sha256_of
from crosstask.corpus_building.published_parts import PARTS, Part
from crosstask.corpus_building.unpacking import Limits, unpack
from crosstask.records import InputError
from crosstask.storage import nonblocking_lock, write_json

CHECKSUMS = "checksums.json"


def part_named(name: str) -> Part:
    """The part of that name."""
    if name not in PARTS:
        raise InputError(f"part '{name}' is unknown; expected one of {', '.join(PARTS)} or all")
    return PARTS[name]


def download_part(
    part: Part,
    folder: Path,
    addresses: Sequence[str] = (),
    patience: Patience = Patience(),  # noqa: B008
    limits: Limits = Limits(),  # noqa: B008
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """What was done: the address, the checksum, whether it was known, and how many files were unpacked into `folder`."""
    kept = folder / ".crosstask" / "downloads"
    kept.mkdir(parents=True, exist_ok=True)
    archive = kept / part.file
    with nonblocking_lock(archive):
        fetched_from = None if archive.exists() else _first_that_works(addresses or part.addresses, archive, patience, progress)
        found, known = sha256_of(archive), _read_checksums(kept).get(part.file)
        if known is not None and known != found:
            archive.replace(archive.with_name(archive.name + ".other"))
            raise InputError(
                f"{part.file}: its checksum is {found[:12]}.., {known[:12]}.. was recorded on first use; kept as {part.file}.other, "
                f"nothing was unpacked. If the publishers changed it, delete {kept / CHECKSUMS} and repeat"
            )
        files = _unpack_or_quarantine(archive, folder, part, limits)
        write_json(kept / CHECKSUMS, _read_checksums(kept) | {part.file: found})
    return {"part": part.name, "from": fetched_from, "sha256": found, "verified": known is not None, "files": files}


def _unpack_or_quarantine(archive: Path, folder: Path, part: Part, limits: Limits) -> int:
    """How many files came out; an archive that is refused does not stand in the way of the next attempt."""
    try:
        return unpack(archive, folder, part.folder, limits)
    except InputError:
        archive.replace(archive.with_name(archive.name + ".refused"))
        raise


def _first_that_works(addresses: Sequence[str], archive: Path, patience: Patience, progress: Progress) -> str:
    """The address that the archive came from; the alternates are tried in turn."""
    troubles = []
    for address in addresses:
        try:
            fetch_file(address, archive, patience, progress)
            return address
        except InputError as error:
            troubles.append(str(error))
    raise InputError("; ".join(troubles))


def _read_checksums(kept: Path) -> dict[str, str]:
    try:
        value = json.loads((kept / CHECKSUMS).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise InputError(f"{kept / CHECKSUMS}: cannot be read; mend or delete it (checksums are then recorded anew)") from None
    if not isinstance(value, dict):
        raise InputError(f"{kept / CHECKSUMS}: expected names with checksums; mend or delete it")
    return {str(name): str(checksum) for name, checksum in value.items()}
