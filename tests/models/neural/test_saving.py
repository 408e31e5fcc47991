import json
import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.linear_model import LogisticRegression

from verax import load_model, save_model
from verax.errors import VeraxError
from verax.models import as_model, fit_model, resolve_model
from verax.models.neural.saving import accuracy
from verax.perturb.dispatch import fitted_state

TEXTS = ["a good film", "poor plot", "", "zzz"]


@pytest.fixture
def saved(cnn, tmp_path):
    save_model(cnn, tmp_path / "model")
    return tmp_path / "model"


def test_a_network_comes_back_as_it_was(network, tmp_path, word_data, mixed_data):
    part = (word_data if network.kind == "text" else mixed_data).test
    save_model(network, tmp_path, test=part)
    again = load_model(tmp_path)
    assert np.array_equal(again.predict_proba(part.inputs), network.predict_proba(part.inputs))
    assert (again.class_names, again.record) == (network.class_names, network.record)
    assert np.array_equal(again.reference, network.reference, equal_nan=network.kind == "table")
    assert np.array_equal(
        again.reference_labels, (word_data if network.kind == "text" else mixed_data).train.labels
    )
    assert fitted_state(again) == fitted_state(network)
    assert json.loads((tmp_path / "model.json").read_text())["test_accuracy"] == accuracy(network, part)
    if network.kind == "table":
        assert again.schema == network.schema


def test_training_inputs_need_not_be_passed_on(cnn, tmp_path):
    save_model(cnn, tmp_path, reference=False)
    assert not (tmp_path / "reference.json").exists()
    assert not (tmp_path / "reference_labels.json").exists()
    assert load_model(tmp_path).reference is None


def test_labels_of_other_inputs_are_told(saved):
    for labels in ("[0, 1]", "[7]", "{}", "3", '["a"]'):
        (saved / "reference_labels.json").write_text(labels)
        with pytest.raises(VeraxError, match=r"reference_labels\.json is not whole"):
            load_model(saved)


def test_the_command_line_takes_the_folder(cnn, saved, word_data, mixed_data):
    for name in (str(saved), f"{saved}/"):
        assert np.array_equal(resolve_model(name, word_data).predict_proba(TEXTS), cnn.predict_proba(TEXTS))
    with pytest.raises(VeraxError, match=r"is of the kind 'text' but the dataset 'jobs' of the kind 'table'"):
        resolve_model(str(saved), mixed_data)
    with pytest.raises(VeraxError, match="There is no saved model 'nowhere/'; check the path"):
        resolve_model("nowhere/", word_data)
    with pytest.raises(VeraxError, match="has no option 'epochs'; only ready-made ones have any"):
        resolve_model(str(saved), word_data, options={"epochs": 1})


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors", "reference.json"])
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_told(saved, name, keep):
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(content[: int(keep * len(content))])
    with pytest.raises(VeraxError, match=f"{name} is not whole"):
        load_model(saved)


class Bomb:
    """What a pickle would run."""

    def __reduce__(self):
        return print, ("the file was run",)


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors", "reference.json"])
def test_nothing_of_a_foreign_file_is_run(saved, name, capsys):
    (saved / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(VeraxError, match=f"{name} is not whole"):
        load_model(saved)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "other"}, "is no saved model of Verax"),
        ({"version": 2}, r"another version of Verax \(format 2, this one reads 1\)"),
        ({"network": "os.system"}, "does not describe a network of this version"),
        ({"kind": "image"}, "does not describe a network of this version .* its kind is 'image'"),
        ({"settings": {"width": 3}}, "does not describe a network of this version"),
        ({"settings": [1]}, "does not describe a network of this version"),
        ({"encoder": {"words": 7, "max_words": 5}}, "does not describe a network of this version"),
        ({"training": {"model": "cnn"}}, "does not describe a network of this version"),
        ({"class_names": "ab"}, "does not describe a network of this version"),
    ],
)
def test_a_description_of_something_else_is_told(saved, change, sentence):
    path = saved / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(VeraxError, match=sentence):
        load_model(saved)


def test_weights_of_another_network_are_told(saved, bilstm, word_data, tmp_path):
    save_model(bilstm, tmp_path / "other")
    shutil.copy(tmp_path / "other" / "weights.safetensors", saved)
    with pytest.raises(VeraxError, match="are those of another network; keep the files of a model together"):
        load_model(saved)


def test_weights_that_changed_are_told(saved):
    path = saved / "weights.safetensors"
    weights = load_file(path)
    weights["output.bias"][0] += 1
    save_file(weights, path)
    with pytest.raises(VeraxError, match=r"is not the file that was saved with model\.json"):
        load_model(saved)
    weights["output.bias"][0] = torch.nan
    save_file(weights, path)
    with pytest.raises(VeraxError, match=r"The weights 'output\.bias' in .* are not all finite numbers"):
        load_model(saved)
    path.unlink()
    with pytest.raises(VeraxError, match="cannot be read"):
        load_model(saved)


def test_weights_that_are_not_numbers_are_not_saved(cnn, tmp_path):
    broken = type(cnn.network)(**cnn.network.settings)
    broken.output.bias.data[0] = torch.nan
    with pytest.raises(VeraxError, match=r"The weights 'output\.bias' of the network are not all finite"):
        save_model(replace(cnn, network=broken), tmp_path / "broken")
    assert not (tmp_path / "broken").exists()


def test_what_is_no_network_is_not_saved(word_data, tmp_path):
    for model in (fit_model("logistic", word_data), as_model(LogisticRegression().fit([[0], [1]], [0, 1]))):
        with pytest.raises(VeraxError, match="Only networks that were trained here can be saved"):
            save_model(model, tmp_path)
