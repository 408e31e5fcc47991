"""``verax explain`` on a model whose scores are known by hand, and on fitted ones."""

import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from verax.explain import Explanation

pytestmark = pytest.mark.usefixtures("folder")

KNOWN = ("explain", "--dataset", "reviews.csv", "--model", "own_models:known")


def test_the_table_shows_signed_scores_strongest_first(verax):
    ended = verax(*KNOWN, "--explainers", "greedy", "--text", "good bad film")
    assert ended.status == 0
    assert ended.err == ""
    # "up" has 0.5 + 0.1 - 0.2 = 0.4, so "down" is predicted and explained.
    assert "text 0: The model says down (0.60)." in ended.out
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["bad", "+0.200", "(1)"] in lines
    assert ["good", "-0.100", "(2)"] in lines
    assert ["film", "0.000"] in lines  # what scores nothing has no rank
    assert ["rows", "4"] in lines
    assert "[--good] [++bad] film" in ended.out
    assert "greedy names “bad” first." in ended.out


def test_explainers_stand_side_by_side_and_decimal_points_align(verax):
    ended = verax(*KNOWN, "--explainers", "greedy,shap", "--text", "good bad film")
    rows = [line for line in ended.out.splitlines() if re.search(r"^ +(bad|good|film) ", line)]
    assert len(rows) == 3
    points = [[place for place, sign in enumerate(row) if sign == "."] for row in rows]
    assert points[0] == points[1] == points[2]
    assert len(points[0]) == 2
    # The model is additive in its words, so the Shapley values equal the removals.
    assert rows[0].split() == ["bad", "+0.200", "(1)", "+0.200", "(1)"]


def test_target_by_name_and_by_number_turns_the_signs(verax):
    by_name = verax(*KNOWN, "-e", "greedy", "--text", "good bad film", "--target", "up")
    by_number = verax(*KNOWN, "-e", "greedy", "--text", "good bad film", "--target", "1")
    assert "explained is up (0.40)" in by_name.out
    assert "[++good] [--bad] film" in by_name.out
    assert "[++good] [--bad] film" in by_number.out


def test_json_is_alone_on_stdout_and_every_explanation_round_trips(verax):
    ended = verax(
        *KNOWN, "-e", "greedy,random", "--text", "good bad film", "--input", "2", "--json", "--html", "p.html"
    )
    listed = json.loads(ended.out)
    assert [(one["title"], one["name"]) for one in listed] == [
        ("text 0", "greedy"),
        ("text 0", "random"),
        ("test input 2", "greedy"),
        ("test input 2", "random"),
    ]
    first = listed[0]
    assert dict(zip(first["features"], first["scores"], strict=True)) == pytest.approx(
        {"good": -0.1, "bad": 0.2, "film": 0}
    )
    assert first["probabilities"] == pytest.approx([0.6, 0.4])
    assert first["class_names"] == ["down", "up"]
    assert (first["predicted"], first["label"], first["model"]) == (0, None, "own_models:known")
    assert listed[2]["label"] in (0, 1)
    assert Explanation.from_dict(first).to_dict().items() <= first.items()
    assert "p.html" in ended.err


def test_parameters_in_parentheses_win_over_the_common_ones(verax):
    ended = verax(
        *KNOWN, "-e", "lime(samples=7, seed=3),lime,greedy", "--samples", "9", "--text", "good", "--json"
    )
    assert [one["explainer"].split(", kernel")[0] for one in json.loads(ended.out)] == [
        "Lime(samples=7, seed=3",
        "Lime(samples=9, seed=0",
        "Greedy(absent='dropped')",
    ]
    assert json.loads(ended.out)[0]["name"] == "lime(samples=7, seed=3)"


def test_a_fitted_model_finds_the_words_that_made_the_classes(verax):
    ended = verax("explain", "-d", "reviews.csv", "-e", "lime,shap", "--text", "a good dull thing", "--json")
    for one in json.loads(ended.out):
        scores = dict(zip(one["features"], one["scores"], strict=True))
        assert scores["good"] * scores["dull"] < 0
        assert scores["thing"] == pytest.approx(0, abs=1e-3)


