import pytest

from crosstask.records import InputError, VideoKey, parse_video_key


@pytest.mark.parametrize(
    ("text", "task", "video"),
    [
        ("jump_v_1", "jump", "v_1"),
        ("jump_car_v_1", "jump_car", "v_1"),
        ("jump_car_", "jump", "car_"),
        ("other_v_1", "other", "v_1"),
    ],
)
def test_a_key_is_split_after_the_longest_known_task_else_at_the_first_underscore(text, task, video):
    assert parse_video_key(text, {"jump", "jump_car"}) == VideoKey(task, video)


@pytest.mark.parametrize("text", ["jump", "jump_", "_v", ""])
def test_what_names_no_video_is_refused(text):
    with pytest.raises(InputError, match="does not name a video"):
        parse_video_key(text, {"jump"})
