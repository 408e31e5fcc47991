"""Findings: what a benchmark or study found of one method by one measure, in tidy rows; and what rows say alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from verax.codec import decode, encode
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.figures import Figure, Interval, Intervals
from verax.results.tables import Sources, Table, build_table, count, interval, number, p_value, text
from verax.results.units import NONE, Unit
from verax.results.verdict import Judged, Reference, Sign, Verdict
from verax.run.canonical import canonical
from verax.stats.estimate import Estimate
from verax.stats.tests.differences import Difference

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "findings")

# Of the rows in a file; raised when what was written before cannot be read any more.
FORMAT = 1
# The benchmarks' ceilings read the model itself, "none" shows nothing, and two controls tell a benchmark whether it
# works: none of them is a method that is compared.
NOT_COMPARED = ("ground-truth", "oracle", "none", "shuffled", "random, again")
# The method that chooses at random, which every other one should be better than.
FLOOR = "random"


@dataclass(frozen=True)
class Finding:
    """What was found of one method by one measure.

    Attributes:
        method: the explainer, with its parameters.
        measure: what was measured, in words.
        estimate: None where there is none.
        low, high: of its interval; None without one.
        level: coverage of the interval.
        unit: of the numbers.
        n: how many independent units it rests on.
        counted: what these are: "stains", "participants".
        p: of the test behind the sign, alone; None where nothing was tested.
        p_adjusted: the same, corrected within its family.
        family: what the correction is over, and how it is made.
        better: whether more of the measure is better, or less.
        compared_with: what the test compares with: "random", "none"; empty without one.
        sign: whether the method is shown to do what was asked, does a part of it, does not, or nothing is shown.
        source: with or without people.
        name: of the benchmark ("stain") or of the study's protocol ("forward").
        title: what readers call the run or the study.
        dataset, model: on which; several have commas between.
        scope: "overall" for what is compared with other benchmarks and studies, "part" for one model or dataset.
        simulated: whether its people were bots.
        label: what the method is called there, such as a condition of a study; empty where that is its name.
        rests_on: n in words, where more is to be said.
        key: of what it was computed from: a study's hash, or a hash of a run's spec and data.
    """

    method: str
    measure: str
    estimate: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    unit: Unit = NONE
    n: int = 0
    counted: str = ""
    p: float | None = None
    p_adjusted: float | None = None
    family: str = ""
    better: Literal["higher", "lower"] = "higher"
    compared_with: str = ""
    sign: Sign = "open"
    source: Literal["benchmark", "study"] = "benchmark"
    name: str = ""
    title: str = ""
    dataset: str = ""
    model: str = ""
    scope: Literal["overall", "part"] = "overall"
    simulated: bool = False
    label: str = ""
    rests_on: str = ""
    key: str = ""

    @property
    def called(self) -> str:
        """What the method is called where this was found."""
        return self.label or self.method

    @property
    def place(self) -> str:
        """The model and the dataset, in words."""
        return ", ".join(filter(None, (self.model, self.dataset)))

    @property
    def resting(self) -> str:
        """What it rests on, in words."""
        return self.rests_on or (f"{self.n} {self.counted}" if self.counted else "")


def to_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """A row for each finding, a column for each of its attributes."""
    import pandas as pd

    columns = list(Finding.__dataclass_fields__)
    rows = [asdict(one) | {"unit": str(one.unit)} for one in findings]
    return pd.DataFrame(rows, columns=columns)


def findings_json(findings: Iterable[Finding]) -> dict[str, object]:
    """What a summary.json holds of findings."""
    return {"findings_format": FORMAT, "findings": encode(list(findings))}


def read_findings(summary: Mapping[str, object], place: str) -> tuple[Finding, ...] | None:
    """The findings of a summary.json; None where it was written without any.

    Raises:
        VeraxError: They are of another version, or not what findings are.
    """
    given = summary.get("findings")
    if given is None:
        return None
    if summary.get("findings_format") != FORMAT:
        raise VeraxError(
            f"{place} has findings of format {summary.get('findings_format')!r}, and this version of Verax reads "
            f"{FORMAT}; make the run or the analysis again with this version."
        )
    if not isinstance(given, list):
        raise VeraxError(f"{place}: findings is no list; make the run or the analysis again.")
    return tuple(decode(Finding, one, f"{place}: findings[{number}]") for number, one in enumerate(given))


def bare_name(label: str) -> str:
    """An explainer's name without package and parameters: "lime(samples=1000)" is "lime"."""
    return label.split("(", 1)[0].rsplit(":", 1)[-1].strip()


def is_compared(method: str) -> bool:
    """Whether a method is an explainer, and not a ceiling or nothing at all."""
    return bare_name(method) not in NOT_COMPARED


def content_key(*parts: object) -> str:
    """A hash of plain data that something was computed from."""
    return hashlib.sha256(canonical(list(parts), "what was computed").encode()).hexdigest()[:16]


def with_estimate(made: Finding, given: Estimate) -> Finding:
    """A finding with an estimate of shares or scores, in the finding's unit."""
    unit = made.unit
    return replace(
        made,
        estimate=unit.of(given.mean),
        low=unit.of(given.low),
        high=unit.of(given.high),
        level=given.level,
        n=given.n,
    )


