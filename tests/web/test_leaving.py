"""Leaving a study from its pages: asked once more, kept or deleted, and no way back in."""

from __future__ import annotations

import re

import httpx
import pytest
from sqlalchemy import select

from real_parts import LONG
from small_study import small_study
from verax.studies.store.tables import actions, participants, responses, steps
from web.test_arrivals import MTURK, PROLIFIC, come, heading
from web.walk import Form, filled, http_enter, http_walk


def stored(served, table) -> int:
    return len(served.store.database.read(lambda connection: connection.execute(select(table)).all()))


def words(page: httpx.Response) -> str:
    main = re.search("<main>(.*)</main>", page.text, re.DOTALL)[1]
    return " ".join(re.sub("<[^>]*>", " ", main).split())


def footer(page: httpx.Response) -> tuple[str, str] | None:
    found = re.search(r'<footer><a href="([^"]*)">([^<]*)</a></footer>', page.text)
    return found and found.groups()


def somebody(served, answer, answered: int = 2) -> str:
    url = http_enter(served.client)
    for _ in range(answered):
        served.client.post(url, data=filled(Form(served.client.get(url).text), answer))
    return url


def test_every_page_before_the_end_has_the_way_out_in_its_footer(served, answer):
    url = served.client.post("/enter").headers["location"]
    assert footer(served.client.get(url)) == (f"{url}/leave", "Leave the study")
    served.client.post(url, data={"consent": "yes"})
    seen = []
    http_walk(
        served.client,
        url,
        answer,
        look=lambda _form, html: seen.append(footer(httpx.Response(200, text=html))),
    )
    assert seen == [(f"{url}/leave", "Leave the study")] * 9 + [(f"{url}/leave", "Delete my answers")]
    assert footer(served.client.get("/")) is None


def test_being_asked_is_not_leaving(served, answer):
    url = somebody(served, answer)
    before = served.client.get(url)
    asked = served.client.get(f"{url}/leave")
    assert (asked.status_code, heading(asked)) == (200, "Leave the study?")
    assert re.findall(r'<button class="second" name="choice" value="(\w+)">([^<]*)<', asked.text) == [
        ("keep", "Stop, and keep my answers"),
        ("delete", "Stop, and delete my answers"),
    ]
    assert f'<a class="button" href="{url}">No, go on</a>' in asked.text
    for nonsense in ({}, {"choice": "both"}, {"choice": ""}):
        sent = served.client.post(f"{url}/leave", data=nonsense)
        assert (sent.status_code, sent.headers["location"]) == (303, f"{url}/leave")
    assert Form(served.client.get(url).text).hidden == Form(before.text).hidden
    assert stored(served, actions) == 0


def test_stop_and_keep(served, answer):
    url = somebody(served, answer)
    sent = served.client.post(f"{url}/leave", data={"choice": "keep"})
    assert (sent.status_code, sent.headers["location"]) == (303, url)
    page = served.client.get(url)
    assert (page.status_code, heading(page)) == (200, "You have left this study")
    assert "are kept for the research, as you chose" in page.text
    assert stored(served, responses) == 2
    # Another day they may want it deleted.
    assert footer(page) == (f"{url}/leave", "Delete my answers")
    asked = served.client.get(f"{url}/leave")
    assert re.findall(r'name="choice" value="(\w+)"', asked.text) == ["delete"]
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    assert stored(served, responses) == stored(served, steps) == 0
    assert "None of your answers are kept." in served.client.get(url).text


def test_stop_and_delete(served_from_both, answer):
    served = served_from_both
    url = somebody(served, answer)
    other = somebody(served, answer, 3)
    form = filled(Form(served.client.get(url).text), answer)
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    page = served.client.get(url)
    assert (heading(page), footer(page)) == ("You have left this study", None)
    assert "None of your answers are kept." in page.text
    assert stored(served, responses) == 3
    # A page that was open in another tab brings nothing back.
    assert served.client.post(url, data=form).headers["location"] == url
    assert served.client.post(url, data={"consent": "yes"}).headers["location"] == url
    assert heading(served.client.get(url)) == "You have left this study"
    assert served.client.get(f"{url}/leave").headers["location"] == url
    assert stored(served, responses) == 3
    assert Form(served.client.get(other).text).is_step


def test_who_is_done_can_have_everything_deleted(served, answer):
    url = http_enter(served.client)
    http_walk(served.client, url, answer)
    asked = served.client.get(f"{url}/leave")
    assert heading(asked) == "Delete your answers?"
    assert "write it down first" in asked.text
    served.client.post(f"{url}/leave", data={"choice": "keep"})
    assert Form(served.client.get(url).text).code
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    assert heading(served.client.get(url)) == "You have left this study"
    assert stored(served, responses) == 0


def test_who_has_answered_nothing_just_leaves(served):
    url = served.client.post("/enter").headers["location"]
    asked = served.client.get(f"{url}/leave")
    assert "so nothing is kept" in words(asked)
    assert re.findall(r'name="choice" value="(\w+)"', asked.text) == ["delete"]
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    assert heading(served.client.get(url)) == "You have left this study"


def test_leaving_by_an_unknown_link(served):
    assert served.client.get("/p/nobody/leave").status_code == 404
    assert served.client.post("/p/nobody/leave", data={"choice": "delete"}).status_code == 404
    assert served.client.head("/p/nobody/leave").status_code == 204


# ---- Coming back


def test_who_left_and_opens_the_first_page_again_is_told_so(served, answer):
    url = somebody(served, answer)
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    page = served.client.get("/")
    assert "You have left this study, and cannot come back to it." in page.text
    assert 'action="/enter"' not in page.text


def test_who_left_and_types_the_code_again_is_told_so(serve):
    served = serve(small_study(entry="code"))
    [code] = served.store.make_codes(1)
    url = http_enter(served.client, code)
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    with httpx.Client(base_url=served.address, timeout=LONG, follow_redirects=True) as other:
        page = other.post("/enter", data={"code": code})
        assert (page.status_code, heading(page)) == (200, "You have left this study")
        other.post(url, data={"consent": "yes"})
        assert heading(other.get(url)) == "You have left this study"
    assert stored(served, participants) == 1


@pytest.mark.parametrize(
    ("entry", "ids", "says"),
    [("prolific", PROLIFIC, "return your submission"), ("mturk", MTURK, "return the HIT")],
)
def test_who_left_and_comes_from_the_platform_again_is_told_so(serve, entry, ids, says):
    served = serve(small_study(entry=entry))
    url = come(served.client, ids)
    served.client.post(url, data={"consent": "yes"})
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    with httpx.Client(base_url=served.address, timeout=LONG) as other:
        assert come(other, ids) == url
        page = other.get(url)
        assert (page.status_code, heading(page)) == (200, "You have left this study")
        assert says in page.text
    assert stored(served, participants) == 1
