import pytest

from verax.data import load_dataset
from verax.errors import VeraxError

FIVE = ("very negative", "negative", "neutral", "positive", "very positive")


def _write_both(write):
    for part in ("train", "dev", "test"):
        write(f"sst/binary/sentiment-{part}", f"{part} is good . \t1\n{part} is bad\t0\n")
        write(f"sst/fine/sentiment-{part}", f"4 {part} is good .\n0 {part} is bad\n2 2 {part} 2\n")
    return write("sst/README", "").parent


def test_both_sorts_of_labels_are_read_with_the_publishers_split(write):
    folder = _write_both(write)
    binary = load_dataset(folder, format="sst")
    assert sorted(binary.train.inputs) == ["train is bad", "train is good ."]
    assert sorted(binary.validation.inputs) == ["dev is bad", "dev is good ."]
    assert dict(zip(binary.test.inputs, binary.test.labels, strict=True)) == {
        "test is bad": 0,
        "test is good .": 1,
    }
    fine = load_dataset(folder, format="sst", label="fine")
    assert fine.class_names == FIVE
    assert dict(zip(fine.test.inputs, fine.test.labels, strict=True)) == {
        "test is bad": 0,
        "test is good .": 4,
        "2 test 2": 2,
    }
    assert load_dataset(folder / "fine", format="sst").hash == fine.hash
    whole = load_dataset(folder, format="sst", label="sentences")
    assert whole.class_names == ("negative", "positive")
    assert dict(zip(whole.test.inputs, whole.test.labels, strict=True)) == {
        "test is bad": 0,
        "test is good .": 1,
    }


def test_brackets_and_slashes_are_read_as_people_write_them(write):
    for part in ("train", "dev", "test"):
        write(f"fine/sentiment-{part}", f"4 -lrb- {part} -rrb- and\\/or more .\n0 {part}\n")
    read = load_dataset(write("fine/README", "").parent, format="sst")
    assert "( train ) and/or more ." in read.train.inputs


def test_the_published_sizes(shared):
    binary = load_dataset(shared("sst"), format="sst")
    assert [len(part) for part in binary.parts.values()] == [67_349, 872, 1_819]
    assert binary.notes == ("2 test inputs dropped, because equal ones are in an earlier part",)
    fine = load_dataset(shared("sst/fine"), format="sst")
    assert [len(part) for part in fine.parts.values()] == [8_544, 1_101 - 2, 2_210 - 2]
    whole = load_dataset(shared("sst"), format="sst", label="sentences")
    assert [len(part) for part in whole.parts.values()] == [6_920, 872, 1_821 - 2]


def test_a_line_without_a_label_and_a_wrong_folder_are_named(write):
    folder = _write_both(write)
    with pytest.raises(VeraxError, match="holds the fine labels of SST, not the binary ones"):
        load_dataset(folder / "fine", format="sst", label="binary")
    write("sst/binary/sentiment-dev", "fine\t1\nno label here\n")
    with pytest.raises(VeraxError, match=r"Line 2 of .*sentiment-dev is not 'text TAB 0 or 1'"):
        load_dataset(folder, format="sst")
    with pytest.raises(VeraxError, match="holds no file like sentiment-"):
        load_dataset(write("empty/x", "").parent, format="sst")
