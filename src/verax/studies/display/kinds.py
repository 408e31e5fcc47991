"""Which kind of explanation a condition shows, and how that kind is read."""

from __future__ import annotations

from collections.abc import Iterator

from verax.explain.composite import Composite
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import Exemplar, Path, Rule, Written
from verax.studies.display.legends import DECIDES_BY_EXAMPLES, SEVERAL, Kind, legend_of_kind
from verax.studies.display.terms import terms
from verax.studies.display.weights import weights_legend_of_all
from verax.studies.model.sources import Material

KINDS: tuple[tuple[type[Explanation], Kind], ...] = (
    (Rule, "rule"),
    (Path, "path"),
    (Exemplar, "exemplar"),
    (Composite, "composite"),
    (Written, "written"),
)
# Models whose names begin so decide by how similar an input is to their prototypes.
PROTOTYPE_MODELS = "prototype-"


def shown_kind(material: Material, condition: str) -> Kind:
    """The kind of explanations that a condition shows; all of one condition are of one kind."""
    first = next(_explanations(material, condition), None)
    kind = None if first is None else _kind_of(first)
    return material.spec.method_of(condition).display if kind is None else kind


def reading_lines(material: Material, condition: str) -> tuple[str, ...]:
    """How a condition's explanations are read, where they are no marks: a line, or several for several parts."""
    kind, words = shown_kind(material, condition), terms(material)
    if kind == "composite":
        parts = _parts(material, condition).items()
        return (
            SEVERAL,
            *(f"- {name}: {line}" for name, part in parts if (line := _part_line(material, part))),
        )
    if kind == "weights":
        return (weights_legend_of_all(words.pieces, material.class_names),)
    if kind == "written":
        line = next(
            (one.legend for one in _explanations(material, condition) if isinstance(one, Written)), ""
        )
    else:
        line = legend_of_kind(kind, words)
    if kind == "exemplar" and _decides_by_examples(material, condition):
        line = f"{line} {DECIDES_BY_EXAMPLES}"
    return (line,) if line else ()


def _explanations(material: Material, condition: str) -> Iterator[Explanation]:
    return (shown for (_, name, _), shown in material.explanations.items() if name == condition)


def _kind_of(explanation: Explanation) -> Kind | None:
    """The kind of an explanation in words; None for scores, which a condition shows in one way or another."""
    return next((kind for sort, kind in KINDS if isinstance(explanation, sort)), None)


def _parts(material: Material, condition: str) -> dict[str, Explanation]:
    """By name, the first explanation of each part that any composite of the condition has."""
    found: dict[str, Explanation] = {}
    for shown in _explanations(material, condition):
        for part in shown.parts if isinstance(shown, Composite) else ():
            found.setdefault(part.name, part.explanation)
    return found


def _part_line(material: Material, part: Explanation) -> str:
    words = terms(material)
    if isinstance(part, Attribution):
        return weights_legend_of_all(words.pieces, material.class_names)
    if isinstance(part, Written):
        return part.legend
    kind = _kind_of(part)
    return "" if kind is None else legend_of_kind(kind, words, in_composite=True)


def _decides_by_examples(material: Material, condition: str) -> bool:
    model = material.spec.method_of(condition).model or material.spec.model
    return str(model).startswith(PROTOTYPE_MODELS)
