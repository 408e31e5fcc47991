"""Files whose bytes changed are found: in caches, which are then not used, and in results, which is then said."""

from __future__ import annotations

import json
import random

import pytest

from verax.errors import VeraxError
from verax.run.canonical import write_json
from verax.run.jobs import Outcome, Store
from verax.run.manifest import (
    finish_manifest,
    is_whole,
    note_page,
    note_results,
    read_checked,
    seal,
    start_manifest,
    verify,
    write_checked,
)

NAMES = ("summary.json", "results.parquet")


@pytest.fixture
def run(tmp_path):
    """A finished run with results and an outcome."""
    start_manifest(tmp_path, {"models": ["tree"]})
    for name in NAMES:
        (tmp_path / name).write_bytes(random.Random(name).randbytes(200))
    key = "ab" * 32
    Store(tmp_path).put(Outcome(key, "a job", {"score": 0.5}, None, 1.0, 0, "here"))
    finish_manifest(tmp_path)
    note_results(tmp_path, NAMES)
    return tmp_path


def test_what_was_not_touched_is_verified(run):
    found = verify(run)
    assert (found.files, found.problems, found.unsaid) == (3, (), False)


@pytest.mark.parametrize("name", NAMES)
def test_a_single_flipped_bit_is_found(run, name):
    content = bytearray((run / name).read_bytes())
    for place in (0, 57, len(content) - 1):
        changed = bytearray(content)
        changed[place] ^= 1
        (run / name).write_bytes(changed)
        assert verify(run).problems == (f"{name} was changed after it was written",)
    (run / name).unlink()
    assert verify(run).problems == (f"{name} is missing",)


def test_an_outcome_that_was_edited_is_found(run):
    [path] = (run / "jobs").glob("*/*.json")
    path.write_text(path.read_text().replace("0.5", "0.9"))
    assert verify(run).problems == ("the outcome abababababab is not what the run stored",)
    assert verify(run, jobs=False).problems == ()


def test_the_report_and_its_tables_are_results_too(run):
    pages = [run / "report.html", run / "tables" / "overall.md"]
    for path in pages:
        path.parent.mkdir(exist_ok=True)
        path.write_text("0.9 [0.8, 1.0]")
    note_page(run, pages)
    assert (verify(run).files, verify(run).problems) == (5, ())
    for path in pages:
        path.write_text("0.7 [0.6, 0.8]")
    changed = "was changed after it was written"
    assert verify(run).problems == (f"report.html {changed}", f"tables/overall.md {changed}")
    # Going on, or writing results again, forgets nothing of a page that stands there; writing it again does.
    start_manifest(run, {"models": ["tree"]})
    note_results(run, NAMES)
    assert len(verify(run).problems) == 2
    note_page(run, pages)
    assert verify(run).problems == ()
    note_page(run / "jobs", [run / "jobs" / "x"])  # a folder without a manifest
    assert not (run / "jobs" / "manifest.json").exists()


def test_a_run_that_goes_on_has_no_results_until_it_ends(run):
    start_manifest(run, {"models": ["tree"]})
    (run / "summary.json").write_text("half")
    assert verify(run).unsaid
    note_results(run, NAMES)
    assert verify(run).problems == ()


def test_a_manifest_that_names_files_elsewhere_reads_none_of_them(run):
    manifest = json.loads((run / "manifest.json").read_text())
    for elsewhere in ("../../etc/passwd", "/etc/passwd"):
        write_json(run / "manifest.json", manifest | {key: {elsewhere: "0"} for key in ("results", "page")})
        assert verify(run).unsaid
        assert not verify(run).problems


@pytest.mark.parametrize("content", [None, b"", b"[]", b"[" * 100_000, b"\xff"])
def test_a_folder_without_a_manifest_is_a_sentence(tmp_path, content):
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(VeraxError):
        verify(tmp_path)


def test_a_sealed_folder_is_whole_until_anything_changes(tmp_path):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    assert not is_whole(tmp_path)
    seal(tmp_path)
    assert is_whole(tmp_path)
    (tmp_path / "b").write_text("3")
    assert not is_whole(tmp_path)
    (tmp_path / "b").write_text("2")
    (tmp_path / "c").write_text("more")
    assert not is_whole(tmp_path)
    (tmp_path / "c").unlink()
    (tmp_path / "a").unlink()
    assert not is_whole(tmp_path)


def test_a_checked_file_is_read_as_it_was_written_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    assert read_checked(path) is None
    for content in (b"", b"x", random.Random(0).randbytes(300)):
        write_checked(path, content)
        assert read_checked(path) == content
        written = path.read_bytes()
        for place in range(len(written)):
            path.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
            assert read_checked(path) is None
        path.write_bytes(written[:-1])
        assert read_checked(path) is None
