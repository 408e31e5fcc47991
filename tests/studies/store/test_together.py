"""Studies with one way in: who is given which, at every moment, in a crowd, after drop-outs and a restart."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from uuid import uuid4

import pytest

from small_study import FAILED, Clock, do_step, finish, small_study
from store_tools import rows, run_together
from verax.errors import VeraxError
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.definition.spec_tables import ExclusionRule
from verax.studies.definition.study import DesignRow, OneCondition
from verax.studies.design import Places, choose_study
from verax.studies.store import Refused
from verax.studies.store.tables import participants
from verax.studies.store.together import Together, open_together

HOLD = 10 * 60
# Two data sets, the second with three methods; of the last methods more people are wanted, as in the paper.
TARGETS = ((3, 5), (3, 3, 4))
CELLS = [(study, row) for study, targets in enumerate(TARGETS) for row in range(len(targets))]
WANTED = {(study, row): TARGETS[study][row] for study, row in CELLS}


def two_studies(targets=TARGETS, **choices):
    name = uuid4().hex
    made = []
    for place, wanted in enumerate(targets):
        study = small_study(
            rows=len(wanted),
            with_items=False,
            title=f"{name} {place}",
            timing={"hold_minutes": HOLD / 60},
            **choices,
        )
        unequal = tuple(replace(row, target=target) for row, target in zip(study.rows, wanted, strict=True))
        made.append(replace(study, rows=unequal))
    return made


@pytest.fixture
def open_two(shared_url, clock):
    opened: list[Together] = []

    def open_them(**choices) -> Together:
        opened.append(open_together(two_studies(**choices), shared_url, clock=clock))
        return opened[-1]

    yield open_them
    for one in opened:
        one.close()


def cells(together, *statuses):
    """How many people are in each cell of data set and method."""
    return Counter(
        (place, row)
        for place, store in enumerate(together.stores)
        for row, status in rows(store, participants.c.design_row, participants.c.status)
        if row is not None and (not statuses or status in statuses)
    )


def begin(together):
    """Somebody who comes, agrees, and has passed the screening test where that comes before a condition."""
    store, token = together.enter()
    store.consent(token, True)
    while store.look(token).status == "active" and cells_of(store, token) is None:
        do_step(store, token)
    return store, token


def cells_of(store, token):
    who = store.look(token).participant
    return dict(rows(store, participants.c.id, participants.c.design_row))[who]


@pytest.mark.parametrize("method", ["excludes", "teaches"])
def test_arrivals_in_sequence_go_where_the_fewest_are_and_meet_every_target(open_two, method):
    together = open_two(method=method)
    before = cells(together)
    for _ in range(sum(WANTED.values())):
        begin(together)
        now = cells(together)
        [taken] = list((now - before).elements())
        room = [cell for cell in CELLS if before[cell] < WANTED[cell]]
        assert taken in room
        assert before[taken] == min(before[cell] for cell in room)
        before = now
    assert before == WANTED
    with pytest.raises(Refused, match="taken"):
        together.enter()


def test_first_arrivals_are_spread_at_random_over_all_cells_and_not_over_studies_alone():
    designs = [
        [DesignRow(number, 10, OneCondition(str(number))) for number in range(size)] for size in (1, 3)
    ]
    first = Counter(choose_study(designs, [Places(), Places()], seed, 1) for seed in range(2000))
    assert 0.20 < first[0] / 2000 < 0.30  # one cell of four; more than five standard errors on either side


def test_targets_are_met_exactly_whoever_drops_out_declines_or_fails(open_two, clock):
    together = open_two(method="teaches")
    arrivals = 0
    while True:
        try:
            store, token = together.enter()
        except Refused:
            break
        arrivals += 1
        match arrivals % 5:
            case 0:
                store.consent(token, False)
            case 1:  # closes the page at the consent
                clock.advance(HOLD + 1)
            case 2:  # leaves later
                store.consent(token, True)
                do_step(store, token)
                clock.advance(HOLD + 1)
            case 3:
                store.consent(token, True)
                while (where := store.look(token)).status == "active":
                    do_step(store, token, FAILED if where.phase.key == "screening" else None)
                assert where.status == "screened-out"
            case _:
                store.consent(token, True)
                assert finish(store, token).status == "complete"
    assert arrivals > 3 * sum(WANTED.values())
    assert cells(together, "complete") == WANTED


def test_a_crowd_that_comes_at_once_is_spread_evenly_and_gets_no_place_twice(store_url):
    together = open_together(two_studies(), store_url)
    people = 10

    def come(_):
        return together.enter()

    def agree(entered):
        store, token = entered
        return store.consent(token, True).status

    # They all come before the first has agreed: who reads the consent counts, or all would be given the same study.
    entered = run_together(come, range(people))
    assert Counter(together.stores.index(store) for store, _ in entered) == {0: 4, 1: 6}
    assert set(run_together(agree, entered)) == {"active"}
    assert cells(together) == dict.fromkeys(CELLS, 2)
    # Now more than there are places for.
    rest = sum(WANTED.values()) - people

    def come_and_agree(_):
        try:
            return agree(together.enter())
        except Refused:
            return "refused"

    became = Counter(run_together(come_and_agree, range(rest + 12)))
    assert cells(together) == WANTED
    assert became["active"] == rest
    together.close()


def test_who_closed_the_page_at_the_consent_keeps_nobody_out(open_two, clock):
    together = open_two()
    entered = [together.enter() for _ in range(sum(WANTED.values()))]
    assert Counter(together.stores.index(store) for store, _ in entered) == {0: 8, 1: 10}
    # All places are expected to be taken, but none is: the next ones are let in.
    for _ in range(sum(WANTED.values())):
        begin(together)
    assert cells(together) == WANTED
    store, token = entered[0]
    assert store.consent(token, True).status == "full"


def test_a_restart_changes_nothing_whatever_the_order_of_the_studies(tmp_path):
    studies, clock = two_studies(), Clock()

    def arrivals(url, cuts):
        given = []
        for number in range(sum(WANTED.values())):
            if number in cuts:
                turned = studies if number == 0 else studies[::-1]
                together = open_together(turned, url, clock=clock)
            store, _ = begin(together)
            given.append(store.study.spec.title)
            if number + 1 in cuts:
                together.close()
        assert cells(together) == WANTED
        together.close()
        return given

    whole = arrivals(f"sqlite:///{tmp_path / 'whole.sqlite'}", {0})
    assert arrivals(f"sqlite:///{tmp_path / 'cut.sqlite'}", {0, 5, 6, 11}) == whole
    assert len(set(whole)) == 2


def test_nobody_whom_a_platform_sends_gets_two_studies(store_url):
    together = open_together(two_studies(entry="prolific"), store_url)

    def come(number):
        who = {"platform": "prolific", "person": f"person{number % 6}", "session": f"session{number % 6}"}
        return together.enter(**who)[0].study.spec.title, number % 6

    came = run_together(come, range(24))  # each four times at the same moment
    assert len(set(came)) == 6
    assert Counter(title for title, _ in set(came)).most_common()[-1][1] >= 2
    assert sum(len(rows(store, participants.c.id)) for store in together.stores) == 6
    with pytest.raises(Refused, match="another session"):
        together.enter(platform="prolific", person="person1", session="somebody-else")
    together.close()


def test_bots_take_nobodys_place(open_two):
    together = open_two()
    for _ in range(sum(WANTED.values())):
        store, token = together.enter(is_bot=True)
        store.consent(token, True)
    with pytest.raises(Refused):
        together.enter(is_bot=True)
    begin(together)


def test_a_study_that_is_paused_or_closed_is_given_to_nobody(open_two):
    together = open_two()
    first, second = together.stores
    first.set_state("paused")
    for _ in range(sum(TARGETS[1])):
        assert begin(together)[0] is second
    with pytest.raises(Refused, match="taken"):
        together.enter()
    second.set_state("closed")
    with pytest.raises(Refused, match="paused"):
        together.enter()
    first.set_state("closed")
    with pytest.raises(Refused, match="closed"):
        together.enter()


def test_places_of_excluded_people_are_offered_again(tmp_path):
    rules = [ExclusionRule(rule="too-fast", limit=5)]
    clock = Clock()
    studies = [
        replace(study, spec=study.spec.model_copy(update={"exclusion": rules, "replace_excluded": 1.0}))
        for study in (small_study(rows=2, target=1, title=title) for title in ("one", "two"))
    ]
    together = open_together(studies, f"sqlite:///{tmp_path / 'a.sqlite'}", clock=clock)

    def take_part(seconds):
        store, token = together.enter()
        store.consent(token, True)
        while store.show(token).status == "active":
            clock.advance(seconds)
            do_step(store, token)
        return store, cells_of(store, token)

    hurried = take_part(0)
    for _ in range(3):
        take_part(10)
    with pytest.raises(Refused):
        together.enter()
    for store in together.stores:
        apply_exclusions(store)
    assert take_part(10) == hurried
    with pytest.raises(Refused):
        together.enter()
    together.close()


def test_two_studies_of_one_title_are_refused(tmp_path):
    twins = [small_study(title="twin"), small_study(title="twin", rows=3)]
    with pytest.raises(VeraxError, match="2 of the studies are called 'twin'"):
        open_together(twins, f"sqlite:///{tmp_path / 'a.sqlite'}")


def test_studies_of_one_title_with_names_of_their_own_are_served_together(tmp_path):
    twins = [
        small_study(title="twin", name="first"),
        small_study(title="twin", name="second", rows=3),
    ]
    together = open_together(twins, f"sqlite:///{tmp_path / 'a.sqlite'}")
    assert len({store.study_id for store in together.stores}) == 2
    together.close()
