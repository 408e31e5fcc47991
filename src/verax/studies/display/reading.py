"""Texts that were cut into tokens, as people write them: "do n't , he said" becomes "don't, he said".

Only what stands between words is changed. So every word keeps its marks, and a place in the text its word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verax.data.words import WORD

TOKENISED = re.compile(r"\w [,.;:!?](\s|$)|\w n't\b|\w '(s|re|ve|ll|d|m)\b|(^|\s)(``|\() \w", re.IGNORECASE)
# What closes clings to the word before, what opens to the word after.
CLOSE, OPEN = frozenset(",.;:!?%)]}…"), frozenset("([{$#")
# What the Penn Treebank cuts off a word, besides n't.
ENDINGS = frozenset({"s", "re", "ve", "ll", "d", "m"})
# Bytes of Windows that were read as something else.
WINDOWS = str.maketrans(
    {"\x85": "…", "\x91": "‘", "\x92": "’", "\x93": "“", "\x94": "”", "\x96": "–", "\x97": "—"}
)


def readable(text: str) -> str:
    """A text as people write it; one that nobody cut into tokens stays as it is."""
    words, gaps = WORD.findall(text), WORD.split(text)
    pieces = zip(readable_gaps(text, gaps, words), [*words, ""], strict=True)
    return "".join(gap + word for gap, word in pieces)


def readable_gaps(text: str, gaps: Sequence[str], words: Sequence[str]) -> list[str]:
    """What stands between the words of a text, as people write it.

    Args:
        text: the text, which tells whether it was cut into tokens.
        gaps: what stands before the first word, between the words, and after the last.
        words: one fewer; none of them is changed.
    """
    plain = [gap.translate(WINDOWS) for gap in gaps]
    if TOKENISED.search(text) is None:
        return plain
    is_open = dict.fromkeys("\"'", False)
    return [
        _contracted(_closed_up(gap, place > 0, is_open), plain, words, place)
        for place, gap in enumerate(plain)
    ]


def _closed_up(gap: str, after_word: bool, is_open: dict[str, bool]) -> str:
    """The gap without the spaces that part its marks from the words they belong to."""
    gap = gap.replace("``", '"').replace("''", '"')
    made, space, clings = "", "", False
    for place, mark in enumerate(gap):
        if mark.isspace():
            space += mark
            continue
        next_to_space = gap[place + 1 : place + 2].isspace() or place + 1 == len(gap)
        closes, opens = mark in CLOSE, mark in OPEN
        # A quotation mark between spaces closes what was opened, or opens; others already cling to something.
        if mark in is_open and (space or not (made or after_word)) and (next_to_space or mark == '"'):
            closes, opens = is_open[mark], not is_open[mark]
            is_open[mark] = opens
        made += ("" if (closes and (made or after_word)) or clings else space) + mark
        space, clings = "", opens
    if "\n" in space:
        clings = False
    return made + ("" if clings else space)


def _contracted(gap: str, gaps: Sequence[str], words: Sequence[str], place: int) -> str:
    """The gap, if it is within a word or number that was cut: nothing but what belongs there."""
    if not 0 < place < len(words):
        return gap
    before, after = words[place - 1], words[place]
    if (
        gaps[place] == " "
        and after.lower() == "n"
        and gaps[place + 1].startswith("'")
        and words[place + 1 : place + 2]
    ):
        return "" if words[place + 1].lower() == "t" else gap
    if gaps[place] == " '" and after.lower() in ENDINGS:
        return "'"
    if gaps[place] == " . " and before.isdecimal() and after.isdecimal():
        return "."
    if gaps[place] == " , " and before.isdecimal() and len(before) <= 3 and re.fullmatch(r"\d{3}", after):
        return ","
    return gap
