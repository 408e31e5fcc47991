"""Studies without any effect through the whole pipeline: how often the analysis claims one, and what intervals cover.

Simulated people answer the scored questions of the design; their answers are laid out as a study's records, and
`verax.studies.analysis.analyse` does the rest, as it will with real answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verax import codec
from verax.errors import VeraxError
from verax.stats.power import Design, Simulated, binomial_interval, simulate
from verax.stats.thresholds import ALPHA
from verax.studies.analysis import Options, PrimaryEstimate, analyse
from verax.studies.answers.response_record import Record, ResponseRecords, StepColumns
from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, Collected, shown, to_frame
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import DesignRow, Step, Study
from verax.studies.planning.planned_study import SURE, People, planning_of, question_of, sized, toy_study
from verax.studies.protocol.contract import Planning, make_protocol


def simulated_study(
    study: Study, who: People, seed: np.random.SeedSequence | int, effect: float = 0.0
) -> Collected:
    """A study as it would be collected, in which the first method raises accuracy by a share.

    Nobody leaves or is excluded; 3% of the pages expire. Only scored questions of test phases are answered.
    """
    planning, question = planning_of(study.spec), question_of(study.spec)
    protocol, made = make_protocol(study.spec.protocol), ResponseRecords(study)
    people = [row for row in study.rows for _ in range(row.target)]
    tests = {key for key, phase in study.phases.items() if phase.kind == "test"}
    tested = [
        [step for step in protocol.steps(study, row, number) if step.phase in tests and step.item]
        for number, row in enumerate(people, start=1)
    ]
    places: dict[str | None, int] = {}
    for steps in tested:
        for step in steps:
            places.setdefault(step.item, len(places))
    drawn = _drawn(study, who, len(people), len(places), seed, effect)
    rng = np.random.default_rng(seed)

    def records() -> Iterator[Record]:
        for number, (row, steps) in enumerate(zip(people, tested, strict=True)):
            for order, step in enumerate(steps, start=1):
                helped = step.condition == question.method and step.phase != "pre"
                # After explanations everybody answers anew, also where nothing helped.
                after = helped or (planning.compared == "between" and step.phase == "post")
                right = float((drawn.post if after else drawn.pre)[0, number, places[step.item]])
                item = study.items[step.item or ""]
                worth = None if np.isnan(right) else _worth(planning, bool(right), rng)
                meaning = None if worth is None else planning.answer(item, worth)
                about = _about(row, number, order, step, float(np.exp(rng.normal(2.0, 0.5))))
                if meaning is None:
                    yield made.expired(about, protocol.scored)
                else:
                    yield made.answered(about, protocol.scored, meaning, position=None)

    return Collected(
        study=study,
        participants=to_frame(
            (_participant(row, number) for number, row in enumerate(people)),
            shown(PARTICIPANTS, identifying=False),
        ),
        responses=to_frame(records(), shown(RESPONSES, identifying=False)),
        exclusions=to_frame(iter(()), shown(EXCLUSIONS, identifying=False)),
        source="simulated",
    )


def _drawn(
    study: Study, who: People, people: int, items: int, seed: np.random.SeedSequence | int, effect: float
) -> Simulated:
    """Answers of everybody to every item, before and after; between people only the method's own are helped."""
    planning, question = planning_of(study.spec), question_of(study.spec)
    groups: tuple[int, ...] = (people,)
    effects: tuple[float, ...] = (effect,)
    if planning.compared == "between":
        groups = tuple(row.target for row in study.rows)
        effects = tuple(effect * (row.condition == question.method) for row in study.rows)
    return simulate(Design(groups, items, who.right(planning)), effects, who.spreads(), 1, seed)


def _worth(planning: Planning, right: bool, rng: np.random.Generator) -> float:
    """What the answer of somebody who is right, or wrong, is worth: graded answers by how sure they are."""
    if not planning.graded:
        return float(right)
    sure, undecided = rng.random() < SURE, rng.random() < planning.undecided
    if undecided:
        return 0.0
    return (1.0 if sure else 0.5) * (1 if right else -1)


def _about(row: DesignRow, number: int, order: int, step: Step, seconds: float) -> StepColumns:
    return {
        "participant": _name(number),
        "bot": False,
        "design_row": row.number,
        "phase": step.phase,
        "step": order,
        "number_in_phase": order,
        "item": step.item,
        "condition": step.condition,
        "late": False,
        "seconds": seconds,
        "client_ms": None,
        "visible_ms": None,
        "blurs": 0,
        "views": 1,
        "minute": float(order - 1),
    }


def _participant(row: DesignRow, number: int) -> Record:
    return {
        "participant": _name(number),
        "bot": False,
        "status": "complete",
        "platform": "link",
        "design_row": row.number,
        "number": number + 1,
        "condition": row.condition,
        "steps": 1,
        "done": 1,
        "phase": None,
        "minutes": 10.0,
        "left": False,
        "excluded": False,
        "rules": [],
        "version": "0",
        "link": None,
    }


