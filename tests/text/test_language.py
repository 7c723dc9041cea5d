"""Languages by their frequent words, and stems of each language."""

import pytest

from crosstask.records import InputError
from crosstask.text.language import FUNCTION_WORDS, SNOWBALL, WORDS, detect_language, known_language, language_code, stemmer

SAID = {
    "en": "now we are going to crack the eggs and pour them into the bowl with some milk",
    "de": "jetzt schlagen wir die Eier in die Schüssel und verrühren sie mit der Milch",
    "es": "ahora vamos a romper los huevos y los batimos con un poco de leche",
    "fr": "maintenant nous allons casser les oeufs dans le bol et ajouter un peu de lait",
    "it": "adesso rompiamo le uova nella ciotola e poi aggiungiamo un po' di latte con il sale",
    "pt": "agora vamos quebrar os ovos em uma tigela e depois colocar um pouco de leite com o sal",
    "nl": "nu breken we de eieren in de kom en dan doen we er wat melk bij voor het beslag",
    "sv": "nu ska vi knäcka äggen i en skål och sedan häller vi på lite mjölk som vi har",
    "pl": "teraz wbijamy jajka do miski i potem dodajemy do tego mleko, bo tak się nie przypali",
    "ru": "теперь мы разбиваем яйца в миску и потом добавляем молоко",
}
STEPS = {
    "en": "pour milk; whisk egg; flip pancake",
    "de": "Eier aufschlagen; Milch eingießen; Omelett wenden",
    "es": "cortar la cebolla; batir los huevos",
    "fr": "couper l'oignon; battre les oeufs; verser le lait",
}


@pytest.mark.parametrize("code", SAID)
def test_spoken_sentences_are_recognised(code):
    assert detect_language(SAID[code]) == code


@pytest.mark.parametrize("code", STEPS)
def test_step_lists_are_recognised(code):
    assert detect_language(STEPS[code]) == code


def test_no_language_is_guessed_from_nothing():
    assert detect_language("") is None and detect_language("tofu wok sushi") is None


def test_tags_become_codes():
    assert [language_code(tag) for tag in ("de", "pt-BR", "en_US", "German", "part2", None)] == [
        "de",
        "pt",
        "en",
        "de",
        None,
        None,
    ]
    assert known_language("ES") == "es"
    with pytest.raises(InputError, match="language 'klingon' is unknown; expected a code such as"):
        known_language("klingon")


def test_stems_are_those_of_the_language():
    assert stemmer("de")("Zwiebeln") == stemmer("de")("Zwiebel")
    assert stemmer("es")("cortamos") == stemmer("es")("cortar")
    assert stemmer("en")("pouring") == "pour" != stemmer("de")("pouring")


def test_every_stemmer_exists_and_every_list_is_lower_case():
    assert all(stemmer(code)("Test") for code in SNOWBALL)
    assert set(FUNCTION_WORDS) == set(WORDS)
    assert all(word == word.lower() for words in WORDS.values() for word in words)


def test_real_step_lists_and_subtitles_are_english(real_data):
    from crosstask.datasets import open_corpus

    corpus = open_corpus(real_data / "crosstask")
    assert {detect_language(" ; ".join(task.steps)) for task in corpus.tasks.values()} == {"en"}
    some = sorted({video.id for video in corpus.videos if video.id in corpus.subtitles})[::10]
    said = [" ".join(word.text for word in corpus.subtitles[name].words) for name in some]
    assert {detect_language(text) for text in said} == {"en"}
