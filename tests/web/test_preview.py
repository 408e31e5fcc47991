"""A study to look at: any row, the real pages, and nothing kept."""

from __future__ import annotations

import re

import httpx

from real_parts import LONG
from small_study import GIVEN, small_study
from verax.web.preview import preview_app
from web.serving import running
from web.walk import http_walk


def answer(asked) -> str:
    return GIVEN[asked.name]


def test_every_row_can_be_walked_through_more_often_than_the_study_has_places(tmp_path):
    study = small_study(target=1)
    with running(preview_app(study, tmp_path)) as address:
        chooser = httpx.get(f"{address}/", timeout=LONG).text
        assert re.findall(r'href="(/(?:row|pages)/[^"]*)"', chooser) == [
            "/row/0/",
            "/pages/0",
            "/row/1/",
            "/pages/1",
        ]
        items = {}
        for row in (0, 1):
            with httpx.Client(base_url=f"{address}/row/{row}", timeout=LONG) as client:
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
        assert httpx.get(f"{address}/row/7/", timeout=LONG).status_code == 404


def test_a_study_with_codes_can_be_looked_at_without_one(tmp_path):
    with running(preview_app(small_study(entry="code"), tmp_path)) as address:
        assert httpx.post(f"{address}/row/0/enter", timeout=LONG).status_code == 303


def test_all_addresses_of_a_page_lie_under_its_row(tmp_path):
    with (
        running(preview_app(small_study(), tmp_path)) as address,
        httpx.Client(base_url=address, timeout=LONG) as client,
    ):
        page = client.get("/row/1/").text
        addresses = re.findall(r'(?:src|href|action)="([^"]*)"', page)
        assert [one for one in addresses if not one.startswith("/row/1/")] == ["/"]  # to choose another row
        for one in addresses:
            if "static" in one:
                assert client.get(one).status_code == 200


def test_the_rows_are_told_in_words(tmp_path):
    with running(preview_app(small_study(), tmp_path)) as address:
        assert "conditions: 0, 1" in httpx.get(f"{address}/", timeout=LONG).text


def test_every_page_of_a_row_can_be_jumped_to_and_filled_in(tmp_path):
    study = small_study()
    with (
        running(preview_app(study, tmp_path)) as address,
        httpx.Client(base_url=address, timeout=LONG) as client,
    ):
        pages = client.get("/pages/1").text
        jumps = re.findall(r'href="(/jump/1/\d+)"', pages)
        assert jumps == [f"/jump/1/{ord}" for ord in range(1, 12)]
        assert client.get("/pages/7").status_code == 404
        # The ninth page: whoever is there has passed the screening test, and left its second try out.
        own = client.get(jumps[8]).headers["location"]
        assert own.startswith("/row/1/p/")
        page = client.get(own)
        assert "Preview: nothing is recorded." in page.text
        assert "Screening" not in page.text
        for _ in range(3):
            assert client.get(own.replace("/row/", "/fill/")).headers["location"] == own
        assert "completion" in client.get(own).text.lower()


def test_a_page_is_shown_in_two_widths(tmp_path):
    with (
        running(preview_app(small_study(), tmp_path)) as address,
        httpx.Client(base_url=address, timeout=LONG) as client,
    ):
        own = client.get("/jump/0/1").headers["location"]
        both = client.get(own.replace("/row/", "/widths/"))
        assert re.findall(r'<iframe [^>]*width="(\d+)"[^>]*src="([^"]+)"', both.text) == [
            ("390", own),
            ("1100", own),
        ]
        assert "frame-src 'self'" in both.headers["content-security-policy"]
        # In the preview alone pages may stand in a frame of the same site.
        assert "frame-ancestors 'self'" in client.get(own).headers["content-security-policy"]
