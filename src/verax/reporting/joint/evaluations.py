"""Every benchmark and study in which explainers were compared, from their findings; and the verdict over all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from verax.benchmarks.measures.findings import BENCHMARK as MEASURES
from verax.benchmarks.measures.findings import ORDER, VALUE
from verax.benchmarks.planted_cells import ALL
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.findings import FLOOR, Finding, bare_name, is_compared, read_findings
from verax.results.units import Unit
from verax.results.verdict import Judged, Reference, Sign, Verdict
from verax.stats.thresholds import ALPHA
from verax.text import listed

say = partial(say_phrase, "joint")


@dataclass(frozen=True)
class Standing:
    """How one explainer did in one evaluation.

    Attributes:
        explainer: its name without parameters, by which evaluations are matched.
        label: its name in that evaluation.
        estimate, low, high: with a 95% interval; None where there is none.
        rests_on: on what, in words.
        parts: estimates of the parts that were averaged, by name.
        sign: whether it is shown, after correction, to beat random (benchmarks) or to help people (studies).
        p: what the sign rests on, corrected within its evaluation; None where nothing was tested.
    """

    explainer: str
    label: str
    estimate: float
    low: float | None
    high: float | None
    rests_on: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    sign: Sign = "open"
    p: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """A benchmark run or a study, with everybody who was evaluated.

    Attributes:
        name: what to call it.
        kind: with or without people; or an automatic measure, whose values claim nothing.
        folder: where it lies.
        measure: what was measured.
        unit: of the estimates.
        simulated: whether its people were bots.
        higher_is_better: whether more of the measure is better.
        standings: one per explainer.
        order: of an automatic measure: tau between its order of explanations of known quality and the truth's, with
            the ends of its interval; None of anything else.
    """

    name: str
    kind: Literal["benchmark", "study", "measure"]
    folder: str
    measure: str
    unit: Unit
    simulated: bool
    higher_is_better: bool
    standings: tuple[Standing, ...]
    order: tuple[float, float | None, float | None] | None = None


def read_evaluations(folders: Sequence[Path]) -> tuple[list[Evaluation], list[str]]:
    """The evaluations of all folders, and sentences on what was left out of them."""
    if not folders:
        raise VeraxError("No folder was given; name at least one benchmark run or analysed study.")
    evaluations: list[Evaluation] = []
    notes: list[str] = []
    for folder in folders:
        own, said = evaluations_of(read_folder(folder), folder)
        evaluations += own
        notes += said
    claiming = sum(evaluation.kind != "measure" for evaluation in evaluations)
    return _named_apart([_in_family(evaluation, claiming) for evaluation in evaluations]), notes


def _in_family(evaluation: Evaluation, evaluations: int) -> Evaluation:
    """The evaluation with claims that hold together with those of the others: Bonferroni over evaluations.

    What one sentence says of explainers in several evaluations is one family of claims.
    """
    return replace(
        evaluation,
        standings=tuple(
            replace(standing, sign="open")
            if standing.p is not None and standing.p <= ALPHA < evaluations * standing.p
            else standing
            for standing in evaluation.standings
        ),
    )


def read_folder(folder: Path) -> tuple[Finding, ...]:
    """The findings of a benchmark run or of an analysed study; anything else is a sentence."""
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise VeraxError(_no_summary(folder)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise VeraxError(f"{path} cannot be read ({error}); make the run or the analysis again.") from error
    if not isinstance(summary, dict) or not ("benchmark" in summary or summary.get("kind") == "study"):
        raise VeraxError(
            f"{path} is neither of a benchmark (verax bench) nor of an analysed study (verax study analyze)."
        )
    found = read_findings(summary, str(path))
    if found is None:
        raise VeraxError(
            f"{path} was written by an older version of Verax and has no findings; repeat the command that made it "
            "with the same folder. A finished run computes nothing again."
        )
    return found


def _no_summary(folder: Path) -> str:
    if not folder.is_dir():
        return f"There is no folder {str(folder)!r}; name folders of benchmark runs and of analysed studies."
    inside = sorted(path.parent for path in folder.glob("*/summary.json"))
    if inside:
        return f"{str(folder)!r} has no summary.json of its own; name {listed([str(path) for path in inside], most=3)}."
    if (folder / "study.json").exists() or (folder / "spec.toml").exists():
        return f"{str(folder)!r} holds a study that is not analysed; run verax study analyze {folder} first."
    return (
        f"{str(folder)!r} holds no summary.json, so it is neither a finished benchmark run nor an analysed study; "
        "name folders of verax bench or verax study analyze."
    )


def evaluations_of(findings: Sequence[Finding], folder: Path) -> tuple[list[Evaluation], list[str]]:
    """One evaluation for each measure of a run or a study; methods without an estimate are named."""
    note = partial(say, folder=str(folder), study=any(one.source == "study" for one in findings))
    overall = [one for one in findings if one.scope == "overall" and is_compared(one.method)]
    notes, evaluations = [], []
    if not overall:
        notes.append(note("note-no-estimate"))
    for measure in dict.fromkeys(one.measure for one in overall):
        own = [one for one in overall if one.measure == measure]
        missing = [one.called for one in own if one.estimate is None]
        if missing:
            notes.append(note("note-missing", names=missing))
        known = [one for one in own if one.estimate is not None]
        names, twice = _names({one.called: one.method for one in known})
        notes += [note("note-twice", name=name) for name in twice]
        parts = [one for one in findings if one.scope == "part" and one.measure == measure]
        averaged = _averaged(parts, [one.method for one in known])
        places = len(dict.fromkeys(one.place for one in parts))
        if known and len(averaged) < places:
            notes.append(note("note-places", left_out=places - len(averaged), places=places))
        if known:
            first = known[0]
            standings = tuple(_standing(one, names[one.called], parts, averaged) for one in known)
            evaluations.append(
                Evaluation(
                    first.title or first.name,
                    "measure" if first.name == MEASURES and measure.startswith(VALUE) else first.source,
                    str(folder),
                    measure,
                    first.unit,
                    first.simulated,
                    first.better == "higher",
                    standings,
                    _known_order(findings, first.title),
                )
            )
    return evaluations, notes


def _known_order(
    findings: Sequence[Finding], measure: str
) -> tuple[float, float | None, float | None] | None:
    """How far a measure orders explanations of known quality as the truth does."""
    for one in findings:
        if (one.method, one.measure, one.model) == (measure, ORDER, ALL) and one.estimate is not None:
            return one.estimate, one.low, one.high
    return None


def _averaged(parts: Sequence[Finding], methods: Sequence[str]) -> list[str]:
    """The places (models and datasets) at which every method has an estimate."""
    there: dict[str, set[str]] = {one.place: set() for one in parts}
    for one in parts:
        if one.estimate is not None:
            there[one.place].add(one.method)
    return [place for place, known in there.items() if known.issuperset(methods)]


def _standing(found: Finding, name: str, parts: Sequence[Finding], averaged: Sequence[str]) -> Standing:
    own = {
        one.place: one.estimate
        for one in parts
        if one.method == found.method and one.place in averaged and one.estimate is not None
    }
    return Standing(
        name,
        found.called,
        0.0 if found.estimate is None else found.estimate,
        found.low,
        found.high,
        found.resting,
        own,
        found.sign,
        found.p_adjusted,
    )


def _names(explainers: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Bare names by label; an explainer that is there twice keeps its label and is matched with nobody."""
    bare = {label: bare_name(explainer) for label, explainer in explainers.items()}
    found = list(bare.values())
    twice = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    return {label: label if name in twice else name for label, name in bare.items()}, twice


