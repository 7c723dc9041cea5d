"""What can be downloaded, from where, and how large it is said to be. Nothing here was fetched when this was written: addresses move."""

from dataclasses import dataclass

_ENS = "https://www.di.ens.fr/~dzhukov/crosstask/"
_ARCHIVE = "https://web.archive.org/web/2022id_/"  # an alternate by its rule of addresses; whether it holds a copy is not known
_INRIA = "https://www.rocq.inria.fr/cluster-willow/dzhukov/"


@dataclass(frozen=True)
class Part:
    """An archive of the published set; `size` is about what its publishers say, None where they say nothing."""

    name: str
    addresses: tuple[str, ...]
    folder: str  # that must be there after unpacking
    what: str
    size: int | None = None

    @property
    def file(self) -> str:
        """The name it is kept under."""
        return self.addresses[0].rpartition("/")[2]


PARTS = {
    part.name: part
    for part in (
        Part(
            "release",
            (f"{_ENS}crosstask_release.zip", f"{_ARCHIVE}{_ENS}crosstask_release.zip"),
            "crosstask_release",
            "tasks, videos, annotations",
        ),
        Part(
            "constraints",
            (f"{_ENS}crosstask_constraints.zip", f"{_ARCHIVE}{_ENS}crosstask_constraints.zip"),
            "crosstask_constraints",
            "narration windows",
        ),
        Part("subtitles", (f"{_INRIA}crosstask-subtitles.tar.gz",), "crosstask_subtitles", "subtitles"),
        Part(
            "features",
            (f"{_ENS}crosstask_features.zip",),
            "crosstask_features",
            "features, 3200 columns, one row a second",
            30 * 10**9,
        ),
    )
}
