"""Explanations of shap, lime and captum, from the packages' own objects; and what transformers_interpret returns."""

from __future__ import annotations

import captum.attr
import numpy as np
import pandas as pd
import pytest
import shap
import torch
from lime.lime_tabular import LimeTabularExplainer
from lime.lime_text import LimeTextExplainer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from verax.errors import VeraxError
from verax.explain import (
    from_captum,
    from_lime,
    from_shap,
    from_transformers_interpret,
)
from verax.explain.explanation import by_word
from verax.workflows.given_objects import Gathered

TEXTS = ["a good film, good Dee fun", "a bad film", "Good fun, dull plot", "bad dull plot"]
NAMES = ["negative", "positive"]


def scores_of(explanation):
    words = by_word(explanation)
    return dict(zip(words.features, words.scores.tolist(), strict=True))


@pytest.fixture(scope="module")
def pipeline():
    words = CountVectorizer(lowercase=False, token_pattern=r"\w+")
    return make_pipeline(words, LogisticRegression()).fit(TEXTS * 5, [1, 0, 1, 0] * 5)


@pytest.fixture(scope="module")
def model(pipeline):
    return verax.as_model(pipeline, class_names=NAMES)


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    fitted = LogisticRegression(max_iter=1000).fit(data.data, data.target)
    return data.data, fitted, verax.as_model(fitted, reference=data.data, class_names=list(data.target_names))


@pytest.fixture(scope="module")
def of_shap(pipeline):
    explainer = shap.Explainer(
        lambda texts: pipeline.predict_proba(list(texts)), shap.maskers.Text(), output_names=NAMES
    )
    return explainer(TEXTS)


def test_shap_of_texts_has_the_scores_of_every_class_and_place(of_shap, model):
    imported = from_shap(of_shap, model)
    for target, name in enumerate(NAMES):
        for number, found in enumerate(imported.explain(model, TEXTS, targets=name)):
            values = of_shap.values[number][:, target]
            assert found.scores.tolist() == pytest.approx(values.tolist())
            assert found.features == tuple(token.strip(" ,") for token in of_shap.data[number])
            assert found.target_name == name
    first = imported.explain(model, TEXTS[:1], targets=[1])[0]
    assert first.spans[1] == ((2, 6),)
    assert first.spans[3] == ((13, 17),)
    assert scores_of(first)["good"] == pytest.approx(of_shap.values[0][1, 1] + of_shap.values[0][3, 1])


def test_shap_without_a_target_is_of_the_predicted_class(of_shap, model):
    found = from_shap(of_shap, model).explain(model, TEXTS)
    assert [each.target for each in found] == np.argmax(model.predict_proba(TEXTS), axis=1).tolist()


def test_one_output_of_shap_needs_its_class_and_gives_the_other(of_shap, pipeline, model):
    """Probabilities of two classes sum to 1: scores of the one are those of the other with the other sign."""
    chosen = from_shap(of_shap[:, :, 1], model)  # shap keeps the name of the output
    explainer = shap.Explainer(lambda texts: pipeline.predict_proba(list(texts))[:, 1], shap.maskers.Text())
    with pytest.raises(
        VeraxError, match=r"has one output and does not say of which class.*targets='positive'"
    ):
        from_shap(explainer(TEXTS), model)
    told = from_shap(explainer(TEXTS), model, targets="positive")
    for target in (0, 1):
        whole = from_shap(of_shap, model).explain(model, TEXTS, [target] * 4)
        for imported in (chosen, told):
            for one, other in zip(imported.explain(model, TEXTS, [target] * 4), whole, strict=True):
                assert one.scores == pytest.approx(other.scores)
                assert ("mirrored" in one.details) == (target == 0)


def test_one_text_of_shap_is_enough(of_shap, model):
    (found,) = from_shap(of_shap[1], model).explain(model, TEXTS[1:2], ["negative"])
    assert scores_of(found) == pytest.approx(
        dict(zip(["a", "bad", "film"], of_shap.values[1][:, 0].tolist(), strict=True))
    )


