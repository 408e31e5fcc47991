"""Every measure keeps the contract; what cannot be measured is refused in a sentence."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from verax.errors import VeraxError
from verax.explain import Composite, Fragments, Greedy, Random, Rule, fragments
from verax.explain.checks import TEXTS, additive_text_model
from verax.explain.explanation import Attribution
from verax.explain.kinds import Edit, Exemplar
from verax.explain.kinds import Path as EditPath
from verax.measures import check_measure, defines, measures
from verax.measures.base import Measure
from verax.seeds import stream

AGREEMENT = [name for name in measures.names() if "other" in measures.get(name).options]
NEEDS_NOTHING = [
    name
    for name in measures.names()
    if measures.get(name).costs in ("nothing", "rows") and name not in AGREEMENT
]


@pytest.fixture(scope="module")
def reviews():
    """A small model of texts that scikit-learn can fit again, and texts of both classes."""
    rng = np.random.default_rng(0)
    filler = ["film", "plot", "actor", "scene", "music", "end"]
    texts, labels = [], []
    for number in range(60):
        words = [*rng.choice(filler, 3, replace=False), "good" if number % 2 else "bad"]
        texts.append(" ".join(rng.permutation(words)))
        labels.append(number % 2)
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    return verax.as_model(pipeline, reference=texts), texts


@pytest.mark.parametrize("name", NEEDS_NOTHING)
def test_the_contract(name):
    check_measure(verax.measure(name))


@pytest.mark.parametrize("name", AGREEMENT)
def test_the_contract_of_agreement(name):
    model = additive_text_model()
    other = Random(seed=5).explain(model, list(TEXTS))
    measure = verax.measure(name, other=other)
    check_measure(measure, model=model, inputs=list(TEXTS), batches=False)
    assert (measure(model, list(TEXTS), other)[:3] == 1).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("max-sensitivity", {"explainer": "greedy"}),
        ("stability", {"explainer": "greedy"}),
        ("model-randomisation", {"explainer": "greedy"}),
    ],
)
def test_the_contract_of_what_explains_again(name, options, reviews):
    model, texts = reviews
    check_measure(verax.measure(name, **options), model=model, inputs=texts[:4])


@pytest.mark.parametrize(("name", "options"), [("roar", {}), ("recursive-roar", {"explainer": "greedy"})])
def test_the_contract_of_what_fits_again(name, options, reviews):
    model, texts = reviews
    check_measure(verax.measure(name, **options), model=model, inputs=texts, batches=False)


def test_roar_tells_the_words_that_matter_from_others(reviews):
    model, texts = reviews
    right = Greedy().explain(model, texts)
    wrong = [replace(one, scores=-np.abs(one.scores)) for one in right]
    for name, options in (("roar", {}), ("recursive-roar", {"explainer": Greedy()})):
        measure = verax.measure(name, **options)
        assert measure(model, texts, right).mean() > 0.3
        assert verax.measure("roar", shares=(0.3,))(model, texts, wrong).mean() < 0.1


def test_roar_can_put_words_or_values_of_others_in_the_place(reviews):
    model, texts = reviews
    right = Greedy().explain(model, texts)
    for absent in (None, "dropped", "resampled"):
        lost = verax.measure("roar", shares=(0.25,), absent=absent)(model, texts, right).mean()
        # Without the one word that tells the class nothing is left to learn from; a replacement tells no more.
        assert lost > 0.3
    with pytest.raises(VeraxError, match="of texts ROAR has 'dropped' and 'resampled'"):
        verax.measure("roar", absent="masked")(model, texts, right)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    table = verax.as_model(LogisticRegression().fit(rows, rows[:, 0] > 0), reference=rows)
    explained = Greedy().explain(table, rows)
    for absent in ("mean", "resampled"):
        assert verax.measure("roar", shares=(0.3,), absent=absent)(table, rows, explained).mean() > 0.2
    with pytest.raises(VeraxError, match="of tables ROAR has 'mean' and 'resampled'"):
        verax.measure("roar", absent="dropped")(table, rows, explained)


def test_roar_by_hand():
    """Five folds of balanced texts in which a word of each class tells all, and the other words are the same."""
    texts = [f"the film {word} today" for word in ("good", "bad")] * 20
    labels = [1, 0] * 20
    model = verax.as_model(make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels))
    scores = [
        Attribution(tuple(text.split()), np.array([0.0, 0.0, 1.0, 0.0]), label)
        for text, label in zip(texts, labels, strict=True)
    ]
    folds = stream(0, "folds", 40).permutation(np.arange(40) % 5)
    values = verax.measure("roar", shares=(0.25,))(model, texts, scores)
    # What is left is equal in all texts, so that a model says the class that is more frequent in the other folds:
    # whoever is of the class that is more frequent in its own fold is told wrong, and loses 1.
    uneven = [fold for fold in range(5) if np.mean(np.array(labels)[folds == fold]) != 0.5]
    assert uneven
    for fold in uneven:
        own = np.array(labels)[folds == fold]
        assert values[folds == fold] == pytest.approx((own == (own.mean() > 0.5)).astype(float))
    with pytest.raises(VeraxError, match="could not fit the model again"):
        verax.measure("roar", shares=(1.0,))(model, texts, scores)
    nothing = [replace(one, scores=np.array([1.0, 0.0, 0.0, 0.0])) for one in scores]
    assert verax.measure("roar", shares=(0.25,))(model, texts, nothing) == pytest.approx(np.zeros(40))


def test_scores_that_ignore_the_model_stay_when_it_forgets(reviews):
    model, texts = reviews
    random = Random(seed=3)
    measure = verax.measure("model-randomisation", explainer=random)
    assert measure(model, texts[:5], random.explain(model, texts[:5])) == pytest.approx(np.ones(5))
    method = Greedy()
    values = verax.measure("model-randomisation", explainer=method)(
        model, texts, method.explain(model, texts)
    )
    assert values.mean() < 0.7


def test_stable_scores_have_no_sensitivity(reviews):
    model, texts = reviews

    class First(Random):
        def explain(self, model, inputs, targets=None):
            return [
                replace(one, scores=np.arange(len(one.features), 0, -1.0))
                for one in Random().explain(model, inputs, targets)
            ]

    # Words are compared by where they stand, so that a score by place never changes.
    for name, wanted in (("max-sensitivity", 0.0), ("stability", 1.0)):
        values = verax.measure(name, explainer=First())(model, texts[:6], First().explain(model, texts[:6]))
        assert values == pytest.approx(np.full(6, wanted))
    noisy = verax.measure("stability", explainer=Random())(
        model, texts[:20], Random().explain(model, texts[:20])
    )
    assert noisy.mean() < 0.6


@pytest.mark.parametrize("name", ["max-sensitivity", "stability"])
def test_similar_words_come_from_where_the_sentence_says(name, tmp_path):
    model, texts = additive_text_model(), ["a good film", "bad dull plot"]
    function = verax.as_model(model.predict_proba, kind="text", class_names=model.class_names)
    given = function, texts, Greedy().explain(function, texts)
    with pytest.raises(
        VeraxError, match=rf"say where word vectors are: {name}\(vectors=minilm\), or a GloVe"
    ):
        verax.measure(name, explainer="greedy")(*given)
    # In the place of 'good' stands 'fine', which is worth half; the other words have no vector.
    (tmp_path / "glove.txt").write_text("good 1 0\nfine 1 0.1\n")
    values = verax.measure(f"{name}(vectors={tmp_path / 'glove.txt'})", explainer="greedy")(*given)
    assert values == pytest.approx([0.5, 0.0] if name == "max-sensitivity" else [1.0, 1.0])


def test_rules_and_fragments_are_measured_by_their_order_and_refused_where_sizes_count():
    model = additive_text_model()
    text = "a fine good film"
    rule = Rule(("a", "fine", "good", "film"), (2,), ("good",), 1.0, 1.0, 0.5, True, (), 1, input=text)
    scored = Attribution(rule.features, np.array([0.0, 0.1, 0.2, 0.0]), 1, input=text)
    named: Fragments = fragments(scored, count=1, sizes=(1,))
    removes = verax.measure("comprehensiveness", k=1)
    assert removes(model, [text], [rule])[0] == pytest.approx(0.2)
    assert removes(model, [text], [named])[0] == pytest.approx(0.2)
    with pytest.raises(VeraxError, match="reads the sizes of scores, and a Rule names features without any"):
        verax.measure("infidelity")(model, [text], [rule])


def test_a_path_is_measured_by_its_order_and_an_example_by_nothing():
    model = additive_text_model()
    text = "a fine good film"
    words = ("a", "fine", "good", "film")
    edits = (Edit(2, 2, "good", "bad"), Edit(1, 1, "fine", "dull"))
    path = EditPath(words, edits, (0.6, 0.2, -0.1), "negative", 1, input=text)
    assert verax.measure("comprehensiveness", k=1)(model, [text], [path])[0] == pytest.approx(0.2)
    assert verax.measure("decision-flip-token")(model, [text], [path])[0] == 0.0
    with pytest.raises(VeraxError, match="reads the sizes of scores, and a Path names features without any"):
        verax.measure("gini")(model, [text], [path])
    example = Exemplar(words, np.arange(4.0), 0.9, "a good film", "positive", 1, input=text)
    for name in NEEDS_NOTHING:
        with pytest.raises(
            VeraxError, match="features that the prediction rests on, and a Exemplar ranks none"
        ):
            verax.measure(name)(model, [text], [example])


@pytest.mark.parametrize("name", NEEDS_NOTHING)
def test_a_model_of_numbers_is_measured_in_the_range_or_refused(name):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    model = verax.as_model(
        LinearRegression().fit(rows, 1000 * rows[:, 0] - 3000 * rows[:, 1]), reference=rows
    )
    measure = verax.measure(name)
    if measure.definition.numbers == "refused":
        with pytest.raises(VeraxError, match="is about classes, and this model predicts a number"):
            measure(model, rows[:3], Greedy().explain(model, rows[:3]))
    else:
        check_measure(measure, model=model, inputs=rows[:3])


def test_bad_input_is_a_sentence(reviews):
    model, texts = reviews
    explanations = Greedy().explain(model, texts[:2])
    comprehensiveness = verax.measure("comprehensiveness")
    for call, sentence in (
        (lambda: comprehensiveness(model, texts[:3], explanations), "2 explanations of 3 inputs"),
        (lambda: comprehensiveness(model, [], []), "no inputs"),
        (lambda: comprehensiveness(model, texts[1::-1], explanations), "which the input does not have"),
        (lambda: comprehensiveness(model, texts[:1], [Composite((), 0)]), "a Composite ranks none"),
        (lambda: verax.measure("comprehensivness"), "did you mean 'comprehensiveness'"),
        (lambda: verax.measure("comprehensiveness", depth=3), "has no option 'depth'"),
        (lambda: verax.measure("comprehensiveness", k="three"), "a whole number"),
        (lambda: verax.measure("stability"), "needs explainer="),
        (
            lambda: verax.measure("deletion", absent="mean")(model, texts[:2], explanations),
            "words have no mean",
        ),
        (
            lambda: verax.measure("deletion", absent="masked")(model, texts[:2], explanations),
            "shows no place",
        ),
        (lambda: verax.measure("deletion", absent="gone")(model, texts[:2], explanations), "absent='gone'"),
        (
            lambda: verax.measure("comprehensiveness", k=-1)(model, texts[:2], explanations),
            "k=-1 is too small",
        ),
        (lambda: verax.measure("roar")(model, texts[:2], explanations), "2 are too few"),
    ):
        with pytest.raises(VeraxError, match=sentence):
            call()
    function = additive_text_model()
    many = ["good film", "bad film"] * 6
    with pytest.raises(VeraxError, match="a CallableModel cannot be; give refit="):
        verax.measure("roar")(function, many, Greedy().explain(function, many))


def test_cost_is_counted(reviews):
    model, texts = reviews
    explanations = Greedy().explain(model, texts[:10])
    measured = verax.measure("deletion").measured(model, texts[:10], explanations)
    assert 10 * 2 <= measured.cost.rows <= 10 * 5 * 8
    assert verax.measure("gini").measured(model, texts[:10], explanations).cost.rows == 0


def test_a_measure_of_ones_own_is_one_function():
    @defines(better="higher", low=0, high=100, costs="nothing")
    def named(case, *, above: float = 0.0):
        """How many features speak for the class."""
        return np.array([float((scores > above).sum()) for scores in case.scores])

    measure = Measure("named", named, {})
    check_measure(measure)
    assert named.__doc__ == "How many features speak for the class."

    @defines(better="higher", low=0, high=1)
    def undefined(case):
        return np.full(len(case), np.nan)

    with pytest.raises(VeraxError, match="gave nan for input 0"):
        check_measure(Measure("undefined", undefined, {}))


def of_scores(change):
    """A measure of the scores alone."""
    return lambda case: np.array([change(scores) for scores in case.scores])


BROKEN = {
    "outside of 0 to 1": (of_scores(lambda scores: 2.0), {}),
    "reads the sizes of scores": (of_scores(lambda scores: min(1.0, float(np.abs(scores).sum()))), {}),
    "depends on the unit of scores": (
        of_scores(lambda scores: min(1.0, 0.01 * float(np.abs(scores).sum()))),
        {"reads": "scores", "any_unit": True},
    ),
    "depends on the order of the features": (
        lambda case: np.array([float(own.scores[:1].sum() > 0) for own in case.explanations]),
        {"reads": "scores"},
    ),
    "gives other values one by one": (lambda case: np.full(len(case), 1 / len(case)), {}),
    "declares 0.5 for a constant model": (of_scores(lambda scores: 1.0), {"constant": 0.5}),
}


@pytest.mark.parametrize("broken", list(BROKEN))
def test_the_contract_tells_what_a_measure_breaks(broken):
    function, options = BROKEN[broken]
    declared = defines(**{"better": "higher", "low": 0, "high": 1, "reads": "order", **options})(function)
    with pytest.raises(AssertionError, match=broken):
        check_measure(Measure("broken", declared, {}))


def test_rows_asked_of_a_function_are_counted_once():
    asked = []
    model = additive_text_model()

    def probabilities(texts):
        asked.extend(texts)
        return model.predict_proba(texts)

    function = verax.as_model(
        probabilities, kind="text", class_names=model.class_names, reference=list(TEXTS)
    )
    explanations = Greedy().explain(function, list(TEXTS))
    for absent in (None, "resampled"):
        asked.clear()
        cost = verax.measure("deletion", absent=absent).measured(function, list(TEXTS), explanations).cost
        assert cost.rows == len(asked)
