import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from verax.errors import VeraxError
from verax.models.mlp import Layers, MlpClassifier, descend, forward, loss

RNG = np.random.default_rng(0)
ROWS = (RNG.random((150, 12)) < 0.4).astype(float)
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
WATCHED = (ROWS[100:], LABELS[100:])


def some_layers(features, hidden, classes, seed=0):
    rng = np.random.default_rng(seed)
    return Layers(
        *(rng.normal(size=shape) for shape in ((features, hidden), hidden, (hidden, classes), classes))
    )


def weighted_loss(layers, rows, labels, weights):
    return np.mean(
        [weight * loss(layers, rows[i : i + 1], labels[i : i + 1]) for i, weight in enumerate(weights)]
    )


def test_probabilities_by_hand():
    # One hidden unit: relu(2 * 1 - 1) = 1, so the scores are (1, 3) and the odds are e^2.
    layers = Layers(np.array([[2.0]]), np.array([-1.0]), np.array([[1.0, 2.0]]), np.array([0.0, 1.0]))
    hidden, scores = forward(layers, np.array([[1.0], [0.0]]))
    assert hidden.tolist() == [[1.0], [0.0]]
    assert scores.tolist() == [[1.0, 3.0], [0.0, 1.0]]
    expected = np.mean([np.log(1 + np.exp(-2)), np.log(1 + np.exp(1))])
    assert loss(layers, np.array([[1.0], [0.0]]), np.array([1, 0])) == pytest.approx(expected)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), is_sparse=st.booleans())
def test_a_step_follows_the_gradient_of_the_weighted_loss(seed, is_sparse):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(5, 4)) * (rng.random((5, 4)) < 0.6)
    labels, weights = rng.integers(0, 3, 5), rng.uniform(0, 3, 5)
    before, after = some_layers(4, 6, 3, seed), some_layers(4, 6, 3, seed)
    descend(after, sparse.csr_array(rows) if is_sparse else rows, labels, weights, rate=1.0)
    for part in ("W1", "b1", "W2", "b2"):
        step = getattr(before, part) - getattr(after, part)
        for place in np.ndindex(step.shape):
            slopes = []
            for width in (1e-6, -1e-6):
                moved = before.copy()
                getattr(moved, part)[place] += width
                slopes.append(weighted_loss(moved, rows, labels, weights) / (2 * width))
            assert sum(slopes) == pytest.approx(step[place], abs=1e-5)


def test_columns_that_do_not_occur_are_not_touched():
    layers = some_layers(4, 30, 2)
    before = layers.W1.copy()
    descend(layers, sparse.csr_array([[0, 1.0, 0, 1.0]]), np.array([0]), np.ones(1), rate=0.5)
    assert np.array_equal(layers.W1[[0, 2]], before[[0, 2]])
    assert not np.allclose(layers.W1[[1, 3]], before[[1, 3]])


def test_a_weight_of_2_is_the_row_twice():
    options = {"batch_size": 1000, "max_epochs": 30, "learning_rate": 1.0}
    twice = np.concatenate([np.arange(100), [3, 50]])
    weights = np.ones(100)
    weights[[3, 50]] = 2
    one = MlpClassifier(**options).fit(ROWS[:100], LABELS[:100], sample_weight=weights, validation=WATCHED)
    two = MlpClassifier(**options).fit(ROWS[twice], LABELS[twice], validation=WATCHED)
    unweighted = MlpClassifier(**options).fit(ROWS[:100], LABELS[:100], validation=WATCHED)
    assert np.allclose(one.coefs_[0], two.coefs_[0], atol=1e-10)
    assert np.allclose(one.predict_proba(ROWS), two.predict_proba(ROWS), atol=1e-10)
    assert not np.allclose(one.predict_proba(ROWS), unweighted.predict_proba(ROWS), atol=1e-5)


def test_the_scale_of_the_weights_does_not_matter():
    one = MlpClassifier().fit(ROWS, LABELS, sample_weight=np.ones(150))
    two = MlpClassifier().fit(ROWS, LABELS, sample_weight=np.full(150, 4.0))
    assert np.array_equal(one.coefs_[0], two.coefs_[0])


def test_a_weight_of_0_removes_the_row_and_with_it_its_class():
    labels = np.where(np.arange(150) < 10, 2, LABELS)
    weights = (labels < 2).astype(float)
    one = MlpClassifier().fit(ROWS, labels, sample_weight=weights)
    two = MlpClassifier().fit(ROWS[10:], LABELS[10:])
    assert one.classes_.tolist() == [0, 1]
    assert np.array_equal(one.coefs_[0], two.coefs_[0])


