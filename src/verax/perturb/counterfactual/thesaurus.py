"""What may replace the words of a text: neighbours in a vector space, of the same sort and in the same case.

Words of a closed class stay as they are. No part-of-speech tagger comes without a download, so this is a word list.
Closed classes are determiners, pronouns, conjunctions, auxiliaries, particles, numerals and punctuation. Nouns,
verbs, adjectives, adverbs and adpositions are open: these are the words that Hase and Bansal (2020, A.2) edit. A word
of several classes is filed under the one in which it occurs most (``that``, ``to`` and ``have`` are closed, ``like``
and ``after`` are open). Which words are similar, for a model, is learned once from the texts that it was trained on.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.data.dataset import contents
from verax.data.vectors import TooFewWordsError, WordVectors, word_vectors
from verax.data.words import WORD, Words
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.capabilities import has
from verax.perturb.counterfactual.text_versions import Options

# ---- Closed classes

DETERMINERS = """
a an the this that these those some any no every each either neither both all another such what whatever which
whichever half
"""
PRONOUNS = """
i me my mine myself you your yours yourself yourselves u ur he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves themself thee thou thy ye y'all em
who whom whose whoever whomever one ones oneself there
someone somebody something anyone anybody anything everyone everybody everything none nobody nothing
"""
CONJUNCTIONS = """
and or but nor plus n & if because cuz cos coz although though while whilst whereas unless whether lest
"""
AUXILIARIES = """
be am is are was were been being nt r isnt arent wasnt werent have has had having havent hasnt hadnt
do does did dont doesnt didnt will would shall should can could may might must ought cannot
wont wouldnt shouldnt cant couldnt gonna gotta wanna hafta ca wo sha ain aint
don doesn didn isn aren wasn weren hasn haven hadn wouldn shouldn couldn mustn needn shan mightn
"""
PARTICLES = "not to"
NUMERALS = """
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
ii iii iv vi vii viii ix xi xii xiii
"""
# Not a word: the line break that scraped reviews are full of.
MARKUP = "br"
# Open, but a class of few members: one is replaced by another of them, and by nothing else.
ADPOSITIONS = """
aboard about above across after against along alongside amid amidst among amongst around as at atop before behind below
beneath beside besides between beyond by concerning despite during except for from in inside into like near of off on
onto opposite out outside over past per regarding since than through throughout till toward towards under underneath
unlike until up upon versus via with within without
"""
# What follows the apostrophe of a contraction; some corpora write it as a word of its own.
CLITICS = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))
CLOSED = CLITICS.union(
    *map(str.split, (DETERMINERS, PRONOUNS, CONJUNCTIONS, AUXILIARIES, PARTICLES, NUMERALS, MARKUP))
)

_ADPOSITIONS = frozenset(ADPOSITIONS.split())
_APOSTROPHES = ("'", "’")


def is_open(word: str) -> bool:
    """Whether a word may be edited: it has a letter, no digit, and is of no closed class.

    A contraction is judged by what stands before its apostrophe: ``it's`` and ``don't`` are closed, ``film's`` is open.
    """
    word = word.lower().replace("’", "'")
    if not any(map(str.isalpha, word)) or any(map(str.isdigit, word)):
        return False
    host, _, clitic = word.rpartition("'")
    if clitic in CLITICS:
        return clitic != "t" and word not in CLITICS and is_open(host)
    return word not in CLOSED


def is_adposition(word: str) -> bool:
    """Whether a word is a preposition (or the like): of these too there are few, but they may be edited."""
    return word.lower() in _ADPOSITIONS


def open_words(words: Words) -> list[bool]:
    """For each word of a text whether it may be edited; ``don't`` is two words there and both are closed."""
    editable = [is_open(word) for word in words.words]
    for place in range(1, len(words)):
        between = words.text[words.ends[place - 1] : words.starts[place]]
        if between in _APOSTROPHES and words.words[place].lower() == "t":
            editable[place - 1] = False
    return editable


# ---- Candidates


@dataclass(frozen=True, eq=False)
class Candidates:
    """The options of a text, most similar first within each place, and how similar each is to the word there."""

    options: Options
    similarities: FloatArray


