"""The page: self-contained, escaped, and with the right marks and numbers in it."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import Attribution, Cost
from verax.reporting.comparison import Comparison, Entry, Subject
from verax.reporting.explanations import page_environment, render_page, write_page
from verax.results.verdict import Judged, Verdict


class Read(HTMLParser):
    """Tags, attributes and the text inside each element with class "input"."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.inputs, self.open = [], [], [], False
        self.marks = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        classes = dict(attrs).get("class") or ""
        if tag in ("p", "ul") and "input" in classes.split():
            self.open = True
            self.inputs.append("")
        if tag == "mark" and self.open:
            self.marks.append(dict(attrs))

    def handle_endtag(self, tag):
        if tag in ("p", "ul"):
            self.open = False

    def handle_data(self, data):
        if self.open:
            self.inputs[-1] += data


def page_of(given, scores, features=None, **options):
    features = split_words(given).distinct if features is None else features
    attribution = Attribution(
        tuple(features), np.array(scores, dtype=float), 1, "up", given, cost=Cost(1234, 2, 0.5),
        details={"route": "kernel", "r2": 0.87654321}, explainer="Shap(samples=None)",
    )  # fmt: skip
    subject = Subject(
        "text <1>", given, ("down", "up"), (0.25, 0.75), 1, 0, (Entry("shap", attribution, **options),)
    )
    return render_page(
        [Comparison("reviews", "forest", (subject,), ("Note & more.",))], "Title", "verax demo"
    )


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert('good')</script> & \"quotes\"",
        "I 💜 this film 👩‍👩‍👧‍👦, naïve café",
        "هذا فيلم رائع جدا, very good",
        "two\n\n   lines\tand tabs  ",
        "!!!",
        "word " * 3000,
    ],
)
def test_the_text_on_the_page_is_the_text_as_written(text):
    words = split_words(text).distinct
    read = Read(page_of(text, np.linspace(-1, 1, len(words))))
    assert read.inputs == [text]
    assert read.tags.count("script") == 1  # the page's own


def test_quotes_in_a_feature_do_not_leave_the_tooltip():
    text = 'a" onmouseover="alert(1)'
    page = Read(page_of(text, [1.0], features=[text]))
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_nothing_comes_from_elsewhere():
    page = page_of("good bad film", [1.0, -0.5, 0.0])
    read = Read(page)
    assert not {"link", "img", "iframe", "object"} & set(read.tags)
    assert read.tags.count("script") == 1  # sorts tables and opens folded parts for print; inside the page
    assert not [name for _, name, _ in read.attributes if name in ("src", "href")]
    assert "url(" not in page
    assert "@import" not in page
    assert "http" not in page


def test_marks_have_direction_level_and_a_tooltip_with_the_sign():
    read = Read(page_of("good bad film", [1.0, -0.5, 0.01]))
    assert read.marks == [
        {"class": "for l5 strong", "title": "good: +1.000 (for), rank 1"},
        {"class": "against l3 strong", "title": "bad: −0.500 (against), rank 2"},
    ]


def test_without_direction_there_are_greys_and_neither_sign_nor_score():
    attribution = Attribution(("good", "bad", "film"), np.array([1.0, -0.5, 0.3]), 1, input="good bad film")
    highlight = page_environment().get_template("highlight.html").module.highlight
    shown = str(highlight(attribution, direction=False))
    assert 'class="input grey"' in shown
    assert re.findall(r"<mark[^>]*>", shown) == [
        '<mark class="l5 strong">',
        '<mark class="l3 strong">',
        '<mark class="l2">',
    ]


def test_numbers_cost_route_and_parameters_are_on_the_page():
    page = page_of("good bad film", [1.0, -0.5, 0.0])
    assert 'style="width:50.0%"' in page
    assert "1,234 rows asked of the model, 500.0 ms; route: kernel." in page
    assert "Shap(samples=None)" in page
    assert "r2: 0.8765" in page
    assert "Note &amp; more." in page
    assert "The model says up (0.75); in truth it is down." in page


