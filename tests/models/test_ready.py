import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from verax.errors import VeraxError
from verax.models import fit_classifier, models
from verax.models.mlp import MlpClassifier

NAMES = ["forest", "logistic", "mlp", "tree", "xgboost"]
RNG = np.random.default_rng(0)
ROWS = (RNG.random((120, 10)) < 0.4).astype(float)
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
WEIGHTS = RNG.integers(0, 3, 120)


@pytest.fixture(params=NAMES)
def name(request):
    if request.param == "xgboost":
        pytest.importorskip("xgboost")
    return request.param


def test_the_five_are_found_by_name():
    assert set(NAMES) <= set(models.names())
    with pytest.raises(VeraxError, match="There is no model called 'forrest'; did you mean 'forest'"):
        fit_classifier("forrest", ROWS, LABELS)


def test_the_first_three_are_scikit_learns_defaults():
    defaults = {
        "logistic": LogisticRegression(random_state=3, max_iter=1000),
        "tree": DecisionTreeClassifier(random_state=3),
        "forest": RandomForestClassifier(random_state=3),
    }
    for name, default in defaults.items():
        ours = fit_classifier(name, ROWS, LABELS, seed=3)
        assert ours.get_params() == default.get_params()
        assert np.array_equal(ours.predict_proba(ROWS), default.fit(ROWS, LABELS).predict_proba(ROWS))


def test_more_iterations_change_nothing_where_the_default_converges():
    default = LogisticRegression().fit(ROWS, LABELS)
    assert default.n_iter_[0] < 100
    assert np.array_equal(fit_classifier("logistic", ROWS, LABELS).coef_, default.coef_)


def test_a_simple_rule_is_learned(name):
    fitted = fit_classifier(name, ROWS, LABELS)
    assert np.mean(fitted.predict(ROWS) == LABELS) > 0.95
    assert fitted.classes_.tolist() == [0, 1]


def test_several_classes_are_learned(name):
    labels = np.where(ROWS[:, 2] > 0, 2, LABELS)
    fitted = fit_classifier(name, ROWS, labels, n_classes=3)
    assert fitted.predict_proba(ROWS).shape == (120, 3)
    assert np.mean(fitted.predict(ROWS) == labels) > 0.9


def test_the_same_seed_gives_the_same_model(name):
    one, two = (fit_classifier(name, ROWS, LABELS, seed=5).predict_proba(ROWS) for _ in range(2))
    assert np.array_equal(one, two)


def test_a_weight_of_0_removes_the_row(name):
    weights = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    kept = weights > 0
    weighted = fit_classifier(name, ROWS, LABELS, sample_weight=weights)
    removed = fit_classifier(name, ROWS[kept], LABELS[kept], sample_weight=weights[kept])
    assert np.array_equal(weighted.predict_proba(ROWS), removed.predict_proba(ROWS))


def test_weights_decide_between_rows_that_contradict_each_other(name):
    # The same row has both labels, two thirds of the weight on the first; unweighted it is the other way round.
    rows = np.tile(ROWS[:1], (60, 1))
    labels = (np.arange(60) % 3 > 0).astype(int)
    weights = np.where(labels == 0, 4.0, 1.0)
    options = {"validation": (rows[:3], labels[:3])}
    plain = fit_classifier(name, rows, labels, **options).predict_proba(rows[:1])[0, 0]
    weighted = fit_classifier(name, rows, labels, sample_weight=weights, **options).predict_proba(rows[:1])[
        0, 0
    ]
    assert plain < 0.5 < weighted


def test_sparse_rows_give_the_same_model_as_dense_ones():
    for name in ("logistic", "tree", "forest", "mlp"):
        dense = fit_classifier(name, ROWS, LABELS)
        thin = fit_classifier(name, sparse.csr_matrix(ROWS), LABELS)
        assert np.allclose(dense.predict_proba(ROWS), thin.predict_proba(sparse.csr_matrix(ROWS)), atol=1e-6)


def test_absent_entries_of_sparse_rows_are_missing_to_xgboost():
    pytest.importorskip("xgboost")
    # In sparse training rows the only value of a column is 1, so no split can tell 0 from 1: only missing from 1.
    fitted = fit_classifier("xgboost", sparse.csr_matrix(ROWS), LABELS)
    absent = np.where(ROWS == 0, np.nan, ROWS)
    from_sparse = fitted.predict_proba(sparse.csr_matrix(ROWS))
    assert np.array_equal(from_sparse, fitted.predict_proba(absent))
    assert np.mean(from_sparse.argmax(axis=1) == LABELS) > 0.95
    assert not np.allclose(from_sparse, fitted.predict_proba(ROWS), atol=0.01)


