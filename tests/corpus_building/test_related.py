import json

import numpy as np
import pytest

from cli.running import json_of, refused
from crosstask.corpus_building.drafting import draft_step, draft_steps
from crosstask.corpus_building.related import ArticleIndex, article_text, is_near_duplicate, related_tasks
from crosstask.corpus_building.task_map import component_distances, compute_task_map, nearest_tasks
from crosstask.records import task_from_steps
from crosstask.text.encoders.articles import Page, read_articles

PAGES = (
    Page(
        "Make Pancakes",
        (("Mix the flour and milk.", "Whisk until smooth."), ("Pour the batter into a hot pan.",), ("Flip the pancake.",)),
    ),
    Page("Make Waffles", (("Mix flour, milk and egg.",), ("Pour the batter into the waffle iron.",))),
    Page("Use a Car Jack", (("Put the jack under the car.",), ("Pump the handle to raise the car.",))),
    Page("Jack Up a Car", (("Find the jack point of the car.",), ("Raise the car with the jack.",))),
    Page("Change Motor Oil", (("Raise the car.",), ("Drain the old oil from the engine.",))),
)


def test_related_tasks_are_ranked_and_the_task_itself_is_left_out():
    found = related_tasks(ArticleIndex(PAGES), "make pancakes")
    assert found[0].title == "Make Waffles" and "Make Pancakes" not in [task.title for task in found]
    assert {"mix", "pour"} <= set(found[0].shared_components)
    assert found[0].steps == ("mix flour", "pour batter into waffle")


def test_near_duplicates_are_left_out():
    titles = [task.title for task in related_tasks(ArticleIndex(PAGES), "Jack Up a Car")]
    assert "Use a Car Jack" not in titles and "Change Motor Oil" in titles
    assert is_near_duplicate("How to Jack Up a Car", "Use a Car Jack") or is_near_duplicate("Jack Up a Car", "Use a Car Jack")


def test_nonsense_finds_nothing():
    assert related_tasks(ArticleIndex(PAGES), "flurb the zork of quux") == []


def test_a_new_task_by_its_steps_alone():
    found = related_tasks(ArticleIndex(PAGES), "Crêpes", ("mix flour", "pour batter", "flip crêpe"))
    assert {task.title for task in found[:2]} == {"Make Pancakes", "Make Waffles"}


def test_drafted_steps_are_short_and_each_stands_once():
    assert draft_steps(["Pour the milk.", "Pour milk, slowly.", ""]) == ["pour milk"]
    assert draft_step("Then, whisk it!") == ""
    assert draft_step("Whisk the eggs until they are light") == "whisk eggs"


def test_the_verb(tmp_path):
    articles = [{"title": p.title, "steps": [{"headline": q[0], "sentences": list(q[1:])} for q in p.paragraphs]} for p in PAGES]
    (tmp_path / "a.json").write_text(json.dumps(articles))
    answer = json_of("corpus", "related", "Make Pancakes", "--articles", tmp_path / "a.json")
    assert answer["query"] == "Make Pancakes"
    assert set(answer["related"][0]) == {"title", "similarity", "shared_components", "steps"}
    assert "cannot be read" in refused("corpus", "related", "x", "--articles", tmp_path / "gone.json")


def test_half_of_an_article_finds_its_other_half(real_data):
    """Rank 1 for at least 70 % of the real articles."""
    pages = read_articles(real_data / "wikihow" / "articles.json")
    split = [p for p in pages if len(p.paragraphs) >= 2]
    first = ArticleIndex(tuple(Page("", p.paragraphs[0::2]) for p in split))
    vectorizer, vectors = first._fitted
    queries = vectorizer.transform([article_text(Page("", p.paragraphs[1::2])) for p in split])
    best = np.asarray((queries @ vectors.T).argmax(axis=1)).ravel()
    assert (best == np.arange(len(split))).sum() / len(pages) >= 0.70


def test_a_title_alone_finds_its_article(real_data):
    pages = tuple(read_articles(real_data / "wikihow" / "articles.json"))
    index = ArticleIndex(pages)
    hits = [pages[int(index.similarities(page.title).argmax())].title == page.title for page in pages[::10]]
    assert np.mean(hits) > 0.8


CAR = {"car", "tire", "tires", "brake", "wheel", "hubcap", "springs"}
HOME = {"shelves", "bookshelf", "desk", "mantel"}


def category(task):
    """Cooking, car or home, as a person sorts the release's tasks by their titles."""
    words = set(task.title.lower().split())
    return "car" if words & CAR else "home" if words & HOME else "cooking"


def test_neighbours_of_primary_tasks_lie_in_their_category(real_release):
    tasks = list(real_release.tasks.values())
    distances = component_distances(tasks)
    same = [
        category(other) == category(task)
        for i, task in enumerate(tasks)
        if task.primary
        for other in nearest_tasks(tasks, distances, i)
    ]
    assert np.mean(same) >= 0.95, np.mean(same)


def test_car_and_home_stand_apart_from_cooking(real_release):
    from sklearn.metrics import silhouette_score

    tasks = list(real_release.tasks.values())
    distances = component_distances(tasks)
    np.fill_diagonal(distances, 0)
    assert silhouette_score(distances, [category(task) == "cooking" for task in tasks], metric="precomputed") > 0


@pytest.mark.parametrize("seed", [0, 2**63 - 1])  # from end to end of the range of --seed
def test_the_map_places_every_task(seed):
    tasks = [
        task_from_steps(steps, f"t{i}")
        for i, steps in enumerate(["pour milk, stir", "pour egg, stir", "jack car", "raise car", "cut wood"])
    ]
    drawn = compute_task_map(tasks, seed, n_clusters=3)
    assert drawn.positions.shape == (5, 2) and np.isfinite(drawn.positions).all() and len(drawn.cluster_words) == 3


def test_unknown_task_of_a_corpus_is_refused(tmp_path):
    from tiny import write_tiny

    write_tiny(tmp_path / "c")
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(AssertionError, match="not in corpus"):
        raise AssertionError(refused("corpus", "related", "Fly", "--articles", tmp_path / "a.json", "--corpus", tmp_path / "c"))


@pytest.mark.parametrize("pages", [[], [{"title": "the", "steps": []}]])
def test_articles_without_a_word_are_refused(tmp_path, pages):
    (tmp_path / "a.json").write_text(json.dumps(pages))
    assert "articles without a word to compare" in refused("corpus", "related", "Make Tea", "--articles", tmp_path / "a.json")


def test_a_map_of_too_few_tasks_is_refused(tmp_path):
    (tmp_path / "corpus.toml").write_text("[tasks.tea]\nsteps=['boil water']\n[tasks.cocoa]\nsteps=['heat milk']\n")
    assert "2 tasks cannot be placed on a map; expected at least 3" in refused(
        "corpus", "map", tmp_path, "--out", tmp_path / "m.png"
    )
