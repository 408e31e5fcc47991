import pytest

from verax.data import load_dataset
from verax.errors import VeraxError


def test_lines_carry_their_part_and_label(write):
    lines = [
        "tr\tPAST\tHe left .",
        "tr\tPRES\tShe leaves .",
        "va\tPRES\tIt is .",
        "te\tPAST\tThey went .",
        "",
    ]
    data = load_dataset(write("past_present.txt", "\n".join(lines)), format="senteval-probing")
    assert data.class_names == ("PAST", "PRES")
    assert dict(zip(data.train.inputs, data.train.labels, strict=True)) == {"He left .": 0, "She leaves .": 1}
    assert (data.validation.inputs, data.validation.labels.tolist()) == (["It is ."], [1])
    assert (data.test.inputs, data.test.labels.tolist()) == (["They went ."], [0])


def test_number_labels_keep_their_order(write):
    lines = [
        f"{part}\t{label}\tsentence {part} {label}" for label in (10, 2, 1) for part in ("tr", "va", "te")
    ]
    assert load_dataset(write("length.txt", "\n".join(lines)), format="senteval-probing").class_names == (
        "1",
        "2",
        "10",
    )


def test_bad_lines_and_folders_are_named(write):
    path = write("x/task.txt", "tr\tA\ttext\nxx\tA\ttext\n")
    with pytest.raises(VeraxError, match=r"Line 2 of .* is not 'tr, va or te TAB label TAB sentence'"):
        load_dataset(path, format="senteval-probing")
    with pytest.raises(VeraxError, match="is a folder; name one task's file"):
        load_dataset(path.parent, format="senteval-probing")
