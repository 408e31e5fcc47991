"""What the primary analysis of a spec will ask, in the unit and the words of a plan."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from verax.errors import VeraxError
from verax.studies.model.spec import StudySpec
from verax.studies.planning.toy import planning_of


@dataclass(frozen=True)
class Question:
    """The comparison that the primary analysis makes for the first method.

    Attributes:
        protocol: the protocol's name.
        method: the condition that has the effect.
        reference: what it is compared with; None if its own Change is tested.
        comparisons: how many comparisons are corrected together.
        sessions: that everybody has, each with items of its own.
        unit: of effects: "points" of accuracy, or "hundredths of the score".
        within: whether people are compared with themselves.
    """

    protocol: str
    method: str
    reference: str | None
    comparisons: int
    unit: Literal["points", "hundredths of the score"]
    sessions: int = 1
    within: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the protocol says whether people are compared with themselves."""
        return {name: value for name, value in asdict(self).items() if name != "within"}

    def asked(self, items: int) -> str:
        """A number of items in words."""
        if self.sessions == 1:
            return f"{items} items"
        return f"{items} items ({items // self.sessions} in each of {self.sessions} sessions)"

    def sized(self, effect: float) -> str:
        """An effect in words."""
        return f"{effect:.3g} points" if self.unit == "points" else f"{effect / 100:.2f} in the mean score"

    def to_words(self) -> str:
        """What is tested."""
        if self.reference is None:
            return f"the Change of {self.method}"
        where = ", within people" if self.within else ""
        return f"{self.method} against {self.reference}{where}"


def question_of(spec: StudySpec) -> Question:
    """What the primary analysis of a spec will ask."""
    name = spec.protocol["name"]
    planning = planning_of(spec)
    kinds = {condition.name: condition.kind for condition in spec.conditions}
    methods = [condition for condition, kind in kinds.items() if kind == "method"] or list(kinds)
    plain = [condition for condition, kind in kinds.items() if kind == "none"]
    controls = [condition for condition, kind in kinds.items() if kind == "control"]
    unit: Literal["points", "hundredths of the score"] = (
        "hundredths of the score" if planning.graded else "points"
    )
    if planning.compared == "between":
        reference = plain[0] if plain and len(kinds) > 1 else None
        method = next(condition for condition in methods if condition != reference)
        return Question(name, method, reference, len(kinds) - (reference is not None), unit)
    if len(kinds) < 2:
        raise VeraxError(
            f"The spec has one condition, {next(iter(kinds))!r}: there is nothing to compare it with; add a control."
        )
    # Without a control two methods are compared, which is what is asked then.
    references = plain + controls + methods[1:]
    method = next(condition for condition in methods if condition != references[0])
    everything = plain or planning.beside_control == "everything"
    compared = len(kinds) - 1 if everything else len(methods)
    return Question(
        name,
        method,
        references[0],
        compared if plain or controls else 1,
        unit,
        planning.sessions,
        within=True,
    )
