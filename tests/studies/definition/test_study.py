"""The frozen folder of a study: what it holds, and that nothing in it can change unnoticed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace

import pytest

from small_study import small_study
from verax.codec import encode
from verax.errors import VeraxError
from verax.run.canonical import canonical
from verax.studies.definition.screen import Passage, Screen, Token
from verax.studies.definition.study import Item, Study, Variant
from verax.studies.definition.study_files import FROZEN, MANIFEST, load_study, save_study


def test_a_study_from_before_there_was_a_choice_stays_as_it_was(tmp_path):
    save_study(small_study(answer_order="counterbalanced", method="teaches"), tmp_path)
    about = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))
    for name in ("answer_order", "replace_excluded"):
        del about["spec"][name]
    del about["spec"]["screening"]["method"]
    older = json.dumps(about).encode()
    manifest = json.loads((tmp_path / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"]["study.json"] = hashlib.sha256(older).hexdigest()
    manifest["hash"] = hashlib.sha256(canonical(manifest["files"]).encode()).hexdigest()
    (tmp_path / "study.json").write_bytes(older)
    (tmp_path / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    spec = load_study(tmp_path).spec
    assert (spec.answer_order, spec.screening.method, spec.replace_excluded) == ("fixed", "excludes", 0)


def rich_study() -> Study:
    """The small study with everything that a folder can hold."""
    study = small_study()
    row = Item(
        id="i900",
        role="test",
        input=(("Age", "37"), ("Job", "clerk")),
        label=0,
        prediction=1,
        probabilities=(0.25, 0.75),
        dataset="people",
        part="test",
        place=4,
        group=2,
        variant=Variant((("Age", "37"), ("Job", "judge")), (1,), 0),
        worse=(0.4, 0.6),
    )
    text = replace(row, id="i901", input="a dull film", variant=Variant("a warm film", ((2, 6),), 1))
    return Study(
        **{field.name: getattr(study, field.name) for field in fields(Study)}
        | {
            "items": {**study.items, "i900": row, "i901": text},
            "explanations": ({"item": "i901", "condition": "shown", "explanation": {"scores": [0.1]}},),
            "models": {"model": {"name": "logistic", "accuracy": 0.75}},
            "data_hash": "ab" * 32,
            "spec_text": 'title = "Überprüfung"\r\n',
        }
    )


def plain(study: Study) -> dict[str, object]:
    """All fields, with what JSON turns into lists turned into lists."""
    values = {field.name: getattr(study, field.name) for field in fields(Study)}
    cells = [json.loads(json.dumps(encode(row.cells))) for row in study.rows]
    return values | {"rows": [(row.number, row.target) for row in study.rows], "cells": cells}


def test_a_study_comes_back_as_it_was_saved(tmp_path):
    saved = save_study(rich_study(), tmp_path)
    loaded = load_study(tmp_path)
    assert plain(loaded) == plain(saved)
    assert len(saved.hash) == 64
    assert {path.name for path in tmp_path.iterdir()} == {*FROZEN, MANIFEST}
    assert (tmp_path / "spec.toml").read_bytes() == 'title = "Überprüfung"\r\n'.encode()


def test_the_same_study_is_the_same_bytes_anywhere(tmp_path):
    for name in ("one", "two"):
        save_study(rich_study(), tmp_path / name)
    for name in (*FROZEN, MANIFEST):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_texts_with_half_a_character_are_kept(tmp_path):
    broken = "half \ud83d a face"
    study = replace(rich_study(), screens={"s": Screen("h", (Passage((Token(broken),)),))})
    save_study(study, tmp_path)
    assert load_study(tmp_path).screens["s"] == study.screens["s"]


@pytest.mark.parametrize("name", FROZEN)
def test_a_changed_file_is_named(tmp_path, name):
    save_study(rich_study(), tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content.replace(b"a", b"b", 1) if b"a" in content else content + b" ")
    with pytest.raises(VeraxError, match=f"^The file {name} of the study .* was changed after it was built"):
        load_study(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(VeraxError, match=r"has no manifest\.json; build a study with `verax study build"):
        load_study(tmp_path)
    save_study(rich_study(), tmp_path)
    (tmp_path / "items.jsonl").unlink()
    with pytest.raises(VeraxError, match=r"has no items\.jsonl"):
        load_study(tmp_path)


def test_manifests_that_are_none(tmp_path):
    save_study(rich_study(), tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    for changed, sentence in (
        (manifest | {"hash": "0" * 64}, "The file manifest.json of the study .* was changed"),
        (manifest | {"format": 99}, "is in format 99, and this version reads format 1"),
        ({"spec": {}}, "is not a study's folder"),
        ([], "is not a study's folder"),
    ):
        (tmp_path / MANIFEST).write_text(json.dumps(changed))
        with pytest.raises(VeraxError, match=sentence):
            load_study(tmp_path)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(VeraxError, match="is not a study's folder"):
        load_study(tmp_path)


def test_a_folder_that_is_written_over_is_no_study_until_it_is_whole(tmp_path):
    save_study(rich_study(), tmp_path)
    # A disk that is full half way: one of the files cannot be written.
    (tmp_path / "explanations.jsonl").unlink()
    (tmp_path / "explanations.jsonl").mkdir()
    with pytest.raises(VeraxError, match="could not be written"):
        save_study(small_study(title="Another"), tmp_path)
    with pytest.raises(VeraxError, match=f"has no {MANIFEST}"):
        load_study(tmp_path)
