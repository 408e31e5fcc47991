"""Whether the primary analysis hangs on one item, on one participant, on who is counted, or on late answers.

How the estimates are made anew differs between people (`verax.studies.analysis.between.varied_changes`) and within them
(`verax.studies.analysis.within.varied_differences`); what is made of them is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from verax.results.tables import Sources, Table, build_table, interval, number, text
from verax.results.units import Unit
from verax.studies.results.summary import AS_ANALYSED, WITHOUT_LATE, LeftOut, Sensitivity, Variant
from verax.text import counted, listed

ALONE = (
    "A conclusion turns where the interval of one line alone excludes 0 in one analysis and not in the other."
)


@dataclass(frozen=True)
class Claim:
    """One estimate with its own interval, as shares or scores; None where there is none."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None

    def sign(self, widened: float | None = None) -> int:
        """1 or -1 where the interval (if it is given, made so many times as wide) excludes 0, else 0."""
        if self.estimate is None or self.low is None or self.high is None:
            return 0
        low, high = self.low, self.high
        if widened is not None:
            margin = widened * (high - low) / 2
            low, high = self.estimate - margin, self.estimate + margin
        return int(low > 0) - int(high < 0)

    def variant(self, name: str, condition: str, unit: Unit, *, turns: bool) -> Variant:
        """The claim as the estimate of a variant."""
        return Variant(name, condition, unit.of(self.estimate), unit.interval(self.low, self.high), turns)


def left_out(
    what: str,
    condition: str,
    main: Claim,
    without: Mapping[str, Claim],
    unit: Unit,
    turns: Callable[[Claim], bool],
) -> LeftOut:
    """The lowest and highest estimate, and without which ones the interval's verdict is another.

    Args:
        what: "item" or "participant".
        condition: whose estimate.
        main: as analysed.
        without: the claims by who was left out.
        unit: of the estimates.
        turns: whether a claim has another verdict than the main one.
    """
    known = {who: claim for who, claim in without.items() if claim.estimate is not None}
    estimates = [unit.of(claim.estimate) or 0.0 for claim in known.values()]
    turned = tuple(who for who, claim in known.items() if turns(claim))
    return LeftOut(
        left_out=what,
        condition=condition,
        estimate=unit.of(main.estimate),
        lowest=min(estimates, default=None),
        highest=max(estimates, default=None),
        tried=len(known),
        turns=bool(turned),
        turned_by=turned[:10],
    )


@dataclass(frozen=True)
class _Line:
    condition: str
    variant: str
    estimate: float | None
    interval: Sequence[float] | None
    turns: str


def sensitivity_table(varied: Sensitivity) -> Table:
    """All variants in one table."""
    lines = [
        *(
            _of_variant(variant, _is_compared(varied))
            for variant in varied.variants
            if _is_shown(variant, varied)
        ),
        *(_of_left_out(each) for each in varied.leave_one_out),
    ]
    order = list(dict.fromkeys(line.condition for line in lines))
    sources: Sources[_Line] = (
        text("condition", "Condition", lambda line: line.condition),
        text("variant", "Analysed", lambda line: line.variant),
        number("estimate", "Estimate", lambda line: line.estimate, varied.unit),
        interval("interval", "95% interval, or range", lambda line: line.interval, varied.unit),
        text("turns", "Conclusion turns", lambda line: line.turns),
    )
    return build_table(
        "sensitivity",
        "Does the primary analysis hang on single people, items or decisions?",
        sorted(lines, key=lambda line: order.index(line.condition)),
        sources,
        _sentence(varied),
        [varied.turning or ALONE, *_without_change(varied.without_change or 0)],
    )


def _is_compared(varied: Sensitivity) -> bool:
    return any(variant.variant == AS_ANALYSED for variant in varied.variants)


def _is_shown(variant: Variant, varied: Sensitivity) -> bool:
    return variant.variant != WITHOUT_LATE or varied.late_answers > 0


def _of_variant(variant: Variant, compared: bool) -> _Line:
    turns = ("yes" if variant.turns else "no") if variant.variant != AS_ANALYSED and compared else ""
    return _Line(variant.condition, variant.variant, variant.estimate, variant.interval, turns)


def _of_left_out(each: LeftOut) -> _Line:
    return _Line(
        each.condition,
        f"each {each.left_out} left out in turn: lowest and highest estimate",
        each.estimate,
        None if each.lowest is None or each.highest is None else (each.lowest, each.highest),
        f"without {listed(each.turned_by[:3])}" if each.turns else "no",
    )


def _without_change(many: int) -> tuple[str, ...]:
    """Who is not even in the analysis of everybody."""
    if not many:
        return ()
    return (
        f"{counted(many, 'participant')} answered no item in both rounds and {'has' if many == 1 else 'have'} no "
        "change: counted only where missing second answers are no change.",
    )


def _sentence(varied: Sensitivity) -> str:
    if not _is_compared(varied):
        return (
            "Nobody is analysed per protocol: there is nothing that these estimates could be compared with."
        )
    turned: dict[str, list[str]] = {}
    for variant in varied.variants:
        if variant.turns and _is_shown(variant, varied):
            turned.setdefault(f"with {variant.variant}", []).append(variant.condition)
    for each in varied.leave_one_out:
        if each.turns:
            turned.setdefault(f"when one {each.left_out} is left out", []).append(each.condition)
    if turned:
        parts = listed([f"{how} ({listed(names)})" for how, names in turned.items()])
        return f"Some conclusions turn {parts}: they rest on little."
    if varied.leave_one_out and all(each.lowest is None for each in varied.leave_one_out):
        return "Nothing is claimed, so no conclusion can turn."
    return "No conclusion turns when one item or participant is left out, or when everybody who answered is counted."
