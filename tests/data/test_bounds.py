"""Files that are small on the disk and large in memory are refused in a sentence, before they are unpacked."""

from __future__ import annotations

import gzip
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from verax.data import load_dataset
from verax.data import reading as bounds
from verax.errors import VeraxError


def refused(path, words: str, **options) -> None:
    """Loading it is refused in one sentence, and takes less memory than the limit."""
    tracemalloc.start()
    pool = pa.default_memory_pool()
    most_before = pool.max_memory()
    try:
        with pytest.raises(VeraxError, match=words) as error:
            load_dataset(path, **options)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
        assert pool.max_memory() <= max(most_before, 300_000_000)
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_parquet_file_of_one_long_text_a_million_times(tmp_path, dictionary):
    """7 GB from some hundred kilobytes, as a dictionary or as compressed pages."""
    path = tmp_path / "bomb.parquet"
    rows, length = (70_000, 100_000) if dictionary else (1100, 1_000_000)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 100), pa.array(["x" * length]))
    schema = pa.schema([("text", pa.string()), ("label", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=dictionary) as writer:
        for _ in range(rows // 100):
            labels = pa.array([0, 1] * 50, pa.int8())
            writer.write_table(pa.table({"text": texts.cast(pa.string()), "label": labels}, schema=schema))
    assert path.stat().st_size < 3_000_000
    refused(path, "unpacks to more than 1 GB")


def test_a_parquet_file_of_a_number_a_thousand_million_times(tmp_path, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_BYTES", 8_000_000)
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": pa.array([7] * 2_000_000), "label": pa.array([0, 1] * 1_000_000)}), path)
    assert path.stat().st_size < 1_000_000
    refused(path, "unpacks to more than", label="label")


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.jsonl.gz"])
def test_a_gzip_file_of_nothing_but_blanks(tmp_path, name, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_BYTES", 20_000_000)
    path = tmp_path / name
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b" " * 1_000_000)
    refused(path, "unpacks to more than")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_table_of_200_000_columns(tmp_path, suffix):
    path = tmp_path / f"wide.{suffix}"
    names = [f"c{number}" for number in range(200_000)]
    if suffix == "csv":
        path.write_text(",".join([*names, "label"]) + "\n" + "1," * 200_000 + "yes\n")
    elif suffix == "jsonl":
        path.write_text("{" + ",".join(f'"{name}":1' for name in names) + ',"label":1}\n')
    else:
        pq.write_table(pa.table({name: [1, 2] for name in names[:25_000]}), path)
    refused(path, r"has (200,001|25,000) columns, and at most 20,000 are read", label="label")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a":' * 100_000, '{"text": ' + "9" * 5000 + "}"])
def test_lines_of_json_that_are_too_deep_or_too_long(tmp_path, line):
    path = tmp_path / "deep.jsonl"
    path.write_text('{"text": "good", "label": 1}\n' + line + "\n")
    refused(path, "Line 2 of .* is JSON that is too deep, or has a number that is too long")


def test_files_of_the_usual_size_pass(tmp_path):
    texts = [f"a good film number {number}" for number in range(20)]
    table = pa.table({"text": texts, "label": pa.array(["no", "yes"] * 10).dictionary_encode()})
    pq.write_table(table, tmp_path / "small.parquet")
    data = load_dataset(tmp_path / "small.parquet")
    assert sorted([*data.train.inputs, *data.validation.inputs, *data.test.inputs]) == sorted(texts)
