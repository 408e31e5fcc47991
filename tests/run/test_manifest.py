"""A run folder knows what was asked, and refuses another question."""

from __future__ import annotations

import getpass
import json
import platform
from datetime import datetime

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.run import check_manifest, finish_manifest, library_versions, start_manifest
from verax.run.canonical import write_json
from verax.run.manifest import verify

SPEC = {"models": ["forest", "mlp"], "stains": 20, "rule": {"size": 2}}


def test_manifest_says_what_was_asked_with_what_and_when(tmp_path):
    start_manifest(tmp_path / "run", SPEC, {"reviews": "ab12"}, seeds=[1, 2])
    finish_manifest(tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["spec"] == SPEC
    assert manifest["hashes"] == {"reviews": "ab12"}
    assert manifest["seeds"] == [1, 2]
    assert manifest["versions"]["numpy"] == np.__version__
    assert manifest["versions"]["python"] == platform.python_version()
    assert manifest["machine"]["processors"] >= 1
    assert datetime.fromisoformat(manifest["started"]) <= datetime.fromisoformat(manifest["finished"])
    assert manifest["continued"] == []


def test_manifest_names_neither_the_machine_nor_its_user(tmp_path):
    manifest = start_manifest(tmp_path, SPEC)
    values = [str(value) for part in ("machine", "versions") for value in manifest[part].values()]
    assert platform.node() not in values
    assert getpass.getuser() not in values


def test_library_that_is_not_installed_has_no_version():
    assert library_versions()["python"] == platform.python_version()
    assert all(version is None or version[0].isdigit() for version in library_versions().values())


def test_run_that_goes_on_keeps_its_start_and_notes_the_continuation(tmp_path):
    first = start_manifest(tmp_path, SPEC)
    again = start_manifest(tmp_path, {"stains": 20, "rule": {"size": 2}, "models": ("forest", "mlp")})
    assert again["started"] == first["started"]
    assert [each["versions"] for each in again["continued"]] == [first["versions"]]
    assert again["finished"] is None
    assert len(start_manifest(tmp_path, SPEC)["continued"]) == 2


def test_finished_run_that_is_asked_again_is_not_continued(tmp_path):
    start_manifest(tmp_path, SPEC)
    finished = finish_manifest(tmp_path)
    start_manifest(tmp_path, SPEC)
    again = finish_manifest(tmp_path)
    assert again | {"finished": ""} == finished | {"finished": ""}


@pytest.mark.parametrize(
    ("spec", "hashes", "sentence"),
    [
        (
            SPEC | {"stains": 50},
            {},
            r"holds another run: spec.stains is 20 there and 50 here; choose another --out",
        ),
        (SPEC | {"models": ["forest", "nb"]}, {}, r'spec.models\[1\] is "mlp" there and "nb" here'),
        (SPEC | {"models": ["mlp"]}, {}, r'spec.models is \["forest", "mlp"\] there and \["mlp"\] here'),
        (SPEC | {"rule": {"size": 2.0}}, {}, r"spec.rule.size is 2 there and 2.0 here"),
        (SPEC | {"new": True}, {}, r"spec.new is null there and true here"),
        (SPEC, {"reviews": "cd"}, r'hashes.reviews is null there and "cd" here'),
        (SPEC | {"stains": 5, "new": 1}, {}, r"spec.new is null there and 1 here \(and 1 more\)"),
    ],
)
def test_folder_of_another_run_is_refused_with_what_differs(tmp_path, spec, hashes, sentence):
    start_manifest(tmp_path, SPEC)
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(VeraxError, match=sentence):
        start_manifest(tmp_path, spec, hashes)
    assert (tmp_path / "manifest.json").read_bytes() == before


def test_folder_without_manifest_holds_no_run(tmp_path):
    assert check_manifest(tmp_path / "absent", SPEC) is None
    with pytest.raises(VeraxError, match=r"has no manifest\.json"):
        finish_manifest(tmp_path)


@pytest.mark.parametrize(("text", "sentence"), [("{", "cannot be read"), ("[]", "is no manifest of a run")])
def test_manifest_that_is_none_is_named(tmp_path, text, sentence):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(VeraxError, match=f"manifest.json {sentence}"):
        check_manifest(tmp_path, SPEC)


def test_a_manifest_says_its_version_and_a_later_one_is_refused(tmp_path):
    manifest = start_manifest(tmp_path, SPEC)
    assert manifest["format"] == 1
    of_the_last_state = {name: value for name, value in manifest.items() if name != "format"}
    write_json(tmp_path / "manifest.json", of_the_last_state)
    assert check_manifest(tmp_path, SPEC) == of_the_last_state
    write_json(tmp_path / "manifest.json", manifest | {"format": 2})
    for read in (lambda: check_manifest(tmp_path, SPEC), lambda: verify(tmp_path)):
        with pytest.raises(
            VeraxError, match=r"manifest\.json has format 2, and this version of Verax reads 1"
        ):
            read()
