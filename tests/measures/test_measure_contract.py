"""Every measure keeps the contract; what cannot be measured is refused in a sentence."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from verax.errors import VeraxError
from verax.explain import Composite, Fragments, Greedy, Random, Rule, fragments
from verax.explain.checks import TEXTS, additive_text_model
from verax.explain.explanation import Attribution
from verax.measures import check_measure, defines, measures
from verax.measures.base import Measure

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
