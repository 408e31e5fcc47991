"""Explanations through the run layer, and the models that they explain."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from verax import explainer, fit_model, load_dataset
from verax.errors import VeraxError
from verax.explain.composite import Composite, Part
from verax.explain.explanation import Attribution, Cost
from verax.run import Store, canonical
from verax.studies.build.explanations import check_explainers, explain_all, plain, records
from verax.studies.build.fitting import (
    accuracy,
    check_two_models,
    data_arguments,
    model_arguments,
    model_name,
    narrowed_to,
    study_dataset,
    study_model,
    training_places,
    training_size,
)
from verax.studies.definition.spec_tables import WorseModel
from verax.studies.definition.study import Item


class Watching:
    """Notes what a run is told."""

    def __init__(self):
        self.total = self.stored = self.done = 0

    def start(self, total, stored):
        self.total, self.stored = total, len(stored)

    def advance(self, outcome):
        self.done += 1

    def stop(self):
        pass


@pytest.fixture
def items(small_spec):
    """Four items of the test part and one of the validation part, with the model's predictions."""
    data = data_arguments(small_spec())
    dataset = study_dataset(data)
    model = study_model(data, model_arguments(small_spec()))
    worse = study_model(data, model_arguments(small_spec(), WorseModel(share=0.1)))
    found = []
    for number, (part, place) in enumerate(
        [("test", 3), ("test", 0), ("validation", 1), ("test", 7), ("test", 9)]
    ):
        text = dataset.parts[part].inputs[place]
        probabilities, others = (one.predict_proba([text])[0] for one in (model, worse))
        found.append(
            Item(
                id=f"i{number}",
                role="test",
                input=text,
                label=int(dataset.parts[part].labels[place]),
                prediction=int(np.argmax(probabilities)),
                probabilities=tuple(probabilities),
                part=part,
                place=place,
                worse=tuple(others),
            )
        )
    return found


def test_each_item_is_explained_as_by_a_direct_call(small_spec, items, tmp_path, reviews_file):
    conditions = [
        {"name": "none"},
        {"name": "lime", "explainer": "lime", "parameters": {"samples": 80}},
        {"name": "control", "like": "lime"},
    ]
    found = explain_all(small_spec(conditions=conditions), items, None, Store(tmp_path))
    assert set(found) == {(item.id, name, "model") for item in items for name in ("lime", "control")}
    dataset = load_dataset(str(reviews_file), seed=3)
    model = fit_model("logistic", dataset, seed=3)
    # The study's seed is the explainer's too.
    direct = explainer("lime", samples=80, seed=3).explain(
        model, [item.input for item in items], [item.prediction for item in items]
    )
    for item, expected in zip(items, direct, strict=True):
        assert found[item.id, "lime", "model"] == expected
        control = found[item.id, "control", "model"]
        assert sorted(control.scores) == sorted(expected.scores)
        assert control.features == expected.features
    assert any(
        found[item.id, "control", "model"].scores.tolist() != found[item.id, "lime", "model"].scores.tolist()
        for item in items
    )


def test_the_worse_models_own_predictions_are_explained(small_spec, items, tmp_path):
    conditions = [{"name": "greedy", "explainer": "greedy"}]
    spec = small_spec(conditions=conditions)
    worse = WorseModel(share=0.1)
    found = explain_all(spec, items, worse, Store(tmp_path))
    model = study_model(data_arguments(spec), model_arguments(spec, worse))
    for item in items:
        assert found[item.id, "greedy", "model"].target == item.prediction
        assert found[item.id, "greedy", "worse"].target == int(np.argmax(item.worse))
        assert found[item.id, "greedy", "worse"] == explainer("greedy").explain(model, [item.input])[0]


def test_a_random_control_does_not_show_both_models_with_the_same_words(small_spec, items, tmp_path):
    spec = small_spec(conditions=[{"name": "random", "explainer": "random"}])
    found = explain_all(spec, items, WorseModel(share=0.1), Store(tmp_path))
    for item in items:
        one, other = (found[item.id, "random", which] for which in ("model", "worse"))
        assert one.features == other.features
        assert one.scores.tolist() != other.scores.tolist()


def test_records_hold_no_times(small_spec, items, tmp_path):
    found = explain_all(small_spec(), items, None, Store(tmp_path))
    made = records(found)
    assert len(made) == 2 * len(items)
    assert set(made[0]) == {"item", "condition", "model", "explanation"}
    assert "seconds" not in canonical(list(made))
    assert made[0]["explanation"]["cost"].keys() == {"rows", "calls"}
    assert json.loads(json.dumps(made[0])) == made[0]


