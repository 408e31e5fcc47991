"""Do ratings tell what helps? Rating against the answer on the same page, and a person's mean rating against Change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.figures import Curve, Figure, Line
from verax.results.tables import Sources, Table, build_table, count, interval, number, text
from verax.results.units import NONE, POINTS, Ends
from verax.stats import hase2020
from verax.stats.hase2020 import MENDED, Defects, RatingAndCorrectness, RatingCurve
from verax.stats.logistic import Logistic, logistic, normalised
from verax.studies.analysis.between.hase2020_tables import defects_of, slope_table
from verax.studies.analysis.between.pairs import complete_pairs
from verax.studies.results.options import Options
from verax.text import between

if TYPE_CHECKING:
    import pandas as pd

# The step that the paper reports, on a scale of 7.
FROM, TO = 4, 5
RAW, NORMALISED = "rating", "rating, normalised within participants"


@dataclass(frozen=True)
class _Line:
    """How a rating goes with right answers.

    Attributes:
        predictor: the rating, raw or normalised.
        n: answers.
        slope: in log-odds.
        slope_ends: of its interval.
        step: from which rating to which.
        change: of accuracy with that step, in points.
        ends: of its interval.
    """

    predictor: str
    n: int
    slope: float | None
    slope_ends: Ends
    step: str
    change: float | None
    ends: Ends


def rating_table(
    rated: pd.DataFrame, published: pd.DataFrame | None, scale: int, options: Options
) -> tuple[Table, RatingAndCorrectness]:
    """Logistic regression of right answers on ratings, raw and normalised, with the change in points of one step.

    The line is fitted to the answers as they are; its intervals come from resampled participants and items.

    Args:
        rated: ratings with the score of the answer on the same page.
        published: the same of those whom the paper counts, with the score missing where that before explanations is;
            None leaves out the lines as published.
        scale: its points.
        options: replicates and seed.
    """
    boot = _replicated(rated, options, MENDED, options.own_replicates)
    scaled = normalised(rated["rating"], rated["participant"])
    lines = [
        _line(RAW, logistic(rated["rating"], rated["score"]), boot.raw, (FROM, TO) if scale >= TO else None),
        _line(NORMALISED, logistic(scaled, rated["score"]), boot.normalised, (0, 1)),
    ]
    notes = ["Intervals by resampling participants and items, which is cautious: they are rather too wide."]
    if published is not None and len(published):
        drawn = _replicated(published, options, defects_of(options), options.regression_replicates)
        lines += [
            _published(f"{RAW}, as published", drawn.n, drawn.raw, FROM),
            _published(f"{RAW}, normalised, as published", drawn.n, drawn.normalised, 0),
        ]
        notes.append(
            "The published script normalises and resamples by method and item where it says participant: its lines are "
            f"a reproduction, of {options.regression_replicates:,} replicates. They count every rating beside an item "
            "answered both before and after explanations, also by people who left early, and no random control."
        )
    sources: Sources[_Line] = (
        text("predictor", "Predictor", lambda line: line.predictor),
        count("n", "n", lambda line: line.n),
        number("slope", "Slope", lambda line: line.slope, "log-odds"),
        interval("slope_interval", "95% interval", lambda line: line.slope_ends),
        text("step", "Step", lambda line: line.step),
        number("change", "Change of accuracy", lambda line: line.change, POINTS),
        interval("interval", "95% interval", lambda line: line.ends, POINTS),
    )
    sentence = _sentence(lines[0] if scale >= TO else lines[1])
    table = build_table(
        "rating-and-correctness", "Does a rating predict a right answer?", lines, sources, sentence, notes
    )
    return table, boot


def _replicated(
    rated: pd.DataFrame, options: Options, defects: Defects, replicates: int
) -> RatingAndCorrectness:
    return hase2020.rating_and_correctness(
        rated["participant"],
        rated["item"],
        rated["condition"],
        rated["rating"],
        rated["score"],
        replicates=replicates,
        seed=options.seed,
        defects=defects,
    )


def _line(name: str, fit: Logistic, boot: RatingCurve, step: tuple[int, int] | None) -> _Line:
    change = None
    if step is not None:
        before, after = fit.probability(step[0]), fit.probability(step[1])
        change = None if before is None or after is None else after - before
    drawn = boot.change[1]
    return _Line(
        name,
        fit.n,
        fit.slope,
        None if fit.slope is None else NONE.interval(boot.slope.low, boot.slope.high),
        "" if step is None else f"{step[0]} to {step[1]}",
        POINTS.of(change),
        None if change is None else POINTS.interval(drawn.low, drawn.high),
    )


def _published(name: str, n: int, boot: RatingCurve, start: int) -> _Line:
    drawn = boot.change[1]
    return _Line(
        name,
        n,
        boot.slope.estimate,
        NONE.interval(boot.slope.low, boot.slope.high),
        f"{start} to {start + 1}",
        POINTS.of(drawn.estimate),
        POINTS.interval(drawn.low, drawn.high),
    )


def _sentence(line: _Line) -> str:
    if line.ends is None:
        return "Right and wrong answers do not overlap in their ratings, or are all alike: there is no slope."
    low, high = line.ends
    by_one = f"one ({line.step})" if line.predictor == RAW else "one deviation"
    size = f"a rating higher by {by_one} goes with {between(low, high)} points of accuracy, 95% interval"
    if low > 0:
        return f"Higher ratings go with right answers: {size}."
    if high < 0:
        return f"Higher ratings go with wrong answers: {size}."
    return f"Ratings do not clearly predict right answers: {size}."


def rating_curve(boot: RatingAndCorrectness) -> Figure:
    """P(right) against the rating, with its interval."""
    expected = boot.raw.probability
    line = Line(
        "all conditions",
        tuple(boot.raw.at),
        tuple(share.estimate for share in expected),
        tuple(share.low for share in expected),
        tuple(share.high for share in expected),
    )
    return Figure(
        "rating-and-correctness",
        "Right answers by rating",
        Curve("rating of the explanation", "right answers", (line,)),
        "Share of right answers that the logistic regression expects at each rating.",
    )


def person_table(rated: pd.DataFrame, pairs: pd.DataFrame) -> Table:
    """A participant's Change against the mean of the ratings that the participant gave."""
    both = complete_pairs(pairs)
    line = hase2020.change_on_rating(
        (rated["participant"], rated["condition"], rated["rating"]),
        (both["participant"], both["condition"], both["pre"], both["post"]),
    )
    if line.slope is None or line.low is None or line.high is None:
        sentence = (
            "Too few people rated and have 15 items answered twice, or all gained alike: nothing can be said."
        )
    elif line.low > 0 or line.high < 0:
        more = "more" if line.slope > 0 else "less"
        size = f"{100 * abs(line.slope):.1f} points for one point of the scale"
        sentence = f"Participants who rate explanations higher gain {more}: {size}."
    else:
        sentence = "Participants who rate explanations higher do not clearly gain more, or less."
    return slope_table(
        "rating-and-change",
        "A participant's Change against the mean rating",
        line,
        POINTS,
        "points per point of the scale",
        sentence,
        "with fewer than 15 items answered twice, or without ratings",
    )
