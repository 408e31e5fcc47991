"""Studies without any effect through the whole pipeline: how often the analysis claims one, and what intervals cover.

Simulated people answer the scored questions of the design; their answers are laid out as a study's records, and
`verax.studies.analysis.analyse` does the rest, as it will with real answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from verax.errors import VeraxError
from verax.stats.power.power import binomial_interval
from verax.stats.power.simulation import Design, Simulated, simulate
from verax.stats.thresholds import ALPHA
from verax.studies.analysis import Options, analyse
from verax.studies.answers.frames import Collected, to_frame
from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, shown
from verax.studies.model.item import Item
from verax.studies.model.spec import StudySpec
from verax.studies.model.steps import DesignRow
from verax.studies.model.study import Study
from verax.studies.planning.power import BETWEEN, GRADED, SURE, People, question_of, undecided
from verax.studies.planning.toy import sized, toy_study
from verax.studies.protocol.contract import Protocol, make_protocol

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
class Check:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the sentence."""
        return {"format": 1, "kind": "power-check", **asdict(self), "sentence": self.sentence()}

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


def check_pipeline(
    spec: StudySpec,
    studies: int = 60,
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
    kinds = {one.kind for one in own.conditions}
    if question.protocol not in BETWEEN and not kinds & {"none", "control"}:
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


def _check(primaries: list[list[dict[str, Any]]], method: str, people: int, seed: int) -> Check:
    first = [one for lines in primaries for one in lines if one["condition"] == method]
    tested = [one for one in first if one["p"] is not None]
    families = [some for some in primaries if any(one["p_adjusted"] is not None for one in some)]
    return Check(
        claims=_rate(sum(one["p"] <= ALPHA for one in tested), len(tested)),
        families=_rate(sum(any(_p(one) <= ALPHA for one in some) for some in families), len(families)),
        coverage=_rate(sum(one["low"] <= 0 <= one["high"] for one in tested), len(tested)),
        studies=len(primaries),
        untested=len(primaries) - len(tested),
        people=people,
        seed=seed,
    )


def _p(one: dict[str, Any]) -> float:
    """The corrected p; 1 where nothing was tested."""
    return 1.0 if one["p_adjusted"] is None else float(one["p_adjusted"])


def _rate(found: int, of: int) -> Rate:
    low, high = binomial_interval(found, of) if of else (0.0, 1.0)
    return Rate(found, of, found / of if of else 0.0, low, high)


def _primary(study: Study, who: People, seed: np.random.SeedSequence) -> list[dict[str, Any]]:
    """The primary estimates of one simulated study."""
    options = Options(estimator="crossed", replicates=REPLICATES)
    primary = analyse(simulated_study(study, who, seed), options)["primary"]
    return [] if primary is None else list(primary["estimates"])


def simulated_study(
    study: Study, who: People, seed: np.random.SeedSequence | int, effect: float = 0.0
) -> Collected:
    """A study as it would be collected, in which the first method raises accuracy by a share.

    Nobody leaves or is excluded; 3% of the pages expire. Only scored questions of test phases are answered.
    """
    name = study.spec.protocol["name"]
    question = question_of(study.spec)
    people = [row for row in study.rows for _ in range(study.spec.participants)]
    tests = {key for key, phase in study.phases.items() if phase.kind == "test"}
    protocol = make_protocol(study.spec.protocol)
    steps = [protocol.steps(study, row, number) for number, row in enumerate(people, start=1)]
    asked = list(dict.fromkeys(one.item for some in steps for one in some if one.phase in tests and one.item))
    drawn = _drawn(study, who, len(people), len(asked), seed, effect)
    rng = np.random.default_rng(seed)
    places = {item: place for place, item in enumerate(asked)}

    def records() -> Iterator[dict[str, Any]]:
        for number, (row, some) in enumerate(zip(people, steps, strict=True)):
            for order, step in enumerate(one for one in some if one.phase in tests and one.item):
                helped = step.condition == question.method and step.phase != "pre"
                right = _right(drawn, helped, name, step.phase, number, places[step.item or ""])
                item = study.items[step.item or ""]
                yield _record(
                    study, protocol, row, number, order, step.phase, item, step.condition, right, rng
                )

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
    name, question = study.spec.protocol["name"], question_of(study.spec)
    groups: tuple[int, ...] = (people,)
    effects: tuple[float, ...] = (effect,)
    if name in BETWEEN:
        groups = (study.spec.participants,) * len(study.rows)
        effects = tuple(effect * (row.cells["condition"] == question.method) for row in study.rows)
    return simulate(Design(groups, items, who.right(name)), effects, who.spreads(), 1, seed)


def _right(drawn: Simulated, helped: bool, name: str, phase: str, number: int, place: int) -> float:
    """Whether an answer is right. After explanations everybody answers anew, also where nothing helped."""
    after = helped or (name in BETWEEN and phase == "post")
    return float((drawn.post if after else drawn.pre)[0, number, place])


def _meaning(name: str, item: Item, right: bool, rng: np.random.Generator) -> Any:
    """What somebody stores who is right, or wrong."""
    if name not in GRADED:
        said = item.variant.prediction if name == "counterfactual" and item.variant else item.prediction
        return said if right else 1 - said
    sure = rng.random() < SURE
    if name == "model-choice":
        if rng.random() < undecided(name):
            return 0.0
        return (1.0 if sure else 0.5) * (1 if right else -1)
    if rng.random() < undecided(name):
        return "none"
    target = item.label if name == "uncertain-case" else item.prediction
    return f"{target if right else 1 - target}:{'certain' if sure else 'likely'}"


def _record(
    study: Study,
    protocol: Protocol,
    row: DesignRow,
    number: int,
    order: int,
    phase: str,
    item: Item,
    condition: str | None,
    right: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """One response as it would be exported."""
    missing = bool(np.isnan(right))
    meaning = None if missing else _meaning(study.spec.protocol["name"], item, bool(right), rng)
    return {
        "participant": _name(number),
        "bot": False,
        "design_row": row.number,
        "phase": phase,
        "phase_kind": "test",
        "step": order + 1,
        "number_in_phase": order + 1,
        "item": item.id,
        "condition": condition,
        "question": protocol.scored,
        "answer": None if meaning is None else str(meaning),
        "position": None,
        "score": None if meaning is None else protocol.score(item, meaning),
        "label": item.label,
        "prediction": item.prediction,
        "model_correct": item.correct,
        "variant_prediction": item.variant.prediction if item.variant else None,
        "flips": item.flips,
        "state": "expired" if missing else "closed",
        "late": missing,
        "withheld": False,
        "seconds": float(np.exp(rng.normal(2.0, 0.5))),
        "client_ms": None,
        "visible_ms": None,
        "blurs": 0,
        "views": 1,
        "minute": float(order),
    }


def _participant(row: DesignRow, number: int) -> dict[str, Any]:
    return {
        "participant": _name(number),
        "bot": False,
        "status": "complete",
        "platform": "link",
        "design_row": row.number,
        "number": number + 1,
        "condition": row.cells.get("condition"),
        "steps": 1,
        "done": 1,
        "phase": None,
        "minutes": 10.0,
        "left": False,
        "excluded": False,
        "rules": [],
        "version": "0",
    }


def _name(number: int) -> str:
    return f"p{number:010x}"
