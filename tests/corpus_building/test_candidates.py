import json
import os

import pytest

from cli.running import json_of, refused
from crosstask.corpus_building.candidates import assess_article, rank_candidates
from crosstask.corpus_building.related import ArticleIndex, related_tasks
from crosstask.corpus_building.search_results import read_search_results, videos_from_results
from crosstask.records import InputError
from crosstask.text.encoders.articles import Page

PANCAKES = Page("Make Pancakes", (("Mix the flour and milk.",), ("Pour the batter into a pan.",), ("Flip the pancake.",)))
DECIDING = Page("Choose a Career", (("Think about what you like.",), ("Talk to a friend.",), ("Make a decision.",)))
CHOICES = Page("Cook Eggs", (("Consider boiling them.",), ("Alternatively, fry the eggs.",), ("Boil the eggs if you like.",)))


def test_hands_on_articles_in_order_fit():
    found = rank_candidates([DECIDING, PANCAKES, CHOICES])
    assert [one.title for one in found if one.kept] == ["Make Pancakes"] and found[0].physical == 1
    assert found[0].steps == ("mix flour", "pour batter into pan", "flip pancake")
    assert "manual actions" in assess_article(DECIDING).reason
    assert "steps; expected 3" in assess_article(Page("x", (("Pour the milk.",),))).reason
    assert assess_article(Page("x", ())).physical == 0


def test_choices_are_no_order():
    page = Page("x", (("Fry the eggs if you like.",), ("Boil the eggs instead.",), ("Peel the eggs.",)))
    assert "choices" in assess_article(page).reason


def test_frequency_comes_from_a_search():
    assert assess_article(PANCAKES).frequent is None
    assert not assess_article(PANCAKES, {"make pancakes": 3}).kept and assess_article(PANCAKES, {"make pancakes": 50}).kept


def test_search_results_of_every_kind(tmp_path):
    entries = [{"id": "-bcdefghijk", "title": "A", "duration": 100}, None, {"id": "b", "webpage_url": "http://y/b"}]
    files = {
        "single.json": json.dumps({"_type": "playlist", "entries": entries}),
        "list.json": json.dumps(entries),
        "lines.jsonl": "\n".join(json.dumps(entry) for entry in entries if entry),
        "ids.txt": "# found today\n-bcdefghijk\nb\nb\n",
        "addresses.txt": "https://www.youtube.com/watch?v=-bcdefghijk&t=3\nhttps://youtu.be/abcdefghijk\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        found = [result.id for result in read_search_results(tmp_path / name)]
        assert found == (["-bcdefghijk", "b"] if name != "addresses.txt" else ["-bcdefghijk", "abcdefghijk"]), name
    assert read_search_results(tmp_path / "single.json")[0].url == "https://www.youtube.com/watch?v=-bcdefghijk"
    assert [v.id for v in videos_from_results("t", read_search_results(tmp_path / "list.json"), shortest_s=101)] == ["b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 3}', "without an id"),
        ('{"id": "../x"}', "cannot name a file"),
        ('{"id": "a"}\n{"id"', "line 2: no valid JSON"),
        ("a/../b\n", "cannot name a file"),
        ("[" * 100_000, "nested too deeply"),
        ("[3]", "without an id"),
    ],
)
def test_bad_results_are_refused_in_words(tmp_path, text, message):
    (tmp_path / "r").write_text(text)
    with pytest.raises(InputError, match=message):
        read_search_results(tmp_path / "r")


@pytest.mark.parametrize("text", ["a\nb\nc\na\nb\n", '{"id": "a"}\n{"id": "b"}\n{"id": "c"}\n{"id": "a", "title": "again"}\n'])
def test_a_result_that_stands_twice_has_its_first_place(tmp_path, text):
    (tmp_path / "r").write_text(text)
    found = read_search_results(tmp_path / "r")
    assert [result.id for result in found] == ["a", "b", "c"] and found[0].title == ""


