"""Do ratings tell what helps? Rating against the answer on the same page, and a person's mean rating against Change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verax.stats import hase2020
from verax.stats.hase2020 import MENDED, Defects, RatingAndCorrectness, RatingCurve
from verax.stats.logistic import Logistic, logistic, normalised
from verax.studies.analysis.between.effects import interval, points
from verax.studies.analysis.between.hase2020_tables import defects_of
from verax.studies.analysis.between.pairs import complete_pairs
from verax.studies.analysis.contract import Column, Figure, Options, Table
from verax.text import between

if TYPE_CHECKING:
    import pandas as pd

# The step that the paper reports, on a scale of 7.
FROM, TO = 4, 5
RAW, NORMALISED = "rating", "rating, normalised within participants"


def rating_table(rated: pd.DataFrame, scale: int, options: Options) -> tuple[Table, RatingAndCorrectness]:
    """Logistic regression of right answers on ratings, raw and normalised, with the change in points of one step.

    The line is fitted to the answers as they are; its intervals come from resampled participants and items.
    """
    boot = _replicated(rated, options, MENDED)
    scaled = normalised(rated["rating"], rated["participant"])
    lines = [
        _line(RAW, logistic(rated["rating"], rated["score"]), boot.raw, (FROM, TO) if scale >= TO else None),
        _line(NORMALISED, logistic(scaled, rated["score"]), boot.normalised, (0, 1)),
    ]
    notes = ["Intervals by resampling participants and items, which is cautious: they are rather too wide."]
    if options.estimator != "crossed":
        published = _replicated(rated, options, defects_of(options))
        lines += [
            _published(f"{RAW}, as published", published.raw, FROM),
            _published(f"{RAW}, normalised, as published", published.normalised, 0),
        ]
        notes.append(
            "The published script normalises and resamples by method and item where it says participant: its lines are "
            "a reproduction."
        )
    table = Table(
        key="rating-and-correctness",
        title="Does a rating predict a right answer?",
        columns=(
            Column("predictor", "Predictor", "text"),
            Column("n", "n", "count"),
            Column("slope", "Slope", "number", "log-odds"),
            Column("slope_interval", "95% interval", "interval"),
            Column("step", "Step", "text"),
            Column("change", "Change of accuracy", "number", "points"),
            Column("interval", "95% interval", "interval", "points"),
        ),
        rows=tuple(lines),
        sentence=_sentence(lines[0] if scale >= TO else lines[1]),
        notes=tuple(notes),
    )
    return table, boot


def _replicated(rated: pd.DataFrame, options: Options, defects: Defects) -> RatingAndCorrectness:
    return hase2020.rating_and_correctness(
        rated["participant"],
        rated["item"],
        rated["condition"],
        rated["rating"],
        rated["score"],
        replicates=options.replicates,
        seed=options.seed,
        defects=defects,
    )


def _line(name: str, fit: Logistic, boot: RatingCurve, step: tuple[int, int] | None) -> dict[str, Any]:
    change = None
    if step is not None:
        before, after = fit.probability(step[0]), fit.probability(step[1])
        change = None if before is None or after is None else after - before
    drawn = boot.change[1]
    return {
        "predictor": name,
        "n": fit.n,
        "slope": fit.slope,
        "slope_interval": None
        if boot.slope.low is None or fit.slope is None
        else [boot.slope.low, boot.slope.high],
        "step": "" if step is None else f"{step[0]} to {step[1]}",
        "change": points(change),
        "interval": None if change is None else interval(drawn.low, drawn.high),
    }


def _published(name: str, boot: RatingCurve, start: int) -> dict[str, Any]:
    drawn = boot.change[1]
    return {
        "predictor": name,
        "n": None,
        "slope": boot.slope.estimate,
        "slope_interval": None if boot.slope.low is None else [boot.slope.low, boot.slope.high],
        "step": f"{start} to {start + 1}",
        "change": points(drawn.estimate),
        "interval": interval(drawn.low, drawn.high),
    }


def _sentence(line: dict[str, Any]) -> str:
    if line["interval"] is None:
        return "Right and wrong answers do not overlap in their ratings, or are all alike: there is no slope."
    low, high = line["interval"]
    step = (
        f"a rating higher by one ({line['step']})"
        if line["predictor"] == RAW
        else "a rating higher by one deviation"
    )
    size = f"{between(low, high)} points of accuracy, 95% interval"
    if low > 0:
        return f"Higher ratings go with right answers: {step} goes with {size}."
    if high < 0:
        return f"Higher ratings go with wrong answers: {step} goes with {size}."
    return f"Ratings do not clearly predict right answers: {step} goes with {size}."


def rating_curve(boot: RatingAndCorrectness) -> Figure:
    """P(right) against the rating, with its interval."""
    raw = boot.raw
    return Figure(
        key="rating-and-correctness",
        title="Right answers by rating",
        kind="curve",
        data={
            "x_label": "rating of the explanation",
            "y_label": "right answers",
            "lines": [
                {
                    "label": "all conditions",
                    "x": list(raw.at),
                    "y": [one.estimate for one in raw.probability],
                    "low": [one.low for one in raw.probability],
                    "high": [one.high for one in raw.probability],
                }
            ],
        },
        sentence="Share of right answers that the logistic regression expects at each rating.",
    )


def person_table(rated: pd.DataFrame, pairs: pd.DataFrame) -> Table:
    """A participant's Change against the mean of the ratings that the participant gave."""
    both = complete_pairs(pairs)
    line = hase2020.change_on_rating(
        (rated["participant"], rated["condition"], rated["rating"]),
        (both["participant"], both["condition"], both["pre"], both["post"]),
    )
    row = {
        "n": line.n,
        "slope": points(line.slope),
        "interval": interval(line.low, line.high),
        "p": line.p,
        "left_out": line.left_out,
    }
    if line.slope is None or line.low is None or line.high is None:
        sentence = "Too few participants rated and have 15 items answered twice: nothing can be said."
    elif line.low > 0 or line.high < 0:
        more = "more" if line.slope > 0 else "less"
        size = f"{100 * abs(line.slope):.1f} points for one point of the scale"
        sentence = f"Participants who rate explanations higher gain {more}: {size}."
    else:
        sentence = "Participants who rate explanations higher do not clearly gain more, or less."
    return Table(
        key="rating-and-change",
        title="A participant's Change against the mean rating",
        columns=(
            Column("n", "Participants", "count"),
            Column("slope", "Slope", "number", "points per point of the scale"),
            Column("interval", "95% interval", "interval", "points"),
            Column("p", "p", "p"),
            Column("left_out", "Left out", "count"),
        ),
        rows=(row,),
        sentence=sentence,
        notes=("Left out are participants with fewer than 15 items answered twice, or without ratings.",),
    )
