"""Networks that commands train are kept: the same training is done once, another one anew."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers import make_texts  # noqa: E402
from verax.data.dataset import Dataset, Part  # noqa: E402
from verax.models import resolve  # noqa: E402
from verax.models.neural import saving  # noqa: E402
from verax.models.resolve import resolve_model  # noqa: E402

NAME = "cnn(epochs=1, vectors=trained, dimensions=4)"


@pytest.fixture
def data():
    texts, labels = make_texts(60, seed=0)
    parts = (
        Part(texts[first:last], np.asarray(labels[first:last]))
        for first, last in ((0, 40), (40, 50), (50, 60))
    )
    return Dataset("reviews", "text", ("negative", "positive"), *parts)


@pytest.fixture
def trainings(tmp_path, monkeypatch):
    """The names of what is trained."""
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    trained, fit = [], resolve.fit_model

    def counted(name, *arguments, **options):
        trained.append(name)
        return fit(name, *arguments, **options)

    monkeypatch.setattr(resolve, "fit_model", counted)
    return trained


def test_the_same_training_is_done_once_and_gives_the_same_network(data, trainings):
    first, second = (resolve_model(NAME, data) for _ in range(2))
    assert trainings == [NAME]
    assert np.array_equal(first.predict_proba(data.test.inputs), second.predict_proba(data.test.inputs))
    assert second.record == first.record
    assert list(second.reference) == list(first.reference)
    assert second.reference_labels.tolist() == first.reference_labels.tolist()


def test_whatever_a_network_depends_on_trains_it_anew(data, trainings, tmp_path, monkeypatch):
    flipped = replace(data, train=replace(data.train, labels=1 - data.train.labels))
    resolve_model(NAME, data)
    resolve_model(NAME, data, seed=1)
    resolve_model(NAME, flipped)
    resolve_model(NAME, data, options={"epochs": 2})
    assert len(trainings) == 4
    monkeypatch.setattr(saving, "_code", lambda: "edited")
    resolve_model(NAME, data)
    assert len(trainings) == 5


def test_the_content_of_a_file_that_an_option_names_counts(data, trainings, tmp_path):
    words = sorted({word for text in data.train.inputs for word in text.split()})
    path = tmp_path / "vectors.txt"
    for scale in (1.0, 2.0):
        rows = np.random.default_rng(0).normal(size=(len(words), 4)) * scale
        path.write_text(
            "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, rows, strict=True))
        )
        resolve_model(f"cnn(epochs=1, vectors={path})", data)
    assert len(trainings) == 2


def test_what_is_not_whole_is_trained_again(data, trainings, tmp_path):
    whole = resolve_model(NAME, data).predict_proba(data.test.inputs)
    (weights,) = (tmp_path / "cache" / "networks").glob("*/*.safetensors")
    weights.write_bytes(weights.read_bytes()[:100])
    again = resolve_model(NAME, data).predict_proba(data.test.inputs)
    assert len(trainings) == 2
    assert np.array_equal(again, whole)


def test_an_interrupt_loses_no_network_that_was_trained_before(data, trainings, monkeypatch):
    resolve_model(NAME, data)

    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(resolve, "fit_model", interrupted)
        with pytest.raises(KeyboardInterrupt):
            resolve_model(NAME, data, seed=1)
    resolve_model(NAME, data)
    assert len(trainings) == 1


def test_the_least_recently_used_goes_when_there_is_no_room(data, trainings, monkeypatch):
    resolve_model(NAME, data)
    monkeypatch.setattr(saving, "MAX_BYTES", 1)
    resolve_model(NAME, data, seed=1)  # now there is room for none
    resolve_model(NAME, data)
    assert len(trainings) == 3


def test_other_models_are_fitted_each_time(data, trainings, tmp_path):
    resolve_model("logistic", data)
    resolve_model("logistic", data)
    assert trainings == ["logistic", "logistic"]
    assert not (tmp_path / "cache" / "networks").exists()


@pytest.mark.parametrize("name", ["model.json", "reference"])
def test_a_network_whose_files_changed_is_trained_again(data, trainings, tmp_path, name):
    resolve_model(NAME, data)
    [folder] = (tmp_path / "cache" / "networks").iterdir()
    path = next(path for path in sorted(folder.iterdir()) if path.name.startswith(name))
    path.write_bytes(path.read_bytes().replace(b"1", b"2").replace(b"a", b"e"))
    resolve_model(NAME, data)
    assert trainings == [NAME, NAME]
    resolve_model(NAME, data)
    assert len(trainings) == 2