def test_rows_of_a_table_are_shown_with_their_values(verax):
    ended = verax(
        "explain", "-d", "people.csv", "--label-column", "rich", "-m", "tree", "-e", "greedy", "--n", "1"
    )
    assert ended.status == 0, ended.err
    assert re.search(r"age = \d\d +[+-]0\.\d+ \(1\)", ended.out)
    assert re.search(r"job = (clerk|judge) +0\.000 *\n", ended.out)


def test_a_text_without_known_words_scores_zero(verax):
    ended = verax("explain", "-d", "reviews.csv", "-e", "lime,greedy", "--text", "zzzz qqqq")
    assert ended.status == 0
    assert "No feature changes the model's answer." in ended.out
    assert "[" not in ended.out.split("Marks:")[0]


def test_a_text_without_any_word_says_so(verax):
    ended = verax(*KNOWN, "-e", "lime,greedy,random", "--text", "!!! ...")
    assert ended.status == 0
    assert "There is no word in this text, so there is nothing to score." in ended.out


def test_the_first_three_test_inputs_are_explained_unless_told_otherwise(verax):
    ended = verax(*KNOWN, "-e", "greedy")
    assert re.findall(r"^test input (\d+):", ended.out, re.MULTILINE) == ["0", "1", "2"]


def test_the_page_is_written_and_html_in_a_text_is_escaped(folder, verax):
    ended = verax(
        *KNOWN, "-e", "greedy", "--text", "<script>alert('good')</script>", "--html", "out/page.html"
    )
    page = (folder / "out" / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;" in page
    assert ended.out.splitlines()[-1] == "The page is in out/page.html; open it in a browser."


def test_the_page_begins_with_the_verdict_unless_told_otherwise(folder, verax):
    ended = verax(
        *KNOWN, "-e", "greedy,random,anchor(words=removed)", "--text", "good bad film", "--html", "page.html"
    )
    page = (folder / "page.html").read_text(encoding="utf-8")
    sentence = ended.out.splitlines()[0]
    assert sentence[:40] in page
    assert page.index(sentence[:40]) < page.index("Which words or columns")
    assert "Fall without its first 3" in page
    # "down" has 0.6; without "bad" it has 0.4.
    assert "at most 3, the probability falls by 20.0 points" in page
    plain = verax(*KNOWN, "-e", "greedy", "--text", "good", "--no-judge", "--html", "plain.html")
    assert plain.out.startswith("own_models:known on reviews")
    assert "Fall without" not in (folder / "plain.html").read_text(encoding="utf-8")


def test_the_last_line_says_what_to_do_next(verax):
    assert verax(*KNOWN, "-e", "greedy").out.splitlines()[-1].startswith("Next: add --html page.html")


def test_no_line_is_wider_than_100_columns(verax):
    ended = verax(
        *KNOWN, "-e", "lime,shap,greedy,greedy-path,random,random(ngram=3)", "--text", "good bad film " * 30
    )
    assert max(len(line) for line in ended.out.splitlines()) <= 100


def test_verbose_gives_the_reason_for_a_slow_way(verax):
    command = ("explain", "-d", "reviews.csv", "-m", "own_models:bigrams", "-e", "greedy")
    quiet = verax(*command)
    told = verax(*command, "-v")
    assert quiet.err == ""
    assert told.err.startswith("info: This model's texts are rebuilt as strings: ")
    assert told.err.count("\n") == 1


def test_evidence_stands_beside_counter_evidence(verax, folder):
    ended = verax(
        *KNOWN, "--explainers", "greedy,random-fragments", "--text", "good bad film", "--fragments", "2",
        "--html", "page.html", "--details",
    )  # fmt: skip
    assert ended.status == 0
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["for", "down", "against", "down"] in lines
    assert ["greedy", "bad", "good"] in lines
    assert any(line[:2] == ["random-fragments", "count:"] for line in lines)
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert '<table class="fragments">' in page
    assert '<mark class="for l3"><bdi>bad</bdi></mark>' in page
    ended = verax(
        *KNOWN,
        "--explainers",
        "greedy",
        "--text",
        "good bad film",
        "--fragments",
        "1",
        "--fragment-sizes",
        "2,3",
    )
    assert ["greedy", "bad", "film", "–"] in [line.split() for line in ended.out.splitlines()]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--fragments", "0"), "fragments must be at least 1"),
        (
            ("--fragments", "2", "--fragment-sizes", "two"),
            "fragment_sizes.0 must be a whole number",
        ),
        (("--fragment-sizes", "2"), "say how many, with --fragments 3"),
    ],
)
def test_fragments_that_cannot_be_are_sentences(verax, options, sentence):
    ended = verax(*KNOWN, "--text", "good", *options)
    assert ended.status == 2
    assert sentence in " ".join(ended.err.split())


