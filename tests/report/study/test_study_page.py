"""The report of a study: whole, escaped, every number of its tables, planned apart from exploratory, bots marked."""

import copy
import re
from html import unescape
from html.parser import HTMLParser

import pytest

from report.study_summaries import HOSTILE, estimate, graded, summary, table, tiny
from verax.errors import VeraxError
from verax.report.study.study_page import asked, render_study_report, sentences, write_study_report
from verax.report.study.study_tables import rows_of
from verax.studies.analysis import Summary

VOID = {"meta", "br", "hr", "img", "input", "link", "path", "use", "rect", "circle"}


class Balance(HTMLParser):
    """Fails on a tag that is closed without being open."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


def read(page):
    """What a reader sees, in one line."""
    return " ".join(" ".join(Balance(page).text).split())


@pytest.mark.parametrize("given", [summary(), graded(), tiny(), graded(people="bots")])
def test_the_page_is_well_formed_self_contained_and_without_script(given):
    page = render_study_report(Summary.from_dict(given))
    found = Balance(page)
    assert not {"script", "link", "img", "iframe"} & set(found.tags)
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert page == render_study_report(Summary.from_dict(copy.deepcopy(given)))


def test_every_number_of_every_table_is_on_the_page():
    given = Summary.from_dict(summary())
    seen = read(render_study_report(given))
    for one in given.all_tables:
        for row in rows_of(one):
            assert " ".join(row) in seen
        assert one.sentence in seen
    for line in (
        "lime 7.3 [1.2, 13.5] 0.025 0.012 9.4 20 32 planned",
        "shap 3.1 [−2.2, 8.4]",
        "Nobody is left.",
    ):
        assert line in seen


def test_the_answer_comes_first_and_then_its_figure():
    page = render_study_report(Summary.from_dict(summary()))
    seen = read(page)
    places = [
        seen.index(one) for one in ("Explanations by lime raised accuracy by 7.3", "The primary analysis")
    ]
    assert places == sorted(places)
    assert page.index("<svg") < page.index("<h2>")


def test_planned_and_exploratory_tables_stand_apart():
    seen = read(render_study_report(Summary.from_dict(summary())))
    planned, rest = seen.split("Exploratory analyses", 1)
    assert "Change of accuracy planned" in planned
    assert "Ratings exploratory" in rest
    nothing = summary(
        tables=[table(planned=False)],
        primary={**summary()["primary"], "estimates": [estimate("lime", 1, 0, 2, planned=False)]},
    )
    assert "all of this page is exploratory" in read(render_study_report(Summary.from_dict(nothing)))
    assert "no other" in read(render_study_report(Summary.from_dict(summary(tables=[]))))


def test_bots_are_announced_before_anything_else_and_people_are_not():
    seen = read(render_study_report(Summary.from_dict(summary(people="bots"))))
    assert seen.index("Simulated people.") < seen.index("Explanations by lime raised")
    assert "42 bots analysed" in seen
    assert "Simulated people" not in read(render_study_report(Summary.from_dict(summary())))


def test_what_could_not_be_estimated_stands_under_the_answer():
    seen = read(render_study_report(Summary.from_dict(tiny())))
    assert "The primary question cannot be answered with these data" in seen
    assert "One thing to know before reading on: No participant of 1 answered" in seen
    assert "not frozen: nothing shows" in seen
    two = read(render_study_report(Summary.from_dict(summary(problems=["First.", "Second."]))))
    assert "2 things to know before reading on: First. Second." in two


def test_the_page_says_from_what_it_was_made():
    seen = read(render_study_report(Summary.from_dict(summary())))
    for part in ("5f3a" * 16, "frozen on 2026-05-04", "python 3.11.2", "replicates 10000", "Rejects in 1%"):
        assert part in seen
    assert "torch" not in seen


def test_texts_of_the_study_are_escaped_everywhere():
    given = summary(
        title=HOSTILE, dataset=HOSTILE, hash=HOSTILE, problems=[HOSTILE], analysis_plan={HOSTILE: HOSTILE},
        tables=[table(title=HOSTILE, sentence=HOSTILE, notes=[HOSTILE], key=HOSTILE)],
    )  # fmt: skip
    page = render_study_report(Summary.from_dict(given))
    assert "script" not in Balance(page).tags
    assert HOSTILE in unescape(page)


def test_files_are_written_and_a_place_that_cannot_be_is_a_sentence(tmp_path):
    write_study_report(tmp_path / "analysis", Summary.from_dict(summary()))
    names = {one.name for one in (tmp_path / "analysis" / "figures").iterdir()}
    assert names == {"accuracy.svg", "change.svg", "curve.svg", "flow.svg", "primary.svg", "ratings.svg"}
    assert (tmp_path / "analysis" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    (tmp_path / "file").write_text("")
    with pytest.raises(VeraxError, match="choose another folder"):
        write_study_report(tmp_path / "file", Summary.from_dict(tiny()))


def test_the_first_sentence_stands_out():
    text = "lime helped by 2.5 points (p = 0.04; see below). No effect of shap. More."
    assert sentences(text) == ("lime helped by 2.5 points (p = 0.04; see below).", "No effect of shap. More.")
    assert sentences("One only.") == ("One only.", "")


def test_the_study_in_a_sentence():
    assert asked(Summary.from_dict(summary())) == (
        "A forward study on rotten-tomatoes with the model logistic, right on 76.5% of its test inputs; "
        "42 participants analysed."
    )
