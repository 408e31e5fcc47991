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


TEXTS = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array(["y" * 10_000]))
HIDDEN = {
    "in lists": pa.ListArray.from_arrays(pa.array([0, 500, 1000], pa.int32()), TEXTS.cast(pa.string())),
    "in records": pa.StructArray.from_arrays([TEXTS.cast(pa.string())], ["inside"]),
    "in maps": pa.MapArray.from_arrays(pa.array([0, 1000], pa.int32()), TEXTS.cast(pa.string()), TEXTS),
    "as a dictionary": TEXTS,
    "of one length": pa.array([b"z" * 10_000] * 1000, pa.binary(10_000)),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_parquet_file_of_texts_that_hide(tmp_path, name, monkeypatch):
    """Whatever a text is stored in, it counts as often as it occurs; groups of rows have dictionaries of their own."""
    monkeypatch.setattr(bounds, "MOST_BYTES", 40_000_000)
    path, column = tmp_path / "bomb.parquet", HIDDEN[name]
    part = pa.table({"text": column, "label": pa.array([0, 1] * len(column))[: len(column)]})
    with pq.ParquetWriter(path, part.schema, compression="zstd") as writer:
        for _ in range(6):
            writer.write_table(part)
    assert path.stat().st_size < 50_000
    refused(path, "^[^ ]* unpacks to more than 0.04 GB; give a smaller file")


def test_a_parquet_file_of_a_number_that_is_an_object_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(bounds, "MOST_BYTES", 40_000_000)
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": pa.array([0.5] * 1_000_000), "label": pa.array([0, 1] * 500_000)}), path)
    refused(path, "unpacks to more than", label="label")


def test_cells_that_are_made_of_nothing(tmp_path, monkeypatch):
    """Empty cells between commas, lines of JSON with a column each, and lists of nothing."""
    monkeypatch.setattr(bounds, "MOST_BYTES", 20_000_000)
    commas, sparse, lists = (tmp_path / name for name in ("a.csv.gz", "b.jsonl", "c.jsonl.gz"))
    with gzip.open(commas, "wt", compresslevel=1) as file:
        file.write(",".join([*(f"c{number}" for number in range(999)), "label"]) + "\n")
        file.writelines(["," * 999 + "1\n"] * 5_000)
    sparse.write_text("".join(f'{{"c{number}": 1, "label": 1}}\n' for number in range(3_000)))
    with gzip.open(lists, "wt", compresslevel=1) as file:
        file.writelines(['{"label": 1, "text": [' + ",".join(["[]"] * 10_000) + "]}\n"] * 60)
    for path in (commas, sparse, lists):
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
    words = pa.array([text.split() for text in texts])
    table = pa.table(
        {"text": texts, "label": pa.array(["no", "yes"] * 10).dictionary_encode(), "words": words}
    )
    pq.write_table(table, tmp_path / "small.parquet", row_group_size=3)
    data = load_dataset(tmp_path / "small.parquet")
    assert sorted([*data.train.inputs, *data.validation.inputs, *data.test.inputs]) == sorted(texts)


DEEP = "[" * 200_000


def test_json_that_is_too_deep_is_a_sentence_wherever_it_is_read(tmp_path):
    from verax.explain.precomputed import _read as stored_explanations
    from verax.models.neural.saving import load_model
    from verax.reporting.joint.evaluations import read_folder
    from verax.run.jobs import Store
    from verax.run.manifest import check_manifest, is_whole
    from verax.studies.definition.study_files import frozen, read_study

    for name in ("summary.json", "manifest.json", "freeze.json", "model.json", "explanations.jsonl"):
        (tmp_path / name).write_text(DEEP)
    for read in (read_folder, read_study, frozen, load_model, lambda folder: check_manifest(folder, {})):
        with pytest.raises(VeraxError, match="recursion"):
            read(tmp_path)
    with pytest.raises(VeraxError, match=r"Line 1 of .* recursion"):
        stored_explanations(str(tmp_path / "explanations.jsonl"), 0.0)
    # What is kept for later is made anew.
    (tmp_path / "jobs" / "ab").mkdir(parents=True)
    (tmp_path / "jobs" / "ab" / "ab.json").write_text(DEEP)
    assert Store(tmp_path).get("ab") is None
    (tmp_path / "sha256.json").write_text(DEEP)
    assert not is_whole(tmp_path)
