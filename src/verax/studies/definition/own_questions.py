"""Questions of one's own: what a spec may ask beside a protocol, each entry a page of its own.

Scales that others have made and published are ready: `BLOCKS`. Their words stand in the phrase file ``questions.ftl``,
so that a study in another language asks in it; how they are scored stands here. The pages: `own_pages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from verax.studies.definition.spec_tables import SpecTable

# Where pages stand: before all else, before the first part, after the last; any other place is a part's key.
FIRST, BEFORE, AFTER, EACH = "first", "before", "after", "each"
BlockName = Literal[
    "trust-short",
    "trust",
    "nasa-tlx",
    "sus",
    "explanation-satisfaction",
    "demographics",
    "attention-check",
]
Kind = Literal["choice", "several", "scale", "number", "short-text", "long-text", "ranking", "matrix"]
Score = Literal["mean", "sum", "percent", "none"]
NAME = r"^[a-z][a-z0-9-]*$"
CHECK = "check"


@dataclass(frozen=True)
class Block:
    """A published scale.

    Attributes:
        items: how many there are; their words are the phrase ``<name>-items``.
        values: what the points of the scale mean, in order.
        worded: whether each point has words of its own, the phrase ``<name>-answers``; else words stand at the ends.
        reverse: the items, from 1, in which agreement means less of what is measured.
        score: how items make one number.
        source: who made it.
    """

    items: int
    values: tuple[int, ...]
    source: str
    worded: bool = False
    reverse: tuple[int, ...] = ()
    score: Score = "mean"


BLOCKS: Mapping[str, Block] = {
    "trust-short": Block(
        3,
        tuple(range(1, 8)),
        "S-TIAS: McGrath, Lack, Tisch and Duenser (2025), Frontiers in Artificial Intelligence 8; items of Jian, "
        "Bisantz and Drury (2000)",
    ),
    "trust": Block(
        12,
        tuple(range(1, 8)),
        "Jian, Bisantz and Drury (2000), International Journal of Cognitive Ergonomics 4",
        reverse=(1, 2, 3, 4, 5),
    ),
    "nasa-tlx": Block(
        6,
        tuple(range(0, 101, 5)),
        "raw TLX: Hart and Staveland (1988); unweighted as in Hart (2006)",
    ),
    "sus": Block(
        10,
        tuple(range(1, 6)),
        "System Usability Scale: Brooke (1996), in Usability Evaluation in Industry",
        reverse=(2, 4, 6, 8, 10),
        score="percent",
    ),
    "explanation-satisfaction": Block(
        8,
        tuple(range(1, 6)),
        "Hoffman, Mueller, Klein and Litman (2018), Metrics for Explainable AI, arXiv 1812.04608",
        worded=True,
    ),
}
# What is stored of answers about oneself, whichever language they are given in.
DEMOGRAPHICS: Mapping[str, tuple[str, ...]] = {
    "gender": ("woman", "man", "non-binary", "other", "unsaid"),
    "education": ("primary", "secondary", "vocational", "bachelor", "master", "doctorate", "unsaid"),
}
INSTRUCTED = 4  # the answer for which the page "attention-check" asks
OWN_ENDS = ("nasa-tlx",)  # each item has words of its own at the ends of its scale


class ShownIf(SpecTable):
    """When a page is shown: after certain answers to an earlier question, or in certain conditions.

    Attributes:
        question: the earlier one, by its name.
        answers: of which one was given.
        at_least, at_most: of a number.
        condition: the conditions in which it is asked; between people only.
    """

    question: str = ""
    answers: tuple[str, ...] = ()
    at_least: float | None = None
    at_most: float | None = None
    condition: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _says_something(self) -> ShownIf:
        asks = bool(self.answers) or self.at_least is not None or self.at_most is not None
        if bool(self.question) != asks:
            raise ValueError("shown_if needs a question and its answers (or at_least, at_most of a number)")
        if not self.question and not self.condition:
            raise ValueError("shown_if is empty; name a question with answers, or a condition")
        return self


class OwnQuestion(SpecTable):
    """One page: a question, a table of questions (``kind = "matrix"``), or a ready-made block.

    Attributes:
        name: in the data: a-z, 0-9 and -; the block's name if empty.
        kind: what is asked for.
        block: a ready-made page in place of all that; see docs/questions.md.
        question: what is asked, or said above a matrix.
        answers: of a choice, several, a ranking; of a scale or a matrix the words of its points, from low to high.
        items: the lines of a matrix; pairs of words make a semantic differential: ``[["bad", "good"]]``.
        points: of a scale or a matrix whose points are numbered.
        low, high: words at the ends of numbered points.
        lowest, highest, whole: of a number.
        reverse: lines of a matrix, from 1, in which a high answer means less.
        score: of a scale or a matrix, how its answers make one number: their mean, their sum, or 0 to 100.
        correct: of a choice that checks attention: the answer that it asks for.
        attention: of a matrix or a scale block: adds a line that asks for a certain answer.
        about: what a block speaks of; "the model" if empty.
        required: whether it must be answered.
        place: "first" (before the instructions), "before" (the first part), "after" (the last), "each" (after every
            part with scored answers), or the key of a part, after which it is asked.
        shown_if: when it is shown; always unless given.
    """

    name: str = Field(default="", pattern=rf"{NAME}|^$")
    kind: Kind = "choice"
    block: BlockName | None = None
    question: str = ""
    answers: tuple[str, ...] = ()
    items: tuple[str | tuple[str, str], ...] = ()
    points: int | None = Field(default=None, ge=2, le=21)
    low: str = ""
    high: str = ""
    lowest: float | None = None
    highest: float | None = None
    whole: bool = True
    reverse: tuple[int, ...] = ()
    score: Score = "mean"
    correct: str | None = None
    attention: bool = False
    about: str = ""
    required: bool = True
    place: str = AFTER
    shown_if: ShownIf | None = None

    @model_serializer(mode="wrap")
    def _what_is_said(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        written: dict[str, object] = write(self)
        return {name: written[name] for name in type(self).model_fields if name in self.model_fields_set}

    @model_validator(mode="after")
    def _is_whole(self) -> OwnQuestion:
        if self.block is not None:
            said = {"kind", "question", "answers", "items", "points", "low", "high", "reverse", "score"}
            if extra := sorted(said & self.model_fields_set):
                raise ValueError(f"the block {self.block!r} has its own {extra[0]}; leave one of them out")
            if self.attention and self.block not in BLOCKS:
                raise ValueError(f"the block {self.block!r} has no lines to which a check could be added")
            return self
        if not self.name:
            raise ValueError("a question needs a name, under which its answers are exported; add one")
        if not self.question and self.kind != "matrix":
            raise ValueError(f"{self.name!r} asks nothing; write its question")
        self._check_answers()
        self._check_numbers()
        if self.correct is not None and (self.kind != "choice" or self.correct not in self.answers):
            raise ValueError(f"{self.correct!r} is no answer to the choice {self.name!r}; name one of them")
        if self.attention and self.kind != "matrix":
            raise ValueError("attention adds a line to a matrix; for a choice, write which answer is correct")
        return self

    def _check_answers(self) -> None:
        if self.kind in ("choice", "several", "ranking") and len(self.answers) < 2:
            raise ValueError(
                f"{self.name!r} has {('no answers', 'one answer')[len(self.answers)]} to choose from; write two or more"
            )
        if self.kind in ("scale", "matrix") and (self.points is None) == (len(self.answers) < 2):
            raise ValueError(
                f"the {self.kind} {self.name!r} needs points (a number), or answers (words), and not both"
            )
        if self.kind in ("number", "short-text", "long-text") and self.answers:
            raise ValueError(
                f"{self.name!r} is answered freely; leave its answers out, or choose another kind"
            )
        if len(set(self.answers)) < len(self.answers):
            raise ValueError(f"two answers to {self.name!r} are the same")
        if (self.kind == "matrix") != bool(self.items):
            raise ValueError(f"{self.name!r}: a matrix has items (its lines), and nothing else has")

    def _check_numbers(self) -> None:
        if self.kind != "number" and (self.lowest is not None or self.highest is not None):
            raise ValueError(f"{self.name!r} is no number; leave lowest and highest out")
        if self.lowest is not None and self.highest is not None and self.lowest > self.highest:
            raise ValueError(f"no number is at least {self.lowest:g} and at most {self.highest:g}")
        wrong = [line for line in self.reverse if not 1 <= line <= len(self.items)]
        if wrong:
            raise ValueError(f"{self.name!r} has {len(self.items)} items, and none has the number {wrong[0]}")

    @property
    def own_name(self) -> str:
        """Its name in the data."""
        return self.name or str(self.block)

    @property
    def screen(self) -> str:
        """The key of its screen."""
        return f"own:{self.own_name}"


class Quota(SpecTable):
    """How many people who answered a question in a certain way are taken, of all who complete the study or are in it.

    Attributes:
        question: a choice that is asked ``first``.
        most: by answer; answers that are not named have no limit.
    """

    question: str
    most: dict[str, Annotated[int, Field(ge=0)]] = Field(min_length=1)


@dataclass(frozen=True)
class ScoredScale:
    """How the answers to one page make one number.

    Attributes:
        name: of the page.
        items: the questions.
        reverse: those of them that count the other way round.
        low, high: the ends of each item's scale.
        score: their "mean", "sum", or 0 to 100 ("percent").
        source: who made the scale; empty for one's own.
    """

    name: str
    items: tuple[str, ...]
    reverse: frozenset[str]
    low: float
    high: float
    score: Score
    source: str = ""


def scored_scales(questions: Sequence[OwnQuestion]) -> Iterator[ScoredScale]:
    """The scales that a spec asks for, in its order."""
    for asked in questions:
        name = asked.own_name
        if asked.block is not None and asked.block in BLOCKS:
            block = BLOCKS[asked.block]
            items = tuple(f"{name}-{item}" for item in range(1, block.items + 1))
            back = frozenset(f"{name}-{item}" for item in block.reverse)
            yield ScoredScale(name, items, back, block.values[0], block.values[-1], block.score, block.source)
        elif asked.block is None and asked.kind in ("scale", "matrix") and asked.score != "none":
            lines = range(1, len(asked.items) + 1)
            items = tuple(f"{name}-{line}" for line in lines) if asked.items else (name,)
            back = frozenset(f"{name}-{line}" for line in asked.reverse)
            yield ScoredScale(name, items, back, 1, asked.points or len(asked.answers), asked.score)