@pytest.mark.parametrize("named", [True, False])
def test_shap_of_tables_is_by_column_and_class(iris, named):
    """Linear: on log-odds of a class each column has its weight times the distance from the mean, by hand."""
    rows, fitted, model = iris
    background = rows if named else rows.to_numpy()
    explained = shap.LinearExplainer(fitted, background)(background[:3])
    imported = from_shap(explained, model, rows[:3])
    for target in range(3):
        for number, found in enumerate(imported.explain(model, rows[:3], [target] * 3)):
            assert found.features == tuple(rows.columns)
            by_hand = fitted.coef_[target] * (rows.to_numpy()[number] - explained_mean(explained, rows))
            assert found.scores == pytest.approx(by_hand, abs=1e-6)


def explained_mean(explained, rows):
    # shap takes the mean of the first hundred rows as its background where there are more.
    del explained
    return shap.maskers.Independent(rows.to_numpy()).data.mean(axis=0)


def test_columns_of_shap_in_another_order_are_found_by_name(iris):
    rows, _, model = iris
    turned = rows[rows.columns[::-1]]
    explained = shap.Explanation(
        values=np.arange(8.0).reshape(2, 4),
        base_values=np.zeros(2),
        data=turned[:2].to_numpy(),
        feature_names=list(turned.columns),
    )
    found = from_shap(explained, model, rows[:2], targets="setosa").explain(model, rows[:2], "setosa")
    assert scores_of(found[1]) == dict(zip(turned.columns, [4.0, 5.0, 6.0, 7.0], strict=True))


def test_shap_arrays_and_wrong_sizes_are_sentences(of_shap, model, iris):
    rows, _, of_rows = iris
    with pytest.raises(VeraxError, match=r"takes a shap\.Explanation, .* not a ndarray"):
        from_shap(np.zeros((2, 3)), model)
    with pytest.raises(VeraxError, match=r"There are 3 inputs and 4 explanations of shap"):
        from_shap(of_shap, model, TEXTS[:3])
    with pytest.raises(VeraxError, match=r"holds no tokens; explain texts with a masker of texts"):
        from_shap(shap.Explanation(np.zeros((2, 3)), np.zeros(2), np.zeros((2, 3))), model)
    with pytest.raises(VeraxError, match=r"has 2 outputs and the model 3 classes"):
        from_shap(shap.Explanation(np.zeros((2, 4, 2)), np.zeros((2, 2)), rows[:2].to_numpy()), of_rows)
    with pytest.raises(VeraxError, match=r"'a ', 'good ' and 4 more|'a ', .*give the tokens"):
        from_shap(of_shap[:1], model, ["something else entirely"])


@pytest.mark.parametrize("bow", [True, False])
def test_lime_of_texts_is_by_word_or_by_place(pipeline, model, bow):
    explainer = LimeTextExplainer(class_names=NAMES, bow=bow, random_state=0)
    made = [
        explainer.explain_instance(text, pipeline.predict_proba, num_features=20, num_samples=200)
        for text in TEXTS
    ]
    imported = from_lime(made, model)
    for one, found in zip(made, imported.explain(model, TEXTS, "positive"), strict=True):
        expected: dict[str, float] = {}
        for word, weight in one.as_list(label=1):
            expected[word] = expected.get(word, 0.0) + weight
        assert scores_of(found) == pytest.approx(expected)
    # lime explains the label 1 unless told otherwise; the other class mirrors it.
    for one, other in zip(
        imported.explain(model, TEXTS, "negative"), imported.explain(model, TEXTS, "positive"), strict=True
    ):
        assert one.scores == pytest.approx(-other.scores)


def test_the_mirrored_scores_of_lime_are_those_that_lime_gives(pipeline, model):
    explainer = LimeTextExplainer(class_names=NAMES, random_state=0)
    both = explainer.explain_instance(TEXTS[0], pipeline.predict_proba, labels=(0, 1), num_samples=200)
    zero = scores_of(from_lime(both, model).explain(model, TEXTS[:1], [0])[0])
    one = from_lime(both, model, targets="positive").explain(model, TEXTS[:1], [0])[0]
    assert "mirrored" in one.details
    assert scores_of(one) == pytest.approx(zero)


