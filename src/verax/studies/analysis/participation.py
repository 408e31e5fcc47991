"""Who took part: the flow of participants, losses and exclusions by condition, and the balance that was reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from verax.phrases import say as say_phrase
from verax.results.figures import Flow
from verax.results.tables import Sources, build_table, count, share, text
from verax.stats.estimate import Estimate, binomial_share, share_difference
from verax.stats.thresholds import ALPHA
from verax.studies.design import offered_again
from verax.studies.protocol.common_steps import has_door
from verax.studies.protocol.contract import Analysed, make_protocol
from verax.studies.results.study_facts import Attrition, Balance, ItemAnswers
from verax.studies.results.study_summary import People
from verax.text import p_text

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.schema import Collected

say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")


def flow_of(collected: Collected, data: Analysed) -> Flow:
    """Counts the participants, or the bots, whichever are analysed."""
    is_bot = collected.participants["bot"].astype(bool)
    everybody = collected.participants[is_bot == (data.people == "bots")]
    status = everybody["status"]
    left = (status == "active") & everybody["left"].astype(bool)
    complete = set(everybody.loc[status == "complete", "participant"])
    deleted = int(((status == "complete") & (everybody["steps"] == 0)).sum())
    rules = collected.exclusions
    rules = rules[rules["in_force"].astype(bool) & rules["participant"].isin(complete)]
    return Flow(
        arrived=len(everybody),
        undecided=int((status == "invited").sum()),
        declined=int((status == "declined").sum()),
        no_place=int(status.isin(["full", "over-quota"]).sum()),
        screened_out=int((status == "screened-out").sum()),
        withdrawn=int((status == "withdrawn").sum()),
        left=int(left.sum()),
        under_way=int(((status == "active") & ~left).sum()),
        complete=len(complete),
        deleted=deleted,
        excluded={str(rule): int(who.nunique()) for rule, who in rules.groupby("rule")["participant"]},
        excluded_people=len(complete) - deleted - len(data.participants),
        offered_again=_offered_again(collected, everybody) if data.people == "participants" else 0,
        analysed=len(data.participants),
        intended=len(data.intended_participants),
        of_the_others=len(collected.participants) - len(everybody),
    )


def _offered_again(collected: Collected, everybody: pd.DataFrame) -> int:
    """How many places of excluded people could be taken by others, as far as the study's limit goes."""
    study = collected.study
    if not study.spec.exclusion:
        return 0
    out = everybody[(everybody["status"] == "complete") & everybody["excluded"].astype(bool)]
    return sum(
        offered_again(row, int((out["design_row"] == row.number).sum()), study.spec.replace_excluded)
        for row in study.rows
    )


def flow_problems(flow: Flow, people: People) -> list[str]:
    """What of the flow keeps answers from being analysed."""
    who = "bot" if people == "bots" else "participant"
    said = []
    if flow.arrived == 0:
        said.append(say("nobody-came", who=who, others=flow.of_the_others))
    elif flow.intended == 0:
        said.append(say("nobody-answered-of", who=who, arrived=flow.arrived))
    elif flow.analysed == 0:
        said.append(say("nobody-complete", who=who, complete=flow.complete))
        if who == "bot" and "too-fast" in flow.excluded:
            said[-1] += f" {say('bots-do-not-wait')}"
    if flow.under_way:
        said.append(say("under-way", who=who, count=flow.under_way))
    return said


# Up to so many tables with the same margins are counted one by one.
MOST_TABLES = 200_000


@dataclass(frozen=True)
class _Losses:
    """Who of a condition (or of a row of the design) is where."""

    condition: str
    placed: int
    screened_out: int
    left: int
    withdrawn: int
    under_way: int
    complete: int
    excluded: int

    @property
    def lost(self) -> int:
        """Those who left or withdrew after they got a place."""
        return self.left + self.withdrawn

    @property
    def share(self) -> float | None:
        """Lost of those of whom it is known."""
        known = self.complete + self.lost
        return self.lost / known if known else None


def attrition(collected: Collected, data: Analysed) -> Attrition:
    """Losses by condition, with the test that they are alike.

    Lost are those who left or withdrew after they got a place; who failed the screening test is counted apart, and
    who is still under way is not counted.
    """
    is_bot = collected.participants["bot"].astype(bool)
    everybody = collected.participants[is_bot == (data.people == "bots")]
    placed = everybody[everybody["design_row"].notna()]
    names, groups = _groups(data, placed)
    losses = [_losses(name, placed[groups == name]) for name in names]
    p, test = equal_losses([row.lost for row in losses], [row.complete for row in losses])
    sources: Sources[_Losses] = (
        text("condition", say_table("column-condition"), lambda row: row.condition),
        count("placed", say_table("column-got-a-place"), lambda row: row.placed),
        count("screened_out", say_table("column-screened-out"), lambda row: row.screened_out),
        count("left", say_table("column-left"), lambda row: row.left),
        count("withdrawn", say_table("column-withdrew"), lambda row: row.withdrawn),
        count("under_way", say_table("column-under-way"), lambda row: row.under_way),
        count("complete", say_table("column-complete"), lambda row: row.complete),
        count("excluded", say_table("column-excluded"), lambda row: row.excluded),
        share("lost", say_table("column-lost"), lambda row: row.share),
    )
    sentence = _attrition_sentence(losses, p, test)
    if under_way := sum(row.under_way for row in losses):
        sentence += f" {say('lost-under-way', count=under_way)}"
    table = build_table("attrition", say_table("attrition"), losses, sources, sentence)
    return Attrition(**vars(table), p=p, test=test)


