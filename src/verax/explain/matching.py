"""Tokens and columns as other tools name them, matched to the words of a text and to the columns of a table.

White space and the marks of sub-word pieces are folded ("Dee ", "##ing", "▁the", "Ġthe", "the</w>"). Pieces of a word
add up: the word's score is the sum of theirs. Tokens in the order of the text are placed in it, so that a word that
stands twice has two scores; tokens in another order are matched by name.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from verax.data.words import WORD, Words, split_words
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation
from verax.models.base import Model
from verax.text import counted, input_named, listed

# More of an input's tokens without a match than this share are an error; fewer are left out, and said.
MOST_UNMATCHED = 0.25
# Marks that a tokenizer adds: they stand for nothing in the text.
SPECIAL = re.compile(r"\[(CLS|SEP|PAD|MASK|BOS|EOS)\]|</?s>|<(pad|mask|cls|sep|bos|eos)>|<\|[\w ]+\|>")
SHOWN = 3
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Piece:
    """A token without its marks.

    Attributes:
        number: of the token among those given.
        token: as it was given.
        surface: what of it should stand in the text.
        inside: marked as the continuation of a word.
    """

    number: int
    token: str
    surface: str
    inside: bool


@dataclass(frozen=True)
class Match:
    """Scores of words or columns, and what of the tokens is not among them.

    Attributes:
        attribution: with features that the input has.
        asked: how many tokens were to be matched.
        unmatched: those of them that stand nowhere.
    """

    attribution: Attribution
    asked: int = 0
    unmatched: tuple[str, ...] = ()


def match_all(
    explanations: Sequence[Explanation], model: Model, source: str, numbers: Sequence[int] | None = None
) -> list[Explanation]:
    """Explanations whose features are those of their inputs; what could not be matched is said, or an error.

    Args:
        explanations: each with its input; those without scores stay as they are.
        model: whose inputs they are.
        source: where they come from, for sentences.
        numbers: of their inputs, for sentences; from 0 by default.
    """
    columns = None if model.schema is None else model.schema.names
    matched: list[Explanation] = []
    asked, unmatched = 0, []
    for number, explanation in zip(numbers or range(len(explanations)), explanations, strict=True):
        if not isinstance(explanation, Attribution):
            matched.append(explanation)
            continue
        if isinstance(explanation.input, str):
            found = match_text(explanation, explanation.input)
        else:
            found = match_columns(explanation, columns or explanation.features)
        _refuse_most(found, source, number)
        asked += found.asked
        unmatched += [f"{token!r} of {input_named(number)}" for token in found.unmatched]
        matched.append(found.attribution)
    if unmatched:
        logger.warning(
            "%s of %s: %s of %s found no match in their inputs and are left out, among them %s.",
            source[:1].upper() + source[1:],
            counted(len(explanations), "input"),
            f"{len(unmatched):,}",
            counted(asked, "token"),
            listed(unmatched[:SHOWN]),
        )
    return matched


def _refuse_most(found: Match, source: str, number: int) -> None:
    if not found.unmatched or len(found.unmatched) <= MOST_UNMATCHED * found.asked:
        return
    given = found.attribution.input
    text = isinstance(given, str)
    shown = given if isinstance(given, str) else ", ".join(given)
    raise VeraxError(
        f"{len(found.unmatched)} of {counted(found.asked, 'token' if text else 'feature')} that {source} has for "
        f"{input_named(number)} ({shown[:40]!r}) {'is' if len(found.unmatched) == 1 else 'are'} not in it: "
        f"{listed([repr(token) for token in dict.fromkeys(found.unmatched)], most=SHOWN)}; give "
        + (
            "the tokens of this very text, in its order (marks of sub-word pieces and white space are understood)."
            if text
            else "the names of the table's columns."
        )
    )


def match_text(given: Attribution, text: str) -> Match:
    """Scores of tokens as scores of a text's words, at their places where these are known."""
    words = split_words(text)
    named = set(given.features)
    if given.spans is not None or (len(named) == len(given.features) and named <= set(words.distinct)):
        return Match(given, len(given.features))
    pieces, left_out = _pieces(given.features, text)
    scores = given.scores.tolist()
    names = _by_name(pieces, words)
    mentioned = [word for found in names for word in found or ()]
    sums: dict[int, float] | None = None
    if None in names or len(set(mentioned)) < len(mentioned):
        # Not each word once and whole: there are pieces, or a word has several scores.
        placed = _placed(pieces, words)
        if placed is not None:
            sums = {}
            for piece, places in zip(pieces, placed, strict=True):
                for place in places or ():
                    sums[place] = sums.get(place, 0.0) + scores[piece.number]
                if places == []:  # a letter beyond ASCII that is of no word
                    left_out.append(piece.token)
            names = [None if places is None else () for places in placed]
    unmatched = [piece.token for piece, found in zip(pieces, names, strict=True) if found is None]
    details = dict(given.details)
    if left_out:
        details["left out"] = list(dict.fromkeys(left_out))
    if unmatched:
        details["not matched"] = unmatched
    if sums is not None:
        return Match(_at_places(given, words, sums, details), len(pieces), tuple(unmatched))
    totals: dict[str, float] = {}
    for piece, found in zip(pieces, names, strict=True):
        for word in found or ():
            totals[word] = totals.get(word, 0.0) + scores[piece.number]
    result = _with(given, tuple(totals), list(totals.values()), details)
    return Match(result, len(pieces), tuple(unmatched))