def _named_apart(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """The same evaluations; names that occur twice are told apart by measure or folder."""
    names = [evaluation.name for evaluation in evaluations]
    return [
        replace(evaluation, name=f"{evaluation.name} ({evaluation.folder}, {evaluation.measure})")
        if names.count(evaluation.name) > 1
        else evaluation
        for evaluation in evaluations
    ]


def joint_verdict(
    evaluations: Sequence[Evaluation], order: Sequence[str], answer: str, needs: str
) -> Verdict:
    """What is shown of every explainer.

    Args:
        evaluations: benchmarks and studies.
        order: explainers; where the figure has no number of two of them, they stay in this order.
        answer: whether benchmarks predict what helps people.
        needs: how many methods that would take.
    """
    rests_on = tuple(sentence for sentence in (answer, needs) if sentence)
    ordered = sorted(
        evaluations, key=lambda evaluation: (evaluation.kind != "benchmark", not evaluation.higher_is_better)
    )
    drawn = ordered[0] if ordered else None
    compared = [name for name in order if name != FLOOR] if drawn is None else _by_estimate(order, drawn)
    if drawn is None or not compared:
        return Verdict(say("headline-nothing"), (), "", rests_on)
    floor = _standing_of(drawn, FLOOR) if drawn.kind == "benchmark" else None
    return Verdict(
        sentence=_sentence(evaluations, compared),
        judged=tuple(_judged(name, evaluations, drawn) for name in compared),
        measure=say("measure", measure=drawn.measure, unit=drawn.unit or "none", evaluation=drawn.name),
        rests_on=rests_on,
        reference=Reference(say("random"), floor.estimate)
        if floor
        else Reference(say("no-difference"), 0.0)
        if drawn.kind == "study"
        else None,
        ends=(0.0, 100.0) if drawn.kind == "benchmark" and drawn.unit == "per cent" else None,
        differences=drawn.kind == "study",
        decimals=drawn.unit.decimals,
    )


def _by_estimate(order: Sequence[str], drawn: Evaluation) -> list[str]:
    """Everybody who is compared, in the order of the numbers that are drawn; who has none there comes last."""
    sign = -1 if drawn.higher_is_better else 1
    places = {standing.explainer: sign * standing.estimate for standing in drawn.standings}
    return sorted((name for name in order if name != FLOOR), key=lambda name: places.get(name, float("inf")))


def _standing_of(evaluation: Evaluation, name: str) -> Standing | None:
    return next((standing for standing in evaluation.standings if standing.explainer == name), None)


def _signs(name: str, evaluations: Sequence[Evaluation], kind: str) -> list[Sign]:
    found = [_standing_of(evaluation, name) for evaluation in evaluations if evaluation.kind == kind]
    return [standing.sign for standing in found if standing is not None]


def _joint(signs: Sequence[Sign]) -> Sign | None:
    """What several evaluations of one kind say together; None where an explainer was in none of them."""
    if not signs:
        return None
    return signs[0] if len(set(signs)) == 1 else "open"


def _words(kind: str, signs: Sequence[Sign]) -> str:
    """The same in words; where evaluations differ, in how many of them something is shown."""
    if len(set(signs)) == 1:
        return say(f"judged-{kind}-{signs[0]}")
    several = {"benchmark": "benchmarks", "study": "studies"}[kind]
    return say(f"judged-{several}-differ", yes=signs.count("yes"), no=signs.count("no"), many=len(signs))


def _judged(name: str, evaluations: Sequence[Evaluation], drawn: Evaluation) -> Judged:
    both = {kind: _joint(_signs(name, evaluations, kind)) for kind in ("benchmark", "study")}
    words = [_words(kind, signs) for kind in both if (signs := _signs(name, evaluations, kind))]
    known = [sign for sign in both.values() if sign is not None]
    overall: Sign = known[0] if len(set(known)) == 1 else "no" if "no" in known else "open"
    standing = _standing_of(drawn, name)
    numbers = (None, None, None) if standing is None else (standing.estimate, standing.low, standing.high)
    return Judged(name, overall, "; ".join(words), *numbers)


def _sentence(evaluations: Sequence[Evaluation], names: Sequence[str]) -> str:
    """Who passes the benchmarks, and whom people are shown to gain from."""
    clauses: list[str] = []
    benchmarks = [evaluation for evaluation in evaluations if evaluation.kind == "benchmark"]
    for evaluation in benchmarks:
        passed = [name for name in names if _signs(name, [evaluation], "benchmark") == ["yes"]]
        benchmark = "the-only-one" if len(benchmarks) == 1 else evaluation.name
        if passed:
            clauses.append(say("headline-pass", names=passed, benchmark=benchmark))
        else:
            clauses.append(say("headline-pass-none", benchmark=benchmark, first=not clauses))
    studies = [evaluation for evaluation in evaluations if evaluation.kind == "study"]
    bots = all(evaluation.simulated for evaluation in studies)
    helped = {name: _joint(_signs(name, evaluations, "study")) for name in names}
    effects = {"yes": "headline-better", "no": "headline-worse"}
    shown = [sign for sign in effects if sign in helped.values()]
    for sign in shown:
        gains = [_gain(name, studies) for name in names if helped[name] == sign]
        clauses.append(say(effects[sign], gains=gains, bots=bots, first=not clauses))
    if any(helped.values()) and not shown:
        clauses.append(say("headline-no-effect", bots=bots, first=not clauses))
    return f"{'; '.join(clauses or [say('headline-no-claim')])}."


def _gain(name: str, studies: Sequence[Evaluation]) -> str:
    """The explainer with what people gained, where one study says it."""
    own = [
        (evaluation, standing)
        for evaluation in studies
        if (standing := _standing_of(evaluation, name)) is not None
    ]
    if len(own) != 1:
        return name
    evaluation, standing = own[0]
    return say("gain", name=name, gain=evaluation.unit.said(standing.estimate))
