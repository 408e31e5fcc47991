"""People who come from Prolific and MTurk, over HTTP: who they are, the way in, and the way back."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from html import unescape

import httpx
import pytest
from sqlalchemy import select

from real_parts import LONG, new_context
from small_study import FAILED, small_study
from verax.studies.store.tables import metadata, participants
from web.walk import Form, filled, http_walk

PROLIFIC = {
    "PROLIFIC_PID": "5f3c0a2b9d1e4f0012345678",
    "STUDY_ID": "60aabbccddeeff0011223344",
    "SESSION_ID": "61aabbccddeeff0011223344",
}
MTURK = {
    "assignmentId": "3TK8OJTYM1KS2MNAEF0KPQXXAMPLE0",
    "hitId": "3GKAWYFRAPTJ8SFU0FBAPDPEXAMPLE",
    "workerId": "A1B2C3D4E5F6G7",
    "turkSubmitTo": "https://www.mturk.com",
}
COMPLETE = "https://app.prolific.com/submissions/complete?cc=C1ABCDEF"
URLS = {
    "completion_url": COMPLETE,
    "screened_out_url": "https://app.prolific.com/submissions/complete?cc=C2SCREEN",
    "declined_url": "https://app.prolific.com/submissions/complete?cc=C3DECLIN",
    "full_url": "https://app.prolific.com/submissions/complete?cc=C4FULL",
}


def heading(page: httpx.Response) -> str:
    return unescape(re.search(r"<h1>(.*?)</h1>", page.text)[1])


def button(page: httpx.Response) -> tuple[str, str]:
    """Where the button leads, and what it says."""
    address, words = re.search(r'<a class="button" href="([^"]*)"[^>]*>([^<]*)</a>', page.text).groups()
    return unescape(address), words


def come(client: httpx.Client, ids: dict[str, str]) -> str:
    """From the platform's link to the own place, as a browser does it."""
    page = client.get("/", params=ids)
    assert page.status_code == 200, page.text
    sent = client.post("/enter", data=Form(page.text).hidden)
    assert sent.status_code == 303, sent.text
    return str(sent.headers["location"])


def policy(page: httpx.Response) -> dict[str, str]:
    """The Content-Security-Policy, by directive."""
    parts = (part.strip().partition(" ") for part in page.headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in parts}


def everything_stored(served) -> str:
    """Every value in every table."""
    return repr(
        [
            served.store.database.read(
                lambda connection, table=table: connection.execute(select(table)).all()
            )
            for table in metadata.sorted_tables
        ]
    )


# ---- Prolific


def test_from_prolific_through_the_study_and_back(serve, answer):
    served = serve(small_study(entry="prolific", recruiting=URLS))
    page = served.client.get("/", params=PROLIFIC)
    assert Form(page.text).hidden == PROLIFIC
    url = come(served.client, PROLIFIC)
    assert served.client.post(url, data={"consent": "yes"}).status_code == 303
    walked = http_walk(served.client, url, answer)
    last = served.client.get(url)
    assert walked.code in last.text
    assert button(last) == (COMPLETE, "Return to Prolific")
    assert "http-equiv" not in last.text
    stored = everything_stored(served)
    assert not any(value in stored for value in PROLIFIC.values())
    assert served.store.person_hash("prolific", PROLIFIC["PROLIFIC_PID"]) in stored


def test_the_same_person_twice_is_back_at_their_place_in_any_browser(serve, answer):
    served = serve(small_study(entry="prolific"))
    url = come(served.client, PROLIFIC)
    served.client.post(url, data={"consent": "yes"})
    served.client.post(url, data=filled(Form(served.client.get(url).text), answer))
    place = Form(served.client.get(url).text).hidden
    assert come(served.client, PROLIFIC) == url
    with httpx.Client(base_url=served.address, timeout=LONG) as other:
        again = come(other, PROLIFIC)
        assert Form(other.get(again).text).hidden == place


def test_somebody_else_at_the_same_browser_is_somebody_else(serve):
    served = serve(small_study(entry="prolific"))
    first = come(served.client, PROLIFIC)
    assert come(served.client, PROLIFIC | {"PROLIFIC_PID": "6a000000000000000000000b"}) != first


