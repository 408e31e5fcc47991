"""Files that somebody sent, read within bounds."""

from __future__ import annotations

import gzip
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook

from verax.errors import VeraxError
from verax.studies.build.imports import records
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


def test_what_is_no_zip_or_gzip_is_still_named_by_who_reads_it(tmp_path):
    (tmp_path / "items.xlsx").write_bytes(b"no zip")
    with pytest.raises(VeraxError, match="cannot be read as a workbook"):
        read_table(tmp_path / "items.xlsx")
