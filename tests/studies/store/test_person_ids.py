"""Keyed hashes of people, and the file of the key."""

from __future__ import annotations

import hashlib
import hmac
import stat

import pytest

from small_study import small_study
from store_tools import run_together
from verax.errors import VeraxError
from verax.studies.store.identifiers import known_person, person_key, platform_key

KEY = bytes(range(32))


def test_the_hash_is_an_hmac_of_study_platform_and_id_each_with_its_length():
    made = known_person(KEY, "abc", "prolific", "5f3c")
    message = b"6:person3:abc8:prolific4:5f3c"
    assert made.hash == hmac.new(KEY, message, hashlib.sha256).hexdigest()


def test_the_same_id_is_the_same_person_and_anything_else_is_somebody_else():
    one = known_person(KEY, "abc", "prolific", "5f3c")
    assert known_person(KEY, "abc", "prolific", "5f3c") == one
    others = [
        known_person(bytes(32), "abc", "prolific", "5f3c"),
        known_person(KEY, "abd", "prolific", "5f3c"),
        known_person(KEY, "abc", "mturk", "5f3c"),
        known_person(KEY, "abc", "prolific", "5f3d"),
    ]
    assert len({person.hash for person in [one, *others]}) == 5
    assert len({person.token for person in [one, *others]}) == 5
    assert len(one.token) == 32


def test_the_token_cannot_be_read_off_the_hash():
    made = known_person(KEY, "abc", "prolific", "5f3c")
    message = b"5:token3:abc8:prolific4:5f3c"
    assert made.token.encode() not in made.hash.encode()
    assert hmac.new(KEY, message, hashlib.sha256).digest()[:4].hex() != made.hash[:8]


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    made = person_key(tmp_path)
    assert len(made) == 32
    assert person_key(tmp_path) == made
    assert stat.S_IMODE((tmp_path / "person.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["person.key"]


def test_eight_that_make_the_key_at_once_have_the_same(tmp_path):
    for trial in range(10):
        folder = tmp_path / str(trial)
        folder.mkdir()
        assert len(set(run_together(lambda _, folder=folder: person_key(folder), range(8)))) == 1
        assert [path.name for path in folder.iterdir()] == ["person.key"]


@pytest.mark.parametrize(
    ("content", "sentence"), [("no key", "is no key"), ("abcd", "it has 2 bytes, not 32")]
)
def test_what_is_no_key_is_a_sentence(tmp_path, content, sentence):
    (tmp_path / "person.key").write_text(content)
    with pytest.raises(VeraxError, match=sentence):
        person_key(tmp_path)
    with pytest.raises(VeraxError, match="cannot be read or made"):
        person_key(tmp_path / "nowhere")


def test_only_studies_of_platforms_have_a_key(tmp_path):
    assert platform_key(small_study(), tmp_path) is None
    assert platform_key(small_study(entry="code"), tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    assert platform_key(small_study(entry="prolific"), tmp_path) == person_key(tmp_path)
