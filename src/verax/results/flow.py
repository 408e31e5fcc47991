"""The flow of participants in numbers: who came, who stayed, who is excluded by which rule, and who is analysed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


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
        offered_again: places of these that were offered to others.
        analysed: complete and not excluded (per protocol).
        intended: got a place and answered something in a test phase, exclusions ignored (intention to treat).
        of_the_others: how many bots there are beside the people, or people beside the bots; they are in no number here.
    """

    arrived: int = 0
    undecided: int = 0
    declined: int = 0
    no_place: int = 0
    screened_out: int = 0
    withdrawn: int = 0
    left: int = 0
    under_way: int = 0
    complete: int = 0
    deleted: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    excluded_people: int = 0
    offered_again: int = 0
    analysed: int = 0
    intended: int = 0
    of_the_others: int = 0

    def json_names(self) -> list[str]:
        """All counts, and the sentence."""
        return [*(count.name for count in fields(self)), "sentence"]

    @property
    def began(self) -> int:
        """Those who got past the door: they left, withdrew, are under way or came to the end."""
        return self.left + self.withdrawn + self.under_way + self.complete

    @property
    def sentence(self) -> str:
        """The flow in one line: "34 arrived, 2 declined, 31 complete, 1 excluded (too-fast 1), 30 analysed."."""
        steps = {
            "undecided": self.undecided,
            "declined": self.declined,
            "found no place": self.no_place,
            "screened out": self.screened_out,
            "withdrew": self.withdrawn,
            "left": self.left,
            "still under way": self.under_way,
        }
        said = [f"{self.arrived:,} arrived", *(f"{many:,} {what}" for what, many in steps.items() if many)]
        said.append(f"{self.complete:,} complete")
        if self.deleted:
            said.append(f"{self.deleted:,} deleted at the end of the retention time")
        if self.excluded_people:
            rules = ", ".join(f"{rule} {many}" for rule, many in self.excluded.items())
            said.append(f"{self.excluded_people:,} excluded" + (f" ({rules})" if rules else ""))
        if self.offered_again:
            said.append(f"{self.offered_again:,} of their places offered again")
        return ", ".join([*said, f"{self.analysed:,} analysed"]) + "."
