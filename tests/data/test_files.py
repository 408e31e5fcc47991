import gzip
import json

import numpy as np
import pandas as pd
import pytest

from verax.data import Column, Schema, load_dataset
from verax.errors import VeraxError

ROWS = [
    ("A fine, fine film.", "pos"),
    ('He said "no".\nTwice.', "neg"),
    ("NA", "neg"),
    ("naïve 👍 <br /> ü", "pos"),
    ("dull", "neg"),
    ("grand", "pos"),
]


def _all(data):
    names = np.array(data.class_names)
    return sorted(
        (t, str(names[c]))
        for part in data.parts.values()
        for t, c in zip(part.inputs, part.labels, strict=True)
    )


def _csv(rows, header=("text", "label"), separator=","):
    quote = '"'
    cells = [[quote + cell.replace(quote, quote * 2) + quote for cell in row] for row in (header, *rows)]
    return "\n".join(separator.join(row) for row in cells) + "\n"


def test_csv_tsv_json_lines_and_parquet_give_the_same_dataset(write, tmp_path):
    lines = "\n".join(json.dumps({"text": text, "label": label}) for text, label in ROWS)
    pd.DataFrame(ROWS, columns=["text", "label"]).to_parquet(tmp_path / "a.parquet")
    paths = [
        write("a.csv", _csv(ROWS)),
        write("a.csv.gz", _csv(ROWS)),
        write(
            "bom.csv",
            b"\xef\xbb\xbf" + _csv(ROWS).replace("\n", "\r\n").replace("\r\nTwice", "\nTwice").encode(),
        ),
        write("a.tsv", _csv(ROWS, separator="\t")),
        write("a.jsonl", lines + "\n\n"),
        write("a.json.gz", lines),
        tmp_path / "a.parquet",
    ]
    loaded = [load_dataset(path) for path in paths]
    assert _all(loaded[0]) == sorted(ROWS)
    assert loaded[0].class_names == ("neg", "pos")
    assert {data.hash for data in loaded} == {loaded[0].hash}


def test_semicolons_between_cells_are_a_sentence(write):
    with pytest.raises(
        VeraxError, match="separated by semicolons; save it with commas, or give it as a DataFrame"
    ):
        load_dataset(write("a.csv", _csv(ROWS, separator=";")))
    assert _all(load_dataset(write("b.csv", _csv([(f"{text}; so", label) for text, label in ROWS]))))


def test_rows_in_another_order_give_the_same_dataset(write):
    one, other = write("one.csv", _csv(ROWS)), write("other.csv", _csv(ROWS[::-1]))
    assert load_dataset(one).hash == load_dataset(other).hash


def test_text_and_label_columns_are_named(write):
    path = write("a.csv", _csv([(t, c, "x") for t, c in ROWS], header=("review", "stars", "other")))
    assert _all(load_dataset(path, text="review", label="stars")) == sorted(ROWS)


def test_other_columns_stay_beside_the_texts(write):
    rows = [
        (f"text {number}", "neg" if number % 2 else "pos", f"subject {number % 3}", number)
        for number in range(30)
    ]
    header = ("text", "label", "subject", "year")
    lines = "\n".join(
        json.dumps(dict(zip(header, row, strict=True))) for row in [*rows, ("gap", "pos", None, 2.0)]
    )
    csv_file = write("a.csv", _csv([tuple(map(str, row)) for row in rows], header=header))
    for path, expected in (
        (csv_file, {row[0]: row[2:] for row in rows}),
        (write("a.jsonl", lines), {row[0]: row[2:] for row in rows} | {"gap": ("missing", 2)}),
    ):
        data = load_dataset(path)
        assert data.kind == "text"
        for part in data.parts.values():
            columns = part.columns
            assert set(columns) == {"subject", "year"}
            for text, subject, year in zip(part.inputs, columns["subject"], columns["year"], strict=True):
                assert (subject, year) == (expected[text][0], str(expected[text][1]))


def test_labels_that_are_numbers_or_true_and_false_become_class_names(write):
    lines = [{"text": f"t{i}", "label": [0, 1, 10][i % 3]} for i in range(9)]
    assert load_dataset(write("n.jsonl", "\n".join(map(json.dumps, lines)))).class_names == ("0", "1", "10")
    lines = [{"text": f"t{i}", "label": i % 2 == 0} for i in range(9)]
    assert load_dataset(write("b.jsonl", "\n".join(map(json.dumps, lines)))).class_names == ("False", "True")


def test_very_long_texts_and_lone_surrogates_survive(write):
    long = "word " * 100_000
    rows = [*ROWS, (long, "pos")]
    assert (long, "pos") in _all(load_dataset(write("long.csv", _csv(rows))))
    lines = "\n".join(json.dumps({"text": t, "label": c}) for t, c in [*ROWS, ("\ud83d", "pos")])
    assert ("\ud83d", "pos") in _all(load_dataset(write("odd.jsonl", lines)))


