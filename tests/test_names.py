import pytest

from verax.errors import VeraxError
from verax.names import Name, parse_names, split_outside


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("a,b", ["a", "b"]),
        (" a , b(c=1, d=2) ,", ["a", "b(c=1, d=2)", ""]),
        ("a(x='1,2)'),b", ["a(x='1,2)')", "b"]),
        ("a(x=[1, (2, 3)]),b", ["a(x=[1, (2, 3)])", "b"]),
    ],
)
def test_commas_in_brackets_and_quotes_do_not_separate(given, parts):
    assert split_outside(given) == parts


def test_names_come_with_their_options():
    given = "lime, shap ( samples = 500 ),cnn(vectors=glove.6B.txt, rate=1e-3, train_vectors=True)"
    assert parse_names(given, "model", "cnn(epochs=2)") == [
        Name("lime", {}, "lime"),
        Name("shap", {"samples": 500}, "shap(samples = 500)"),
        Name(
            "cnn",
            {"vectors": "glove.6B.txt", "rate": 0.001, "train_vectors": True},
            "cnn(vectors=glove.6B.txt, rate=1e-3, train_vectors=True)",
        ),
    ]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("two words", "The model 'two words' cannot be read; write it like this: cnn"),
        ("cnn(epochs)", "The option 'epochs' of 'cnn' cannot be read; write name=value"),
        ("cnn(epochs=1, epochs=2)", "The option 'epochs' of 'cnn' is given twice"),
        ("cnn(epochs=1)2", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(given, sentence):
    with pytest.raises(VeraxError, match=sentence):
        parse_names(given, "model", "cnn(epochs=2)")
