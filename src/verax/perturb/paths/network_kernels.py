"""The compiled loops that texts of convolutional networks and of the BiLSTM take.

Filters over words are computed eight at a time. The compiler does not find out by itself that eight filters can be
kept in one register while the words go by, and then takes ten times as long; so the register is said. In the BiLSTM
variants that begin alike share states, in single precision. Import this module inside functions only: numba takes a
while.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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


Numbers = NDArray[np.int32]

ONE, HALF = np.float32(1.0), np.float32(0.5)
# tanh(x) is x P(x^2) / Q(x^2) up to 1.1e-8 for |x| <= 8.5, fitted for the least of the largest error; beyond it is 1.
FAR = np.float32(8.5)
P0, P1, P2, P3, P4 = map(
    np.float32, (0.99999994550, 0.13406202802, 0.0035258155622, 2.1121514405e-05, 1.4099175805e-08)
)
Q1, Q2, Q3, Q4 = map(np.float32, (0.46739514182, 0.025991121092, 0.00033356844713, 8.0735890472e-07))


# Sums may be taken in any order, so that eight numbers or more are added at a time.
compiled_loosely = partial(compiled, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


@compiled_loosely
def tanh(x: np.float32) -> np.float32:
    """The hyperbolic tangent, without a branch: that of numba takes one number at a time."""
    x = min(max(x, -FAR), FAR)
    square = x * x
    above = (((P4 * square + P3) * square + P2) * square + P1) * square + P0
    below = (((Q4 * square + Q3) * square + Q2) * square + Q1) * square + ONE
    return x * above / below


@compiled_loosely
def prefix_tree(
    rows: Numbers, ends: IndexArray, backward: bool
) -> tuple[Numbers, Numbers, Numbers, IndexArray]:
    """The tree of all beginnings of the variants, or of all their ends: each stands for one state.

    Args:
        rows: of the table of words, those of one variant after those of the other.
        ends: where those of each variant end.
        backward: whether variants are read from their end.

    Returns:
        The node of each word of each variant; the parent of each node, and its word; where each level of the tree
        begins, and the last one ends.
    """
    size = 64
    while size < 2 * len(rows):
        size *= 2
    keys, numbers = np.zeros(size, dtype=np.uint64), np.empty(size, dtype=np.int32)
    node_of = np.empty(len(rows), dtype=np.int32)
    parents, words = np.empty(len(rows), dtype=np.int32), np.empty(len(rows), dtype=np.int32)
    levels = np.empty(len(rows), dtype=np.int32)
    widths = np.zeros(len(rows) + 2, dtype=np.int64)
    count = first = deepest = 0
    for variant in range(len(ends)):
        node, length = -1, ends[variant] - first
        for level in range(length):
            place = ends[variant] - 1 - level if backward else first + level
            key = np.uint64(node + 2) << np.uint64(32) | np.uint64(rows[place])
            slot = np.int64(key * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & (size - 1)
            while keys[slot] != key and keys[slot] != 0:
                slot = (slot + 1) & (size - 1)
            if keys[slot] != key:
                keys[slot], numbers[slot] = key, count
                parents[count], words[count], levels[count] = node, rows[place], level
                widths[level + 1] += 1
                count += 1
            node = numbers[slot]
            node_of[place] = node
        deepest = max(deepest, length)
        first = ends[variant]
    starts = np.cumsum(widths[: deepest + 1])
    # Numbered anew level by level: what is computed together lies together.
    moved = np.empty(count, dtype=np.int32)
    upper, read = np.empty_like(moved), np.empty_like(moved)
    free = starts.copy()
    for node in range(count):
        moved[node] = free[levels[node]]
        free[levels[node]] += 1
        upper[moved[node]] = -1 if parents[node] < 0 else moved[parents[node]]
        read[moved[node]] = words[node]
    for place in range(len(rows)):
        node_of[place] = moved[node_of[place]]
    return node_of, upper, read, starts


@compiled_loosely
def tree_states(
    parents: Numbers, words: Numbers, starts: IndexArray, table: Singles, recurrent: Singles
) -> Singles:
    """The state of an LSTM at every node, (nodes, units).

    Args:
        parents: of each node.
        words: of each node.
        starts: where each level begins, and the last one ends.
        table: (words, four gates' units): what a word adds to the gates input, forget, output and cell; halved but for
            the last, since a logistic gate is half a tangent of half its argument.
        recurrent: (units, four gates' units): the same of the state before.
    """
    units = len(recurrent)
    states = np.empty((len(parents), units), dtype=np.float32)
    cells = np.empty((len(parents), units), dtype=np.float32)
    gates = np.zeros((1, 4 * units), dtype=np.float32)
    nothing = np.zeros(units, dtype=np.float32)
    opened = np.empty(4 * units, dtype=np.float32)
    above = -1  # where the level above begins; nothing is above the first
    for level in range(len(starts) - 1):
        for node in range(starts[level], starts[level + 1]):
            word, gate = table[words[node]], gates[parents[node] - above]
            for place in range(4 * units):
                opened[place] = tanh(gate[place] + word[place])
            before = cells[parents[node]] if level else nothing
            cell, state = cells[node], states[node]
            for unit in range(units):
                into, keep = HALF * opened[unit] + HALF, HALF * opened[units + unit] + HALF
                cell[unit] = keep * before[unit] + into * opened[3 * units + unit]
                state[unit] = (HALF * opened[2 * units + unit] + HALF) * tanh(cell[unit])
        above = starts[level]
        gates = np.dot(states[above : starts[level + 1]], recurrent)
    return states


@compiled_loosely
def attended(
    ends: IndexArray,
    forward_of: Numbers,
    backward_of: Numbers,
    forward: Singles,
    backward: Singles,
    forward_part: Singles,
    backward_part: Singles,
    context: Singles,
) -> Singles:
    """The mean of both directions' states weighted by attention, for each variant: (variants, units of both).

    Args:
        ends: where the words of each variant end.
        forward_of: the node of each word, read from the beginning, and
        backward_of: read from the end.
        forward: the states of the nodes, and
        backward: of the others.
        forward_part: what states add to the argument of attention's tangent, and
        backward_part: the others'.
        context: what its tangents are weighted with.
    """
    units = forward.shape[1]
    texts = np.zeros((len(ends), 2 * units), dtype=np.float32)
    weights = np.empty(len(forward_of), dtype=np.float32)
    first = 0
    for variant in range(len(ends)):
        largest = np.float32(-np.inf)
        for place in range(first, ends[variant]):
            one, other = forward_part[forward_of[place]], backward_part[backward_of[place]]
            fit = np.float32(0.0)
            for unit in range(len(context)):
                fit += context[unit] * tanh(one[unit] + other[unit])
            weights[place] = fit
            largest = max(largest, fit)
        total = np.float32(0.0)
        for place in range(first, ends[variant]):
            weights[place] = np.exp(weights[place] - largest)
            total += weights[place]
        text = texts[variant]
        for place in range(first, ends[variant]):
            weight = weights[place] / total
            one, other = forward[forward_of[place]], backward[backward_of[place]]
            for unit in range(units):
                text[unit] += weight * one[unit]
                text[units + unit] += weight * other[unit]
        first = ends[variant]
    return texts
