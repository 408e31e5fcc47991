"""The flow of participants: who came, who stayed, who is excluded by which rule, and who is analysed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from verax.studies.analysis.contract import Analysed
from verax.text import counted

if TYPE_CHECKING:
    from verax.studies.answers.frames import Collected


@dataclass(frozen=True)
class Flow:
    """How many participants (or bots) are where.

    Attributes:
        arrived: opened the first page; the sum of the next nine.
        undecided: have neither agreed nor declined.
        declined: did not agree.
        no_place: came when all places were taken.
        screened_out: did not pass the screening test.
        withdrawn: took their answers back; these are deleted.
        left: stopped, and their place was given up.
        under_way: are still at it.
        complete: came to the end.
        deleted: of the complete: their answers were deleted when the time of their keeping was over.
        excluded: of the complete, by rule; somebody under two rules is counted at both.
        excluded_people: of the complete, under any rule.
        analysed: complete and not excluded (per protocol).
        intended: got a place and answered something in a test phase, exclusions ignored (intention to treat).
        of_the_others: how many bots there are beside the people, or people beside the bots; they are in no number here.
    """

    arrived: int
    undecided: int
    declined: int
    no_place: int
    screened_out: int
    withdrawn: int
    left: int
    under_way: int
    complete: int
    deleted: int
    excluded: dict[str, int]
    excluded_people: int
    analysed: int
    intended: int
    of_the_others: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the sentence."""
        return {**asdict(self), "sentence": flow_sentence(self)}


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
        excluded={str(rule): int(people.nunique()) for rule, people in rules.groupby("rule")["participant"]},
        excluded_people=len(complete) - deleted - len(data.participants),
        analysed=len(data.participants),
        intended=len(data.intended_participants),
        of_the_others=len(collected.participants) - len(everybody),
    )


def flow_sentence(flow: Flow) -> str:
    """The flow in one line: "34 arrived, 2 declined, 1 left, 31 complete, 1 excluded (too-fast 1), 30 analysed."."""
    steps = {
        "undecided": flow.undecided,
        "declined": flow.declined,
        "found no place": flow.no_place,
        "screened out": flow.screened_out,
        "withdrew": flow.withdrawn,
        "left": flow.left,
        "still under way": flow.under_way,
    }
    said = [f"{flow.arrived:,} arrived", *(f"{many:,} {what}" for what, many in steps.items() if many)]
    said.append(f"{flow.complete:,} complete")
    if flow.deleted:
        said.append(f"{flow.deleted:,} deleted at the end of the retention time")
    if flow.excluded_people:
        rules = ", ".join(f"{rule} {many}" for rule, many in flow.excluded.items())
        said.append(f"{flow.excluded_people:,} excluded" + (f" ({rules})" if rules else ""))
    return ", ".join([*said, f"{flow.analysed:,} analysed"]) + "."


def flow_problems(flow: Flow, data: Analysed) -> list[str]:
    """What of the flow keeps answers from being analysed."""
    who = "bot" if data.people == "bots" else "participant"
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