def test_what_is_done_is_not_done_again(small_spec, items, tmp_path):
    path = tmp_path / "elsewhere.jsonl"
    path.write_text("", encoding="utf-8")
    conditions = [
        {"name": "greedy", "explainer": "greedy"},
        {"name": "elsewhere", "explainer": "precomputed", "parameters": {"path": str(path)}},
    ]
    spec = small_spec(conditions=conditions)
    with pytest.raises(VeraxError) as raised:
        explain_all(spec, items, None, Store(tmp_path / "run"))
    assert str(raised.value).startswith(
        "The items cannot be explained in the condition 'elsewhere': Input 0 ("
    )
    lines = [
        {
            "kind": "attribution",
            "input": item.input,
            "features": item.input.split()[:1],
            "scores": [1],
            "target": item.prediction,
        }
        for item in items
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    watching = Watching()
    found = explain_all(spec, items, None, Store(tmp_path / "run"), progress=watching)
    assert (watching.total, watching.stored, watching.done) == (2, 1, 1)
    assert found["i0", "elsewhere", "model"].scores.tolist() == [1.0]
    # Another content of the file is another job.
    path.write_text(path.read_text().replace("[1]", "[2]"), encoding="utf-8")
    again = explain_all(spec, items, None, Store(tmp_path / "run"), progress=watching)
    assert (watching.total, watching.stored) == (2, 1)
    assert again["i0", "elsewhere", "model"].scores.tolist() == [2.0]


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ({"explainer": "limes"}, "There is no explainer called 'limes'; did you mean 'lime'?"),
        (
            {"explainer": "random", "parameters": {"grams": 2}},
            "The explainer 'random' has no parameter 'grams'; it has seed, ngram.",
        ),
        ({"explainer": "lime", "parameters": {"samples": 0}}, "samples=0 is too small"),
    ],
)
def test_a_misspelt_explainer_is_told_at_once(small_spec, condition, sentence):
    with pytest.raises(VeraxError) as raised:
        check_explainers(small_spec(conditions=[{"name": "m", **condition}]))
    assert str(raised.value).startswith(sentence)


def test_models_are_fitted_once_in_a_process(small_spec):
    data, model = data_arguments(small_spec()), model_arguments(small_spec())
    assert study_dataset(data) is study_dataset(dict(data))
    assert study_model(data, model) is study_model(data, dict(model))
    assert study_model(data, model) is not study_model(data, model | {"share": 0.1})


def test_the_worse_model_learns_from_the_same_share_of_every_class(small_spec):
    data = data_arguments(small_spec())
    dataset = study_dataset(data)
    sizes = np.bincount(dataset.train.labels)
    places = training_places(dataset, None, 0.1, 3)
    assert np.bincount(dataset.train.labels[places]).tolist() == [int(np.ceil(size / 10)) for size in sizes]
    assert len(set(places.tolist())) == len(places)
    assert places.tolist() == training_places(dataset, None, 0.1, 3).tolist()
    assert places.tolist() != training_places(dataset, None, 0.1, 4).tolist()
    arguments = model_arguments(small_spec(), WorseModel(share=0.1))
    assert training_size(data, arguments) == len(places)
    assert training_size(data, model_arguments(small_spec())) == len(dataset.train)
    assert training_size(data, arguments | {"name": "mine.joblib"}) is None


def test_the_worse_model_learns_from_short_texts(small_spec, tmp_path):
    path = tmp_path / "two.csv"
    rows = [
        f"{'good' if number % 2 else 'bad'} {'film ' * (number % 5 + 1)}{number},{number % 2}"
        for number in range(60)
    ]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    dataset = study_dataset({"name_or_path": str(path)})
    places = training_places(dataset, 4, 1.0, 0)
    lengths = [len(text.split()) for text in dataset.train.inputs]
    assert places.tolist() == [place for place, length in enumerate(lengths) if length <= 4]
    with pytest.raises(VeraxError, match=r"Only 0 of the 42 training texts .* at most 1 words"):
        training_places(dataset, 1, 1.0, 0)


NARROW = {"category": ["cs.CL", "math.DS", "quant-ph"]}


