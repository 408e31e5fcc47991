"""What one screen shows and asks: plain data, frozen in the study's folder, drawn by the web layer.

A class is never named in a screen: it is written as `class_mark(number)`, and each participant's own names (the real
ones, or neutral ones in a masked task) take its place when the page is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar, Literal

from verax.codec import decode, encoded, written

# Importance is shown in so many steps above "none".
LEVELS = 4
BUTTON = "Continue"
_CLASS_MARK = re.compile("⟦([0-9]+)⟧")


def class_mark(number: int) -> str:
    """The place holder of a class in any text of a screen."""
    return f"⟦{number}⟧"


def marked_classes(text: str) -> set[int]:
    """The classes that a text of a screen names."""
    return {int(number) for number in _CLASS_MARK.findall(text)}


def fits(text: str, shown: str) -> bool:
    """Whether this is what the text looks like to somebody, with any names in place of the classes' marks."""
    pattern = ".+?".join(map(re.escape, _CLASS_MARK.split(text)[::2]))
    return re.fullmatch(pattern, shown, re.DOTALL) is not None


def with_names(text: str, names: Sequence[str]) -> str:
    """The text with each class called by its name."""
    for number, name in enumerate(names):
        text = text.replace(class_mark(number), name)
    return text


@dataclass(frozen=True)
class Token:
    """A piece of a text as written, spaces included; only pieces that are words bear marks.

    Attributes:
        text: the characters.
        word: whether it is a word (every word gets the same markup, marked or not).
        level: 0 (unmarked) to `LEVELS`.
        sign: 1 speaks for the target, -1 against it, 0 where the direction must not show.
        changed: whether a perturbation put it there.
    """

    text: str
    word: bool = True
    level: int = 0
    sign: int = 0
    changed: bool = False


@dataclass(frozen=True)
class Prose:
    """Paragraphs; a paragraph that begins with "- " is a point of a list."""

    paragraphs: tuple[str, ...]
    title: str = ""

    type: ClassVar[str] = "prose"
    JSON: ClassVar = (..., "type")


@dataclass(frozen=True)
class Passage:
    """A text, perhaps highlighted."""

    tokens: tuple[Token, ...]
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "passage"
    JSON: ClassVar = (..., "type")


@dataclass(frozen=True)
class Cell:
    """One column of a row; the marks mean what they mean in a `Token`."""

    column: str
    value: str
    level: int = 0
    sign: int = 0
    changed: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table, perhaps highlighted."""

    cells: tuple[Cell, ...]
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "row"
    JSON: ClassVar = (..., "type")


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and a value: the true label, the model's output."""

    pairs: tuple[tuple[str, str], ...]
    title: str = ""

    type: ClassVar[str] = "facts"
    JSON: ClassVar = (..., "type")


@dataclass(frozen=True)
class Evidence:
    """Fragments of an input; an empty list is said to be empty."""

    fragments: tuple[str, ...]
    title: str = ""

    type: ClassVar[str] = "evidence"
    JSON: ClassVar = (..., "type")


@dataclass(frozen=True)
class Quote:
    """A text that is shown as it was written, with its spaces and line breaks: an explanation in somebody's words."""

    text: str
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "quote"
    JSON: ClassVar = (..., "type")


@dataclass(frozen=True)
class Lines:
    """Lines of an explanation in the study's own words, perhaps below a heading; classes are written as their marks."""

    text: str
    heading: str = ""


