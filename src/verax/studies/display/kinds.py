"""Which kind of explanation a condition shows, and how that kind is read."""

from __future__ import annotations

from typing import Literal

from verax.explain.composite import Composite
from verax.explain.exemplar import Exemplar
from verax.explain.explanation import Explanation
from verax.explain.path import Path
from verax.explain.rule import Rule
from verax.explain.written import Written
from verax.studies.display.weights import weights_legend
from verax.studies.display.written_block import legend_of
from verax.studies.model.sources import Material

# "marks" are highlights on the input; "written" is whatever somebody wrote or imported.
Kind = Literal["marks", "weights", "rule", "path", "exemplar", "composite", "written"]


def shown_kind(material: Material, condition: str) -> Kind:
    """The kind of explanations that a condition shows; all of one condition are of one kind."""
    match first_explanation(material, condition):
        case Rule():
            return "rule"
        case Path():
            return "path"
        case Exemplar():
            return "exemplar"
        case Composite():
            return "composite"
        case Written():
            return "written"
        case _:
            return material.spec.method_of(condition).display


def first_explanation(material: Material, condition: str) -> Explanation | None:
    """An explanation of a condition."""
    return next((shown for (_, name, _), shown in material.explanations.items() if name == condition), None)


def reading_lines(material: Material, condition: str) -> tuple[str, ...]:
    """How a condition's explanations are read, where they are no marks: a line, or several for several parts."""
    pieces = "words" if material.kind == "text" else "values"
    shown = first_explanation(material, condition)
    if isinstance(shown, Composite):
        parts = [(part.name, _line(part.explanation, material, pieces)) for part in shown.parts]
        return (legend_of(shown), *(f"- {name}: {line}" for name, line in parts if line))
    line = "" if shown is None else _line(shown, material, pieces)
    return (line,) if line else ()


def _line(shown: Explanation, material: Material, pieces: str) -> str:
    if isinstance(shown, Written):
        return shown.legend
    return legend_of(shown) or weights_legend(pieces, 1, material.class_names)
