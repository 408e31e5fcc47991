import pytest

from verax.data import load_dataset
from verax.errors import VeraxError

LINES = [
    "0.9 0.1 0.4 0.5 0.6\tpours a lovely amber",
    "0.2 0.7 0.6 0.3 0.4\tflat and watery",
    "0.5 0.5 0.9 0.9 0.9\tso so",
    "0.6 0.4 0.1 0.2 0.0\tfine head",
    "0.40 1.0 1.0 1.0 1.0\tmurky",
]


@pytest.mark.parametrize(
    ("aspect", "of", "dropped"),
    [
        (
            None,
            {"pours a lovely amber": 1, "flat and watery": 0, "fine head": 1, "murky": 0},
            "1 review with appearance",
        ),
        ("taste", {"flat and watery": 0, "so so": 1, "fine head": 0, "murky": 1}, "1 review with taste"),
    ],
)
def test_ratings_of_an_aspect_become_classes_and_the_middle_is_dropped(write, aspect, of, dropped):
    path = write("reviews.aspect1.train.txt.gz", "\n".join(LINES) + "\n")
    data = load_dataset(path, format="lei-beer", label=aspect, split=(1, 0, 0))
    assert dict(zip(data.train.inputs, data.train.labels, strict=True)) == of
    assert data.notes[0] == f"{dropped} between 0.4 and 0.6 dropped"


def test_the_heldout_file_is_the_test_part(write):
    write("beer/reviews.aspect1.heldout.txt.gz", "\n".join(f"{r} 0 0 0 0\theld out {r}" for r in (0, 1)))
    train = write(
        "beer/reviews.aspect1.train.txt.gz", "\n".join(f"{i % 2} 0 0 0 0\tbeer {i}" for i in range(20))
    )
    data = load_dataset(train.parent, format="lei-beer")
    assert [len(part) for part in data.parts.values()] == [18, 2, 2]
    assert sorted(data.test.inputs) == ["held out 0", "held out 1"]


@pytest.mark.parametrize(
    "line", ["0.1 0.2\ttoo few", "a b c d e\twords", "0.1 0.2 0.3 0.4 7\ttoo high", "0 0 0 0 0 no tab"]
)
def test_bad_lines_are_named(write, line):
    path = write("beer.txt", LINES[0] + "\n" + line + "\n")
    with pytest.raises(VeraxError, match=r"Line 2 of .* is not five ratings in \[0, 1\], a tab and a text"):
        load_dataset(path, format="lei-beer")


def test_ratings_are_given_as_they_are(write):
    path = write("reviews.aspect1.train.txt.gz", "\n".join(LINES) + "\n")
    data = load_dataset(path, format="lei-beer", label="taste", ratings=True, split=(1, 0, 0))
    assert dict(zip(data.train.inputs, data.train.ratings.tolist(), strict=True)) == {
        "pours a lovely amber": 0.5, "flat and watery": 0.3, "so so": 0.9, "fine head": 0.2, "murky": 1.0,
    }  # fmt: skip
    assert data.train.labels.tolist() == [int(rating >= 0.5) for rating in data.train.ratings]
    assert data.notes[:1] != ("1 review with taste between 0.4 and 0.6 dropped",)
    classes = load_dataset(path, format="lei-beer", label="taste", split=(1, 0, 0))
    assert classes.train.ratings is None
    assert classes.hash != data.hash


def test_ratings_of_a_set_of_classes_are_told(write):
    path = write("a.csv", "text,label\n" + "\n".join(f"text {i},{i % 2}" for i in range(9)))
    with pytest.raises(VeraxError, match=r"Only some published formats hold ratings \(lei-beer\)"):
        load_dataset(path, ratings=True)
    with pytest.raises(VeraxError, match="holds classes and no ratings; leave ratings out"):
        load_dataset(write("train.csv", "\n".join(f'"{1 + i % 2}","t","x {i}"' for i in range(9))),
                     format="amazon-polarity", ratings=True)  # fmt: skip
