"""Backups that open with their passphrase alone."""

from __future__ import annotations

import shutil
from contextlib import closing

import pytest

from real_parts import missing
from small_study import begin, finish, small_study
from store_tools import rows
from verax.errors import VeraxError
from verax.studies.store import open_store
from verax.studies.store.database.backup import backup, restore
from verax.studies.store.tables import responses

STUDY = small_study(rows=1, target=10)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with answers, a passphrase and an encrypted backup."""
    if shutil.which("gpg") is None:
        missing("The program gpg is not installed: apt install gpg.")
    folder = tmp_path_factory.mktemp("encrypted")
    (folder / "secret").write_text("correct horse battery\n")
    with closing(open_store(STUDY, f"sqlite:///{folder / 'answers.sqlite'}")) as store:
        finish(store, begin(store))
        stored = len(rows(store, responses.c.step_id))
    kept = backup(
        f"sqlite:///{folder / 'answers.sqlite'}",
        folder / "kept.gpg",
        study=STUDY,
        passphrase=folder / "secret",
    )
    assert kept.rows["response"] == stored > 0
    return folder


def test_nothing_of_it_can_be_read_and_its_passphrase_opens_it(made, tmp_path):
    content = (made / "kept.gpg").read_bytes()
    assert b"SQLite" not in content
    assert b"CREATE TABLE" not in content
    assert (made / "kept.gpg").stat().st_mode & 0o077 == 0
    # No plain copy is left beside it.
    assert {file.stem for file in made.iterdir()} == {"answers", "kept", "secret"}
    url = f"sqlite:///{tmp_path / 'back.sqlite'}"
    back = restore(STUDY, made / "kept.gpg", url, passphrase=made / "secret")
    with closing(open_store(STUDY, url)) as store:
        assert len(rows(store, responses.c.step_id)) == back.rows["response"] > 0


def test_a_wrong_passphrase_or_none_opens_nothing(made, tmp_path):
    (tmp_path / "wrong").write_text("battery staple\n")
    url = f"sqlite:///{tmp_path / 'back.sqlite'}"
    with pytest.raises(VeraxError, match="check that the passphrase is the right one"):
        restore(STUDY, made / "kept.gpg", url, passphrase=tmp_path / "wrong")
    with pytest.raises(VeraxError, match="--passphrase-file"):
        restore(STUDY, made / "kept.gpg", url)
    assert not (tmp_path / "back.sqlite").exists()


def test_a_changed_byte_is_found(made, tmp_path):
    content = bytearray((made / "kept.gpg").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "changed.gpg").write_bytes(content)
    url = f"sqlite:///{tmp_path / 'back.sqlite'}"
    with pytest.raises(VeraxError, match="the file is whole"):
        restore(STUDY, tmp_path / "changed.gpg", url, passphrase=made / "secret")
    assert not (tmp_path / "back.sqlite").exists()


@pytest.mark.parametrize("content", [None, "", "\nsecond line\n"])
def test_a_file_without_a_passphrase_is_a_sentence(tmp_path, content):
    if content is not None:
        (tmp_path / "secret").write_text(content)
    with pytest.raises(VeraxError, match="passphrase"):
        backup("sqlite:///nowhere.sqlite", tmp_path / "x.gpg", passphrase=tmp_path / "secret")
