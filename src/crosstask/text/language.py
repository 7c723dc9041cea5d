"""The language of a text, and the stems of its words in that language.

A language is recognised by counting words that are frequent in it: function words, and words of how-to steps, since a step list has few
function words. This needs no model and decides between the languages of `WORDS`; it says None where it cannot decide.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from crosstask.records import InputError
from crosstask.text.stems import words_of_text

MIN_WORDS = 2  # known words on which a decision rests; ours
MARGIN = 1.5  # times the points of any other language; ours
ENGLISH = "en"

# ISO 639-1 code -> function words. A word that is frequent in several languages stands in each of them.
FUNCTION_WORDS = {
    "en": "the and you that this it is with for are your to of in on have we we're you're i'm it's they what these can now some just then into at be "
    "going so there here as or from will a an",
    "de": "der die das und ist nicht wir sie ich ein eine einen einem einer den dem des mit auf für von zu im in es sich auch jetzt dann noch wird "
    "werden nach aus bei wie hier man kann so bis zum zur alles etwas danach wenn dazu",
    "es": "el la los las de del que y en un una uno con por para se es no lo al como más pero su sus ya muy esto esta este hay vamos ahora luego "
    "después también cuando hasta poco a nuestro todo",
    "fr": "le la les des du de un une et est dans pour que qui on nous vous avec sur pas ce cette ces au aux en plus il elle je se puis maintenant "
    "ensuite alors jusqu'à très bien à l'eau peu",
    "it": "il lo la gli le di del della dei e è un una uno che in con per non si al alla ora poi adesso anche come questo questa sono più molto "
    "nel nella dopo fino poco a tutto",
    "pt": "o a os as de do da dos das que e em um uma com para por não se no na ao mais como agora depois também isto isso este esta muito até "
    "você vamos então pouco já",
    "nl": "de het een en van in is dat op te met voor niet zijn we je ik er aan ook nu dan naar uit bij om deze dit wordt even tot als nog maar "
    "goed daarna",
    "sv": "och att det som en ett på är av för med den inte till vi du jag så om har ska nu sedan då i från kan lite efter",
    "da": "og at det som en et på er af for med den ikke til vi du jeg så om har skal nu derefter i fra kan lidt efter",
    "no": "og at det som en et på er av for med den ikke til vi du jeg så om har skal nå deretter i fra kan litt etter",
    "fi": "ja on ei se että hän me te nyt sitten myös mutta kun niin tämä sen siihen vähän kanssa ovat",
    "pl": "i w na z do się nie jest to że jak po od za teraz potem oraz ale przez dla tak już aż",
    "cs": "a v na z do se je to že jak po od za teď potom ale pro tak už do ještě",
    "ru": "и в на с не что это как по из к мы вы я он она теперь затем потом для до но так уже его",
    "tr": "ve bir bu da de için ile çok sonra şimdi daha olarak ne biz siz kadar gibi var",
    "hu": "és a az egy hogy nem is ez azt van most majd után meg kell még csak ha vagy",
    "ro": "și de la în cu pe un o că nu este se mai din care pentru acum apoi după sau",
}
# Words of how-to steps, in the forms in which step lists use them.
STEP_WORDS = {
    "en": "add attach bake beat boil break bring brush butter chop clean click close coat cook cool cover crack cut drain drill drop drive dry egg eggs "
    "fill flip flour fold fry glue grate heat hold insert install knead lift lower make measure melt milk mix oil open paint pan peel place "
    "plug pour prepare press pull push put raise remove rinse roll salt screw season serve set show shake slice spread sprinkle stir sugar switch take "
    "tighten toast top turn type unscrew use warm wash water whisk wipe wrap with onion cheese bread",
    "de": "abgießen abkühlen abschrauben anbraten anheben anziehen aufschlagen ausrollen backen bohren braten brot butter drehen ei eier eingießen "
    "einschalten entfernen erhitzen füllen gießen hacken heben hinzufügen hinzugeben kneten kochen käse mehl messen milch mischen montieren öffnen öl "
    "pfanne pressen reiben reinigen rühren salz salzen schälen schließen schneiden schrauben schütteln servieren setzen sieben streichen "
    "streuen trocknen umrühren unterheben verquirlen vermischen verrühren vorheizen waschen wasser wenden zucker zugeben zwiebel zwiebeln schüssel teig",
    "es": "abrir aceite agregar agua amasar añadir apretar azúcar batir calentar cebolla cerrar cocinar colocar cortar cubrir echar enfriar freír girar "
    "harina hervir hornear huevo huevos lavar leche levantar limpiar llenar mantequilla masa medir mezclar montar pan pelar picar poner quitar "
    "rallar remover retirar sacar sal sartén secar servir taladrar tapar tomar untar verter voltear añade bate corta vierte",
    "fr": "ajouter battre beurre casser chauffer couper couvrir cuire eau enlever éplucher faire farine fermer frire huile laver lait mélanger mesurer "
    "mettre monter nettoyer oeuf oeufs œuf œufs oignon ouvrir pain percer pâte peler placer poêle poser pétrir remuer retirer retourner râper "
    "sel servir sécher sucre tourner verser visser étaler",
    "it": "acqua aggiungere aprire asciugare avvitare burro chiudere cipolla coprire cuocere farina forare friggere girare grattugiare impastare latte "
    "lavare mescolare mettere misurare montare olio padella pane pelare pulire rompere sale sbattere scaldare servire tagliare togliere uova uovo "
    "versare zucchero",
    "pt": "abrir adicionar açúcar água amassar aparafusar assar bater cebola colocar cortar cobrir cozinhar despejar farinha fechar ferver fritar "
    "lavar leite limpar manteiga medir mexer misturar montar óleo ovo ovos pão pôr quebrar ralar retirar sal secar servir tirar untar virar",
    "nl": "afgieten afkoelen bakken boter boren brood deeg doen draaien drogen ei eieren gieten kneden koken kaas klutsen meel melk mengen openen olie "
    "pan pellen raspen roeren schillen schoonmaken schroeven sluiten snijden suiker toevoegen uien verwarmen vullen wassen water zout",
}
WORDS = {code: frozenset(f"{words} {STEP_WORDS.get(code, '')}".split()) for code, words in FUNCTION_WORDS.items()}
_LANGUAGES_WITH = Counter(word for words in WORDS.values() for word in words)  # a word of three languages counts a third in each
# ISO 639-1 code -> name of its Snowball stemmer.
SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali",
    "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def language_code(tag: str | None) -> str | None:
    """The two-letter code of a tag such as `de`, `de-AT` or `German`; None for anything else.

    >>> language_code("de-AT"), language_code("Spanish"), language_code("new")
    ('de', 'es', None)
    """
    name = (tag or "").lower().replace("_", "-").split("-")[0]
    known = SNOWBALL.keys() | WORDS.keys()
    return name if name in known else {english: code for code, english in SNOWBALL.items()}.get(name)


def known_language(tag: str) -> str:
    """The two-letter code of a language that a user names; an error for one that is unknown."""
    code = language_code(tag)
    if code is None:
        raise InputError(f"language '{tag}' is unknown; expected a code such as {', '.join(sorted(SNOWBALL))}")
    return code


def detect_language(text: str) -> str | None:
    """The code of the language whose words are clearly the most frequent in a text; None where none has enough.

    >>> detect_language("crack eggs, pour milk"), detect_language("Eier aufschlagen, Milch eingießen"), detect_language("zip zap")
    ('en', 'de', None)
    """
    words = [word for word in words_of_text(text) if word in _LANGUAGES_WITH]
    points = {code: sum(1 / _LANGUAGES_WITH[word] for word in words if word in known) for code, known in WORDS.items()}
    code, second = sorted(points, key=lambda code: -points[code])[:2]
    enough = sum(word in WORDS[code] for word in words) >= MIN_WORDS
    return code if enough and points[code] >= MARGIN * points[second] else None


@cache
def common_words(code: str) -> frozenset[str]:
    """Function words of a language; empty where none are listed."""
    return frozenset(FUNCTION_WORDS.get(code, "").split())


@cache
def stemmer(code: str) -> Callable[[str], str]:
    """The function from a word to its Snowball stem in a language, in lower case; words stay whole where there is no stemmer.

    >>> stemmer("de")("Schüsseln"), stemmer("xx")("Abc")
    ('schussel', 'abc')
    """
    snowball = _snowball(SNOWBALL[code]) if code in SNOWBALL else None

    @lru_cache(maxsize=50_000)
    def stem_of(word: str) -> str:
        return word.lower() if snowball is None else str(snowball.stemWord(word.lower()))

    return stem_of


def _snowball(name: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(name) if name in snowballstemmer.algorithms() else None
