"""A page as a simulated person sees it, made of a screen or read from HTML.

Pages carry no ids. What tells one from another is what stands on it: the words of the inputs with their marks, the
fragments, the numbers. Class names are no part of that, since each participant has their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from verax.studies.definition.screen import (
    Bars,
    Block,
    Cell,
    Evidence,
    Facts,
    Passage,
    Quote,
    Row,
    Screen,
    Token,
    WordedExplanation,
    marked_classes,
    with_names,
)
from verax.studies.store.participant.posted import FIELD, part_of
from verax.text import always_signed

# Of questions that are neither a choice nor a text.
MORE_KINDS = ("several", "ranking", "number")


@dataclass(frozen=True)
class PageQuestion:
    """A question on a page.

    Attributes:
        name: of the question.
        labels: the words of its answers; none where a text is to be written.
        required: whether it must be answered.
        kind: "" where one of the answers is chosen or a text is written, else "several", "ranking" or "number".
        bounds: the lowest and the highest number, where there are any.
    """

    name: str
    labels: tuple[str, ...] = ()
    required: bool = True
    kind: str = ""
    bounds: tuple[float | None, float | None] = (None, None)


SOME = 0.4  # the share of answers that are chosen where several may be


def drawn_answer(asked: PageQuestion, share: Callable[[int], float]) -> dict[str, str]:
    """An answer by lot to a question that is neither a choice nor a text.

    Args:
        asked: the question.
        share: from 0 to 1, drawn for a number.
    """
    draws = {place: share(place) for place in range(1, len(asked.labels) + 1)}
    if asked.kind == "number":
        low, high = asked.bounds
        least = low if low is not None else (0.0 if high is None else min(0.0, high))
        most = high if high is not None else least + 100
        return {asked.name: str(math.floor(least + (most - least) * share(0)))}
    if asked.kind == "ranking":
        best_first = sorted(draws, key=draws.__getitem__)
        return {part_of(asked.name, place): str(rank) for rank, place in enumerate(best_first, 1)}
    chosen = [place for place, drawn in draws.items() if drawn < SOME] or [min(draws, key=draws.__getitem__)]
    return {part_of(asked.name, place): "1" for place in chosen}


@dataclass(frozen=True)
class Page:
    """What stands on a page.

    Attributes:
        kind: "welcome", "consent", "step", "complete" or the name of a notice.
        seen: inputs, fragments and numbers, as drawn, in order.
        quotes: explanations in words, which may name classes.
        facts: the pairs of a name and a value, such as the model's answer.
        questions: what is asked.
        hidden: fields that are sent back as they are.
        done, steps: how far the participant is.
        limit: seconds until the time of this page is over.
        closes: whether answers after that are not taken.
        words: how many there are to read.
        completion_code: on the last page.
        html: the page itself, for those who read all of it.
    """

    kind: str
    seen: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    questions: tuple[PageQuestion, ...] = ()
    hidden: Mapping[str, str] = field(default_factory=dict, hash=False)
    done: int = 0
    steps: int = 0
    limit: float | None = None
    closes: bool = False
    words: int = 0
    completion_code: str = ""
    html: str = field(default="", compare=False, repr=False)

    @property
    def ord(self) -> int:
        """Which step it is, from 1; 0 if it is none."""
        return int(self.hidden.get("ord", 0))


def drawn_page(screen: Screen, names: Sequence[str]) -> Page:
    """The page of a screen as the web draws it, for people who do without the web; of no step yet."""
    return Page(
        kind="step",
        seen=tuple(seen_on(screen)),
        quotes=tuple(with_names(quote, names) for quote in quotes_on(screen)),
        facts=tuple(
            (with_names(name, names), with_names(value, names))
            for block in screen.blocks
            if isinstance(block, Facts)
            for name, value in block.pairs
        ),
        questions=tuple(
            PageQuestion(
                question.name,
                tuple(with_names(option.label, names) for option in question.options),
                question.required,
                question.kind if question.kind in MORE_KINDS else "",
                (question.lowest, question.highest),
            )
            for question in screen.questions
        ),
        words=sum(len(piece.split()) for piece in (*seen_on(screen), *quotes_on(screen))),
    )


def seen_on(screen: Screen) -> Iterator[str]:
    """What `Page.seen` will be."""
    for block in screen.blocks:
        yield from _pieces(block)


def quotes_on(screen: Screen) -> Iterator[str]:
    """What `Page.quotes` will be, with marks in place of classes' names."""
    for block in screen.blocks:
        if isinstance(block, Quote):
            yield squeezed(block.text)
        elif isinstance(block, WordedExplanation):
            yield squeezed(block.plain(" "))


