"""Word vectors against counts, logarithms and decompositions done the slow way, and files good and bad."""

from __future__ import annotations

import gzip
import logging
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers import shared_data
from verax.data import vectors as module
from verax.data.vectors import WordVectors, cooccurrences, read_vectors, shifted_ppmi, train_vectors
from verax.errors import VeraxError


def topical_texts(count: int, seed: int = 0) -> list[str]:
    """Texts of words that keep company: each text draws from one of six topics of twelve words."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 6, count)
    return [" ".join(f"w{word}" for word in topic * 8 + rng.zipf(1.4, 15) % 12) + "." for topic in topics]


TEXTS = topical_texts(60)


def slow_counts(texts: list[list[int]], n_words: int, window: int) -> np.ndarray:
    """Every ordered pair of places of one text, at most ``window`` apart."""
    counts = np.zeros((n_words, n_words))
    for text in texts:
        for here, word in enumerate(text):
            for there, other in enumerate(text):
                if here != there and abs(here - there) <= window and word >= 0 and other >= 0:
                    counts[word, other] += 1
    return counts


def slow_ppmi(counts: np.ndarray, shift: float) -> np.ndarray:
    total = counts.sum()
    values = np.zeros_like(counts)
    for row in range(len(counts)):
        for column in range(len(counts)):
            if counts[row, column] > 0:
                joint = counts[row, column] / total
                independent = counts[row].sum() / total * counts[:, column].sum() / total
                values[row, column] = max(0.0, math.log(joint / independent) - math.log(shift))
    return values


def slow_vectors(
    texts: list[str], dimensions: int, window: int, min_count: int, shift: float
) -> tuple[list[str], np.ndarray]:
    split = [text.rstrip(".").split() for text in texts]
    every = [word for text in split for word in text]
    words = sorted({word for word in every if every.count(word) >= min_count})
    numbers = [[words.index(word) if word in words else -1 for word in text] for text in split]
    left, sizes, _ = np.linalg.svd(slow_ppmi(slow_counts(numbers, len(words), window), shift))
    rows = left[:, :dimensions] * np.sqrt(sizes[:dimensions])
    return words, rows / np.linalg.norm(rows, axis=1, keepdims=True)


@settings(max_examples=60, deadline=None)
@example(texts=[[0, 0, 0]], window=6, shift=1.0)  # fewer words than the window reaches
@given(
    texts=st.lists(st.lists(st.integers(-1, 4), max_size=9), min_size=1, max_size=5),
    window=st.integers(1, 6),
    shift=st.floats(0.5, 5),
)
def test_counts_and_ppmi_equal_those_of_plain_loops(texts, window, shift):
    numbers = np.array([word for text in texts for word in text], dtype=np.intp)
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    counts = cooccurrences(numbers, owners, 5, window)
    expected = slow_counts(texts, 5, window)
    assert np.array_equal(counts.toarray(), expected)
    if expected.any():
        assert np.allclose(shifted_ppmi(counts, shift).toarray(), slow_ppmi(expected, shift), atol=1e-12)


def test_counts_do_not_depend_on_the_size_of_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    numbers, owners = rng.integers(-1, 6, 200), np.sort(rng.integers(0, 9, 200))
    at_once = cooccurrences(numbers, owners, 6, 4).toarray()
    monkeypatch.setattr(module, "BLOCK_CELLS", 20)
    assert np.array_equal(cooccurrences(numbers, owners, 6, 4).toarray(), at_once)


@pytest.mark.parametrize(
    ("dimensions", "window", "min_count", "shift"), [(6, 5, 5, 1.0), (12, 2, 15, 1.0), (100, 3, 5, 1.5)]
)
def test_similarities_equal_those_of_an_svd(dimensions, window, min_count, shift):
    words, rows = slow_vectors(TEXTS, dimensions, window, min_count, shift)
    found = train_vectors(TEXTS, dimensions, window, min_count, shift=shift)
    assert sorted(found.words) == words
    assert found.rows.shape == (len(words), min(dimensions, len(words)))
    order = [found.places[word] for word in words]
    assert np.allclose(found.rows[order] @ found.rows[order].T, rows @ rows.T, atol=1e-5)


def test_the_iterative_decomposition_equals_the_dense_one(monkeypatch):
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{number}" for number in rng.zipf(1.3, 40) % 300) for _ in range(80)]
    dense = train_vectors(texts, dimensions=20, min_count=2)
    monkeypatch.setattr(module, "DENSE_WORDS", 0)
    iterative = train_vectors(texts, dimensions=20, min_count=2)
    assert len(dense) > 150
    assert np.allclose(dense.rows, iterative.rows, atol=1e-5)  # signs too
    assert np.array_equal(iterative.rows, train_vectors(texts, dimensions=20, min_count=2).rows)
    other_seed = train_vectors(texts, dimensions=20, min_count=2, seed=1)
    assert np.allclose(iterative.rows, other_seed.rows, atol=1e-5)


def test_words_are_lower_case_and_the_frequent_come_first():
    found = train_vectors(["The cat the dog THE end", "a cat a dog"], dimensions=2, min_count=1)
    assert found.words == ("the", "a", "cat", "dog", "end")  # 3, 2, 2, 2, 1; equal ones by name
    assert found.find("CAT") == 2
    assert found.find("mouse") is None
    assert repr(found) == "WordVectors(5 words, 2 dimensions)"


def test_a_word_that_stands_alone_has_no_direction():
    found = train_vectors(
        ["alone", "alone", "some words here", "some words there"], dimensions=3, min_count=2
    )
    lengths = np.linalg.norm(found.rows, axis=1)
    assert lengths[found.places["alone"]] == 0.0
    assert np.allclose(lengths[[found.places["some"], found.places["words"]]], 1.0)


def toy(count: int = 40, dimensions: int = 5, seed: int = 0) -> WordVectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions))
    return WordVectors(
        tuple(f"w{number}" for number in range(count)),
        (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32),
    )


def test_neighbours_are_the_words_with_the_largest_cosines():
    found = toy()
    cosines = found.rows.astype(float) @ found.rows.astype(float).T
    for place, word in enumerate(found.words):
        words, similarities = found.neighbours(word, 7)
        others = sorted((other for other in range(40) if other != place), key=lambda o: -cosines[place, o])
        assert words == tuple(found.words[other] for other in others[:7])
        assert np.allclose(similarities, cosines[place, others[:7]], atol=1e-9)
    assert len(found.neighbours("w0", 100)[0]) == 39


def test_neighbours_in_blocks_and_among_some_are_the_same(monkeypatch):
    found, among = toy(), np.arange(1, 40, 3)
    expected = []
    for place in range(40):
        words, similarities = found.neighbours(f"w{place}", 39)
        chosen = [number for number, word in enumerate(words) if int(word[1:]) % 3 == 1][:6]
        expected.append(([int(words[number][1:]) for number in chosen], similarities[chosen]))
    for cells in (10**6, 30, 1):
        monkeypatch.setattr(module, "BLOCK_CELLS", cells)
        answers = list(found.nearest(np.arange(40), 6, among))
        assert len(answers) == 40
        for (places, similarities), (wanted, wanted_similarities) in zip(answers, expected, strict=True):
            assert places.tolist() == wanted
            assert np.array_equal(similarities, wanted_similarities)


def test_equally_near_words_come_in_their_order():
    rows = np.array([[1, 0], [0, 1], [0, 1], [1, 0], [0, 1]], dtype=np.float32)
    found = WordVectors(("a", "b", "c", "d", "e"), rows)
    assert found.neighbours("a", 3)[0] == ("d", "b", "c")
    assert found.neighbours("b", 1)[0] == ("c",)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train_vectors([]), "No word occurs 5 times in these 0 texts; give more texts"),
        (lambda: train_vectors(["a b c"]), "No word occurs 5 times in these 1 texts"),
        (lambda: train_vectors("a b c"), "put it in a list"),
        (lambda: train_vectors(TEXTS, window=0), "window=0 makes no word vectors; give 1 or more"),
        (lambda: toy().neighbours("x"), "The word 'x' has no vector; 40 words have one"),
        (lambda: read_vectors("nowhere.txt"), "There is no file 'nowhere.txt'"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(call, message):
    with pytest.raises(VeraxError, match=message):
        call()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_a_file_is_read_plain_or_gzip_with_or_without_header(tmp_path, compressed, header):
    content = (header + "film 3 4\nnew york 0 -2\nnaïve 0 0\n").encode()
    path = tmp_path / "vectors.txt"
    path.write_bytes(gzip.compress(content) if compressed else content)
    found = read_vectors(path)
    assert found.words == ("film", "new york", "naïve")
    assert np.allclose(found.rows, [[0.6, 0.8], [0, -1], [0, 0]])


@pytest.mark.parametrize(
    ("content", "line", "expected"),
    [
        ("film 1 2\nactor 1\n", 2, "2 numbers"),
        ("film 1 2\nactor 1 x\n", 2, "2 numbers"),
        ("film 1 2\nactor 1 nan\n", 2, "2 numbers"),
        ("film 1 2\n\nactor 1 2\n", 2, "2 numbers"),
        ("film 1 2\n1 2\n", 2, "2 numbers"),
        ("film\n", 1, "some numbers"),
        ("film good\n", 1, "1 numbers"),
    ],
)
def test_a_bad_line_is_named(tmp_path, content, line, expected):
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    with pytest.raises(
        VeraxError, match=rf"^Line {line} of .*vectors\.txt is not a word followed by {expected}"
    ):
        read_vectors(path)


def test_an_empty_file_and_repeated_words(tmp_path, caplog):
    path = tmp_path / "vectors.txt"
    path.write_text("")
    with pytest.raises(VeraxError, match="holds no word vectors"):
        read_vectors(path)
    path.write_text("a 1 0\nb 0 1\na 0 1\na 1 1\n")
    with caplog.at_level(logging.WARNING, logger="verax.data"):
        found = read_vectors(path)
    assert "holds 2 words more than once" in caplog.text
    assert found.rows.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_real_glove_file():
    path = next(shared_data("glove").glob("*.txt.gz"))
    found = read_vectors(path)
    assert len(found) == 40_000
    assert found.rows.shape[1] == 50
    assert np.allclose(np.linalg.norm(found.rows, axis=1), 1.0, atol=1e-6)
    assert {"movie", "films"} <= set(found.neighbours("film", 3)[0])
    with gzip.open(path, "rt") as file:
        lines = {
            line.split(" ", 1)[0]: np.array(line.split()[1:], dtype=float) for line in file if line[0] in "gb"
        }
    cosine = lines["good"] @ lines["bad"] / np.linalg.norm(lines["good"]) / np.linalg.norm(lines["bad"])
    words, similarities = found.neighbours("good", 39_999)
    assert similarities[words.index("bad")] == pytest.approx(cosine, abs=1e-6)
