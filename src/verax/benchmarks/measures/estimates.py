"""One row of findings: an estimate with its interval and its test, in the columns that all benchmarks share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from verax.stats.estimate import Estimate
from verax.stats.tests.multiplicity import holm

ALL = "all"


@dataclass(frozen=True)
class EstimateRow:
    """An estimate.

    Attributes:
        benchmark: that found it.
        dataset: of the models, or "all".
        model: the model, or "all".
        method: what is estimated: a measure, an explainer.
        measure: which number of it.
        unit: what the number is counted in.
        estimate: the number.
        low: lower end of its interval; None without one.
        high: upper end.
        level: of the interval.
        n: how many independent units it is over.
        counts: what n counts.
        p: of the test, None where none was made.
        p_adjusted: after the correction for its family.
        family: which tests were corrected together.
        better: "higher" or "lower"; empty for neither.
        simulated: whether people or models were simulated for it.
        key: by which a reader finds it.
    """

    benchmark: str
    dataset: str
    model: str
    method: str
    measure: str
    unit: str
    estimate: float
    low: float | None
    high: float | None
    level: float
    n: int
    counts: str
    p: float | None
    p_adjusted: float | None
    family: str
    better: str
    simulated: bool
    key: str

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def row_of(
    found: Estimate,
    *,
    benchmark: str,
    method: str,
    measure: str,
    unit: str,
    better: str,
    counts: str,
    model: str = ALL,
    dataset: str = ALL,
    group: str = "",
    p: float | None = None,
    family: str = "",
) -> EstimateRow:
    """A row from an estimate; ``group`` tells rows of parts of the data apart (a sort of reason, a size)."""
    parts = [benchmark, measure, method, *(part for part in (dataset, model) if part != ALL), group]
    return EstimateRow(
        benchmark=benchmark,
        dataset=dataset,
        model=model,
        method=method,
        measure=f"{measure}, {group}" if group else measure,
        unit=unit,
        estimate=found.mean,
        low=found.low,
        high=found.high,
        level=found.level,
        n=found.n,
        counts=counts,
        p=p,
        p_adjusted=None,
        family=family,
        better=better,
        simulated=False,
        key=":".join(part for part in parts if part),
    )


def corrected(rows: Sequence[EstimateRow]) -> list[EstimateRow]:
    """The rows with Holm's correction inside each family."""
    adjusted: dict[int, float] = {}
    for family in dict.fromkeys(row.family for row in rows if row.family):
        places = [place for place, row in enumerate(rows) if row.family == family and row.p is not None]
        for place, p in zip(places, holm([rows[place].p for place in places]), strict=True):
            adjusted[place] = float(p)
    return [
        replace(row, p_adjusted=adjusted[place])
        if place in adjusted and not np.isnan(adjusted[place])
        else row
        for place, row in enumerate(rows)
    ]
