"""A frozen study: what is written down, and that nothing else runs under its name."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from small_study import small_study
from verax import __version__
from verax.errors import VeraxError
from verax.studies.build.build_folder import claim_folder
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study_files import (
    FREEZE,
    Frozen,
    check_frozen,
    freeze_study,
    frozen,
    load_study,
    read_study,
    save_study,
)
from verax.studies.planning.registration import registration


def noon() -> datetime:
    """Noon in a place that is two hours ahead."""
    return datetime(2030, 5, 17, 12, 0, 0, 123_456, tzinfo=timezone(timedelta(hours=2)))


def freeze(folder, **options) -> Frozen:
    return freeze_study(folder, read_study(folder), people=0, clock=noon, **options)


def changed(study, **changes):
    return replace(study, spec=make_study_spec(study.spec.model_dump(mode="json") | changes))


def test_the_hash_of_every_part_and_the_date_are_written_down(tmp_path):
    study = save_study(small_study(), tmp_path)
    made = freeze(tmp_path)
    written = json.loads((tmp_path / FREEZE).read_text())
    assert written["hash"] == study.hash
    assert written["frozen_at"] == "2030-05-17T10:00:00Z"
    assert written["verax"] == __version__
    for part, name in {"spec": "spec.toml", "items": "items.jsonl", "screens": "screens.jsonl"}.items():
        assert written["parts"][part] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert set(written["parts"]) == {"spec", "design", "items", "screens", "explanations", "analysis plan"}
    assert frozen(tmp_path) == made
    assert load_study(tmp_path).hash == study.hash


def test_the_plan_has_a_hash_of_its_own(tmp_path):
    study = small_study()
    plans = {}
    for name, other in {
        "same": changed(study, texts={"welcome": "Hello."}),
        "rule": changed(study, exclusion=[{"rule": "late"}]),
        "limit": changed(study, exclusion=[{"rule": "late", "limit": 0.2}]),
        "analysis": changed(study, analysis={"primary": "shown against none"}),
        "targets": small_study(target=3),
        "as it was": study,
    }.items():
        save_study(other, tmp_path / name)
        plans[name] = freeze(tmp_path / name).parts["analysis plan"]
    assert plans["same"] == plans["as it was"]
    assert len(set(plans.values())) == 5


def test_a_study_is_frozen_once(tmp_path):
    save_study(small_study(), tmp_path)
    freeze(tmp_path)
    with pytest.raises(VeraxError, match=r"is frozen since 2030-05-17T10:00:00Z as [0-9a-f]{12}"):
        freeze(tmp_path)


def test_a_study_that_was_built_anew_does_not_run_under_the_old_hash(tmp_path):
    before = save_study(small_study(), tmp_path)
    freeze(tmp_path)
    after = save_study(small_study(target=3), tmp_path)  # and its manifest fits
    with pytest.raises(VeraxError) as caught:
        load_study(tmp_path)
    said = str(caught.value)
    assert f"was frozen at 2030-05-17T10:00:00Z as {before.hash[:12]} and is {after.hash[:12]} now" in said
    assert "(changed: design, analysis plan)" in said
    assert "\n" not in said
    with pytest.raises(VeraxError):
        check_frozen(tmp_path, after)
    save_study(small_study(), tmp_path)
    assert load_study(tmp_path).hash == before.hash


def test_it_may_be_frozen_again_until_people_take_part(tmp_path):
    save_study(small_study(), tmp_path)
    freeze(tmp_path)
    after = save_study(small_study(target=3), tmp_path)
    with pytest.raises(VeraxError, match=r"people have agreed to take part \(1\); it cannot be frozen again"):
        freeze_study(tmp_path, after, people=1, again=True)
    freeze(tmp_path, again=True)
    assert load_study(tmp_path).hash == after.hash


@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_built_over_a_frozen_study(tmp_path, force):
    save_study(small_study(), tmp_path)
    freeze(tmp_path)
    with pytest.raises(VeraxError, match=r"is frozen since 2030.* never built over; choose another --out"):
        claim_folder(tmp_path, "another", force=force)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', "{", "\udcff"])
def test_a_freeze_that_cannot_be_read_is_a_sentence(tmp_path, text):
    save_study(small_study(), tmp_path)
    (tmp_path / FREEZE).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(VeraxError, match=r"freeze\.json' does not say what was frozen"):
        load_study(tmp_path)


def test_what_was_never_frozen_is_free(tmp_path):
    assert frozen(tmp_path) is None
    assert frozen(tmp_path / "none") is None


def test_a_registration_says_everything_that_was_planned(tmp_path):
    study = changed(
        small_study(rows=2, target=5),
        exclusion=[{"rule": "too-fast", "limit": 1.5}, {"rule": "same-answer"}],
        analysis={"primary": "right predictions,\nshown against none"},
    )
    saved = save_study(study, tmp_path)
    made = freeze(tmp_path)
    text = registration(saved, made)
    for line in (
        "A small study",
        "- none: no explanation",
        "- shown: lime",
        "Design: 2 rows, 10 participants to complete them",
        "- row 0: 5 participants; conditions: 0, 1",
        "- row 1: 5 participants; conditions: 1, 0",
        "- too-fast: people whose median time per answer to an item is below 1.5 seconds",
        "- same-answer: people who chose the answer in the same place in at least 95% of the scored answers",
        "- primary: right predictions, shown against none",
        f"Frozen           2030-05-17T10:00:00Z with Verax {__version__}",
        "People before    nobody had agreed to take part",
        f"Hash             {saved.hash}",
        f"  analysis plan  {made.parts['analysis plan']}",
    ):
        assert line in text.splitlines()
    assert text.splitlines()[2].startswith("Protocol         small_study:Small (design = 2")
    assert max(map(len, text.splitlines())) <= 100


def test_a_registration_admits_what_was_not_planned(tmp_path):
    study = save_study(small_study(), tmp_path)
    text = registration(study, replace(freeze(tmp_path), people=7))
    assert "- nobody: no rules are declared" in text
    assert "- none is declared" in text
    assert "7 had agreed to take part" in text
