"""Designs are balanced: every cell is counted."""

from collections import Counter
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.codec import encode
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import Item
from verax.studies.design import (
    crossover,
    deal,
    latin_square,
    one_row_per_condition,
    rotated_blocks,
    stratum,
    williams_orders,
)

SIZES = range(2, 8)


def spec_with(count, participants=3):
    conditions = [{"name": f"c{number}", "explainer": "lime"} for number in range(count)]
    return make_study_spec(
        {
            "title": "T",
            "dataset": "d",
            "protocol": {"name": "x"},
            "conditions": conditions,
            "participants": participants,
        }
    )


def each_once(pairs, size):
    """All pairs of two numbers occur, and equally often."""
    counts = Counter(pairs)
    return len(counts) == size and len(set(counts.values())) == 1


@pytest.mark.parametrize("size", SIZES)
def test_a_latin_square_has_each_number_once_in_each_row_and_column(size):
    square = latin_square(size)
    for line in [*square, *zip(*square, strict=True)]:
        assert sorted(line) == list(range(size))


@pytest.mark.parametrize("size", SIZES)
def test_williams_orders_balance_places_and_what_follows_what(size):
    orders = williams_orders(size)
    assert len(orders) == (size if size % 2 == 0 else 2 * size)
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert each_once([(place, number) for order in orders for place, number in enumerate(order)], size**2)
    assert each_once([pair for order in orders for pair in pairwise(order)], size * (size - 1))


def test_three_conditions_come_in_all_six_orders():
    assert sorted(map(tuple, williams_orders(3))) == sorted(permutations(range(3)))


@pytest.mark.parametrize("size", SIZES)
def test_a_crossover_balances_conditions_groups_places_and_carry_over(size):
    rows = crossover(size)
    assert len(rows) == 2 * size
    for row in rows:
        assert sorted(condition for condition, _ in row) == list(range(size))
        assert sorted(group for _, group in row) == list(range(size))
    assert each_once([pair for row in rows for pair in row], size**2)
    assert each_once([(place, c) for row in rows for place, (c, _) in enumerate(row)], size**2)
    assert each_once([(place, g) for row in rows for place, (_, g) in enumerate(row)], size**2)
    assert each_once([(a, b) for row in rows for (a, _), (b, _) in pairwise(row)], size * (size - 1))


def test_one_condition_needs_one_row():
    assert crossover(1) == [[(0, 0)]]


def test_three_conditions_meet_groups_as_in_the_papers_latin_square():
    # Subjects 1: groups 1, 2, 3 under none, LIME, control; subjects 2: 2, 3, 1; subjects 3: 3, 1, 2.
    paper = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    found = Counter(tuple(dict(row)[condition] for condition in range(3)) for row in crossover(3))
    assert found == dict.fromkeys(paper, 2)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=60), st.integers(1, 7))
def test_dealt_groups_differ_by_at_most_one_overall_and_in_each_stratum(strata, groups):
    dealt = deal(strata, groups)
    assert len(dealt) == len(strata)
    for wanted in [set(strata), *({one} for one in set(strata))]:
        sizes = Counter(dict.fromkeys(range(groups), 0))
        sizes.update(group for group, one in zip(dealt, strata, strict=True) if one in wanted)
        assert len(sizes) == groups
        assert max(sizes.values()) - min(sizes.values()) <= 1


items_in_blocks = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40
).map(
    lambda cells: [
        Item(f"i{number:03d}", "test", "text", label, prediction, group=group)
        for number, (group, label, prediction) in enumerate(cells)
    ]
)


@given(items_in_blocks, st.integers(1, 4))
def test_each_item_and_condition_is_in_exactly_one_row_of_rotated_blocks(items, count):
    spec = spec_with(count)
    rows = rotated_blocks(spec, items)
    pairs = Counter(pair for row in rows for pair in row.cells.conditions.items())
    names = [condition.name for condition in spec.conditions]
    assert pairs == Counter((item.id, name) for item in items for name in names)
    assert [row.number for row in rows] == list(range(len(rows)))
    assert {row.target for row in rows} == {3}
    by_id = {item.id: item for item in items}
    for row in rows:
        assert {by_id[id].group for id in row.cells.conditions} == {row.cells.block}
        for cell in {stratum(item) for item in items}:
            sizes = Counter(dict.fromkeys(names, 0))
            sizes.update(name for id, name in row.cells.conditions.items() if stratum(by_id[id]) == cell)
            assert max(sizes.values()) - min(sizes.values()) <= 1


def test_between_people_each_condition_is_a_row():
    rows = one_row_per_condition(spec_with(3, participants=8))
    assert [(row.number, row.target, encode(row.cells)) for row in rows] == [
        (0, 8, {"condition": "c0"}),
        (1, 8, {"condition": "c1"}),
        (2, 8, {"condition": "c2"}),
    ]
