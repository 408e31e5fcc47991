"""Whether a part of a dataset has enough items for balanced sessions, and which split would have if it has not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from verax.studies.items import pool
from verax.studies.protocol.contract import Source

# A model that learns from less than this share of the inputs is another model.
LEAST_TRAINING = 0.4
# Parts are drawn anew: a cell may come out smaller than its share.
MARGIN = 1.2
PARTS = ("validation", "test")
LEAST_PART = 10  # per cent


@dataclass(frozen=True)
class SessionItems:
    """Items of one role: so many sessions with so many items each."""

    role: str
    sessions: int
    count: int

    @property
    def all(self) -> int:
        """Over all sessions."""
        return self.sessions * self.count


def cell_sizes(candidates: pool.Candidates, only_wrong: bool) -> list[int]:
    """How many candidates there are of each predicted class, right and wrong, as far as they may be drawn."""
    return [len(members) for (_, right), members in candidates.cells.items() if not (right and only_wrong)]


def enough(candidates: pool.Candidates, wanted: SessionItems, only_wrong: bool) -> bool:
    """Whether all cells can be drawn from alike, but for one item.

    A cell that is used up would be made up for by others, and labels would tell something of the model's answers.
    """
    sizes = cell_sizes(candidates, only_wrong)
    least, more = divmod(wanted.all, len(sizes))
    return min(sizes) >= least and sum(size > least for size in sizes) >= more


def too_few(
    source: Source,
    candidates: pool.Candidates,
    wanted: SessionItems,
    parts: Mapping[str, SessionItems],
    only_wrong: bool,
) -> str:
    """A sentence on what is missing, with a split of the same data that has enough, if there is one.

    Args:
        source: the dataset and the model.
        candidates: that do not suffice.
        wanted: of them.
        parts: by part of the dataset: what is wanted of all parts.
        only_wrong: whether only items are drawn that the model gets wrong.
    """
    sizes = cell_sizes(candidates, only_wrong)
    possible = min(sizes) * len(sizes) // wanted.sessions
    advice = [f"ask for at most {possible} in a session"] if possible else []
    split = working_split(source, parts, only_wrong)
    advice += [f'set split = "{split}" under [source]'] if split else ["use more data"]
    return (
        f"{wanted.sessions} sessions of {wanted.count} {wanted.role} items cannot be balanced with the "
        f"{len(candidates):,} {candidates.about} ({candidates.sizes()}); {', or '.join(advice)}."
    )


def working_split(source: Source, parts: Mapping[str, SessionItems], only_wrong: bool) -> str | None:
    """Shares of train, validation and test that have enough items by the shares of cells as they are; None if none has.

    It is found from the model as it is: one that learns from less errs a little more, which makes the rarest cells
    larger.
    """
    inputs = {name: len(part.inputs) for name, part in source.dataset.parts.items()}
    whole = sum(inputs.values())
    # Over both parts, since the rarest cell of a small one may be empty by chance.
    cells = [cell_sizes(pool.candidates(source, part), only_wrong) for part in PARTS]
    rarest = min(map(sum, zip(*cells, strict=True))) / sum(inputs[part] for part in PARTS)
    if not rarest:
        return None
    shares = dict.fromkeys(PARTS, LEAST_PART)
    for part, wanted in parts.items():
        needed = MARGIN * ceil(wanted.all / len(cells[0])) / rarest
        shares[part] = max(shares[part], 5 * ceil(20 * needed / whole))
    train = 100 - sum(shares.values())
    return f"{train}/{shares['validation']}/{shares['test']}" if train >= 100 * LEAST_TRAINING else None