def match_columns(given: Attribution, columns: Sequence[str]) -> Match:
    """Scores of columns, however they are named: "Age", " age", "Age > 48.00", "Sex=Male", "cat__Sex_Male".

    Several that are about one column add up.
    """
    if len(set(given.features)) == len(given.features) and set(given.features) <= set(columns):
        return Match(given, len(given.features))
    totals: dict[str, float] = {}
    unmatched = []
    for feature, score in zip(given.features, given.scores.tolist(), strict=True):
        column = column_of(feature, columns)
        if column is None:
            unmatched.append(feature)
        else:
            totals[column] = totals.get(column, 0.0) + score
    details = dict(given.details) | ({"not matched": unmatched} if unmatched else {})
    result = _with(given, tuple(totals), list(totals.values()), details)
    return Match(result, len(given.features), tuple(unmatched))


def _with(
    given: Attribution, features: tuple[str, ...], scores: Sequence[float], details: dict[str, object]
) -> Attribution:
    return replace(given, features=features, scores=np.array(scores, dtype=np.float64), details=details)


def _at_places(
    given: Attribution, words: Words, sums: dict[int, float], details: dict[str, object]
) -> Attribution:
    places = sorted(sums)
    made = _with(
        given, tuple(words.words[place] for place in places), [sums[place] for place in places], details
    )
    if all(words.counts[word] == 1 for word in made.features):
        return made  # distinct words, which need no places
    return replace(made, spans=tuple((words.places[place],) for place in places))


# Tokens without their marks.


def _byte_letters() -> dict[int, str]:
    """How byte-level tokenizers write each byte: itself where it can be printed, else a letter from 256 on."""
    printed = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printed]
    return {byte: chr(byte) for byte in printed} | {
        byte: chr(256 + number) for number, byte in enumerate(others)
    }


BYTE_LETTERS = _byte_letters()
# White space is left as it is, so that it can be folded.
BYTE_SPACES = {ord(BYTE_LETTERS[ord(space)]): space for space in " \t\n\r"}
BYTE_LEVEL = re.compile(f"[{BYTE_LETTERS[ord(' ')]}{BYTE_LETTERS[10]}]")


def _is_byte_level(tokens: Sequence[str], text: str) -> bool:
    return any(map(BYTE_LEVEL.search, tokens)) and not BYTE_LEVEL.search(text)


def _pieces(tokens: Sequence[str], text: str) -> tuple[list[Piece], list[str]]:
    """The tokens that speak of words, and the others: special tokens, punctuation, white space."""
    byte_level = _is_byte_level(tokens, text)
    pieces, left_out = [], []
    for number, token in enumerate(tokens):
        surface = token.translate(BYTE_SPACES) if byte_level else token
        inside = False
        if surface.strip() not in text:
            if "▁" not in text:
                surface = surface.replace("▁", " ")
            inside = surface.startswith("##") and len(surface) > 2
            surface = surface.removeprefix("##") if inside else surface
            surface = surface.strip().removesuffix("</w>").removesuffix("@@")
        surface = surface.strip()
        # A byte of a letter beyond ASCII is no letter by itself; whether it is part of a word is seen in the text.
        spoken = any(ord(letter) > 127 for letter in surface) if byte_level else False
        if SPECIAL.fullmatch(token.strip()) or not (spoken or WORD.search(surface)):
            left_out.append(token)
        else:
            pieces.append(Piece(number, token, surface, inside))
    return pieces, left_out


# By place: tokens in the order of the text.


@dataclass(frozen=True)
class Reading:
    """A text as tokens spell it: ``letters``, and for each the place in the text where it stands."""

    letters: str
    places: list[int]


def _reading(text: str, *, byte_level: bool, folded: bool) -> Reading:
    if byte_level:
        spelt = [
            letter
            if letter.isspace() and letter in " \t\n\r"
            else "".join(BYTE_LETTERS[b] for b in letter.encode())
            for letter in text
        ]
        places = [place for place, letters in enumerate(spelt) for _ in letters]
        return Reading("".join(spelt), places)
    return Reading(_folded(text) if folded else text, list(range(len(text))))


def _folded(text: str) -> str:
    """In lower case and without accents, letter by letter, as uncased tokenizers read."""
    return "".join(_folded_letter(letter) for letter in text)


def _folded_letter(letter: str) -> str:
    plain = unicodedata.normalize("NFD", letter)[0].lower()
    return plain if len(plain) == 1 else letter


