"""Studies without any effect through the whole pipeline: how often the analysis claims one, and what intervals cover.

Simulated people answer the scored questions of the design; their answers are laid out as a study's records, and
`verax.studies.analysis.analyse` does the rest, as it will with real answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from verax.errors import VeraxError
from verax.stats.power.power import binomial_interval
from verax.stats.thresholds import ALPHA
from verax.studies.analysis import Options, PrimaryEstimate, analyse
from verax.studies.model.spec import StudySpec
from verax.studies.model.study import Study
from verax.studies.planning.question import question_of
from verax.studies.planning.simulated_people import People
from verax.studies.planning.simulated_study import simulated_study
from verax.studies.planning.toy import sized, toy_study

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
