"""A page as a simulated person sees it, read from HTML or made of a screen.

Pages carry no ids. What tells one from another is what stands on it: the words of the inputs with their marks, the
fragments, the numbers. Class names are no part of that, since each participant has their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verax.studies.model.screen import (
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
    Told,
    marked_classes,
    with_names,
)
from verax.text import always_signed


@dataclass(frozen=True)
class Asked:
    """A question on a page.

    Attributes:
        name: of the question.
        labels: the words of its answers; none where a text is to be written.
        required: whether it must be answered.
    """

    name: str
    labels: tuple[str, ...] = ()
    required: bool = True


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
    questions: tuple[Asked, ...] = ()
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
            Asked(
                question.name,
                tuple(with_names(option.label, names) for option in question.options),
                question.required,
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
        elif isinstance(block, Told):
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
                yield f"{100 * value:.0f} %" if shares else always_signed(value)


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
        case Evidence() | Quote() | Told():
            return True
    return False