def test_tasks_that_find_the_same_videos_are_near_duplicates():
    index = ArticleIndex(
        (PANCAKES, Page("Fry Flapjacks", (("Mix flour and milk.",), ("Flip the flapjack in the pan.",))), DECIDING)
    )
    titles = [task.title for task in related_tasks(index, "Make Pancakes")]
    assert titles == ["Fry Flapjacks"]
    same = {"make pancakes": ["a", "b"], "fry flapjacks": ["b", "c"]}
    assert related_tasks(index, "Make Pancakes", results=same) == []


def test_the_verbs(tmp_path):
    pages = [
        {"title": page.title, "steps": [{"headline": p[0], "sentences": []} for p in page.paragraphs]}
        for page in (PANCAKES, DECIDING)
    ]
    (tmp_path / "a.json").write_text(json.dumps(pages))
    answer = json_of("corpus", "candidates", "--articles", tmp_path / "a.json")
    assert answer["fit"] == 1 and answer["candidates"][0]["title"] == "Make Pancakes"
    (tmp_path / "r.txt").write_text("aaa\nbbb\nccc\n")
    answer = json_of("corpus", "search", "pancakes", "--results", tmp_path / "r.txt", "--top", 2)
    assert [video["id"] for video in answer["videos"]] == ["aaa", "bbb"]
    (tmp_path / "videos.csv").write_text("tea,x,http://y\n")
    for _ in range(2):  # repeating changes nothing
        json_of("corpus", "search", "pancakes", "--results", tmp_path / "r.txt", "--top", 2, "--out", tmp_path / "videos.csv")
    assert (tmp_path / "videos.csv").read_text() == "tea,x,http://y\npancakes,aaa,\npancakes,bbb,\n"
    assert "cannot be read" in refused("corpus", "candidates", "--articles", tmp_path / "gone.json")
    assert "cannot be read" in refused("corpus", "search", "x", "--results", tmp_path / "gone.json")
    assert "no such folder" in refused("corpus", "candidates", "--articles", tmp_path / "a.json", "--results", tmp_path / "gone")
    assert "cannot name a file" in refused("corpus", "search", "../x", "--results", tmp_path / "r.txt")


def test_search_adds_one_row_a_video_and_leaves_a_list_that_it_cannot_read(tmp_path):
    videos = tmp_path / "videos.csv"
    (tmp_path / "r.json").write_text(
        json.dumps([{"id": "a", "url": "http://y/1,2"}, {"id": "b", "url": "http://y\ntea,forged,"}])
    )
    json_of("corpus", "search", "tea", "--results", tmp_path / "r.json", "--out", videos)
    assert videos.read_text() == "tea,a,http://y/1%2C2\ntea,b,\n"
    videos.write_bytes(latin := "tea,été,\n".encode("latin-1"))
    assert "not UTF-8 text" in refused("corpus", "search", "tea", "--results", tmp_path / "r.json", "--out", videos)
    assert videos.read_bytes() == latin
    assert "a comma cannot stand" in refused("corpus", "search", "tea,green", "--results", tmp_path / "r.json")
    os.mkfifo(tmp_path / "pipe")
    assert "a pipe or device" in refused("corpus", "search", "tea", "--results", tmp_path / "r.json", "--out", tmp_path / "pipe")


@pytest.mark.parametrize("there", ["[tasks.tea]\nsteps = ['a', 'b']\n", 'tea,x,"http://y\n'])
def test_rows_are_added_to_a_list_of_videos_alone(tmp_path, there):
    (tmp_path / "r.txt").write_text("aaa\n")
    (tmp_path / "out").write_text(there)
    said = refused("corpus", "search", "tea", "--results", tmp_path / "r.txt", "--out", tmp_path / "out")
    assert "line 1: found" in said and "expected task,video,url" in said and (tmp_path / "out").read_text() == there