def test_the_seed_decides_everything():
    one, two, other = (MlpClassifier(random_state=seed).fit(ROWS, LABELS) for seed in (1, 1, 2))
    assert one.validation_losses_ == two.validation_losses_
    assert all(np.array_equal(a, b) for a, b in zip(one.coefs_, two.coefs_, strict=True))
    assert not np.array_equal(one.coefs_[0], other.coefs_[0])


def test_sparse_and_dense_rows_give_the_same_network():
    dense = MlpClassifier(max_epochs=5).fit(ROWS, LABELS, validation=WATCHED)
    thin = MlpClassifier(max_epochs=5).fit(sparse.csr_matrix(ROWS), LABELS, validation=WATCHED)
    assert np.allclose(dense.coefs_[0], thin.coefs_[0], atol=1e-10)
    assert np.allclose(dense.predict_proba(ROWS), thin.predict_proba(sparse.csr_array(ROWS)), atol=1e-10)


def test_the_weights_of_the_best_epoch_are_kept():
    watched = (ROWS[100:], LABELS[100:] ^ (RNG.random(50) < 0.3))  # noise, so that the loss rises again
    fitted = MlpClassifier(learning_rate=3.0).fit(ROWS[:100], LABELS[:100], validation=watched)
    losses = fitted.validation_losses_
    assert len(losses) == fitted.n_iter_
    assert min(losses) < losses[-1]
    layers = Layers(fitted.coefs_[0], fitted.intercepts_[0], fitted.coefs_[1], fitted.intercepts_[1])
    assert loss(layers, *watched) == min(losses)


def test_the_learning_rate_falls_on_a_plateau_and_training_stops_after_patience():
    # Labels by the toss of a coin: after the first epochs nothing is left to learn.
    labels = RNG.integers(0, 2, 150)
    fitted = MlpClassifier(learning_rate=2.0, plateau=2, decay=0.5, patience=5, tolerance=0.0).fit(
        ROWS[:100], labels[:100], validation=(ROWS[100:], labels[100:])
    )
    losses, rates = fitted.validation_losses_, fitted.learning_rates_
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + 5
    assert rates[0] == pytest.approx(2.0 / np.sqrt((ROWS[:100] ** 2).sum(axis=1).mean()))
    after = [rate / rates[best] for rate in rates[best + 1 :]]
    assert after == [1.0, 1.0, 0.5, 0.5, 0.25]


def test_it_equals_scikit_learns_network_with_the_same_weights():
    ours = MlpClassifier(hidden_units=7, max_epochs=3).fit(ROWS, np.arange(150) % 3)
    theirs = MLPClassifier(hidden_layer_sizes=(7,), max_iter=1, solver="lbfgs")
    with pytest.warns(ConvergenceWarning):
        theirs.fit(ROWS, np.arange(150) % 3)
    theirs.coefs_, theirs.intercepts_ = ours.coefs_, ours.intercepts_
    assert np.allclose(ours.predict_proba(ROWS), theirs.predict_proba(ROWS), atol=1e-12)
    assert np.array_equal(ours.predict(ROWS), theirs.predict(ROWS))


def test_it_is_an_estimator_as_scikit_learn_knows_them():
    fitted = MlpClassifier(hidden_units=5).fit(ROWS, np.array(["no", "yes"])[LABELS])
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.n_features_in_ == 12
    assert [part.shape for part in fitted.coefs_ + fitted.intercepts_] == [(12, 5), (5, 2), (5,), (2,)]
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "coefs_")


def test_what_cannot_be_learned_is_told():
    with pytest.raises(VeraxError, match=r"cannot hold out 0.1 of 3 rows"):
        MlpClassifier().fit(ROWS[:3], [0, 1, 0])
    with pytest.raises(VeraxError, match=r"hold the label .*7.*, which no training row has"):
        MlpClassifier().fit(ROWS, LABELS, validation=(ROWS[:1], [7]))
    with pytest.raises(VeraxError, match=r"did not learn with learning_rate=1e\+300"):
        MlpClassifier(learning_rate=1e300).fit(ROWS, LABELS)
    with pytest.raises(VeraxError, match="The rows have 3 columns but MlpClassifier was fitted on 12"):
        MlpClassifier().fit(ROWS, LABELS).predict_proba(ROWS[:, :3])
