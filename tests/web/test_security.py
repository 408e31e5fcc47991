"""Attacks on the participants' pages: each is refused, and nobody else's answers are touched."""

from __future__ import annotations

import hashlib
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markupsafe import escape
from sqlalchemy import inspect, select
from starlette.routing import Route

from real_parts import LONG
from small_study import GIVEN, small_study
from verax.studies.store.participant.posted import LONGEST_TEXT
from verax.studies.store.tables import metadata, participants, responses, steps
from verax.web.pages import asset_name
from verax.web.requests import LARGEST, Limiter
from web.test_arrivals import PROLIFIC, heading
from web.walk import Form, filled, http_enter, http_walk

# Sent wherever somebody can write something.
NASTY = (
    "'; DROP TABLE participant; --",
    "' OR '1'='1",
    '" OR ""="',
    "1; DELETE FROM response",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</textarea><script>alert(2)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "{0.__class__}%s%n$1",
    "../../etc/passwd",
    "a\x00b",
    "\r\nSet-Cookie: a=b",
    "\u202e\ud7ff\uffff\U0001f4a3",
    "=cmd|' /C calc'!A0",
)


def raw(address: str, request: bytes) -> bytes:
    """What the server answers to these very bytes."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), timeout=LONG) as connection:
        connection.sendall(request)
        answer = b""
        try:
            while piece := connection.recv(65_536):
                answer += piece
        except ConnectionResetError:  # it was told enough
            pass
        return answer


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: study", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def table(served, *columns) -> list[tuple]:
    return [
        tuple(row)
        for row in served.store.database.read(lambda connection: connection.execute(select(*columns)).all())
    ]


def at_reason(served, answer) -> tuple[str, Form]:
    """Somebody before a question that is answered in words."""
    url = http_enter(served.client)
    while True:
        form = Form(served.client.get(url).text)
        if "reason" in {asked.name for asked in form.questions}:
            return url, form
        served.client.post(url, data=filled(form, answer))


# ---- Other people's steps


def test_the_page_of_one_participant_stores_nothing_for_another(served, answer):
    mine, other = http_enter(served.client), http_enter(served.client)
    page_of_mine = filled(Form(served.client.get(mine).text), answer)
    page_of_other = Form(served.client.get(other).text).hidden
    assert page_of_mine["nonce"] != page_of_other["nonce"]
    assert served.client.post(other, data=page_of_mine).headers["location"] == other
    assert table(served, responses.c.step_id) == []
    assert Form(served.client.get(other).text).hidden == page_of_other
    # And the page is still good where it belongs.
    served.client.post(mine, data=page_of_mine)
    assert len(table(served, responses.c.step_id)) == 1


def test_a_forged_nonce_stores_nothing(served, answer):
    url = http_enter(served.client)
    sent = filled(Form(served.client.get(url).text), answer)
    nonce = sent["nonce"]
    for forged in ("", "0", nonce[:-1], nonce + "A", nonce.swapcase(), "' OR '1'='1", "\x00", "x" * 50_000):
        assert served.client.post(url, data=sent | {"nonce": forged}).status_code == 303
    assert table(served, responses.c.step_id) == []


def test_a_nonce_is_good_once(served, answer):
    url = http_enter(served.client)
    sent = filled(Form(served.client.get(url).text), answer)
    for _ in range(5):
        assert served.client.post(url, data=sent).status_code == 303
    assert len(table(served, responses.c.step_id)) == 1
    # Nor is it good for the next step, or for one that was not shown yet.
    for ord in ("2", "3", "11"):
        served.client.post(url, data=sent | {"ord": ord})
    assert len(table(served, responses.c.step_id)) == 1
    pending = [nonce for nonce, state in table(served, steps.c.nonce, steps.c.state) if state == "pending"]
    served.client.post(url, data=sent | {"ord": "2", "nonce": pending[0]})
    assert len(table(served, responses.c.step_id)) == 1


def test_numbers_of_rows_open_nothing(served):
    http_enter(served.client)
    for token in ("1", "0", "-1", "participant", "%", "*", "null", "1 OR 1=1"):
        assert served.client.get(f"/p/{quote(token)}").status_code == 404
        assert served.client.post(f"/p/{quote(token)}/leave", data={"choice": "delete"}).status_code == 404
    assert [status for (status,) in table(served, participants.c.status)] == ["active"]


def test_the_cookie_of_another_study_says_nothing_here(serve):
    one, other = serve(small_study()), serve(small_study(target=3, title="Another study"))
    token = http_enter(one.client).removeprefix("/p/")
    for name in (cookie.name for cookie in one.client.cookies.jar):
        page = httpx.get(other.address, headers={"Cookie": f"{name}={token}"}, timeout=LONG)
        assert token not in page.text
    renamed = httpx.get(
        other.address, headers={"Cookie": f"verax-{other.store.study.hash[:12]}={token}"}, timeout=LONG
    )
    assert token not in renamed.text
    assert other.client.get(f"/p/{token}").status_code == 404


# ---- Text that would be something else


def test_whatever_is_written_is_kept_as_it_is(serve, answer):
    served = serve(small_study(target=len(NASTY)))
    for text in NASTY:
        url, form = at_reason(served, answer)
        assert served.client.post(url, data=form.hidden | {"q-reason": text}).status_code == 303
        assert http_walk(served.client, url, answer).code
    kept = [given["reason"] for (given,) in table(served, responses.c.answers) if "reason" in given]
    assert kept == [text.replace("\x00", "").replace("\r\n", "\n") for text in NASTY]
    found = served.store.database.read(lambda connection: set(inspect(connection).get_table_names()))
    assert set(metadata.tables) <= found


def test_whatever_is_written_is_drawn_as_text(served, answer):
    """A page that comes back repeats what was written: here there is too much of it, so it comes back."""
    url, form = at_reason(served, answer)
    for text in NASTY:
        long = text + "x" * 10_001
        again = served.client.post(url, data=form.hidden | {"q-reason": long})
        assert again.status_code == 422
        assert "<script>alert" not in again.text
        assert "<img" not in again.text
        assert escape(long.replace("\x00", "")[:40].strip("\r\n")) in again.text.replace("\x00", "")


def test_fields_that_are_no_questions_change_nothing(served, answer):
    url = http_enter(served.client)
    sent = filled(Form(served.client.get(url).text), answer)
    extra = {text: text for text in NASTY} | {f"q-{text}": text for text in NASTY}
    forced = {"status": "complete", "is_bot": "1", "participant_id": "1", "completion_code": "X"}
    assert served.client.post(url, data=sent | extra | forced).status_code == 303
    assert table(served, responses.c.answers) == [({},)]
    assert table(served, participants.c.status, participants.c.is_bot) == [("active", False)]


def test_the_browsers_times_cannot_carry_anything_else(serve, answer):
    served = serve(small_study(target=3 * len(NASTY)))
    for text in NASTY:
        url = http_enter(served.client)
        sent = filled(Form(served.client.get(url).text), answer)
        nested = {"shown": text, text: 5, "blurs": {"a": [text] * 3}, "__proto__": 1, "visible_ms": 12}
        assert served.client.post(url, data=sent | {"client": json.dumps(nested)}).status_code == 303
    kept = [client for (client,) in table(served, responses.c.client)]
    assert len(kept) == len(NASTY)
    assert all(client["visible_ms"] == 12 for client in kept)
    assert all(set(client) <= {"visible_ms", "refused"} for client in kept)


def test_times_that_no_clock_shows_are_refused(served, answer):
    url = http_enter(served.client)
    sent = filled(Form(served.client.get(url).text), answer)
    wild = '{"a": 1e999, "b": -1, "c": NaN, "d": 1' + "0" * 4000 + ', "e": true, "f": "\\ud800", "g": 7}'
    assert served.client.post(url, data=sent | {"client": wild}).status_code == 303
    [(client,)] = table(served, responses.c.client)
    assert client["g"] == 7
    assert set(client) == {"g", "refused"}


def test_a_code_and_ids_are_only_text(serve):
    by_code, by_id = serve(small_study(entry="code")), serve(small_study(entry="prolific"))
    for text in NASTY:
        for page, status in (
            (by_code.client.post("/enter", data={"code": text}), 422),
            (by_code.client.get("/", params={"code": text}), 200),
            *((by_id.client.post("/enter", data=PROLIFIC | {name: text}), 422) for name in PROLIFIC),
            *((by_id.client.get("/", params=PROLIFIC | {name: text}), 422) for name in PROLIFIC),
        ):
            assert page.status_code == status
            assert "<script>alert" not in page.text
            assert "<img" not in page.text
    assert table(by_code, participants.c.id) == table(by_id, participants.c.id) == []


def test_headers_are_only_text(served):
    url = http_enter(served.client)
    for text in NASTY:
        line = text.encode("utf-8", "replace").decode("latin-1").translate({0: None, 10: None, 13: None})
        for name in ("User-Agent", "Referer", "Accept-Language", "Cookie", "X-Anything", "Sec-Purpose"):
            answer = raw(served.address, get(url, f"{name}: {line}"))
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"alert" not in answer
            assert b"DROP TABLE" not in answer


# ---- Too much


def test_forms_that_are_too_large_are_refused(served, answer):
    url, form = at_reason(served, answer)
    before = table(served, responses.c.step_id)
    for path in (url, "/enter", "/leave", f"{url}/leave"):
        large = served.client.post(path, data=form.hidden | {"q-reason": "x" * LARGEST})
        assert (large.status_code, heading(large)) == (413, "That was too long")
        many = served.client.post(path, data={f"field{number}": "" for number in range(300)})
        assert (many.status_code, heading(many)) == (400, "That could not be read")
        line = served.client.post(path, content=b"x" * (LARGEST + 1))
        assert line.status_code == 413
    assert table(served, responses.c.step_id) == before


def test_the_longest_text_passes_in_any_script(served, answer):
    url, form = at_reason(served, answer)
    assert f'maxlength="{LONGEST_TEXT}"' in served.client.get(url).text
    text = "\N{CJK UNIFIED IDEOGRAPH-8AAA}" * LONGEST_TEXT  # nine bytes each on their way
    assert served.client.post(url, data=form.hidden | {"q-reason": text}).status_code == 303
    assert {"reason": text} in [given for (given,) in table(served, responses.c.answers)]


def test_a_body_in_pieces_is_counted_too(served):
    url = http_enter(served.client)

    def pieces() -> Iterator[bytes]:
        for _ in range(LARGEST // 1000):
            yield b"q-reason=" + b"x" * 1000 + b"&"

    assert served.client.post(url, content=pieces()).status_code == 413
    assert served.client.get("/").status_code == 200


def test_bodies_that_lie_about_their_length_store_nothing(served, answer):
    url = http_enter(served.client)
    sent = filled(Form(served.client.get(url).text), answer)
    body = "&".join(f"{name}={quote(value)}" for name, value in sent.items())
    short = f"POST {url} HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 5\r\n\r\n{body}".encode()
    assert raw(served.address, short).startswith(b"HTTP/1.1 303")
    for length in ("-1", "x", "1e3", "5, 6", ""):
        wrong = (
            f"POST {url} HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        assert raw(served.address, wrong.encode()).startswith((b"HTTP/1.1 400", b"HTTP/1.1 303"))
    both = (
        f"POST {url} HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 4\r\n"
        f"Transfer-Encoding: chunked\r\n\r\nzz\r\n{body}"
    )
    assert raw(served.address, both.encode()).startswith((b"HTTP/1.1 400", b"HTTP/1.1 303"))
    assert table(served, responses.c.step_id) == []


def test_long_headers_and_addresses_end_in_a_refusal(served):
    for request in (
        get("/", f"X: {'x' * 200_000}"),
        get("/" + "x" * 200_000),
        get("/?code=" + "x" * 200_000),
    ):
        assert raw(served.address, request).startswith((b"HTTP/1.1 4", b"HTTP/1.1 200"))
    assert served.client.get("/").status_code == 200


# ---- Paths


PATHS = (
    "/static/../app.py",
    "/static/..%2f..%2fapp.py",
    "/static/%2e%2e/%2e%2e/pyproject.toml",
    "/static/....//app.py",
    "/static/..\\..\\app.py",
    "/static//etc/passwd",
    "/static/study.css%00.html",
    "/static/",
    "/static",
    "//static/study.css",
    "/p/../static/study.css",
    "/p/",
    "/p",
    "/p/%2e%2e",
    "/p/..%2f..%2fetc%2fpasswd",
    "/p/a/b/c",
    "/p/a%2fleave%2f..",
    "/p/a/leave/",
    "/p/%00",
    "/p/" + "x" * 20_000,
    "/row/0/",
    "/row/0/p/x",
    "/answers.sqlite",
    "/person.key",
    "/study.json",
    "/spec.toml",
    "/.git/config",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%ff%fe",
    "/%",
    "/%zz",
    "/enter/",
)


def test_paths_lead_to_nothing_but_pages(served):
    http_enter(served.client)
    for path in PATHS:
        answer = raw(served.address, get(path))
        status = int(answer.split(b" ")[1])
        assert status in (307, 400, 404, 405), path
        if status == 307:  # a slash too many leads to the page without it, on this host
            location = re.search(rb"(?i)location: (\S+)", answer)[1]
            assert urlsplit(location.decode()).netloc in ("", "study")
        for secret in (b"def make_app", b"root:", b"[project]", b"SQLite format"):
            assert secret not in answer


# ---- Other sites

FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
    {"Sec-Fetch-Site": "nonsense"},
    {"Origin": "https://evil.example.org"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://["},
    {"Origin": "garbage"},
)


def test_forms_of_other_sites_are_refused(served, answer):
    url = http_enter(served.client)
    sent = filled(Form(served.client.get(url).text), answer)
    undecided = served.client.post("/enter").headers["location"]
    forms = {
        "/enter": {},
        "/leave": {},
        url: sent,
        undecided: {"consent": "yes"},
        f"{url}/leave": {"choice": "delete"},
    }
    for headers in FOREIGN:
        for path, data in forms.items():
            page = served.client.post(path, data=data, headers=headers)
            assert (page.status_code, heading(page)) == (403, "That did not come from this study")
            assert "set-cookie" not in page.headers
    assert table(served, responses.c.step_id) == []
    assert table(served, participants.c.status) == [("active",), ("invited",)]


def test_forms_of_our_own_pages_and_of_old_browsers_pass(served):
    for headers in (
        {},
        {"Origin": "null"},  # what browsers write for pages that are sent without a referrer
        {"Origin": served.address},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ):
        assert served.client.post("/enter", headers=headers).status_code == 303


def test_a_link_on_another_site_may_be_followed(served):
    """Looking is not doing: people come by links in mails and on platforms."""
    url = http_enter(served.client)
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert served.client.get("/", headers=headers).status_code == 200
    assert served.client.get(url, headers=headers).status_code == 200


# ---- Guessing


def limited(serve, study, **limits) -> object:
    served = serve(study)
    served.app.state.limits = replace(served.app.state.limits, **limits)
    return served


def test_guessing_codes_is_stopped_also_for_a_right_one(serve):
    study = small_study(entry="code")
    served = limited(serve, study, wrong_codes=Limiter(rate=1 / 3600, burst=5))
    [code] = served.store.make_codes(1)
    for number in range(5):
        assert served.client.post("/enter", data={"code": f"WRONG{number}"}).status_code == 422
    for tried in ("WRONG6", code):
        page = served.client.post("/enter", data={"code": tried})
        assert (page.status_code, heading(page)) == (429, "Too many tries")
        assert 1 <= int(page.headers["retry-after"]) <= 3600
    assert table(served, participants.c.id) == []


def test_a_class_with_right_codes_from_one_address_is_let_in(serve):
    served = limited(serve, small_study(entry="code", target=60), wrong_codes=Limiter(rate=1 / 3600, burst=1))
    for code in served.store.make_codes(60):
        assert served.client.post("/enter", data={"code": code}).status_code == 303


def test_arrivals_from_one_address_are_limited_generously(serve):
    served = serve(small_study(target=400))
    found = [served.client.post("/enter").status_code for _ in range(120)]
    assert found == [303] * 120
    served.app.state.limits = replace(served.app.state.limits, enter=Limiter(rate=1 / 3600, burst=3))
    found = [served.client.post("/enter").status_code for _ in range(5)]
    assert found == [303, 303, 303, 429, 429]


def test_bots_with_their_pass_are_not_limited_and_a_wrong_pass_is_refused(serve):
    served = limited(serve, small_study(target=40), enter=Limiter(rate=1 / 3600, burst=1))
    found = [
        served.client.post("/enter", data={"bot": served.store.bot_pass()}).status_code for _ in range(5)
    ]
    assert found == [303] * 5
    for wrong in ("", "1", served.store.bot_pass()[:-1], "é", "x" * 10_000):
        assert served.client.post("/enter", data={"bot": wrong}).status_code == 403
    assert table(served, participants.c.is_bot) == [(True,)] * 5


def test_who_is_inside_is_never_limited(serve, answer):
    served = limited(serve, small_study(), enter=Limiter(rate=1 / 3600, burst=1))
    url = http_enter(served.client)
    assert served.client.post("/enter").status_code == 429
    assert http_walk(served.client, url, answer).code


# ---- Headers


def test_a_host_that_is_none_is_not_repeated(served):
    url = http_enter(served.client)
    for host in (
        '"><script>alert(1)</script>',
        "evil.example.org/path",
        "[",
        "[::1",
        "a b",
        "user@evil",
        "a:99999999",
        "\x7f",
    ):
        answer = raw(
            served.address, f"GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        )
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400"))
        assert b"alert(1)" not in answer
        assert b"//evil.example.org/path" not in answer
    without = raw(served.address, f"GET {url} HTTP/1.0\r\n\r\n".encode())
    assert b" 200 " in without.split(b"\r\n")[0]


def test_nobody_says_by_a_header_where_they_come_from(serve):
    served = limited(serve, small_study(entry="code"), wrong_codes=Limiter(rate=1 / 3600, burst=2))
    found = [
        served.client.post(
            "/enter",
            data={"code": "WRONG"},
            headers={
                "X-Real-IP": f"10.0.0.{number}",
                "Forwarded": f"for=10.0.0.{number}",
                "Client-IP": "1.2.3.4",
            },
        ).status_code
        for number in range(4)
    ]
    assert found == [422, 422, 429, 429]
    page = served.client.get("/", headers={"X-Forwarded-Proto": "javascript", "X-Forwarded-Host": "evil"})
    assert "evil" not in page.text
    assert "javascript:" not in page.text


def test_no_input_becomes_a_header(serve):
    served = serve(small_study(entry="prolific"))
    token = "%0d%0aSet-Cookie:%20stolen=1%0d%0a%0d%0a<script>"
    for request in (
        get(f"/p/{token}"),
        get(f"/p/{token}", "Content-Length: 0", method="POST"),
        get(f"/p/{token}/leave"),
        get(f"/?PROLIFIC_PID={token}&STUDY_ID={token}&SESSION_ID={token}"),
        get(f"/static/{token}"),
        get(f"/{token}"),
    ):
        head, _, body = raw(served.address, request).partition(b"\r\n\r\n")
        assert b"stolen" not in re.sub(rb"(?im)^location:.*$", b"", head)
        assert b"\r\nset-cookie: stolen" not in head.lower()
        assert b"<script>" not in body


def test_bytes_that_do_not_belong_into_a_request_end_in_a_refusal_or_a_page(served):
    for byte in (b"\x00", b"\r", b"\x0b", b"\xff", b" "):
        for request in (
            b"GET /" + byte + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nX" + byte + b"Y: b\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=" + byte + b"\r\nConnection: close\r\n\r\n",
            b"GE" + byte + b"T / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        ):
            answer = raw(served.address, request)
            assert answer == b"" or 200 <= int(answer.split(b" ")[1]) < 500
    assert served.client.get("/").status_code == 200


def test_every_answer_has_the_strict_policy_also_errors(serve, answer):
    served = serve(small_study())
    url = http_enter(served.client)
    form = filled(Form(served.client.get(url).text), answer)
    pages = [
        served.client.get("/"),
        served.client.get(url),
        served.client.head(url),
        served.client.get(f"{url}/leave"),
        served.client.post("/enter"),
        served.client.post("/enter", data={"bot": "x"}),
        served.client.post(url, data=form),
        served.client.post(url, data={}),
        served.client.post(url, content=b"x" * (LARGEST + 1)),
        served.client.post(url, content=b"\xff"),
        served.client.post("/enter", headers={"Sec-Fetch-Site": "cross-site"}),
        served.client.put(url),
        served.client.get("/nowhere"),
        served.client.get("/p/nobody"),
        served.client.get(f"/static/{asset_name('study.css')}"),
        served.client.get("/experimenter"),
        served.client.get("/experimenter/sign-in"),
    ]
    served.store.study.screens.clear()
    pages.append(served.client.get(url))
    assert [page.status_code for page in pages[-1:]] == [500]
    served.store.set_state("paused")
    pages.append(served.client.get(url))
    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "*" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["referrer-policy"] in ("no-referrer", "same-origin")
        html = page.text if "html" in page.headers.get("content-type", "") else ""
        assert not re.search(r"<script(?![^>]* src=)|<style|\son[a-z]+=|style=|javascript:", html)


# ---- Anything at all, everywhere

TEXT = st.one_of(
    st.sampled_from(NASTY), st.text(max_size=30), st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True)
)
FIELDS = [
    "consent",
    "choice",
    "ord",
    "nonce",
    "client",
    "code",
    "bot",
    "name",
    "password",
    "state",
    "format",
    "form",
]
NAMES = st.one_of(
    st.sampled_from([*FIELDS, *PROLIFIC, *(f"q-{name}" for name in GIVEN)]),
    TEXT,
)
HEADERS = st.dictionaries(
    st.sampled_from(
        ["Origin", "Sec-Fetch-Site", "Cookie", "Host", "Accept", "Range", "If-None-Match", "HX-Request"]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
    max_size=3,
)


def routes(app) -> list[tuple[str, str]]:
    """All addresses and methods of the application, and some methods that they do not take."""
    found = [route for route in app.routes if isinstance(route, Route)]
    assert len(found) == len(app.routes), "a route of another kind is not tried below"
    return [(method, route.path) for route in found for method in sorted(route.methods | {"POST", "PATCH"})]


def test_the_applications_routes_are_all_tried(served):
    tried = {path for _, path in routes(served.app)}
    assert {
        "/",
        "/enter",
        "/leave",
        "/p/{token}",
        "/p/{token}/leave",
        "/static/{name}",
        "/experimenter",
    } <= tried


@pytest.mark.parametrize("entry", ["link", "code", "prolific", "mturk"])
def test_random_requests_never_fail_and_never_lose_an_answer(serve, answer, entry):
    served = limited(serve, small_study(entry=entry, target=1000), enter=Limiter(rate=1e6, burst=1_000_000))
    token = served.store.enter(is_bot=True)
    served.store.consent(token, True)
    for _ in range(2):
        served.client.post(f"/p/{token}", data=filled(Form(served.client.get(f"/p/{token}").text), answer))
    kept = table(served, responses.c.step_id, responses.c.answers)
    assert len(kept) == 2
    places = routes(served.app)

    @settings(
        max_examples=60,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(
        place=st.sampled_from(places),
        filling=TEXT,
        mine=st.booleans(),
        query=st.dictionaries(NAMES, TEXT, max_size=3),
        form=st.dictionaries(NAMES, TEXT, max_size=5),
        headers=HEADERS,
        body=st.one_of(st.none(), st.binary(max_size=200)),
    )
    def anything(place, filling, mine, query, form, headers, body):
        method, path = place
        # Our own participant is not asked to leave: that would be an answer lost at their own wish.
        into = token if mine and "leave" not in path else quote(filling, safe="") or "x"
        address = path.replace("{token}", into).replace("{name}", quote(filling, safe="") or "x")
        options = {"content": body} if body is not None else {"data": form}
        if method in ("GET", "HEAD"):
            options = {}
        found = served.client.request(method, address, params=query, headers=headers, **options)
        assert found.status_code < 500, (method, address, found.text)
        assert "content-security-policy" in found.headers

    anything()
    now = table(served, responses.c.step_id, responses.c.answers)
    assert [row for row in now if row in kept] == kept
    assert http_walk(served.client, f"/p/{token}", answer).code


@pytest.fixture
def with_media(serve, tmp_path):
    """A study that shows a picture, and whose folder somebody else made: it names a page of theirs too."""
    home = tmp_path / "study"
    (home / "media").mkdir(parents=True)
    (home / "secret.png").write_bytes(b"secret")
    media = {}
    for name in ("dot.png", "page.html", "script.svg"):
        media[name] = hashlib.sha256(name.encode()).hexdigest()
        (home / "media" / f"{media[name]}{Path(name).suffix}").write_bytes(name.encode() * 1000)
    return serve(replace(small_study(), media=media, home=str(home))), media


def test_media_are_the_studys_own_pictures_sounds_and_films_and_nothing_else(with_media):
    served, media = with_media
    shown = served.client.get(f"/media/{media['dot.png']}.png")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert shown.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert shown.headers["x-content-type-options"] == "nosniff"
    for path in (
        f"/media/{media['page.html']}.html",
        f"/media/{media['script.svg']}.svg",
        f"/media/{media['dot.png']}",
        "/media/..%2fsecret.png",
        "/media/%2e%2e/secret.png",
        f"/media/..%2fmedia%2f{media['dot.png']}.png",
        f"/media/{media['dot.png']}.png%00.html",
        "/media/" + "9" * 5000,
        "/media/",
    ):
        assert served.client.get(path).status_code in (303, 404, 414), path


def test_who_asks_for_many_parts_of_a_picture_gets_no_more_than_the_picture(with_media):
    served, media = with_media
    path = f"/media/{media['dot.png']}.png"
    whole = served.client.get(path).content
    many = ",".join(f"{at}-" for at in range(1500))
    for ranges in ("0-," * 2000 + "0-", many, "0-0," * 5000 + "1-", "-1", "x", "9-1"):
        answer = served.client.get(path, headers={"Range": f"bytes={ranges}"})
        assert answer.status_code < 500
        assert len(answer.content) <= len(whole) + 500


def test_an_id_that_a_spreadsheet_would_reckon_with_is_no_id(serve):
    served = serve(small_study(entry="prolific"))
    ids = {"PROLIFIC_PID": "5f0a", "STUDY_ID": "s1", "SESSION_ID": "t1"}
    assert served.client.get("/", params=ids).status_code == 200
    for name in ids:
        assert served.client.get("/", params=ids | {name: "-2-3"}).status_code == 422
