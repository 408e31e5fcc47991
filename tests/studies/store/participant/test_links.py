"""People known again in other studies: only who agrees, by a keyed hash, and deleted with the rest."""

from __future__ import annotations

from uuid import uuid4

import pytest

from small_study import small_study
from store_tools import rows
from verax.errors import VeraxError
from verax.studies.answers.flat_records import read_participants, view
from verax.studies.definition.spec import make_study_spec
from verax.studies.store import link_key, open_store
from verax.studies.store.identifiers import LINK_FILE
from verax.studies.store.tables import participants

KEY, OTHER = b"k" * 32, b"o" * 32


@pytest.fixture
def opened(tmp_path):
    """Opens studies of their own, each in its own database, with the key that is given."""
    stores = []

    def open_one(link=KEY):
        study = small_study(title=uuid4().hex, entry="prolific")
        stores.append(
            open_store(study, f"sqlite:///{tmp_path / uuid4().hex}.db", key=uuid4().bytes * 2, link=link)
        )
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


def come(store, person, *, linked, agreed=True):
    token = store.enter(platform="prolific", person=person)
    store.consent(token, agreed, linked=linked)
    return token


def links(store):
    with view(store) as seen:
        return [record["link"] for record in read_participants(seen)]


def test_who_agrees_is_the_same_in_two_studies_and_nobody_else(opened):
    first, second = opened(), opened()
    for store in (first, second):
        come(store, "ann", linked=True)
        come(store, "bob", linked=True)
    assert links(first) == links(second)
    assert len(set(links(first))) == 2
    hashes = [rows(store, participants.c.person_hash) for store in (first, second)]
    assert set(hashes[0]).isdisjoint(hashes[1])  # what tells people apart in one study links nothing
    elsewhere = opened(OTHER)
    come(elsewhere, "ann", linked=True)
    assert set(links(elsewhere)).isdisjoint(links(first))


@pytest.mark.parametrize(("linked", "agreed"), [(False, True), (False, False)])
def test_who_does_not_agree_leaves_nothing_behind(opened, linked, agreed):
    store = opened()
    come(store, "ann", linked=linked, agreed=agreed)
    assert links(store) == [None]
    assert rows(store, participants.c.link_hash) == [(None,)]


def test_before_the_consent_no_export_has_it(opened):
    store = opened()
    store.enter(platform="prolific", person="ann")
    assert links(store) == [None]


def test_it_is_deleted_with_the_rest(opened):
    store = opened()
    token = come(store, "ann", linked=True)
    store.withdraw(token, delete=True)
    assert rows(store, participants.c.link_hash) == [(None,)]


def test_studies_that_do_not_ask_have_no_key_and_those_in_one_place_have_the_same(tmp_path):
    study = small_study(entry="prolific")
    assert link_key(study, tmp_path / "one") is None
    asking = small_study(entry="prolific", recruiting={"link": True})
    keys = [link_key(asking, tmp_path / name) for name in ("one", "two")]
    assert keys[0] == keys[1]
    assert (tmp_path / LINK_FILE).stat().st_mode & 0o077 == 0


def test_only_people_of_a_platform_can_be_linked():
    given = {"title": "T", "dataset": "d", "protocol": {"name": "forward"}, "conditions": [{"name": "none"}]}
    with pytest.raises(VeraxError, match="knows people by their platform or their code"):
        make_study_spec(given | {"recruiting": {"link": True}})
    assert make_study_spec(given | {"entry": "code", "recruiting": {"link": True}}).recruiting.link


def test_people_with_codes_are_known_again_by_what_their_codes_begin_with(tmp_path):
    studies = [small_study(entry="code", recruiting={"link": True}, title=title) for title in ("One", "Two")]
    key = link_key(studies[0], tmp_path / "one")
    first, second = (open_store(study, f"sqlite:///{tmp_path}/answers.sqlite", link=key) for study in studies)
    codes = first.make_codes(3)
    again = second.make_codes(again=[f" {codes[1].lower()} "])
    assert again[0][:5] == codes[1][:5]
    assert again[0] != codes[1]
    for store, code in ((first, codes[0]), (first, codes[1]), (second, again[0])):
        token = store.enter(code=code)
        store.consent(token, agreed=True, linked=True)
    one, other = (links(store) for store in (first, second))
    assert len(set(one)) == 2
    assert set(other) <= set(one)
    with pytest.raises(VeraxError, match="'AB' is no code of a study"):
        second.make_codes(again=["AB"])
    unlinked = first.enter(code=codes[2])
    first.consent(unlinked, agreed=True, linked=False)
    assert links(first).count(None) == 1
