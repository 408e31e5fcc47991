"""What machines that take part gain from explanations, of what there was to gain.

A language model that knows the task predicts without any explanation. So its accuracy with explanations stands beside
that on the same items without, and the gain is divided by what was left to gain: 1 for everything, 0 for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from verax.arrays import FloatArray
from verax.phrases import say as say_phrase
from verax.results.tables import Sources, Table, build_table, count, interval, number, p_value, share, text
from verax.results.units import NONE as PLAIN
from verax.results.units import POINTS, Ends
from verax.stats.estimate import mean_interval
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.effects import POST, PRE, complete_pairs
from verax.studies.definition.spec_tables import NONE

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.definition.spec_tables import Condition

say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
# A baseline so high leaves little to gain.
CEILING = 0.9


@dataclass(frozen=True)
class NormalisedGain:
    """The gain of a condition.

    Attributes:
        condition: its name.
        items: that were answered both ways.
        without: accuracy on them without explanations.
        with_explanations: accuracy on them with.
        normalised: the difference over what was left; None where nothing was.
        ends: of the 95% interval of the difference, over items; None with few of them.
        p: that the difference is none, by flipping its sign on items; corrected for several conditions (Holm).
    """

    condition: str
    items: int
    without: float
    with_explanations: float
    normalised: float | None
    ends: Ends = None
    p: float = 1.0


def normalised_gains(pairs: pd.DataFrame, conditions: Sequence[Condition]) -> list[NormalisedGain]:
    """The gain of each condition with explanations.

    It is compared with the last answers in a condition without explanations, if there is one (what practice does,
    it does there too), else with the condition's own first answers. Items are the unit: machines that are asked alike
    answer alike, so that more of them are no more evidence.

    Args:
        pairs: answers before and after, as `paired` gives them.
        conditions: of the study.
    """
    both = complete_pairs(pairs)
    nothing = [each.name for each in conditions if each.explainer == NONE and each.like is None]
    without = next((name for name in nothing if (both["condition"] == name).any()), None)
    found = []
    for condition in conditions:
        own = both[both["condition"] == condition.name]
        if condition.name in nothing or not len(own):
            continue
        before = (
            own.groupby("item")[PRE]
            if without is None
            else both[both["condition"] == without].groupby("item")[POST]
        ).mean()
        after = own.groupby("item")[POST].mean()
        items = before.index.intersection(after.index)
        if len(items):
            found.append(_gain(condition.name, before[items].to_numpy(float), after[items].to_numpy(float)))
    corrected = holm([gain.p for gain in found])
    return [replace(gain, p=p) for gain, p in zip(found, corrected, strict=True)]


def _gain(name: str, before: FloatArray, after: FloatArray) -> NormalisedGain:
    without, with_them = float(before.mean()), float(after.mean())
    gain = mean_interval(after - before)
    return NormalisedGain(
        name,
        len(before),
        without,
        with_them,
        (with_them - without) / (1 - without) if without < 1 else None,
        None if gain.low is None or gain.high is None else (gain.low, gain.high),
        sign_flip(after - before).p,
    )


def normalised_table(pairs: pd.DataFrame, conditions: Sequence[Condition]) -> Table | None:
    """The gains as a table, with a warning where there was little to gain; None if no condition explains."""
    gains = normalised_gains(pairs, conditions)
    if not gains:
        return None
    matched = any(each.explainer == NONE and each.like is None for each in conditions)
    sources: Sources[NormalisedGain] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        count("items", say_table("column-items"), lambda line: line.items),
        share("without", say_table("column-without-explanations"), lambda line: line.without),
        share("with", say_table("column-with-explanations"), lambda line: line.with_explanations),
        number(
            "gain",
            say_table("column-gain"),
            lambda line: POINTS.of(line.with_explanations - line.without),
            POINTS,
        ),
        interval("interval", say_table("column-interval"), _ends_in_points, POINTS),
        p_value("p", say_table("column-p-holm"), lambda line: line.p),
        number("normalised", say_table("column-normalised-gain"), lambda line: line.normalised, PLAIN),
    )
    high = [line.condition for line in gains if line.without >= CEILING]
    notes = [say("normalised-how", matched=matched), say("normalised-unit")]
    if high:
        notes.append(say("normalised-ceiling", conditions=", ".join(high), ceiling=f"{CEILING:.0%}"))
    return build_table("normalised-gain", say("normalised-title"), gains, sources, _sentence(gains), notes)


def _sentence(gains: Sequence[NormalisedGain]) -> str:
    clear = [line.condition for line in gains if line.p < ALPHA and line.with_explanations > line.without]
    return say("normalised-sentence", conditions=", ".join(clear), some=bool(clear))


def _ends_in_points(line: NormalisedGain) -> Ends:
    return None if line.ends is None else POINTS.interval(*line.ends)
