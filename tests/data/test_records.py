import numpy as np
import pytest

from verax.data.records import Records, build_dataset, counted, number_labels, text_records
from verax.errors import VeraxError


def _texts(n):
    return text_records([f"text {i}" for i in range(n)], [i % 2 for i in range(n)], ("no", "yes"))


def test_records_are_split_into_three_parts_by_default_70_10_20():
    data = build_dataset(_texts(100), "hundred")
    assert [len(part) for part in data.parts.values()] == [70, 10, 20]
    assert sorted(text for part in data.parts.values() for text in part.inputs) == sorted(_texts(100).inputs)
    for part in data.parts.values():
        assert [int(text.split()[1]) % 2 for text in part.inputs] == part.labels.tolist()


def test_empty_texts_are_dropped_and_counted():
    records = text_records(["a", "", "b", " \n", "c"], [0, 1, 1, 0, 0], ("no", "yes"))
    data = build_dataset(records, "some")
    assert len(data) == 3
    assert "2 empty texts dropped" in data.notes


def test_the_publishers_split_is_kept_unless_another_is_asked_for():
    records = text_records("abcdefghij", [0, 1] * 5, ("no", "yes"), parts=[0] * 4 + [1] * 2 + [2] * 4)
    shipped = build_dataset(records, "letters")
    assert [sorted(part.inputs) for part in shipped.parts.values()] == [
        list("abcd"),
        list("ef"),
        list("ghij"),
    ]
    asked = build_dataset(records, "letters", split="80/10/10")
    assert [len(part) for part in asked.parts.values()] != [4, 2, 4]
    assert len(asked) == 10


def test_a_publisher_without_a_validation_part_gives_a_tenth_of_train():
    texts = [f"text {i}" for i in range(60)]
    records = text_records(texts, [0, 1] * 30, ("no", "yes"), parts=[0] * 40 + [2] * 20)
    data = build_dataset(records, "sixty")
    assert [len(part) for part in data.parts.values()] == [36, 4, 20]
    assert sorted(data.test.inputs) == sorted(texts[40:])
    assert np.bincount(data.validation.labels).tolist() == [2, 2]


def test_inputs_that_a_publisher_put_into_two_parts_stay_in_the_earlier_only():
    texts = ["a", "b", "c", "a", "d", "b", "c", "e", "a"]
    parts = [0, 0, 0, 1, 1, 2, 2, 2, 0]
    data = build_dataset(text_records(texts, [0, 1, 0, 1, 0, 1, 0, 1, 0], ("no", "yes"), parts), "letters")
    # A text that repeats inside one part is the publisher's business.
    assert sorted(data.train.inputs) == ["a", "a", "b", "c"]
    assert data.validation.inputs == ["d"]
    assert data.test.inputs == ["e"]
    assert data.notes == (
        "1 validation input dropped, because equal ones are in an earlier part",
        "2 test inputs dropped, because equal ones are in an earlier part",
    )


def test_equal_rows_of_a_table_stay_together_and_none_is_lost():
    from verax.data import Column, Schema

    rows = np.repeat(np.arange(10.0), 10).reshape(-1, 1)  # ten values, ten times each
    labels = np.tile([0, 1], 50)  # each value with both labels
    data = build_dataset(Records(rows, labels, ("no", "yes"), schema=Schema((Column("x"),))), "table")
    seen = [set(part.inputs[:, 0]) for part in data.parts.values()]
    assert len(data) == 100
    assert not seen[0] & seen[1]
    assert not seen[0] & seen[2]
    assert not seen[1] & seen[2]


def test_balanced_records_have_classes_of_one_size_and_say_what_was_left_out():
    records = text_records([f"text {i}" for i in range(100)], [0] * 80 + [1] * 20, ("no", "yes"))
    data = build_dataset(
        Records(records.inputs, records.labels, records.class_names, balanced=True), "hundred"
    )
    labels = np.concatenate([part.labels for part in data.parts.values()])
    assert np.bincount(labels).tolist() == [20, 20]
    assert data.notes == ("60 inputs of the larger classes left out to balance the classes",)


def test_a_limit_takes_a_part_of_every_part():
    whole = build_dataset(_texts(1000), "thousand")
    some = build_dataset(_texts(1000), "thousand", limit=100)
    assert [len(part) for part in some.parts.values()] == [70, 10, 20]
    assert set(some.train.inputs) < set(whole.train.inputs)
    assert set(some.test.inputs) < set(whole.test.inputs)
    assert some.notes == ("100 of 1,000 inputs drawn at random (limit=100)",)
    assert build_dataset(_texts(9), "nine", limit=100).hash == build_dataset(_texts(9), "nine").hash


def test_another_seed_gives_another_split_and_the_same_seed_the_same():
    hashes = [build_dataset(_texts(100), "hundred", seed=seed).hash for seed in (0, 0, 1)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_an_empty_part_is_noted():
    data = build_dataset(_texts(4), "four", split=(0.5, 0.0, 0.5))
    assert data.notes == ("The validation part is empty",)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (text_records(["a", "b"], [0, 1], ("no", "yes")), "'x' has 2 usable inputs; at least 3 are needed"),
        (text_records(["", ""], [0, 1], ("no", "yes")), r"0 usable inputs \(2 empty texts dropped\)"),
        (text_records("abc", [1, 1, 1], ("no", "yes")), "Every input of 'x' has the label 'yes'"),
    ],
)
def test_records_that_cannot_be_split_are_refused(records, message):
    with pytest.raises(VeraxError, match=message):
        build_dataset(records, "x")


def test_a_limit_below_three_is_refused():
    with pytest.raises(VeraxError, match="The limit 2 leaves too few inputs"):
        build_dataset(_texts(10), "ten", limit=2)


def test_class_names_are_sorted_as_numbers_or_as_text():
    labels, names = number_labels(["10", "9", "10"])
    assert (labels.tolist(), names) == ([1, 0, 1], ("9", "10"))
    labels, names = number_labels(["pos", "neg"])
    assert (labels.tolist(), names) == ([1, 0], ("neg", "pos"))


def test_counts_are_written_in_words():
    assert counted(0, "text", "dropped") == ""
    assert counted(1, "text", "dropped") == "1 text dropped"
    assert counted(1200, "text", "dropped") == "1,200 texts dropped"


def test_a_part_begins_with_a_random_sample_of_it():
    """Both classes, in about their shares, are among the first of every part, whatever the seed."""
    records = text_records([f"text {i}" for i in range(4000)], [i % 2 for i in range(4000)], ("no", "yes"))
    for seed in range(6):
        for part in build_dataset(records, "many", seed=seed).parts.values():
            for some in (part.labels[:50], part.labels[-50:]):
                assert 11 <= some.sum() <= 39  # four standard deviations
