from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from verax.studies.definition.study import DesignRow, OwnCells
from verax.studies.design import choose_row

targets_of = st.lists(st.integers(1, 5), min_size=1, max_size=6)


def design(targets):
    return [DesignRow(number, target, OwnCells()) for number, target in enumerate(targets)]


def test_the_row_with_the_fewest_people_is_taken():
    chosen = choose_row(design([5, 5, 5]), {0: 2, 1: 1, 2: 2}, seed=0, arrival=6)
    assert chosen is not None
    assert chosen.number == 1


def test_a_row_nobody_is_in_counts_as_empty():
    chosen = choose_row(design([5, 5, 5]), {0: 1, 2: 1}, seed=0, arrival=3)
    assert chosen is not None
    assert chosen.number == 1


def test_a_row_at_its_target_is_passed_over_even_if_it_has_the_fewest():
    chosen = choose_row(design([1, 5]), {0: 1, 1: 3}, seed=0, arrival=5)
    assert chosen is not None
    assert chosen.number == 1


def test_a_full_design_has_no_row():
    assert choose_row(design([1, 2]), {0: 1, 1: 2}, seed=0, arrival=4) is None


def test_a_row_above_its_target_takes_nobody():
    assert choose_row(design([1]), {0: 3}, seed=0, arrival=4) is None


def test_ties_depend_on_the_seed_and_the_arrival_alone():
    rows = design([9] * 4)
    first = [choose_row(rows, {}, seed, arrival) for seed in range(5) for arrival in range(5)]
    assert first == [choose_row(rows, {}, seed, arrival) for seed in range(5) for arrival in range(5)]


def test_ties_are_broken_evenly():
    # 1,000 draws among 4 rows: the standard deviation of a count is 13.7, so 5 of them are 68.
    counts = Counter(
        row.number for arrival in range(1000) if (row := choose_row(design([9] * 4), {}, 7, arrival))
    )
    assert sorted(counts) == [0, 1, 2, 3]
    assert all(abs(count - 250) < 68 for count in counts.values())


@given(targets=targets_of, seed=st.integers(0, 2**32))
def test_arrivals_in_sequence_fill_every_row_to_its_target_and_stay_one_apart(targets, seed):
    rows, taken = design(targets), Counter()
    for arrival in range(1, sum(targets) + 1):
        row = choose_row(rows, taken, seed, arrival)
        assert row is not None
        taken[row.number] += 1
        # Rows that stopped at their own target aside, nobody is more than one ahead.
        going_on = [taken[row.number] for row in rows if taken[row.number] < row.target]
        assert max(taken.values()) - min(going_on, default=max(taken.values())) <= 1
    assert [taken[row.number] for row in rows] == targets
    assert choose_row(rows, taken, seed, sum(targets) + 1) is None


@given(targets=targets_of, seed=st.integers(0, 2**32), left=st.data())
def test_whoever_leaves_is_replaced_in_the_same_row_when_the_others_are_full(targets, seed, left):
    rows, taken = design(targets), Counter(dict(enumerate(targets)))
    gone = left.draw(st.integers(0, len(targets) - 1))
    taken[gone] -= 1
    row = choose_row(rows, taken, seed, 1)
    assert row is not None
    assert row.number == gone


# What happens one after the other: somebody arrives, somebody completes, leaves, is given up, or comes back.
happenings = st.lists(
    st.tuples(st.sampled_from(["arrives", "completes", "leaves", "runs out", "returns"]), st.integers(0, 20)),
    max_size=60,
)


@given(targets=targets_of, seed=st.integers(0, 2**32), happenings=happenings)
def test_whatever_happens_arrivals_take_a_least_filled_row_and_every_row_reaches_its_target(
    targets, seed, happenings
):
    rows, people, extras = design(targets), [], Counter()

    def taken():
        return Counter(row for row, state in people if state in ("holds", "complete"))

    def arrive():
        before = taken()
        row = choose_row(rows, before, seed, len(people) + 1)
        free = [row.number for row in rows if before[row.number] < row.target]
        if row is None:
            assert free == []
        else:
            assert row.number in free
            assert before[row.number] == min(before[number] for number in free)
            people.append([row.number, "holds"])
        return row

    for what, whom in happenings:
        if what == "arrives":
            arrive()
            continue
        came_from = {"completes": "holds", "leaves": "holds", "runs out": "holds", "returns": "ran out"}[what]
        able = [person for person in people if person[1] == came_from]
        if able:
            person = able[whom % len(able)]
            person[1] = {
                "completes": "complete",
                "leaves": "left",
                "runs out": "ran out",
                "returns": "holds",
            }[what]
            extras[person[0]] += what == "returns"
    for person in people:  # all who are left complete it
        if person[1] == "holds":
            person[1] = "complete"
    while arrive() is not None:
        people[-1][1] = "complete"
    for row in rows:
        assert row.target <= taken()[row.number] <= row.target + extras[row.number]
