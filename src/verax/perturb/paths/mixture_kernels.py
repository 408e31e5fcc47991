"""Compiled loops for mixtures of a row and other rows: what the leaves of all trees add up to, for each.

Import this module inside functions only: importing numba takes a while.
"""

from __future__ import annotations

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.perturb.paths.ensembles import NodeArray
from verax.perturb.paths.kernels import DE_BRUIJN, LOWEST_BIT, Words, add_to_members, compiled

# So many variants are taken at a time, so that what is added up stays near the processor.
WIDTH = 256
# A tree that makes more different vectors for each other row than this is walked with sets of variants.
MOST_BLENDS = 6
# And so is a tree with more leaves than this that some mixture comes to.
MOST_LEAVES = 64
# For fewer other rows than this, which share little, all trees are.
FEW_OTHERS = 8


@compiled
def walk_pairs(
    roots: NodeArray,
    left: NodeArray,
    right: NodeArray,
    feature_of: NodeArray,
    values: FloatArray,
    own: NodeArray,
    others: Words,
    chosen: IndexArray,
    masks: Words,
    full: Words,
    outputs: FloatArray,
) -> None:
    """Adds to ``outputs`` (chosen, outputs, variants) what the leaf of each mixture of a row and another says.

    A node that sends both rows to the same child sends all of their mixtures there; at any other the mixtures part by
    whether the feature is present.

    Args:
        roots, left, right, values: the arrays of ``Trees``.
        feature_of: the feature that each node asks; negative for none.
        own: the child that the row takes at each node; -1 at leaves.
        others: (nodes, words): a bit for each of the other rows that goes left.
        chosen: which of these.
        masks: (features, words): a bit for each variant in which the feature is present.
        full: a bit for each variant.
        outputs: where leaves are added.
    """
    n_words = len(full)
    n_outputs = values.shape[1]
    none = np.uint64(0)
    capacity = 64
    sets = np.empty((capacity, n_words), dtype=np.uint64)
    nodes = np.empty(capacity, dtype=np.int32)
    # Many variants come to the leaf of the other row: what it says is added once, elsewhere the difference to it.
    common = np.zeros((len(chosen), n_outputs))
    for root in roots:
        for place in range(len(chosen)):
            word_of, bit = chosen[place] // 64, np.uint64(chosen[place] % 64)
            usual = root
            while left[usual] >= 0:
                goes_left = (others[usual, word_of] >> bit) & np.uint64(1) != none
                usual = left[usual] if goes_left else right[usual]
            for output in range(n_outputs):
                common[place, output] += values[usual, output]
            sets[0] = full
            nodes[0] = root
            depth = 1
            while depth > 0:
                depth -= 1
                node = nodes[depth]
                within = own[node]
                while within >= 0:
                    goes_left = (others[node, word_of] >> bit) & np.uint64(1) != none
                    without = left[node] if goes_left else right[node]
                    feature = feature_of[node]
                    if within == without or feature < 0:
                        node = without
                        within = own[node]
                        continue
                    if depth + 2 > capacity:
                        more = np.empty((2 * capacity, n_words), dtype=np.uint64)
                        more[:capacity] = sets
                        sets = more
                        nodes = np.concatenate((nodes, nodes))
                        capacity *= 2
                    any_kept = none
                    any_lost = none
                    for word in range(n_words):
                        here = sets[depth, word]
                        kept = here & masks[feature, word]
                        lost = here & ~masks[feature, word]
                        sets[depth, word] = lost
                        sets[depth + 1, word] = kept
                        any_kept |= kept
                        any_lost |= lost
                    if any_kept == none:
                        node = without
                    elif any_lost == none:
                        for word in range(n_words):
                            sets[depth, word] = sets[depth + 1, word]
                        node = within
                    else:
                        nodes[depth] = without
                        depth += 1
                        node = within
                    within = own[node]
                if node == usual:
                    continue
                for output in range(n_outputs):
                    value = values[node, output] - values[usual, output]
                    add_to_members(value, sets[depth], 0, n_words, outputs[place, output])
    for place in range(len(chosen)):
        for output in range(n_outputs):
            sums = outputs[place, output]
            for variant in range(len(sums)):
                sums[variant] += common[place, output]


