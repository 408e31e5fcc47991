"""Every explainer of ours keeps the contract, in any batch, order and process."""

from __future__ import annotations

import dataclasses
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

import verax
from helpers import explain_elsewhere, fitted, make_texts
from verax.errors import VeraxError
from verax.explain import (
    Attribution,
    Explainer,
    Greedy,
    GreedyPath,
    Lime,
    Precomputed,
    Random,
    Shap,
    explainers,
)
from verax.explain.checks import ODD_TEXTS, TEXTS, additive_text_model, check_explainer

OURS = {
    "lime": (Lime(samples=2000), 0.15),
    "lime, selected": (Lime(samples=2000, features=4), 0.15),
    "shap": (Shap(), 1e-6),
    "shap, sampled": (Shap(route="kernel"), 1e-6),
    "shap, log-odds": (Shap(output="log-odds"), None),
    "greedy": (Greedy(), 1e-6),
    "greedy-path": (GreedyPath(), 1e-6),
    "random": (Random(), None),
    "random n-grams": (Random(ngram=2), None),
}


@pytest.mark.parametrize("name", [name for name, (_, tolerance) in OURS.items() if tolerance is not None])
def test_ours_pass_the_checks(name):
    explainer, tolerance = OURS[name]
    check_explainer(explainer, tolerance=tolerance)


def test_random_passes_the_checks():
    check_explainer(Random())


@dataclasses.dataclass(frozen=True)
class Broken(Explainer):
    """Breaks one clause of the contract."""

    how: str = ""

    def explain(self, model, inputs, targets=None):
        explanations = Shap().explain(model, inputs, targets)
        if self.how == "order":
            return [
                dataclasses.replace(found, scores=found.scores + n) for n, found in enumerate(explanations)
            ]
        if self.how == "wrong":
            return [dataclasses.replace(found, scores=found.scores * 1.1) for found in explanations]
        if self.how == "short":
            return explanations[:-1]
        if self.how == "target":
            return Shap().explain(model, inputs)
        if self.how == "noise":
            noise = np.random.default_rng().random()
            return [dataclasses.replace(found, scores=found.scores + noise) for found in explanations]
        if self.how == "dummy":
            return [dataclasses.replace(found, scores=found.scores + 0.001) for found in explanations]
        return [dataclasses.replace(found, details={"set": {1}}) for found in explanations]


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ("order", "otherwise in a batch than alone"),
        ("wrong", "is off by"),
        ("short", "returned 3 explanations for 4 inputs"),
        ("target", "was asked for class"),
        ("noise", "differs from one call to the next"),
        ("dummy", "is off by"),
    ],
)
def test_the_checks_find_what_is_broken(how, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_explainer(Broken(how))


def test_the_checks_find_what_json_cannot_hold():
    with pytest.raises(VeraxError, match="cannot be written to JSON"):
        check_explainer(Broken("json"))


MODELS = {
    "fast": lambda: fitted(RandomForestClassifier(5, random_state=0)),
    "linear": lambda: fitted(LogisticRegression()),
    "rows": lambda: fitted(BernoulliNB()),
}


@pytest.mark.parametrize("model_name", MODELS)
@pytest.mark.parametrize("name", OURS)
def test_batches_orders_and_processes_change_nothing(name, model_name):
    explainer, _ = OURS[name]
    pipeline = MODELS[model_name]()
    model = verax.as_model(pipeline)
    texts = make_texts(64, seed=3)[0]
    together = explainer.explain(model, texts)
    alone = [explainer.explain(model, [text])[0] for text in texts]
    assert together == alone
    order = np.random.default_rng(0).permutation(64)
    shuffled = explainer.explain(model, [texts[place] for place in order])
    assert [together[place] for place in order] == shuffled


def test_two_workers_give_the_same_numbers():
    pipeline = MODELS["fast"]()
    texts = make_texts(16, seed=4)[0]
    jobs = [(explainer, pipeline, part) for explainer, _ in OURS.values() for part in (texts[:8], texts[8:])]
    here = [explain_elsewhere(job) for job in jobs]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = list(pool.map(explain_elsewhere, jobs))
    for mine, theirs in zip(here, there, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            del one["cost"], other["cost"]
            assert one == other


def test_parameters_make_the_identity():
    assert Lime(samples=100) == Lime(samples=100)
    assert Lime(samples=100).key == Lime(samples=100).key
    assert Lime(samples=100).key != Lime(samples=101).key
    assert Lime().key != Shap().key
    assert repr(Lime(samples=100)) == (
        "Lime(samples=100, seed=0, kernel_width=None, features=None, selection='auto', absent='dropped')"
    )
    assert eval(repr(Shap(seed=3))) == Shap(seed=3)


def test_seeds_change_what_is_sampled_and_nothing_else():
    model = verax.as_model(MODELS["fast"]())
    text = make_texts(1, seed=5)[0]
    for one, other in ((Lime(seed=0), Lime(seed=1)), (Random(seed=0), Random(seed=1))):
        assert one.explain(model, text) != other.explain(model, text)
    assert Greedy().explain(model, text) == Greedy().explain(model, text)


def test_explainers_are_found_by_name_and_by_import():
    assert isinstance(verax.explainer("lime", samples=10), Lime)
    assert verax.explainer("verax.explain.greedy:GreedyPath", steps=3) == GreedyPath(steps=3)
    assert {"lime", "shap", "greedy", "greedy-path", "random", "precomputed"} <= set(explainers)


def test_parameters_may_stand_behind_the_name():
    assert verax.explainer("lime(samples=10)") == Lime(samples=10)
    assert verax.explainer("lime(samples=10, absent=masked)", seed=3) == Lime(10, 3, absent="masked")
    assert verax.explainer("verax.explain.greedy:GreedyPath(steps=3)") == GreedyPath(steps=3)
    model = additive_text_model()
    found = verax.judge(model, TEXTS[:1], ["lime(samples=20)", "greedy"])
    assert [trial.name for trial in found.trials] == ["lime(samples=20)", "greedy"]


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("lime(samples=10)", {"samples": 20}, "'samples' of the explainer .* is given twice; give it once"),
        ("lime(sample=10)", {}, "has no parameter 'sample'; it has samples, seed"),
        ("lime(10)", {}, "The option '10' of 'lime' cannot be read; write name=value"),
        ("lyme", {}, "There is no explainer called 'lyme'; did you mean 'lime'?"),
        ("lime", {"sample": 3}, "has no parameter 'sample'; it has samples, seed"),
        ("precomputed", {}, "cannot be made"),
        ("nowhere.at_all:Thing", {}, "cannot be imported"),
        ("verax.explain.greedy:Thing", {}, "has no 'Thing'"),
        ("verax.explain.greedy:TIE_DIGITS", {}, "is not an explainer class"),
    ],
)
def test_a_name_that_is_wrong_is_a_sentence(name, parameters, sentence):
    with pytest.raises(VeraxError, match=sentence.replace("?", r"\?")):
        verax.explainer(name, **parameters)


