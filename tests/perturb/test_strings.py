"""Strings with words removed are those of lime, whatever the text."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lime.lime_text import IndexedString

import verax
from verax.perturb import masks as module
from verax.perturb.masks import BLOCK_CELLS, PACK_CELLS, Masks
from verax.perturb.paths import strings
from verax.perturb.paths.strings import StringPath, build_strings, letters

TEXTS = [
    "A plain text, with the words the words.",
    "<b>HTML</b> &amp; tabs\tand\nlines",
    "emoji 👍🏽 and 日本語 and עברית x",
    "naïve café déjà-vu",
    "\x00 nul and \x01",
    "a_b 3.14 don't",
    "   ",
    "",
    "word",
]


def check(text: str, seed: int = 0) -> None:
    indexed = IndexedString(text)
    ready = letters(text)
    assert list(ready.features) == indexed.inverse_vocab
    rng = np.random.default_rng(seed)
    present = rng.random((20, len(ready.features))) < 0.5
    expected = [indexed.inverse_removing(np.flatnonzero(~row)) for row in present]
    assert build_strings(ready, present) == expected


def test_strings_equal_lime_on_odd_texts():
    for text in TEXTS:
        check(text)


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_strings_equal_lime_on_any_text(text):
    check(text)


def test_lone_surrogates_survive():
    text = "broken \ud800 half and whole"
    ready = letters(text)
    assert build_strings(ready, np.ones((1, len(ready.features)), dtype=bool)) == [text]


def lengths_model(calls: list[list[str]]):
    def probabilities(texts):
        calls.append(list(texts))
        share = np.array([len(text) / (len(text) + 10) for text in texts])
        return np.stack([1 - share, share], axis=1)

    return verax.as_model(probabilities, class_names=("short", "long"))


def test_equal_strings_are_asked_once():
    calls: list[list[str]] = []
    path = StringPath(lengths_model(calls))
    rows = np.array([[True, True], [False, True], [True, True], [False, True]])
    ready = path.prepare(["one two"])
    answer = next(iter(path.evaluate(ready, [Masks.from_rows(rows)])))
    assert calls == [["one two", " two"]]
    assert answer.rows == 2
    assert np.allclose(answer.probabilities[:, 1], [7 / 17, 4 / 14, 7 / 17, 4 / 14])


def test_many_texts_share_calls_of_bounded_size(monkeypatch):
    calls: list[list[str]] = []
    path = StringPath(lengths_model(calls))
    texts = [f"text {number} of many" for number in range(40)]
    ready = path.prepare(texts)
    masks = [Masks.from_rows(np.random.default_rng(number).random((30, 4)) < 0.5) for number in range(40)]
    once = [answer.probabilities for answer in path.evaluate(ready, masks)]
    assert len(calls) == 1
    monkeypatch.setattr(module, "MAX_ROWS", 64)
    monkeypatch.setattr(strings, "BLOCK_CELLS", 200)
    calls.clear()
    bounded = [answer.probabilities for answer in path.evaluate(ready, masks)]
    assert max(map(len, calls)) <= 64
    assert all(np.array_equal(one, other) for one, other in zip(once, bounded, strict=True))


def test_a_book_is_built_in_small_parts():
    calls: list[list[str]] = []
    path = StringPath(lengths_model(calls))
    text = " ".join(f"w{number % 50}" for number in range(100_000))
    ready = path.prepare([text])
    masks = Masks.from_rows(np.random.default_rng(0).random((128, 50)) < 0.5)
    answer = next(iter(path.evaluate(ready, [masks])))
    assert max(sum(map(len, call)) for call in calls) <= 2 * max(BLOCK_CELLS, PACK_CELLS)
    kept = masks.rows()[5]
    shown = " ".join(f"w{number % 50}" if kept[number % 50] else "" for number in range(100_000))
    assert answer.probabilities[5, 1] == len(shown) / (len(shown) + 10)
