import numpy as np
import pytest
from hand_made import GREAT, HANDSHAKE, HandMade, unless

from verax.benchmarks.rationale.rankings import Partition, describe, is_strict, partition
from verax.benchmarks.rationale.target import check_test_set
from verax.errors import VeraxError


def test_the_handshake_of_figure_2_is_pruned_and_an_input_without_one_kept():
    shaken, plain = partition(HANDSHAKE, ["The movie was very good.", "The movie was good."])
    assert shaken.selected == (3,)  # "very", from which nothing is selected again
    assert shaken.handshake
    assert not shaken.kept(0.1)
    assert plain.selected == (3,)
    assert not plain.handshake
    assert plain.effects == pytest.approx((0.3,))  # 0.8 with "good", 0.5 with nothing
    assert plain.kept(0.1)
    assert not plain.kept(0.31)


def test_words_fall_into_three_sets():
    each = Partition(0, 5, (1, 3, 4), (0.4, 0.05, 0.1), handshake=False)
    assert each.relevant(0.1).tolist() == [False, True, False, False, True]
    assert each.irrelevant().tolist() == [True, False, True, False, False]
    assert each.relevant(0.3).tolist() == [False, True, False, False, False]


def test_a_strict_input_and_two_that_are_not_are_told_apart():
    text = "great film odd one here"
    alone = HandMade(unless("odd"), GREAT)  # deleting "odd" changes the selection
    together = HandMade(unless("odd", "one"), GREAT)  # only deleting both of them does
    for model in (alone, together):
        (each,) = partition(model, [text])
        assert each.selected == (0,)
        assert not each.handshake  # from "great" alone, "great" is selected again
        assert each.kept(0.1)
    strict = HandMade(lambda words: [place for place, word in enumerate(words) if word == "great"], GREAT)

    def is_one(model, subsets=20):
        return is_strict(model, text, model.select([text])[0], subsets, seed=0)

    assert is_one(strict)
    assert not is_one(alone, subsets=0)
    assert is_one(together, subsets=0)  # no single deletion shows it
    assert not is_one(together)  # some subset does


def test_a_changed_selection_with_the_same_output_is_strict():
    same = {**GREAT, ("great", "film"): 0.9}
    model = HandMade(unless("odd"), same)
    text = "great film odd one here"
    assert is_strict(model, text, model.select([text])[0], 20, seed=0)


def test_table_2_by_hand():
    parts = [
        Partition(0, 6, (1,), (0.2,), handshake=False),
        Partition(1, 8, (1, 2), (0.2, 0.3), handshake=False),
        Partition(2, 8, (1, 2), (0.0, 0.05), handshake=False),  # nothing clearly relevant
        Partition(3, 2, (0, 1), (0.5, 0.5), handshake=False),  # nothing that is not selected
        Partition(4, 8, (), (), handshake=False),  # an empty selection has no clearly relevant word either
        Partition(5, 8, (1,), (0.4,), handshake=True),
    ]
    table = describe(parts, 0.1)
    assert (table.inputs, table.empty, table.everything, table.kept) == (6, 1, 1, 2)
    assert table.handshakes == pytest.approx(1 / 6)
    assert table.without_relevant == pytest.approx(2 / 5)
    assert table.without_irrelevant == pytest.approx(1 / 3)
    assert (table.words.mean, table.selected.mean, table.relevant.mean, table.irrelevant.mean) == (
        7,
        1.5,
        1.5,
        5.5,
    )
    assert table.words.deviation == pytest.approx(np.std([6, 8]))


def test_a_target_that_selects_nothing_or_everything_cannot_serve():
    empty = [Partition(place, 5, (), (), handshake=True) for place in range(3)]
    with pytest.raises(
        VeraxError, match=r"selects nothing in 100\.0% of the test texts and cannot serve as a test"
    ):
        check_test_set(describe(empty, 0.1))
    whole = [Partition(place, 1, (0,), (0.4,), handshake=False) for place in range(3)]
    with pytest.raises(VeraxError, match=r"selects every word .* no word is then known to do nothing"):
        check_test_set(describe(whole, 0.1))
    shaken = [Partition(place, 5, (0,), (0.4,), handshake=True) for place in range(3)]
    with pytest.raises(
        VeraxError, match=r"None of the 3 test texts can serve as a test: 100\.0% may have a handshake"
    ):
        check_test_set(describe(shaken, 0.1))


def test_an_empty_selection_is_no_handshake():
    (nothing,) = partition(HANDSHAKE, ["The movie was long."])
    assert nothing.selected == ()
    assert not nothing.handshake  # S_Sx = S_x: nothing is selected from nothing
    assert not nothing.kept(0.1)  # but it has no clearly relevant word
    table = describe([nothing], 0.1)
    assert (table.handshakes, table.without_relevant) == (0.0, 1.0)
