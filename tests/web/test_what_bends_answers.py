"""What would bend answers or harm people does not happen, as a browser shows it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest

from real_parts import LONG, new_context
from small_study import FAILED, GIVEN, small_study
from verax.explain import Attribution, Composite, Edit, Part, Path, Rule
from verax.phrases import speaking
from verax.studies.analysis.analyse import analysed
from verax.studies.analysis.sample import left_by_page
from verax.studies.answers.collect import collect
from verax.studies.answers.flat_records import READERS, participant_records, view
from verax.studies.definition.spec_tables import About, Texts
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocols.checks import check_protocol, sample_material
from verax.web.preview import fill_in, preview_app
from web.serving import running
from web.test_arrivals import COMPLETE, PROLIFIC, URLS, come
from web.walk import BUTTON, Form, filled, http_enter, http_walk, press

DESK = {"viewport": {"width": 1280, "height": 800}}
LAPTOP = {"viewport": {"width": 1366, "height": 625}}
PHONE = {"viewport": {"width": 390, "height": 664}, "has_touch": True, "is_mobile": True}
SIZES = pytest.mark.parametrize("size", [DESK, LAPTOP, PHONE], ids=["desk", "laptop", "phone"])


@pytest.fixture
def new_page(chromium) -> Iterator[Callable[..., Any]]:
    """A page in a browser profile of its own."""
    contexts = []

    def new(**settings):
        contexts.append(new_context(chromium, **settings))
        return contexts[-1].new_page()

    yield new
    for context in contexts:
        context.close()


# ---- One completion code


@SIZES
def test_the_last_page_shows_one_code_the_platforms(serve, answer, new_page, size):
    served = serve(small_study(entry="prolific", recruiting=URLS))
    url = come(served.client, PROLIFIC)
    served.client.post(url, data={"consent": "yes"})
    own_code = http_walk(served.client, url, answer).code
    page = new_page(**size)
    page.goto(f"{served.address}{url}")
    assert page.locator(".completion").all_inner_texts() == ["C1ABCDEF"]
    assert own_code not in page.locator("body").inner_text()
    assert page.get_by_role("link", name="Return to Prolific").get_attribute("href") == COMPLETE


def test_who_failed_the_checks_gets_the_code_for_that(serve, answer, new_page):
    attention = "https://app.prolific.com/submissions/complete?cc=C5ATTENT"
    served = serve(
        small_study(
            entry="prolific",
            recruiting=URLS | {"attention_url": attention},
            exclusion=[{"rule": "failed-checks", "limit": 0.2}],
        )
    )
    codes = []
    for number, fails in enumerate((True, False)):
        url = come(served.client, PROLIFIC | {"PROLIFIC_PID": f"6a00000000000000000000{number:02d}"})
        served.client.post(url, data={"consent": "yes"})
        if fails:
            while not (form := Form(served.client.get(url).text)).questions:
                served.client.post(url, data=filled(form))
            served.client.post(url, data=filled(form, lambda asked: FAILED[asked.name]))
        http_walk(served.client, url, answer)
        page = new_page(**DESK)
        page.goto(f"{served.address}{url}")
        codes += page.locator(".completion").all_inner_texts()
        way_back = page.get_by_role("link", name="Return to Prolific").get_attribute("href")
        assert way_back == (attention if fails else COMPLETE)
    assert codes == ["C5ATTENT", "C1ABCDEF"]


def test_an_address_without_a_code_shows_none(serve, answer, new_page):
    served = serve(small_study(recruiting={"completion_url": "https://panel.example.org/done"}))
    url = served.client.post("/enter").headers["location"]
    served.client.post(url, data={"consent": "yes"})
    own_code = http_walk(served.client, url, answer).code
    page = new_page(**DESK)
    page.goto(f"{served.address}{url}")
    assert page.locator(".completion").count() == 0
    assert own_code not in page.locator("body").inner_text()
    assert "Your completion code" not in page.locator("body").inner_text()


# ---- Nothing of the condition before explanations


def sample_study(protocol, roles, **options):
    """A study of made-up items in any protocol, which can be served."""
    made = {name: options.pop(name) for name in ("conditions", "groups") if name in options}
    material = sample_material(
        protocol, roles, options={"screening": {"pass_mark": 0, "attempts": 1}} | options, **made
    )
    study = check_protocol(material)
    return replace(study, hash=hashlib.sha256(repr((protocol, roles, options)).encode()).hexdigest())


def test_until_explanations_begin_all_conditions_look_the_same_to_the_pixel(new_page, tmp_path):
    study = sample_study({"name": "forward"}, {"learning": 1, "test": 1})
    begins = [step.phase for step in participant_steps(study, study.rows[0], 1)].index("about-explained")
    shots: dict[str, list[bytes]] = {}
    with running(preview_app(study, tmp_path)) as address:
        page = new_page(**DESK, reduced_motion="reduce")
        for row in study.rows:
            shots[row.condition] = []
            for ord in range(1, begins + 1):
                page.goto(f"{address}/jump/{row.number}/{ord}")
                # A long list of questions is dealt out one by one by the script; the button says that it is done.
                page.locator(BUTTON).wait_for()
                shots[row.condition].append(page.screenshot(animations="disabled"))
        assert "First predictions" in page.locator("header .study").inner_text()
    assert shots["method"] == shots["plain"]
    assert shots["control"] == shots["plain"]


@pytest.mark.parametrize(
    ("protocol", "roles", "until"),
    [
        ({"name": "forward"}, {"learning": 4, "test": 8}, "Second look"),
        ({"name": "counterfactual"}, {"test": 8}, "Second predictions"),
        ({"name": "user-test"}, {"learning": 4, "test": 8, "changed": 8}, "Second look"),
    ],
    ids=["forward", "counterfactual", "user test"],
)
@pytest.mark.parametrize("screening", [{"pass_mark": 0, "attempts": 1}, False], ids=["tested", "untested"])
def test_until_explanations_begin_pages_are_the_same_in_all_conditions(
    protocol, roles, until, screening, tmp_path
):
    study = sample_study(protocol, roles, screening=screening)
    seen: dict[str, list[str]] = {}
    with running(preview_app(study, tmp_path)) as address:
        for row in study.rows:
            seen[row.condition] = []
            with httpx.Client(base_url=address, timeout=LONG) as client:
                url = client.post(f"/row/{row.number}/enter").headers["location"]
                client.post(url, data={"consent": "yes"})
                while until not in (form := Form(html := client.get(url).text)).place:
                    # What is no part of what people see: whose page it is.
                    token = url.rpartition("/")[2]
                    same = re.sub(rf"{re.escape(token)}|{form.hidden['nonce']}|/{row.number}/", "", html)
                    seen[row.condition].append(same)
                    assert client.post(url, data=filled(form)).status_code == 303
    plain = seen.pop("plain")
    assert any("First predictions" in html for html in plain)
    assert len(seen) == 2
    for pages in seen.values():
        assert pages == plain


def test_the_own_method_is_introduced_and_asked_about_where_the_second_look_begins(new_page, tmp_path):
    study = sample_study({"name": "forward"}, {"learning": 2, "test": 2})
    with running(preview_app(study, tmp_path)) as address:
        page = new_page(**DESK)
        steps = participant_steps(study, study.rows[1], 1)
        begins = [step.phase for step in steps].index("about-explained") + 1
        page.goto(f"{address}/jump/1/{begins}")
        assert "Second look" in page.locator("header .study").inner_text()
        assert "highlighted" in page.locator(".page").inner_text()
        press(page)
        assert "highlighted strongly" in page.locator("legend").inner_text()
        page.locator("input[type=radio]").first.check()
        press(page)
        assert "The right answer is" in page.locator(".page").inner_text()
        press(page)
        assert "item 1 of 2: Second look" in page.locator("header .study").inner_text()


# ---- Taking part twice


def screened_out(served) -> str:
    """The address of somebody who failed the screening test in the client's browser."""
    url = http_enter(served.client)
    while Form(served.client.get(url).text).is_step:
        form = Form(served.client.get(url).text)
        served.client.post(url, data=filled(form, lambda asked: FAILED[asked.name]))
    return url


