"""Signs of machines: by hand, and as they reach the table of participants; they exclude nobody."""

import pytest

from answering import answer_step, first_option, small
from small_study import begin
from verax.studies.answers.flat_records import participant_records
from verax.studies.answers.response_record import machine_signs

# A person: looks for some seconds, moves a mouse, and takes her time otherwise on each page.
PERSON = [
    {
        "shown": 40,
        "first_input": 3_000 + 700 * n,
        "submitted": 4_000 + 900 * (n % 5) + 1_300 * n,
        "pointer": 1,
    }
    for n in range(12)
]


def every(pages, **changed):
    return [{**page, **changed} for page in pages]


def without(pages, name):
    return [{key: value for key, value in page.items() if key != name} for page in pages]


@pytest.mark.parametrize(
    ("pages", "signs"),
    [
        (PERSON, []),
        ([], []),
        ([*PERSON[:3], {"hidden": 1}], ["hidden-question"]),
        (without(PERSON, "pointer"), ["no-pointer-or-key"]),
        (without(PERSON, "pointer")[:4], []),  # too few pages to say
        ([*without(PERSON, "pointer"), PERSON[0]], []),  # a key or a finger once is enough
        (every(PERSON, first_input=90), ["too-quick-to-react"]),
        (every(PERSON, submitted=5_000), ["even-times"]),
        (every(PERSON, submitted=5_000)[:9], []),
        ([{"written": 200, "typed": 12, "pastes": 1}], ["pasted"]),
        ([{"written": 200, "typed": 190, "pastes": 1}], []),  # a word was pasted and the rest typed
        ([{"written": 200, "typed": 12}], []),  # dictated, or written by a phone's suggestions
        ([{"written": 30, "typed": 0, "pastes": 1}], []),
    ],
)
def test_each_sign_is_seen_where_it_should_be_and_nowhere_else(pages, signs):
    assert machine_signs(pages) == signs


def test_signs_stand_in_the_table_of_participants_and_exclude_nobody(opened, clock):
    store = opened(small({"rule": "too-fast", "limit": 0.001}))
    person, machine = begin(store), begin(store)
    for token in (person, machine):
        while (where := store.look(token)) is not None and where.status == "active":
            more = {"hidden": 1} if token == machine else {}
            answer_step(store, token, clock, 10, first_option, shown=10, pointer=1, **more)
    records = sorted(participant_records(store), key=lambda record: record["number"])
    assert [record["signs"] for record in records] == [[], ["hidden-question"]]
    assert not any(record["excluded"] for record in records)