def test_mlp_watches_the_validation_rows_and_holds_out_its_own_without_them():
    given = fit_classifier("mlp", ROWS[:100], LABELS[:100], validation=(ROWS[100:], LABELS[100:]))
    direct = MlpClassifier().fit(ROWS[:100], LABELS[:100], validation=(ROWS[100:], LABELS[100:]))
    assert given.validation_losses_ == direct.validation_losses_
    held_out = fit_classifier("mlp", ROWS, LABELS, validation=(ROWS[:0], LABELS[:0]))
    assert held_out.validation_losses_ == MlpClassifier().fit(ROWS, LABELS).validation_losses_


def test_a_classifier_without_weights_says_so(monkeypatch):
    def neighbours(seed):
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(n_neighbors=1 + seed)

    monkeypatch.setitem(models._things, "neighbours-for-this-test", neighbours)
    assert fit_classifier("neighbours-for-this-test", ROWS, LABELS).n_neighbors == 1
    with pytest.raises(VeraxError, match="does not take sample weights"):
        fit_classifier("neighbours-for-this-test", ROWS, LABELS, sample_weight=WEIGHTS)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"labels": LABELS[:5]}, r"There are 120 rows but labels of shape \(5,\)"),
        ({"labels": LABELS.astype(str)}, "give the number of each row's class, from 0"),
        ({"labels": LABELS - 1}, "A row has the label -1; with 2 classes labels are 0 to 1"),
        ({"labels": LABELS + 1, "n_classes": 2}, "A row has the label 2; with 2 classes labels are 0 to 1"),
        ({"labels": LABELS * 0}, r"No row \(of weight above 0\) has the class 1 of 2"),
        ({"labels": LABELS * 2}, r"No row \(of weight above 0\) has the class 1 of 3"),
        ({"sample_weight": LABELS}, r"No row \(of weight above 0\) has the class 0 of 2"),
        ({"sample_weight": LABELS * 0}, "There is no row to fit a model on"),
        ({"sample_weight": [1.0]}, r"weights of shape \(1,\)"),
    ],
)
def test_training_rows_that_do_not_fit_together_are_told(options, sentence):
    with pytest.raises(VeraxError, match=sentence):
        fit_classifier("tree", ROWS, **{"labels": LABELS, **options})


def test_a_forests_weight_means_repeated_rows():
    rng = np.random.default_rng(0)
    rows = (rng.random((300, 12)) < 0.4).astype(float)
    labels = ((rows[:, 0] + rows[:, 1] + rng.normal(0, 0.5, 300)) > 0.8).astype(int)
    weights = np.where(rows[:, 2] > 0, 5, 1)
    repeated = np.repeat(np.arange(300), weights)
    probe = (rng.random((400, 12)) < 0.4).astype(float)

    def mean_answer(fit):
        return np.mean([fit(seed).predict_proba(probe)[:, 1] for seed in range(6)], axis=0)

    ours = mean_answer(lambda seed: fit_classifier("forest", rows, labels, sample_weight=weights, seed=seed))
    theirs = mean_answer(lambda seed: fit_classifier("forest", rows[repeated], labels[repeated], seed=seed))
    other = mean_answer(
        lambda seed: fit_classifier("forest", rows[repeated], labels[repeated], seed=100 + seed)
    )
    assert (
        np.abs(ours - theirs).mean() < 1.5 * np.abs(other - theirs).mean()
    )  # no further than two of theirs are
    unweighted = mean_answer(lambda seed: fit_classifier("forest", rows, labels, seed=seed))
    assert np.abs(ours - theirs).mean() < 0.7 * np.abs(unweighted - theirs).mean()


def test_rows_of_weight_one_beside_heavy_ones_are_learnt_to_the_end():
    """scikit-learn's tolerance is of the mean by weight, in which they hardly count."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (400, 60)).astype(float)
    labels = rng.integers(0, 2, 400)
    weights = np.where(rows[:, 0] * rows[:, 1] == 1, 3000, 1)
    labels[weights > 1] = 1
    ours = fit_classifier("logistic", rows, labels, sample_weight=weights)
    exact = LogisticRegression(tol=1e-10, max_iter=100_000).fit(rows, labels, sample_weight=weights)
    light = rows[weights == 1]
    assert ours.predict_proba(light) == pytest.approx(exact.predict_proba(light), abs=0.02)