def test_who_was_screened_out_is_told_so_and_a_second_start_is_suspected(serve, new_page):
    served = serve(small_study())
    url = screened_out(served)
    page = new_page(**DESK)
    page.context.add_cookies(
        [
            {"name": name, "value": value, "url": served.address}
            for name, value in served.client.cookies.items()
        ]
    )
    page.goto(served.address)
    said = page.locator("main").inner_text()
    assert "already taken the short test" in said
    assert "continue where you stopped" not in said
    page.get_by_role("button", name="I am somebody else").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/p/*")
    assert not page.url.endswith(url)
    first, second = participant_records(served.store)
    assert (first["status"], first["retake_of"]) == ("screened-out", None)
    assert second["retake_of"] == first["participant"]


def test_who_declined_is_not_told_to_continue(serve, new_page):
    served = serve(small_study())
    page = new_page(**DESK)
    page.goto(served.address)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_role("heading", name="You chose not to take part").wait_for()
    page.goto(served.address)
    said = page.locator("main").inner_text()
    assert "You chose not to take part" in said
    assert "continue where you stopped" not in said


def test_another_account_of_the_platform_in_the_same_browser_is_suspected(serve):
    served = serve(small_study(entry="prolific"))
    url = come(served.client, PROLIFIC)
    served.client.post(url, data={"consent": "yes"})
    come(served.client, PROLIFIC | {"PROLIFIC_PID": "6a000000000000000000000b"})
    come(served.client, PROLIFIC)  # the first again: no retake, the same place
    first, second = participant_records(served.store)
    assert (first["retake_of"], second["retake_of"]) == (None, first["participant"])


# ---- Consent


@SIZES
def test_everything_that_is_agreed_to_stands_above_the_button(serve, new_page, size):
    study = small_study(target=5)
    about = About(
        minutes=25, pay="5 euros", run_by="Anna Example", ethics="Approved, No. 117", purpose="Reviews."
    )
    texts = Texts(contact="anna@example.org")
    served = serve(replace(study, spec=study.spec.model_copy(update={"about": about, "texts": texts})))
    page = new_page(**size)
    page.goto(f"{served.address}{served.client.post('/enter').headers['location']}")
    text = page.locator(".page").inner_text()
    for said in ("About 25 minutes", "5 euros", "No. 117", "you confirm that you are at least 18"):
        assert said in text
    button = page.get_by_role("button", name="I agree")
    for place in (0, 10_000):
        page.evaluate("place => window.scrollTo(0, place)", place)
        last = page.locator(".page > :last-child").bounding_box()
        assert button.bounding_box()["y"] >= last["y"] + last["height"]


# ---- Every page with its time, and how it was seen


@pytest.mark.parametrize(("size", "device"), [(DESK, "desktop"), (PHONE, "phone")], ids=["desk", "phone"])
def test_every_page_has_its_time_its_window_and_its_device(serve, new_page, size, device):
    served = serve(small_study())
    page = new_page(**size)
    page.goto(f"{served.address}{http_enter(served.client)}")
    press(page)  # the instructions, which ask nothing
    with view(served.store) as seen:
        first, second = READERS["pages"](seen)
    assert (first["phase_kind"], first["state"], second["state"]) == ("instructions", "closed", "open")
    assert first["seconds"] > 0
    assert first["client_ms"] >= first["visible_ms"] > 0
    assert (first["width"], first["height"]) == (size["viewport"]["width"], size["viewport"]["height"])
    assert (first["device"], first["zoom"], first["translated"]) == (device, 1.0, False)
    assert first["pointer"] in ("mouse", "touch")
    assert second["seconds"] is None


def test_who_leaves_is_counted_at_the_page_where_they_left(serve, new_page):
    served = serve(small_study())
    page = new_page(**DESK)
    page.goto(f"{served.address}{http_enter(served.client)}")
    press(page)  # the instructions; the screening test is the second page
    page.get_by_role("link", name="Leave the study").click()
    page.get_by_role("button", name="Stop, and keep my answers").click()
    page.get_by_role("heading", name="You have left this study").wait_for()
    collected = collect(served.store)
    (table,) = left_by_page(collected, analysed(collected))
    assert [(row["page"], row["phase"], row["withdrew"]) for row in table.rows] == [(2, "screening", 1)]


# ---- Translation


def test_stimuli_are_not_translated_and_a_translated_page_is_known(serve, new_page):
    served = serve(small_study())
    page = new_page(**DESK)
    url = http_enter(served.client)
    page.goto(f"{served.address}{url}")
    # As Chrome marks a page that it has translated.
    page.evaluate("document.documentElement.classList.add('translated-ltr')")
    press(page)
    with view(served.store) as seen:
        assert next(READERS["pages"](seen))["translated"] is True

    def look(form, html) -> None:
        for shown in re.findall(
            r'<div class="columns[^>]*>(?=\s*<section>\s*(?:<h2[^>]*>[^<]*</h2>)?\s*<p class="input)', html
        ):
            looked.append('translate="no"' in shown)

    looked: list[bool] = []
    http_walk(
        served.client, url, lambda asked: GIVEN.get(asked.name, "1" if asked.options else "x"), look=look
    )
    assert looked
    assert all(looked)


# ---- Desktop only


@pytest.mark.parametrize("by", ["spec", "protocol", "composite"])
def test_a_study_for_desktops_turns_phones_away_before_anything_else(serve, chromium, by):
    study = small_study()
    if by == "spec":
        study = replace(study, spec=study.spec.model_copy(update={"devices": "desktop"}))
    elif by == "composite":  # several explanations are read together
        together = study.spec.conditions[-1].model_copy(update={"explainer": "composite", "like": None})
        study = replace(study, spec=study.spec.model_copy(update={"conditions": (together,)}))
    else:  # an input and its changed version stand side by side, and unless told otherwise a study keeps it so
        study = sample_study({"name": "counterfactual"}, {"test": 8})
    served = serve(study)
    agent = (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 "
        "Mobile/15E148 Safari/604.1"
    )
    phone = new_context(chromium, **PHONE, user_agent=agent).new_page()
    phone.goto(served.address)
    assert phone.locator("h1").inner_text() == "Please open this study on a computer"
    assert phone.get_by_role("button").count() == 0
    phone.close()
    refused = served.client.post("/enter", headers={"user-agent": agent})
    assert "on a computer" in refused.text
    desk = new_context(chromium, **DESK).new_page()
    desk.goto(served.address)
    assert desk.get_by_role("button", name="Start").count() == 1
    desk.close()
    assert list(participant_records(served.store)) == []


# ---- Time to read


def test_a_page_that_asks_nothing_is_left_only_after_its_reading_time(serve, new_page):
    served = serve(small_study(timing={"reading_seconds": 2}))
    page = new_page(**DESK)
    # The page's clock stands still until it is told to go on: how busy the machine is changes nothing.
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.goto(f"{served.address}{http_enter(served.client)}")
    place = page.locator("header .study").inner_text()
    button = page.locator(".actions button")
    assert re.fullmatch(r"\w+ \([12]\)", button.inner_text())
    page.clock.run_for(600)  # after which a second press counts as one
    button.click()
    assert "Please read this page first" in page.locator("form [role=status]").inner_text()
    assert page.locator("header .study").inner_text() == place
    page.clock.resume()
    page.get_by_text(re.compile(r"^\w+$")).and_(button).wait_for()
    press(page)
    with view(served.store) as seen:
        first = next(READERS["pages"](seen))
    assert first["seconds"] >= 2
    assert page.locator("form[data-reading]").count() == 0  # the screening test asks something


# ---- What people are told of what was done with them


def test_each_debriefing_says_what_that_person_saw(new_page, tmp_path):
    study = sample_study({"name": "forward"}, {"learning": 1, "test": 1})
    said = {}
    with running(preview_app(study, tmp_path)) as address:
        page = new_page(**DESK)
        for row in study.rows:
            page.goto(f"{address}/jump/{row.number}/{len(participant_steps(study, row, 1))}")
            said[row.condition] = page.locator(".page").inner_text()
    assert "You saw no explanations." in said["plain"]
    assert "some of those people saw explanations that we made at random" in said["plain"]
    assert "we made the explanations that you saw at random" in said["control"]
    assert "Yours were not among them." in said["method"]
    for words in said.values():
        assert "may have seen" not in words


def test_a_masked_task_asks_for_no_right_answer_and_says_at_the_end_what_it_was(new_page, tmp_path):
    roles = {"training": 2, "evaluation": 2}
    study = sample_study({"name": "reverse-turing", "masked": True}, roles, groups=3)
    row = study.rows[0]
    steps = participant_steps(study, row, 1)
    with running(preview_app(study, tmp_path)) as address:
        page = new_page(**DESK)
        page.goto(f"{address}/jump/{row.number}/{[step.phase for step in steps].index('screening') + 1}")
        answers = page.locator(".answers").all_text_contents()
        assert any("What the model says" in one for one in answers)
        assert not any("What is right" in one for one in answers)
        page.goto(f"{address}/jump/{row.number}/{len(steps)}")
        told = page.locator(".page").inner_text()
    letters = re.findall(r"(\w) stood for “(\w+)”", told)
    assert [name for _, name in letters] == list(study.class_names)
    assert "This is what they were:" in told


# ---- What is asked, and what stands beside it


def first_of_part(store: Any, token: str, phase: str) -> None:
    """Goes on to the first page of a part."""
    where = store.show(token)
    while where.status == "consent" or where.phase.key != phase:
        where = store.consent(token, agreed=True) if where.status == "consent" else fill_in(store, token)


def test_the_first_answers_are_about_the_robot_on_the_left_whoever_that_is(serve, new_page):
    study = sample_study(
        {"name": "model-choice", "test": 4, "items_per_participant": 4},
        {"test": 4},
        conditions=[{"name": "method", "explainer": "lime"}, {"name": "control", "like": "method"}],
    )
    served = serve(study)
    page, left = new_page(**DESK), set()
    for _ in range(4):
        token = served.store.enter()
        first_of_part(served.store, token, "choice")
        page.goto(f"{served.address}/p/{token}")
        robots = page.locator(".columns:not(.said) section")
        places = [(robot.bounding_box()["x"], robot.locator("h2").inner_text()) for robot in robots.all()]
        answers = [
            (one.bounding_box()["x"], one.inner_text()) for one in page.locator(".answers label").all()
        ]
        names = [name for _, name in sorted(places)]
        said = [words.split("\n")[0] for _, words in sorted(answers)]
        assert said[0].startswith(f"{names[0]} seems clearly")
        assert said[-1].startswith(f"{names[1]} seems clearly")
        marks = [robot.locator(".h3").count() for robot in robots.all()]
        assert marks[0] == marks[1]
        left.add(names[0])
    assert left == {"Robot S", "Robot H"}


@pytest.mark.parametrize(
    ("protocol", "phase", "says"),
    [
        ({"name": "class-from-evidence"}, "evidence", "What did the model answer about this text?"),
        ({"name": "uncertain-case"}, "cases", "It is right on half of the texts in this study."),
    ],
    ids=["class from evidence", "uncertain case"],
)
def test_people_are_asked_for_what_is_scored_and_told_how_texts_were_chosen(
    serve, new_page, protocol, phase, says
):
    study = sample_study(
        protocol | {"test": 4, "items_per_participant": 4},
        {"test": 4},
        conditions=[{"name": "method", "explainer": "lime"}, {"name": "control", "like": "method"}],
    )
    served = serve(study)
    token = served.store.enter()
    first_of_part(served.store, token, phase)
    page = new_page(**DESK)
    page.goto(f"{served.address}/p/{token}")
    assert says in page.locator("main").inner_text()


@SIZES
def test_evidence_for_one_answer_stands_beside_that_for_the_other(new_page, tmp_path, size):
    study = sample_study(
        {"name": "uncertain-case", "test": 4, "items_per_participant": 4},
        {"test": 4},
        conditions=[{"name": "method", "explainer": "lime"}, {"name": "control", "like": "method"}],
    )
    row = study.rows[0]
    steps = participant_steps(study, row, 1)
    with running(preview_app(study, tmp_path)) as address:
        page = new_page(**size)
        page.goto(f"{address}/jump/{row.number}/{[step.phase for step in steps].index('cases') + 1}")
        sides = page.locator(".columns:has(.evidence) section").all()
        first, second = (side.bounding_box() for side in sides)
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] <= second["x"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_judged_is_in_sight_beside_answers_of_any_language(new_page, tmp_path, language):
    with speaking(language):
        study = sample_study(
            {"name": "class-from-evidence", "test": 4, "items_per_participant": 4},
            {"test": 4},
            conditions=[{"name": "method", "explainer": "lime"}, {"name": "control", "like": "method"}],
        )
    row = study.rows[0]
    steps = participant_steps(study, row, 1)
    with running(preview_app(study, tmp_path)) as address:
        page = new_page(**LAPTOP)
        page.goto(f"{address}/jump/{row.number}/{[step.phase for step in steps].index('evidence') + 1}")
        last = page.locator(".evidence li").last.bounding_box()
        dock = page.locator(".dock").bounding_box()
        assert page.locator("form[data-unread]").count() == 0
    assert last["y"] + last["height"] <= dock["y"]


@SIZES
def test_an_explanation_in_words_needs_no_knowledge_of_methods(serve, new_page, size):
    text = "it does n't bore , a warm film"
    words = ("it", "does", "n", "t", "bore", "a", "warm", "film")
    lime = Attribution(words, np.arange(8) / 8 - 0.3, 0, "zorbic", text, details={"intercept": 0.5})
    told = Composite(
        (
            Part("LIME", lime),
            Part("Anchor", Rule(words, (3, 6), ("t", "warm"), 0.98, 0.9, 0.5, True, (), 0, "zorbic", text)),
            Part(
                "Boundary",
                Path(words, (Edit(6, 6, "warm", "cold"),), (2.2, -0.6), "plenkish", 0, "zorbic", text),
            ),
        ),
        0,
        "zorbic",
        text,
    )
    material = sample_material({"name": "forward"}, {"learning": 4, "test": 4}, options={"screening": False})
    shown = {key: told if key[1] == "method" else one for key, one in material.explanations.items()}
    study = replace(check_protocol(replace(material, explanations=shown)), hash="e" * 64)
    served = serve(study)
    page = new_page(**size)
    rows = [row for row in study.rows if row.condition == "method"]
    for _ in study.rows:
        token = served.store.enter()
        served.store.consent(token, agreed=True)
        first_of_part(served.store, token, "explained")
        page.goto(f"{served.address}/p/{token}")
        if "What is enough for this answer" in page.locator("main").inner_text():
            break
    said = page.locator("main").inner_text()
    assert rows
    assert "1. doesn't" in said
    assert page.locator(".quote .changed").count() == 1
    for strange in ("margin", "Baseline", "**", "prototype", "Sum of", "predicting"):
        assert strange not in said
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