# The sorts of words: those that replace no other, and two that replace their own sort only.
UNUSED, ADPOSITION, OTHER = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Thesaurus:
    """The words of a vector space that may replace others: single words of an open class.

    Published code draws neighbours with the same part of speech. Without a tagger only this much is kept of it:
    an adposition is replaced by adpositions, and any other word by words that are none.

    Attributes:
        vectors: the space.
        sorts: the sort of each of its words.
    """

    vectors: WordVectors
    sorts: NDArray[np.int8]

    @classmethod
    def from_vectors(cls, vectors: WordVectors) -> Thesaurus:
        """Sorts the words of a vector space."""
        return cls(vectors, np.array([_sort(word) for word in vectors.words], dtype=np.int8))

    def candidates(self, words: Words, count: int) -> Candidates:
        """Up to ``count`` options for every editable word of a text; words without a vector have none."""
        neighbours = self._neighbours(words, count)
        places: list[int] = []
        after: list[str] = []
        similarities: list[float] = []
        for place, (word, editable) in enumerate(zip(words.words, open_words(words), strict=True)):
            if editable and word in neighbours:
                places += [place] * len(neighbours[word])
                after += neighbours[word]
                similarities += neighbours[word].values()
        options = Options(words, np.array(places, dtype=np.intp), tuple(after))
        return Candidates(options, np.array(similarities))

    def _neighbours(self, words: Words, count: int) -> dict[str, dict[str, float]]:
        """For each distinct word, what may replace it and how similar that is, best first."""
        neighbours = {}
        rows = {word: self.vectors.find(word) for word in words.distinct}
        for sort in (ADPOSITION, OTHER):
            known = {word: row for word, row in rows.items() if row is not None and self.sorts[row] == sort}
            places = np.array(list(known.values()), dtype=np.intp)
            nearest = self.vectors.nearest(places, count, among=np.flatnonzero(self.sorts == sort))
            for word, (others, similarities) in zip(known, nearest, strict=True):
                neighbours[word] = self._written(word, others, similarities)
        return neighbours

    def _written(self, word: str, places: IndexArray, similarities: FloatArray) -> dict[str, float]:
        """Neighbours in the case of the word; only similar ones, and never the word itself."""
        written: dict[str, float] = {}
        for place, similarity in zip(places.tolist(), similarities.tolist(), strict=True):
            other = in_case_of(word, self.vectors.words[place])
            if similarity > 0.0 and other.casefold() != word.casefold():
                written.setdefault(other, similarity)
        return written


def _sort(word: str) -> int:
    if WORD.fullmatch(word) is None or not is_open(word):
        return UNUSED
    return ADPOSITION if is_adposition(word) else OTHER


def in_case_of(word: str, other: str) -> str:
    """The other word in capitals, or with a capital first, if the word is so; otherwise as it is."""
    if len(word) > 1 and word.isupper():
        written = other.upper()
    elif word[:1].isupper():
        written = other[:1].upper() + other[1:]
    else:
        return other
    # A few letters become two characters in capitals, of which one may end the word.
    return written if WORD.fullmatch(written) else other


# ---- The thesaurus of a model

# Of the last few training parts: a benchmark explains many models of the same texts.
KEPT = 2
# What a method can do without similar words.
REMOVED = {"anchor": ", or let it leave words out: anchor(words=removed)"}
_BY_TEXTS: OrderedDict[tuple[str, str], Thesaurus] = OrderedDict()
_BY_MODEL: WeakKeyDictionary[Model, dict[str, Thesaurus]] = WeakKeyDictionary()


def thesaurus_for(model: Model, source: str, method: str) -> Thesaurus:
    """The similar words for a model of texts; kept, so that only the first explanation waits for it.

    Args:
        model: the model; "trained" vectors need its reference texts.
        source: "trained" (on the reference texts, about 2 s for 6,000 reviews), "minilm", or the path of a GloVe file.
        method: the explainer's name, for the sentence if there are no reference texts.
    """
    kept = _BY_MODEL.setdefault(model, {})
    if source not in kept:
        try:
            kept[source] = _of_texts(_reference(model, source, method), source)
        except TooFewWordsError as error:
            raise VeraxError(
                f"The method {method!r} learns similar words from the model's {error.n_texts:,} training texts, and no "
                f"word occurs {error.min_count} times in them; say where word vectors are: {method}(vectors=minilm), "
                f"or a GloVe file{REMOVED.get(method, '')}."
            ) from error
    return kept[source]


def _reference(model: Model, source: str, method: str) -> Sequence[str]:
    if source != "trained":
        return ()
    if not has(model, "reference"):
        raise VeraxError(
            f"The method {method!r} replaces words by similar ones, which it learns from texts that the model was "
            "trained on, and this model has none; give some: verax.as_model(..., reference=texts), or say where word "
            f"vectors are: {method}(vectors=minilm), or a GloVe file{REMOVED.get(method, '')}."
        )
    reference: Sequence[str] = getattr(model, "reference", ())
    return reference


def _of_texts(texts: Sequence[str], source: str) -> Thesaurus:
    digest = hashlib.sha256(b"\0".join(contents(texts))).hexdigest()
    key = (source, digest)
    if key not in _BY_TEXTS:
        _BY_TEXTS[key] = Thesaurus.from_vectors(word_vectors(source, texts))
        while len(_BY_TEXTS) > KEPT:
            _BY_TEXTS.popitem(last=False)
    _BY_TEXTS.move_to_end(key)
    return _BY_TEXTS[key]
