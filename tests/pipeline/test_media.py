from crosstask.pipeline.media import files_by_id
from crosstask.records import VideoKey


def test_videos_whose_files_would_be_one_on_some_disk_have_none(tmp_path):
    for name in ("IMG_1", "img_1", "other"):
        (tmp_path / f"{name} file.mp4").write_bytes(b"a film")
    media = {VideoKey("tea", name): tmp_path / f"{name} file.mp4" for name in ("IMG_1", "img_1", "other")}
    files, clashes = files_by_id(media | {VideoKey("latte", "other"): media[VideoKey("tea", "other")]})
    assert sorted(files) == ["other"] and sorted(clashes) == ["IMG_1", "img_1"]
    assert "are different videos of one name; rename one" in clashes["IMG_1"]
