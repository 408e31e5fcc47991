"""Experimenters' pages over HTTP: who is let in, what they see, what they may do."""

from __future__ import annotations

import csv
import io
import re
import time
import zipfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select
from starlette.routing import Route

from real_parts import LONG
from small_study import GIVEN, Clock, begin, finish, small_study, walk_to
from verax.studies.definition.spec_tables import ExclusionRule
from verax.studies.store.accounts import CODE_SECONDS, code_at, new_secret, set_second_factor
from verax.studies.store.tables import actions, studies
from verax.web.app import make_app
from verax.web.experimenter.live_page import _file_name
from verax.web.preview import preview_app
from verax.web.requests import make_limits
from web.serving import running
from web.walk import http_enter, http_walk
from web.watching_tools import NAME, PASSWORD, add_anna, form_token, knock, send, signed_in

DOOR = "/experimenter/sign-in"
OPEN_TO_ALL = {DOOR}


@pytest.fixture
def anna(served):
    """The served study, with an account."""
    add_anna(served.store)
    return served


def state(served) -> str:
    query = select(studies.c.state).where(studies.c.id == served.store.study_id)
    return served.store.database.read(lambda connection: connection.execute(query).scalar_one())


def done(served) -> list[tuple[str, str]]:
    query = select(actions.c.by, actions.c.type).order_by(actions.c.id)
    return [tuple(row) for row in served.store.database.read(lambda one: one.execute(query).all())]


# ---- Who is let in


def experimenters_routes(served) -> list[tuple[str, str]]:
    """Every path and method, as the application has them."""
    app = make_app(served.store, served.store.study)
    found = [
        (route.path, method)
        for route in app.routes
        if isinstance(route, Route) and route.path.startswith("/experimenter")
        for method in route.methods or ()
    ]
    assert len({path for path, _ in found}) >= 6
    return [(path, method) for path, method in found if path not in OPEN_TO_ALL]


@pytest.mark.parametrize("cookie", [None, "", "x", "A" * 32, "ü", "' OR 1=1 --"])
def test_nothing_is_shown_or_done_without_a_session(anna, cookie):
    name = f"verax-experimenter-{anna.store.study.hash[:12]}"
    headers = {} if cookie is None else {"Cookie": f"{name}={cookie}".encode()}
    for path, method in experimenters_routes(anna):
        data = {"state": "closed", "sure": "yes"} if method == "POST" else None
        answer = anna.client.request(method, path, data=data, headers=headers)
        assert (answer.status_code, answer.headers["location"], answer.content) == (303, DOOR, b""), path
    assert state(anna) == "open"
    assert done(anna) == []


def test_nothing_is_done_for_a_session_that_was_signed_out(anna):
    token = signed_in(anna.client)
    cookies = dict(anna.client.cookies)
    out = send(anna.client, "sign-out", token)
    assert (out.status_code, out.headers["location"]) == (303, DOOR)
    assert "Max-Age=0" in out.headers["set-cookie"]
    with httpx.Client(base_url=anna.address, cookies=cookies, timeout=LONG) as kept:
        assert kept.get("/experimenter").status_code == 303
        assert send(kept, "state", token, {"state": "paused"}).status_code == 303
    assert state(anna) == "open"


@pytest.mark.parametrize(
    ("name", "password"),
    [(NAME, "wrong password"), ("nobody", PASSWORD), ("", ""), (NAME, ""), ("\x00", "ü")],
)
def test_a_wrong_name_or_password_is_refused_in_the_same_words(anna, name, password):
    answer = knock(anna.client, name, password)
    assert answer.status_code == 403
    assert "The name, the password or the code is wrong." in answer.text
    assert "set-cookie" not in answer.headers
    assert password not in answer.text or not password
    assert anna.client.get("/experimenter").status_code == 303


def test_the_cookie_is_for_these_pages_alone(anna):
    session, known = knock(anna.client).headers.get_list("set-cookie")
    for cookie, seconds in ((session, 43200), (known, 15552000)):
        expected = {"HttpOnly", "SameSite=strict", "Path=/experimenter", f"Max-Age={seconds}"}
        assert expected <= set(cookie.split("; "))
        assert "Secure" not in cookie
    sent = knock(anna.client, X_Forwarded_Proto="https", Origin=anna.address)
    assert all("Secure" in cookie.split("; ") for cookie in sent.headers.get_list("set-cookie"))


