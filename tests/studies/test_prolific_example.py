"""The example for Prolific, from the spec to payments and report, walked by simulated people from a stand-in of it."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from real_parts import LONG
from small_study import Clock
from verax.studies.analysis.analyse import analyse
from verax.studies.answers.collect import collect
from verax.studies.answers.flat_records import participant_records
from verax.studies.answers.payments import payments, read_ids
from verax.studies.bots.page import read_page
from verax.studies.bots.person import SimulatedPerson, make_album
from verax.studies.bots.profiles import as_mixture
from verax.studies.build.build import build_study
from verax.studies.definition.spec import parse_study_spec, read_study_spec
from verax.studies.store import open_store, platform_key
from verax.studies.store.one_participant import open_participant
from verax.web.app import make_app
from verax.workflows.launch import launch_checks
from verax.workflows.spec_draft import SpecDraft
from web.serving import running

EXAMPLE = Path(__file__).parents[2] / "examples" / "prolific" / "study.toml"
# What checks attention: a page, and a line among those on explanations; the first answer to each is wrong.
CHECKS = ("attention-check", "explanation-satisfaction-check")
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148"


@dataclass
class StandIn:
    """What Prolific does: it sends people with ids, takes them back by codes, and lists its submissions."""

    codes: dict[str, str] = field(default_factory=dict)

    def link(self, number: int) -> dict[str, str]:
        person = f"5f3c0a2b9d1e4f0012345{number:03d}"
        self.codes[person] = "ACTIVE"
        return {"PROLIFIC_PID": person, "STUDY_ID": "5f" * 12, "SESSION_ID": f"6a{number:022d}"}

    def take_back(self, person: str, html: str) -> None:
        """Follows the page's link to Prolific, whose address says by its code what became of somebody."""
        links = [part.split('"')[0] for part in html.split('href="')[1:]]
        (back,) = [link for link in links if urlsplit(link).hostname == "app.prolific.com"]
        assert urlsplit(back).path == "/submissions/complete"
        self.codes[person] = parse_qs(urlsplit(back.replace("&amp;", "&")).query)["cc"][0]

    def export(self, path: Path) -> Path:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(
                [["Submission id", "Participant id"], *(["s", id] for id in self.codes)]
            )
        return path