def _arxiv(path, count):
    """Abstracts of three fields; every second of a field is of one category."""
    rows = [
        {"abstract": f"{('we code', 'we prove', 'we measure')[number % 3]} {number}", "categories": category}
        for number in range(count)
        for category in [
            (("cs.CL", "math.DS", "quant-ph"), ("cs.LG", "math.CO", "hep-ph"))[number // 3 % 2][number % 3]
        ]
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return {"name_or_path": str(path), "format": "arxiv"}


def test_the_worse_model_learns_from_as_many_examples_of_a_narrower_part(small_spec, tmp_path):
    source = _arxiv(tmp_path / "arxiv.json", 900)
    limited = source | {"limit": 300}
    dataset, whole = study_dataset(limited), study_dataset(source)
    narrow = narrowed_to(dataset, whole, NARROW, 0)
    for part in ("train", "validation"):
        own, other = narrow.parts[part], dataset.parts[part]
        assert len(own) == len(other)
        assert np.bincount(own.labels).tolist() == np.bincount(other.labels).tolist()
        # Numbers of texts say which category they are of.
        assert all(int(text.split()[-1]) // 3 % 2 == 0 for text in own.inputs)
    assert not set(narrow.train.inputs) & set(narrow.validation.inputs)
    assert not set(narrow.train.inputs) & set(dataset.test.inputs)
    assert narrow.test is dataset.test
    arguments = model_arguments(small_spec(), WorseModel(only=NARROW))
    assert training_size(limited, arguments) == len(dataset.train)


def test_where_there_are_fewer_examples_both_parts_shrink_alike(tmp_path):
    dataset = study_dataset(_arxiv(tmp_path / "arxiv.json", 90))
    narrow = narrowed_to(dataset, dataset, NARROW, 0)
    assert len(narrow.train) < len(dataset.train)
    assert len(narrow.train) / len(dataset.train) == pytest.approx(
        len(narrow.validation) / len(dataset.validation), abs=0.25
    )
    with pytest.raises(
        VeraxError, match=r"have cs\.CL or math\.DS as their category, and not every class is among"
    ):
        narrowed_to(dataset, dataset, {"category": ["cs.CL", "math.DS"]}, 0)
    with pytest.raises(VeraxError, match=r"has no column 'subject' for worse\.only; it has category"):
        narrowed_to(dataset, dataset, {"subject": ["x"]}, 0)


def test_a_column_beside_the_texts_of_a_file_can_narrow_the_part(tmp_path):
    path = tmp_path / "reviews.csv"
    rows = [f"review {number},{number % 2},{('books', 'films', 'games')[number % 3]}" for number in range(60)]
    path.write_text("\n".join(["text,label,about", *rows]), encoding="utf-8")
    dataset = study_dataset({"name_or_path": str(path)})
    narrow = narrowed_to(dataset, dataset, {"about": ["films", "games"]}, 0)
    assert all(int(text.split()[1]) % 3 for text in (*narrow.train.inputs, *narrow.validation.inputs))


def test_the_worse_model_sees_its_training_part_fewer_times(small_spec):
    data = data_arguments(small_spec())
    arguments = model_arguments(small_spec(), WorseModel(model="mlp", epochs=1))
    assert arguments == {
        "name": "mlp",
        "seed": arguments["seed"],
        "most_words": None,
        "share": 1.0,
        "epochs": 1,
    }
    assert study_model(data, arguments).classifier.n_iter_ == 1
    assert model_name(arguments) == "mlp(epochs=1)"
    trained_less = model_arguments(small_spec(), WorseModel(model="cnn(epochs=5, rate=0.01)", epochs=2))
    assert model_name(trained_less) == "cnn(epochs=2, rate=0.01)"
    assert model_name(model_arguments(small_spec(model="cnn(epochs=5)"))) == "cnn(epochs=5)"
    with pytest.raises(VeraxError, match="The model 'logistic' has no option 'epochs'; it has none"):
        study_model(data, model_arguments(small_spec(), WorseModel(model="logistic", epochs=1)))


def test_entries_of_the_worse_model_that_are_not_used_are_not_written():
    assert WorseModel(share=0.1).model_dump(mode="json") == {"model": None, "most_words": None, "share": 0.1}
    assert WorseModel(epochs=2).model_dump(mode="json") == {
        "model": None, "most_words": None, "share": None, "epochs": 2,
    }  # fmt: skip


def test_two_models_must_differ(small_spec):
    spec = small_spec()
    data = data_arguments(spec)
    dataset, model = study_dataset(data), study_model(data, model_arguments(spec))
    with pytest.raises(VeraxError) as raised:
        check_two_models(dataset, model, model)
    size = len(dataset.test)
    assert str(raised.value) == (
        f"The two models never disagree on the {size} test inputs of {dataset.name!r}; let the worse one "
        "learn from less (worse.share, worse.most_words, worse.only) or for a shorter time (worse.epochs), or name "
        "another worse.model."
    )
    worse = study_model(data, model_arguments(spec, WorseModel(share=0.01)))
    assert accuracy(worse, dataset) < accuracy(model, dataset) - 0.02
    check_two_models(dataset, model, worse)
    with pytest.raises(VeraxError, match=r"is right on .*, the other on .* less than 2% better"):
        check_two_models(dataset, worse, model)


def test_no_part_of_a_composite_keeps_its_seconds():
    scores = Attribution(("a",), np.array([1.0]), 1, input="a", cost=Cost(5, 1, 0.25))
    made = Composite((Part("LIME", scores),), 1, input="a", cost=Cost(6, 2, 0.5))
    later = replace(made, cost=Cost(6, 2, 0.7), parts=(Part("LIME", replace(scores, cost=Cost(5, 1, 0.9))),))
    assert plain(made) == plain(later)
    assert plain(made)["cost"] == {"rows": 6, "calls": 2}
    assert "seconds" not in json.dumps(plain(made))