@compiled
def plan_blends(
    roots: NodeArray,
    left: NodeArray,
    right: NodeArray,
    feature_of: NodeArray,
    own: NodeArray,
    others: Words,
    chosen: IndexArray,
    most: int,
) -> tuple[NodeArray, NodeArray, NodeArray, NodeArray, NodeArray]:
    """How what each tree says of all variants is put together, the same for others that part from the row alike.

    At a leaf all variants get the leaf's value; at a node where the row and another part, each variant gets what one of
    the two children says, by whether the feature is present. Others that are told apart by no node below share this.

    Args:
        roots, left, right, feature_of, own, others, chosen: see :func:`walk_pairs`.
        most: so many steps a tree may have; one that needs more has none, and a start that is that of the next.

    Returns:
        Where each tree's steps begin, one more at the end; of each step the feature that is asked (-1: it is a leaf),
        the step for variants in which it is present (of a leaf: the node), and the step for the rest; and for each tree
        and chosen row the step that says what the tree does.
    """
    n_words = others.shape[1]
    none, one = np.uint64(0), np.uint64(1)
    starts = np.zeros(len(roots) + 1, dtype=np.int32)
    feature = np.empty(len(roots) * most, dtype=np.int32)
    kept = np.empty(len(roots) * most, dtype=np.int32)
    lost = np.empty(len(roots) * most, dtype=np.int32)
    tops = np.zeros((len(roots), len(chosen)), dtype=np.int32)
    capacity = 256
    order = np.empty(capacity, dtype=np.int32)  # the nodes that some mixture comes to, parents first
    come = np.empty((capacity, n_words), dtype=np.uint64)  # the others whose mixtures do
    steps = np.empty((capacity, 64 * n_words), dtype=np.int32)  # what the subtree says, for each of these
    stack = np.empty(capacity, dtype=np.int32)
    above = np.empty(capacity, dtype=np.int32)  # the place of a waiting node's parent in `order`
    child_own = np.empty(capacity, dtype=np.int32)  # the places of a node's children
    child_other = np.empty(capacity, dtype=np.int32)
    end = 0
    for tree in range(len(roots)):
        starts[tree] = end
        stack[0], above[0] = roots[tree], -1
        depth, count, leaves = 1, 0, 0
        while depth > 0 and leaves <= MOST_LEAVES:
            depth -= 1
            node, parent = stack[depth], above[depth]
            if count + 2 > capacity:
                order, stack = np.concatenate((order, order)), np.concatenate((stack, stack))
                above = np.concatenate((above, above))
                child_own = np.concatenate((child_own, child_own))
                child_other = np.concatenate((child_other, child_other))
                come, steps = np.concatenate((come, come)), np.concatenate((steps, steps))
                capacity *= 2
            if parent < 0:
                come[count] = none
                for other in chosen:
                    come[count, other // 64] |= one << np.uint64(other % 64)
            else:
                # Mixtures keep the row's own child where the feature is present; the other one is theirs who take it.
                asked, at_own = feature_of[order[parent]], node == own[order[parent]]
                to_left = node == left[order[parent]]
                some = none
                for word in range(n_words):
                    goes = others[order[parent], word] if to_left else ~others[order[parent], word]
                    here = come[parent, word] if at_own and asked >= 0 else come[parent, word] & goes
                    come[count, word] = here
                    some |= here
                if some == none:
                    continue
                if at_own:
                    child_own[parent] = count
                else:
                    child_other[parent] = count
            order[count] = node
            child_own[count], child_other[count] = -1, -1
            if left[node] >= 0:
                stack[depth], above[depth] = left[node], count
                stack[depth + 1], above[depth + 1] = right[node], count
                depth += 2
            else:
                leaves += 1
            count += 1
        fits = leaves <= MOST_LEAVES
        for place in range(count - 1 if fits else -1, -1, -1):
            node = order[place]
            if left[node] < 0:
                if end - starts[tree] >= most:
                    fits = False
                    break
                feature[end], kept[end], lost[end] = -1, node, 0
                steps[place] = end - starts[tree]
                end += 1
                continue
            if child_other[place] < 0:
                steps[place] = steps[child_own[place]]
                continue
            if child_own[place] < 0:
                steps[place] = steps[child_other[place]]
                continue
            steps[place] = steps[child_own[place]]
            at_other, asked, new = child_other[place], feature_of[node], end
            for word in range(n_words):
                here = come[at_other, word]
                while here != none:
                    lowest = here & (~here + one)
                    here ^= lowest
                    other = 64 * word + LOWEST_BIT[(lowest * DE_BRUIJN) >> np.uint64(58)]
                    present, absent = steps[place, other], steps[at_other, other]
                    if asked < 0:
                        steps[place, other] = absent
                        continue
                    if present == absent:
                        continue
                    known = new
                    while known < end and (kept[known] != present or lost[known] != absent):
                        known += 1
                    if known == end:
                        if end - starts[tree] >= most:
                            fits = False
                            break
                        feature[end], kept[end], lost[end] = asked, present, absent
                        end += 1
                    steps[place, other] = known - starts[tree]
                if not fits:
                    break
            if not fits:
                break
        if fits:
            for place in range(len(chosen)):
                tops[tree, place] = steps[0, chosen[place]]
        else:
            end = starts[tree]
    starts[len(roots)] = end
    return starts, feature[:end].copy(), kept[:end].copy(), lost[:end].copy(), tops


@compiled
def blend(
    values: FloatArray,
    starts: NodeArray,
    feature: NodeArray,
    kept: NodeArray,
    lost: NodeArray,
    tops: NodeArray,
    masks: Words,
    outputs: FloatArray,
) -> None:
    """Adds to ``outputs`` (chosen, outputs, variants) what trees say by the steps of :func:`plan_blends`.

    Args:
        values: (nodes, outputs).
        starts, feature, kept, lost, tops: the steps.
        masks: (features, words): a bit for each variant in which the feature is present.
        outputs: where it is added.
    """
    n_chosen, n_outputs, n_variants = outputs.shape
    most = 0
    for tree in range(len(starts) - 1):
        most = max(most, starts[tree + 1] - starts[tree])
    vectors = np.empty((most, WIDTH))
    bits = vectors.view(np.int64)
    present = np.empty((len(masks), WIDTH), dtype=np.int64)
    constant = np.zeros((n_chosen, n_outputs))
    for begin in range(0, n_variants, WIDTH):
        width = min(WIDTH, n_variants - begin)
        for one in range(len(masks)):
            for word in range(width // 64):
                here = masks[one, begin // 64 + word]
                for bit in range(64):
                    present[one, 64 * word + bit] = -np.int64((here >> np.uint64(bit)) & np.uint64(1))
        for tree in range(len(starts) - 1):
            start, count = starts[tree], starts[tree + 1] - starts[tree]
            for output in range(n_outputs):
                speaks = False  # of several classes, a tree is often about one
                for step in range(count):
                    speaks |= feature[start + step] < 0 and values[kept[start + step], output] != 0.0
                if not speaks:
                    continue
                for step in range(count):
                    if feature[start + step] < 0:
                        vectors[step, :width] = values[kept[start + step], output]
                        continue
                    asked = present[feature[start + step]]
                    yes, no = bits[kept[start + step]], bits[lost[start + step]]
                    made = bits[step]
                    for variant in range(width):
                        made[variant] = no[variant] ^ ((no[variant] ^ yes[variant]) & asked[variant])
                for place in range(n_chosen):
                    top = tops[tree, place]
                    if feature[start + top] < 0:
                        if begin == 0:
                            constant[place, output] += values[kept[start + top], output]
                        continue
                    said = vectors[top]
                    sums = outputs[place, output]
                    for variant in range(width):
                        sums[begin + variant] += said[variant]
    for place in range(n_chosen):
        for output in range(n_outputs):
            for variant in range(n_variants):
                outputs[place, output, variant] += constant[place, output]