def _groups(data: Analysed, placed: pd.DataFrame) -> tuple[list[str], pd.Series]:
    """The names of the groups and each participant's: conditions, or design rows where people see several."""
    if placed["condition"].notna().all():
        return [condition.name for condition in data.conditions], placed["condition"]
    numbers = placed["design_row"].astype(int)
    return [f"row {row.number}" for row in data.study.rows], "row " + numbers.astype(str)


def _losses(name: str, people: pd.DataFrame) -> _Losses:
    status, left = people["status"], people["left"].astype(bool)
    return _Losses(
        name,
        placed=len(people),
        screened_out=int((status == "screened-out").sum()),
        left=int(((status == "active") & left).sum()),
        withdrawn=int((status == "withdrawn").sum()),
        under_way=int(((status == "active") & ~left).sum()),
        complete=int((status == "complete").sum()),
        excluded=int(((status == "complete") & people["excluded"].astype(bool)).sum()),
    )


def equal_losses(lost: Sequence[int], stayed: Sequence[int]) -> tuple[float | None, str]:
    """The p-value of equal losses in all groups, and the name of the test; None where there is nothing to test.

    Fisher's exact test (for more than two groups in Freeman and Halton's form) where the tables can be counted,
    chi-square where they are too many.
    """
    pairs = [(gone, stay) for gone, stay in zip(lost, stayed, strict=True) if gone + stay]
    total = sum(gone for gone, _ in pairs)
    if len(pairs) < 2 or total == 0 or total == sum(gone + stay for gone, stay in pairs):
        return None, "none"
    sizes = tuple(gone + stay for gone, stay in pairs)
    if _tables(sizes, total) <= MOST_TABLES:
        return _fisher(tuple(gone for gone, _ in pairs), sizes), "Fisher's exact test"
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(np.array(pairs), correction=False).pvalue), "chi-square test"


def _tables(sizes: tuple[int, ...], total: int) -> int:
    """How many ways there are to have so many losses in groups of these sizes."""
    ways = [1] + [0] * total
    for size in sizes:
        ways = [sum(ways[max(0, k - size) : k + 1]) for k in range(total + 1)]
    return ways[total]


def _fisher(lost: tuple[int, ...], sizes: tuple[int, ...]) -> float:
    """The probability, with these margins, of tables that are at most as probable as the one observed."""
    limit = sum(_log_choose(size, gone) for size, gone in zip(sizes, lost, strict=True)) + 1e-9
    whole = _log_choose(sum(sizes), sum(lost))

    def add(place: int, left: int, so_far: float) -> float:
        if place == len(sizes) - 1:
            if left > sizes[place]:
                return 0.0
            total = so_far + _log_choose(sizes[place], left)
            return math.exp(total - whole) if total <= limit else 0.0
        most = min(left, sizes[place])
        return sum(
            add(place + 1, left - gone, so_far + _log_choose(sizes[place], gone)) for gone in range(most + 1)
        )

    return min(1.0, add(0, sum(lost), 0.0))


@cache
def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _attrition_sentence(losses: list[_Losses], p: float | None, test: str) -> str:
    total = sum(row.lost for row in losses)
    if total == 0:
        return say("lost-nobody")
    parts = [
        say("lost-part", share=f"{row.share:.0%}", condition=row.condition)
        for row in losses
        if row.share is not None
    ]
    if p is None:
        return say("lost-no-conditions", total=total, parts=parts)
    return say("lost-differ" if p <= ALPHA else "lost-alike", parts=parts, test=test, p=p_text(p))


@dataclass(frozen=True)
class ScreenedOut:
    """What is said of the screening test, and which claims it weakens."""

    said: str = ""
    problems: tuple[str, ...] = ()


def screened_out(collected: Collected, data: Analysed) -> ScreenedOut:
    """Compares the shares of those who were screened out; there is nothing to compare where the test came before."""
    study, people = data.study, collected.participants
    if study.screening is None:
        return ScreenedOut()
    people = people[people["bot"].astype(bool) == (data.people == "bots")]
    out = int((people["status"] == "screened-out").sum())
    if has_door(study):
        return ScreenedOut(say("screening-same", out=out))
    # Who is still at the test, or left or withdrew during it, neither passed nor failed.
    early = [key for key, phase in study.phases.items() if phase.kind == "screening" or key == "instructions"]
    beyond = people["phase"].notna() & ~people["phase"].isin(early)
    judged = people[people["status"].isin(["screened-out", "complete"]) | beyond]
    judged = judged[judged["design_row"].notna()]
    if judged["condition"].isna().any():
        return ScreenedOut(say("screening-all-conditions", out=out))
    shares = {
        condition.name: binomial_share((of["status"] == "screened-out").astype(float))
        for condition in data.conditions
        if len(of := judged[judged["condition"] == condition.name])
    }
    return _compared(shares) if len(shares) > 1 and out else ScreenedOut(_shares(shares) if shares else "")