def test_a_session_ends_after_twelve_hours(anna):
    clock = Clock()
    anna.store.clock = clock
    token = signed_in(anna.client)
    clock.advance(12 * 3600 - 1)
    assert anna.client.get("/experimenter").status_code == 200
    clock.advance(1)
    assert anna.client.get("/experimenter").headers["location"] == DOOR
    assert send(anna.client, "state", token, {"state": "paused"}).headers["location"] == DOOR
    assert state(anna) == "open"
    asked = anna.client.get("/experimenter/live", headers={"HX-Request": "true"})
    assert (asked.status_code, asked.headers["hx-redirect"], asked.content) == (401, DOOR, b"")


def test_who_is_signed_in_passes_the_door(anna):
    signed_in(anna.client)
    assert anna.client.get(DOOR).headers["location"] == "/experimenter"


@pytest.fixture
def crowd(anna):
    """Speaks to a server whose clock of the limits stands, so that it does not matter how long a test takes."""
    app = make_app(anna.store, anna.store.study)
    app.state.limits = make_limits(clock=lambda: 0.0)
    for number in range(10):
        add_anna(anna.store, f"anna {number}")
    with running(app) as address, httpx.Client(base_url=address, timeout=LONG) as client:
        yield client


def test_many_tries_from_one_address_have_to_wait(crowd):
    tried = [knock(crowd, f"anna {number}", "wrong password") for number in range(12)]
    assert [answer.status_code for answer in tried] == [403] * 10 + [429] * 2
    assert tried[-1].headers["retry-after"] == "10"
    assert "Too many tries" in tried[-1].text
    assert knock(crowd).status_code == 429  # even with the right password
    assert knock(crowd, X_Forwarded_For="203.0.113.9").status_code == 303


def test_wrong_passwords_from_everywhere_do_not_lock_the_owner_out(crowd):
    names = [NAME, f" {NAME}", f"{NAME}\x00"]
    for number in range(15):
        tried = knock(crowd, names[number % 3], "wrong password", X_Forwarded_For=f"203.0.113.{number}")
        assert tried.status_code == 403
    assert knock(crowd, X_Forwarded_For="203.0.113.99").status_code == 303


def test_one_address_can_guess_at_one_name_a_few_times_only(crowd):
    names = [NAME, f" {NAME}", f"{NAME}\x00"]
    tried = [
        knock(crowd, names[number % 3], "wrong password", X_Forwarded_For="203.0.113.7")
        for number in range(8)
    ]
    assert [answer.status_code for answer in tried] == [403] * 6 + [429] * 2
    assert knock(crowd, X_Forwarded_For="203.0.113.7").status_code == 429


def test_a_browser_that_is_known_is_let_in_whatever_others_try_from_its_address(crowd):
    here = {"X_Forwarded_For": "203.0.113.8"}
    assert knock(crowd, **here).status_code == 303
    kept = {name: value for name, value in crowd.cookies.items() if name.startswith("verax-known")}
    crowd.cookies.clear()
    for _ in range(8):
        stopped = knock(crowd, NAME, "wrong password", **here)
    assert stopped.status_code == 429
    crowd.cookies.update(kept)
    assert knock(crowd, **here).status_code == 303
    # It lets nobody in by itself, and under another name or made up it is none.
    assert knock(crowd, NAME, "wrong password", **here).status_code == 403
    crowd.cookies.clear()
    assert knock(crowd, "anna 1", PASSWORD, X_Forwarded_For="203.0.113.9").status_code == 303
    [others] = [value for name, value in crowd.cookies.items() if name in kept]
    for forged in ("made.up", ".", others):
        crowd.cookies.clear()
        crowd.cookies.update(dict.fromkeys(kept, forged))
        assert knock(crowd, **here).status_code == 429


