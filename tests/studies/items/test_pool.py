"""Which inputs become items: candidates, balanced draws, and perturbed versions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import make_texts
from study_source import review_source
from verax.data.dataset import Dataset, Part
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.models import as_model, fit_model
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import Source, Variant
from verax.studies.display.readable import readable_row
from verax.studies.items import pool, variants
from verax.studies.items.pool import Candidates, match_counts

NOTHING = Part([], np.empty(0, dtype=np.int64))


def spec(**display):
    return make_study_spec(
        {
            "title": "t",
            "dataset": "made",
            "protocol": {"name": "forward"},
            "conditions": [{"name": "none"}],
            "display": display,
        }
    )


def says(word):
    """A model that says class 1, with 0.8, of texts with this word."""

    def probabilities(texts):
        return [[0.2, 0.8] if word in text.split() else [0.9, 0.1] for text in texts]

    return as_model(probabilities, class_names=("down", "up"), kind="text")


def text_source(texts, labels, worse=None, **display):
    part = Part(list(texts), np.array(labels, dtype=np.int64))
    dataset = Dataset("made", "text", ("down", "up"), NOTHING, NOTHING, part)
    return Source(spec(**display), dataset, says("good"), worse)


def made(labels, predictions, classes=2, confidence=0.8):
    """Candidates of which only labels and predictions matter."""
    labels, predictions = np.array(labels, dtype=np.int64), np.array(predictions, dtype=np.int64)
    probabilities = np.full((len(labels), classes), (1 - confidence) / (classes - 1))
    probabilities[np.arange(len(labels)), predictions] = confidence
    names = tuple("abcdefg"[:classes])
    return Candidates(
        "test", np.arange(len(labels)), labels, predictions, probabilities, None, "texts", names
    )


def cells_of(found, numbers):
    return Counter((int(found.predictions[number]), bool(found.correct[number])) for number in numbers)


def test_only_inputs_of_which_all_models_say_the_same_are_candidates():
    texts = ["a good film", "a fine good film", "a fine film", "a bad film", "a dull film"]
    source = replace(text_source(texts, [1, 0, 1, 0, 1], fewest_words=3), others={"fine": says("fine")})
    found = pool.candidates(source, "test")
    # "good" alone is up for one model only, and so is "fine" alone.
    assert found.places.tolist() == [1, 3, 4]
    assert found.predictions.tolist() == [1, 0, 0]
    assert "of which all models predict the same class" in found.about
    assert match_counts(source, "test") == (3, 5)
    nothing = replace(text_source(["a good film"], [1], fewest_words=3), others={"fine": says("fine")})
    with pytest.raises(VeraxError, match=r"None of the 1 texts .* all models predict the same class"):
        pool.candidates(nothing, "test")


def test_versions_are_such_that_all_models_say_the_same_of_them():
    source = review_source({"name": "counterfactual", "test": 8}, [{"name": "none"}], size=120)
    other = review_source(
        {"name": "counterfactual", "test": 8}, [{"name": "none"}], size=60, worse=True
    ).worse
    both = replace(source, others={"other": other})
    found = pool.candidates(both, "test")
    numbers = list(range(8))
    flips = [number % 2 == 0 for number in numbers]
    made = variants.with_variants(both, found, numbers, flips, seed=0)
    alone = variants.with_variants(source, found, numbers, flips, seed=0)
    said = other.predict_proba([variant.input for variant in made]).argmax(axis=1).tolist()
    assert said == [variant.prediction for variant in made]
    assert [variant.prediction != found.predictions[number] for number, variant in enumerate(made)] == flips
    # Without the condition the other model differs on some of them.
    unmatched = other.predict_proba([variant.input for variant in alone]).argmax(axis=1).tolist()
    assert unmatched != [variant.prediction for variant in alone]


def test_candidates_have_the_right_length_and_are_there_once():
    texts = ["one two", "good two three", "a b c", "a b c", "a b c d e f", "b a, c!"]
    found = pool.candidates(text_source(texts, [0, 0, 1, 0, 1, 0], fewest_words=3, most_words=5), "test")
    assert found.places.tolist() == [1, 2, 5]
    assert found.labels.tolist() == [0, 1, 0]
    assert found.predictions.tolist() == [1, 0, 0]
    assert found.correct.tolist() == [False, False, True]
    assert found.confidence.tolist() == [0.8, 0.9, 0.9]
    assert found.about == "texts of 3 to 5 words in the test part of 'made'"
    assert found.worse_probabilities is None


def test_no_text_of_that_length_is_a_sentence_with_the_lengths_there_are():
    source = text_source(["one two three", "a b c d e f g"], [0, 1], fewest_words=1, most_words=2)
    with pytest.raises(VeraxError) as raised:
        pool.candidates(source, "test")
    assert str(raised.value) == (
        "None of the 2 texts in the test part of 'made' has 1 to 2 words; they have 3 to 7: change "
        "display.fewest_words or display.most_words."
    )


def test_an_empty_part_is_a_sentence():
    with pytest.raises(
        VeraxError, match="There are no texts in the validation part of 'made'; use more data"
    ):
        pool.candidates(text_source(["a b c d e"], [0]), "validation")


def test_narrowing_down_keeps_every_array_in_step():
    texts = [f"{'good' if number % 2 else 'poor'} film number {number} again" for number in range(12)]
    labels = [number % 3 == 0 for number in range(12)]
    found = pool.candidates(text_source(texts, labels, worse=says("film")), "test")
    narrowed = pool.without(pool.wrong(found), [0])
    assert all(narrowed.labels != narrowed.predictions)
    assert narrowed.about.endswith("in the test part of 'made' that the model gets wrong left")
    for number, place in enumerate(narrowed.places):
        assert narrowed.labels[number] == labels[place]
        assert narrowed.predictions[number] == place % 2
        assert narrowed.worse_probabilities[number].tolist() == [0.2, 0.8]
    # The worse model always says 1, so they agree where this one does.
    assert set(pool.agreed(found).predictions.tolist()) == {1}


def test_two_models_are_needed_to_agree():
    found = pool.candidates(text_source(["a b c d e"], [0]), "test")
    with pytest.raises(VeraxError, match=r"add a table \[worse\]"):
        pool.agreed(found)


def test_thresholds_are_strict_and_say_what_there_is():
    found = made([0, 1, 1], [0, 0, 1], confidence=0.75)
    assert len(pool.confident(found, 0.7)) == 3
    assert len(pool.unconfident(found, 0.8)) == 3
    with pytest.raises(VeraxError) as raised:
        pool.confident(found, 0.75)
    assert str(raised.value) == (
        "None of the 3 texts has a predicted class with a probability above 0.75; the highest is 0.750: lower the "
        "threshold below that."
    )
    with pytest.raises(VeraxError, match=r"below 0.75; the lowest is 0.750: raise the threshold above that"):
        pool.unconfident(found, 0.75)


many = st.integers(2, 4).flatmap(
    lambda classes: st.tuples(
        st.just(classes),
        st.lists(st.tuples(st.integers(0, classes - 1), st.integers(0, classes - 1)), max_size=60),
    )
)


@settings(max_examples=60, deadline=None)
@given(many, st.integers(0, 60), st.integers(0, 5))
def test_draws_are_balanced_or_refused(drawn, count, seed):
    classes, pairs = drawn
    found = made([label for label, _ in pairs], [said for _, said in pairs], classes)
    sizes = {cell: len(members) for cell, members in found.cells.items()}

    def attempt(draw):
        try:
            numbers = draw(found, count, seed, "here")
        except VeraxError:
            return None
        assert len(numbers) == len(set(numbers)) == count
        return cells_of(found, numbers)

    def evenest(cells, wanted):
        """No cell could get one more by taking it from one that has two more."""
        for cell in cells:
            if wanted[cell] < sizes[cell]:
                assert all(wanted[other] <= wanted[cell] + 1 for other in cells)

    equal = attempt(pool.balanced)
    possible = count > 0 and count % len(sizes) == 0 and min(sizes.values()) >= count // len(sizes)
    assert (equal is not None) == possible
    if equal is not None:
        assert set(equal.values()) == {count // (2 * classes)}
        assert len(equal) == 2 * classes
    half = attempt(pool.halves)
    right = sum(found.correct.tolist())
    assert (half is not None) == (
        count >= 2 and count % 2 == 0 and min(right, len(found) - right) >= count // 2
    )
    if half is not None:
        for correct in (True, False):
            cells = [cell for cell in sizes if cell[1] == correct]
            assert sum(half[cell] for cell in cells) == count // 2
            evenest(cells, half)
    even = attempt(pool.spread)
    assert (even is not None) == (0 < count <= len(found))
    if even is not None:
        evenest(list(sizes), even)


def test_draws_depend_on_seed_and_words_only():
    found = made([0, 1] * 40, [0, 0, 1, 1] * 20)
    first = pool.balanced(found, 16, 3, "learning")
    assert pool.balanced(found, 16, 3, "learning") == first
    assert pool.balanced(found, 16, 4, "learning") != first
    assert pool.balanced(found, 16, 3, "test") != first


def test_every_candidate_of_a_cell_is_drawn_equally_often():
    found = made([0, 1] * 10, [0, 0, 1, 1] * 5)
    drawn = Counter(number for seed in range(600) for number in pool.balanced(found, 8, seed))
    # Each of 5 in a cell is drawn with probability 2/5: 240 of 600, give or take four standard deviations (12).
    assert set(drawn) == set(range(20))
    assert all(192 < times < 288 for times in drawn.values())


def test_too_few_names_every_cell_and_what_is_possible():
    found = made([0] * 10 + [1] * 3 + [1] * 8 + [0] * 2, [0] * 10 + [0] * 3 + [1] * 8 + [1] * 2)
    with pytest.raises(VeraxError) as raised:
        pool.balanced(found, 16, 0)
    assert str(raised.value) == (
        "16 balanced items cannot be drawn from the 23 texts (10 rightly predicted 'a', 3 wrongly predicted 'a', 8 "
        "rightly predicted 'b', 2 wrongly predicted 'b'); ask for at most 8 items, widen display.fewest_words and "
        "display.most_words, or use more data."
    )
    assert len(pool.balanced(found, 8, 0)) == 8
    with pytest.raises(VeraxError, match="ask for at most 10 items"):
        pool.halves(found, 12, 0)
    assert len(pool.halves(found, 10, 0)) == 10
    with pytest.raises(VeraxError, match=r"18 items cannot be balanced over 4 cells .* a multiple of 4"):
        pool.balanced(found, 18, 0)
    with pytest.raises(VeraxError, match="7 items cannot be half right and half wrong"):
        pool.halves(found, 7, 0)


def test_rows_are_read_by_people():
    schema = Schema(
        (
            Column("Age", ("Age <= 28.00", "28.00 < Age <= 37.50", "Age > 37.50"), binned=True),
            Column("Job", ("clerk", "judge = high")),
            Column("Hours", missing=True),
        )
    )
    assert readable_row(schema, [0, 0, 40]) == (("Age", "up to 28"), ("Job", "clerk"), ("Hours", "40"))
    assert readable_row(schema, [1, 1, 2.5])[:2] == (
        ("Age", "above 28, up to 37.50"),
        ("Job", "judge = high"),
    )
    assert readable_row(schema, [2, 0, np.nan]) == (
        ("Age", "above 37.50"),
        ("Job", "clerk"),
        ("Hours", "missing"),
    )


def test_an_item_knows_where_it_came_from():
    texts = ["a good film at last", "a very poor film indeed"]
    source = text_source(texts, [0, 0], worse=says("film"))
    found = pool.candidates(source, "test")
    variant = Variant("a poor film at last", ((2, 6),), 0)
    item = pool.to_item(source, found, 0, "i001", "test", group=2, variant=variant)
    assert (item.input, item.label, item.prediction, item.correct) == (texts[0], 0, 1, False)
    assert item.probabilities == (0.2, 0.8)
    assert item.worse == (0.2, 0.8)
    assert (item.dataset, item.part, item.place, item.group) == ("made", "test", 0, 2)
    assert item.flips


@pytest.fixture(scope="module")
def reviews():
    """A fitted model of made-up reviews, with candidates in every cell."""
    texts, labels = make_texts(900, seed=3)
    parts = [
        Part(texts[first:last], labels[first:last]) for first, last in ((0, 400), (400, 500), (500, 900))
    ]
    dataset = Dataset("reviews", "text", ("bad", "good"), *parts)
    return Source(spec(), dataset, fit_model("logistic", dataset))


def test_half_of_the_perturbed_versions_flip_in_every_cell(reviews):
    found = pool.candidates(reviews, "test")
    drawn = variants.balanced_variants(reviews, found, 16, 0, "test")
    assert len({number for number, _ in drawn}) == 16
    cells = Counter(
        (
            int(found.predictions[number]),
            bool(found.correct[number]),
            variant.prediction != found.predictions[number],
        )
        for number, variant in drawn
    )
    assert len(cells) == 8
    assert set(cells.values()) == {2}
    for number, variant in drawn:
        original = reviews.dataset.test.inputs[found.places[number]]
        said = int(np.argmax(reviews.model.predict_proba([variant.input])))
        assert said == variant.prediction
        assert 1 <= len(variant.changed) <= 5
        # Outside of the changed words nothing differs.
        assert len(variant.input.split()) == len(original.split())
        assert all(piece in original for piece in _outside(variant))
    assert variants.balanced_variants(reviews, found, 16, 0, "test") == drawn


def test_struck_inputs_are_left_out_and_changes_may_have_to_read_like_language(reviews):
    found = pool.candidates(reviews, "test")
    drawn = variants.balanced_variants(reviews, found, 16, 0, "test", fluent=True)
    assert all(variant.likelihood is not None for _, variant in drawn)
    gone = int(found.places[drawn[0][0]])
    again = variants.balanced_variants(reviews, found, 16, 0, "test", fluent=True, struck={gone})
    places = {int(found.places[number]) for number, _ in again}
    assert gone not in places
    assert len(places & {int(found.places[number]) for number, _ in drawn}) >= 12  # the others stay


def _outside(variant):
    end = 0
    for start, stop in variant.changed:
        yield variant.input[end:start]
        end = stop
    yield variant.input[end:]


def test_versions_that_cannot_be_balanced(reviews):
    found = pool.candidates(reviews, "test")
    with pytest.raises(
        VeraxError, match=r"12 items cannot be balanced over 8 cells .* flips or not.*multiple of 8"
    ):
        variants.balanced_variants(reviews, found, 12, 0)
    blind = as_model(_sees_the_end, class_names=("bad", "good"), kind="text")
    stubborn = Source(reviews.spec, reviews.dataset, blind)
    found = pool.candidates(stubborn, "test")
    few = np.isin(np.arange(len(found)), pool.balanced(found, 8, 0))
    with pytest.raises(VeraxError) as raised:
        variants.balanced_variants(stubborn, pool.where(found, few, "of a few"), 8, 0)
    assert str(raised.value) == (
        "Of 2 texts of 5 to 60 words in the test part of 'reviews' of a few that are rightly predicted 'bad' and were "
        "tried, 0 have a perturbed version that flips the prediction, and 1 are needed; ask for fewer items, or use "
        "more data."
    )


def _sees_the_end(texts):
    """A model that looks at what no replaced word changes."""
    return [[0.1, 0.9] if text.endswith("!") else [0.9, 0.1] for text in texts]


def test_rows_of_a_table_are_perturbed_too():
    schema = Schema((Column("Age"), Column("Job", ("clerk", "judge", "cook")), Column("Sex", ("f", "m"))))
    generator = np.random.default_rng(0)
    rows = np.column_stack(
        [generator.integers(20, 60, 300), generator.integers(0, 3, 300), generator.integers(0, 2, 300)]
    )
    rows = rows.astype(np.float64)
    labels = (generator.random(300) < 0.2 + 0.6 * (rows[:, 1] == 1)).astype(np.int64)
    part = Part(rows[:200], labels[:200])
    dataset = Dataset(
        "people",
        "table",
        ("poor", "rich"),
        part,
        Part(rows[:0], labels[:0]),
        Part(rows[200:], labels[200:]),
        schema,
    )
    source = Source(spec(), dataset, fit_model("logistic", dataset))
    found = pool.candidates(source, "test")
    made_of = variants.with_variants(source, found, [0, 1], [True, False], 0)
    for number, (variant, flips) in enumerate(zip(made_of, (True, False), strict=True)):
        assert variant is not None
        assert (variant.prediction != found.predictions[number]) == flips
        item = pool.to_item(source, found, number, "i", "test", variant=variant)
        assert item.flips == flips
        differing = [
            place
            for place, (one, other) in enumerate(zip(item.input, variant.input, strict=True))
            if one != other
        ]
        assert tuple(differing) == variant.changed
        assert 1 <= len(differing) <= 3