def test_random_is_uniform_and_follows_the_content():
    model = additive_text_model()
    texts = make_texts(200, seed=6)[0]
    found = Random().explain(model, texts, [1] * len(texts))
    scores = np.concatenate([explanation.scores for explanation in found])
    assert abs(scores.mean()) < 4 * scores.std() / np.sqrt(len(scores))
    assert scores.min() < -0.9
    assert scores.max() > 0.9
    first = [explanation.ranking()[0] / max(1, len(explanation.features) - 1) for explanation in found]
    assert 0.35 < np.mean(first) < 0.65  # the top word may stand anywhere


def test_random_ngrams_stand_where_they_say():
    found = Random(ngram=3).explain(
        additive_text_model(), ["One two, three four. Two words!", "Just two", ""]
    )
    assert found[0].features == ("One two, three", "two, three four", "three four. Two", "four. Two words")
    for explanation in found:
        for feature, ((start, end),) in zip(explanation.features, explanation.spans, strict=True):
            assert explanation.input[start:end] == feature
    assert found[1].features == ("Just two",)
    assert found[2].features == ()


def test_precomputed_gives_back_what_was_written(tmp_path):
    model = additive_text_model()
    texts = ["the good film", "a bad 👍 film"]
    made = Greedy().explain(model, texts)
    other = Greedy().explain(model, texts[:1], ["negative"])
    path = tmp_path / "made elsewhere.jsonl"
    path.write_text("\n".join(json.dumps(found.to_dict()) for found in [*made, *other]) + "\n\n")
    precomputed = verax.explainer("precomputed", path=str(path))
    assert precomputed.explain(model, texts[::-1]) == made[::-1]
    assert precomputed.explain(model, texts[:1], [0]) == other
    check = Precomputed(str(path))
    assert check.key == precomputed.key


def test_precomputed_passes_the_checks(tmp_path):
    model = additive_text_model()
    texts = [*TEXTS, *ODD_TEXTS]
    path = tmp_path / "all.jsonl"
    made = [found for target in (1, 0) for found in Greedy().explain(model, texts, [target] * len(texts))]
    path.write_text("\n".join(json.dumps(found.to_dict()) for found in made))
    check_explainer(Precomputed(str(path)), kinds=["text"])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "Line 1 of .* is not a JSON object"),
        ('{"kind": "poem"}', "Line 1 of .*no kind of explanation called 'poem'"),
        (
            '{"kind": "attribution", "features": ["a"]}',
            "Line 1 of .*needs .*it lacks 'scores'",
        ),
        (
            '{"kind": "attribution", "features": ["a"], "scores": [1, 2], "target": 0}',
            "1 features need as many",
        ),
        (
            '{"kind": "attribution", "features": ["a"], "scores": [NaN], "target": 0}',
            "score of 'a' is not a finite number",
        ),
        (
            '{"kind": "attribution", "features": [], "scores": [], "target": 0, "input": "x"}',
            "Input 0 .* has no",
        ),
    ],
)
def test_precomputed_complains_in_a_sentence(tmp_path, line, sentence):
    path = tmp_path / "bad.jsonl"
    path.write_text(line)
    with pytest.raises(VeraxError, match=sentence):
        Precomputed(str(path)).explain(additive_text_model(), ["the good film"])


def test_precomputed_without_a_file_is_a_sentence():
    with pytest.raises(VeraxError, match=r"'nowhere\.jsonl' of explanations cannot be read"):
        Precomputed("nowhere.jsonl").explain(additive_text_model(), ["x"])


def test_an_attribution_ranks_by_magnitude_and_keeps_ties_in_order():
    found = Attribution(("a", "b", "c", "d"), np.array([0.1, -0.5, 0.5, 0.0]), 1)
    assert found.ranking() == [1, 2, 0, 3]
    assert found.top(2) == [("b", -0.5), ("c", 0.5)]
    with pytest.raises(ValueError, match="read-only"):
        found.scores[0] = 1.0