def test_wrong_passwords_are_counted_over_all_processes(anna):
    """Two servers on one database, as two processes of a deployment are."""
    app = make_app(anna.store, anna.store.study)
    with running(app) as address, httpx.Client(base_url=address, timeout=LONG) as other:
        tried = [
            knock((anna.client, other)[number % 2], NAME, "wrong password", X_Forwarded_For="203.0.113.7")
            for number in range(12)
        ]
    # 6 are allowed, and one grows back in half a minute.
    assert [answer.status_code for answer in tried].count(403) in (6, 7, 8)
    assert tried[-1].status_code == 429


def test_failed_tries_to_sign_in_are_logged_and_shown(anna, caplog):
    knock(anna.client, NAME, "wrong password", X_Forwarded_For="203.0.113.7")
    knock(anna.client, "my secret password", "wrong password")
    said = [record.getMessage() for record in caplog.records if record.name == "verax.web"]
    assert said[0] == f"A try to sign in as {NAME!r} from 203.0.113.7 failed: wrong password."
    assert "under a name without an account" in said[1]
    assert "secret" not in "".join(said)
    signed_in(anna.client)
    page = words(anna.client.get("/experimenter").text)
    assert f"{NAME} could not sign in (wrong password: 1)" in page
    assert "nobody could not sign in (no such account: 1)" in page


# ---- Forms of other sites


@pytest.mark.parametrize("forged", ["", "0" * 64, "ü", "another session's"])
def test_a_form_needs_the_token_of_its_session(anna, forged):
    if forged.startswith("another"):
        with httpx.Client(base_url=anna.address, timeout=LONG) as other:
            forged = signed_in(other)
    token = signed_in(anna.client)
    for path in ("state", "export", "sign-out"):
        answer = send(anna.client, path, forged, {"state": "paused"})
        assert (answer.status_code, "Nothing was changed." in answer.text) == (403, True)
    assert anna.client.post("/experimenter/state", data={"state": "paused"}).status_code == 403
    assert (state(anna), done(anna)) == ("open", [])
    assert send(anna.client, "state", token, {"state": "paused"}).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
    ],
)
def test_a_form_that_another_site_sends_is_refused(anna, headers):
    token = signed_in(anna.client)
    for path in ("state", "export", "sign-out"):
        assert send(anna.client, path, token, {"state": "paused"}, **headers).status_code == 403
    answer = knock(anna.client, **headers)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert (state(anna), done(anna)) == ("open", [])
    assert anna.client.get("/experimenter").status_code == 200


@pytest.mark.parametrize(
    "own", [{"Sec_Fetch_Site": "same-origin", "Origin": "null"}, {"Origin": "the study's"}]
)
def test_a_form_of_our_own_page_is_taken(anna, own):
    headers = own | ({"Origin": anna.address} if own.get("Origin") == "the study's" else {})
    assert (
        send(anna.client, "state", signed_in(anna.client), {"state": "paused"}, **headers).status_code == 303
    )
    assert state(anna) == "paused"


def test_pages_are_strict_on_where_things_come_from(anna):
    signed_in(anna.client)
    page = anna.client.get("/experimenter")
    policy = page.headers["content-security-policy"]
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"} <= set(
        policy.split("; ")
    )
    assert "unsafe" not in policy
    assert (
        page.headers["referrer-policy"] == "same-origin"
    )  # or browsers would hide where our forms come from
    assert page.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:|https?://", page.text)
    assert "htmx" in page.text
    assert "htmx" not in anna.client.get("/").text


def test_other_methods_are_told_which_are_taken(anna):
    assert anna.client.put(DOOR).headers["allow"].replace(" ", "").split(",") >= ["GET"]
    assert anna.client.get("/experimenter/state").status_code == 405
    assert anna.client.get("/experimenter/nothing").status_code == 404


# ---- What they see


def test_people_are_counted_where_they_are(anna):
    store = anna.store
    finish(store, begin(store))
    walk_to(store, begin(store), "test")
    store.enter()
    store.consent(store.enter(), False)
    finish_bot(store)
    signed_in(anna.client)
    text = words(anna.client.get("/experimenter/live").text)
    assert (
        "Arrived 4 Taking part 1 Left 0 Finished 1 of 4 Excluded 0 1 not agreed yet, 1 did not agree" in text
    )
    # Neither the row nor how many pages there are, which would tell the condition while the study is open.
    assert re.search(r"p[0-9a-f]{10} Taking part Your predictions, page 6 (?!of)", text)
    assert (
        "Bots apart from people: they take nobody's place Arrived 1 Taking part 0 Left 0 Finished 1" in text
    )
    assert store.study.hash in text


