"""Several studies with one first page, over HTTP: the way in, the way back, bots, and what cannot be together."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import httpx
import pytest
from typer.testing import CliRunner

from real_parts import LONG
from small_study import GIVEN, small_study
from store_tools import rows
from verax.cli.main import app
from verax.errors import VeraxError
from verax.studies.bots import run_bots
from verax.studies.definition.study_files import load_study, save_study
from verax.studies.store.accounts import add_account
from verax.studies.store.tables import participants
from verax.studies.store.together import folder_of, open_together
from verax.web.app import check_alike, joint_app
from verax.web.serve import serve, serving_aside
from web.serving import running
from web.walk import http_enter, http_walk


def answer(asked) -> str:
    return GIVEN[asked.name]


def two_studies(**choices):
    return [
        small_study(title=title, target=target, **choices) for title, target in (("texts", 2), ("tables", 4))
    ]


@pytest.fixture
def together(tmp_path):
    opened = open_together(two_studies(), f"sqlite:///{tmp_path / 'answers.sqlite'}")
    yield opened
    opened.close()


@pytest.fixture
def client(together):
    with (
        running(joint_app(together, title="Both of them")) as address,
        httpx.Client(base_url=address, timeout=LONG) as asking,
    ):
        yield asking


def complete(together):
    return {
        store.study.spec.title: Counter(
            row
            for row, status in rows(store, participants.c.design_row, participants.c.status)
            if status == "complete"
        )
        for store in together.stores
    }


def test_people_from_one_first_page_fill_every_condition_of_every_study(together, client):
    assert "<h1>Both of them</h1>" in client.get("/").text
    codes = set()
    for _ in range(2 * 2 + 2 * 4):
        client.cookies.clear()
        codes.add(http_walk(client, http_enter(client), answer).code)
    assert len(codes) == 12
    assert complete(together) == {"texts": {0: 2, 1: 2}, "tables": {0: 4, 1: 4}}
    client.cookies.clear()
    assert "There are no free places" in client.post("/enter").text


def test_a_browser_goes_on_from_the_first_page_in_the_study_that_it_was_given(together, client):
    place = http_enter(client)
    folders = [folder_of(store.study) for store in together.stores]
    assert place.startswith(tuple(f"{folder}/p/" for folder in folders))
    assert f'href="{place}"' in client.get("/").text
    # Whoever types the address of one study alone chooses none.
    for folder in folders:
        assert client.get(f"{folder}/").headers["location"] == "/"
        assert client.post(f"{folder}/enter").status_code in (404, 405)
    assert f'href="{place}"' in client.get(f"{folders[0]}/", follow_redirects=True).text
    assert client.get(f"{place}/leave").status_code == 200
    # Somebody else at the same device starts anew.
    client.post("/leave")
    assert "Start" in client.get("/").text
    assert http_enter(client) != place


def test_a_link_that_nobody_has_leads_to_the_common_first_page(together, client):
    missing = client.get(f"{folder_of(together.stores[0].study)}/p/nobody")
    assert missing.status_code == 404
    assert 'href="/"' in missing.text
    assert client.get("/health").text == "ok\n"


def test_each_study_has_its_page_for_experimenters(together, client):
    for store in together.stores:
        folder = folder_of(store.study)
        add_account(store, f"anna-{store.study_id}", "a long password")
        sent = {"name": f"anna-{store.study_id}", "password": "a long password"}
        signed = client.post(f"{folder}/experimenter/sign-in", data=sent, follow_redirects=True)
        assert store.study.spec.title in signed.text
        assert signed.url.path.startswith(f"{folder}/experimenter")


def test_bots_go_through_the_studies_that_they_are_given_and_leavers_are_replaced(tmp_path):
    studies = [
        small_study(title=title, target=2, rows=count, method="teaches", timing={"hold_minutes": 1e-6})
        for title, count in (("texts", 2), ("tables", 3))
    ]
    # One condition wants more people than the others.
    studies[1] = replace(studies[1], rows=(*studies[1].rows[:2], replace(studies[1].rows[2], target=5)))
    opened = open_together(studies, f"sqlite:///{tmp_path / 'answers.sqlite'}")
    with running(joint_app(opened)) as address:
        runs = run_bots(
            studies[0],
            address,
            opened.stores[1].bot_pass(),
            "guesser=0.7,guesser+leaver(after=0.5)=0.3",
            60,
            concurrent=1,
            others=studies[1:],
        )
    assert {run.problem for run in runs} == {""}
    assert {run.status for run in runs} == {"complete", "left", "full"}
    assert complete(opened) == {"texts": {0: 2, 1: 2}, "tables": {0: 2, 1: 2, 2: 5}}
    opened.close()


def test_the_command_line_serves_two_folders_from_one_database(tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, study in zip(folders, two_studies(), strict=True):
        save_study(study, folder)
    database = f"sqlite:///{tmp_path / 'answers.sqlite'}"
    with serving_aside(folders, database) as address, httpx.Client(base_url=address, timeout=LONG) as asking:
        for _ in range(3):
            asking.cookies.clear()
            http_walk(asking, http_enter(asking), answer)
    opened = open_together([load_study(folder) for folder in folders], database)
    assert sum(sum(by_row.values()) for by_row in complete(opened).values()) == 3
    opened.close()
    done = CliRunner().invoke(app, ["study", "bots", *map(str, folders), "-n", "3", "--database", database])
    assert done.exit_code == 0, done.output
    assert "complete       3" in done.output
    for folder in folders:
        status = CliRunner().invoke(app, ["study", "status", str(folder), "--database", database])
        assert status.exit_code == 0, status.output


def test_what_cannot_be_served_together_is_a_sentence(tmp_path):
    for number, study in enumerate(two_studies()):
        save_study(study, tmp_path / str(number))
    with pytest.raises(VeraxError, match=r"name it, as with --database sqlite:///.*answers\.sqlite"):
        serve([tmp_path / "0", tmp_path / "1"])
    with pytest.raises(VeraxError, match="A code belongs to one study"):
        check_alike(two_studies(entry="code"))
    one, other = two_studies()
    with pytest.raises(VeraxError, match="entry differs between 'texts' and 'tables'"):
        check_alike([one, small_study(title="tables", entry="prolific")])
    about = other.spec.about.model_copy(update={"minutes": 20})
    longer = replace(other, spec=other.spec.model_copy(update={"about": about}))
    with pytest.raises(VeraxError, match=r"\[about\] or texts\.contact differs"):
        check_alike([one, longer])
    alone = CliRunner().invoke(app, ["study", "serve", str(tmp_path / "0"), "--title", "Both"])
    assert (alone.exit_code, "--title is for several studies" in alone.output) == (2, True)
