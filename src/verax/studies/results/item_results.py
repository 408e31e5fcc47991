"""What became of single items: how many people were right before and after, and what they saw."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ItemCounts:
    """How many people of one condition were right on an item, of those who answered it both times.

    Attributes:
        condition: what they saw beside it.
        people: who answered it both times.
        before: right before explanations.
        after: right after them.
        explanation: what the page of the second time showed beside the item, in words; empty where nothing was shown.
    """

    condition: str
    people: int
    before: int
    after: int
    explanation: str = ""


@dataclass(frozen=True)
class ItemResult:
    """One item.

    Attributes:
        item: its id in the study.
        input: as words.
        label, prediction: the true class and the model's, by name.
        changed: the changed version that was asked about, as words; empty if the item itself was.
        right: the class that was right to answer, by name.
        counts: by condition, in the order of the spec; conditions without an answer are left out.
    """

    item: str
    input: str
    label: str
    prediction: str
    changed: str
    right: str
    counts: tuple[ItemCounts, ...]

    @property
    def people(self) -> int:
        """Over all conditions."""
        return sum(count.people for count in self.counts)

    @property
    def before(self) -> int:
        """Right before, over all conditions."""
        return sum(count.before for count in self.counts)

    @property
    def after(self) -> int:
        """Right after, over all conditions."""
        return sum(count.after for count in self.counts)