def test_lime_of_tables_is_by_column(iris):
    rows, fitted, model = iris
    explainer = LimeTabularExplainer(
        rows.to_numpy(), feature_names=list(rows.columns), class_names=list(model.class_names), random_state=0
    )
    made = [
        explainer.explain_instance(
            row,
            lambda given: fitted.predict_proba(pd.DataFrame(given, columns=rows.columns)),
            labels=(0, 2),
            num_samples=200,
        )
        for row in rows.to_numpy()[:2]
    ]
    imported = from_lime(made, model, rows[:2])
    for number, found in enumerate(imported.explain(model, rows[:2], "virginica")):
        weights = {rows.columns[place]: weight for place, weight in made[number].as_map()[2]}
        assert scores_of(found) == pytest.approx(weights)
    with pytest.raises(VeraxError, match=r"lime keeps no rows of tables .* give inputs="):
        from_lime(made, model)
    with pytest.raises(VeraxError, match=r"lime explained setosa and virginica .*labels=\(1,\)"):
        from_lime(made, model, rows[:2], targets="versicolor")
    with pytest.raises(VeraxError, match=r"no explanation for the target 'versicolor' in what was imported"):
        imported.explain(model, rows[:2], "versicolor")


def test_the_conditions_of_lime_in_a_file_are_columns_too(iris, tmp_path):
    rows, fitted, model = iris
    explainer = LimeTabularExplainer(rows.to_numpy(), feature_names=list(rows.columns), random_state=0)
    made = explainer.explain_instance(
        rows.to_numpy()[0],
        lambda given: fitted.predict_proba(pd.DataFrame(given, columns=rows.columns)),
        labels=(0,),
        num_samples=200,
    )
    imported = from_lime(made, model, rows[:1])
    path = tmp_path / "lime.jsonl"
    imported.write(path)
    text = path.read_text()
    for (condition, _), (place, _) in zip(made.as_list(0), made.as_map()[0], strict=True):
        text = text.replace(f'"{rows.columns[place]}"', f'"{condition}"')
    path.write_text(text)
    assert "<= 5.10" in text
    found = verax.explainer("precomputed", path=str(path)).explain(model, rows[:1], [0])
    assert scores_of(found[0]) == scores_of(imported.explain(model, rows[:1], [0])[0])


