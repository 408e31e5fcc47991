"""Answers before and after explanations, side by side: one row per participant and item; and ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.stats.responses import Responses, responses
from verax.stats.thresholds import FEWEST_ITEMS

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items
    from verax.studies.protocol.findings import Analysed

PRE, POST, RATING = "pre", "post", "rating"
STRATUM = "stratum"
LEFT = "left"  # the exclusion rule of that name


def answers_as_published(data: Analysed) -> pd.DataFrame:
    """The answers that the paper counts: also those of people who left early.

    Hase and Bansal (2020), section 4.2: people who were screened out or excluded do not count; of people who had to go
    before the end "we consider only task items answered in both Pre and Post test phases". So a rule that does no more
    than exclude who left excludes nobody here.
    """
    people = data.intended_participants
    counted = people["rules"].map(lambda rules: set(rules) <= {LEFT}) & (people["status"] != "screened-out")
    kept = data.intended[data.intended["participant"].isin(set(people.loc[counted, "participant"]))]
    # Of bots, if rules against haste leave nobody, everybody: as in the other tables.
    return data.responses if data.people == "bots" and not len(kept) else kept.reset_index(drop=True)


def paired(answers: pd.DataFrame, scored: str, balanced: str | None = None) -> pd.DataFrame:
    """Columns participant, item, condition, pre, post (scores), late (either was); sorted, pairs with a score only.

    Items that were chosen in equal numbers of two sorts (perturbations that flip the model's answer and others that do
    not) have their sort in a column ``stratum``: what differs between sorts is no chance of the items.

    Args:
        answers: with the columns of `verax.studies.answers.schema.RESPONSES`.
        scored: the question whose answers are scored.
        balanced: the column whose values the items were balanced over; None if over none.
    """
    wanted = answers["phase"].isin((PRE, POST)) & (answers["question"] == scored) & answers["score"].notna()
    kept = answers.loc[wanted, ["participant", "item", "condition", "phase", "score", "late"]]
    refuse_repeats(kept, ["participant", "item", "phase"])
    key = ["participant", "item", "condition"]
    before, after = (
        kept[kept["phase"] == phase]
        .rename(columns={"score": phase, "late": f"{phase}_late"})
        .drop(columns="phase")
        for phase in (PRE, POST)
    )
    both = before.merge(after, on=key, how="outer")
    both["late"] = both["pre_late"].eq(True) | both["post_late"].eq(True)
    columns = [*key, PRE, POST, "late"]
    if balanced is not None:
        sorts = answers.loc[wanted & answers[balanced].notna()].groupby("item")[balanced].first()
        both[STRATUM] = both["item"].map(sorts.astype(str)).fillna("unknown")
        columns.append(STRATUM)
    return both[columns].sort_values(key, ignore_index=True)


def ratings(answers: pd.DataFrame) -> pd.DataFrame:
    """Columns participant, item, condition, rating, model_correct, and score, of the answer on the same page if any."""
    rated = answers[(answers["question"] == RATING) & answers["answer"].notna()]
    refuse_repeats(rated, ["participant", "item", "phase"])
    same_page = answers.loc[answers["score"].notna(), ["participant", "step", "score"]]
    kept = rated[["participant", "item", "condition", "step", "answer", "model_correct"]]
    found = kept.merge(same_page, on=["participant", "step"], how="left")
    found["rating"] = found["answer"].astype(float)
    found["model_correct"] = found["model_correct"].astype(float)
    columns = ["participant", "item", "condition", "rating", "model_correct", "score"]
    return found[columns].sort_values(columns[:3], ignore_index=True)


def ratings_as_published(data: Analysed) -> pd.DataFrame:
    """Ratings of those whom the paper counts; a score stands beside a rating only where there is one before too."""
    answers = answers_as_published(data)
    found = ratings(answers)
    both = complete_pairs(paired(answers, data.scored))
    twice = set(zip(both["participant"], both["item"], strict=True))
    known = [pair in twice for pair in zip(found["participant"], found["item"], strict=True)]
    return found.assign(score=found["score"].where(known))


def refuse_repeats(rows: pd.DataFrame, key: list[str]) -> None:
    """Refuses two answers to one question: which of them counts cannot be known."""
    again = rows[rows.duplicated(key, keep="first")]
    if len(again):
        first = again.iloc[0]
        raise VeraxError(
            f"Participant {first['participant']} has two answers on item {first['item']} in the phase "
            f"{first['phase']!r} ({len(again):,} such in all): a row stands twice; export the answers again."
        )


def as_responses(pairs: pd.DataFrame, *, only: str | None = None) -> Responses:
    """The pairs as the stats layer takes them: Pre and Post, or one of them ("pre") as the only score."""
    return responses(
        pairs["participant"],
        pairs["item"],
        pairs["condition"],
        pairs[POST if only is None else only],
        pairs[PRE] if only is None else None,
        pairs.get(STRATUM),
    )


def complete_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Only items that were answered both before and after."""
    return pairs[pairs[PRE].notna() & pairs[POST].notna()]


def claimed_items(rows: pd.DataFrame) -> Items:
    """Whether a claim can be about items like these, or, with fewer than 16, about these items only."""
    return "random" if rows["item"].nunique() >= FEWEST_ITEMS else "fixed"
