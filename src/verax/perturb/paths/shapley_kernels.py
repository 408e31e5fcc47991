"""Compiled loops for Shapley values of trees: rows against background rows, and along the trees' own paths.

Import this module inside functions only: importing numba takes a while.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.perturb.paths.ensembles import NodeArray
from verax.perturb.paths.kernels import compiled, compiled_loosely


@compiled
def pair_shapley(
    roots: NodeArray,
    feature_of: NodeArray,
    first_output: NodeArray,
    last_output: NodeArray,
    values: FloatArray,
    own: NodeArray,
    others: NodeArray,
    kept_weight: FloatArray,
    lost_weight: FloatArray,
    shares: FloatArray,
    pair_weights: FloatArray,
    pairs: FloatArray,
) -> None:
    """Adds to ``shares`` what the leaves give to each feature of one row, summed over background rows.

    A leaf that is reached when the features K take the row's values and the features L the background's is a product
    of presences and absences; what it gives depends on |K| and |L| alone.

    Args:
        roots: of the trees.
        feature_of: the feature that each node asks; negative for none.
        first_output, last_output: of each tree, which outputs it adds to.
        values: (nodes, outputs).
        own: the child that the row takes at each node; -1 at leaves.
        others: (background, nodes), the same for background rows.
        kept_weight, lost_weight: by |K| and |L|.
        shares: (outputs, features).
        pair_weights: (3, |K|, |L|) for two of K, one of each, two of L; used where ``pairs`` is not empty.
        pairs: (outputs, features, features), or empty.
    """
    n_features = shares.shape[1]
    state = np.zeros(n_features + 1, dtype=np.int8)  # 1 kept, 2 lost, 0 not asked yet
    path = np.empty(n_features + 1, dtype=np.int32)
    later_node = np.empty(n_features + 1, dtype=np.int32)
    later_length = np.empty(n_features + 1, dtype=np.int32)
    with_pairs = pairs.shape[0] > 0
    for other in range(len(others)):
        theirs = others[other]
        for tree in range(len(roots)):
            waiting = 0
            length = 0
            n_kept = 0
            node = roots[tree]
            while True:
                within = own[node]
                while within >= 0:
                    without = theirs[node]
                    if within == without:
                        node = within
                    else:
                        feature = feature_of[node]
                        here = state[feature] if feature >= 0 else 2
                        if here == 1:
                            node = within
                        elif here == 2:
                            node = without
                        else:
                            later_node[waiting] = without
                            later_length[waiting] = length
                            waiting += 1
                            state[feature] = 1
                            path[length] = feature
                            length += 1
                            n_kept += 1
                            node = within
                    within = own[node]
                n_lost = length - n_kept
                for output in range(first_output[tree], last_output[tree]):
                    value = values[node, output]
                    gain = kept_weight[n_kept, n_lost] * value
                    loss = lost_weight[n_kept, n_lost] * value
                    for step in range(length):
                        feature = path[step]
                        shares[output, feature] += gain if state[feature] == 1 else -loss
                    if with_pairs:
                        for step in range(length):
                            one = path[step]
                            for further in range(step):
                                two = path[further]
                                if state[one] != state[two]:
                                    given = -pair_weights[1, n_kept, n_lost] * value
                                elif state[one] == 1:
                                    given = pair_weights[0, n_kept, n_lost] * value
                                else:
                                    given = pair_weights[2, n_kept, n_lost] * value
                                pairs[output, one, two] += given
                                pairs[output, two, one] += given
                if waiting == 0:
                    break
                # Back to the last feature taken as kept; now it is lost.
                waiting -= 1
                while length > later_length[waiting] + 1:
                    length -= 1
                    if state[path[length]] == 1:
                        n_kept -= 1
                    state[path[length]] = 0
                state[path[length - 1]] = 2
                n_kept -= 1
                node = later_node[waiting]
            while length > 0:
                length -= 1
                state[path[length]] = 0


@compiled_loosely
def path_shapley(
    starts: NodeArray,
    ends: NodeArray,
    feature_of: NodeArray,
    parent: NodeArray,
    same_above: NodeArray,
    share: FloatArray,
    first_output: NodeArray,
    last_output: NodeArray,
    values: FloatArray,
    own: NodeArray,
    places: FloatArray,
    weights: FloatArray,
    goes: FloatArray,
    product: FloatArray,
    inverse: FloatArray,
    below: FloatArray,
    shares: FloatArray,
) -> None:
    """Adds to ``shares`` (outputs, features) the Shapley values of one row where trees themselves stand for absence.

    At a node whose feature is absent a row goes both ways, in the shares in which training rows did. A leaf is then
    a product over features of ``a`` (1 if the row goes to it) when present and ``r`` (the share) when absent; along the
    diagonal of its multilinear extension, ``t a + (1 - t) r``, the Shapley value of a feature is an integral over t of
    a polynomial, which Gauss-Legendre quadrature has exactly. Nodes are numbered so that parents come before children:
    products are made on the way down, sums over leaves on the way back.

    Args:
        starts, ends: the nodes of each tree.
        feature_of: the feature that each node asks; negative for none, where a row has one way only.
        parent: of each node; -1 at roots.
        same_above: for each node the nearest one above it whose parent asks the same feature as its own; -1 for none.
        share: of the training rows at the first node that asked a feature, those that came to each node by it.
        first_output, last_output: of each tree, which outputs it adds to.
        values: (nodes, outputs).
        own: the child that the row takes at each node; -1 at leaves.
        places, weights: of the quadrature on (0, 1).
        goes, product, inverse, below: room for the largest tree, (nodes) and (nodes, points).
        shares: where values are added.
    """
    n_points = len(places)
    for tree in range(len(starts)):
        start, end = starts[tree], ends[tree]
        goes[0] = 1.0
        for point in range(n_points):
            product[0, point] = weights[point]
        for node in range(start + 1, end):
            here, above = node - start, parent[node] - start
            comes = 1.0 if own[parent[node]] == node else 0.0
            if goes[above] < 0.0 or (feature_of[parent[node]] < 0 and comes == 0.0):
                goes[here] = -1.0  # no variant of the row comes here
                continue
            if feature_of[parent[node]] < 0:
                goes[here] = 1.0
                for point in range(n_points):
                    product[here, point] = product[above, point]
                continue
            before = same_above[node]
            if before >= 0:
                comes *= goes[before - start]
            if comes == 0.0 and share[node] == 0.0:
                goes[here] = -1.0
                continue
            goes[here] = comes
            slope = comes - share[node]
            for point in range(n_points):
                factor = share[node] + places[point] * slope
                inverse[here, point] = 1.0 / factor
                product[here, point] = product[above, point] * factor
            if before >= 0:
                for point in range(n_points):
                    product[here, point] *= inverse[before - start, point]
        for output in range(first_output[tree], last_output[tree]):
            for node in range(start, end):
                if own[node] < 0 and goes[node - start] >= 0.0:
                    for point in range(n_points):
                        below[node - start, point] = values[node, output] * product[node - start, point]
                else:
                    for point in range(n_points):
                        below[node - start, point] = 0.0
            for node in range(end - 1, start, -1):
                here, above = node - start, parent[node] - start
                if goes[here] < 0.0:
                    continue
                for point in range(n_points):
                    below[above, point] += below[here, point]
                feature = feature_of[parent[node]]
                if feature < 0:
                    continue
                new = 0.0
                for point in range(n_points):
                    new += below[here, point] * inverse[here, point]
                gained = new * (goes[here] - share[node])
                before = same_above[node]
                if before >= 0:
                    # What the leaves below gave to the feature by where it was asked before, they give by this.
                    old = 0.0
                    for point in range(n_points):
                        old += below[here, point] * inverse[before - start, point]
                    gained -= old * (goes[before - start] - share[before])
                shares[output, feature] += gained


@compiled
def asked_before(
    feature_of: NodeArray, parent: NodeArray, ratio: FloatArray, same_above: NodeArray, share: FloatArray
) -> None:
    """Finds for each node the nearest one above that was come to by the same feature, and the share of rows."""
    for node in range(len(parent)):
        if parent[node] < 0 or feature_of[parent[node]] < 0:
            continue
        share[node] = ratio[node]
        above = parent[node]
        while parent[above] >= 0:
            if feature_of[parent[above]] == feature_of[parent[node]]:
                same_above[node] = above
                share[node] *= share[above]
                break
            above = parent[above]


@compiled_loosely
def path_pairs(
    feature_of: NodeArray,
    left: NodeArray,
    parent: NodeArray,
    values: FloatArray,
    ratio: FloatArray,
    own: NodeArray,
    places: FloatArray,
    weights: FloatArray,
    pairs: FloatArray,
) -> None:
    """Adds to ``pairs`` (outputs, features, features) half of each two features' interaction, as ``path_shapley``.

    Args:
        parent: of each node; -1 at roots. For the others see ``path_shapley``.
    """
    n_outputs, n_features = pairs.shape[0], pairs.shape[1]
    n_points = len(places)
    goes = np.ones(n_features)
    share = np.ones(n_features)
    found = np.empty(n_features, dtype=np.int32)
    product = np.empty(n_points)
    for leaf in range(len(left)):
        if left[leaf] >= 0:
            continue
        count = 0
        node = leaf
        reached = True
        while parent[node] >= 0:
            above = parent[node]
            comes = 1.0 if own[above] == node else 0.0
            feature = feature_of[above]
            if feature < 0:
                if comes == 0.0:
                    reached = False
            else:
                known = False
                for step in range(count):
                    known = known or found[step] == feature
                if not known:
                    found[count] = feature
                    count += 1
                goes[feature] *= comes
                share[feature] *= ratio[node]
            node = above
        for step in range(count):
            reached = reached and (goes[found[step]] > 0.0 or share[found[step]] > 0.0)
        if reached:
            for point in range(n_points):
                t = places[point]
                product[point] = weights[point]
                for step in range(count):
                    feature = found[step]
                    product[point] *= t * goes[feature] + (1.0 - t) * share[feature]
            for step in range(count):
                one = found[step]
                for further in range(step):
                    two = found[further]
                    total = 0.0
                    for point in range(n_points):
                        t = places[point]
                        total += product[point] / (
                            (t * goes[one] + (1.0 - t) * share[one])
                            * (t * goes[two] + (1.0 - t) * share[two])
                        )
                    total *= 0.5 * (goes[one] - share[one]) * (goes[two] - share[two])
                    for output in range(n_outputs):
                        given = total * values[leaf, output]
                        pairs[output, one, two] += given
                        pairs[output, two, one] += given
        for step in range(count):
            goes[found[step]] = 1.0
            share[found[step]] = 1.0


@compiled
def path_values(
    roots: NodeArray,
    feature_of: NodeArray,
    left: NodeArray,
    right: NodeArray,
    values: FloatArray,
    ratio: FloatArray,
    own: NodeArray,
    present: NDArray[np.bool_],
    sums: FloatArray,
) -> None:
    """Adds to ``sums`` (outputs, variants) what the leaves add up to where trees themselves stand for absence.

    Args:
        present: (variants, features). For the others see ``path_shapley``.
    """
    n_outputs = sums.shape[0]
    nodes = np.empty(4096, dtype=np.int32)
    weight = np.empty(4096)
    for variant in range(len(present)):
        for root in roots:
            waiting = 1
            nodes[0] = root
            weight[0] = 1.0
            while waiting > 0:
                waiting -= 1
                node = nodes[waiting]
                now = weight[waiting]
                while own[node] >= 0:
                    feature = feature_of[node]
                    if feature < 0 or present[variant, feature]:
                        node = own[node]
                        continue
                    nodes[waiting] = right[node]
                    weight[waiting] = now * ratio[right[node]]
                    waiting += 1
                    now *= ratio[left[node]]
                    node = left[node]
                for output in range(n_outputs):
                    sums[output, variant] += now * values[node, output]
