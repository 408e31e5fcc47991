import pytest

from verax.data import load_dataset
from verax.errors import VeraxError

LINES = [
    '"2","Great CD","My lovely Pat has one of the ""GREAT"" voices."',
    '"1","","Flat, and\\nwatery"',
    '"2","Good","So, so"',
    '"1","Batteries died","Do not buy"',
]


def test_class_title_and_text_without_a_header(write):
    path = write("train.csv", "\n".join(LINES) + "\n")
    data = load_dataset(path, format="amazon-polarity", split=(1, 0, 0))
    assert data.class_names == ("negative", "positive")
    assert dict(zip(data.train.inputs, data.train.labels.tolist(), strict=True)) == {
        'Great CD\nMy lovely Pat has one of the "GREAT" voices.': 1,
        "Flat, and\\nwatery": 0,
        "Good\nSo, so": 1,
        "Batteries died\nDo not buy": 0,
    }


def test_the_test_file_is_the_test_part(write):
    write("amazon/test.csv", "\n".join(f'"{1 + i % 2}","t","tested {i}"' for i in range(4)))
    train = write("amazon/train.csv", "\n".join(f'"{1 + i % 2}","t","review {i}"' for i in range(40)))
    data = load_dataset(train.parent, format="amazon-polarity")
    assert [len(part) for part in data.parts.values()] == [36, 4, 4]


@pytest.mark.parametrize("line", ['"3","a","b"', '"1","only two"', "class,title,text"])
def test_bad_lines_are_named(write, line):
    path = write("reviews.csv", LINES[0] + "\n" + line + "\n")
    with pytest.raises(VeraxError, match=r"Line 2 of .* is not a class \(1 or 2\), a title and a text"):
        load_dataset(path, format="amazon-polarity")
