"""Explanations of many inputs together: numbers by hand, pictures as data, pages and files, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr, t
from typer.testing import CliRunner

import verax
from verax.cli.main import app
from verax.codec import decode, encoded
from verax.explain import Attribution
from verax.reporting.figures import figure_svg
from verax.reporting.score_figures import beside_each_other
from verax.results.figures import Dependence, Figure, Matrix, Swarm
from verax.results.units import SCORE_SIZE

ROWS = pd.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "job": pd.Categorical(["a", "b", "a", None]),
        "since": pd.to_datetime(["2020-01-01", "2020-07-01", None, "2021-01-01"]),
    }
)
ONE = np.array([[0.1, -0.2, 0.0], [0.3, 0.0, 0.1], [-0.5, 0.1, 0.2], [0.1, 0.1, 0.1]])
TWO = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [-3.0, 2.0, 1.0], [9.0, 1.0, 2.0]])


def explained(scores: np.ndarray, names: tuple[str, ...] = ("age", "job", "since")) -> list[Attribution]:
    return [Attribution(names, row, target=1, target_name="yes", explainer="Lime(seed=0)") for row in scores]


def view() -> verax.workflows.global_view.GlobalView:
    return verax.global_view({"one": explained(ONE), "two": explained(TWO)}, ROWS)


def test_the_mean_size_of_a_score_and_its_interval_are_students():
    sizes = np.abs(ONE[:, 0])
    margin = t.ppf(0.975, 3) * sizes.std(ddof=1) / 2
    found = view().to_frame().set_index(["method", "feature"]).loc[("one", "age")]
    assert found["mean_size"] == pytest.approx(sizes.mean())
    assert found["low"] == pytest.approx(max(0.0, sizes.mean() - margin))
    assert found["high"] == pytest.approx(sizes.mean() + margin)
    assert found["mean_score"] == pytest.approx(ONE[:, 0].mean())


def test_features_stand_in_the_order_of_their_share_over_methods():
    shares = sum(np.abs(own).mean(axis=0) / np.abs(own).mean(axis=0).sum() for own in (ONE, TWO))
    names = ("age", "job", "since")
    assert view().features == tuple(names[place] for place in np.argsort(-shares))


def test_agreement_is_the_mean_of_spearmans_rho_and_inputs_without_order_are_told():
    (found,) = view().agreement
    wanted = np.mean(
        [spearmanr(ONE[row], TWO[row]).statistic for row in range(3)]
    )  # the last has equal scores
    assert found.correlation is not None
    assert found.correlation.mean == pytest.approx(wanted)
    assert found.correlation.n == 3
    assert found.shared == 1.0  # of three features the first three are all
    assert any("all scores are equal" in note for note in view().notes)


def test_values_are_numbers_categories_and_years_with_gaps():
    values = view().values
    np.testing.assert_array_equal(values["age"], [20, 30, 40, 50])
    assert list(values["job"]) == ["a", "b", "a", None]
    np.testing.assert_allclose(values["since"], [2020, 2020 + 182 / 365.25, np.nan, 2021])
    figures = {figure.key: figure.data for figure in view().figures}
    jobs = figures["dependence-job"]
    assert isinstance(jobs, Dependence)
    assert jobs.categories == ("a", "b")
    assert jobs.points[0].values == (0.0, 1.0, 0.0)  # the row without a job is not drawn
    assert jobs.points[0].scores == (-0.2, 0.0, 0.1)


def test_colours_are_places_among_all_values():
    swarm = {figure.key: figure.data for figure in view().figures}["scores-one"]
    assert isinstance(swarm, Swarm)
    by_name = {row.label: row for row in swarm.swarms}
    assert by_name["age"].places == (0.0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0)
    assert by_name["job"].places == (None,) * 4
    assert by_name["since"].places[2] is None


def test_values_are_read_from_what_explanations_say_where_no_inputs_are_given():
    told = [
        Attribution(("age", "job"), row, target=0, input=(f"age = {age}", f"job = {job}"))
        for row, age, job in zip(ONE[:, :2], (20, 30, 40, 50), "abab", strict=True)
    ]
    values = verax.global_view(told).values
    np.testing.assert_array_equal(values["age"], [20, 30, 40, 50])
    assert list(values["job"]) == list("abab")


def test_a_word_that_a_text_lacks_scores_nothing_and_is_not_drawn():
    texts = [
        Attribution(("good", "film"), np.array([0.4, 0.1]), target=1, input="good film"),
        Attribution(("film",), np.array([-0.2]), target=1, input="film"),
    ]
    found = verax.global_view({"lime": texts})
    assert found.kind == "text"
    frame = found.to_frame().set_index("feature")
    assert frame.loc["good", "mean_size"] == pytest.approx(0.2)
    assert frame.loc["good", "inputs"] == 1
    swarm = found.figures[1].data
    assert isinstance(swarm, Swarm)
    assert {row.label: row.scores for row in swarm.swarms} == {"good": (0.4,), "film": (0.1, -0.2)}


def test_what_gives_no_scores_is_left_out_and_told_and_different_classes_are_told():
    two = [Attribution(("age",), np.array([0.1]), target=place, target_name="ab"[place]) for place in (0, 1)]
    found = verax.global_view({"lime": two, "words": [verax.Written(("because",), target=0)] * 2})
    assert found.methods == ("lime",)
    assert "words gives no scores" in found.notes[0]
    assert "different classes (a and b)" in found.notes[1]


@pytest.mark.parametrize(
    ("given", "inputs", "said"),
    [
        ([], None, "no explanation to look at"),
        ({"one": explained(ONE), "two": explained(TWO[:2])}, None, "different numbers of inputs"),
        ({"one": explained(ONE)}, ROWS[:2], "4 explanations for 2 rows"),
        ({"one": [1, 2]}, None, "holds a int"),
        ({"one": [verax.Written(("because",), target=0)]}, None, "No method here gives scores"),
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence(given: object, inputs: object, said: str):
    with pytest.raises(verax.VeraxError, match=said):
        verax.global_view(given, inputs)  # type: ignore[arg-type]


def test_figures_are_drawn_the_same_and_go_through_json():
    for figure in view().figures:
        svg = figure_svg(figure)
        ElementTree.fromstring(svg)
        assert svg == figure_svg(figure)
        assert decode(Figure, json.loads(json.dumps(encoded(figure)))) == figure


def test_the_matrix_has_ones_where_a_method_meets_itself_and_is_symmetric():
    matrix = view().figures[-1].data
    assert isinstance(matrix, Matrix)
    cells = np.array(matrix.cells, dtype=float)
    assert (np.diag(cells) == 1).all()
    assert (cells == cells.T).all()


def test_points_of_one_place_stand_apart_within_their_row():
    shifts = beside_each_other([0] * 50 + [3])
    assert len(set(shifts[:50])) == 50
    assert max(map(abs, shifts)) <= 0.45
    assert shifts[50] == 0


def test_sizes_are_read_with_three_digits_at_any_scale():
    assert [SCORE_SIZE.number(size) for size in (0.0123456, 1.5, 12_345.6)] == ["0.0123", "1.50", "12,346"]


def test_page_notebook_and_folder_hold_every_picture(tmp_path: Path):
    found = view()
    folder = found.write(tmp_path / "views")
    page = (folder / "index.html").read_text()
    assert page.count("<svg") == len(found.figures)
    assert "http" not in page.replace("http://www.w3.org", "")
    assert len(list((folder / "figures").iterdir())) == len(found.figures)
    assert r"\begin{tabular}" in (folder / "tables" / "agreement.tex").read_text()
    assert len(pd.read_csv(folder / "scores.csv")) == 6
    assert found._repr_html_().count("data:image/svg+xml") == len(found.figures)
    assert str(found).startswith(found.sentence)
    with pytest.raises(verax.VeraxError, match="choose another place"):
        found.page(tmp_path / "views" / "scores.csv" / "page.html")


def test_the_command_line_writes_them(tmp_path: Path):
    table = tmp_path / "rows.csv"
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    rows.assign(label=np.where(rows.a > 0, "high", "low")).to_csv(table, index=False)
    said = CliRunner().invoke(
        app,
        [
            *f"explain --dataset {table} --model tree --explainers lime,greedy --n 6 --target high".split(),
            *f"--samples 50 --json --global-view {tmp_path / 'views'}".split(),
        ],
    )
    assert said.exit_code == 0, said.output
    assert "“a” the largest scores" in said.stderr
    assert len(json.loads(said.stdout)) == 12
    assert (tmp_path / "views" / "index.html").exists()
