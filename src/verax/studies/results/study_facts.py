"""What a summary says of a study besides estimates: its models, its items, and who took part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verax.results.tables import Table
from verax.text import listed


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


@dataclass(frozen=True)
class Attrition(Table):
    """Losses by condition, with the test that they are alike.

    Attributes:
        p: None where there is nothing to test.
        test: its name.
    """

    p: float | None = None
    test: str = "none"


@dataclass(frozen=True)
class ItemAnswers:
    """How many scored answers the items of a condition got, the fewest and the most."""

    condition: str
    items: int
    answers: int
    fewest_per_item: int
    most_per_item: int


@dataclass(frozen=True)
class Balance(Table):
    """People per row of the design; and by condition, answers per item."""

    answers: tuple[ItemAnswers, ...] = ()


@dataclass(frozen=True)
class Matched:
    """Of how many inputs of a part of the dataset all models predict the same class, and how many there are."""

    part: str
    same: int
    inputs: int


@dataclass(frozen=True)
class OwnModel:
    """A model that some conditions have in place of the study's.

    Attributes:
        name: what it is.
        conditions: whose it is.
        accuracy: the share of the test part that it gets right.
        agreement: the share of the test part of which it predicts the same class as the study's model.
        matched: for each part of the dataset that items come from.
    """

    name: str
    conditions: tuple[str, ...]
    accuracy: float
    agreement: float
    matched: tuple[Matched, ...] = ()

    @property
    def sentence(self) -> str:
        """How it differs, and what that means for the items."""
        which = "condition" if len(self.conditions) == 1 else "conditions"
        has = "has" if len(self.conditions) == 1 else "have"
        parts = [
            f"{found.same:,} of {found.inputs:,} distinct ones in the {found.part} part"
            for found in self.matched
        ]
        counts = f" ({listed(parts)})" if parts else ""
        return (
            f"The {which} {listed(self.conditions)} {has} another model, {self.name}, right on {self.accuracy:.1%}; it "
            f"predicts the same class as the study's model for {self.agreement:.1%} of the test inputs. Only inputs of "
            f"which all models predict the same class became items{counts}: what is said of this model holds for those."
        )


@dataclass(frozen=True)
class ModelFacts:
    """The model that was explained.

    Attributes:
        name: what it is; empty where none was made and the spec names none.
        accuracy: the share of the test part that it gets right, where it is known.
        others: models that conditions have in its place.
    """

    name: str = "given"
    accuracy: float | None = None
    others: tuple[OwnModel, ...] = ()


def model_facts(models: Mapping[str, Any], named: str) -> ModelFacts:
    """What a study's folder knows of its models.

    Args:
        models: see ``Study.models``.
        named: what the spec calls the study's model.
    """
    about = models.get("model", {})
    return ModelFacts(
        about.get("name", named),
        about.get("accuracy"),
        tuple(
            OwnModel(
                other["name"],
                tuple(other["conditions"]),
                other["accuracy"],
                other["agreement"],
                tuple(Matched(part, same, inputs) for part, (same, inputs) in other["matched"].items()),
            )
            for other in models.values()
            if "conditions" in other
        ),
    )
