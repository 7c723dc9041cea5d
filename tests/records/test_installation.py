import json
import sys
from importlib import metadata

import pytest

from crosstask.records import MissingExtra, install_command, installation


class Installed:
    def __init__(self, recorded):
        self.recorded = recorded

    def read_text(self, name):
        assert name == "direct_url.json"
        return self.recorded


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({"url": "file:///opt/my%20checkout", "dir_info": {"editable": True}}, "-e '/opt/my checkout[serve]'"),
        (
            {"url": "file:///opt/crosstask-1.0-py3-none-any.whl", "archive_info": {}},
            "'/opt/crosstask-1.0-py3-none-any.whl[serve]'",
        ),
        ({"url": "https://example.org/x.whl"}, "'crosstask[serve]'"),
        (None, "'crosstask[serve]'"),
    ],
)
def test_an_extra_comes_from_where_the_package_came_from(recorded, expected, monkeypatch):
    monkeypatch.setattr(installation, "distribution", lambda name: Installed(None if recorded is None else json.dumps(recorded)))
    assert install_command("serve").endswith(f" -m pip install {expected}")


def test_a_folder_below_the_working_folder_is_named_from_there(monkeypatch, tmp_path):
    recorded = json.dumps({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.setattr(installation, "distribution", lambda name: Installed(recorded))
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    monkeypatch.chdir(tmp_path)
    assert install_command("video") == ".venv/bin/python -m pip install -e '.[video]'"
    (tmp_path / "constraints.txt").write_text("av==1\n")
    assert install_command("video") == ".venv/bin/python -m pip install -c constraints.txt -e '.[video]'"


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", missing)
    assert str(MissingExtra("view", "serve")).startswith("view needs the extra 'serve': ")
    assert install_command("serve").endswith("pip install 'crosstask[serve]'")
