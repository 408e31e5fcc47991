"""What analyses of several studies together share: what studies are called, and those in which nobody answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from verax.phrases import say as say_phrase

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "pooled")


class PooledStudy(Protocol):
    """What is read here of one of the studies."""

    @property
    def answers(self) -> pd.DataFrame:
        """Of people who are analysed."""


S = TypeVar("S", bound=PooledStudy)


def told_apart(names: Sequence[str]) -> list[str]:
    """What studies are called; where several are called the same, with their place among these."""
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


def with_answers(studies: Sequence[tuple[str, S]]) -> tuple[list[S], list[str]]:
    """The studies that somebody answered, and a sentence on each of the others.

    Args:
        studies: what each is called in a sentence, and itself.
    """
    empty = [say("no-answers", study=name) for name, study in studies if not len(study.answers)]
    return [study for _, study in studies if len(study.answers)], empty
