"""Explanations side by side, shown: on one self-contained page, and in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from verax.errors import VeraxError
from verax.explain.description import Conditions, DescriptionPart, Grid, Heading, Passage
from verax.phrases import say as say_phrase
from verax.reporting.comparison import (
    Comparison,
    Entry,
    FeatureLine,
    Mark,
    ScoredEntry,
    Segment,
    Subject,
    agreement,
    aligned,
    decimals,
    facts,
    how,
    in_table,
    ranked,
    scored,
    segments,
    signed,
    verdict,
)
from verax.results.tables import heading, rows_of
from verax.results.verdict import has_intervals
from verax.text import MINUS, visible

say = partial(say_phrase, "explanations")

# How many features stand open in the table of a text; the rest can be unfolded, up to the most that are listed.
BARS, MOST = 8, 200
CLASSES_ON_PAGE = 6
# So many methods beside each other; the next ones go below, so that nothing is cut on a phone and on paper.
BESIDE = 4


def write_page(path: Path, comparisons: Sequence[Comparison], title: str, made_by: str = "") -> None:
    """Writes the page, and the folder it lies in if that does not exist."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        path.write_bytes(render_page(comparisons, title, made_by).encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The page cannot be written to {str(path)!r} ({error.strerror}); choose another file."
        ) from error


def render_page(comparisons: Sequence[Comparison], title: str, made_by: str = "") -> str:
    """The page as HTML.

    Args:
        comparisons: what to show, one section each.
        title: the heading.
        made_by: the command that made the page, shown at the end.
    """
    from verax.reporting.page import (
        page_script,
        page_style,
    )  # which takes time to import, and a terminal has no page

    template = page_environment().get_template("comparison.html")
    page = template.render(
        comparisons=comparisons, title=title, made_by=made_by, style=page_style(), script=page_script()
    )
    return str(page)


@cache
def page_environment() -> Any:
    """Jinja's environment with the templates of all reports, and what they call."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("verax.reporting"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "agreement": agreement,
        "aligned": aligned,
        "blocks": blocks,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "decimals": decimals,
        "facts": facts,
        "has_intervals": has_intervals,
        "headings": lambda table: [heading(column) for column in table.columns],
        "how": how,
        "in_table": in_table,
        "number": number,
        "ranked": ranked,
        "rows": rows_of,
        "score": score,
        "scored": scored,
        "segments": segments,
        "verdict": verdict,
    }
    environment.globals |= {"bars": BARS, "classes": CLASSES_ON_PAGE, "most": MOST, "say": say_phrase}
    return environment


def blocks(methods: Sequence[ScoredEntry]) -> list[list[int]]:
    """The places of methods that stand beside each other in a table."""
    places = list(range(len(methods)))
    return [places[start : start + BESIDE] for start in range(0, len(places), BESIDE)]


def score(value: float, digits: int) -> str:
    """A score as the page prints it, with a true minus sign."""
    return signed(value, digits).strip().replace("-", MINUS)


def number(value: float, digits: int = 0) -> str:
    """A number with thousands set apart."""
    return f"{value:,.{digits}f}".replace("-", MINUS)


# Two hues that colour-blind people can tell apart, legible on black and on white.
FOR, AGAINST = "#2a8fd6", "#d55e00"
# Longer texts are cut in the terminal; the page shows all.
LONGEST_TEXT = 700
# Nobody reads more classes than this; the explained and the true one are always among them.
CLASSES_IN_TERMINAL = 4
NARROWEST_FEATURE, WIDEST_FEATURE = 12, 32


def render_terminal(comparison: Comparison, top: int, width: int, *, details: bool = False) -> RenderableType:
    """Every input of a comparison, for a console of this width; with details, how each explanation was made."""
    parts: list[RenderableType] = [
        Text(say("heading", model=comparison.model, dataset=comparison.dataset), style="bold reverse")
    ]
    parts += [Text(note, style="dim") for note in comparison.notes]
    for subject in comparison.subjects:
        parts += ["", *_subject(subject, top, width)]
        if details:
            parts += [Padding(_details(subject), (1, 0, 0, 2), expand=False)]
    return Group(*parts)


def legend() -> Text:
    """What the marks mean."""
    return Text.assemble(
        f"{say('legend-marks')} ",
        ("[+word]", FOR),
        f" {say('legend-for')} ",
        ("[-word]", AGAINST),
        f" {say('legend-against')} ",
        ("[++word]", f"bold underline {FOR}"),
        f" {say('legend-strongest')}",
    )


def _subject(subject: Subject, top: int, width: int) -> Iterator[RenderableType]:
    yield Text.assemble((subject.title, "bold"), ": ", clean(verdict(subject)))
    yield Padding(_probabilities(subject), (0, 0, 0, 2), expand=False)
    methods = scored(subject)
    if not methods:
        yield Padding(_input(subject), (1, 0, 0, 2), expand=False)
    elif isinstance(subject.input, str):
        yield Padding(_texts(methods, top), (1, 0, 0, 2), expand=False)
    columns = in_table(methods)
    lines = aligned(columns)[:top]
    for block in _blocks(columns, _feature_width(lines), width - 2):
        yield Padding(_scores(columns, block, lines), (1, 0, 0, 2), expand=False)
    for entry in subject.entries:
        if entry.attribution is None:
            yield Padding(in_words(entry), (1, 0, 0, 2), expand=False)
    if any(entry.fragments is not None for entry in subject.entries):
        yield Padding(_fragments(subject), (1, 0, 0, 2), expand=False)
    yield Padding(clean(agreement(subject)), (1, 0, 0, 2), expand=False)


def _input(subject: Subject) -> Text:
    """The input itself, where no method marks it."""
    text = subject.input if isinstance(subject.input, str) else "\n".join(subject.input)
    return marked_text([Segment(text, None)])


def _fragments(subject: Subject) -> Table:
    """Evidence beside counter-evidence, a line for each method."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    target = clean(subject.class_names[subject.target])
    for head in ("", say("column-for", answer=target), say("column-against", answer=target)):
        table.add_column(Text(head), overflow="fold")
    for entry in subject.entries:
        if entry.fragments is not None:
            sides = (entry.fragments.evidence, FOR), (entry.fragments.counter_evidence, AGAINST)
            shown = [
                Text(" / ".join(clean(part.text).replace("\n", " ") for part in side) or "–", style=hue)
                for side, hue in sides
            ]
            table.add_row(Text(entry.name, style="bold"), *shown)
    return table