def test_pages_are_in_the_language_of_the_browser(anna):
    finish(anna.store, begin(anna.store))
    english, german = (
        dict(re.findall(r"^([a-z-]+) = ([^{\n]{4,})$", file.read_text(encoding="utf-8"), re.MULTILINE))
        for file in (files("verax.phrases") / language / "experimenter.ftl" for language in ("en", "de"))
    )
    told = [english[name] for name in english if english[name] != german.get(name)]
    assert len(told) > 60
    anna.client.headers["Accept-Language"] = "de-AT,en;q=0.5"
    entrance = anna.client.get(DOOR).text
    signed_in(anna.client)
    live = anna.client.get("/experimenter").text
    person = re.findall(r'href="(/experimenter/participant/p[0-9a-f]{10})"', live)[0]
    seen = [entrance, live, anna.client.get(person).text, send(anna.client, "state", "x" * 64).text]
    for html in seen:
        assert '<html lang="de" dir="ltr">' in html
        said = f" {words(html)} "
        assert [words for words in told if f" {words} " in said] == []
    assert "Wer wo ist" in live
    anna.client.headers["Accept-Language"] = "fr"
    assert "Who is where" in anna.client.get("/experimenter").text


def finish_bot(store) -> None:
    token = store.enter(is_bot=True)
    store.consent(token, True)
    finish(store, token)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).replace("&#39;", "'")


def test_the_cells_of_the_design_fill_up(anna):
    for _ in range(3):
        finish(anna.store, begin(anna.store))
    begin(anna.store)
    signed_in(anna.client)
    page = anna.client.get("/experimenter").text
    squares = re.findall(r'class="place(?: (\w+))?"', page)
    assert sorted(squares[:4]) == ["active", "complete", "complete", "complete"]
    assert "<title>3 of 4 - A small study</title>" in page


def test_what_needs_a_decision_is_said(anna):
    def decisions() -> str:
        page = anna.client.get("/experimenter").text
        found = re.search(r'<section class="decide".*?</section>', page, re.DOTALL)
        return words(found[0]) if found else ""

    signed_in(anna.client)
    assert "run verax study freeze" in decisions()
    begin(anna.store)
    assert decisions() == ""
    anna.store.set_state("paused")
    assert (
        "The study is paused: nobody can enter, and the 1 person who is taking part is asked to come back later."
        in decisions()
    )
    anna.store.set_state("open")
    for _ in range(3):
        finish(anna.store, begin(anna.store))
    assert decisions() == ""
    token = anna.store.enter(is_bot=True)
    anna.store.consent(token, True)
    finish(anna.store, token)
    assert decisions() == ""  # a bot fills no place


def test_exclusions_are_counted_by_rule(serve):
    study = small_study(target=4)
    rules = [ExclusionRule(rule="left"), ExclusionRule(rule="too-fast", limit=1)]
    served = serve(replace(study, spec=study.spec.model_copy(update={"exclusion": rules})))
    add_anna(served.store)
    clock = Clock()
    served.store.clock = clock
    begin(served.store)
    clock.advance(2 * 3600)
    signed_in(served.client)  # applies the rules
    # They are applied after the page was sent.
    shown, until = "", time.monotonic() + LONG
    while "left 1 1 too-fast 1 0" not in shown and time.monotonic() < until:
        time.sleep(0.05)
        shown = words(served.client.get("/experimenter").text)
    assert "left 1 1 too-fast 1 0" in shown
    assert "Excluded 1" in shown


def test_the_date_of_the_freezing_is_shown(anna):
    app = make_app(anna.store, anna.store.study, frozen="2029-11-02T10:00:00Z")
    with running(app) as address, httpx.Client(base_url=address, timeout=LONG) as client:
        signed_in(client)
        assert "Frozen 2029-11-02, hash" in words(client.get("/experimenter").text)