def walked(
    client: httpx.Client,
    ids: dict[str, str],
    person: SimulatedPerson,
    gender: str,
    clock: Clock,
    language: str,
    *,
    attentive: bool = True,
) -> str:
    """Somebody's way from the platform's link to the last page, whose HTML is returned."""
    client.cookies.clear()
    client.headers["Accept-Language"] = language
    html = client.get("/", params=ids).text
    first, (way_in,) = read_page(html), re.findall(r'action="(/enter[^"]*)"', html)
    entered = client.post(way_in, data=dict(first.hidden))
    assert entered.status_code == 303, entered.text
    address = entered.headers["location"]
    client.post(address, data={"consent": "yes"})
    while True:
        html = client.get(address).text
        assert f'<html lang="{language}"' in html
        page = read_page(html)
        if page.kind != "step":
            return html
        clock.advance(person.seconds(page))
        given = {f"q-{name}": value for name, value in person.answer(page).items()}
        given |= {"q-gender": gender} if "q-gender" in given else {}
        given |= {} if attentive else {f"q-{name}": "1" for name in CHECKS if f"q-{name}" in given}
        sent = client.post(address, data={**page.hidden, **given})
        assert sent.status_code == 303, sent.text


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The example on fewer rows, with fewer items, people and samples; all else as it is."""
    pytest.importorskip("mglearn")
    text = EXAMPLE.read_text(encoding="utf-8")
    for old, new in {
        'dataset = "adult"': 'dataset = "adult"\nsource = { limit = 3000 }',
        "participants = 60 ": "participants = 2 ",
        "learning = 8": "learning = 4",
        "test = 16": "test = 4",
        "samples = 2000": "samples = 100",
        "Woman = 95, Man = 95": "Woman = 1, Man = 1",
    }.items():
        assert old in text
        text = text.replace(old, new)
    folder = tmp_path_factory.mktemp("prolific") / "study"
    return build_study(parse_study_spec(text), text, folder), folder


def test_the_example_has_the_addresses_that_init_writes_and_all_that_its_readme_promises():
    spec = read_study_spec(EXAMPLE)
    drafted = parse_study_spec(SpecDraft(entry="prolific").to_toml())
    assert spec.recruiting.urls.items() >= drafted.recruiting.urls.items()
    assert (spec.entry, spec.devices, spec.recruiting.bonus[0].column) == ("prolific", "desktop", "right")
    assert spec.languages == ("en", "de")


def test_the_checklist_names_all_that_researchers_put_their_own_words_and_codes_into(built):
    checks = {check.name: check for check in launch_checks(built[1])}
    assert (checks["consent"].state, checks["codes"].state) == ("missing", "missing")
    for entry in ("about.run_by", "about.ethics", "texts.contact"):
        assert entry in checks["consent"].sentence
    for entry in ("completion_url", "screened_out_url", "declined_url", "full_url", "attention_url"):
        assert entry in checks["codes"].sentence


def test_from_the_platforms_link_to_the_payment_list_and_the_report(built, tmp_path):
    study, folder = built
    clock, platform, album = Clock(), StandIn(), make_album(study)
    store = open_store(
        study, f"sqlite:///{tmp_path / 'answers.sqlite'}", clock=clock, key=platform_key(study, folder)
    )
    careless = as_mixture("guesser+careless(wrong=1)").people(1, 1)
    profiles = [*careless, *as_mixture("helped(by=0.2)").people(7, 1)]
    with running(make_app(store, study)) as address:
        options = {"base_url": address, "timeout": LONG, "headers": {"User-Agent": DESKTOP}}
        with httpx.Client(**options) as client:
            client.headers["User-Agent"] = PHONE
            assert 'data-notice="desktop-only"' in client.get("/", params=platform.link(999)).text
            client.headers["User-Agent"] = DESKTOP
            del platform.codes[platform.link(999)["PROLIFIC_PID"]]
            for number, profile in enumerate(profiles, 1):
                ids = platform.link(number)
                gender = "1" if number in (2, 3) else "4"  # the third is one woman too many
                person = SimulatedPerson(album, profile, 1, number)
                language, attentive = "de" if number % 2 else "en", number < len(profiles)
                html = walked(client, ids, person, gender, clock, language, attentive=attentive)
                platform.take_back(ids["PROLIFIC_PID"], html)
    decided = {one.person: one for one in payments(store, read_ids(platform.export(tmp_path / "list.csv")))}
    expected = {"COMPLETED": "approve", "SCREENED": "screen-out", "FULL": "return", "ATTENTION": "reject"}
    assert {id: one.decision for id, one in decided.items()} == {
        id: expected[code] for id, code in platform.codes.items()
    }
    codes = ["SCREENED", "COMPLETED", "FULL", *["COMPLETED"] * 4, "ATTENTION"]
    assert list(platform.codes.values()) == codes
    (rejected,) = [one for one in decided.values() if one.decision == "reject"]
    assert rejected.reason == "Completed the study, but failed its attention checks (attention-checks)."
    assert rejected.bonus == 0
    paid = [one for one in decided.values() if one.decision == "approve"]
    assert len(paid) == 5
    assert all(one.bonus <= 1.6 for one in paid)
    assert any(one.bonus > 0 for one in paid)
    # Experimenters see the same pages of everybody, so that none of it tells the condition.
    opened = [open_participant(store, record["participant"]) for record in participant_records(store)]
    ways = {tuple(page.phase for page in one.answered) for one in opened if one.status == "complete"}
    assert len(ways) == 1
    summary = analyse(collect(store))
    told = next(table for table in summary.tables if table.key == "sample").rows
    assert {(row["what"], row["value"]) for row in told} >= {
        ("Language of the pages", "de"),
        ("Language of the pages", "en"),
        ("How do you describe yourself?", "Woman"),
    }
    tables = {table.key: table for table in summary.tables}
    assert {row["scale"] for row in tables["scales"].rows} == {
        "trust-short, after pre",
        "trust-short, after post",
        "explanation-satisfaction",
    }
    shown_to = {
        row["condition"] for row in tables["scales"].rows if row["scale"] == "explanation-satisfaction"
    }
    assert shown_to == {"lime", "random"}
    assert [row["items"] for row in tables["reliability"].rows] == [3, 3, 8]
    assert tables["scales"].planned
    store.close()
