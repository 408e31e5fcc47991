"""Whether people agree in their graded answers: Fleiss' kappa and Krippendorff's alpha, with confidence and without.

What is rated is a question: one item under one condition. The paper's last row of Table 4 is "all conditions".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verax.stats.agreement import fleiss_kappa, krippendorff_alpha
from verax.studies.analysis.contract import Column, Table
from verax.studies.protocol.graded_answers import CANNOT_SAY
from verax.text import MINUS, listed

if TYPE_CHECKING:
    import pandas as pd

ALL = "all conditions"
# Enough for an interval; more would only take longer.
MOST_REPLICATES = 2_000


def without_confidence(answer: str, score: float) -> str:
    """An answer without how sure it is: its class, or, where the answer is a choice of two models, the better or worse.

    Args:
        answer: what is stored: "1:certain", "none", or the worth of a choice ("-0.5").
        score: what it is worth.
    """
    if answer == CANNOT_SAY or score == 0:
        return CANNOT_SAY
    number, colon, _ = answer.partition(":")
    if colon:
        return number
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
    rows = []
    for name in [ALL, *names] if len(names) > 1 else list(names):
        part = rated if name == ALL else rated[rated["condition"] == name]
        for title, column in (("with confidence", "full"), ("without confidence", "bare")):
            rows.append(_row(part, name, title, column, kept, seed))
    return Table(
        key="agreement",
        title="How far people agree",
        columns=(
            Column("condition", "Condition", "text"),
            Column("answers", "Answers", "text"),
            Column("kappa", "Fleiss' kappa", "number"),
            Column("kappa_items", "95% over questions", "interval"),
            Column("kappa_raters", "95% over participants", "interval"),
            Column("alpha", "Krippendorff's alpha", "number"),
            Column("alpha_items", "95% over questions", "interval"),
            Column("alpha_raters", "95% over participants", "interval"),
            Column("questions", "Questions", "count"),
            Column("raters", "Participants", "count"),
            Column("ratings", "Answers", "count"),
        ),
        rows=tuple(rows),
        sentence=_sentence(rows),
        notes=_notes(rows, kept),
    )


def _row(
    part: pd.DataFrame, name: str, title: str, column: str, replicates: int, seed: int
) -> dict[str, Any]:
    given = part["question"].tolist(), part["participant"].tolist(), part[column].tolist()
    kappa = fleiss_kappa(*given, replicates=replicates, seed=seed)
    alpha = krippendorff_alpha(*given, scale="nominal", replicates=replicates, seed=seed)
    return {
        "condition": name,
        "answers": title,
        "kappa": kappa.value,
        "kappa_items": _ends(kappa.items_low, kappa.items_high),
        "kappa_raters": _ends(kappa.raters_low, kappa.raters_high),
        "alpha": alpha.value,
        "alpha_items": _ends(alpha.items_low, alpha.items_high),
        "alpha_raters": _ends(alpha.raters_low, alpha.raters_high),
        "questions": kappa.n_items,
        "raters": kappa.n_raters,
        "ratings": kappa.n_ratings,
        "single": kappa.single,
        "observed": kappa.observed,
    }


def _ends(low: float | None, high: float | None) -> list[float] | None:
    return None if low is None or high is None else [low, high]


def _sentence(rows: Sequence[dict[str, Any]]) -> str:
    full, bare = rows[0], rows[1]
    if full["questions"] == 0:
        return "No question was answered by two people: agreement cannot be told."
    if bare["kappa"] is None and full["kappa"] is None:
        return "Everybody gave the same answer to every question: kappa does not exist."
    parts = [
        f"{row['kappa']:.2f} {row['answers']} levels".replace("-", MINUS)
        for row in (full, bare)
        if row["kappa"] is not None
    ]
    return (
        f"Agreement of different people on the same question, by Fleiss' kappa (1 is perfect, 0 is chance): "
        f"{listed(parts)}."
    )


def _notes(rows: Sequence[dict[str, Any]], replicates: int) -> tuple[str, ...]:
    notes = [
        "Both coefficients take answers as categories without an order. A choice between two models is counted as the "
        "better or the worse one, since their sides on the page are random.",
        f"Intervals are percentiles of {replicates:,} bootstrap samples of questions, and of participants.",
    ]
    if rows[0]["single"]:
        notes.append(f"{rows[0]['single']:,} questions with a single answer say nothing about agreement.")
    return tuple(notes)