def test_a_table_is_all_columns_but_the_label(write):
    content = "age,job,income,rich\n30,clerk,1.5,no\n41,?,,yes\n18,sailor,2,no\n30,,NA,yes\n"
    data = load_dataset(write("t.csv", content), label="rich", split=(1, 0, 0))
    assert data.kind == "table"
    assert data.schema == Schema(
        (Column("age"), Column("job", ("?", "clerk", "sailor", "missing")), Column("income", missing=True))
    )
    rows = {tuple(row) for row in np.nan_to_num(data.train.inputs, nan=-1).tolist()}
    assert rows == {(30, 1, 1.5), (41, 0, -1), (18, 2, 2), (30, 3, -1)}
    assert data.class_names == ("no", "yes")


def test_a_tables_columns_can_be_declared(write):
    path = write("t.csv", "grade,x,label\n1,5,a\n2,6,b\n1,7,a\n")
    schema = Schema((Column("grade", ("1", "2", "3")),))
    data = load_dataset(path, schema=schema)
    assert data.schema == schema
    assert data.train.inputs.shape[1] == 1
    assert "1 column not in the schema left out" in data.notes
    with pytest.raises(VeraxError, match="Row 1 has the unseen category '2' in column 'grade'"):
        load_dataset(path, schema=Schema((Column("grade", ("1", "3")),)))


def test_a_table_without_labels_named_label_needs_it_said(write):
    path = write("t.csv", "review,label\na,x\nb,y\nc,x\n")
    with pytest.raises(
        VeraxError, match=r"no column 'text' \(it has: review, label\); name the text column with text="
    ):
        load_dataset(path)


def test_a_column_of_texts_is_not_taken_for_categories(write):
    path = write("t.csv", "review,label\n" + "".join(f"review number {i},{i % 2}\n" for i in range(300)))
    with pytest.raises(
        VeraxError, match=r"'review' of .* has 300 different values in 300 rows; if it is the text, say"
    ):
        load_dataset(path, label="label")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "txt,label\na,b\n", "has no column 'text'"),
        (
            "a.csv",
            "text,lab\na,b\n",
            "has no column 'label'; it has: text, lab. Name the right one with label=",
        ),
        ("a.csv", "text,label\na,x\nb,y,z\n", "Line 3 of .* has 3 cells but the first line names 2 columns"),
        ("a.csv", 'text,label\n"a\nb",x\nc\n', "Line 4 of .* has 1 cells"),
        ("a.csv", 'text,label\na,x\n"b,y\nc,x\n', "cannot be read from line 3 on .*; check the quotes"),
        (
            "a.csv",
            "text,label\na,x\nb,\nc,y\n",
            "The label in line 3 of .* is missing; fill in the column 'label'",
        ),
        (
            "a.csv",
            "text,label\na,x\nb,x\nc,x\n",
            "has the label 'x'; a classifier needs at least two classes",
        ),
        ("a.csv", "text,label\n,x\n ,y\n", r"0 usable inputs \(2 empty texts dropped\)"),
        ("a.csv", "text,label\n", "holds no rows"),
        ("a.csv", "", "holds no rows"),
        ("a.csv", "text,text\na,b\n", "two columns called 'text'"),
        ("a.csv", b"text,label\n\xff\xfe,x\n", "is not UTF-8 near line"),
        (
            "a.jsonl",
            '{"text": "a", "label": 1}\n{"text": \n',
            "Line 2 of .* is not JSON .* write one JSON object",
        ),
        ("a.jsonl", "[1, 2]\n", "Line 1 of .* is not a JSON object"),
        ("a.jsonl", b'{"text": "\xff"}\n', "is not UTF-8 near line 1"),
        ("a.jsonl", '{"text": "a", "label": 1}\n{"text": "b"}\n', "The label in line 2 of .* is missing"),
        (
            "a.jsonl",
            '{"text": "a", "label": 0.5}\n',
            "The label in line 1 of .* is the number 0.5, not a class",
        ),
        ("a.parquet", "not parquet", "cannot be read as Parquet"),
    ],
)
def test_bad_files_get_one_sentence_with_the_file_and_the_line(write, name, content, message):
    with pytest.raises(VeraxError, match=message) as caught:
        load_dataset(write(name, content))
    assert "\n" not in str(caught.value)


def test_a_damaged_gzip_file_is_named(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    lines = "\n".join(json.dumps({"text": f"text {i * 7919}", "label": i % 2}) for i in range(1000))
    whole = gzip.compress(lines.encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(VeraxError, match="the gzip file is damaged"):
        load_dataset(path)


def test_a_text_has_no_schema(write):
    with pytest.raises(VeraxError, match="leave out either text or schema"):
        load_dataset(write("a.csv", _csv(ROWS)), text="text", schema=Schema((Column("x"),)))
