"""What is installed and changes the results of an experiment: jobs that were finished with something else are computed again."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from crosstask import __version__
from crosstask.methods.hmm_scorer import step_name_encoder
from crosstask.records import InputError


def installation() -> dict[str, Any]:
    """The version of this package, and the encoder by which `hmm` compares step names; None without one."""
    encoder = step_name_encoder()
    return {"version": __version__, "step_name_encoder": None if encoder is None else _identity_of_packaged()}


@lru_cache(maxsize=1)
def _identity_of_packaged() -> str | None:
    """The identity of the packaged encoder, for which its files are read once a process."""
    encoder = step_name_encoder()
    return None if encoder is None else encoder.identity


def refuse_other_installation(values: Mapping[str, Any]) -> None:
    """An error where a job is run in another installation than it was made in, such as on another machine of a Ray cluster."""
    wanted, here = values.get("installation"), installation()
    if wanted not in (None, here):
        raise InputError(
            f"the experiment was begun with {wanted}, and this process has {here}; install the same version and extras everywhere"
        )