class Network(torch.nn.Module):
    """Two classes from the sum of embeddings: attributions by gradients can be had by hand."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(6, 3)
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, embedded):
        return self.linear(embedded.sum(dim=1))


@pytest.mark.parametrize("shape", ["batch", "one", "summed", "list"])
def test_captum_is_summed_over_the_embedding(model, shape):
    network = Network()
    tokens = ["[CLS]", "bad", "pl", "##ot", "[SEP]"]
    embedded = network.embedding(torch.tensor([[0, 1, 2, 3, 4]])).detach().requires_grad_()
    made = captum.attr.InputXGradient(network).attribute(embedded, target=0)  # (1, tokens, dimensions)
    by_hand = (network.linear.weight[0] * embedded[0]).sum(dim=1).tolist()
    text = "bad plot"
    given = {
        "batch": (made, [tokens], [text]),
        "one": (made[0], tokens, text),
        "summed": (made.sum(dim=2), tokens, [text]),
        "list": ([made[0].sum(dim=1)], [tokens], [text]),
    }[shape]
    imported = from_captum(given[0], model, given[2], "negative", tokens=given[1])
    (found,) = imported.explain(model, [text], ["negative"])
    assert scores_of(found) == pytest.approx({"bad": by_hand[1], "plot": by_hand[2] + by_hand[3]})
    assert found.details == {"left out": ["[CLS]", "[SEP]"]}
    with pytest.raises(VeraxError, match=r"no explanation for the target 'positive'"):
        imported.explain(model, [text], ["positive"])


def test_captum_of_tables_is_by_column(iris):
    rows, fitted, model = iris
    network = torch.nn.Linear(4, 3).double()
    network.weight.data = torch.tensor(fitted.coef_)
    values = torch.tensor(rows.to_numpy()[:3], requires_grad=True)
    made = captum.attr.InputXGradient(network).attribute(values, target=2)
    imported = from_captum(made, model, rows[:3], "virginica")
    for number, found in enumerate(imported.explain(model, rows[:3], "virginica")):
        assert found.scores == pytest.approx(fitted.coef_[2] * rows.to_numpy()[number])


def test_captum_without_tokens_or_with_too_few_is_a_sentence(model):
    with pytest.raises(VeraxError, match=r"need their tokens; give tokens="):
        from_captum(torch.zeros(1, 2), model, ["bad plot"])
    with pytest.raises(VeraxError, match=r"input 0 \(counted from 0\) have shape \(3,\) for 2 tokens"):
        from_captum(torch.zeros(1, 3), model, ["bad plot"], tokens=[["bad", "plot"]])
    with pytest.raises(VeraxError, match=r"tokens of 2 inputs and attributions of 1"):
        from_captum(torch.zeros(1, 2), model, ["bad plot"], tokens=[["bad", "plot"]] * 2)


@pytest.mark.parametrize(("first", "last"), [("[CLS]", "[SEP]"), ("<s>", "</s>")])
def test_transformers_interpret_without_its_special_tokens(model, first, last):
    pairs = [(first, 0.0), ("bad", 0.25), ("pl", 0.5), ("##ot", -0.125), (last, 0.0)]
    for given, texts in ((pairs, "bad plot"), ([pairs], ["bad plot"])):
        (found,) = from_transformers_interpret(given, model, texts).explain(model, ["bad plot"])
        assert scores_of(found) == {"bad": 0.25, "plot": 0.375}
        assert found.details["left out"] == [first, last]
        assert found.target_name == "negative"  # what the model predicts
    by_name = {"positive": pairs, "negative": [(token, -score) for token, score in pairs]}
    found = from_transformers_interpret(by_name, model, "bad plot").explain(model, ["bad plot"], "negative")
    assert scores_of(found[0]) == {"bad": -0.25, "plot": -0.375}
    with pytest.raises(VeraxError, match=r"no list of \(token, score\)"):
        from_transformers_interpret([["bad", "plot"]], model, ["bad plot"])


def test_what_was_imported_can_be_judged_and_written(of_shap, model, tmp_path):
    imported = from_shap(of_shap, model)
    found = verax.judge(model, TEXTS, {"the package": imported, "shap": verax.explainer("shap")})
    assert {trial.name for trial in found.trials} == {"the package", "shap"}
    imported.write(tmp_path / "shap.jsonl")
    again = verax.explainer("precomputed", path=str(tmp_path / "shap.jsonl"))
    for target in (0, 1):
        for one, other in zip(
            again.explain(model, TEXTS, target), imported.explain(model, TEXTS, target), strict=True
        ):
            assert one == other
    assert repr(imported) == repr(from_shap(of_shap, model))
    assert imported.key != from_shap(of_shap, model, targets=1).key


def test_what_was_imported_is_an_object_that_benchmarks_know_by_its_content(of_shap, model):
    """Jobs are stored under what they depend on: the same explanations are the same object, others another one."""
    references = []
    for targets in (None, None, 1):
        gathered = Gathered()
        assert gathered.add_explainers([from_shap(of_shap, model, targets=targets), "lime(samples=50)"]) == [
            "Imported",
            "lime(samples=50)",
        ]
        references += list(gathered.things)
    assert references[0] == references[1] != references[2]


def test_rows_that_read_the_same_with_other_scores_are_said(iris, caplog):
    rows, _, model = iris
    twice = pd.concat([rows[:1], rows[:1]])
    from_captum(np.array([[1.0, 0, 0, 0], [2.0, 0, 0, 0]]), model, twice, "setosa")
    assert "inputs 0 and 1 (counted from 0) differently" in caplog.text