def _details(subject: Subject) -> Table:
    """How each explanation was made."""
    grid = Table.grid(padding=(0, 2))
    for entry in subject.entries:
        said = "; ".join(f"{name}: {value}" for name, value in facts(entry.explanation).items())
        grid.add_row(Text(entry.name, style="bold"), Text(said or "–", style="dim"))
    return grid


def _probabilities(subject: Subject) -> Table:
    grid = Table.grid(padding=(0, 1))
    shown = subject.likeliest(CLASSES_IN_TERMINAL)
    for number in shown:
        probability = subject.probabilities[number]
        note = say("explained-class") if number == subject.target else ""
        # A model of numbers has one "class", and no share of a bar.
        bar = "█" * round(20 * probability) if len(subject.class_names) > 1 else ""
        grid.add_row(clean(subject.class_names[number]), f"{probability:.3f}", bar, note)
    if len(shown) < len(subject.class_names):
        grid.add_row(say("more-classes", more=len(subject.class_names) - len(shown)))
    return grid


def in_words(entry: Entry) -> Group:
    """An explanation that is not scores, in words."""
    parts: list[RenderableType] = [Text(entry.name, style="bold")]
    parts += [_part(part) for part in entry.account]
    ms = f"{1000 * entry.cost.seconds:.1f}"
    cost = say("cost", rows=entry.cost.rows, ms=ms, how=how(entry.explanation) or "none")
    return Group(*parts, Text(cost, style="dim"))


