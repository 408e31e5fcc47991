from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import pytest
from sqlalchemy import text

from small_study import begin, do_step, finish, small_study, walk_to
from store_tools import rows
from verax.errors import VeraxError
from verax.studies.display import wording
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.store import Refused, Store, Submitted, open_store
from verax.studies.store.identifiers import token_hash
from verax.studies.store.tables import consents, events, participants, responses, steps


def test_a_participant_goes_from_the_link_to_the_completion_code(store):
    token = store.enter()
    assert store.show(token).status == "consent"
    assert store.consent(token, True).status == "active"
    shown = []
    while (where := store.look(token)).status == "active":
        shown.append(do_step(store, token).step.screen)
    assert shown == [
        "instructions:everybody",
        "screening:everybody",
        "learning",
        *(("i001.plain", "i002.explained") if _row_of(store) == 0 else ("i002.plain", "i001.explained")),
        "feedback",
        "about",
        "strategy",
        "debrief",
    ]
    assert where.status == "complete"
    assert re.fullmatch("[A-HJ-NP-Z2-9]{10}", where.completion_code)
    assert store.show(token) == where


def _row_of(store):
    return rows(store, participants.c.design_row)[0][0]


def test_a_token_is_long_random_and_known_by_its_hash_alone(store):
    tokens = {store.enter() for _ in range(20)}
    assert len(tokens) == 20
    assert all(re.fullmatch("[A-Za-z0-9_-]{32}", token) for token in tokens)
    stored = {known for (known,) in rows(store, participants.c.token_hash)}
    assert stored == {token_hash(token) for token in tokens}


def test_an_unknown_token_opens_nothing_and_stores_nothing(store):
    for token in ("", "nobody", "x" * 100_000, "\x00", "\ud800", "' OR 1=1 --"):
        assert store.show(token) is None
        assert store.look(token) is None
        assert store.consent(token, True) is None
        assert store.withdraw(token) is None
        assert store.submit(token, 1, "nonce", {"prediction": "1"}, {}) == Submitted()
        store.event(token, "blur", {})
    assert rows(store, events.c.id) == []
    assert rows(store, participants.c.id) == []


def test_the_steps_are_stored_as_planned_when_somebody_consents(store):
    begin(store)
    number, row = rows(store, participants.c.number, participants.c.design_row)[0]
    planned = participant_steps(store.study, store.study.rows[row], number)
    stored = rows(
        store, steps.c.ord, steps.c.phase, steps.c.screen, steps.c.item, steps.c.condition, steps.c.state
    )
    assert stored == [
        (ord, step.phase, step.screen, step.item, step.condition, "pending")
        for ord, step in enumerate(planned, 1)
    ]


def test_a_second_consent_changes_nothing(store):
    token = begin(store)
    do_step(store, token)
    before = rows(store, *participants.c), rows(store, *steps.c)
    assert store.consent(token, True).ord == 2
    assert store.consent(token, False).ord == 2
    assert (
        rows(store, *participants.c),
        rows(store, *steps.c),
    ) == before
    assert rows(store, consents.c.agreed) == [(True,)]


def test_who_declines_is_thanked_and_may_think_again(store):
    token = store.enter()
    assert store.consent(token, False).status == "declined"
    assert store.consent(token, False).status == "declined"
    assert store.show(token).status == "declined"
    assert store.consent(token, True).status == "active"
    assert rows(store, consents.c.agreed) == [(False,), (True,)]


@pytest.mark.parametrize("own", [None, "We keep\nyour answers.\n\n\n- All of them. "])
def test_the_hash_of_what_was_agreed_to_is_that_of_the_words_on_the_page(store, own):
    spec = store.study.spec
    texts = spec.texts.model_copy(update={"consent": own})
    study = replace(store.study, spec=spec.model_copy(update={"texts": texts}))
    begin(Store(study, store.study_id, store.database))
    shown = "\n\n".join(wording.consent(study.spec))
    assert own is None or shown == "We keep your answers.\n\n- All of them."
    assert rows(store, consents.c.text_sha256) == [(hashlib.sha256(shown.encode()).hexdigest(),)]


def test_each_page_says_where_in_the_study_it_is(store):
    token = begin(store)
    seen = []
    while store.look(token).status == "active":
        where = do_step(store, token)
        seen.append((where.phase.key, where.phase_number, where.number_in_phase, where.steps_in_phase))
        assert (where.phases, where.steps) == (5, 11)
    assert seen == [
        ("instructions", 1, 1, 1),
        ("screening", 1, 1, 1),
        ("learning", 2, 1, 1),
        ("test", 3, 1, 2),
        ("test", 3, 2, 2),
        ("test", 3, 2, 2),  # the answer to the item before
        ("about", 4, 1, 1),
        ("questions", 5, 1, 1),
        ("debrief", 0, 1, 1),
    ]


def test_classes_are_called_as_the_protocol_says_for_each_number(store):
    first, second = begin(store), begin(store)
    assert store.show(first).names == ("A", "B")
    assert store.show(second).names == ("B", "A")


