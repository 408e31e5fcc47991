from pathlib import Path

import pytest

from verax.data import dataset_formats, datasets, load_dataset
from verax.errors import VeraxError

MODULE = """
from verax.data import (text_records)

def letters():
    return text_records("abcdefghij", [0, 1] * 5, ("even", "odd"))
"""


def test_every_dataset_and_format_of_the_documentation_is_registered():
    assert {"rotten-tomatoes", "imdb", "adult", "adult-raw", "breast-cancer"} <= set(datasets)
    assert {
        "aclimdb", "amazon", "arxiv", "goodreads", "hateval", "lei-beer", "rt-polarity", "senteval-probing", "sst",
        "uci-adult", "ud-length", "ud-subject-number", "ud-tense",
    } <= set(dataset_formats)  # fmt: skip


def test_other_peoples_datasets_are_loaded_by_module_and_name(tmp_path, monkeypatch):
    (tmp_path / "my_verax_data.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    data = load_dataset("my_verax_data:letters")
    assert (len(data), data.class_names) == (10, ("even", "odd"))


def test_a_folder_does_not_hide_a_dataset_of_the_same_name(tmp_path, monkeypatch):
    (tmp_path / "breast-cancer").mkdir()
    monkeypatch.chdir(tmp_path)
    assert len(load_dataset("breast-cancer")) == 569
    with pytest.raises(VeraxError, match=r"The format of 'breast-cancer' is not clear from its name"):
        load_dataset(Path("breast-cancer"))


def test_the_split_the_seed_and_the_limit_are_passed_on():
    data = load_dataset("breast-cancer", split="50/25/25", limit=100)
    assert [len(part) for part in data.parts.values()] == [50, 25, 25]
    assert data.hash != load_dataset("breast-cancer", split="50/25/25", limit=100, seed=1).hash


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            "roten-tomatoes",
            {},
            "There is no dataset called 'roten-tomatoes'; did you mean 'rotten-tomatoes'?",
        ),
        ("missing.csv", {}, "There is no file or folder 'missing.csv'; check the path"),
        ("no/such/folder", {"format": "sst"}, "There is no file or folder 'no/such/folder'"),
        (
            ".",
            {},
            "The format of '.' is not clear from its name; say which it is: format= one of aclimdb, amazon",
        ),
        (".", {"format": "stt"}, "There is no format called 'stt'; did you mean 'sst'?"),
        (".", {"format": "sst", "label": "coarse"}, "'sst' has no label 'coarse'; choose: binary, fine"),
        (".", {"format": "rt-polarity", "text": "x"}, "leave text and label out"),
        (
            "breast-cancer",
            {"label": "x"},
            "'breast-cancer' knows its own columns; leave text, label and schema out",
        ),
        ("breast-cancer", {"split": "1/2"}, "three shares that sum to one"),
        ("no.such.module:thing", {}, "cannot be imported"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_sentence(arguments, options, message):
    with pytest.raises(VeraxError) as caught:
        load_dataset(arguments, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
