"""Single items, as Hase and Bansal (2020) read them in section 6: right answers before and after, what was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verax.studies.analysis.between.pairs import POST, PRE, answers_as_published, complete_pairs, paired
from verax.studies.model.screen import Bars, Block, Evidence, Passage, Quote, Row, Told, with_names
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocol.findings import Analysed
from verax.studies.protocol.surroundings import participant_steps
from verax.studies.results.item_results import ItemCounts, ItemResult
from verax.text import always_signed

if TYPE_CHECKING:
    from verax.studies.model.item import Item
    from verax.studies.model.study import Study


def item_results(data: Analysed) -> tuple[ItemResult, ...]:
    """Every item that somebody answered both times, also of people who left early, in the order of the study."""
    both = complete_pairs(paired(answers_as_published(data), data.scored))
    counted = both.groupby(["item", "condition"])[[PRE, POST]].agg(["sum", "count"])
    shown = _shown(data.study)
    changes = make_protocol(data.study.spec.protocol).asks_about_changes
    found = []
    for name, item in data.study.items.items():
        counts = tuple(
            ItemCounts(
                condition.name,
                people=int(counted.loc[(name, condition.name), (POST, "count")]),
                before=int(counted.loc[(name, condition.name), (PRE, "sum")]),
                after=int(counted.loc[(name, condition.name), (POST, "sum")]),
                explanation=shown.get((name, condition.name), ""),
            )
            for condition in data.conditions
            if (name, condition.name) in counted.index
        )
        if counts:
            found.append(_result(data.study, item, counts, changes=changes))
    return tuple(found)


def _result(study: Study, item: Item, counts: tuple[ItemCounts, ...], *, changes: bool) -> ItemResult:
    names = study.class_names
    # Imported items of a forward test may have a changed version, which nobody is asked about there.
    variant = item.variant if changes else None
    asked = item.prediction if variant is None else variant.prediction
    return ItemResult(
        item=item.id,
        input=_written(item.input),
        label=names[item.label],
        prediction=names[item.prediction],
        changed="" if variant is None else _written(variant.input),
        right=names[asked],
        counts=counts,
    )


def _written(given: str | Sequence[tuple[str, str]]) -> str:
    return given if isinstance(given, str) else "; ".join(f"{column}: {value}" for column, value in given)


def _shown(study: Study) -> dict[tuple[str, str], str]:
    """By item and condition: the explanation on the page of the second time; every row of the design shows its own."""
    found = {}
    for row in study.rows:
        for step in participant_steps(study, row, 1):
            if step.phase == POST and step.item is not None and step.condition is not None:
                screen = study.screens.get(step.screen)  # a study simulated for planning has none
                if screen is not None:
                    found[step.item, step.condition] = explanation_in_words(screen.blocks, study.class_names)
    return found


def explanation_in_words(blocks: Sequence[Block], names: Sequence[str]) -> str:
    """What a page shows beside an input: numbers, words, fragments; where there are none, what is highlighted."""
    said = [
        words for block in blocks if (words := with_names(_in_words(block), names)) and not _is_input(block)
    ]
    marked = [words for block in blocks if _is_input(block) and (words := _marks(block))]
    return "; ".join(said or marked)


def _is_input(block: Block) -> bool:
    return isinstance(block, Passage | Row)


def _in_words(block: Block) -> str:
    match block:
        case Bars():
            return ", ".join(f"{name} {always_signed(value)}" for name, value in block.pairs)
        case Quote():
            return block.text
        case Told():
            return block.plain(" | ")
        case Evidence():
            fragments = " | ".join(block.fragments) or "none"
            return f"{block.title}: {fragments}" if block.title else fragments
        case _:
            return ""


def _marks(block: Block) -> str:
    """The highlighted pieces, strongest first, with + or - where the direction shows."""
    pieces: list[tuple[int, int, str]] = []
    if isinstance(block, Passage):
        pieces = [(token.level, token.sign, token.text.strip()) for token in block.tokens if token.level]
    elif isinstance(block, Row):
        pieces = [
            (cell.level, cell.sign, f"{cell.column}: {cell.value}") for cell in block.cells if cell.level
        ]
    ranked = sorted(pieces, key=lambda piece: -piece[0])
    signs = {1: "+", -1: "\N{MINUS SIGN}", 0: ""}
    said = dict.fromkeys(f"{text} ({signs[sign]}{level})" for level, sign, text in ranked)
    return "highlighted, with the strength of 4: " + ", ".join(said) if said else ""
