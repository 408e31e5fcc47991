"""What findings say when nobody says it for them: a verdict, a table and a figure, made of the rows alone."""

from __future__ import annotations

from collections.abc import Sequence

from verax.results.figures import Figure, Interval, Intervals
from verax.results.findings import FLOOR, Finding, bare_name, is_compared
from verax.results.tables import Sources, Table, build_table, count, interval, number, p_value, text
from verax.results.verdict import Judged, Reference, Verdict
from verax.text import listed

WORDS = {
    "yes": "better than {}",
    "part": "better than {} in part",
    "no": "not shown to be better than {}",
    "open": "nothing shown",
}
SIGNS = {"yes": "yes", "part": "in part", "no": "no", "open": "open"}


def findings_verdict(findings: Sequence[Finding]) -> Verdict:
    """Which methods are shown to be better than what they are compared with, by the first measure, the best first."""
    overall = [one for one in findings if one.scope == "overall"]
    own = [one for one in overall if one.measure == overall[0].measure]
    methods = [one for one in own if is_compared(one.method) and bare_name(one.method) != FLOOR]
    if not methods:
        return Verdict("No method was compared.", (), "")
    first = methods[0]
    sign = -1 if first.better == "higher" else 1
    ranked = sorted(methods, key=lambda one: float("inf") if one.estimate is None else sign * one.estimate)
    against = next((one.compared_with for one in methods if one.compared_with), "")
    floor = next((one.estimate for one in own if bare_name(one.method) == FLOOR), None)
    unit = f" ({first.unit})" if first.unit else ""
    return Verdict(
        sentence=_sentence(ranked, against),
        judged=tuple(
            Judged(
                one.called,
                one.sign,
                "no estimate"
                if one.estimate is None
                else WORDS[one.sign].format(against or "what was asked"),
                one.estimate,
                one.low,
                one.high,
            )
            for one in ranked
        ),
        measure=f"{first.measure}{unit}",
        rests_on=(f"It rests on {first.resting}.",) if first.resting else (),
        reference=None if floor is None else Reference(FLOOR, floor),
        decimals=first.unit.decimals,
    )


def _sentence(ranked: Sequence[Finding], against: str) -> str:
    first = ranked[0]
    if first.estimate is None:
        return f"There is no estimate of {first.measure} for any method."
    if not against:
        best = f"{first.unit.number(first.estimate)}{f' {first.unit}' if first.unit else ''}"
        return f"Nothing was tested; {first.called} comes first by {first.measure}, with {best}."
    shown = [one.called for one in ranked if one.sign == "yes"]
    if not shown:
        return f"No method is shown to be better than {against} by {first.measure}."
    verb = "is" if len(shown) == 1 else "are"
    return f"{listed(shown)} {verb} shown to be better than {against} by {first.measure}."


def findings_table(findings: Sequence[Finding], key: str, title: str) -> Table:
    """Findings by one measure, a row each."""
    unit = findings[0].unit
    sources: Sources[Finding] = (
        text("method", "Method", lambda one: one.called),
        *((text("dataset", "Dataset", lambda one: one.dataset),) if _differ(findings, "dataset") else ()),
        *((text("model", "Model", lambda one: one.model),) if _differ(findings, "model") else ()),
        number("estimate", "Estimate", lambda one: one.estimate, unit),
        interval("interval", f"{findings[0].level:.0%} interval", lambda one: (one.low, one.high), unit),
        p_value("p_adjusted", "p, corrected", lambda one: one.p_adjusted),
        p_value("p", "p, alone", lambda one: one.p),
        text("compared_with", "Better than", lambda one: one.compared_with),
        text("sign", "Shown", lambda one: SIGNS[one.sign] if one.compared_with else ""),
        count("n", "n", lambda one: one.n or None),
    )
    better = "More is better." if findings[0].better == "higher" else "Less is better."
    counted = dict.fromkeys(one.counted for one in findings if one.counted)
    families = dict.fromkeys(one.family for one in findings if one.family)
    notes = [
        better,
        *(f"n counts {one}." for one in counted),
        *(f"Corrected over {one}." for one in families),
    ]
    return build_table(key, title, findings, sources, "", notes)


def findings_figure(findings: Sequence[Finding], key: str, title: str) -> Figure:
    """The same as dots with their intervals."""
    unit = findings[0].unit
    label = f"{findings[0].measure} ({unit})" if unit else findings[0].measure
    floor = next((one.estimate for one in findings if bare_name(one.method) == FLOOR), None)
    rows = tuple(
        Interval(one.called, one.estimate, one.low, one.high) for one in findings if one.estimate is not None
    )
    said = "" if floor is None else f" The upright line is {FLOOR}."
    return Figure(
        key, title, Intervals(label, floor, rows, unit), f"Points are estimates, lines their intervals.{said}"
    )


def overview(findings: Sequence[Finding]) -> tuple[list[Table], list[Figure]]:
    """For each measure a table and a figure of what is overall, and a table of the parts."""
    tables: list[Table] = []
    figures: list[Figure] = []
    for scope in ("overall", "part"):
        own = [one for one in findings if one.scope == scope]
        for place, measure in enumerate(dict.fromkeys(one.measure for one in own)):
            rows = [one for one in own if one.measure == measure]
            title = f"{measure[:1].upper()}{measure[1:]}{', with each model and dataset' if scope == 'part' else ''}"
            tables.append(findings_table(rows, f"{scope}-{place}", title))
            if scope == "overall":
                figures.append(findings_figure(rows, f"{scope}-{place}", title))
    return tables, figures


def _differ(findings: Sequence[Finding], name: str) -> bool:
    return len({getattr(one, name) for one in findings}) > 1