def test_markup_in_texts_is_text(serve):
    script = "<script>alert(1)</script>"
    image = "<img src=x onerror=alert(2)>"
    served = serve(small_study(title=f"Films {script}"))
    add_anna(served.store)
    add_anna(served.store, image)
    http_walk(served.client, http_enter(served.client), lambda asked: answer(asked, script))
    served.store.set_state("paused", by=image)
    refused = knock(served.client, f'"{image}', "wrong password").text
    assert knock(served.client, image).status_code == 303
    for page in (
        refused,
        *(served.client.get(path).text for path in ("/experimenter", "/experimenter/live", DOOR)),
    ):
        assert "<script>alert" not in page
        assert "<img" not in page
    assert "&lt;img src=x onerror=alert(2)&gt;" in refused
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in served.client.get("/experimenter").text


def answer(asked, text: str) -> str:
    return GIVEN[asked.name] if asked.options else text


# ---- What they may do


def test_a_paused_study_is_kind_to_participants_and_goes_on_when_it_is_opened(anna):
    url = http_enter(anna.client)
    token = signed_in(anna.client)
    assert send(anna.client, "state", token, {"state": "paused"}).headers["location"] == "/experimenter"
    waiting = anna.client.get(url)
    assert (waiting.status_code, "This study is paused" in waiting.text) == (503, True)
    assert "Open the study" in anna.client.get("/experimenter").text
    send(anna.client, "state", token, {"state": "open"})
    assert http_walk(anna.client, url, lambda asked: GIVEN[asked.name]).code
    assert done(anna) == [(NAME, "paused"), (NAME, "open")]
    shown = words(anna.client.get("/experimenter").text)
    assert re.search(
        r"When Who What \S+ \S+ UTC anna opened the study \S+ \S+ UTC anna paused the study", shown
    )


def test_closing_is_asked_once_more(anna):
    url = http_enter(anna.client)
    token = signed_in(anna.client)
    asked = send(anna.client, "state", token, {"state": "closed"})
    assert (asked.status_code, "Close the study?" in asked.text, state(anna)) == (200, True, "open")
    assert send(anna.client, "state", token, {"state": "closed", "sure": "yes"}).status_code == 303
    assert state(anna) == "closed"
    with httpx.Client(base_url=anna.address, timeout=LONG) as late:
        assert late.post("/enter").status_code == 410
    assert http_walk(anna.client, url, lambda asked: GIVEN[asked.name]).code  # who was inside may finish


@pytest.mark.parametrize("wanted", ["", "deleted", "OPEN", "<b>"])
def test_there_is_no_other_state(anna, wanted):
    assert send(anna.client, "state", signed_in(anna.client), {"state": wanted}).status_code == 400
    assert state(anna) == "open"


def test_a_page_whose_buttons_are_outdated_loads_itself_anew(anna):
    signed_in(anna.client)
    anna.store.set_state("paused", by="ben")
    assert "hx-refresh" not in anna.client.get("/experimenter").headers
    assert anna.client.get("/experimenter/live?state=open").headers["hx-refresh"] == "true"
    assert "hx-refresh" not in anna.client.get("/experimenter/live?state=paused").headers


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_an_export_has_the_answers_and_nobodys_words(anna, format):
    http_walk(anna.client, http_enter(anna.client), lambda asked: GIVEN[asked.name])
    token = signed_in(anna.client)
    sent = send(anna.client, "export", token, {"format": format})
    assert (sent.status_code, sent.headers["content-type"]) == (200, "application/zip")
    assert re.search(
        r'attachment; filename="a-small-study-\d{8}-\d{4}\.zip"', sent.headers["content-disposition"]
    )
    assert int(sent.headers["content-length"]) == len(sent.content)
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert archive.testzip() is None
        names = {Path(name).name for name in archive.namelist()}
        assert {
            f"{table}.{format}" for table in ("participants", "responses", "events", "exclusions")
        } <= names
        whole = b"".join(archive.read(name) for name in archive.namelist())
        if format == "csv":
            text = archive.read("export/responses.csv").decode("utf-8-sig")
            given = {(row["question"], row["answer"]) for row in csv.DictReader(io.StringIO(text))}
            assert ("rating", "7") in given
    assert b"curiosity" not in whole
    assert done(anna) == [(NAME, "export")]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ('x"; filename="../../passwd', "x-filename-passwd"),
        ("a\r\nSet-Cookie: b=c", "a-set-cookie-b-c"),
        ("../..", "study"),
        ("Was weiß ein Modell? 模型", "was-wei-ein-modell"),
    ],
)
def test_no_title_gets_out_of_the_name_of_a_file(title, name):
    assert _file_name(title) == name


