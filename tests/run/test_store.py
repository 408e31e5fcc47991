"""Outcomes are kept whole, or not at all."""

from __future__ import annotations

import pytest

from real_parts import LONG
from verax.errors import VeraxError
from verax.run import Job, Outcome, Store, execute

KEY = "ab" + "0" * 62
OUTCOME = Outcome(KEY, "a job", {"recall": [0.1, 1]}, None, 0.25, 1 << 20, "process 1")


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "run")


def test_what_is_put_is_got_from_a_file_of_its_own(store, tmp_path):
    assert store.get(KEY) is None
    store.put(OUTCOME)
    assert Store(tmp_path / "run").get(KEY) == OUTCOME
    assert [path.name for path in (tmp_path / "run" / "jobs" / "ab").iterdir()] == [f"{KEY}.json"]


def test_failures_are_kept_with_their_traceback(store):
    failed = Outcome(KEY, "a job", None, "ValueError: no", 0.0, 0, "here", "Traceback ...\n  line\n")
    store.put(OUTCOME)
    store.put(failed)
    assert store.get(KEY) == failed


def test_file_cut_off_anywhere_counts_as_absent(store):
    store.put(OUTCOME)
    path = store.path(KEY)
    whole = path.read_bytes()
    for length in range(len(whole) - 1):  # the last byte is the end of the line
        path.write_bytes(whole[:length])
        assert store.get(KEY) is None
    store.put(OUTCOME)
    assert store.get(KEY) == OUTCOME


def test_file_with_any_byte_changed_counts_as_absent(store):
    store.put(OUTCOME)
    path = store.path(KEY)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert store.get(KEY) is None


def test_outcome_under_another_key_counts_as_absent(store):
    store.put(OUTCOME)
    other = "ab" + "1" * 62
    store.path(KEY).rename(store.path(other))
    assert store.get(other) is None


def test_second_run_in_the_folder_is_kept_out_until_the_first_has_ended(store, tmp_path):
    job = Job("a job", "run.sample_jobs:add", {"x": 1, "y": 2})
    with (
        store.lock(),
        pytest.raises(VeraxError, match=r"Another run is at work in .*run; wait until it has ended"),
    ):
        execute([job], Store(tmp_path / "run"))
    assert execute([job], store)[0].value["sum"] == 3


def test_full_disk_is_one_sentence_and_loses_nothing_else(start, tmp_path):
    # A limit on the size of files stands for the disk's end: small results fit, the large one does not.
    script = """
import resource, sys
from verax.errors import (VeraxError)
from verax.run import (Job, Store, execute)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
jobs = [Job(str(size), "run.sample_jobs:give", {"value": "x" * size}) for size in (1, 5000, 2)]
try:
    execute(jobs, Store(sys.argv[1]))
except VeraxError as error:
    print(error)
"""
    printed, _ = start("-c", script, tmp_path, stdout=-1, text=True).communicate(timeout=LONG)
    assert printed.startswith(str(tmp_path))
    assert "could not be written (File too large); make room" in printed
    assert printed.count("\n") == 1
    small, large, rest = (Job("", "run.sample_jobs:give", {"value": "x" * size}) for size in (1, 5000, 2))
    store = Store(tmp_path)
    assert store.get(small.key).value == "x"
    assert store.get(large.key) is None
    assert list(tmp_path.rglob("*unfinished*")) == []
    assert [len(each.value) for each in execute([small, large, rest], store)] == [1, 5000, 2]
