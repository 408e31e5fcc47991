"""Questions of one's own in a browser: every kind at three sizes, by keyboard, shown or passed over, stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from real_parts import axe_violations, new_context
from small_study import GIVEN, small_study
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.answers.flat_records import participant_records, read_responses, view
from verax.studies.store import Store
from web.test_what_bends_answers import DESK, LAPTOP, PHONE
from web.walk import Asked, Form, filled, http_enter, http_walk, walk

SIZES = pytest.mark.parametrize("size", [DESK, LAPTOP, PHONE], ids=["desk", "laptop", "phone"])

# One page for each kind, and for each block.
ALL: list[dict[str, Any]] = [
    {"name": "work", "question": "Do you work with computers?", "answers": ["Yes", "No"], "place": "first"},
    {
        "name": "tools",
        "kind": "several",
        "question": "Which of these have you used?",
        "answers": ["A spreadsheet", "A search engine", "A chat program", "None of them"],
        "place": "before",
    },
    {
        "name": "hours",
        "kind": "number",
        "question": "How many hours did you work with one last week?",
        "lowest": 0,
        "highest": 168,
        "shown_if": {"question": "work", "answers": ["Yes"]},
        "place": "before",
    },
    {
        "name": "job",
        "kind": "short-text",
        "question": "What is your job?",
        "required": False,
        "place": "test",
    },
    {
        "name": "ease",
        "kind": "scale",
        "question": "How easy was it?",
        "points": 7,
        "low": "very hard",
        "high": "very easy",
        "place": "test",
    },
    {
        "name": "order",
        "kind": "ranking",
        "question": "What helped most?",
        "answers": ["The words", "The bars", "The label"],
    },
    {
        "name": "words",
        "kind": "matrix",
        "question": "The model is ...",
        "items": [["slow", "fast"], ["unfair", "fair"]],
        "points": 5,
    },
    {"block": "trust-short", "attention": True},
    {"block": "explanation-satisfaction"},
    {"block": "nasa-tlx"},
    {"block": "sus"},
    {"block": "attention-check"},
    {"block": "demographics", "required": False},
    {"name": "remarks", "kind": "long-text", "question": "Is there anything else?", "required": False},
]


def given(asked: Asked) -> str:
    right = {"trust-short-check": "2", "attention-check": "4"}
    return GIVEN.get(asked.name) or right.get(asked.name) or ("1" if asked.options else "30")


def stored(store: Store) -> dict[str, str]:
    with view(store, free_text=True) as seen:
        return {str(record["question"]): str(record["answer"]) for record in read_responses(seen)}


@SIZES
def test_every_kind_of_question_is_asked_in_a_browser_and_stored(serve, chromium, size):
    served = serve(small_study(questions=ALL))
    context = new_context(chromium, **size)
    page, wrong = context.new_page(), []

    def look(page) -> None:
        if page.locator("body.survey").count():
            wrong.extend(axe_violations(page))
            width = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert width <= 0, "the page is wider than its window"

    page.goto(served.address)
    walked = walk(page, given, look=look)
    context.close()
    answers = stored(served.store)
    assert walked.code
    assert not wrong
    assert json.loads(answers["tools"]) == ["A spreadsheet"]
    assert json.loads(answers["order"]) == ["The words", "The bars", "The label"]
    assert (answers["work"], answers["hours"], answers["job"], answers["ease"]) == ("Yes", "30", "30", "1")
    assert (answers["words-1"], answers["nasa-tlx-6"], answers["sus-10"]) == ("1", "0", "1")
    assert answers["demographics-gender"] == "woman"


def test_a_survey_page_is_answered_by_keyboard_alone(serve, chromium):
    served = serve(small_study(questions=[ALL[1] | {"place": "first"}, ALL[5] | {"place": "first"}]))
    context = new_context(chromium, **DESK)
    page = context.new_page()
    page.goto(f"{served.address}{http_enter(served.client)}")
    page.keyboard.press("Enter")  # nothing is chosen yet: the first open question gets the focus
    page.wait_for_function("document.activeElement.name === 'q-tools.1'")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.locator("select").first.focus()
    for key in ("2", "Tab", "1", "Tab", "3", "Tab"):
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    context.close()
    answers = stored(served.store)
    assert json.loads(answers["tools"]) == ["A search engine"]
    assert json.loads(answers["order"]) == ["The bars", "The words", "The label"]


def asks(served: Any, url: str) -> list[str]:
    return [asked.name for asked in Form(served.client.get(url).text).questions]


def test_a_page_is_passed_over_unless_the_answer_that_it_waits_for_was_given(serve):
    served = serve(small_study(questions=[ALL[0], ALL[2]], method="teaches"))
    seen: dict[str, list[str]] = {}
    for answer in ("1", "2"):
        url = http_enter(served.client)
        walked = http_walk(
            served.client, url, lambda asked, answer=answer: answer if asked.name == "work" else given(asked)
        )
        seen[answer] = [asked.name for asked in walked.asked]
        served.client.cookies.clear()
    assert "hours" in seen["1"]
    assert "hours" not in seen["2"]
    assert seen["2"][0] == "work"


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("q-hours", "200", "Please write a whole number from 0 to 168."),
        ("q-hours", "twelve", "Please write a whole number from 0 to 168."),
        ("q-hours", "1.5", "Please write a whole number from 0 to 168."),
        ("q-hours", "", "Please write a whole number from 0 to 168."),
        ("q-tools.9", "1", "Please choose at least one."),
        ("q-order.1", "1", "Please give each one a number from 1 to 3, and use each number once."),
    ],
)
def test_what_is_no_answer_comes_back_with_a_sentence_and_is_not_stored(serve, field, value, sentence):
    asked = next(one for one in ALL if one.get("name") == field[2:].split(".")[0])
    alone = {name: entry for name, entry in asked.items() if name != "shown_if"} | {"place": "first"}
    served = serve(small_study(questions=[alone]))
    url = http_enter(served.client)
    form = Form(served.client.get(url).text)
    answered = served.client.post(url, data=form.hidden | {field: value})
    assert answered.status_code == 422
    assert sentence in answered.text
    assert stored(served.store) == {}


def test_who_fails_the_attention_checks_is_excluded_by_the_rule(serve):
    served = serve(
        small_study(
            questions=[{"block": "trust-short", "attention": True}, {"block": "attention-check"}],
            exclusion=[{"rule": "attention-checks", "limit": 0.5}],
        )
    )
    for wrong in (False, True):
        url = http_enter(served.client)
        http_walk(
            served.client,
            url,
            lambda asked, wrong=wrong: "1" if wrong and asked.name.endswith("check") else given(asked),
        )
        served.client.cookies.clear()
    apply_exclusions(served.store)
    assert [record["rules"] for record in participant_records(served.store)] == [[], ["attention-checks"]]


@pytest.mark.parametrize(
    ("most", "turned_away"), [(1, [False, True, False]), (0, [True, True, False])], ids=["one", "nobody"]
)
def test_a_quota_turns_away_who_gives_an_answer_that_enough_people_gave(serve, most, turned_away):
    """One with the answer, or nobody: who is not eligible is known at the door."""
    served = serve(
        small_study(
            method="teaches",
            target=10,
            questions=[ALL[0]],
            quotas=[{"question": "work", "most": {"Yes": most}}],
            recruiting={"full_url": "https://app.prolific.com/submissions/complete?cc=FULL"},
        )
    )
    notices = []
    for answer in ("1", "1", "2"):
        url = http_enter(served.client)
        form = Form(served.client.get(url).text)
        served.client.post(url, data=filled(form, lambda _, answer=answer: answer))
        notices.append(served.client.get(url).text)
        served.client.cookies.clear()
    assert ["There is no place for your answer" in page for page in notices] == turned_away
    assert "cc=FULL" in notices[1]
    assert [record["status"] for record in participant_records(served.store)] == [
        "over-quota" if away else "active" for away in turned_away
    ]


def test_what_people_wrote_is_kept_from_exports_that_may_not_have_it(serve):
    served = serve(small_study(questions=[ALL[3] | {"place": "first"}]))
    url = http_enter(served.client)
    form = Form(served.client.get(url).text)
    served.client.post(url, data=filled(form, lambda _: "Baker in Bath"))
    for free_text, answer in ((False, None), (True, "Baker in Bath")):
        with view(served.store, free_text=free_text) as seen:
            (record,) = read_responses(seen)
        assert (record["answer"], record["withheld"]) == (answer, not free_text)