def _part(part: DescriptionPart) -> RenderableType:
    if isinstance(part, Conditions):
        return Text("\n".join(f"{place}. {clean(item)}" for place, item in enumerate(part.items, start=1)))
    if isinstance(part, Passage):
        text = Text()
        for piece, changed in part.pieces:
            text.append(f"**{clean(piece)}**" if changed else clean(piece), style="bold" if changed else "")
        return Padding(text, (0, 0, 0, 2), expand=False)
    if isinstance(part, Grid):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_header=bool(part.header))
        for place in range(max(map(len, part.rows), default=0)):
            table.add_column(part.header[place] if part.header else "", overflow="fold")
        for row in part.rows:
            table.add_row(*(Text(clean(cell)) for cell in row))
        return table
    return Text(clean(part.text), style="bold" if isinstance(part, Heading) else "")


def _texts(scored: Sequence[ScoredEntry], top: int) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", max_width=20)
    grid.add_column(overflow="fold")
    for entry in scored:
        grid.add_row(Text(entry.name), marked_text(segments(entry.attribution, top)))
    return grid


def marked_text(pieces: Sequence[Segment]) -> Text:
    """A text as written with its marked words in brackets, cut where it gets too long."""
    text, left = Text(), LONGEST_TEXT
    for piece in pieces:
        shown = clean(piece.text[:left])
        if shown:
            text.append(_bracketed(shown, piece.mark), style=_style(piece.mark))
        left -= len(shown)
    rest = sum(len(piece.text) for piece in pieces) - LONGEST_TEXT
    if rest > 0:
        text.append(f" ... ({say('text-cut', more=rest)})", style="dim")
    return text


def _bracketed(shown: str, mark: Mark | None) -> str:
    if mark is None:
        return shown
    return f"[{('+' if mark.sign > 0 else '-') * (2 if mark.strong else 1)}{shown}]"


def _style(mark: Mark | None) -> str:
    if mark is None or mark.sign == 0:
        return ""
    hue = FOR if mark.sign > 0 else AGAINST
    return f"bold underline {hue}" if mark.strong else hue


def _blocks(methods: Sequence[ScoredEntry], used: int, width: int) -> Iterator[list[int]]:
    """The places of as many methods as fit beside each other, then of the next ones, which go below."""
    block: list[int] = []
    left = width - used - 2
    for place, method in enumerate(methods):
        needed = _column_width(method) + 2
        if block and needed > left:
            yield block
            block, left = [], width - used - 2
        block.append(place)
        left -= needed
    if block:
        yield block


def _feature_width(lines: Sequence[FeatureLine]) -> int:
    widths = [min(WIDEST_FEATURE, cell_len(line.feature)) for line in lines]
    return max([NARROWEST_FEATURE, *widths])


def _column_width(method: ScoredEntry) -> int:
    return max(cell_len(method.name), 16)


def _scores(methods: Sequence[ScoredEntry], block: Sequence[int], lines: Sequence[FeatureLine]) -> Table:
    """A line per feature: each method's score, and in brackets its rank."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", width=_feature_width(lines))
    shown = [methods[place] for place in block]
    for method in shown:
        table.add_column(Text(method.name), width=_column_width(method), overflow="fold")
    for line in lines:
        feature = Text(clean(line.feature).replace("\n", " "), no_wrap=True, overflow="ellipsis")
        table.add_row(feature, *(_cell(methods[place], line.marks[place]) for place in block))
    table.add_section()
    if any(method.entry.fall is not None for method in shown):
        falls = [_points(method.entry.fall) for method in shown]
        table.add_row(say("row-fall"), *falls, style="bold")
    table.add_row(say("row-rows"), *(f"{method.attribution.cost.rows:,}" for method in shown), style="dim")
    table.add_row(
        say("row-ms"), *(f"{1000 * method.attribution.cost.seconds:.1f}" for method in shown), style="dim"
    )
    table.add_row(say("row-how"), *(Text(how(method.attribution) or "–") for method in shown), style="dim")
    return table


def _points(fall: float | None) -> str:
    return "–" if fall is None else f"{fall:.1f}"


def _cell(method: ScoredEntry, mark: Mark | None) -> Text:
    """A score with its rank; what a method says nothing of is a dash."""
    if mark is None:
        return Text("–", style="dim")
    cell = Text(signed(mark.score, decimals(method.attribution)), style=_style(mark))
    if mark.sign:
        cell.append(f" ({mark.rank})", style="dim not underline not bold")
    return cell


def clean(text: str) -> str:
    """A text that only shows characters, with pictures in place of control characters."""
    return visible(text)
