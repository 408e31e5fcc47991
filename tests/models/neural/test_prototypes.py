"""Prototype networks: similarities by hand, prototypes that are training examples, both variants, on disk and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import verax
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.explain import Exemplar, Explanation, Prototype
from verax.explain.prototype import Imputation
from verax.models import fit_model
from verax.models.neural import prototype_model
from verax.models.neural.architectures import PrototypeLayer
from verax.models.neural.prototype_model import learned_from, own_prototypes
from verax.models.neural.prototype_recipe import features_of

SMALL = {"prototypes": 4, "epochs": 3, "task_epochs": 3}


@pytest.fixture(scope="session")
def whole(word_data):
    return fit_model("prototype-bilstm", word_data, options=SMALL)


@pytest.fixture(scope="session")
def noisy(mixed_data):
    """A quarter of the labels are wrong, and a network does not believe them."""
    flipped = np.random.default_rng(0).random(len(mixed_data.train.labels)) < 0.25
    labels = np.where(flipped, (mixed_data.train.labels + 1) % 3, mixed_data.train.labels)
    return replace(mixed_data, train=replace(mixed_data.train, labels=labels))


@pytest.fixture(scope="session")
def noisy_task(noisy):
    return fit_model("mlp-2x50", noisy, options={"epochs": 20})


@pytest.fixture(scope="session")
def rows_fixed(mixed_data):
    return fit_model("prototype-mlp-2x50", mixed_data, options=SMALL | {"fixed": True})


def test_scores_are_those_computed_by_hand():
    layer = PrototypeLayer(2, 2, 2)
    with torch.no_grad():
        layer.prototypes.copy_(torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [3.0, 3.0]]))
        layer.scale.fill_(0.5)
    layer.train()
    scores = layer(torch.tensor([[1.0, 0.0]]))  # (0.5, 0) once scaled
    first = max(np.exp(-0.25), np.exp(-2.25))
    second = max(np.exp(-1.25), np.exp(-15.25))
    assert scores[0].tolist() == pytest.approx([first - 0.5 * second, second - 0.5 * first])
    # Off-class weights are two times 0.5; the nearest prototype of another class is 0.25 away, or 1.25.
    assert layer.penalty(torch.tensor([1])).item() == pytest.approx(0.1 * 1.0 - 0.01 * 0.25)
    assert layer.penalty(torch.tensor([0])).item() == pytest.approx(0.1 * 1.0 - 0.01 * 1.25)


@pytest.mark.parametrize("name", ["whole", "rows_fixed"])
def test_every_prototype_is_a_training_example_of_its_class(name, request, word_data, mixed_data):
    model = request.getfixturevalue(name)
    data = word_data if model.kind == "text" else mixed_data
    layer = model.network.output
    examples = layer.examples.numpy()
    assert len(set(examples.tolist())) == len(examples) == 4 * len(data.class_names)
    assert (data.train.labels[examples] == np.repeat(np.arange(len(data.class_names)), 4)).all()
    inputs = [data.train.inputs[place] for place in examples]
    vectors = features_of(model, model.encoder.encode(inputs if model.kind == "text" else np.stack(inputs)))
    assert np.allclose(float(layer.scale) * vectors, layer.prototypes.detach().numpy(), atol=1e-5)


def test_fixed_features_are_those_of_the_task_model(mixed_data, rows_fixed):
    task = fit_model("mlp-2x50", mixed_data, options={"epochs": 3})
    for name in ("first.weight", "second.weight", "second.bias"):
        assert torch.equal(task.network.state_dict()[name], rows_fixed.network.state_dict()[name])


def test_it_learns(whole, word_data):
    right = whole.predict_proba(word_data.test.inputs).argmax(axis=1) == word_data.test.labels
    assert right.mean() > 0.8


def test_a_saved_one_answers_as_before(whole, word_data, tmp_path):
    verax.save_model(whole, tmp_path / "model")
    again = verax.load_model(tmp_path / "model")
    texts = word_data.test.inputs[:5]
    assert np.array_equal(again.predict_proba(texts), whole.predict_proba(texts))
    assert Prototype().explain(again, texts) == Prototype().explain(whole, texts)


def test_a_class_with_fewer_examples_than_prototypes_is_a_sentence(word_data):
    with pytest.raises(VeraxError, match="has 100 training examples, fewer than its 101 prototypes"):
        fit_model("prototype-bilstm", word_data, options=SMALL | {"prototypes": 101, "task_epochs": 1})
    with pytest.raises(VeraxError, match="prototypes=0"):
        fit_model("prototype-bilstm", word_data, options={"prototypes": 0})


def test_the_explanation_names_the_nearest_prototype_and_what_zeroing_a_word_does(whole, word_data):
    text = word_data.test.inputs[0]
    exemplar = Prototype().explain(whole, [text])[0]
    layer = whole.network.output
    vector = features_of(whole, whole.encoder.encode([text]))
    similar = np.exp(-((float(layer.scale) * vector - layer.prototypes.detach().numpy()) ** 2).sum(axis=1))
    own = similar[4 * exemplar.target : 4 * exemplar.target + 4]
    assert exemplar.similarity == pytest.approx(own.max(), rel=1e-4)
    assert exemplar.prototype == word_data.train.inputs[exemplar.details["example"]]
    assert exemplar.prototype_label == exemplar.target_name
    # One word by hand: its vector is zero, the others are as they were.
    embedded = whole.embed([text])[0]
    words = text.split()
    zeroed = embedded.vectors.copy()
    zeroed[[place for place, word in enumerate(words) if word == words[0]]] = 0.0
    with torch.inference_mode():
        moved = whole.network.features(torch.from_numpy(zeroed)[None], torch.tensor([len(words)])).numpy()
    prototype = layer.prototypes.detach().numpy()[exemplar.details["prototype"]]
    without = np.exp(-((float(layer.scale) * moved[0] - prototype) ** 2).sum())
    assert exemplar.scores[0] == pytest.approx(10 * (exemplar.similarity - without), abs=1e-4)
    assert Explanation.from_dict(exemplar.to_dict()) == exemplar


def test_rows_are_explained_by_the_expectation_over_an_imputation(rows_fixed, mixed_data):
    row = mixed_data.test.inputs[0]
    exemplar = Prototype().explain(rows_fixed, row[None])[0]
    near = own_prototypes(rows_fixed)
    number = exemplar.details["prototype"]
    imputation = Imputation.learn(rows_fixed.schema, rows_fixed.reference)
    for column, (rows, chances) in enumerate(imputation.variants(row)):
        assert chances.sum() == pytest.approx(1.0)
        others = np.delete(np.arange(len(row)), column)
        assert (rows[:, others] == row[others]).all() or np.isnan(row[others]).any()
        expected = float(chances @ near.similarities(rows, number))
        assert exemplar.scores[column] == pytest.approx(10 * (exemplar.similarity - expected), abs=1e-4)


def test_a_column_with_one_value_scores_nothing_at_all(mixed_data):
    schema = Schema((*mixed_data.schema.columns, Column("const")))

    def with_constant(part):
        return replace(part, inputs=np.column_stack([part.inputs, np.full(len(part.inputs), 3.0)]))

    parts = {name: with_constant(part) for name, part in mixed_data.parts.items()}
    data = replace(mixed_data, schema=schema, **parts)
    model = fit_model("prototype-mlp-2x50", data, options=SMALL)
    exemplars = Prototype().explain(model, data.test.inputs)
    assert [exemplar.scores[3] for exemplar in exemplars] == [0.0] * len(exemplars)
    assert all(exemplar.scores[2] != 0.0 for exemplar in exemplars)


def test_a_column_alone_takes_its_values_as_often_as_they_are_there():
    schema = Schema((Column("job", ("clerk", "cook")),))
    rows = np.repeat([[0.0], [1.0]], [150, 50], axis=0)
    ((variants, chances),) = Imputation.learn(schema, rows).variants(np.array([1.0]))
    assert variants.tolist() == [[0.0], [1.0]]
    assert chances == pytest.approx([0.75, 0.25], abs=1e-3)


def test_a_task_model_gets_prototypes_on_its_own_features(bilstm, word_data):
    texts = word_data.test.inputs[:4]
    explainer = Prototype(prototypes=3)
    exemplars = explainer.explain(bilstm, texts)
    assert [exemplar.target for exemplar in exemplars] == bilstm.predict_proba(texts).argmax(axis=1).tolist()
    for exemplar in exemplars:
        # A prototype is an example that the model itself gives the class.
        assert bilstm.predict_proba([exemplar.prototype]).argmax() == exemplar.target
    assert exemplars == explainer.explain(bilstm, texts)


def test_prototypes_that_were_learned_are_kept_on_disk_by_what_they_were_learned_from(
    mixed_data, tmp_path, monkeypatch
):
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path))
    task, again, other = (
        fit_model("mlp-2x50", mixed_data, seed=seed, options={"epochs": 20}) for seed in (0, 0, 1)
    )
    rows = mixed_data.test.inputs[:3]
    first = Prototype(prototypes=3).explain(task, rows)
    assert len(list((tmp_path / "learned").glob("*.npz"))) == 1

    def refuse(*_):
        raise AssertionError("learned again")

    monkeypatch.setattr(prototype_model, "learn_prototypes", refuse)
    assert Prototype(prototypes=3).explain(again, rows) == first
    # Another network, other settings: nothing is known of them.
    with pytest.raises(AssertionError, match="learned again"):
        Prototype(prototypes=3).explain(other, rows)
    with pytest.raises(AssertionError, match="learned again"):
        Prototype(prototypes=4).explain(again, rows)


def test_the_label_of_a_prototype_is_the_training_examples_own_and_what_the_model_takes_it_for(
    noisy, noisy_task
):
    layer = Prototype(prototypes=12)._prototypes(noisy_task).layer
    examples = layer.examples.numpy()
    assert (noisy.train.labels[examples] == np.repeat([0, 1, 2], 12)).all()
    said = noisy_task.predict_proba(noisy.train.inputs).argmax(axis=1)
    assert (said[examples] == np.repeat([0, 1, 2], 12)).all()
    for exemplar in Prototype(prototypes=12).explain(noisy_task, noisy.test.inputs[:8]):
        label = noisy.train.labels[exemplar.details["example"]]
        assert exemplar.prototype_label == noisy.class_names[label] == exemplar.target_name


def test_a_saved_task_model_has_the_same_prototypes_and_one_without_labels_is_a_sentence(
    noisy, noisy_task, tmp_path
):
    verax.save_model(noisy_task, tmp_path)
    rows = noisy.test.inputs[:2]
    found = Prototype(prototypes=3).explain(noisy_task, rows)
    assert Prototype(prototypes=3).explain(verax.load_model(tmp_path), rows) == found
    (tmp_path / "reference_labels.json").unlink()  # as earlier versions saved it
    with pytest.raises(VeraxError, match="does not know the labels of its own"):
        Prototype(prototypes=3).explain(verax.load_model(tmp_path), rows)


@pytest.mark.parametrize(
    ("name", "value"),
    [("RECIPE", 99), ("SCHEDULE", replace(prototype_model.SCHEDULE, epochs=2)), ("FAR", 3.0)],
)
def test_prototypes_of_another_recipe_are_learned_anew(noisy_task, monkeypatch, name, value):
    before = learned_from(noisy_task)
    assert learned_from(noisy_task) == before
    monkeypatch.setattr(prototype_model, name, value)
    assert learned_from(noisy_task) != before


def test_a_class_that_the_model_hardly_recognises_has_no_prototypes(mixed_data, noisy, noisy_task):
    hasty = fit_model("mlp-2x50", mixed_data, options={"epochs": 2})
    of_class = np.count_nonzero(mixed_data.train.labels == 1)
    with pytest.raises(
        VeraxError,
        match=f"Of the {of_class} training inputs of the class 'middle' the model takes 0 for it, too few for 3 "
        "prototypes; explain a model",
    ):
        Prototype(prototypes=3).explain(hasty, mixed_data.test.inputs[:1])
    said = noisy_task.predict_proba(noisy.train.inputs).argmax(axis=1)
    least = np.bincount(noisy.train.labels[said == noisy.train.labels]).min()
    with pytest.raises(VeraxError, match=rf"too few for 90 prototypes; ask for fewer \(prototypes={least}\)"):
        Prototype(prototypes=90).explain(noisy_task, noisy.test.inputs[:1])


def test_prototypes_on_fixed_features_are_examples_that_the_task_model_takes_for_their_class(
    noisy, noisy_task
):
    labels, task = noisy.train.labels, noisy_task
    made = fit_model("prototype-mlp-2x50", noisy, options=SMALL | {"fixed": True, "task_epochs": 20})
    said = task.predict_proba(noisy.train.inputs).argmax(axis=1)
    examples = made.network.output.examples.numpy()
    assert (said[examples] == labels[examples]).all()
    assert (said != labels).mean() > 0.1  # which is why it matters
    both = made.predict_proba(noisy.test.inputs).argmax(axis=1) == task.predict_proba(
        noisy.test.inputs
    ).argmax(axis=1)
    assert both.mean() > 0.85


def test_other_models_are_a_sentence():
    model = verax.as_model(lambda texts: [[0.5, 0.5]] * len(texts), class_names=("a", "b"), reference=["a b"])
    with pytest.raises(VeraxError, match="prototype-bilstm, prototype-mlp-2x50, bilstm and mlp-2x50"):
        Prototype().explain(model, ["a"])


def test_at_most_six_features_are_important_and_none_below_the_threshold():
    def made(scores):
        names = tuple(f"w{number}" for number in range(len(scores)))
        return Exemplar(names, np.array(scores), 0.9, "p", "yes", 1, input=" ".join(names))

    assert made([3.0, -2.0, 0.2, 0.05, 1.0, 0.5, -0.4, 0.3]).important == [0, 1, 4, 5, 6, 7]
    assert made([0.15, 0.08, 0.07]).important == [0, 1]  # half of the largest, 0.075
    assert made([0.02, 0.01]).important == []
