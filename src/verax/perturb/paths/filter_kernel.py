"""What filters over words say, eight filters at a time: the loop that texts of convolutional networks take.

The compiler does not find out by itself that eight filters can be kept in one register while the words go by, and then
takes ten times as long; so the register is said. Import this module inside functions only: numba takes a while.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

from verax.arrays import BoolArray, IndexArray
from verax.compiled import compiled

# Numbers in a register, and words that a filter may look at.
LANES, WIDTH = 8, 4
# What a word at each offset of eight filters takes in the table.
GROUP = LANES * WIDTH

Singles = NDArray[np.float32]


def inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """Something that compiled functions call by the names of its arguments, as instructions of the machine."""
    instructions: Any = intrinsic(function)
    return cast(Callable[..., Any], instructions)


class Eight(types.Type):
    """Eight numbers in single precision, in one register."""

    def __init__(self) -> None:
        super().__init__(name="Eight")


EIGHT = Eight()
REGISTER = ir.VectorType(ir.FloatType(), LANES)


@register_model(Eight)
class EightModel(models.PrimitiveModel):
    """Tells numba what eight numbers are to the machine."""

    def __init__(self, manager: Any, kind: Eight) -> None:
        super().__init__(manager, kind, REGISTER)  # type: ignore[no-untyped-call]


def _pointer(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), REGISTER.as_pointer())


@inside
def load(_typing: Any, array: Any, place: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Eight numbers of a flat array, from a place on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments)
        return builder.load(pointer, align=4)

    return EIGHT(array, types.intp), generate


@inside
def store(_typing: Any, array: Any, place: Any, eight: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Writes eight numbers into a flat array, from a place on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, EIGHT), generate


@inside
def plus(_typing: Any, one: Any, other: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Eight sums."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments)

    return EIGHT(EIGHT, EIGHT), generate


@inside
def larger(_typing: Any, one: Any, other: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """The larger of each of eight pairs."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return EIGHT(EIGHT, EIGHT), generate


@compiled
def words_read(
    kept: BoolArray, row_of: IndexArray, limit: int, blank: int
) -> tuple[NDArray[np.int32], IndexArray]:
    """The rows of the table that each variant reads, one after the other, and where those of each variant end.

    Args:
        kept: (variants, words) which words a variant keeps.
        row_of: the row of each word.
        limit: how many words are read at the most.
        blank: the row that stands for a word that is not kept; negative where it is left out.
    """
    n_variants, n_words = kept.shape
    rows = np.empty(n_variants * min(n_words, limit) + 1, dtype=np.int32)
    ends = np.empty(n_variants, dtype=np.int64)
    count = 0
    for variant in range(n_variants):
        last = count + limit
        for word in range(n_words):
            if count == last:
                break
            if kept[variant, word]:
                rows[count] = row_of[word]
                count += 1
            elif blank >= 0:
                rows[count] = blank
                count += 1
        ends[variant] = count
    return rows, ends


@compiled
def strongest_responses(
    rows: NDArray[np.int32], ends: IndexArray, table: Singles, nothing: Singles
) -> Singles:
    """The strongest rectified response of every filter to every variant of a text, (variants, filters).

    A filter looks at each run of its width that begins with a word that is read; behind the last one it sees nothing.
    Of a variant without words it sees nothing once. A filter of fewer than four words is one of four that does not
    mind the later ones.

    Args:
        rows: of the table, those of one variant after those of the other.
        ends: where those of each variant end.
        table: (rows, groups of eight filters, offsets, eight): what a filter says to a word at an offset; its own
            constant is in what it says at the first.
        nothing: what each filter says of nothing: its constant.
    """
    n_variants, n_groups = len(ends), table.shape[1]
    flat = table.reshape(-1)
    strongest = np.zeros((n_variants, n_groups * LANES), dtype=np.float32)
    answers = strongest.reshape(-1)
    lowest = np.full(LANES, -np.inf, dtype=np.float32)
    stride = n_groups * GROUP
    # Groups outside, variants inside: what one group says to all words of a text fits the first cache.
    for group in range(n_groups):
        first = 0
        for variant in range(n_variants):
            place = variant * n_groups * LANES + group * LANES
            best = load(answers, place)
            if first == ends[variant]:
                best = larger(load(nothing, group * LANES), best)
            # The sums of runs that have begun one, two and three words ago.
            one, two, three = load(lowest, 0), load(lowest, 0), load(lowest, 0)
            for read in range(first, ends[variant]):
                at = rows[read] * stride + group * GROUP
                best = larger(plus(three, load(flat, at + 3 * LANES)), best)
                three = plus(two, load(flat, at + 2 * LANES))
                two = plus(one, load(flat, at + LANES))
                one = load(flat, at)
            best = larger(larger(larger(one, two), three), best)
            store(answers, place, best)
            first = ends[variant]
    return strongest
