import json

import pytest

from verax.data import load_dataset
from verax.errors import VeraxError


def _lines(star, text, ratings):
    return "\n".join(json.dumps({star: rating, text: f"review {i}"}) for i, rating in enumerate(ratings))


@pytest.mark.parametrize(
    ("name", "format", "star", "text"),
    [
        ("a.json.gz", "amazon", "overall", "reviewText"),
        ("g.json", "goodreads", "rating", "review_text"),
    ],
)
def test_stars_become_two_classes_and_three_is_dropped_and_counted(write, name, format, star, text):
    data = load_dataset(
        write(name, _lines(star, text, [1, 2.0, 3, 4, 5, 0, 3.0])), format=format, split=(1, 0, 0)
    )
    found = dict(zip(data.train.inputs, data.train.labels, strict=True))
    assert found == {"review 0": 0, "review 1": 0, "review 3": 1, "review 4": 1}
    assert data.notes[:2] == ("2 three-star reviews dropped", "1 unrated review dropped")


def test_other_fields_can_be_named_and_reviews_without_text_are_counted(write):
    content = _lines("rating", "text", [1, 5, 4, 2]) + '\n{"rating": 5}\n{"rating": 5, "text": null}'
    data = load_dataset(write("new.jsonl", content), format="amazon", text="text", label="rating")
    assert len(data) == 4
    assert "2 empty texts dropped" in data.notes


def test_bad_lines_are_named(write):
    with pytest.raises(
        VeraxError, match=r"Line 1 of .* has no stars from 0 to 5 in 'overall' \(its fields: rating, text\)"
    ):
        load_dataset(write("a.json", _lines("rating", "text", [1, 5])), format="amazon")
    with pytest.raises(VeraxError, match=r"Line 2 of .* has no stars from 0 to 5"):
        load_dataset(write("b.json", _lines("overall", "reviewText", [1, 6])), format="amazon")
    with pytest.raises(
        VeraxError, match=r"No line of .* has the field 'reviewText'; name the right one with text="
    ):
        load_dataset(write("c.json", _lines("overall", "text", [1, 5])), format="amazon")
    with pytest.raises(VeraxError, match="is a folder; name one JSON-lines file"):
        load_dataset(write("d/e.json", "").parent, format="goodreads")
