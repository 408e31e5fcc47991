from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.studies.build.build import compose_study
from verax.studies.definition.screen import Bars, Evidence, Option, Prose, Question, Screen, class_mark
from verax.studies.definition.study import DesignRow, OneCondition
from verax.studies.design import Places, choose_order, order_count, shown_screen
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material

FORWARD = {"name": "forward", "learning": 4, "test": 4}


def study_of(classes=2, **options):
    material = sample_material(FORWARD, {"learning": 4, "test": 4}, classes=classes, options=options)
    return compose_study(material, make_protocol(material.spec.protocol), "")


def asking(study, *questions, blocks=()):
    return replace(study, screens={"page": Screen("A page", tuple(blocks), questions)})


def classes_of(study):
    options = tuple(Option(class_mark(number), number) for number in range(len(study.class_names)))
    return Question("prediction", "Which?", options=options)


def meanings(study, order, question=0):
    return [option.means for option in shown_screen(study, "page", order).questions[question].options]


def test_two_classes_stand_both_ways():
    study = study_of()
    study = asking(study, classes_of(study))
    assert order_count(study) == 2
    assert [meanings(study, order) for order in range(2)] == [[0, 1], [1, 0]]
    assert meanings(study, None) == [0, 1]


@pytest.mark.parametrize("classes", [3, 4, 6])
def test_each_class_stands_in_each_place_and_after_each_other_equally_often(classes):
    study = study_of(classes)
    study = asking(study, classes_of(study))
    orders = [meanings(study, order) for order in range(order_count(study))]
    places = Counter((place, number) for order in orders for place, number in enumerate(order))
    assert places == {
        (place, number): len(orders) // classes for place in range(classes) for number in range(classes)
    }
    after = Counter(pair for order in orders for pair in pairwise(order))
    assert len(after) == classes * (classes - 1)
    assert len(set(after.values())) == 1


def test_a_scale_keeps_its_order_and_is_read_from_either_end():
    scale = Question(
        "rating", "How good?", "scale", tuple(Option(str(n), n) for n in range(1, 8)), low="bad", high="good"
    )
    study = asking(study_of(), scale)
    there, back = (shown_screen(study, "page", order).questions[0] for order in range(2))
    assert there == scale
    assert [option.means for option in back.options] == [7, 6, 5, 4, 3, 2, 1]
    assert (back.low, back.high) == ("good", "bad")


def test_graded_answers_change_the_classes_within_each_degree_and_what_names_none_stays_last():
    answers = ("0:certain", "1:certain", "0:likely", "1:likely", "none")
    labels = [f"Certainly {class_mark(0)}", f"Certainly {class_mark(1)}"]
    labels += [f"Likely {class_mark(0)}", f"Likely {class_mark(1)}", "I can't say"]
    question = Question("class", "Which?", options=tuple(map(Option, labels, answers)))
    study = asking(study_of(), question)
    assert meanings(study, 0) == list(answers)
    assert meanings(study, 1) == ["1:certain", "0:certain", "1:likely", "0:likely", "none"]


def test_bars_of_the_classes_stand_as_the_answers_do_and_others_as_they_were():
    bars = Bars(((class_mark(0), 0.9), (class_mark(1), 0.1)))
    words = Bars((("a word", 0.5), ("another", -0.2)))
    study = study_of()
    screen = shown_screen(asking(study, classes_of(study), blocks=(bars, words)), "page", 1)
    assert screen.blocks == (Bars(((class_mark(1), 0.1), (class_mark(0), 0.9))), words)


def test_fragments_for_each_class_stand_as_the_answers_do():
    here, there = (Evidence(("a word",), f"Evidence for: {class_mark(number)}") for number in range(2))
    none = Evidence(("another",), "Fragments")
    study = study_of()
    study = asking(study, classes_of(study), blocks=(Prose(("Read.",)), here, there, none))
    assert shown_screen(study, "page", 0).blocks == (Prose(("Read.",)), here, there, none)
    assert shown_screen(study, "page", 1).blocks == (Prose(("Read.",)), there, here, none)


def test_classes_with_an_order_keep_it_and_a_fixed_order_is_everybodys():
    stars = study_of(5, answer_order="direction")
    stars = asking(stars, classes_of(stars))
    assert order_count(stars) == 2
    assert [meanings(stars, order) for order in range(2)] == [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]
    fixed = study_of(answer_order="fixed")
    fixed = asking(fixed, classes_of(fixed))
    assert order_count(fixed) == 1
    assert meanings(fixed, 1) == [0, 1]
    study = study_of()
    study = asking(study, replace(classes_of(study), fixed_order=True))
    assert meanings(study, 1) == [0, 1]


@given(
    rows=st.integers(1, 6),
    orders=st.sampled_from([2, 4, 6]),
    seed=st.integers(0, 5),
    arrivals=st.lists(st.integers(0, 5), max_size=60),
)
def test_arrivals_in_any_sequence_leave_the_orders_of_a_row_at_most_one_apart(rows, orders, seed, arrivals):
    taken = Places()
    for number, arrival in enumerate(arrivals, start=1):
        row = DesignRow(arrival % rows, 60, OneCondition("none"))
        taken.add(row.number, choose_order(orders, row, taken, seed, number))
        for one in range(rows):
            counts = [taken.orders[one, order] for order in range(orders)]
            assert max(counts) - min(counts) <= 1
            assert sum(counts) == taken.rows[one]


def test_one_person_in_each_of_many_rows_still_balances_the_orders_over_all():
    taken = Places()
    for number in range(1, 13):
        row = DesignRow(number, 1, OneCondition("none"))
        taken.add(number, choose_order(2, row, taken, 7, number))
        counts = Counter(order for _, order in taken.orders)
        assert abs(counts[0] - counts[1]) <= 1
