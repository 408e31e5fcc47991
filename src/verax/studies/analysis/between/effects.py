"""Change per condition and its contrast with no explanation, by the crossed estimator: the primary analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.units import POINTS
from verax.stats.crossed.between import changes, contrasts, contrasts_with
from verax.stats.crossed.result import Crossed
from verax.studies.analysis.between.change_sentence import primary_sentence
from verax.studies.analysis.between.pairs import as_responses
from verax.studies.analysis.primary import estimate_of
from verax.studies.results.summary import Primary
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items
    from verax.studies.model.spec_tables import Condition

PRACTICE = (
    "Change alone includes practice: without a condition that shows no explanation, it cannot be told what the "
    "explanations did."
)


@dataclass(frozen=True)
class Effects:
    """What the crossed estimator says.

    Attributes:
        changes: Post - Pre by condition, in the order of the spec; Holm over all of them.
        against: Change minus that of the control, for each other condition; Dunnett over all conditions of the spec,
            also those that nobody met. Empty without a control.
        control: the condition without explanations that has people, if any.
        items: whether the claims are about items like these or about these items only.
        family: comparisons with the control that Dunnett's correction counts.
    """

    changes: dict[str, Crossed]
    against: dict[str, Crossed]
    control: str | None
    items: Items
    family: int

    @property
    def primary(self) -> dict[str, Crossed]:
        """The claims of the primary analysis, by condition."""
        return self.against if self.control is not None else self.changes


def effects(pairs: pd.DataFrame, conditions: Sequence[Condition], items: Items, level: float) -> Effects:
    """Estimates Change by condition and, where somebody saw no explanations, the contrasts with them."""
    rows = as_responses(pairs)
    there = [condition for condition in conditions if condition.name in rows.methods]
    plain = next((condition.name for condition in there if condition.kind == "none"), None)
    control = plain if len(there) > 1 else None
    by_name = {change.name: change for change in changes(rows, items, level=level)}
    against: dict[str, Crossed] = {}
    family = len(conditions) - 1
    if control is not None:
        others = [name for name in rows.methods if name != control]
        named = dict(
            zip(others, contrasts_with(rows, control, items, level=level, family=family), strict=True)
        )
        against = {condition.name: named[condition.name] for condition in there if condition.name != control}
    changed = {condition.name: by_name[condition.name] for condition in there}
    return Effects(changed, against, control, items, family)


def pair_contrasts(
    pairs: pd.DataFrame, named: Sequence[tuple[str, str]], items: Items, level: float
) -> dict[tuple[str, str], Crossed]:
    """How much more the first condition of each pair changes accuracy than the second, corrected together by Holm."""
    if not named:
        return {}
    return dict(zip(named, contrasts(as_responses(pairs), named, items, level=level), strict=True))


def primary_changes(effects: Effects, conditions: Sequence[Condition] = ()) -> Primary:
    """The primary analysis: the contrast with no explanation where there is one, else Change.

    Args:
        effects: the estimates.
        conditions: of the study; if one of them shows no explanation and has nobody, Change only stands in.
    """
    ending = "change" if effects.control is None else f"vs-{effects.control}"
    estimates = tuple(
        estimate_of(name, f"{name}-{ending}", effect, POINTS) for name, effect in effects.primary.items()
    )
    measure = _measure(effects.control)
    sentence = primary_sentence(estimates, effects.control)
    if effects.control is not None:
        return Primary(measure, POINTS, sentence, estimates)
    lost_control = any(condition.kind == "none" for condition in conditions) and len(conditions) > 1
    return Primary(measure, POINTS, f"{sentence} {PRACTICE}", estimates, stands_in=lost_control)


def _measure(control: str | None) -> str:
    """What is measured, in a few words; the table of contrasts says it in full."""
    return (
        "change of accuracy, practice included" if control is None else "accuracy gained over no explanation"
    )


def effect_problems(effects: Effects, conditions: Sequence[Condition]) -> list[str]:
    """What the study has and these answers cannot say."""
    said = []
    absent = [condition.name for condition in conditions if condition.name not in effects.changes]
    if absent:
        said.append(f"Nobody in {_conditions(absent)} is analysed: nothing is estimated of {_it(absent)}.")
    planned = next((condition.name for condition in conditions if condition.kind == "none"), None)
    if planned in effects.changes and effects.control is None:
        said.append(f"Only the condition {planned!r} is analysed: there is nothing to compare with it.")
    elif planned in absent:
        said.append(
            f"The condition {planned!r} is empty, so Change is reported in place of the contrast with it. {PRACTICE}"
        )
    for name, claim in effects.primary.items():
        if claim.se is None and claim.estimate is not None:
            said.append(f"{name}: no interval and no test. {listed(claim.warnings)}")
    return said


def _conditions(names: list[str]) -> str:
    return f"the condition{'s' if len(names) > 1 else ''} {listed(names)}"


def _it(names: list[str]) -> str:
    return "them" if len(names) > 1 else "it"