def _placed(pieces: Sequence[Piece], words: Words) -> list[list[int] | None] | None:
    """For each token the numbers of the words that it is, or is a piece of; None if they do not follow the text.

    For a token that stands nowhere it is None. Of all ways to read them (whole words or pieces, letter case and accents
    as written or folded) the first that leaves out the fewest is taken.
    """
    byte_level = _is_byte_level([piece.token for piece in pieces], words.text)
    best: list[tuple[int, int] | None] | None = None
    for whole in (True, False):
        for folded in (False,) if byte_level else (False, True):
            reading = _reading(words.text, byte_level=byte_level, folded=folded)
            surfaces = [_folded(piece.surface) if folded else piece.surface for piece in pieces]
            spans = _aligned(surfaces, [piece.inside for piece in pieces], reading, words, whole=whole)
            if spans is None or not _is_sure(spans, words, folded=folded):
                continue
            if best is None or spans.count(None) < best.count(None):
                best = spans
    return None if best is None else [None if span is None else _covered(span, words) for span in best]


def _aligned(
    surfaces: Sequence[str], inside: Sequence[bool], reading: Reading, words: Words, *, whole: bool
) -> list[tuple[int, int] | None] | None:
    """Where in the text each token stands, one after the other; None if one has no place after those before it."""
    starts, ends = set(words.starts), set(words.ends)
    letters, places = reading.letters, reading.places

    def begins(found: re.Match[str]) -> bool:
        return places[found.start()] in starts or not WORD.match(letters, found.start())

    def fits(found: re.Match[str]) -> bool:
        last = found.end() - 1
        return not whole or (begins(found) and (places[last] + 1 in ends or not WORD.match(letters, last)))

    cursor = 0
    spans: list[tuple[int, int] | None] = []
    for surface, continues in zip(surfaces, inside, strict=True):
        pattern = re.compile(r"\s+".join(map(re.escape, surface.split())))
        if not any(map(fits, pattern.finditer(letters))):
            spans.append(None)
            continue
        while not continues and letters[cursor : cursor + 1].isspace():
            cursor += 1
        found = pattern.match(letters, cursor)
        if found is None or not fits(found):
            if continues:
                return None
            # Something of the text was passed over: the next token begins where a word does.
            later = (other for other in pattern.finditer(letters, cursor) if begins(other) and fits(other))
            found = next(later, None)
        if found is None:
            return None
        cursor = found.end()
        spans.append((places[found.start()], places[found.end() - 1] + 1))
    return spans


def _covered(span: tuple[int, int], words: Words) -> list[int]:
    """The numbers of the words that a part of the text touches."""
    start, end = span
    return list(range(bisect_right(words.ends, start), bisect_left(words.starts, end)))


def _is_sure(spans: Sequence[tuple[int, int] | None], words: Words, *, folded: bool) -> bool:
    """Whether tokens can stand nowhere else: no word is left out before the last, or none that reads the same.

    Words of which tokens cover a part only, other than the last, are pieces of nothing.
    """
    letters = dict.fromkeys(range(len(words)), 0)
    for span in spans:
        for place in _covered(span, words) if span is not None else ():
            start, end = words.places[place]
            letters[place] += min(end, span[1]) - max(start, span[0]) if span is not None else 0
    touched = [place for place, count in letters.items() if count]
    if not touched:
        return False
    whole = all(letters[place] >= words.ends[place] - words.starts[place] for place in touched[:-1])
    read = [_folded(word) if folded else word for word in words.words]
    known = {read[place] for place in touched}
    gaps = touched != list(range(len(touched)))
    alike = any(read[place] in known for place, count in letters.items() if not count)
    return whole and not (gaps and alike)


# By name: tokens in any order.


def _by_name(pieces: Sequence[Piece], words: Words) -> list[tuple[str, ...] | None]:
    """For each token the distinct words that it names; letter case counts where it decides between two."""
    alike: dict[str, set[str]] = {}
    for word in words.distinct:
        alike.setdefault(_folded(word), set()).add(word)
    found: list[tuple[str, ...] | None] = []
    for piece in pieces:
        named: list[str | None] = []
        for word in WORD.findall(piece.surface):
            likely = {word} if word in words.counts else alike.get(_folded(word), set())
            named += likely if len(likely) == 1 else [None]
        known = tuple(word for word in named if word is not None)
        found.append(None if piece.inside or not known or len(known) < len(named) else known)
    return found


def column_of(feature: str, columns: Sequence[str]) -> str | None:
    """The column that a feature is about; None if there is none, or more than one."""

    def plain(name: str) -> str:
        return " ".join(name.split()).casefold()

    if feature in columns:
        return feature
    same = [column for column in columns if plain(column) == plain(feature)]
    if not same:
        # A condition, or one of the columns that an encoder made of it: the longest name in it.
        named = [
            column
            for column in columns
            if re.search(rf"(?<![^\W_]){re.escape(plain(column))}(?![^\W_])", plain(feature))
        ]
        same = [column for column in named if not any(column in other and column != other for other in named)]
    return same[0] if len(same) == 1 else None
