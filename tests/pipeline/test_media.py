import pytest

from crosstask.datasets import open_corpus
from crosstask.pipeline.media import files_by_id, media_of
from crosstask.records import VideoKey
from tiny import write_tiny


def test_videos_whose_files_would_be_one_on_some_disk_have_none(tmp_path):
    for name in ("IMG_1", "img_1", "other"):
        (tmp_path / f"{name} file.mp4").write_bytes(b"a film")
    media = {VideoKey("tea", name): tmp_path / f"{name} file.mp4" for name in ("IMG_1", "img_1", "other")}
    files, clashes = files_by_id(media | {VideoKey("latte", "other"): media[VideoKey("tea", "other")]})
    assert sorted(files) == ["other"] and sorted(clashes) == ["IMG_1", "img_1"]
    assert "are different videos of one name; rename one" in clashes["IMG_1"]


def written(folder, contents):
    """The files of video -v1_0 in the published layout, some of which may be the same."""
    write_tiny(folder)
    for name, content in contents.items():
        (folder / "videos" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "videos" / name).write_bytes(content)
    return {str(key): path.relative_to(folder / "videos").as_posix() for key, path in media_of(open_corpus(folder)).items()}


@pytest.mark.parametrize("hidden", [".stversions/-v1_0.mp4", ".Trash-0/a/-v1_0.mp4", ".-v1_0.mp4"])
def test_hidden_files_and_folders_are_not_searched_for_videos(tmp_path, hidden):
    assert written(tmp_path, {hidden: b"old", "-v1_0.mp4": b"new"}) == {"1_-v1_0": "-v1_0.mp4"}


def test_of_different_files_of_one_name_none_is_used(tmp_path, caplog):
    assert written(tmp_path, {"1/-v1_0.mp4": b"one", "2/-v1_0.mp4": b"two", "1/-v1_1.mp4": b"x"}) == {"1_-v1_1": "1/-v1_1.mp4"}
    assert "are different files of one name, so that none is used" in caplog.text


def test_a_video_that_lies_there_twice_is_used(tmp_path):
    assert written(tmp_path, {"1/-v1_0.mp4": b"one", "2/-v1_0.mp4": b"one"}) == {"1_-v1_0": "1/-v1_0.mp4"}