def _name(number: int) -> str:
    return f"p{number:010x}"


REPLICATES = 20  # of bootstraps that stand beside the primary analysis and do not count here


@dataclass(frozen=True)
class Rate:
    """A share with its exact binomial interval: how many of how many."""

    found: int
    of: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Check(codec.Record):
    """What the pipeline does with studies in which nothing has an effect.

    Attributes:
        claims: studies in which the first method's comparison has p at most 5%, uncorrected; 5% is promised. (One
            comparison a study, since those of one study are not independent.)
        families: studies in which any corrected comparison claims an effect; at most 5% is promised.
        coverage: studies in which the interval of the first method's comparison holds 0; 95% is promised.
        studies: simulated.
        untested: studies in which the first method's comparison could not be tested.
        people: in each study.
        seed: of the simulation.
    """

    claims: Rate
    families: Rate
    coverage: Rate
    studies: int
    untested: int
    people: int
    seed: int

    format: ClassVar = 1
    kind: ClassVar = "power-check"
    JSON: ClassVar = ("format", "kind", ..., "sentence")

    def sentence(self) -> str:
        """What it means."""
        if not self.claims.of:
            return f"In none of {self.studies} simulated studies could anything be tested: the design is too small."
        said = (
            f"In {self.studies:,} simulated studies of {self.people:,} people without any effect the first comparison "
            f"claims one in {_words(self.claims, '5%')}, and any corrected one in "
            f"{_words(self.families, 'at most 5%')}; the first interval holds the truth in "
            f"{_words(self.coverage, '95%')}."
        )
        odd = self.claims.low > ALPHA or self.families.low > ALPHA or self.coverage.high < 1 - ALPHA
        if odd:
            return f"{said} That is worse than promised: do not trust this analysis of this design."
        if self.claims.high < ALPHA:
            return f"{said} It claims less often than it might: safe, with less power."
        return f"{said} As far as {self.studies:,} studies can tell, it keeps its promises."


def _words(rate: Rate, promised: str) -> str:
    return f"{rate.share:.1%} ({rate.low:.1%} to {rate.high:.1%}; promised: {promised})"


STUDIES = 60


def check_pipeline(
    spec: StudySpec,
    studies: int = STUDIES,
    seed: int = 0,
    who: People | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Check:
    """Simulates studies without an effect in a spec's design and analyses each.

    Args:
        spec: the study; it need not be built.
        studies: how many; 60 tell 5% from 25%, 1,000 tell 5% from 7%.
        seed: of the simulation.
        who: how people are.
        progress: is told how many are done.
    """
    if studies < 1:
        raise VeraxError(f"The number of simulated studies is {studies}: give at least 1.")
    own = sized(spec)
    question = question_of(own)
    kinds = {condition.kind for condition in own.conditions}
    if question.within and not kinds & {"none", "control"}:
        raise VeraxError(
            "Without a condition that shows nothing and without a random control the primary analysis tests no "
            "explanation against another: add one of them to the spec."
        )
    study = toy_study(own)
    primaries = []
    for number in range(studies):
        primaries.append(_primary(study, who or People(), np.random.SeedSequence([seed, number])))
        progress(number + 1)
    return _check(primaries, question.method, len(study.rows) * own.participants, seed)


def _check(primaries: Sequence[Sequence[PrimaryEstimate]], method: str, people: int, seed: int) -> Check:
    tested = [
        line for lines in primaries for line in lines if line.condition == method and line.p is not None
    ]
    families = [lines for lines in primaries if any(line.p_adjusted is not None for line in lines)]
    return Check(
        claims=_rate(sum((line.p or 0.0) <= ALPHA for line in tested), len(tested)),
        families=_rate(sum(any(_p(line) <= ALPHA for line in lines) for lines in families), len(families)),
        coverage=_rate(sum((line.low or 0.0) <= 0 <= (line.high or 0.0) for line in tested), len(tested)),
        studies=len(primaries),
        untested=len(primaries) - len(tested),
        people=people,
        seed=seed,
    )


def _p(line: PrimaryEstimate) -> float:
    """The corrected p; 1 where nothing was tested."""
    return 1.0 if line.p_adjusted is None else line.p_adjusted


def _rate(count: int, of: int) -> Rate:
    low, high = binomial_interval(count, of) if of else (0.0, 1.0)
    return Rate(count, of, count / of if of else 0.0, low, high)


def _primary(study: Study, who: People, seed: np.random.SeedSequence) -> Sequence[PrimaryEstimate]:
    """The primary estimates of one simulated study."""
    options = Options(estimator="crossed", replicates=REPLICATES)
    primary = analyse(simulated_study(study, who, seed), options).primary
    return () if primary is None else primary.estimates
