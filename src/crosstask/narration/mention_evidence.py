"""How well each cue of one video matches each step, on a scale that holds for 3 cues as for 10,000, and where the steps are mentioned.

Views of cue l and step k, each less its mean over the steps of the list, x[l, k]:
    encoder     cosine of sentence vectors, of the cue, and of the cue with its neighbours
    TF-IDF      cosine of the cue and the step name, averaged with that of the cue with its neighbours; cues and steps are the documents
    stems       weighted share of the step's words whose stems occur in the cue, likewise; the weight of a word falls with the
                number of steps and cues that contain it

Each view is standardised for each step over the cues of its own video, mean and variance shrunk towards values that hold for speech in general:

    mean = sum_l x / (L + n_0),    variance = (sum_l (x - mean)^2 + n_0 sigma_0^2) / (L + n_0),    z = (x - mean) / deviation

so that one clear mention among three cues stands out, and a step that resembles every cue a little does not. The weighted sum is
standardised likewise. A cue that contains all words of a step gains `LITERAL`; one that refers to another time ("later", "before we") or asks
a question loses `DISCOUNT`, a heading twice as much. Other videos are not needed. Mentions, windows and absence follow from z as in `collection`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from crosstask.narration.collection import CollectionSettings, SpokenEvidence, mention_probabilities, window_scores
from crosstask.narration.language import language_of
from crosstask.narration.narrate import step_queries
from crosstask.narration.units import cue_windows
from crosstask.narration.windows import ordered_windows
from crosstask.records import Narration, Task
from crosstask.text.encoders import Encoder
from crosstask.text.encoders.choice import suited_encoder
from crosstask.text.language import ENGLISH, common_words, detect_language, stemmer
from crosstask.text.stems import words_of_text

Array = npt.NDArray[np.float64]
# Words that occur in most sentences; they do not count as words of a step.
_COMMON = (
    "a about all also am an and any are as at be because been but by can could did do does down for from get go going gonna had has have he "
    "her here him his how i if in into is it its just know let like little make me more my need not now of off okay on one onto or our out over "
    "really right she so some that the their them then there these they thing this to too up us use using very want was we well were what when "
    "where which while who will with would you your"
)
COMMON_WORDS = frozenset(_COMMON.split())
OTHER_TIME = (
    "later", "before we", "before you", "after we", "after you", "in the end", "last time", "already", "we will be", "we'll be", "going to show",
    "gonna show", "in this video", "today", "you will need", "you'll need", "don't",
)  # fmt: skip
QUESTIONS = ("?", "how do", "how to", "what if", "should i", "can i ")
DISCOUNT = 1.0  # deviations, for a cue that refers to another time or asks a question
HEADING_DISCOUNT = 2.0  # deviations; nothing is done while a title is shown
_LONGEST_HEADING = 6  # words
_SENTENCE_ENDS = (".", "!", "?", "\u2026", "\u3002")
_CLOSING = "\"')]\u201d\u2019\u00bb"  # may follow the end of a sentence
LITERAL = 2.0  # deviations, for a cue that contains every word of the step
SHRINK_CUES = 20.0  # n_0, in cues
UNMENTIONED_ODDS = 1.5  # prior odds of no mention against a mention by one of the cues


@dataclass(frozen=True)
class View:
    """Weight of a view, and sigma_0, the deviation its scores are shrunk towards.

    The deviations were guessed; over cues of 180 narrated videos they are 0.05, 0.05, 0.06 and 0.14, so the scores of few cues are small.
    """

    weight: float
    deviation: float


ENCODER_CUE, ENCODER_NEAR, TFIDF, STEMS = View(1.0, 0.09), View(1.0, 0.08), View(0.5, 0.15), View(0.25, 0.2)


def content_stems(text: str, language: str = ENGLISH) -> list[str]:
    """Stems of the words of a text, without common words unless there are no others.

    >>> content_stems("put the egg in"), content_stems("do it")
    (['put', 'egg'], ['do', 'it'])
    """
    words, stem_of = words_of_text(text), stemmer(language)
    common = COMMON_WORDS if language == ENGLISH else common_words(language)
    return [stem_of(word) for word in words if word not in common] or [stem_of(word) for word in words]


def stem_shares(cues: Sequence[str], steps: Sequence[str], language: str = ENGLISH) -> Array:
    """(L, K) weighted share of a step's words that a cue contains; the weight of a word falls with the number of steps and cues that contain it.

    >>> stem_shares(["now whisk the eggs", "pour milk"], ["whisk eggs", "pour milk"]).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    of_cue = [set(content_stems(cue, language)) for cue in cues]
    of_step = [set(content_stems(step, language)) for step in steps]
    in_cues = Counter(word for words in of_cue for word in words)
    in_steps = Counter(word for words in of_step for word in words)
    weight = {w: np.log1p(len(steps) / n) * np.log1p(len(cues) / (1 + in_cues[w])) for w, n in in_steps.items()}
    total = np.array([sum(weight[w] for w in words) for words in of_step])
    said = [[sum(weight[w] for w in sorted(step & cue)) for step in of_step] for cue in of_cue]
    return np.array(said, dtype=np.float64).reshape(len(cues), len(steps)) / np.maximum(total, 1e-9)


