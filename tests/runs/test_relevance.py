from crosstask.records import VideoKey
from crosstask.runs.relevance import read_relevance, save_relevance


def test_a_judgement_of_a_video_whose_task_has_an_underscore_is_read_back_and_removed(tmp_path):
    key, other = VideoKey("jump_car", "a_1"), VideoKey("jump", "b")
    save_relevance(tmp_path, {key: "irrelevant", other: "relevant"}, {})
    assert read_relevance(tmp_path, {}, {"jump_car", "jump"}) == {key: "irrelevant", other: "relevant"}
    save_relevance(tmp_path, {key: None}, {})
    assert read_relevance(tmp_path, {}, {"jump_car", "jump"}) == {other: "relevant"}
