"""The application over HTTP, without a browser."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
from jinja2 import Environment
from sqlalchemy import select

from real_parts import LONG
from small_study import FAILED, GIVEN, RATING, finish, small_study
from verax.studies.store.tables import events, participants, responses, steps
from verax.web import pages as pages_module
from verax.web.pages import asset_name
from verax.web.requests import LARGEST
from web.walk import Form, filled, http_enter, http_walk

POLICY = {
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}
KINDS_OF_STEPS = 9


def stored(served) -> list[dict]:
    """The answers in the database, by step."""
    rows = served.store.database.read(
        lambda connection: connection.execute(
            select(steps.c.ord, steps.c.views, responses.c.answers, responses.c.client).join_from(
                responses, steps
            )
        ).all()
    )
    return [row._asdict() for row in sorted(rows)]


def heading(page: httpx.Response) -> str:
    return re.search(r"<h1>(.*?)</h1>", page.text)[1]


# ---- The way through


def test_from_the_first_page_to_the_completion_code(served, answer):
    assert heading(served.client.get("/")) == "A small study"
    url = http_enter(served.client)
    walked = http_walk(served.client, url, answer)
    assert walked.places == [
        "Part 1 of 5: Instructions",
        "Part 1 of 5: A short test",
        "Part 2 of 5: Learning",
        "Part 3 of 5, item 1 of 2: Your predictions",
        "Part 3 of 5, item 2 of 2: Your predictions",
        "Part 3 of 5, item 2 of 2: Your predictions",
        "Part 4 of 5: About you",
        "Part 5 of 5: A last question",
        "The end",
    ]
    # One of two items is shown plainly and one explained; its rating is asked, and all that was said is kept.
    assert [asked.name for asked in walked.asked] == [
        "screening-1",
        "screening-2",
        "prediction",
        "prediction",
        "rating",
        "reason",
        "strategy",
    ]
    where = served.store.look(url.removeprefix("/p/"))
    assert (where.status, where.completion_code) == ("complete", walked.code)
    # The second option is called differently for every second participant, and means the second class.
    assert [row["answers"] for row in stored(served)] == [
        {},
        {"screening-1": 2, "screening-2": 1},
        {},
        {"prediction": 1},
        {"prediction": 1, "rating": 7},
        {},
        {"reason": "Out of curiosity."},
        {"strategy": "By heart."},
        {},
    ]


def test_the_answer_to_a_guess_is_shown_with_what_was_said(served, answer):
    said = []
    http_walk(
        served.client,
        http_enter(served.client),
        answer,
        look=lambda _, html: said.extend(re.findall(r"You said: <strong>(.*?)</strong>", html)),
    )
    assert len(said) == 1
    assert said[0] in ("A", "B")


def test_what_people_write_and_read_is_escaped(served, answer):
    pages = []
    http_walk(served.client, http_enter(served.client), answer, look=lambda _, html: pages.append(html))
    assert "&lt;b&gt;no&lt;/b&gt;" in "".join(pages)
    assert "<b>" not in "".join(pages)


def test_times_that_the_browser_measured_are_kept(served):
    url = http_enter(served.client)
    form = Form(served.client.get(url).text)
    times = {"shown": 12, "first_input": 800, "submitted": 900, "visible_ms": 850, "blurs": 1}
    served.client.post(url, data=filled(form) | {"client": json.dumps(times)})
    assert stored(served)[0]["client"] == times


def test_times_are_never_needed(served, answer):
    url = http_enter(served.client)
    for client in ("", "no json", "[1]", "[" * 15_000, "null"):
        form = Form(served.client.get(url).text)
        assert served.client.post(url, data=filled(form, answer) | {"client": client}).status_code == 303
        assert stored(served)[-1]["client"] == {}
    assert len(stored(served)) == 5


# ---- Missing answers


def step_with_rating(served, answer) -> tuple[str, Form]:
    """Somebody before a prediction and a rating."""
    url = http_enter(served.client)
    while True:
        form = Form(served.client.get(url).text)
        if {asked.name for asked in form.questions} == {"prediction", "rating"}:
            return url, form
        served.client.post(url, data=filled(form, answer))


def test_a_missing_answer_brings_the_page_again_with_what_was_given(served, answer):
    url, form = step_with_rating(served, answer)
    before = len(stored(served))
    page = served.client.post(url, data=form.hidden | {"q-prediction": "2"})
    assert page.status_code == 422
    assert len(stored(served)) == before
    chosen = re.findall(r'<input type="radio" name="([^"]*)" value="([^"]*)" checked', page.text)
    assert chosen == [("q-prediction", "2")]
    invalid = re.findall(
        r'<fieldset[^>]*id="([^"]*)"[^>]*aria-invalid="true" aria-describedby="([^"]*)"', page.text
    )
    assert invalid == [("question-2", "question-2-error")]
    assert '<p class="error" id="question-2-error">Please choose an answer.</p>' in page.text
    assert re.findall(r'name="([^"]*)" value="([^"]*)"[^>]* autofocus', page.text) == [("q-rating", "1")]
    # The same form, completed, goes through.
    again = Form(page.text)
    assert again.hidden == form.hidden
    assert served.client.post(url, data=filled(again, answer)).status_code == 303
    assert stored(served)[-1]["answers"] == {"prediction": 1, "rating": 7}


def test_a_page_that_comes_back_is_no_reload(served, answer):
    url, form = step_with_rating(served, answer)
    for _ in range(3):
        assert served.client.post(url, data=form.hidden | {"q-prediction": "2"}).status_code == 422
    assert served.client.post(url, data=filled(form, answer)).status_code == 303
    assert stored(served)[-1]["views"] == 1
    noted = select(events.c.type)
    types = served.store.database.read(lambda connection: connection.execute(noted).scalars().all())
    assert types == ["refused"] * 3


def test_a_page_that_comes_back_still_says_what_was_said_before(serve, answer):
    study = small_study()
    asking = replace(study.screens["feedback"], questions=(RATING,))
    served = serve(replace(study, screens={**study.screens, "feedback": asking}))
    url = http_enter(served.client)
    while "You said" not in (page := served.client.get(url)).text:
        served.client.post(url, data=filled(Form(page.text), answer))
    again = served.client.post(url, data=Form(page.text).hidden)
    assert again.status_code == 422
    said = [re.findall("You said: <strong>(.)</strong>", one.text) for one in (page, again)]
    assert said in ([["A"], ["A"]], [["B"], ["B"]])


def test_the_last_page_thanks_and_gives_the_code_and_the_contact(serve, answer):
    study = small_study()
    texts = study.spec.texts.model_copy(update={"contact": "study@example.org", "debrief": "About foxes."})
    served = serve(replace(study, spec=study.spec.model_copy(update={"texts": texts})))
    url = http_enter(served.client)
    code = http_walk(served.client, url, answer).code
    main = re.search("<main>(.*)</main>", served.client.get(url).text, re.DOTALL)[1]
    words = re.sub("<[^>]*>", " ", main).split()
    assert " ".join(words) == (
        f"Thank you All your answers are saved. You got 1 of 2 right. Your completion code {code} Copy the code "
        "Copy this code or write it down if you were asked for one. If you have questions, write to study@example.org."
    )


def test_an_answer_that_is_not_on_the_page_is_refused(served, answer):
    url, form = step_with_rating(served, answer)
    for value in ("0", "8", "-1", "x", "1.0", "١"):
        page = served.client.post(url, data=form.hidden | {"q-prediction": "1", "q-rating": value})
        assert page.status_code == 422
        assert "This is not one of the answers" in page.text


def test_text_is_kept_when_another_text_is_missing(served, answer):
    url = http_enter(served.client)
    while True:
        form = Form(served.client.get(url).text)
        if "reason" in {asked.name for asked in form.questions}:
            break
        served.client.post(url, data=filled(form, answer))
    page = served.client.post(url, data=form.hidden | {"q-reason": "   "})
    assert page.status_code == 422
    assert re.search(
        r'<textarea[^>]*aria-invalid="true" aria-describedby="question-1-error" autofocus>', page.text
    )
    assert ">\n   </textarea>" in page.text


# ---- Twice, late, old


def test_eight_copies_of_each_submission_at_once_store_one(served_from_both, answer):
    served = served_from_both
    url = http_enter(served.client)
    with ThreadPoolExecutor(8) as pool, httpx.Client(base_url=served.address, timeout=LONG) as other:
        for _ in range(KINDS_OF_STEPS):
            sent = filled(Form(served.client.get(url).text), answer)
            answers = list(
                pool.map(
                    lambda client, data: client.post(url, data=data), [served.client, other] * 4, [sent] * 8
                )
            )
            assert [(one.status_code, one.headers["location"]) for one in answers] == [(303, url)] * 8
            after = {Form(served.client.get(url).text).hidden.get("nonce") for _ in range(2)}
            assert len(after) == 1
            assert sent["nonce"] not in after
    assert len(stored(served)) == KINDS_OF_STEPS
    duplicates = served.store.database.read(
        lambda connection: connection.execute(select(events.c.id).where(events.c.type == "duplicate")).all()
    )
    assert len(duplicates) == 7 * KINDS_OF_STEPS
    assert Form(served.client.get(url).text).code


def test_eight_agreements_at_once_take_one_place(served_from_both):
    served = served_from_both
    address = served.client.post("/enter").headers["location"]
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda _: served.client.post(address, data={"consent": "yes"}), range(8)))
    assert {one.status_code for one in sent} == {303}
    people = served.store.database.read(lambda connection: connection.execute(select(participants)).all())
    assert [(person.number, person.current) for person in people] == [(1, 1)]


def test_an_old_page_changes_nothing_and_leads_to_where_the_participant_is(served, answer):
    url = http_enter(served.client)
    old = filled(Form(served.client.get(url).text), answer)
    served.client.post(url, data=old)
    now = Form(served.client.get(url).text)
    answered = served.client.post(url, data=old)
    assert (answered.status_code, answered.headers["location"]) == (303, url)
    assert Form(served.client.get(url).text).hidden == now.hidden
    assert len(stored(served)) == 1


def test_a_form_with_another_number_or_nonce_stores_nothing(served):
    url = http_enter(served.client)
    form = Form(served.client.get(url).text)
    for field in ("ord", "nonce"):
        for value in ("", "0", "99", "²", "9" * 40, "x"):
            assert served.client.post(url, data=filled(form) | {field: value}).status_code == 303
    assert stored(served) == []


def test_a_look_ahead_starts_no_clock(served):
    """Browsers that fetch a page before it is wanted, and HEAD, are not displays."""
    url = http_enter(served.client)
    assert served.client.head(url).status_code == 204
    assert served.client.get(url, headers={"Sec-Purpose": "prefetch;prerender"}).status_code == 503
    served.client.post(url, data=filled(Form(served.client.get(url).text)))
    assert stored(served)[0]["views"] == 1


# ---- Coming in


def test_the_first_page_offers_to_go_on_and_to_begin_anew(served):
    url = http_enter(served.client)
    page = served.client.get("/")
    assert f'href="{url}"' in page.text
    left = served.client.post("/leave")
    assert (left.status_code, left.headers["location"]) == (303, "/")
    assert url not in served.client.get("/").text
    assert http_enter(served.client) != url


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(served):
    cookie = served.client.post("/enter").headers["set-cookie"]
    assert {part.strip().lower() for part in cookie.split(";")[1:]} >= {"httponly", "samesite=lax", "path=/"}
    assert "secure" not in cookie.lower()


def test_a_link_opened_on_another_device_is_remembered_there(served):
    url = http_enter(served.client)
    with httpx.Client(base_url=served.address, timeout=LONG) as other:
        assert f'<a href="{served.address}{url}">{served.address}{url}</a>' in other.get(url).text
        assert f'href="{url}"' in other.get("/").text


def test_a_cookie_of_nobody_is_ignored(served):
    name = served.client.post("/enter").headers["set-cookie"].split("=")[0]
    page = httpx.get(f"{served.address}/", headers={"Cookie": f"{name}=nobody"}, timeout=LONG)
    assert page.status_code == 200
    assert "nobody" not in page.text


def test_entering_with_a_code(serve):
    served = serve(small_study(entry="code"))
    code = served.store.make_codes(1)[0]
    assert f'value="{code}"' in served.client.get(f"/?code={code}").text
    for typed, sentence in (("", "Please enter yours"), ("XYZ", "We do not know this code")):
        page = served.client.post("/enter", data={"code": typed})
        assert page.status_code == 422
        assert sentence in page.text
        assert f'value="{typed}"' in page.text
        assert 'aria-invalid="true" aria-describedby="code-error" autofocus' in page.text
    url = http_enter(served.client, code)
    # Whoever types it again, with other spaces and case, is the same participant.
    assert http_enter(served.client, f" {code[:4].lower()}-{code[4:]} ") == url


def test_a_code_in_the_address_is_escaped(serve):
    page = serve(small_study(entry="code")).client.get("/", params={"code": '"><script>'})
    assert "<script>" not in page.text
    assert "&#34;&gt;&lt;script&gt;" in page.text


def test_who_does_not_agree_is_asked_nothing(served):
    address = served.client.post("/enter").headers["location"]
    assert served.client.post(address, data={"consent": "no"}).status_code == 303
    page = served.client.get(address)
    assert (page.status_code, heading(page)) == (200, "You chose not to take part")


# ---- Pages of words


def test_who_fails_the_screening_test_is_thanked(served):
    url = http_enter(served.client)
    for _ in range(4):
        form = Form(served.client.get(url).text)
        assert served.client.post(url, data=filled(form, lambda asked: FAILED[asked.name])).status_code == 303
    page = served.client.get(url)
    assert (page.status_code, heading(page)) == (200, "Thank you for trying")


def test_a_full_study_says_so(serve):
    served = serve(small_study(rows=1, target=1))
    early, late = (served.client.post("/enter").headers["location"] for _ in range(2))
    for address in (early, late):
        assert served.client.post(address, data={"consent": "yes"}).status_code == 303
    assert heading(served.client.get(early)) == "What you will do"
    page = served.client.get(late)
    assert (page.status_code, heading(page)) == (200, "Please wait for a place")
    assert "You are next." in page.text
    later = served.client.post("/enter").headers["location"]
    assert "One person is ahead of you." in served.client.get(later).text
    finish(served.store, early.removeprefix("/p/"))
    assert heading(served.client.get(late)) == "There are no free places"
    refused = served.client.post("/enter")
    assert (refused.status_code, heading(refused)) == (409, "There are no free places")


def test_a_pause_and_the_end_say_so(served):
    url = http_enter(served.client)
    served.store.set_state("paused")
    for page in (served.client.get(url), served.client.post("/enter")):
        assert (page.status_code, heading(page)) == (503, "This study is paused")
        assert page.headers["retry-after"] == "600"
    served.store.set_state("closed")
    page = served.client.post("/enter")
    assert (page.status_code, heading(page)) == (410, "This study has ended")
    assert heading(served.client.get(url)) == "What you will do"  # who is inside may finish


def test_an_unknown_link(served):
    for page in (served.client.get("/p/nobody"), served.client.get("/p/%F0%9F%8E%88")):
        assert (page.status_code, heading(page)) == (404, "We do not know this link")
    assert served.client.post("/p/nobody", data={"consent": "yes"}).headers["location"] == "/p/nobody"


def test_wrong_addresses_and_methods(served):
    for method, path, status, says in (
        ("GET", "/nowhere", 404, "There is no such page"),
        ("GET", "/static/../app.py", 404, "There is no such page"),
        ("GET", "/static/study.css", 404, "There is no such page"),
        ("PUT", "/p/nobody", 405, "Nothing to do here"),
        ("GET", "/enter", 405, "Nothing to do here"),
        ("POST", "/", 405, "Nothing to do here"),
    ):
        page = served.client.request(method, path)
        assert (page.status_code, heading(page)) == (status, says)
        assert (status == 405) == ("allow" in page.headers)


def test_a_form_that_is_larger_than_any_page_needs_is_refused(served):
    url = http_enter(served.client)
    form = filled(Form(served.client.get(url).text))
    page = served.client.post(url, data=form | {"client": "x" * LARGEST})
    assert (page.status_code, heading(page)) == (413, "That was too long")
    assert stored(served) == []


def test_what_is_no_form_is_refused(served):
    url = http_enter(served.client)
    for body in (b"\xff\xfe", b"&".join([b"a=1"] * 300)):
        page = served.client.post(url, content=body)
        assert (page.status_code, heading(page)) == (400, "That could not be read")


def test_a_failure_is_a_page_without_a_traceback(served):
    url = http_enter(served.client)
    form = filled(Form(served.client.get(url).text))
    served.store.study.screens.clear()
    page = served.client.get(url)
    assert (page.status_code, heading(page)) == (500, "Something went wrong here")
    assert "Traceback" not in page.text
    assert set(page.headers["content-security-policy"].split("; ")) == POLICY
    served.store.database.write(responses.drop)
    served.store.study.screens.update(small_study().screens)
    page = served.client.post(url, data=form)
    assert (page.status_code, heading(page)) == (503, "That could not be saved just now")


# ---- Headers


def test_pages_are_private(served):
    for path in ("/", "/p/nobody", "/nowhere"):
        page = served.client.get(path)
        assert set(page.headers["content-security-policy"].split("; ")) == POLICY
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-robots-tag"] == "noindex, nofollow"


def test_files_of_the_pages_may_be_kept_for_ever(served):
    for name, kind in (
        ("study.css", "text/css"),
        ("study.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
    ):
        asset = served.client.get(f"/static/{asset_name(name)}")
        assert asset.status_code == 200
        assert asset.headers["content-type"].startswith(kind)
        assert "immutable" in asset.headers["cache-control"]
        assert f"/static/{asset_name(name)}" in served.client.get("/").text


def test_the_answers_of_the_small_study_are_all_used(served, answer):
    """The tests above would be weaker if a question were left out of the walk."""
    walked = http_walk(served.client, http_enter(served.client), answer)
    assert {asked.name for asked in walked.asked} == set(GIVEN)


def test_no_page_is_compiled_while_people_wait(serve, monkeypatch):
    """Forty who came first to a new process compiled all templates forty times, for seconds."""
    pages_module._environment.cache_clear()
    compiled = []
    of_jinja = Environment.compile
    monkeypatch.setattr(
        Environment, "compile", lambda *given, **more: compiled.append(given) or of_jinja(*given, **more)
    )
    served = serve(small_study())
    at_start = len(compiled)
    assert at_start > 5
    assert served.client.get("/").status_code == 200
    assert served.client.get(http_enter(served.client)).status_code == 200
    assert served.client.get("/experimenter/sign-in").status_code == 200
    assert len(compiled) == at_start
