"""Answers for analysis: the same from a database and from any export of it; edited exports are refused."""

from __future__ import annotations

import csv
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from answering import finish, forward, small
from small_study import Clock, begin
from verax.errors import VeraxError
from verax.studies.answers.collect import collect, collect_export
from verax.studies.answers.export import FORMATS, export_study
from verax.studies.store import open_store

TABLES = ("participants", "responses", "exclusions")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two who finished, one of them too fast, and one who only looked."""
    clock = Clock()
    study = forward({"rule": "too-fast"})
    store = open_store(study, f"sqlite:///{tmp_path_factory.mktemp('store') / 'answers.sqlite'}", clock=clock)
    finish(store, begin(store), clock)
    finish(store, begin(store), clock, seconds=1)
    store.enter()
    yield store
    store.close()


def same(first, second):
    for table in TABLES:
        pd.testing.assert_frame_equal(getattr(first, table), getattr(second, table))


class TestFromADatabase:
    def test_exclusion_rules_are_applied_first(self, opened, clock):
        store = opened(forward({"rule": "too-fast"}))
        finish(store, begin(store), clock, seconds=1)
        collected = collect(store)
        assert collected.participants["rules"].tolist() == [["too-fast"]]
        assert collected.exclusions[["rule", "measured", "in_force"]].to_numpy().tolist() == [
            ["too-fast", 1.0, True]
        ]

    def test_texts_are_there_and_identifying_columns_are_not(self, opened, clock):
        store = opened(small())
        finish(store, begin(store), clock)
        collected = collect(store)
        said = collected.responses.set_index("question")["answer"]
        assert (said["reason"], said["strategy"]) == ("words", "words")
        assert not {"created_at", "completion_code", "person_hash"} & set(collected.participants)

    def test_types_do_not_depend_on_what_is_there(self, opened, clock):
        empty = opened(small())
        full = opened(small())
        finish(full, begin(full), clock)
        full.enter()
        for table in TABLES:
            first, second = (getattr(collect(store), table) for store in (empty, full))
            assert first.dtypes.to_dict() == second.dtypes.to_dict()

    def test_the_source_is_named(self, store):
        assert "answers.sqlite" in collect(store).source


class TestFromAnExport:
    @pytest.mark.parametrize("format", FORMATS)
    def test_it_is_what_the_database_holds(self, store, tmp_path, format):
        export_study(store, tmp_path / "out", (format,), free_text=True)
        same(collect_export(store.study, tmp_path / "out"), collect(store))

    @pytest.mark.parametrize("format", FORMATS)
    def test_of_a_study_that_nobody_answered(self, tmp_path, clock, format):
        store = open_store(small(), f"sqlite:///{tmp_path / 'answers.sqlite'}", clock=clock)
        export_study(store, tmp_path / "out", (format,))
        same(collect_export(store.study, tmp_path / "out"), collect(store))
        store.close()

    @pytest.mark.parametrize("format", FORMATS)
    def test_texts_that_spreadsheets_would_run_come_back(self, tmp_path, clock, format):
        store = open_store(small(), f"sqlite:///{tmp_path / 'answers.sqlite'}", clock=clock)
        texts = iter(["=1+1", '\'-a, "b"\nc'])
        right = {"screening-1": "2"}
        finish(
            store,
            begin(store),
            clock,
            choose=lambda question: next(texts) if question.kind == "text" else right.get(question.name, "1"),
        )
        export_study(store, tmp_path / "out", (format,), free_text=True)
        found = collect_export(store.study, tmp_path / "out").responses.set_index("question")["answer"]
        assert (found["reason"], found["strategy"]) == ("=1+1", '\'-a, "b"\nc')
        store.close()

    def test_identifying_columns_are_left_out(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",), identifying=True, free_text=True)
        same(collect_export(store.study, tmp_path / "out"), collect(store))

    def test_what_a_spreadsheet_saves_is_read(self, store, tmp_path):
        """It writes a mark at the beginning, TRUE for true, and numbers as it likes."""
        export_study(store, tmp_path / "out", ("csv",), free_text=True)
        path = tmp_path / "out" / "participants.csv"
        text = path.read_text(encoding="utf-8").replace("false", "FALSE").replace("true", "TRUE")
        path.write_text(text.replace(",complete,link,0,1,", ",complete,link,0.0,1,"), encoding="utf-8-sig")
        same(collect_export(store.study, tmp_path / "out"), collect(store))

    def test_rows_may_be_taken_out(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("jsonl",))
        path = tmp_path / "out" / "responses.jsonl"
        lines = path.read_text().splitlines()
        path.write_text("\n".join(lines[1:]) + "\n")
        assert len(collect_export(store.study, tmp_path / "out").responses) == len(lines) - 1


def edit_csv(path, row, column, value):
    """Writes a value into a cell; row 1 is the first below the names."""
    with path.open(encoding="utf-8", newline="") as file:
        cells = list(csv.reader(file))
    cells[row][cells[0].index(column)] = value
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(cells)


class TestRefused:
    @pytest.fixture
    def out(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("csv",))
        return tmp_path / "out"

    def refused(self, store, out, said):
        with pytest.raises(VeraxError, match=said) as raised:
            collect_export(store.study, out)
        assert "\n" not in str(raised.value)

    @pytest.mark.parametrize(
        ("table", "row", "column", "value", "said"),
        [
            ("responses", 2, "item", "i999", "responses .*row 2: item 'i999' is no item of the study"),
            ("responses", 3, "answer", "7", "row 3: answer '7' is no answer to its question"),
            ("responses", 1, "question", "mood", "row 1: question 'mood' is no question of the study"),
            ("responses", 4, "participant", "p0000000000", "row 4: participant 'p0000000000' has no row"),
            ("responses", 1, "phase", "warm-up", "phase 'warm-up' is not what can stand there"),
            ("responses", 1, "condition", "magic", r"condition 'magic' .*\(control, method, plain\)"),
            ("responses", 1, "state", "open", r"state 'open' .*\(closed, expired\)"),
            (
                "responses",
                1,
                "position",
                "first",
                "'position': 'first' stands where a whole number is needed",
            ),
            ("responses", 1, "position", "1.5", "'position': '1.5' stands where a whole number is needed"),
            ("responses", 1, "seconds", "inf", "'seconds': 'inf' stands where a number is needed"),
            ("responses", 1, "late", "perhaps", "'late': 'perhaps' stands where true or false is needed"),
            ("responses", 1, "step", "", "'step': nothing stands where a whole number is needed"),
            ("responses", 1, "score", "0.25", "row 1: score 0.25 is not what the answer is worth"),
            ("responses", 1, "score", "", "row 1: score that is missing is not what the answer is worth"),
            ("participants", 1, "design_row", "9", r"row 1: design_row 9 is not .*\(0, 1, 2\)"),
            ("participants", 1, "status", "bored", "row 1: status 'bored'"),
            (
                "participants",
                1,
                "rules",
                "[",
                "'rules': '\\[' stands where a list or mapping in JSON is needed",
            ),
            ("exclusions", 1, "rule", "too-slow", "exclusions .*row 1: rule 'too-slow'"),
        ],
    )
    def test_a_cell_that_no_longer_fits(self, store, out, table, row, column, value, said):
        edit_csv(out / f"{table}.csv", row, column, value)
        self.refused(store, out, said)

    def test_how_many_are_wrong_is_said(self, store, out):
        for row in (1, 2, 5):
            edit_csv(out / "responses.csv", row, "item", "i999")
        self.refused(store, out, r"row 1: .* \(2 more such rows\)")

    def test_a_participant_without_a_row(self, store, out):
        lines = (out / "participants.csv").read_text().splitlines(keepends=True)
        (out / "participants.csv").write_text("".join(lines[:1] + lines[2:]))
        self.refused(store, out, r"has no row in the table participants \(\d+ more such rows\)")

    def test_a_participant_who_is_there_twice(self, store, out):
        lines = (out / "participants.csv").read_text().splitlines(keepends=True)
        (out / "participants.csv").write_text("".join([*lines, lines[1]]))
        self.refused(store, out, "row 4: participant 'p.*' is there twice")

    def test_a_missing_column(self, store, out):
        table = pd.read_csv(out / "responses.csv", dtype=str, keep_default_na=False)
        table.drop(columns=["answer", "score"]).to_csv(out / "responses.csv", index=False)
        self.refused(store, out, r"responses.csv of .* lacks 2 of its columns \(answer, score\)")

    def test_another_study(self, store, out):
        with pytest.raises(VeraxError, match="is of another study"):
            collect_export(small(), out)

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"hash": 1, "title": 2, "files": 3}'])
    def test_a_codebook_that_is_none(self, store, out, content):
        (out / "codebook.json").write_text(content)
        self.refused(store, out, "is not the codebook of an export")

    def test_a_codebook_of_a_later_version(self, store, out):
        codebook = json.loads((out / "codebook.json").read_text())
        (out / "codebook.json").write_text(json.dumps(codebook | {"format": 2}))
        self.refused(store, out, "codebook.json has format 2, and this version of Verax reads 1")

    def test_a_folder_that_is_no_export(self, store, tmp_path):
        self.refused(store, tmp_path / "nothing", "has no codebook.json")

    def test_a_missing_file(self, store, out):
        (out / "exclusions.csv").unlink()
        self.refused(store, out, "has none of exclusions.csv, exclusions.jsonl, exclusions.parquet")

    @pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b'a,b\n1,2,3\n"'])
    def test_a_csv_file_that_is_none(self, store, out, content):
        (out / "responses.csv").write_bytes(content)
        self.refused(store, out, "responses.csv.*(cannot be read|lacks)")

    @pytest.mark.parametrize("line", ["{", "[]", "1"])
    def test_a_line_that_is_no_record(self, store, tmp_path, line):
        export_study(store, tmp_path / "out", ("jsonl",))
        path = tmp_path / "out" / "responses.jsonl"
        first, *others = path.read_text().splitlines()
        path.write_text("\n".join([first, line, *others]))
        self.refused(store, tmp_path / "out", "responses.jsonl' cannot be read .line 2")

    def test_a_record_that_lacks_a_name(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("jsonl",))
        path = tmp_path / "out" / "responses.jsonl"
        lines = path.read_text().splitlines()
        record = json.loads(lines[3])
        del record["item"]
        path.write_text("\n".join([*lines[:3], json.dumps(record), *lines[4:]]))
        self.refused(store, tmp_path / "out", r"lacks 1 of its columns \(item\)")

    def test_a_parquet_file_with_another_type(self, store, tmp_path):
        export_study(store, tmp_path / "out", ("parquet",))
        path = tmp_path / "out" / "responses.parquet"
        table = pq.read_table(path)
        place = table.schema.get_field_index("step")
        pq.write_table(table.set_column(place, "step", pa.array(["one"] * len(table))), path)
        self.refused(store, tmp_path / "out", "'step': 'one' stands where a whole number is needed")

    def test_an_edited_file_beside_others_of_the_same_table(self, store, tmp_path):
        export_study(store, tmp_path / "out", FORMATS)
        assert collect_export(store.study, tmp_path / "out").edited == ()
        edit_csv(tmp_path / "out" / "participants.csv", 1, "minutes", "3")
        self.refused(store, tmp_path / "out", "participants.csv' was changed .* in 3 formats")
