"""Numbers in bands: as the classes of a dataset, of a regressor, and of a study with a score of its own."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import verax
from verax.benchmarks.staining.spec import StainSpec
from verax.data.bins import Bands, make_bands
from verax.errors import VeraxError
from verax.models import own_model
from verax.phrases import speaking
from verax.studies.build.build import build_study
from verax.studies.definition.screen import class_mark
from verax.studies.definition.spec import make_study_spec
from verax.studies.protocol.contract import make_protocol

NUMBERS = np.array([3.0, 10.0, 19.99, 20.0, 1e6])


def test_a_number_on_an_edge_belongs_to_the_band_above():
    bands = make_bands([10, 20], NUMBERS)
    assert bands.names == ("below 10", "10 to 20", "20 or more")
    assert bands.classify(NUMBERS).tolist() == [0, 1, 1, 2, 2]
    assert bands.one_hot(NUMBERS[:2]).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert make_bands("10,20", NUMBERS) == bands
    with speaking("de"):
        assert bands.names == ("unter 10", "10 bis 20", "20 oder mehr")


def test_a_number_of_bands_holds_about_equally_many_each():
    numbers = np.random.default_rng(0).lognormal(5, 1, 900)
    counts = np.bincount(make_bands("3", numbers).classify(numbers))
    assert len(counts) == 3
    assert counts.min() > 290


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (1, "bands=1 is not from 2 to 20"),
        ([20, 10], "no ascending numbers"),
        ([10, 2e6], "No number lies in the band '2e\\+06 or more'"),
        ("10,x", "'x' is no number"),
        ([np.nan], "no ascending numbers"),
    ],
)
def test_bands_that_cannot_be_are_told(wanted, said):
    with pytest.raises(VeraxError, match=said):
        make_bands(wanted, NUMBERS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bands")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"rooms": rng.integers(1, 9, 500), "town": rng.choice(["A", "B"], 500), "age": rng.random(500)}
    )
    price = 20.5 * rows.rooms + 30 * (rows.town == "A") + rng.normal(0, 45, 500)
    rows.assign(price=price).to_csv(folder / "houses.csv", index=False)
    columns = make_column_transformer((OrdinalEncoder(), ["town"]), remainder="passthrough")
    trees = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    joblib.dump(make_pipeline(columns, trees).fit(rows, price), folder / "price.joblib")
    return folder


def test_a_regressor_is_asked_for_its_band(folder):
    data = verax.load_dataset(folder / "houses.csv", label="price", bands=[80, 160])
    assert data.class_names == ("below 80", "80 to 160", "160 or more")
    assert data.bands == Bands((80.0, 160.0))
    regressor = joblib.load(folder / "price.joblib")
    model = own_model("mine", regressor, data)
    rows = data.test.inputs
    own = data.bands.classify(regressor.predict(data.schema.decode(rows)))
    assert model.predict_proba(rows).argmax(axis=1).tolist() == own.tolist()
    (found,) = verax.explainer("greedy").explain(model, rows[:1])
    assert found.target_name == data.class_names[own[0]]
    classes = verax.load_dataset(folder / "houses.csv", label="town")
    with pytest.raises(VeraxError, match="load a column of numbers in bands"):
        own_model("mine", regressor, classes)


def test_labels_that_are_no_numbers_have_no_bands(folder):
    with pytest.raises(VeraxError, match="and bands are of numbers"):
        verax.load_dataset(folder / "houses.csv", label="town", bands=3)
    with pytest.raises(VeraxError, match="knows its own"):
        verax.load_dataset("breast-cancer", bands=3)


def spec_of(folder, partial, **source):
    return make_study_spec(
        {
            "title": "Prices",
            "dataset": str(folder / "houses.csv"),
            "source": {"label": "price", **source},
            "model": "tree",
            "protocol": {"name": "forward", "learning": 6, "test": 6, "partial": partial},
            "conditions": [{"name": "none"}, {"name": "method", "explainer": "greedy"}],
            "screening": False,
        }
    )


def test_a_study_asks_for_the_band_and_scores_how_near_it_is(folder, tmp_path):
    study = build_study(spec_of(folder, True, bands=[80, 160]), "", tmp_path / "study")
    assert study.class_names == ("below 80", "80 to 160", "160 or more")
    item = next(item for item in study.items.values() if item.role == "test" and item.prediction == 0)
    (question,) = study.screens[f"predict:{item.id}"].questions
    assert [option.label for option in question.options] == [class_mark(number) for number in range(3)]
    protocol = make_protocol(study.spec.protocol)
    assert [protocol.score(item, band) for band in range(3)] == [1.0, 0.5, 0.0]
    assert [protocol.is_right(item, band) for band in range(3)] == [True, False, False]
    plain = make_protocol({**study.spec.protocol, "partial": False})
    assert [plain.score(item, band) for band in range(3)] == [1.0, 0.0, 0.0]


def test_classes_without_an_order_have_no_partial_score(folder, tmp_path):
    spec = spec_of(folder, True, label="town")
    with pytest.raises(VeraxError, match=r"protocol\.partial is for bands of a number"):
        build_study(spec, "", tmp_path / "study")


def test_a_benchmark_names_bands_behind_its_dataset(folder):
    spec = StainSpec(datasets=[f"{folder / 'houses.csv'}(label=price, bands=3)"])
    source = spec.source(spec.datasets[0])
    assert source["bands"] == 3
    assert len(verax.load_dataset(**source).class_names) == 3
