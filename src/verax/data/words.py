"""Text as words with offsets into the text as written, so that a highlight can be drawn on it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

# Stands before a punctuation mark that is a word of its own. It is invisible wherever a text is shown, so that the text
# itself says which of its marks are words: no model, explainer or page has to be told.
MARK = "\N{WORD JOINER}"
# A word is a run of letters, digits and underscores in any script, or a marked character; all else separates words.
WORD = re.compile(rf"\w+|{MARK}[^\w\s{MARK}]")
PUNCTUATION = re.compile(rf"{MARK}?([^\w\s{MARK}])")


def with_punctuation(text: str) -> str:
    """The text with every punctuation mark a word of its own, as in texts that were cut into tokens."""
    return PUNCTUATION.sub(rf"{MARK}\1", text)


def unmarked(text: str) -> str:
    """A text or a word as it is written elsewhere: a mark is the character alone."""
    return text.replace(MARK, "")


@dataclass(frozen=True)
class Words:
    """A text and its words in order; ``text[starts[i]:ends[i]] == words[i]``.

    Upper and lower case make different words, as in ``lime``. What is costly is found on first use, since most
    explanations never ask for the offsets.
    """

    text: str

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def words(self) -> list[str]:
        """Every word in order."""
        return WORD.findall(self.text)

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Where each word starts, and where it ends, exclusive."""
        return [match.span() for match in WORD.finditer(self.text)]

    @cached_property
    def starts(self) -> list[int]:
        """Where each word starts."""
        return [start for start, _ in self.places]

    @cached_property
    def ends(self) -> list[int]:
        """Where each word ends, exclusive."""
        return [end for _, end in self.places]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each distinct word occurs, in the order of first occurrence."""
        counts: dict[str, int] = {}
        for word in self.words:
            counts[word] = counts.get(word, 0) + 1
        return counts

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The distinct words, in the order of first occurrence."""
        return tuple(self.counts)

    def spans(self) -> dict[str, list[tuple[int, int]]]:
        """For each distinct word, the (start, end) of every occurrence."""
        spans: dict[str, list[tuple[int, int]]] = {}
        for match in WORD.finditer(self.text):
            spans.setdefault(match.group(), []).append(match.span())
        return spans

    def keep(self, kept: Iterable[str]) -> str:
        """The text with only the kept words (all their occurrences) and everything between words."""
        wanted = set(kept)
        return WORD.sub(lambda match: match.group() if match.group() in wanted else "", self.text)


@lru_cache(maxsize=512)
def split_words(text: str) -> Words:
    """Splits a text at everything that is not a letter, digit or underscore, as ``lime`` does by default.

    Punctuation separates words too, but for marks that `with_punctuation` made words.

    The last few hundred results are kept, because every model and explainer asks for the same texts.
    """
    return Words(text)
