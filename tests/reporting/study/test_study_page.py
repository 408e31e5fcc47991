"""The report of a study: whole, escaped, every number of its tables, planned apart from exploratory, bots marked."""

import copy
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from reporting.study_summaries import HOSTILE, estimate, graded, summary, table, tiny
from verax.errors import VeraxError
from verax.reporting.study import asked, render_study_report, sentences, study_verdict, write_study_report
from verax.results.tables import rows_of
from verax.results.units import POINTS
from verax.studies.analysis import Summary
from verax.studies.results.study_summary import Primary, PrimaryEstimate

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
def test_the_page_is_well_formed_and_self_contained(given):
    page = render_study_report(Summary.from_dict(given))
    found = Balance(page)
    assert not {"link", "img", "iframe"} & set(found.tags)
    assert found.tags.count("script") == 1
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
        seen.index(one)
        for one in (
            "People did better with lime (+7.3 points) and shap (+3.1 points) than with none",
            "The primary analysis",
            "Exploratory",
        )
    ]
    assert places == sorted(places)
    assert page.index('class="judged"') < page.index("<h2>")


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
    assert Balance(page).tags.count("script") == 1  # our own
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


# The verdict.


def line(condition, estimate, low, high, p=0.5, *, conclusive=True, against="none"):
    return PrimaryEstimate(
        condition, f"{condition}-vs-{against}", estimate, low, high, p, p,
        adjustment="Dunnett", detectable=12.0, participants=20, items=32, conclusive=conclusive,
    )  # fmt: skip


def verdict_of(*lines, people="participants"):
    given = Summary.from_dict(summary(people=people))
    primary = Primary(
        "accuracy gained over no explanation", POINTS, "Something was found. More is said.", lines
    )
    return study_verdict(replace(given, primary=primary))


def test_the_verdict_says_who_helps_who_harms_and_of_whom_nothing_is_shown():
    found = verdict_of(
        line("lime", 12.0, 4.0, 20.0, 0.004),
        line("shap", -9.0, -16.0, -2.0, 0.01),
        line("greedy", 3.0, -5.0, 11.0),
        line("tree", 30.0, 10.0, 50.0, 0.001, conclusive=False),
        people="bots",
    )
    assert found.sentence == (
        "Bots did better with lime (+12.0 points) than with none; bots did worse with shap (−9.0 points) than with "
        "none; no clear difference with greedy; of tree nothing is claimed, there is too little data."
    )
    assert [(row.sign, row.words) for row in found.judged] == [
        ("yes", "higher"), ("no", "lower"), ("open", "no clear difference"), ("open", "too little data for a claim")
    ]  # fmt: skip
    assert "the minimum detectable effect is about 12.0 points" in " ".join(found.rests_on)
    assert "A claim needs 6 people in each of the conditions" in " ".join(found.rests_on)


def test_no_clear_difference_is_said_first_and_not_called_equal():
    found = verdict_of(line("lime", 2.0, -4.0, 8.0), line("shap", 1.0, -5.0, 7.0))
    assert found.sentence == (
        "There is no clear evidence that explanations changed how well people did: no clear difference from none with "
        "lime and shap."
    )
    assert "Not clear is not equal" in found.rests_on[1]


def test_one_participant_or_nobody_gets_a_sentence_and_no_interval():
    alone = verdict_of(line("lime", 50.0, None, None, None, conclusive=False))
    assert alone.sentence == "Of lime nothing is claimed, there is too little data."
    assert (alone.judged[0].low, alone.judged[0].words) == (None, "no interval can be given")
    nobody = study_verdict(replace(Summary.from_dict(summary()), primary=None))
    assert nobody.sentence.startswith("The primary question cannot be answered with these data")
    assert nobody.judged == ()


def test_a_note_that_stands_further_up_is_not_said_again():
    same = [table(key=key, title=f"Table {key}", notes=["The note."]) for key in ("one", "two", "three")]
    assert read(render_study_report(Summary.from_dict(summary(tables=same)))).count("The note.") == 1
