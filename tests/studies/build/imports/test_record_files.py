"""Files that somebody sent, read within bounds."""

from __future__ import annotations

import gzip
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook

from verax.errors import VeraxError
from verax.studies.build.imports import records
from verax.studies.build.imports.imported_study import parse_scores
from verax.studies.build.imports.records import read_table


def workbook(path, cells: dict[str, object]) -> None:
    book = Workbook()
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)


def test_a_workbook_that_unpacks_to_hundreds_of_megabytes_is_a_sentence(tmp_path):
    path = tmp_path / "items.xlsx"
    workbook(path, {"A1": "text", "A2": "fine"})
    with ZipFile(path, "a", ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/picture.bin", b"\0" * 300_000_000)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(VeraxError, match="unpacks to more than 100 MB"):
        read_table(path)


def test_a_packed_file_of_hundreds_of_megabytes_is_a_sentence(tmp_path):
    path = tmp_path / "items.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"text,label\n")
        for _ in range(300):
            file.write(b"x" * 1_000_000)
    with pytest.raises(VeraxError, match="unpacks to more than 100 MB"):
        read_table(path)


def test_a_plain_file_that_is_too_large_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MOST_BYTES", 100)
    (tmp_path / "items.csv").write_text("text\n" + "x" * 200)
    with pytest.raises(VeraxError, match="unpacks to more than"):
        read_table(tmp_path / "items.csv")


def test_a_cell_at_the_far_end_of_a_sheet_is_a_sentence(tmp_path):
    path = tmp_path / "items.xlsx"
    workbook(path, {"A1": "text", "A2": "fine", "XFD1048576": "far"})
    with pytest.raises(VeraxError, match="reaches to row 1,048,576 and column 16,384"):
        read_table(path)


def test_a_small_workbook_of_millions_of_cells_is_a_sentence(tmp_path):
    path = tmp_path / "items.xlsx"
    workbook(path, {"A1": "text", "A2": "fine"})
    with ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    head, end = parts[sheet].split(b"</sheetData>")
    parts[sheet] = head + b"<row>" + b"<c/>" * 2_000_000 + b"</row></sheetData>" + end
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert path.stat().st_size < 100_000
    with pytest.raises(VeraxError, match="has more cells and rows than a study could have items for"):
        read_table(path)


@pytest.mark.parametrize(
    "read",
    [
        lambda: records.from_json("[" * 100_000, "probabilities"),
        lambda: records.class_number("9" * 5000, ["a", "b"], "label"),
        lambda: records.class_number("\N{SUPERSCRIPT TWO}", ["a", "b"], "label"),
        lambda: records.whole_number("9" * 5000, "group"),
        lambda: records.probabilities(f"[{'9' * 400}, 1]", ["a", "b"], "p"),
        lambda: records.probabilities(f"[-{'9' * 400}, 1]", ["a", "b"], "p"),
        lambda: records.probabilities("[NaN, 1]", ["a", "b"], "p"),
        lambda: parse_scores('[["a", ' + "[" * 100_000),
        lambda: parse_scores(f'[["a", {"9" * 400}]]'),
        lambda: parse_scores('[["a", NaN]]'),
        lambda: parse_scores('[["a", -Infinity]]'),
    ],
)
def test_a_cell_that_is_too_deep_too_long_or_no_number_is_a_sentence(read):
    with pytest.raises(VeraxError) as told:
        read()
    assert len(str(told.value)) < 250


def test_what_is_no_zip_or_gzip_is_still_named_by_who_reads_it(tmp_path):
    (tmp_path / "items.xlsx").write_bytes(b"no zip")
    with pytest.raises(VeraxError, match="cannot be read as a workbook"):
        read_table(tmp_path / "items.xlsx")