@dataclass(frozen=True)
class Excerpt:
    """A text within an explanation, shown as it is: its pieces, each with whether a change put it there."""

    pieces: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Grid:
    """A small table within an explanation: a header, which may be empty, and rows that begin with their name."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


WordedPart = Lines | Excerpt | Grid


@dataclass(frozen=True)
class WordedExplanation:
    """An explanation that is worded here, part by part, so that no character of a text can be taken for layout.

    Changed words are bold and between stars, as published, or else in boxes.
    """

    parts: tuple[WordedPart, ...]
    title: str = ""
    legend: str = ""
    starred: bool = True

    type: ClassVar[str] = "told"
    JSON: ClassVar = (..., "type")

    def plain(self, joint: str) -> str:
        """All of it as lines, with what was changed between stars and this between the cells of tables."""
        return "\n".join(line for part in self.parts for line in _plain_lines(part, joint))


def starred(pieces: Sequence[tuple[str, bool]]) -> str:
    """A text with what was changed between stars, as Hase and Bansal (2020) showed it."""
    return "".join(f"**{text}**" if changed else text for text, changed in pieces)


def _plain_lines(part: WordedPart, joint: str) -> list[str]:
    match part:
        case Lines():
            return [line for line in (part.heading, part.text) if line]
        case Excerpt():
            return [starred(part.pieces)]
        case Grid():
            return [joint.join(row) for row in (part.header, *part.rows) if row]


@dataclass(frozen=True)
class Bars:
    """Numbers beside names, as bars with their value: class probabilities from 0 to 1, or scores with a sign."""

    pairs: tuple[tuple[str, float], ...]
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "bars"
    JSON: ClassVar = (..., "type")


Block = Prose | Passage | Row | Facts | Evidence | Quote | WordedExplanation | Bars


# What is stored of an answer.
Meaning = str | int | float


@dataclass(frozen=True)
class Option:
    """One answer: what the participant reads, and what is stored. The page holds only its place in the list."""

    label: str
    means: Meaning


@dataclass(frozen=True)
class Question:
    """Something to answer.

    Attributes:
        name: the key of the answer in a response: "prediction", "rating", "strategy".
        prompt: the question.
        kind: "choice" (big buttons), "scale" (a row of points with words at its ends), "several" (any number of the
            answers), "ranking" (all of them, best first), "number", "line" (a short text) or "text".
        options: the answers of a choice, a scale, several or a ranking, in order.
        low, high: words at the ends of a scale.
        required: whether it must be answered.
        fixed_order: whether its answers stand in this order for everybody; others are counterbalanced between
            participants (`verax.studies.design`).
        lowest, highest: of a number.
        whole: whether a number has no decimals.
        in_matrix: a line of a table of questions, whose answers stand once above all lines.
    """

    name: str
    prompt: str
    kind: Literal["choice", "scale", "text", "line", "number", "several", "ranking"] = "choice"
    options: tuple[Option, ...] = ()
    low: str = ""
    high: str = ""
    required: bool = True
    fixed_order: bool = False
    # Older studies, which have none of these, stay as they are.
    lowest: float | None = field(default=None, metadata=written(when=lambda one: one.kind == "number"))
    highest: float | None = field(default=None, metadata=written(when=lambda one: one.kind == "number"))
    whole: bool = field(default=False, metadata=written(when=lambda one: one.kind == "number"))
    in_matrix: bool = field(default=False, metadata=written(when=lambda one: one.in_matrix))

    @property
    def in_own_words(self) -> bool:
        """Whether the answer is written freely, so that it may tell who somebody is."""
        return self.kind in ("text", "line")

    @property
    def one_of_them(self) -> bool:
        """Whether the answer is one of the options."""
        return self.kind in ("choice", "scale")


@dataclass(frozen=True)
class Screen:
    """Everything on one page.

    Attributes:
        heading: one line at the top.
        blocks: what is shown, in order.
        questions: what is asked; none means only a button to go on.
        echo: the name of the question of the step before whose answer is shown here ("You said ...").
        button: the words on the button.
        paired: whether its answers speak of its inputs in order, the first of the one on the left: where answers are
            read from the other end, the inputs change places with them.
        survey: whether nothing is shown but questions, which are then read from top to bottom.
    """

    heading: str
    blocks: tuple[Block, ...] = ()
    questions: tuple[Question, ...] = ()
    echo: str = ""
    button: str = BUTTON
    # Older studies, which have no such pairs, stay as they are.
    paired: bool = field(default=False, metadata=written(when=lambda screen: screen.paired))
    survey: bool = field(default=False, metadata=written(when=lambda screen: screen.survey))


def read_screen(data: dict[str, Any]) -> Screen:
    """The screen that a study's folder holds."""
    blocks = [_block_of_today(block) for block in data["blocks"]]
    return decode(Screen, {**data, "blocks": blocks}, "a screen")


def _block_of_today(block: dict[str, Any]) -> dict[str, Any]:
    if not block.get("names_classes"):
        return block
    return encoded(told_in_tabs(block["text"], block["title"], block["legend"]))


def told_in_tabs(text: str, title: str, legend: str) -> WordedExplanation:
    """What studies hold that were built when tables were lines with tabs, with one before a header's first cell."""
    parts: list[WordedPart] = []
    for is_table, run in groupby(text.split("\n"), key=lambda line: "\t" in line):
        lines = list(run)
        if not is_table:
            parts += [Lines(said)] if (said := "\n".join(lines).strip("\n")) else []
            continue
        header = lines.pop(0)[1:].split("\t") if lines[0].startswith("\t") else []
        parts.append(Grid(tuple(header), tuple(tuple(line.split("\t")) for line in lines)))
    return WordedExplanation(tuple(parts), title, legend)