def side_by_side(**options):
    """Two methods on one text, which rank its words differently."""
    text, words = "good bad film", ("good", "bad", "film")
    first, second = (
        Attribution(words, np.array(scores), 1, "up", text) for scores in ([0.2, 1.0, 0.1], [4.0, -2.0, 0.0])
    )
    entries = (Entry("lime", first, fall=12.345), Entry("shap", second))
    subject = Subject("text 1", text, ("down", "up"), (0.25, 0.75), 1, None, entries)
    return render_page([Comparison("reviews", "forest", (subject,), **options)], "Title")


def test_a_feature_has_one_line_with_what_every_method_says_of_it():
    page = side_by_side()
    lines = re.findall(
        r'<tr><th scope="row"><bdi>(\w+)</bdi></th>(.*?)</tr>', page.split('class="aligned"', 1)[1], re.S
    )
    cells = {
        feature: re.findall(r'<span class="number">(.*?)</span>(?: <small>(\d)\.)?', rest)
        for feature, rest in lines
    }
    assert cells == {
        "good": [("+0.200", "2"), ("+4.000", "1")],
        "bad": [("+1.000", "1"), ("−2.000", "2")],
        "film": [("+0.100", "3"), ("0.000", "")],  # what scores nothing has no rank
    }
    assert 'title="shap, bad: −2.000, rank 2 of 3"' in page


def test_the_verdict_stands_before_all_else_and_falls_below_the_scores():
    judged = (Judged("lime", "yes", "close to the best", 12.3), Judged("shap", "no", "as random", 1.0))
    page = side_by_side(verdict=Verdict("Trust lime here.", judged, "fall in points", ("One input.",)))
    assert page.index("Trust lime here.") < page.index("Which words or columns")
    assert "12.3 points" in page
    assert "Trust lime here." not in side_by_side()


def test_rows_are_shown_as_column_and_value():
    read = Read(page_of(("Age = 37", "Sex = <Male>"), [1.0, 0.0], features=("Age", "Sex")))
    assert [line for line in read.inputs[0].split("\n") if line] == ["Age = 37", "Sex = <Male>"]


def test_a_control_is_named_one():
    assert "random control" in page_of("good", [1.0], control=True)
    assert "random control" not in page_of("good", [1.0])


def test_a_lone_surrogate_becomes_a_question_mark(tmp_path):
    attribution = Attribution(("a",), np.array([1.0]), 0, input="a \ud800 b")
    subject = Subject("t", attribution.input, ("x", "y"), (0.5, 0.5), 0, None, (Entry("lime", attribution),))
    write_page(tmp_path / "new" / "page.html", [Comparison("d", "m", (subject,))], "T")
    assert Read((tmp_path / "new" / "page.html").read_text(encoding="utf-8")).inputs == ["a ? b"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(VeraxError, match="cannot be written to"):
        write_page(tmp_path / "file" / "page.html", [], "T")


def test_scores_that_are_shown_as_weights_mark_nothing_and_the_input_stands_above():
    page = page_of("good bad film", [0.3, -0.1, 0.0], display="weights")
    read = Read(page)
    assert read.inputs == ["good bad film"]
    assert "mark" not in read.tags  # nor is there a legend of marks
    assert re.search(r'<th scope="row" dir="auto">good</th><td dir="auto">\+0\.30</td>', page)
    rows = page_of(("Age = 3", "Sex = x"), [0.3, -0.1], ("Age", "Sex"), display="weights")
    assert '<ul class="input row"><li><bdi>Age = 3</bdi></li><li><bdi>Sex = x</bdi></li></ul>' in rows


def test_a_probability_that_rises_is_not_said_to_fall_by_less_than_nothing():
    page = page_of("good bad film", [0.3, -0.1, 0.0], display="weights", fall=-15.91)
    assert "at most 3, the probability rises by 15.9 points." in page