def against_random(made: Finding, tested: Sequence[Sequence[Difference]], family: str) -> Finding:
    """A finding with whether its method is ahead of random with every model that differences were tested on.

    Ahead of random everywhere needs every single test, so that the largest p is that of the claim.

    Args:
        made: the finding so far.
        tested: the differences between methods with each model.
        family: over what their p-values are corrected.
    """
    against = [
        each
        for differences in tested
        for each in differences
        if each.p_holm is not None and {each.first, each.second} == {made.method, FLOOR}
    ]
    if not against:
        return made
    ahead = [each.verdict == ("first" if each.first == made.method else "second") for each in against]
    return replace(
        made,
        sign="yes" if all(ahead) else "open" if any(ahead) else "no",
        p=max((each.p for each in against if each.p is not None), default=None),
        p_adjusted=max(each.p_holm or 0.0 for each in against),
        family=family,
        compared_with=FLOOR,
    )


def findings_verdict(findings: Sequence[Finding]) -> Verdict:
    """Which methods are shown to be better than what they are compared with, by the first measure, the best first."""
    overall = [one for one in findings if one.scope == "overall"]
    own = [one for one in overall if one.measure == overall[0].measure]
    methods = [one for one in own if is_compared(one.method) and bare_name(one.method) != FLOOR]
    if not methods:
        return Verdict(say("nothing-compared"), (), "")
    first = methods[0]
    sign = -1 if first.better == "higher" else 1
    ranked = sorted(methods, key=lambda one: float("inf") if one.estimate is None else sign * one.estimate)
    against = next((one.compared_with for one in methods if one.compared_with), "")
    floor = next((one.estimate for one in own if bare_name(one.method) == FLOOR), None)
    return Verdict(
        sentence=_sentence(ranked, against),
        judged=tuple(
            Judged(
                one.called,
                one.sign,
                say("judged-without-estimate")
                if one.estimate is None
                else say(f"judged-{one.sign}", against=against or say("what-was-asked")),
                one.estimate,
                one.low,
                one.high,
            )
            for one in ranked
        ),
        measure=_in_unit(first),
        rests_on=(say("rests-on", what=first.resting),) if first.resting else (),
        reference=None if floor is None else Reference(FLOOR, floor),
        decimals=first.unit.decimals,
    )


def _sentence(ranked: Sequence[Finding], against: str) -> str:
    first = ranked[0]
    if first.estimate is None:
        return say("no-estimates", measure=first.measure)
    if not against:
        best = f"{first.unit.number(first.estimate)} {first.unit}".strip()
        return say("not-tested", name=first.called, measure=first.measure, best=best)
    shown = [one.called for one in ranked if one.sign == "yes"]
    return say("better" if shown else "none-better", names=shown, against=against, measure=first.measure)


def _in_unit(finding: Finding) -> str:
    """What was measured, with its unit."""
    return f"{finding.measure} ({finding.unit})" if finding.unit else finding.measure


def findings_table(findings: Sequence[Finding], key: str, title: str) -> Table:
    """Findings by one measure, a row each."""
    unit, level = findings[0].unit, f"{findings[0].level:.0%}"
    sources: Sources[Finding] = (
        text("method", say("column-method"), lambda one: one.called),
        *(
            (text("dataset", say("column-dataset"), lambda one: one.dataset),)
            if _differ(findings, "dataset")
            else ()
        ),
        *((text("model", say("column-model"), lambda one: one.model),) if _differ(findings, "model") else ()),
        number("estimate", say("column-estimate"), lambda one: one.estimate, unit),
        interval(
            "interval",
            say("column-interval", level=level),
            lambda one: (one.low, one.high),
            unit,
        ),
        p_value("p_adjusted", say("column-p-adjusted"), lambda one: one.p_adjusted),
        p_value("p", say("column-p"), lambda one: one.p),
        text("compared_with", say("column-against"), lambda one: one.compared_with),
        text("sign", say("column-sign"), lambda one: say(f"sign-{one.sign}") if one.compared_with else ""),
        count("n", say("column-n"), lambda one: one.n or None),
    )
    counted = dict.fromkeys(one.counted for one in findings if one.counted)
    families = dict.fromkeys(one.family for one in findings if one.family)
    notes = [
        say(f"better-{findings[0].better}"),
        *(say("note-n", what=one) for one in counted),
        *(say("note-family", what=one) for one in families),
    ]
    return build_table(key, title, findings, sources, "", notes)


def findings_figure(findings: Sequence[Finding], key: str, title: str) -> Figure:
    """The same as dots with their intervals."""
    floor = next((one.estimate for one in findings if bare_name(one.method) == FLOOR), None)
    rows = tuple(
        Interval(one.called, one.estimate, one.low, one.high) for one in findings if one.estimate is not None
    )
    said = say("figure", floor="none" if floor is None else FLOOR)
    return Figure(key, title, Intervals(_in_unit(findings[0]), floor, rows), said)


def overview(findings: Sequence[Finding]) -> tuple[list[Table], list[Figure]]:
    """For each measure a table and a figure of what is overall, and a table of the parts."""
    tables: list[Table] = []
    figures: list[Figure] = []
    for scope in ("overall", "part"):
        own = [one for one in findings if one.scope == scope]
        for place, measure in enumerate(dict.fromkeys(one.measure for one in own)):
            rows = [one for one in own if one.measure == measure]
            title = f"{measure[:1].upper()}{measure[1:]}"
            if scope == "part":
                title = say("title-part", measure=title)
            tables.append(findings_table(rows, f"{scope}-{place}", title))
            if scope == "overall":
                figures.append(findings_figure(rows, f"{scope}-{place}", title))
    return tables, figures


def _differ(findings: Sequence[Finding], name: str) -> bool:
    return len({getattr(one, name) for one in findings}) > 1
