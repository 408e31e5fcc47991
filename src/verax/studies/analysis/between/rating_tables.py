"""How people rate explanations: by condition, and by whether the model was right (the paper's Tables 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.tables import (
    Source,
    Sources,
    Table,
    build_table,
    count,
    interval,
    number,
    p_value,
    text,
)
from verax.results.units import NONE
from verax.stats.crossed.between import changes
from verax.stats.crossed.result import Crossed
from verax.stats.responses import responses
from verax.stats.thresholds import ALPHA
from verax.text import between, listed, signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items

EVERYBODY = "all"
RIGHT, WRONG, DIFFERENCE = "right", "wrong", "difference"


@dataclass(frozen=True)
class _Line:
    """Ratings of one condition, or where the model was right or wrong.

    Attributes:
        name: of the condition, or of the side.
        ratings: their mean over participants' means.
        spread: standard deviation of all of them.
        p: of a difference; None for a mean, which is not tested.
    """

    name: str
    ratings: Crossed
    spread: float | None
    p: float | None = None


def _line(name: str, own: pd.Series, ratings: Crossed) -> _Line:
    return _Line(name, ratings, float(own.std(ddof=1)) if len(own) > 1 else None)


def _sources(first: Source[_Line], tested: bool) -> Sources[_Line]:
    """The columns that both tables of ratings have."""
    test: Sources[_Line] = (p_value("p", "p", lambda line: line.p),)
    return (
        first,
        count("participants", "Participants", lambda line: line.ratings.n_participants),
        count("n", "n", lambda line: line.ratings.n_answers),
        number("mean", "Mean", lambda line: line.ratings.estimate),
        interval("interval", "95% interval", lambda line: NONE.interval(line.ratings.low, line.ratings.high)),
        number("spread", "Standard deviation", lambda line: line.spread),
        *(test if tested else ()),
    )


def ratings_table(rated: pd.DataFrame, order: tuple[str, ...], items: Items, level: float) -> Table:
    """n, mean, interval and spread of the ratings of each condition."""
    rows = responses(rated["participant"], rated["item"], rated["condition"], rated["rating"])
    means = dict(zip(rows.methods, changes(rows, items, level=level), strict=True))
    by_name = {name: rated.loc[rated["condition"] == name, "rating"] for name in order if name in means}
    lines = [_line(name, own, means[name]) for name, own in by_name.items()]
    return build_table(
        "ratings",
        "Ratings of the explanations",
        lines,
        _sources(text("condition", "Condition", lambda line: line.name), tested=False),
        _ratings_sentence(lines),
        ["The mean is over participants' means."],
    )


def _ratings_sentence(lines: Sequence[_Line]) -> str:
    means = {line.name: line.ratings.estimate or 0.0 for line in lines}
    if len(means) == 1:
        (name, mean), *_ = means.items()
        return f"Explanations of {name} were rated {mean:.1f} on average."
    ranked = sorted(means, key=lambda name: -means[name])
    parts = listed([f"{name} {means[name]:.1f}" for name in ranked])
    return f"Mean ratings, highest first: {parts}. A rating says what people think of an explanation, not what it does."


def correctness_table(rated: pd.DataFrame, items: Items) -> Table:
    """Ratings where the model was right and where it was wrong, and their difference within participants."""
    known = rated[rated["model_correct"].notna()]
    sides = {side: known[known["model_correct"] == value] for side, value in ((RIGHT, 1), (WRONG, 0))}
    difference = correctness_difference(known, items)
    lines = [_line(side, own["rating"], _side(own, items)) for side, own in sides.items() if len(own)]
    if difference is not None:
        lines.append(_Line(DIFFERENCE, difference, None, difference.p))
    return build_table(
        "ratings-by-correctness",
        "Ratings by whether the model was right",
        lines,
        _sources(text("model", "The model is", lambda line: line.name), tested=True),
        _difference_sentence(difference),
    )


def _side(rated: pd.DataFrame, items: Items) -> Crossed:
    rows = responses(rated["participant"], rated["item"], [EVERYBODY] * len(rated), rated["rating"])
    return changes(rows, items)[0]


def correctness_difference(known: pd.DataFrame, items: Items) -> Crossed | None:
    """Mean rating where the model was right minus where it was wrong, of participants who rated both; None without any.

    Items where the model is right and items where it is wrong are two strata with the same participants; twice the
    rating with a sign makes the mean over strata, which the estimator gives, a difference.
    """
    both = known.groupby("participant")["model_correct"].transform("nunique") == 2
    kept = known[both]
    if not len(kept):
        return None
    signs = kept["model_correct"].map({1.0: 2.0, 0.0: -2.0})
    rows = responses(
        kept["participant"],
        kept["item"],
        [EVERYBODY] * len(kept),
        signs * kept["rating"],
        stratum=kept["model_correct"],
    )
    return changes(rows, items)[0]


def _difference_sentence(difference: Crossed | None) -> str:
    if difference is None or difference.estimate is None:
        return "No participant rated explanations of right and of wrong predictions: they cannot be compared."
    said = signed(difference.estimate, 2)
    ends = NONE.interval(difference.low, difference.high)
    if ends is None or difference.p is None:
        return f"Rated {said} where the model was right against wrong; no interval can be given."
    size = f"{said} points of the scale, 95% interval {between(*ends, decimals=2)}"
    if not difference.enough:
        return f"Too few participants for a claim on ratings where the model was right and wrong ({size})."
    if difference.p <= ALPHA:
        which = "right" if difference.estimate > 0 else "wrong"
        return f"Explanations were rated higher where the model was {which} ({size}): not only reasons are rated."
    return f"Ratings do not clearly depend on whether the model was right ({size})."