def marks(piece: Token | Cell) -> str:
    """The classes of a piece in the page's markup: how strongly it is marked, for what, and whether it was changed."""
    sign = "" if not piece.sign else " for" if piece.sign > 0 else " against"
    return f"h{piece.level}{sign}{' changed' if piece.changed else ''}"


def marked(classes: str, text: str) -> str:
    """A word with its marks, as one piece of what is seen."""
    return f"⟨{classes}⟩{text}"


def squeezed(text: str) -> str:
    """The text with its white space as browsers show it."""
    return " ".join(text.split())


def _pieces(block: Block) -> Iterator[str]:
    match block:
        case Passage():
            yield squeezed(
                "".join(
                    marked(marks(token), token.text) if token.word else token.text for token in block.tokens
                )
            )
        case Row():
            for cell in block.cells:
                yield squeezed(cell.column)
                yield squeezed(marked(marks(cell), cell.value))
        case Evidence():
            yield from map(squeezed, block.fragments)
        case Bars():
            shares = all(marked_classes(name) for name, _ in block.pairs)
            for _, value in block.pairs:
                yield f"{100 * value:.0f}%" if shares else always_signed(value)


def explains(screen: Screen) -> bool:
    """Whether an explanation stands on it: marks and their legend, scores, fragments, or somebody's words."""
    return any(_explains(block) for block in screen.blocks)


def _explains(block: Block) -> bool:
    match block:
        case Passage():
            return bool(block.legend) or any(token.level for token in block.tokens)
        case Row():
            return bool(block.legend) or any(cell.level for cell in block.cells)
        case Bars():
            return not all(marked_classes(name) for name, _ in block.pairs)
        case Evidence() | Quote() | WordedExplanation():
            return True
    return False


Attributes = list[tuple[str, str | None]]
Bounds = tuple[float | None, float | None]


