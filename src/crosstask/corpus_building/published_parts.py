"""Downloadable parts of published data sets with their addresses and stated sizes. The addresses were not tested and may have moved."""

from dataclasses import dataclass

_ENS = "https://www.di.ens.fr/~dzhukov/crosstask/"
_ARCHIVE = "https://web.archive.org/web/2022id_/"  # the Internet Archive as an alternative; not known to hold a copy
_INRIA = "https://www.rocq.inria.fr/cluster-willow/dzhukov/"


@dataclass(frozen=True)
class Part:
    """An archive of the published dataset; `size` in bytes is approximately as published, None if not stated."""

    name: str
    addresses: tuple[str, ...]
    folder: str  # that must exist after unpacking
    contents: str
    holds: str = "*"  # pattern of a file that must be in it
    size: int | None = None

    @property
    def file(self) -> str:
        """The file name of the archive."""
        return self.addresses[0].rpartition("/")[2]


PARTS = {
    part.name: part
    for part in (
        Part(
            "release",
            (f"{_ENS}crosstask_release.zip", f"{_ARCHIVE}{_ENS}crosstask_release.zip"),
            "crosstask_release",
            "tasks, videos, annotations",
            "tasks_primary.txt",
        ),
        Part(
            "constraints",
            (f"{_ENS}crosstask_constraints.zip", f"{_ARCHIVE}{_ENS}crosstask_constraints.zip"),
            "crosstask_constraints",
            "narration windows",
            "*.csv",
        ),
        Part("subtitles", (f"{_INRIA}crosstask-subtitles.tar.gz",), "crosstask_subtitles", "subtitles"),
        Part(
            "features",
            (f"{_ENS}crosstask_features.zip",),
            "crosstask_features",
            "features, 3200 columns, one row per second",
            "*.npy",
            30 * 10**9,
        ),
    )
}
OTHER_SETS = {
    part.name: part
    for part in (
        Part(
            "captaincook",
            ("https://github.com/CaptainCook4D/annotations/archive/refs/heads/main.zip",),
            "annotations-main",
            "annotations and task graphs of CaptainCook4D, without features",
        ),
    )
}  # fetched by name only, not by `download all`
