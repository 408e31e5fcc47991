"""How people rate explanations, and whether ratings tell what helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from verax.phrases import say as say_phrase
from verax.results.figures import Curve, Figure, Line
from verax.results.tables import Source, Sources, Table, build_table, count, interval, number, p_value, text
from verax.results.units import NONE, POINTS, Ends
from verax.stats import hase2020
from verax.stats.crossed.between import changes
from verax.stats.crossed.result import Crossed
from verax.stats.hase2020 import MENDED, Defects, RatingAndCorrectness, RatingCurve
from verax.stats.logistic import Logistic, logistic, normalised
from verax.stats.responses import responses
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.effects import complete_pairs
from verax.studies.analysis.between.hase2020 import defects_of, slope_table
from verax.studies.results.study_summary import Options
from verax.text import between, signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
EVERYBODY = "all"
RIGHT, WRONG, DIFFERENCE = "right", "wrong", "difference"


@dataclass(frozen=True)
class _RatingRow:
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


def _rating_row(name: str, own: pd.Series, ratings: Crossed) -> _RatingRow:
    return _RatingRow(name, ratings, float(own.std(ddof=1)) if len(own) > 1 else None)


def _sources(first: Source[_RatingRow], tested: bool) -> Sources[_RatingRow]:
    """The columns that both tables of ratings have."""
    test: Sources[_RatingRow] = (p_value("p", "p", lambda line: line.p),)
    return (
        first,
        count("participants", say_table("column-participants"), lambda line: line.ratings.n_participants),
        count("n", "n", lambda line: line.ratings.n_answers),
        number("mean", say_table("column-mean"), lambda line: line.ratings.estimate),
        interval(
            "interval",
            say_table("column-interval"),
            lambda line: NONE.interval(line.ratings.low, line.ratings.high),
        ),
        number("spread", say_table("column-standard-deviation"), lambda line: line.spread),
        *(test if tested else ()),
    )


def ratings_table(rated: pd.DataFrame, order: tuple[str, ...], items: Items, level: float) -> Table:
    """n, mean, interval and spread of the ratings of each condition."""
    rows = responses(rated["participant"], rated["item"], rated["condition"], rated["rating"])
    means = dict(zip(rows.methods, changes(rows, items, level=level), strict=True))
    by_name = {name: rated.loc[rated["condition"] == name, "rating"] for name in order if name in means}
    lines = [_rating_row(name, own, means[name]) for name, own in by_name.items()]
    return build_table(
        "ratings",
        say_table("ratings"),
        lines,
        _sources(text("condition", say_table("column-condition"), lambda line: line.name), tested=False),
        _ratings_sentence(lines),
        [say_table("ratings-mean")],
    )


def _ratings_sentence(lines: Sequence[_RatingRow]) -> str:
    means = {line.name: line.ratings.estimate or 0.0 for line in lines}
    if len(means) == 1:
        (name, mean), *_ = means.items()
        return say("rated-one", condition=name, mean=f"{mean:.1f}")
    ranked = sorted(means, key=lambda name: -means[name])
    parts = [say("difference-bare", condition=name, size=f"{means[name]:.1f}") for name in ranked]
    return say("rated-several", parts=parts)


def correctness_table(rated: pd.DataFrame, items: Items) -> Table:
    """Ratings where the model was right and where it was wrong, and their difference within participants."""
    known = rated[rated["model_correct"].notna()]
    sides = {side: known[known["model_correct"] == value] for side, value in ((RIGHT, 1), (WRONG, 0))}
    difference = correctness_difference(known, items)
    lines = [_rating_row(side, own["rating"], _side(own, items)) for side, own in sides.items() if len(own)]
    if difference is not None:
        lines.append(_RatingRow(DIFFERENCE, difference, None, difference.p))
    return build_table(
        "ratings-by-correctness",
        say_table("ratings-by-correctness"),
        lines,
        _sources(text("model", say_table("column-model-is"), lambda line: line.name), tested=True),
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
        return say("rated-not-both")
    said = signed(difference.estimate, 2)
    ends = NONE.interval(difference.low, difference.high)
    if ends is None or difference.p is None:
        return say("rated-no-interval", size=said)
    size = say("rated-difference", size=said, interval=between(*ends, decimals=2))
    if not difference.enough:
        return say("rated-too-few", difference=size)
    if difference.p <= ALPHA:
        return say("rated-higher", side=RIGHT if difference.estimate > 0 else WRONG, difference=size)
    return say("rated-alike", difference=size)


# The step that the paper reports, on a scale of 7.
FROM, TO = 4, 5
RAW, NORMALISED = "rating", "rating, normalised within participants"


@dataclass(frozen=True)
class _RatingValueRow:
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
        _rating_value_row(
            RAW, logistic(rated["rating"], rated["score"]), boot.raw, (FROM, TO) if scale >= TO else None
        ),
        _rating_value_row(NORMALISED, logistic(scaled, rated["score"]), boot.normalised, (0, 1)),
    ]
    notes = [say_table("ratings-intervals")]
    if published is not None and len(published):
        drawn = _replicated(published, options, defects_of(options), options.regression_replicates)
        lines += [
            _published(say_table("predictor-published", predictor=RAW), drawn.n, drawn.raw, FROM),
            _published(
                say_table("predictor-normalised-published", predictor=RAW), drawn.n, drawn.normalised, 0
            ),
        ]
        notes.append(say_table("ratings-reproduction", replicates=options.regression_replicates))
    sources: Sources[_RatingValueRow] = (
        text("predictor", say_table("column-predictor"), lambda line: line.predictor),
        count("n", "n", lambda line: line.n),
        number("slope", say_table("column-slope"), lambda line: line.slope, "log-odds"),
        interval("slope_interval", say_table("column-interval"), lambda line: line.slope_ends),
        text("step", say_table("column-step"), lambda line: line.step),
        number("change", say_table("column-change-of-accuracy"), lambda line: line.change, POINTS),
        interval("interval", say_table("column-interval"), lambda line: line.ends, POINTS),
    )
    sentence = _sentence(lines[0] if scale >= TO else lines[1])
    table = build_table(
        "rating-and-correctness", say_table("rating-and-correctness"), lines, sources, sentence, notes
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


def _rating_value_row(
    name: str, fit: Logistic, boot: RatingCurve, step: tuple[int, int] | None
) -> _RatingValueRow:
    change = None
    if step is not None:
        before, after = fit.probability(step[0]), fit.probability(step[1])
        change = None if before is None or after is None else after - before
    drawn = boot.change[1]
    return _RatingValueRow(
        name,
        fit.n,
        fit.slope,
        None if fit.slope is None else NONE.interval(boot.slope.low, boot.slope.high),
        "" if step is None else say_table("steps", first=step[0], last=step[1]),
        POINTS.of(change),
        None if change is None else POINTS.interval(drawn.low, drawn.high),
    )


def _published(name: str, n: int, boot: RatingCurve, start: int) -> _RatingValueRow:
    drawn = boot.change[1]
    return _RatingValueRow(
        name,
        n,
        boot.slope.estimate,
        NONE.interval(boot.slope.low, boot.slope.high),
        say_table("steps", first=start, last=start + 1),
        POINTS.of(drawn.estimate),
        POINTS.interval(drawn.low, drawn.high),
    )


def _sentence(line: _RatingValueRow) -> str:
    if line.ends is None:
        return say("slope-none")
    low, high = line.ends
    return say(
        "slope",
        way="right" if low > 0 else "wrong" if high < 0 else "unclear",
        step="raw" if line.predictor == RAW else "normalised",
        steps=line.step,
        interval=between(low, high),
    )


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
        say_table("figure-rating"),
        Curve(say_table("figure-rating-x"), say_table("figure-rating-y"), (line,)),
        say_table("figure-rating-says"),
    )


def person_table(rated: pd.DataFrame, pairs: pd.DataFrame) -> Table:
    """A participant's Change against the mean of the ratings that the participant gave."""
    both = complete_pairs(pairs)
    line = hase2020.change_on_rating(
        (rated["participant"], rated["condition"], rated["rating"]),
        (both["participant"], both["condition"], both["pre"], both["post"]),
    )
    if line.slope is None or line.low is None or line.high is None:
        sentence = say("gain-too-few")
    elif line.low > 0 or line.high < 0:
        way, size = "more" if line.slope > 0 else "less", f"{100 * abs(line.slope):.1f}"
        sentence = say("gain-by-rating", way=way, size=size)
    else:
        sentence = say("gain-by-rating-unclear")
    return slope_table(
        "rating-and-change",
        say_table("rating-and-change"),
        line,
        POINTS,
        "points per point of the scale",
        sentence,
        fewest=15,
    )
