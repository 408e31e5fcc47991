"""A study to look at: any row, the real pages, and nothing kept."""

from __future__ import annotations

import re

import httpx

from small_study import GIVEN, small_study
from verax.web.preview import preview_app
from web.serving import running
from web.walk import http_walk


def answer(asked) -> str:
    return GIVEN[asked.name]


def test_every_row_can_be_walked_through_more_often_than_the_study_has_places(tmp_path):
    study = small_study(target=1)
    with running(preview_app(study, tmp_path)) as address:
        chooser = httpx.get(f"{address}/", timeout=60).text
        assert re.findall(r'href="(/row/[^"]*)"', chooser) == ["/row/0/", "/row/1/"]
        items = {}
        for row in (0, 1):
            with httpx.Client(base_url=f"{address}/row/{row}", timeout=60) as client:
                for _ in range(2):
                    entered = client.post("/enter").headers["location"]
                    assert entered.startswith(f"/row/{row}/p/")
                    own = entered.removeprefix(f"/row/{row}")
                    assert client.post(own, data={"consent": "yes"}).headers["location"] == entered
                    seen = []
                    walked = http_walk(client, own, answer, look=lambda _, html, seen=seen: seen.append(html))
                    assert walked.code
                    assert all("Preview: nothing is recorded." in html for html in seen)
                    items[row] = [re.search("dull|Funny", html)[0] for html in seen if "Predict" in html]
                    client.cookies.clear()
        # The rows differ in the order of the two items.
        assert items[0] == items[1][::-1]
        assert httpx.get(f"{address}/row/7/", timeout=60).status_code == 404


def test_a_study_with_codes_can_be_looked_at_without_one(tmp_path):
    with running(preview_app(small_study(entry="code"), tmp_path)) as address:
        assert httpx.post(f"{address}/row/0/enter", timeout=60).status_code == 303


def test_all_addresses_of_a_page_lie_under_its_row(tmp_path):
    with (
        running(preview_app(small_study(), tmp_path)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        page = client.get("/row/1/").text
        addresses = re.findall(r'(?:src|href|action)="([^"]*)"', page)
        assert [one for one in addresses if not one.startswith("/row/1/")] == ["/"]  # to choose another row
        for one in addresses:
            if "static" in one:
                assert client.get(one).status_code == 200


def test_the_rows_are_told_in_words(tmp_path):
    with running(preview_app(small_study(), tmp_path)) as address:
        assert "conditions: 0, 1" in httpx.get(f"{address}/", timeout=60).text
