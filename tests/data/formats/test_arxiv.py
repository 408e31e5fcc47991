import json

import pytest

from verax.data import load_dataset
from verax.data.formats.texts import article_fields
from verax.errors import VeraxError

CS, MATHS, PHYSICS = 0, 1, 2


@pytest.mark.parametrize(
    ("categories", "fields"),
    [
        ("cs.LG stat.ML", {CS}),
        ("math.NT", {MATHS}),
        ("hep-th", {PHYSICS}),
        ("astro-ph.CO gr-qc physics.hist-ph", {PHYSICS}),
        ("math-ph math.MP", {PHYSICS}),  # two names of one archive
        ("math-ph math.MP math.AP", {MATHS, PHYSICS}),
        ("cs.IT math.IT", {CS, MATHS}),
        ("cmp-lg cs.CL", {CS}),
        ("alg-geom math.AG", {MATHS}),
        ("nucl-ex nucl-th quant-ph nlin.CD cond-mat.soft", {PHYSICS}),
        ("q-bio.NC econ.GN", set()),
    ],
)
def test_categories_lie_in_fields(categories, fields):
    assert article_fields(categories) == fields


def test_only_abstracts_of_one_field_are_kept_and_the_rest_is_counted(write):
    categories = ["cs.LG", "math.CO", "hep-ph", "cs.LG math.CO", "stat.ME", "cs.CL quant-ph"]
    rows = [{"id": i, "abstract": f"  We prove\n {i}. ", "categories": c} for i, c in enumerate(categories)]
    data = load_dataset(
        write("arxiv.json", "\n".join(map(json.dumps, rows))), format="arxiv", split=(1, 0, 0)
    )
    assert data.class_names == ("computer science", "mathematics", "physics")
    found = dict(zip(data.train.inputs, data.train.labels, strict=True))
    assert found == {"We prove\n 0.": 0, "We prove\n 1.": 1, "We prove\n 2.": 2}
    assert dict(zip(data.train.inputs, data.train.columns["category"], strict=True)) == {
        "We prove\n 0.": "cs.LG", "We prove\n 1.": "math.CO", "We prove\n 2.": "hep-ph",
    }  # fmt: skip
    assert data.notes[:2] == (
        "2 abstracts in more than one of the three fields dropped",
        "1 abstract in none of the three fields dropped",
    )


def test_lines_without_the_fields_are_named(write):
    with pytest.raises(
        VeraxError, match=r"Line 1 of .* lacks 'abstract' or 'categories' \(its fields: title\)"
    ):
        load_dataset(write("arxiv.json", '{"title": "x"}'), format="arxiv")
