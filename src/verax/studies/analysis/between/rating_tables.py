"""How people rate explanations: by condition, and by whether the model was right (the paper's Tables 3 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verax.stats import hase2020
from verax.stats.crossed.between import changes
from verax.stats.crossed.result import Crossed
from verax.stats.responses import responses
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.hase2020_tables import defects_of
from verax.studies.analysis.contract import Column, Options, Table
from verax.text import between, listed, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items
    from verax.stats.hase2020 import RatingByCorrectness

EVERYBODY = "all"
RIGHT, WRONG, DIFFERENCE = "right", "wrong", "difference"


def ratings_table(rated: pd.DataFrame, order: tuple[str, ...], items: Items, options: Options) -> Table:
    """n, mean, interval and spread of the ratings of each condition."""
    rows = responses(rated["participant"], rated["item"], rated["condition"], rated["rating"])
    found = dict(zip(rows.methods, changes(rows, items, level=options.level), strict=True))
    published = _published_means(rated, options)
    lines = tuple(_rating_row(name, rated, found[name], published) for name in order if name in found)
    columns = [
        Column("condition", "Condition", "text"),
        Column("participants", "Participants", "count"),
        Column("n", "n", "count"),
        Column("mean", "Mean", "number"),
        Column("interval", "95% interval", "interval"),
        Column("spread", "Standard deviation", "number"),
    ]
    if published:
        columns.append(Column("ci_hase2020", "CI as published", "number"))
    return Table(
        key="ratings",
        title="Ratings of the explanations",
        columns=tuple(columns),
        rows=lines,
        sentence=_ratings_sentence(lines),
        notes=("The mean is over participants' means.",)
        if not published
        else (
            "The mean is over participants' means; "
            "the published CI is half the width of a bootstrap interval of the plain mean.",
        ),
    )


def _published_means(rated: pd.DataFrame, options: Options) -> dict[str, float | None]:
    if options.estimator == "crossed":
        return {}
    rows = hase2020.rating_table(
        rated["participant"],
        rated["item"],
        rated["condition"],
        rated["rating"],
        replicates=options.replicates,
        seed=options.seed,
    )
    return {str(one.method): one.rating.boot.half_width for one in rows}


def _rating_row(
    name: str, rated: pd.DataFrame, one: Crossed, published: dict[str, float | None]
) -> dict[str, Any]:
    own = rated.loc[rated["condition"] == name, "rating"]
    return {
        "condition": name,
        "participants": one.n_participants,
        "n": one.n_answers,
        "mean": one.estimate,
        "interval": None if one.low is None else [one.low, one.high],
        "spread": float(own.std(ddof=1)) if len(own) > 1 else None,
        "ci_hase2020": published.get(name),
    }


def _ratings_sentence(lines: tuple[dict[str, Any], ...]) -> str:
    if len(lines) == 1:
        return f"Explanations of {lines[0]['condition']} were rated {lines[0]['mean']:.1f} on average."
    ranked = sorted(lines, key=lambda line: -line["mean"])
    parts = listed([f"{line['condition']} {line['mean']:.1f}" for line in ranked])
    return f"Mean ratings, highest first: {parts}. A rating says what people think of an explanation, not what it does."


def correctness_table(rated: pd.DataFrame, items: Items, options: Options) -> Table:
    """Ratings where the model was right and where it was wrong, and their difference within participants."""
    known = rated[rated["model_correct"].notna()]
    means = {
        side: _side(known[known["model_correct"] == value], items) for side, value in ((RIGHT, 1), (WRONG, 0))
    }
    difference = correctness_difference(known, items)
    published = _published_sides(known, options)
    half_widths = {} if published is None else _half_widths(published)
    lines = [
        {**_side_row(side, known, one), "ci_hase2020": half_widths.get(side)}
        for side, one in means.items()
        if one is not None
    ]
    if difference is not None:
        lines.append(
            {
                "model": DIFFERENCE,
                "participants": difference.n_participants,
                "n": difference.n_answers,
                "mean": difference.estimate,
                "interval": None if difference.low is None else [difference.low, difference.high],
                "spread": None,
                "p": difference.p,
                "ci_hase2020": half_widths.get(DIFFERENCE),
            }
        )
    columns = [
        Column("model", "The model is", "text"),
        Column("participants", "Participants", "count"),
        Column("n", "n", "count"),
        Column("mean", "Mean", "number"),
        Column("interval", "95% interval", "interval"),
        Column("spread", "Standard deviation", "number"),
        Column("p", "p", "p"),
    ]
    if published is not None:
        columns.append(Column("ci_hase2020", "CI as published", "number"))
    note = "" if published is None else _published_note(published)
    return Table(
        key="ratings-by-correctness",
        title="Ratings by whether the model was right",
        columns=tuple(columns),
        rows=tuple(lines),
        sentence=_difference_sentence(difference),
        notes=(note,) if note else (),
    )


def _side(rated: pd.DataFrame, items: Items) -> Crossed | None:
    if not len(rated):
        return None
    (one,) = changes(
        responses(rated["participant"], rated["item"], [EVERYBODY] * len(rated), rated["rating"]), items
    )
    return one


def _side_row(side: str, known: pd.DataFrame, one: Crossed) -> dict[str, Any]:
    own = known.loc[known["model_correct"] == (side == RIGHT), "rating"]
    return {
        "model": side,
        "participants": one.n_participants,
        "n": one.n_answers,
        "mean": one.estimate,
        "interval": None if one.low is None else [one.low, one.high],
        "spread": float(own.std(ddof=1)) if len(own) > 1 else None,
        "p": None,
    }


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
    (one,) = changes(rows, items)
    return one


def _published_sides(known: pd.DataFrame, options: Options) -> RatingByCorrectness | None:
    if options.estimator == "crossed" or not len(known):
        return None
    return hase2020.rating_by_correctness(
        known["participant"],
        known["item"],
        known["condition"],
        known["rating"],
        known["model_correct"],
        replicates=options.replicates,
        seed=options.seed,
        defects=defects_of(options),
    )


def _half_widths(published: RatingByCorrectness) -> dict[str, float | None]:
    sides = {RIGHT: published.right, WRONG: published.wrong}
    means = {side: one.boot.half_width for side, one in sides.items() if one is not None}
    return {**means, DIFFERENCE: published.difference.half_width}


def _published_note(published: RatingByCorrectness) -> str:
    found = published.difference
    if found.estimate is None or found.half_width is None or found.p is None:
        return ""
    return (
        f"As published (a reproduction): difference {signed(found.estimate, 2)} \N{PLUS-MINUS SIGN} "
        f"{found.half_width:.2f}, {p_text(found.p)}."
    )


def _difference_sentence(one: Crossed | None) -> str:
    if one is None or one.estimate is None:
        return "No participant rated explanations of right and of wrong predictions: they cannot be compared."
    if one.low is None or one.high is None or one.p is None:
        return f"Rated {signed(one.estimate, 2)} where the model was right against wrong; no interval can be given."
    size = f"{signed(one.estimate, 2)} points of the scale, 95% interval {between(one.low, one.high, 2)}"
    if not one.enough:
        return f"Too few participants for a claim on ratings where the model was right and wrong ({size})."
    if one.p <= ALPHA:
        which = "right" if one.estimate > 0 else "wrong"
        return f"Explanations were rated higher where the model was {which} ({size}): not only reasons are rated."
    return f"Ratings do not clearly depend on whether the model was right ({size})."