def tfidf_cosines(cues: Sequence[str], steps: Sequence[str], language: str = ENGLISH) -> Array:
    """(L, K) cosines of TF-IDF vectors; every cue and every step is a document."""
    texts = [Counter(content_stems(text, language)) for text in (*cues, *steps)]
    documents = Counter(word for words in texts for word in words)
    number = {word: i for i, word in enumerate(sorted(documents))}
    idf = {word: 1 + np.log((1 + len(texts)) / (1 + n)) for word, n in documents.items()}
    of_step = np.zeros((len(steps), len(number)))
    for row, words in zip(of_step, texts[len(cues) :], strict=True):
        for word, n in words.items():
            row[number[word]] = n * idf[word]
    of_step /= np.maximum(np.linalg.norm(of_step, axis=1, keepdims=True), 1e-9)
    found = np.zeros((len(cues), len(steps)))
    for row, words in zip(found, texts[: len(cues)], strict=True):
        values = np.array([n * idf[word] for word, n in words.items()])
        if len(values):
            row[:] = of_step[:, [number[word] for word in words]] @ values / np.linalg.norm(values)
    return found


def contrasted(similarity: npt.ArrayLike) -> Array:
    """(L, K) less its mean over the steps; unchanged where there is a single step."""
    exact = np.asarray(similarity, dtype=np.float64)
    return exact - exact.mean(axis=1, keepdims=True) if exact.shape[1] > 1 else exact


def shrunk_scores(x: Array, deviation: float, n_0: float = SHRINK_CUES) -> Array:
    """(L, K) scores of each step in deviations over the cues, mean and variance shrunk towards 0 and deviation^2 by n_0 cues.

    >>> shrunk_scores(np.array([[0.4], [0.0], [0.0]]), 0.1).round(1).ravel().tolist()
    [3.1, -0.1, -0.1]
    """
    mean = x.sum(axis=0) / (len(x) + n_0)
    variance = (((x - mean) ** 2).sum(axis=0) + n_0 * deviation**2) / (len(x) + n_0)
    return (x - mean) / np.sqrt(variance)


def with_neighbours(cues: Sequence[str]) -> list[str]:
    """Each cue with the one before and the one after."""
    return [" ".join(cues[max(0, i - 1) : i + 2]) for i in range(len(cues))]


def refers_to_another_time(cue: str) -> bool:
    """True if a cue announces or recalls an action, or asks a question.

    >>> refers_to_another_time("we'll flip it later"), refers_to_another_time("flip it")
    (True, False)
    """
    text = f" {' '.join(cue.lower().replace('’', chr(39)).split())} "
    return any(f" {phrase} " in text for phrase in OTHER_TIME) or any(mark in text for mark in QUESTIONS)


def headings(cues: Sequence[str]) -> npt.NDArray[np.bool_]:
    """(L,) True for cues that name what follows, such as a title on the screen, instead of saying it.

    In captions whose sentences end with a full stop, they are short, have none, begin with a capital letter, and so does the next cue.

    >>> headings(["Switching Tasks", "Click a window.", "To close it, click", "the cross.", "Press Escape."]).tolist()
    [True, False, False, False, False]
    """
    texts = [cue.strip().rstrip(_CLOSING) for cue in cues]
    ended = np.array([text.endswith(_SENTENCE_ENDS) for text in texts], dtype=np.bool_)
    if 2 * ended.sum() <= len(texts):
        return np.zeros(len(texts), dtype=np.bool_)
    begins = np.array([text[:1].isupper() for text in texts] + [True])
    short = np.array([len(text.split()) <= _LONGEST_HEADING for text in texts], dtype=np.bool_)
    return np.asarray(~ended & short & begins[:-1] & begins[1:])


