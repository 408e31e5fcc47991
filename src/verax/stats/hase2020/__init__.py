"""The analysis of Hase & Bansal (2020), "Evaluating Explainable AI", as their published script computes it.

A reproduction: for your own conclusions use an estimator whose error rate is right (`NOTE` says what was measured of
this one). The script's defects are kept and can be mended one by one with `Defects`. All results are shares and
differences of shares: times 100 they are percent and points (ratings are in their own unit). Letters name the parts:

- (B) `change`: accuracy after explanations minus accuracy before, per method;
- (C) `user_average`: accuracy before explanations;
- (D) `rating_table`, `rating_by_correctness`, `change_on_rating`: ratings of explanations;
- (E) `rating_and_correctness`: does a rating predict a right answer?
- (F) `regression_to_mean`: Change against Pre.
"""

from verax.stats.hase2020.changes import (
    AS_PUBLISHED,
    MENDED,
    NOTE,
    Change,
    Changes,
    Defects,
    Replicated,
    change,
    change_of_counts,
)
from verax.stats.hase2020.ratings import (
    GridMean,
    RatingAndCorrectness,
    RatingByCorrectness,
    RatingCurve,
    RatingRow,
    RegressionLine,
    change_on_rating,
    rating_and_correctness,
    rating_by_correctness,
    rating_table,
    regression_to_mean,
    user_average,
)

__all__ = [
    "AS_PUBLISHED",
    "MENDED",
    "NOTE",
    "Change",
    "Changes",
    "Defects",
    "GridMean",
    "RatingAndCorrectness",
    "RatingByCorrectness",
    "RatingCurve",
    "RatingRow",
    "RegressionLine",
    "Replicated",
    "change",
    "change_of_counts",
    "change_on_rating",
    "rating_and_correctness",
    "rating_by_correctness",
    "rating_table",
    "regression_to_mean",
    "user_average",
]
