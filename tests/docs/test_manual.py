"""The manual builds without a dead link or anything from the network, and every command in it runs."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"manual_{name}", ROOT / "docs" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


pytest.importorskip("mkdocs", reason="mkdocs is not installed; extra: dev")
follow, hooks = _script("follow"), _script("hooks")
fill_tables = _script("fill_tables")
tables = fill_tables.tables
BLOCKS = [block for page in follow.pages() for block in follow.blocks_of(page)]

# Every block that is not run, by page: whoever adds one says so here as well.
NOT_RUN = {
    "docs/start.md": 2,  # make demo installs; view serves
    "docs/own-videos.md": 1,  # pip
    "docs/reproduce.md": 2,  # download; 20 splits of the real features
    "docs/novel-tasks.md": 1,  # minutes
    "docs/corpus.md": 2,  # yt-dlp; COIN
    "docs/viewer.md": 1,  # serves
    "docs/narration.md": 1,  # how-to articles
    "docs/ray.md": 1,  # a cluster
    "docs/features.md": 1,  # weights of an image-text model
    "docs/api.md": 1,  # video files
    "README.md": 5,  # make and pip install; own videos; tests/test_readme.py runs the Python examples
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


def test_every_page_is_built_and_listed(site: Path):
    written = {page.stem for page in (ROOT / "docs").glob("*.md")} | {"verbs", "package-map", "notebook"}
    assert written <= {page.stem for page in site.glob("*.html")}


def test_a_dead_link_stops_the_build(tmp_path: Path):
    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "index.md").write_text("[nowhere](missing.md)")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nstrict: true\n")
    ended = subprocess.run([sys.executable, "-m", "mkdocs", "build"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode != 0 and "missing.md" in ended.stderr


def test_built_pages_load_nothing_from_the_network(site: Path):
    loading = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^\"'\s>]*")
    found = [match for page in site.rglob("*.html") for match in loading.findall(page.read_text("utf-8"))]
    styles = [
        match for sheet in site.rglob("*.css") for match in re.findall(r"url\([\"']?(?:https?:)?//", sheet.read_text("utf-8"))
    ]
    assert not found and not styles


def test_the_page_of_verbs_lists_every_verb_and_option(site: Path):
    from typer.main import get_command

    from crosstask.cli.main import app

    page = (site / "verbs.html").read_text("utf-8")
    verbs = list(hooks.commands(get_command(app), ("crosstask",)))
    assert len(verbs) > 20
    for path, command in verbs:
        assert f"{path.removeprefix('crosstask ')}<a" in page, path
        for parameter in command.params:
            assert all(option in page for option in parameter.opts if option.startswith("--")), (path, parameter.name)


def test_the_package_map_lists_every_package(site: Path):
    page = (site / "package-map.html").read_text("utf-8")
    packages = [path.name for path in (ROOT / "src" / "crosstask").iterdir() if (path / "__init__.py").exists()]
    assert len(packages) > 20 and all(f"<code>{name}/</code>" in page for name in packages)


def test_the_python_reference_has_every_public_name_with_an_example(site: Path):
    import crosstask

    source, page = (ROOT / "docs" / "api.md").read_text("utf-8"), (site / "api.html").read_text("utf-8")
    sections = {section.partition("\n")[0]: section for section in source.split("\n## ")[1:]}
    assert set(sections) == set(crosstask.__all__)
    for name, section in sections.items():
        assert f"<!-- reference: {name} -->" in section and "```python\n" in section, name
        assert not hooks.REFERENCE.search(page), "a reference that was not replaced"
        found = getattr(crosstask, name)
        for member in vars(found) if isinstance(found, type) else ():
            if not member.startswith("_") and callable(getattr(found, member)):
                assert f"<code>{member}(" in page, f"{name}.{member}"


@pytest.mark.parametrize(
    ("picture", "most_bytes", "pages"),
    [("demo.gif", 2_000_000, ("README.md", "docs/index.md")), ("timeline.svg", 100_000, ("docs/start.md",))],
)
def test_pictures_are_small_and_called_synthetic(picture: str, most_bytes: int, pages: tuple[str, ...]):
    assert (ROOT / "docs" / picture).stat().st_size < most_bytes
    for page in pages:
        text = (ROOT / page).read_text("utf-8")
        assert picture in text and "synthetic" in text


def test_the_moving_picture_moves_and_shows_the_film_to_its_end():
    from PIL import Image

    with Image.open(ROOT / "docs" / "demo.gif") as picture:
        assert picture.n_frames > 40
        seen = []
        for number in (0, picture.n_frames // 2, picture.n_frames - 1):
            picture.seek(number)
            seen.append(picture.convert("RGB").tobytes())
    assert len(set(seen)) == 3


def test_every_fenced_block_is_run_or_shown_or_excused():
    strange = [block.place for block in BLOCKS if block.language not in (*follow.RUN, *follow.SHOWN)]
    assert not strange, f"blocks of no known kind: {strange}; expected {follow.RUN + follow.SHOWN}"
    idle = [block.place for block in BLOCKS if block.not_run and block.language not in follow.RUN]
    assert not idle, f"'not run' before a block that is only shown: {idle}"


def test_what_is_not_run_is_counted():
    counted: dict[str, int] = {}
    for block in BLOCKS:
        if block.not_run:
            assert len(block.not_run) > 8, f"{block.place}: why is it not run?"
            counted[block.page] = counted.get(block.page, 0) + 1
    assert counted == NOT_RUN
    assert sum(not block.not_run for block in BLOCKS if block.language in follow.RUN) > 3 * sum(counted.values())


def test_nothing_that_is_run_asks_the_network():
    for block in BLOCKS:
        if block.language != "sh" or block.not_run:
            continue
        for line in block.code.splitlines():
            assert not re.match(r"\s*(pip|curl|wget|yt-dlp|git|make)\b", line), block.place
            assert "crosstask download" not in line or "--dry-run" in line, block.place


def test_a_failing_command_stops_with_its_page_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(follow, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```sh\ntrue\nfalse | cat\ntouch reached\n```\n")
    assert follow.follow([page], tmp_path) == 1
    printed = capsys.readouterr().out
    assert "page.md:4: exit code 1" in printed and "failed at line 5" in printed
    assert not (tmp_path / "reached").exists()


def test_a_failing_python_block_is_reported_with_the_line_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(follow, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```text\nshown\n```\n<!-- not run: a reason -->\n```sh\nfalse\n```\n```python\nx = 1\nassert x == 2\n```\n")
    assert follow.follow([page], tmp_path) == 1
    assert "line 10" in capsys.readouterr().out


@pytest.mark.parametrize("page", fill_tables.PAGES, ids=lambda page: page.name)
def test_the_tables_are_those_of_the_results(page: Path):
    text = page.read_text("utf-8")
    assert "<!-- table: " in text
    assert fill_tables.filled(text) == text, "run `make figures`"


def test_the_readme_has_at_most_eight_rows_and_real_data_first():
    assert 4 < len(tables.README_ROWS) <= 8
    synthetic = ["synthetic" in row.what or row.file == "video-demo" for row in tables.README_ROWS]
    assert synthetic == sorted(synthetic) and not synthetic[0]


def test_a_result_that_changes_changes_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for path in (ROOT / "results").glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
    demo = json.loads((tmp_path / "video-demo.json").read_text("utf-8"))
    demo["recall"]["hmm"] = 0.1234
    (tmp_path / "video-demo.json").write_text(json.dumps(demo), "utf-8")
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    assert "**12.3**" in tables.readme_table()


@pytest.mark.parametrize(
    "page",
    [
        *("how-it-works.md", "paper-method.md", "extend.md", "narration.md", "follow-a-video.md"),
        *("reliability.md", "corpus.md", "faq.md", "deviations.md"),
    ],
)
def test_files_that_the_manual_names_exist(page: str):
    text = (ROOT / "docs" / page).read_text("utf-8")
    named = {name for name in re.findall(r"`([\w/]+/[\w]+\.py)`", text) if "NAME" not in name}
    assert named, "no file named; expected some"
    places = (ROOT, ROOT / "src" / "crosstask", ROOT / "tests")
    assert not [name for name in named if not any((place / name).exists() for place in places)]


@pytest.mark.slow
def test_the_manual_is_followed_from_an_empty_folder(tmp_path: Path):
    ended = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "follow.py"), "--folder", str(tmp_path)], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