def read_page(html: str) -> Page:
    """The page in an answer of the server."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return replace(reader.page(), html=html)


class _Reader(HTMLParser):
    """Collects what stands on a page; only tags that the pages of a study have are told apart."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._kind = ""
        self._seen: list[str] = []
        self._quotes: list[str] = []
        self._facts: list[tuple[str, str]] = []
        self._questions: list[tuple[str, list[str], bool, str, Bounds]] = []
        self._wanted = False  # whether the question that is being read must be answered
        self._hidden: dict[str, str] = {}
        self._progress = (0, 0)
        self._limit: float | None = None
        self._closes = False
        self._words = 0
        self._code = ""
        self._inside = ""  # what is being read: "input", "cells", "bars", "evidence" or nothing
        self._text: list[str] = []
        self._quoted = False  # inside an explanation in words, with paragraphs and tables of its own
        self._silent = 0  # how deep in words that only screen readers say

    def page(self) -> Page:
        """What was collected."""
        return Page(
            kind=self._kind or "notice",
            seen=tuple(self._seen),
            quotes=tuple(self._quotes),
            facts=tuple(self._facts),
            questions=tuple(
                PageQuestion(name, tuple(labels), required, kind, bounds)
                for name, labels, required, kind, bounds in self._questions
            ),
            hidden=self._hidden,
            done=self._progress[0],
            steps=self._progress[1],
            limit=self._limit,
            closes=self._closes,
            words=self._words,
            completion_code=self._code,
        )

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        """Begins what the tag begins."""
        if tag == "span":
            self._span(attrs)
            return
        about = dict(attrs)
        match tag:
            case "fieldset":
                self._wanted = "data-required" in about
            case "input" | "textarea" | "select" | "button":
                self._field(tag, about)
            case "form" if "data-step" in about:
                self._kind = "step"
            case "form" if not self._kind and (about.get("action") or "").endswith(("/enter", "/leave")):
                self._kind = "welcome"
            case "div" if about.get("data-code"):
                self._code, self._kind = about["data-code"] or "", "complete"
            case "div" if about.get("data-notice"):
                self._kind = about["data-notice"] or ""
            case "progress":
                self._progress = (int(about.get("value") or 0), int(about.get("max") or 0))
            case "p":
                self._paragraph(about)
            case "div" if "quote" in (about.get("class") or "").split():
                self._begin("input")
                self._quoted = True
            case "table" | "ul" if self._inside != "input":
                classes = (about.get("class") or "").split()
                self._inside = next((name for name in ("cells", "bars", "evidence") if name in classes), "")
            case "th" | "td" | "li" | "dt" | "dd" if self._inside != "input":
                self._text = []

    def handle_endtag(self, tag: str) -> None:
        """Keeps what the tag ends."""
        match tag:
            case "span":
                if self._silent:
                    self._silent -= 1
                elif self._inside == "label":
                    self._questions[-1][1].append(self._end())
            case "div" if self._inside == "input" and self._quoted:
                self._quoted = False
                self._quotes.append(self._end())
            case "p" if self._inside == "input" and not self._quoted:
                self._see()
            case "th" | "td" if self._inside == "cells":
                self._seen.append(self._taken())
            case "td" if self._inside == "bars" and (number := self._taken()):
                # The cell with the drawn bar has no words; some languages part the sign from the number.
                self._seen.append(number.replace(" %", "%"))
            case "li" if self._inside == "evidence":
                self._seen.append(self._taken())
            case "dt":
                self._facts.append((self._taken(), ""))
            case "dd":
                self._facts[-1] = (self._facts[-1][0], self._taken())
            case "table" | "ul" if self._inside != "input":
                self._inside = ""

    def handle_data(self, data: str) -> None:
        """Keeps the words, unless only screen readers say them."""
        if not self._silent:
            self._text.append(data)
            self._words += data.count(" ") + 1

    def _paragraph(self, about: dict[str, str | None]) -> None:
        classes = (about.get("class") or "").split()
        if "input" in classes:
            self._begin("input")
        elif "timer" in classes:
            self._limit, self._closes = float(about.get("data-seconds") or 0), "data-closes" in about

    def _span(self, attrs: Attributes) -> None:
        classes = attrs[0][1] or "" if attrs and attrs[0][0] == "class" else ""
        if self._silent or classes == "vh":
            self._silent += 1
        elif classes == "label":
            self._begin("label")
        elif classes.startswith("w ") and self._inside in ("input", "cells"):
            self._text.append(marked(classes[2:], ""))

    def _field(self, tag: str, about: dict[str, str | None]) -> None:
        name = about.get("name") or ""
        if about.get("type") == "hidden":
            self._hidden[name] = about.get("value") or ""
        elif tag == "button" and name == "consent":
            self._kind = "consent"
        elif name.startswith(FIELD):
            # Several answers, and places in a ranking, have a field each, called by the question and a number.
            asked = name[len(FIELD) :].split(".")[0]
            if self._questions and self._questions[-1][0] == asked:
                return
            kind, required = "", "required" in about
            if tag == "select" or about.get("type") == "checkbox":
                kind, required = "ranking" if tag == "select" else "several", self._wanted
            elif "data-lowest" in about:
                kind = "number"
            bounds = tuple(
                float(given) if (given := about.get(f"data-{end}")) else None for end in ("lowest", "highest")
            )
            self._questions.append((asked, [], required, kind, (bounds[0], bounds[1])))

    def _begin(self, what: str) -> None:
        self._inside, self._text = what, []

    def _end(self) -> str:
        self._inside = ""
        return self._taken()

    def _see(self) -> None:
        self._seen.append(self._end())

    def _taken(self) -> str:
        text, self._text = squeezed("".join(self._text)), []
        return text