def mention_scores(
    cues: Sequence[str],
    steps: Sequence[str],
    vectors: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] | None = None,
    language: str = ENGLISH,
) -> Array:
    """(L, K) how well cues match steps, in standard deviations.

    Where there is an encoder, `vectors` are unit rows of cues (L, d), of cues with their neighbours (L, d) and of steps (K, d).
    """
    near = with_neighbours(cues)
    shares = stem_shares(cues, steps, language)
    tfidf = (tfidf_cosines(cues, steps, language) + tfidf_cosines(near, steps, language)) / 2
    views = [(TFIDF, tfidf), (STEMS, (shares + stem_shares(near, steps, language)) / 2)]
    if vectors is not None:
        of_cues, of_near, of_steps = (np.asarray(rows, dtype=np.float64) for rows in vectors)
        views += [(ENCODER_CUE, of_cues @ of_steps.T), (ENCODER_NEAR, of_near @ of_steps.T)]
    total = sum(view.weight * shrunk_scores(contrasted(x), view.deviation) for view, x in views)
    weights = np.array([view.weight for view, _ in views])
    spread = np.sqrt(0.5 * (weights**2).sum() + 0.5 * weights.sum() ** 2)  # views are correlated by one half
    scores = shrunk_scores(np.asarray(total), float(spread))
    elsewhere = np.array([refers_to_another_time(cue) for cue in cues], dtype=np.float64)
    discount = np.where(headings(cues), HEADING_DISCOUNT, DISCOUNT * elsewhere)
    return scores + LITERAL * shares**2 - discount[:, None]


def settings_for(n_segments: int, n_steps: int, n_cues: int) -> CollectionSettings:
    """Settings of `collection` for one video of T segments, K steps and L cues.

    Windows last 9 s, or, where a step has less than 18 s of the video, half its even share, at least 3 s; the lag is scaled with them.
    A step is mentioned by a given cue with prior odds 1 / (1.5 L): the more cues, the better one of them must match.

    >>> settings_for(300, 7, 100).window_s, settings_for(34, 5, 7).window_s, round(settings_for(300, 7, 100).absence_threshold, 2)
    (9, 3, 2.0)
    """
    usual = CollectionSettings()
    window_s = int(np.clip(n_segments // (2 * n_steps), 3, usual.window_s))
    absence_threshold = usual.temperature * float(np.log(UNMENTIONED_ODDS * max(n_cues, 1)))
    return replace(usual, window_s=window_s, lag_s=usual.lag_s * window_s / usual.window_s, absence_threshold=absence_threshold)


def mention_centres(task: Task, narration: Narration, n_segments: int, encoder: Encoder | None) -> tuple[Array, Array]:
    """Centres (K,) in seconds of where the narration of a video mentions the steps, and P(step mentioned) (K,).

    For speech that is not English, words are compared by stems of its language, and an encoder of English is replaced by the multilingual one.
    """
    units = cue_windows(narration.until(n_segments), neighbours=0)
    language = language_of(narration) or detect_language(" ; ".join(task.steps)) or ENGLISH
    encoder, vectors = suited_encoder(encoder, language), None
    if encoder is not None:
        queries = step_queries(task) if language == ENGLISH else list(task.steps)
        vectors = encoder.encode(units.texts), encoder.encode(with_neighbours(units.texts)), encoder.encode(queries)
    scores = mention_scores(units.texts, task.steps, vectors, language)
    return spoken_centres(scores, units.start_s, units.end_s, n_segments)


def spoken_centres(
    scores: Array, start_s: Array, end_s: Array, n_segments: int, settings: CollectionSettings | None = None
) -> tuple[Array, Array]:
    """Centres of the steps' windows in seconds (K,), and the probability that each step is mentioned (K,).

    Scores are (L, K) of cues at [start_s, end_s). Some ordered choice of moments lies in all windows; where a step is
    more likely not mentioned, its centre is no evidence.
    """
    settings = settings or settings_for(n_segments, scores.shape[1], len(scores))
    spoken = SpokenEvidence(start_s, end_s, n_segments, ())
    windows = ordered_windows(window_scores(spoken, scores, settings), settings.window_s)
    centres = np.array([(window.interval.start_s + window.interval.end_s) / 2 for window in windows])
    return centres, np.minimum(mention_probabilities(scores, settings), 1.0)
