"""What a notebook shows: escaped, with every number, and without a style sheet."""

import numpy as np

import verax
from verax.data import load_dataset
from verax.explain import Attribution, Explanation, Fragments, Written
from verax.explain.composite import Composite, Part
from verax.explain.fragments import Fragment
from verax.explain.kinds import Edit, Exemplar, Path, Rule
from verax.notebook import bars_html, paragraph_html, table_html


def test_what_people_wrote_cannot_become_markup():
    shown = (
        table_html(["<em>"], [["<script>"]]) + paragraph_html("<u>", bold="<i>") + bars_html([("<a>", 1.0)])
    )
    for mark in ("<em>", "<script>", "<i>", "<u>", "<a>"):
        assert mark not in shown


def test_bars_go_right_for_and_left_against():
    shown = bars_html([("good", 2.0), ("bad", -1.0)])
    assert "left:120px;width:120px" in shown
    assert "left:60px;width:60px" in shown
    assert "+2.000" in shown
    assert "-1.000" in shown


def test_no_scores_and_scores_of_nothing_are_shown():
    assert bars_html([]) == "<table></table>"
    assert "width:0px" in bars_html([("a", 0.0)])


def test_an_attribution_shows_its_strongest_features():
    scores = np.array([0.0, -0.5, 0.2, 0.1])
    shown = verax.Attribution(("film", "dull", "warm", "a"), scores, 1, "good", explainer="Lime()")
    assert repr(shown) == "Attribution(Lime(), target good: dull -0.500, warm +0.200, a +0.100, ...)"
    assert shown.to_frame().feature.tolist() == ["dull", "warm", "a", "film"]
    assert shown.to_frame().score.tolist() == [-0.5, 0.2, 0.1, 0.0]
    assert "4 features, speaking for or against good" in shown._repr_html_()


def test_a_dataset_shows_its_parts_and_becomes_a_frame():
    table = load_dataset("breast-cancer")
    frame = table.to_frame()
    assert len(frame) == len(table) == 569
    assert frame.columns[0] == "part"
    assert frame.label.value_counts().to_dict() == {"benign": 357, "malignant": 212}
    assert np.allclose(frame[frame.part == "test"].iloc[:, 1:-1].to_numpy(float), table.test.inputs)
    assert "569 rows of 30 columns" in table._repr_html_()


def test_a_model_shows_what_it_reads():
    shown = verax.as_model(
        lambda texts: np.full((len(texts), 2), 0.5), kind="text", class_names=("no", "yes")
    )
    assert "reads texts<br>classes: no, yes" in shown._repr_html_()


def test_explanations_of_every_kind_show_what_they_say():
    scored = Attribution(("good", "<b>bad</b>"), np.array([0.5, -0.25]), 1, "positive")
    pieces = Fragments((Fragment("good", 0.5, (0, 4)),), (Fragment("bad", -0.25, (5, 8)),), 1, "positive")
    rule = Rule(("good", "bad"), (0,), ("good",), 0.96, 0.9, 0.4, True, (), 1, "positive")
    path = Path(("good", "bad"), (Edit(0, 0, "good", "dull"),), (1.5, -0.5), "negative", 1, "positive")
    exemplar = Exemplar(("good", "bad"), np.array([2.0, 0.0]), 0.8, "a good film", "positive", 1)
    written = Written(("Because <i>good</i> is there.",), 1)
    shown = {
        "fragments": (pieces, ["for positive", "+0.500", "-0.250"]),
        "rule": (rule, ["says positive", "stays: good", "96.0%", "at least 90.0%", "applies to 40.0%"]),
        "path": (path, ["from positive to negative", "+1.50", "dull", "-0.50"]),
        "exemplar": (exemplar, ["a good film", "0.80", "+2.000"]),
        "written": (written, ["Because &lt;i&gt;good&lt;/i&gt; is there."]),
        "composite": (
            Composite((Part("LIME", scored), Part("Anchor", rule)), 1),
            ["LIME", "&lt;b&gt;", "Anchor", "96.0%"],
        ),
    }
    ours = {kind for kind, made in Explanation._kinds.items() if made.__module__.startswith("verax.")}
    assert set(shown) | {"attribution"} == ours
    for explanation, words in shown.values():
        html = explanation._repr_html_()
        assert [word for word in words if word not in html] == [], html
    named = "(no explainer named, target positive: "
    assert repr(pieces) == f"Fragments{named}for 'good'; against 'bad')"
    assert repr(rule) == f"Rule{named}'good', precision 0.960, coverage 0.400)"
    assert repr(path) == f"Path{named}'good' to 'dull' gives negative)"
    assert repr(shown["composite"][0]) == "Composite(no explainer named, target 1: LIME, Anchor)"
    assert "like 'a good film' (positive), similarity 0.80" in repr(exemplar)
    assert repr(written).endswith("target 1: 'Because <i>good</i> is there.')")
