"""A job that kills its process at one of the videos, importable by workers."""

import os
import signal

from crosstask.extraction.extract_many import extract_job


def extract_or_die(values, folder, backbones):
    """Behaves like a decoder that crashes at v0."""
    if values["id"] == "v0":
        os.kill(os.getpid(), signal.SIGKILL)
    return extract_job(values, folder, backbones)
