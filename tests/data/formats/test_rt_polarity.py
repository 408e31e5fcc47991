import numpy as np
import pytest

from verax.data import load_dataset
from verax.errors import VeraxError


def test_snippets_are_read_as_latin_1_with_a_file_per_class(write):
    write("rt/rt-polarity.neg", "d\xe9j\xe0 vu \ndull\n".encode("latin-1"))
    folder = write("rt/rt-polarity.pos", "caf\xe9 society \nfine\n\n".encode("latin-1")).parent
    data = load_dataset(folder, format="rt-polarity", split=(1, 0, 0))
    found = {text: data.class_names[c] for text, c in zip(data.train.inputs, data.train.labels, strict=True)}
    assert found == {
        "déjà vu": "negative",
        "dull": "negative",
        "café society": "positive",
        "fine": "positive",
    }
    assert "1 empty text dropped" in data.notes


def test_the_published_snippets_are_all_there(shared):
    data = load_dataset(shared("rt-polarity"), format="rt-polarity")
    assert len(data) == 10_662
    assert np.bincount(np.concatenate([part.labels for part in data.parts.values()])).tolist() == [5331, 5331]
    assert [len(part) for part in data.parts.values()] == [7463, 1067, 2132]
    texts = [text for part in data.parts.values() for text in part.inputs]
    assert any("lucía" in text for text in texts)
    assert not any("\ufffd" in text for text in texts)


def test_a_missing_twin_is_named(write):
    folder = write("rt/rt-polarity.neg", "dull\n").parent
    with pytest.raises(VeraxError, match=r"There is no rt-polarity\.pos in"):
        load_dataset(folder, format="rt-polarity")