def test_one_person_who_presses_eight_times_at_once_is_one_participant(serve, request):
    for database in ("", request.getfixturevalue("postgres_url")):
        served = serve(small_study(entry="prolific", title=f"Pressed {bool(database)}"), database)
        with ThreadPoolExecutor(8) as pool:
            sent = list(
                pool.map(lambda _, served=served: served.client.post("/enter", data=PROLIFIC), range(8))
            )
        assert {one.status_code for one in sent} == {303}
        assert len({one.headers["location"] for one in sent}) == 1
        people = served.store.database.read(lambda connection: connection.execute(select(participants)).all())
        assert len(people) == 1


@pytest.mark.parametrize(
    ("ids", "status"),
    [
        ({}, 400),
        ({"PROLIFIC_PID": PROLIFIC["PROLIFIC_PID"]}, 400),
        (PROLIFIC | {"PROLIFIC_PID": ""}, 400),
        (PROLIFIC | {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, 422),
        (PROLIFIC | {"PROLIFIC_PID": "x" * 101}, 422),
        (PROLIFIC | {"STUDY_ID": "' OR 1=1 --"}, 422),
        (PROLIFIC | {"SESSION_ID": "<script>alert(1)</script>"}, 422),
        (PROLIFIC | {"PROLIFIC_PID": "a\x00b"}, 422),
        (PROLIFIC | {"PROLIFIC_PID": "١٢٣"}, 422),
        (PROLIFIC | {"PROLIFIC_PID": "abc\n"}, 422),
    ],
)
def test_a_prolific_link_without_its_ids_says_what_to_do(serve, ids, status):
    served = serve(small_study(entry="prolific"))
    for page in (served.client.get("/", params=ids), served.client.post("/enter", data=ids)):
        assert (page.status_code, heading(page)) == (status, "Please open this study from Prolific")
        assert "go back to Prolific and open the study there again" in page.text
        assert "<script>alert" not in page.text
    assert served.store.database.read(lambda connection: connection.execute(select(participants)).all()) == []


def test_who_has_begun_goes_on_without_the_ids_in_the_same_browser(serve):
    served = serve(small_study(entry="prolific"))
    url = come(served.client, PROLIFIC)
    page = served.client.get("/")
    assert (page.status_code, button(page)) == (200, (url, "Continue"))


def test_each_end_has_its_own_way_back(serve):
    served = serve(small_study(entry="prolific", recruiting=URLS, rows=1, target=1))
    declined = come(served.client, PROLIFIC | {"PROLIFIC_PID": "p1"})
    served.client.post(declined, data={"consent": "no"})
    assert button(served.client.get(declined)) == (URLS["declined_url"], "Return to Prolific")
    screened = come(served.client, PROLIFIC | {"PROLIFIC_PID": "p2"})
    served.client.post(screened, data={"consent": "yes"})
    for _ in range(4):
        form = Form(served.client.get(screened).text)
        served.client.post(screened, data=filled(form, lambda asked: FAILED[asked.name]))
    assert button(served.client.get(screened)) == (URLS["screened_out_url"], "Return to Prolific")
    waiting = come(served.client, PROLIFIC | {"PROLIFIC_PID": "p3"})
    served.client.post(come(served.client, PROLIFIC | {"PROLIFIC_PID": "p4"}), data={"consent": "yes"})
    served.client.post(waiting, data={"consent": "yes"})
    assert button(served.client.get(waiting)) == (URLS["full_url"], "Return to Prolific")
    later = served.client.get(come(served.client, PROLIFIC | {"PROLIFIC_PID": "p5"}))
    assert "Please wait for a place" in later.text
    assert button(later) == (URLS["full_url"], "Return to Prolific")


def test_without_an_address_for_it_people_are_asked_to_return_their_submission(serve):
    served = serve(small_study(entry="prolific"))
    url = come(served.client, PROLIFIC)
    served.client.post(url, data={"consent": "no"})
    assert "Please return your submission on Prolific" in served.client.get(url).text


def test_a_study_by_link_has_a_way_on_too(serve, answer):
    served = serve(small_study(recruiting={"completion_url": "https://panel.example.org/done?a=1&b=2"}))
    url = served.client.post("/enter").headers["location"]
    served.client.post(url, data={"consent": "yes"})
    http_walk(served.client, url, answer)
    assert button(served.client.get(url)) == ("https://panel.example.org/done?a=1&b=2", "Go on")


# ---- MTurk


def test_from_mturk_through_the_study_to_its_form(serve, answer):
    served = serve(small_study(entry="mturk"))
    url = come(served.client, MTURK)
    served.client.post(url, data={"consent": "yes"})
    walked = http_walk(served.client, url, answer)
    last = served.client.get(url)
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in last.text
    assert Form(last.text).hidden == {"assignmentId": MTURK["assignmentId"], "completionCode": walked.code}
    assert policy(last)["form-action"] == "'self' https://www.mturk.com"
    assert MTURK["workerId"] not in everything_stored(served)


def test_a_preview_on_mturk_shows_what_the_study_is_and_lets_nobody_in(serve):
    served = serve(small_study(entry="mturk"))
    ids = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": MTURK["hitId"]}
    for page in (served.client.get("/", params=ids), served.client.post("/enter", data=ids)):
        assert (page.status_code, heading(page)) == (200, "A small study")
        assert "Accept the HIT to begin" in page.text
        assert "<form" not in page.text
        assert "<button" not in page.text
    assert served.store.database.read(lambda connection: connection.execute(select(participants)).all()) == []


def test_only_mturk_may_frame_a_study_and_only_one_of_mturk(serve):
    framed = serve(small_study(entry="mturk"))
    url = come(framed.client, MTURK)
    for path in ("/", url, f"{url}/leave", "/nowhere", "/p/nobody"):
        assert policy(framed.client.get(path))["frame-ancestors"] == "https://*.mturk.com"
    for entry in ("link", "code", "prolific"):
        served = serve(small_study(entry=entry, title=entry))
        for path in ("/", "/nowhere", "/p/nobody"):
            found = policy(served.client.get(path))
            assert (found["frame-ancestors"], found["form-action"]) == ("'none'", "'self'")
    # What an experimenter sees is in nobody's frame in any study.
    assert policy(framed.client.get("/experimenter/sign-in"))["frame-ancestors"] == "'none'"


@pytest.mark.parametrize(
    "host",
    [
        "https://evil.example.org",
        "https://www.mturk.com.evil.example.org",
        "https://evil.example.org/https://www.mturk.com",
        "https://www.mturk.com@evil.example.org",
        "https://user:password@www.mturk.com",
        "http://www.mturk.com",
        "https://workersandbox.mturk.com",
        "javascript:alert(1)//www.mturk.com",
        "//www.mturk.com",
        "https://[",
        "https://www.mturk.com:444",
    ],
)
def test_answers_go_to_no_other_host(serve, host):
    served = serve(small_study(entry="mturk"))
    page = served.client.post("/enter", data=MTURK | {"turkSubmitTo": host})
    assert (page.status_code, heading(page)) == (422, "Please open this study from MTurk")


def test_a_sandbox_study_takes_people_of_the_sandbox_alone(serve):
    served = serve(small_study(entry="mturk", recruiting={"sandbox": True}))
    sandbox = MTURK | {"turkSubmitTo": "https://workersandbox.mturk.com/"}
    url = come(served.client, sandbox)
    assert served.store.return_to(url.removeprefix("/p/")) == {
        "assignmentId": MTURK["assignmentId"],
        "host": "https://workersandbox.mturk.com",
    }
    assert policy(served.client.get(url))["form-action"] == "'self' https://workersandbox.mturk.com"
    assert served.client.post("/enter", data=MTURK).status_code == 422


@pytest.mark.parametrize(
    ("ids", "status"),
    [
        ({}, 400),
        ({name: value for name, value in MTURK.items() if name != "workerId"}, 400),
        (MTURK | {"workerId": "a b"}, 422),
        (MTURK | {"assignmentId": '"><form action=//evil>'}, 422),
    ],
)
def test_an_mturk_page_without_its_ids_says_what_to_do(serve, ids, status):
    served = serve(small_study(entry="mturk"))
    for page in (served.client.get("/", params=ids), served.client.post("/enter", data=ids)):
        assert (page.status_code, heading(page)) == (status, "Please open this study from MTurk")


def test_who_did_not_agree_on_mturk_is_asked_to_return_the_hit(serve):
    served = serve(small_study(entry="mturk"))
    url = come(served.client, MTURK)
    served.client.post(url, data={"consent": "no"})
    assert "Please return the HIT on MTurk" in served.client.get(url).text


# ---- With a browser


def frame_of(chromium, site: str, address: str):
    """A page of another site that shows the study in a frame, as MTurk does; and what the site is sent."""
    page, sent = new_context(chromium).new_page(), []
    # Our server is at home, which a page of the open net may not ask for unless the user lets it.
    with suppress(Exception):  # a browser that is older than the rule does not know of it
        page.context.grant_permissions(["local-network-access"], origin=site)

    def as_site(route) -> None:
        if route.request.method == "POST":
            sent.append((route.request.url, route.request.post_data))
            route.fulfill(content_type="text/html", body="<h1>Submitted</h1>")
        else:
            route.fulfill(
                content_type="text/html", body=f'<iframe src="{address}" width=900 height=700></iframe>'
            )

    page.route(f"{site}/**", as_site)
    page.goto(f"{site}/hit")
    return page, sent


def test_a_worker_takes_part_inside_mturks_frame_and_submits(serve, chromium, answer):
    served = serve(small_study(entry="mturk"))
    ids = "&".join(f"{name}={value}" for name, value in MTURK.items())
    page, sent = frame_of(chromium, "https://www.mturk.com", f"{served.address}/?{ids}".replace("&", "&amp;"))
    frame = page.frame_locator("iframe")
    for button_words in ("Start", "I agree"):
        frame.get_by_role("button", name=button_words).click()
    frame.get_by_text("Part 1 of 5: Instructions").wait_for()
    [token] = re.findall("/p/([^/]+)$", page.frames[1].url)
    http_walk(served.client, f"/p/{token}", answer)
    page.frames[1].goto(page.frames[1].url)
    code = frame.locator(".completion").inner_text()
    frame.get_by_role("button", name="Submit the HIT").click()
    frame.get_by_text("Submitted").wait_for()
    [(address, data)] = sent
    assert address == "https://www.mturk.com/mturk/externalSubmit"
    assert data == f"assignmentId={MTURK['assignmentId']}&completionCode={code}"
    page.close()


def test_no_other_site_can_frame_a_study(serve, chromium):
    served = serve(small_study(entry="mturk"))
    for site, is_shown in (("https://worker.mturk.com", True), ("https://evil.example.org", False)):
        page, _ = frame_of(chromium, site, served.address)
        page.wait_for_load_state()
        assert ("Please open this study" in page.frames[1].content()) == is_shown
        page.close()


def test_the_button_at_the_end_leads_back_to_prolific(serve, chromium, answer):
    served = serve(small_study(entry="prolific", recruiting=URLS))
    url = come(served.client, PROLIFIC)
    served.client.post(url, data={"consent": "yes"})
    http_walk(served.client, url, answer)
    page = new_context(chromium).new_page()
    page.route(
        "https://app.prolific.com/**", lambda route: route.fulfill(content_type="text/html", body="Paid")
    )
    page.goto(f"{served.address}{url}")
    page.get_by_role("link", name="Return to Prolific").click()
    page.get_by_text("Paid").wait_for()
    assert page.url == COMPLETE
    page.close()


def test_somebody_leaves_with_a_browser(serve, chromium):
    served = serve(small_study())
    page = new_context(chromium).new_page()
    page.goto(served.address)
    for button_words in ("Start", "I agree"):
        page.get_by_role("button", name=button_words).click()
    page.get_by_role("link", name="Leave the study").click()
    page.get_by_role("link", name="No, go on").click()
    page.get_by_role("link", name="Leave the study").click()
    page.get_by_role("button", name="Stop, and delete my answers").click()
    page.get_by_role("heading", name="You have left this study").wait_for()
    page.go_back()
    page.goto(served.address)
    page.get_by_text("You have left this study, and cannot come back to it.").wait_for()
    page.close()