def test_an_unknown_format_is_refused(anna):
    assert send(anna.client, "export", signed_in(anna.client), {"format": "../etc"}).status_code == 400
    assert done(anna) == []


def test_an_export_without_room_on_the_disk_is_a_sentence(anna, monkeypatch):
    """A folder for scratch files that cannot be written to, as a full disk."""
    token = signed_in(anna.client)
    monkeypatch.setattr("tempfile.tempdir", "/proc/no-room")
    answer = send(anna.client, "export", token)
    assert answer.status_code == 507
    assert "The export could not be made" in answer.text
    assert done(anna) == []


def test_a_preview_has_no_experimenters(tmp_path):
    with running(preview_app(small_study(), tmp_path)) as address:
        assert httpx.get(f"{address}/row/0/", timeout=LONG).status_code == 200
        for path in ("/experimenter", "/row/0/experimenter", "/row/0/experimenter/sign-in"):
            assert httpx.get(f"{address}{path}", timeout=LONG).status_code == 404


def test_all_of_it_works_on_postgresql(serve, postgres_url):
    served = serve(small_study(), postgres_url)
    add_anna(served.store)
    http_walk(served.client, http_enter(served.client), lambda asked: GIVEN[asked.name])
    token = signed_in(served.client)
    assert "Arrived 1 Taking part 0 Left 0 Finished 1 of 4" in words(served.client.get("/experimenter").text)
    assert send(served.client, "export", token).status_code == 200
    assert send(served.client, "state", token, {"state": "paused"}).status_code == 303
    assert send(served.client, "sign-out", token).status_code == 303
    assert served.client.get("/experimenter").status_code == 303
    assert done(served) == [(NAME, "export"), (NAME, "paused")]


# ---- Roles


@pytest.mark.parametrize(
    ("role", "opens", "closes", "exports"),
    [("owner", 303, 303, 200), ("helper", 303, 403, 403), ("reader", 403, 403, 403)],
)
def test_each_role_has_its_buttons_and_no_others(served, role, opens, closes, exports):
    add_anna(served.store, role=role)
    assert knock(served.client).status_code == 303
    page = served.client.get("/experimenter").text
    buttons = ['value="paused"' in page, 'value="closed"' in page, "/experimenter/export" in page]
    assert buttons == [opens == 303, closes == 303, exports == 200]
    token = form_token(served.client)
    assert send(served.client, "state", token, {"state": "paused"}).status_code == opens
    assert state(served) == ("paused" if opens == 303 else "open")
    closed = send(served.client, "state", token, {"state": "closed", "sure": "yes"})
    assert closed.status_code == closes
    assert send(served.client, "export", token, {"format": "csv"}).status_code == exports
    assert served.client.get("/experimenter/live").status_code == 200
    assert send(served.client, "sign-out", token).status_code == 303


def test_an_account_of_another_study_in_the_same_database_sees_nothing(serve, tmp_path):
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    mine, other = serve(small_study(), url), serve(small_study(title="Another"), url)
    add_anna(mine.store)
    assert knock(mine.client).status_code == 303
    assert knock(other.client).status_code == 403
    # Nor by the session itself, whatever the cookie is called there.
    token = mine.client.cookies[f"verax-experimenter-{mine.store.study.hash[:12]}"]
    other.client.cookies.set(f"verax-experimenter-{other.store.study.hash[:12]}", token)
    assert other.client.get("/experimenter").headers["location"] == DOOR


def test_a_second_factor_is_typed_at_the_door(anna):
    secret = new_secret()
    set_second_factor(anna.store, NAME, secret)
    data = {"name": NAME, "password": PASSWORD}
    for code in ("", "123", "é"):
        assert anna.client.post(DOOR, data=data | {"code": code}).status_code == 403
    now = int(anna.store.clock().timestamp() // CODE_SECONDS)
    assert anna.client.post(DOOR, data=data | {"code": code_at(secret, now)}).status_code == 303
