"""Whether people agree in their graded answers: Fleiss' kappa and Krippendorff's alpha, with confidence and without.

What is rated is a question: one item under one condition. The paper's last row of Table 4 is "all conditions".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.tables import Source, Sources, Table, build_table, count, interval, number, text
from verax.results.units import NONE, Ends
from verax.stats.agreement import Agreement, fleiss_kappa, krippendorff_alpha
from verax.studies.analysis.within.conditions import all_and_each
from verax.studies.protocol.graded_answers import CANNOT_SAY
from verax.text import MINUS, listed

if TYPE_CHECKING:
    import pandas as pd

# Enough for an interval; more would only take longer.
MOST_REPLICATES = 2_000


@dataclass(frozen=True)
class Agreed:
    """How far people agree under one condition (or all), with how sure they are or without."""

    condition: str
    answers: str
    kappa: Agreement
    alpha: Agreement


def without_confidence(answer: str, score: float) -> str:
    """An answer without how sure it is: its class, or, where the answer is a choice of two models, the better or worse.

    Args:
        answer: what is stored: "1:certain", "none", or the worth of a choice ("-0.5").
        score: what it is worth.
    """
    if answer == CANNOT_SAY or score == 0:
        return CANNOT_SAY
    number_of_class, colon, _ = answer.partition(":")
    if colon:
        return number_of_class
    return "better" if score > 0 else "worse"


def agreement_table(answers: pd.DataFrame, names: Sequence[str], replicates: int, seed: int) -> Table:
    """Agreement over all conditions and under each, with confidence levels and without."""
    kept = min(replicates, MOST_REPLICATES)
    bare = [
        without_confidence(str(answer), float(score))
        for answer, score in zip(answers["answer"], answers["score"], strict=True)
    ]
    rated = answers.assign(
        question=answers["item"].astype(str) + " / " + answers["condition"].astype(str),
        full=answers["answer"].astype(str),
        bare=bare,
    )
    lines = [
        _agreed(part, name, title, column, kept, seed)
        for name, part in all_and_each(rated, names).items()
        for title, column in (("with confidence", "full"), ("without confidence", "bare"))
    ]
    sources: Sources[Agreed] = (
        text("condition", "Condition", lambda line: line.condition),
        text("answers", "Answers", lambda line: line.answers),
        number("kappa", "Fleiss' kappa", lambda line: line.kappa.value),
        interval("kappa_items", "95% over questions", lambda line: _over_items(line.kappa)),
        interval("kappa_raters", "95% over participants", lambda line: _over_raters(line.kappa)),
        number("alpha", "Krippendorff's alpha", lambda line: line.alpha.value),
        interval("alpha_items", "95% over questions", lambda line: _over_items(line.alpha)),
        interval("alpha_raters", "95% over participants", lambda line: _over_raters(line.alpha)),
        count("questions", "Questions", lambda line: line.kappa.n_items),
        count("raters", "Participants", lambda line: line.kappa.n_raters),
        count("ratings", "Answers", lambda line: line.kappa.n_ratings),
        Source("single", lambda line: line.kappa.single),
        Source("observed", lambda line: line.kappa.observed),
    )
    return build_table(
        "agreement",
        "How far people agree",
        lines,
        sources,
        _sentence(lines),
        _notes(lines[0].kappa.single, kept),
    )


def _agreed(part: pd.DataFrame, name: str, title: str, column: str, replicates: int, seed: int) -> Agreed:
    given = part["question"].tolist(), part["participant"].tolist(), part[column].tolist()
    return Agreed(
        name,
        title,
        fleiss_kappa(*given, replicates=replicates, seed=seed),
        krippendorff_alpha(*given, scale="nominal", replicates=replicates, seed=seed),
    )


def _over_items(agreement: Agreement) -> Ends:
    return NONE.interval(agreement.items_low, agreement.items_high)


def _over_raters(agreement: Agreement) -> Ends:
    return NONE.interval(agreement.raters_low, agreement.raters_high)


def _sentence(lines: Sequence[Agreed]) -> str:
    full, bare = lines[0], lines[1]
    if full.kappa.n_items == 0:
        return "No question was answered by two people: agreement cannot be told."
    if bare.kappa.value is None and full.kappa.value is None:
        return "Everybody gave the same answer to every question: kappa does not exist."
    parts = [
        f"{line.kappa.value:.2f} {line.answers} levels".replace("-", MINUS)
        for line in (full, bare)
        if line.kappa.value is not None
    ]
    return (
        f"Agreement of different people on the same question, by Fleiss' kappa (1 is perfect, 0 is chance): "
        f"{listed(parts)}."
    )


def _notes(single: int, replicates: int) -> list[str]:
    notes = [
        "Both coefficients take answers as categories without an order. A choice between two models is counted as the "
        "better or the worse one, since their sides on the page are random.",
        f"Intervals are percentiles of {replicates:,} bootstrap samples of questions, and of participants.",
    ]
    if single:
        notes.append(f"{single:,} questions with a single answer say nothing about agreement.")
    return notes