def test_a_preset_explains_a_model_that_cannot_have_all_of_its_methods(verax, folder):
    command = ("explain", "-d", "reviews.csv", "--preset", "simulatability", "--text", "a good dull thing")
    ended = verax(*command, "--json", "--html", "p.html")
    assert ended.status == 0
    methods = [one["name"] for one in json.loads(ended.out)]
    assert methods == ["lime", "anchor", "decision-boundary", "composite"]
    assert "prototype is left out. The method 'prototype' explains the models" in ended.err
    assert "prototype is left out." in (folder / "p.html").read_text()
    by_name = verax("explain", "-d", "reviews.csv", "-e", "lime,prototype", "--text", "good")
    assert by_name.status == 2
    assert "choose one of these models, or another method" in by_name.err


@pytest.mark.parametrize("unknown", ["ignore", "error"])
def test_a_saved_pipeline_is_asked_with_the_missing_values_it_was_fitted_on(verax, folder, unknown):
    """A category that is missing in the file is missing for the pipeline, which learnt that missing means yes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "job": rng.choice(np.array(["cook", "clerk", None], dtype=object), 120),
            "age": rng.integers(20, 60, 120),
            "unused": rng.choice(["a", "b"], 120),
        }
    )
    frame["rich"] = np.where(frame.job.isna(), "yes", "no")
    frame.to_csv("miss.csv", index=False)
    own = pd.read_csv("miss.csv")
    columns = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(handle_unknown=unknown), ["job"])
    )
    pipeline = make_pipeline(columns, LogisticRegression()).fit(own[["age", "job"]], own.rich)
    joblib.dump(pipeline, "miss.joblib")
    ended = verax(
        *(
            "explain",
            "-d",
            "miss.csv",
            "--label-column",
            "rich",
            "-m",
            "miss.joblib",
            "-e",
            "lime,shap,greedy",
        ),
        *("--n", "20", "--json", "--html", "page.html"),
    )
    assert ended.status == 0, ended.err
    shown = json.loads(ended.out)
    assert len(shown) == 60
    for one in shown:
        row = dict(re.split(" = | is ", cell) for cell in one["input"])
        job = np.nan if row["job"] == "missing" else row["job"]
        cells = {"age": [int(row["age"])], "job": pd.Series([job], dtype=own.job.dtype)}
        told = pipeline.predict_proba(pd.DataFrame(cells))[0]
        assert one["probabilities"] == pytest.approx(told)
        assert one["class_names"][one["predicted"]] == ("yes" if row["job"] == "missing" else "no")
        assert one["features"][int(np.argmax(np.abs(one["scores"])))] == "job"
    assert {"job is missing"} < {one["input"][0] for one in shown}
    page = (folder / "page.html").read_text()
    assert "job is missing" in page
    assert "job = ?" not in page
    assert "job = nan" not in page
