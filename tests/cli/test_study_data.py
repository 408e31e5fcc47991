"""``verax study status`` and ``verax study export`` as a person types them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest
from sqlalchemy import text

from real_parts import LONG
from small_study import begin, do_step, finish, small_study
from verax.errors import VeraxError
from verax.studies.definition.study_files import save_study
from verax.studies.store import open_store
from verax.studies.store.people import acted
from verax.web.serve import default_database
from verax.workflows.analysis import answers


@pytest.fixture
def store(folder):
    """A small study in the folder "study": one who completed it, one in the middle."""
    study = save_study(small_study(retention_days=30), folder / "study")
    with closing(open_store(study, default_database(folder / "study"))) as store:
        finish(store, begin(store))
        do_step(store, begin(store))
        yield store


class TestStatus:
    def test_says_who_is_where(self, store, verax):
        done = verax("study", "status", "study")
        assert (done.status, done.err) == (0, "")
        lines = [line.split() for line in done.out.splitlines()]
        assert lines[0] == ["A", "small", "study"]
        assert done.out.splitlines()[1].startswith(f"open, not frozen, hash {store.study.hash[:12]}")
        assert ["people", "2", "0", "0", "0", "1", "0", "0", "0", "0", "1"] in lines
        # Neither the row nor how many pages there are, which would tell the condition while the study is open.
        assert re.search(r"active screening 2 (?!of)", " ".join(done.out.split()))
        assert done.out.endswith("Answers are kept for 30 days; none is due.\n")

    def test_as_json_it_says_everything(self, store, verax):
        done = verax("study", "status", "study", "--json")
        said = json.loads(done.out)
        assert said["people"]["counts"] == {"active": 1, "complete": 1}
        assert [row["target"] for row in said["people"]["rows"]] == [2, 2]
        assert len(said["last"]) == 2

    def test_of_a_study_that_was_never_served(self, folder, verax):
        save_study(small_study(), folder / "study")
        done = verax("study", "status", "study")
        assert done.status == 2
        assert "There are no answers yet" in done.err
        assert not list((folder / "study").glob("answers*"))

    def test_a_database_that_fails_in_the_middle_is_a_sentence(self, store, folder):
        broken = text("SELECT gone")
        with (
            pytest.raises(VeraxError, match=r"answers.sqlite' did not answer \(no such column: gone\)"),
            answers(folder / "study", None) as opened,
        ):
            opened.database.read(lambda connection: connection.execute(broken))

    def test_json_is_not_watched(self, store, verax):
        done = verax("study", "status", "study", "--json", "--watch")
        assert (done.status, done.err.strip()) == (2, "Error: Give --json or --watch, not both.")

    def test_watching_goes_on_until_interrupted(self, store, folder):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        with (folder / "said").open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "verax.cli.main", "study", "status", "study", "--watch"],
                stdout=said,
                stderr=subprocess.STDOUT,
                env=environment,
            )
            try:
                end = time.monotonic() + LONG
                while time.monotonic() < end and process.poll() is None:
                    opened = os.listdir(f"/proc/{process.pid}/fd")
                    if any("answers.sqlite" in _target(process.pid, one) for one in opened):
                        break
                    time.sleep(0.1)
                assert process.poll() is None
                process.send_signal(signal.SIGINT)
                assert process.wait(LONG) in (0, 130)
                assert "Traceback" not in (folder / "said").read_text()
            finally:
                process.kill()


def _target(pid, descriptor):
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        return ""


class TestExport:
    def test_is_anonymous_and_noted(self, store, folder, verax):
        done = verax("study", "export", "study", "--out", "out", "--file-formats", "csv, parquet")
        assert (done.status, done.err) == (0, "")
        assert done.out.endswith("The export is anonymous. It is in out.\n")
        assert len(list((folder / "out").iterdir())) == 13
        assert "Out of curiosity" not in (folder / "out" / "responses.csv").read_text()
        [action] = store.read(acted, 5)
        assert (action.by, action.type) == ("command line", "export")
        assert (action.data["rows"]["participants"], action.data["identifying"]) == (2, False)

    @pytest.mark.parametrize(
        ("flags", "said"),
        [
            (["--free-text"], "what people wrote may say who they are"),
            (["--identifying"], "NOT anonymous: it has identifying columns."),
            (
                ["--identifying", "--free-text"],
                "NOT anonymous: it has identifying columns and what people wrote.",
            ),
        ],
    )
    def test_says_what_is_not_anonymous(self, store, folder, verax, flags, said):
        done = verax("study", "export", "study", "--out", "out", *flags)
        assert said in done.out
        text = (folder / "out" / "participants.csv").read_text() + (
            folder / "out" / "responses.csv"
        ).read_text()
        assert ("Out of curiosity" in text) == ("--free-text" in flags)
        assert ("completion_code" in text) == ("--identifying" in flags)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (
                ["study", "--out", "out", "--file-formats", "xlsx"],
                "file_formats.0 must be 'csv', 'jsonl' or",
            ),
            (["study", "--out", "."], "holds what no export wrote"),
            (["nothing", "--out", "out"], "has no manifest.json"),
            (["study", "--out", "out", "--database", "sqlite:///no.sqlite"], "There are no answers yet"),
        ],
    )
    def test_what_cannot_be_is_one_sentence(self, store, verax, arguments, said):
        done = verax("study", "export", *arguments)
        assert (done.status, done.out) == (2, "")
        assert said in done.err
        assert done.err.count("\n") == 1


def test_the_log_of_actions_can_be_exported(store, verax):
    store.set_state("paused", by="anna")
    store.set_state("open")
    done = json.loads(verax("study", "actions", "study", "--json").out)["actions"]
    assert [(one["by"], one["what"]) for one in done] == [("anna", "paused"), ("command line", "open")]
    lines = verax("study", "actions", "study").out.splitlines()
    assert lines[0].endswith("  anna  paused")
    assert len(lines) == 2


def test_ids_are_signed_for_a_study_that_asks_for_it(folder, verax):
    (folder / "ids.txt").write_text("anna\nben\n")
    save_study(small_study(entry="prolific", recruiting={"signed": True}), folder / "signed")
    lines = verax("study", "links", "signed", "--ids", "ids.txt").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["anna", "ben"]
    assert lines[0].split("\t")[1].startswith("PROLIFIC_PID=anna&signature=")
    assert len({line.rpartition("=")[2] for line in lines}) == 2
    save_study(small_study(title="Open"), folder / "open")
    assert "are not signed" in verax("study", "links", "open", "--ids", "ids.txt").err