def _compared(shares: dict[str, Estimate]) -> ScreenedOut:
    ordered = sorted(shares, key=lambda name: shares[name].mean, reverse=True)
    differences = {
        (more, fewer): share_difference(shares[more], shares[fewer])
        for more, fewer in combinations(ordered, 2)
    }
    (most, least), largest = (ordered[0], ordered[-1]), differences[ordered[0], ordered[-1]]
    between = {"more": most, "fewer": least}
    said = f"{_shares(shares)} {say('screening-largest', points=_points(largest), **between)}"
    problems = tuple(
        say("screening-more", more=more, fewer=fewer, points=_points(difference))
        for (more, fewer), difference in differences.items()
        if (difference.low or 0.0) > 0
    )
    if problems:
        return ScreenedOut(said, problems)
    size = f"{100 * (largest.high or 0.0):.0f}"
    return ScreenedOut(f"{said} {say('screening-unclear', size=size, **between)}")


def _shares(shares: dict[str, Estimate]) -> str:
    parts = [
        say("screening-share", share=f"{100 * share.mean:.0f}", condition=name, **_ends(share))
        for name, share in shares.items()
    ]
    return say("screening-shares", parts=parts)


def _points(difference: Estimate) -> str:
    return say("screening-points", size=f"{100 * difference.mean:.0f}", **_ends(difference))


def _ends(estimate: Estimate) -> dict[str, str]:
    """The ends of an interval in per cent."""
    return {"low": f"{100 * (estimate.low or 0.0):.0f}", "high": f"{100 * (estimate.high or 0.0):.0f}"}


# Rows that differ by so many times (and two people) are called unequal.
UNEQUAL = 1.5


@dataclass(frozen=True)
class _Reached:
    """How many people of a row of the design are analysed."""

    row: int
    shows: str
    target: int
    analysed: int


def balance(data: Analysed) -> Balance:
    """Analysed people by row of the design, and scored answers per item and condition."""
    rows = data.participants["design_row"]
    reached = [
        _Reached(row.number, row.cells.in_words(), row.target, int((rows == row.number).sum()))
        for row in data.study.rows
    ]
    answers = _answers(data)
    sources: Sources[_Reached] = (
        count("row", say_table("column-row"), lambda row: row.row),
        text("shows", say_table("column-shows"), lambda row: row.shows),
        count("target", say_table("column-wanted"), lambda row: row.target),
        count("analysed", say_table("column-analysed"), lambda row: row.analysed),
    )
    sentence = _balance_sentence(reached, [own for own in answers if own.items])
    table = build_table("balance", say_table("balance"), reached, sources, sentence)
    return Balance(**vars(table), answers=answers)


def is_within(data: Analysed) -> bool:
    """Whether everybody meets every condition."""
    planning = make_protocol(data.study.spec.protocol).planning(data.study.spec)
    return planning is not None and planning.compared == "within"


def balance_problems(data: Analysed) -> list[str]:
    """Within people: that rows of the design are filled unequally, so that conditions are not met in equal places."""
    if not is_within(data) or len(data.study.rows) < 2:
        return []
    rows = data.participants["design_row"]
    counts = [int((rows == row.number).sum()) for row in data.study.rows]
    fewest, most = min(counts), max(counts)
    if most < 1 or most - fewest < 2 or most < UNEQUAL * fewest:
        return []
    empty, rows_of_design = counts.count(0), len(counts)
    return [say("unequal", empty=empty, rows=rows_of_design, fewest=fewest, most=most)]


def _answers(data: Analysed) -> tuple[ItemAnswers, ...]:
    """By condition: how many scored answers each item got, the fewest and the most."""
    scored = data.responses[(data.responses["phase_kind"] == "test") & data.responses["score"].notna()]
    by_condition = {
        condition.name: scored[scored["condition"] == condition.name].groupby("item").size()
        for condition in data.conditions
    }
    return tuple(
        ItemAnswers(
            name,
            items=len(counts),
            answers=int(counts.sum()),
            fewest_per_item=int(counts.min()) if len(counts) else 0,
            most_per_item=int(counts.max()) if len(counts) else 0,
        )
        for name, counts in by_condition.items()
    )


def _balance_sentence(rows: list[_Reached], answers: list[ItemAnswers]) -> str:
    short = [row for row in rows if row.analysed < row.target]
    missing = sum(row.target - row.analysed for row in short)
    reached = (
        say("rows-short", missing=missing, short=len(short), rows=len(rows))
        if short
        else say("all-rows-reached")
    )
    if not answers:
        return reached
    fewest, most = min(own.fewest_per_item for own in answers), max(own.most_per_item for own in answers)
    spread = "none" if fewest == most else "some"
    return f"{reached} {say('answers-per-item', spread=spread, fewest=fewest, most=most)}"
