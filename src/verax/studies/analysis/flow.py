"""Counting the flow of participants, and what of it keeps answers from being analysed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verax.results.flow import Flow
from verax.studies.design.allocation import offered_again
from verax.studies.protocol.findings import Analysed
from verax.studies.results.options import People
from verax.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.frames import Collected


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
        no_place=int((status == "full").sum()),
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
        others = {"bot": "people", "participant": "bots"}[who]
        hint = (
            f" ({flow.of_the_others:,} {others} did: {'leave --bots out' if who == 'bot' else 'use --bots'})"
            if flow.of_the_others
            else ""
        )
        said.append(f"No {who} has come yet{hint}: nothing can be estimated.")
    elif flow.intended == 0:
        said.append(f"No {who} of {flow.arrived:,} answered anything in a test: nothing can be estimated.")
    elif flow.analysed == 0:
        said.append(_nobody_per_protocol(flow, who))
    if flow.under_way:
        looking = (
            " Looking at results and then deciding whether to go on makes every p-value too small."
            if who == "participant"
            else ""
        )
        said.append(f"{counted(flow.under_way, who)} still under way: the numbers will change.{looking}")
    return said


def _nobody_per_protocol(flow: Flow, who: str) -> str:
    """Why the analysis per protocol is empty, and what is reported in its place."""
    why = (
        f"All {counted(flow.complete, who)} who completed the study are excluded"
        if flow.complete
        else f"No {who} has completed the study"
    )
    if who == "participant":
        return (
            f"{why}: the analysis per protocol is empty, and only the analysis of everybody who answered (intention to "
            "treat) is reported."
        )
    hint = " Bots do not wait; with --pace human they do." if "too-fast" in flow.excluded else ""
    return (
        f"{why}. So that a rehearsal shows something, all numbers here are of every bot that answered.{hint}"
    )