def test_nobody_enters_a_paused_or_closed_study_and_answers_are_taken_all_the_same(store):
    token, waiting = begin(store), store.enter()
    where = store.show(token)
    store.set_state("paused")
    with pytest.raises(Refused) as refused:
        store.enter()
    assert refused.value.reason == "paused"
    assert store.submit(token, where.ord, where.nonce, {}, {}).stored
    assert store.show(token).status == "paused"
    assert store.consent(waiting, True).status == "paused"
    store.set_state("closed")
    with pytest.raises(Refused) as refused:
        store.enter()
    assert refused.value.reason == "closed"
    assert store.consent(waiting, True).status == "full"
    assert finish(store, token).status == "complete"
    store.set_state("open")
    assert store.consent(waiting, True).status == "active"
    with pytest.raises(VeraxError, match="'ajar' is none of them"):
        store.set_state("ajar")


def test_a_full_study_refuses_newcomers_until_somebody_leaves(open_with, clock):
    store = open_with(rows=1, target=1, timing={"hold_minutes": 30})
    undecided = store.enter()
    holder = begin(store)
    with pytest.raises(Refused) as refused:
        store.enter()
    assert refused.value.reason == "full"
    assert "taken" in str(refused.value)
    assert store.consent(undecided, True).status == "full"
    assert store.show(undecided).status == "full"
    clock.advance(29 * 60)
    do_step(store, holder)  # holds the place for another half hour
    clock.advance(29 * 60)
    assert store.show(undecided).status == "full"
    clock.advance(2 * 60)
    assert store.show(undecided).status == "consent"
    assert store.consent(undecided, True).status == "active"
    # The other one comes back, goes on in the same row, and completes it as an extra.
    assert finish(store, holder).status == "complete"
    assert finish(store, undecided).status == "complete"
    assert rows(store, participants.c.design_row, participants.c.status) == [(0, "complete")] * 2


def test_who_withdraws_frees_the_place_and_the_answers_stay(open_with):
    store = open_with(rows=1, target=1)
    token = begin(store)
    do_step(store, token)
    assert store.withdraw(token).status == "withdrawn"
    assert store.show(token).status == "withdrawn"
    assert begin(store)
    assert len(rows(store, responses.c.step_id)) == 1


def test_bots_never_take_the_place_of_a_person(open_with):
    store = open_with(rows=1, target=1)
    bot = store.enter(is_bot=True)
    assert store.consent(bot, True).status == "active"
    with pytest.raises(Refused):
        store.enter(is_bot=True)
    assert store.consent(store.enter(), True).status == "active"


def test_a_code_lets_in_one_participant_on_any_device(open_with):
    store = open_with(entry="code", rows=1, target=1)
    first, second = store.make_codes(2)
    with pytest.raises(Refused) as refused:
        store.enter()
    assert refused.value.reason == "code-needed"
    for wrong in ("", "AAAAAAAAAA", "\x00", "é" * 5000):
        with pytest.raises(Refused) as refused:
            store.enter(code=wrong)
        assert refused.value.reason == "unknown-code"
    token = store.enter(code=first)
    assert store.consent(token, True).status == "active"
    typed = f" {first[:5].lower()}-{first[5:].lower()} "
    assert store.enter(code=typed) == token  # also now that the study is full
    with pytest.raises(Refused) as refused:
        store.enter(code=second)
    assert refused.value.reason == "full"
    assert len(rows(store, participants.c.id)) == 1


def test_the_token_of_a_code_cannot_be_computed_from_the_code_alone(open_with):
    one, other = open_with(entry="code"), open_with(entry="code")
    code = one.make_codes(1)[0]
    token = one.enter(code=code)
    one.database.write(
        lambda connection: connection.execute(
            text(f"UPDATE code SET study_id = {other.study_id}, participant_id = NULL WHERE code = '{code}'")
        )
    )
    assert other.enter(code=code) != token


def test_codes_are_made_in_sane_numbers(store):
    assert len(set(store.make_codes(1000))) == 1000
    for count in (0, -1, 100_001):
        with pytest.raises(VeraxError, match="Between 1 and 100,000 codes"):
            store.make_codes(count)


def test_a_database_keeps_to_the_build_of_a_study_that_it_began_with(store, shared_url):
    again = open_store(store.study, shared_url)
    assert again.study_id == store.study_id
    again.close()
    title = store.study.spec.title
    with pytest.raises(VeraxError, match=f"another build of the study '{title}'"):
        open_store(small_study(title=title, target=9), shared_url)
    with pytest.raises(VeraxError, match="never saved"):
        open_store(replace(store.study, hash=""), shared_url)


def test_studies_in_one_database_do_not_meet(open_with):
    one, other = open_with(rows=1, target=1), open_with(rows=1, target=1)
    token = begin(one)
    assert other.show(token) is None
    assert other.submit(token, 1, one.show(token).nonce, {}, {}).stored is False
    assert other.look(begin(other)).status == "active"


def test_events_of_the_browser_are_kept_in_a_bounded_form(store, clock):
    token = begin(store)
    store.event(token, "blur\x00" + "x" * 100, {"at": float("nan"), "why": "\x00" + "z" * 20_000, "n": 3})
    [(ord, type, data)] = rows(store, events.c.ord, events.c.type, events.c.data)
    assert (ord, type) == (1, "blur" + "x" * 36)
    assert data == {"at": "a number out of range", "why": "z" * 10_000 + "… (20000 characters)", "n": 3}


def test_a_preview_says_so_on_every_page(shared_url):
    store = open_store(small_study(title="A preview"), shared_url, preview=True)
    token = store.enter()
    assert store.show(token).preview
    assert store.consent(token, True).preview
    assert walk_to(store, token, "test").preview
    store.close()
