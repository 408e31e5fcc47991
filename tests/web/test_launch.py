"""Before a study begins and while it runs: the checklist, the pilot, alerts to real local servers."""

from __future__ import annotations

import json
import socketserver
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_string
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from typer.testing import CliRunner

from small_study import Clock, begin, finish, small_study
from verax.cli.main import app
from verax.errors import VeraxError
from verax.studies.definition.study_files import freeze_study, load_study, save_study
from verax.studies.store import open_store
from verax.studies.store.people import acted
from verax.web.alerts import RETRY, Alert, Alerts, AlertSettings, due_alerts, read_alerts, send
from verax.web.pilot import has_pilot, pilot_app, pilot_results, wipe_pilot
from verax.web.qr import qr_lines, qr_matrix, qr_svg
from verax.web.requests import RATES
from verax.workflows.launch import clock_state, launch_checks
from web.serving import running
from web.walk import http_enter, http_walk

# Made with another implementation (the package qrcode, with the same mask).
CODE = """
111111100011101111111
100000101110101000001
101110100011101011101
101110101100101011101
101110100100101011101
100000101001001000001
111111101010101111111
000000000100000000000
111110111001010101010
001000000001100111111
100101110100110000110
101010011001100011100
001000100110101011001
000000001100111111101
111111101001011100110
100000100100000011110
101110101011000011001
101110101011111110100
101110101110101100100
100000101101111110100
111111101000100111010
"""


class Mail(socketserver.StreamRequestHandler):
    """A mail server that takes one message a connection."""

    def handle(self):
        self.say(220)
        taken = []
        while line := self.rfile.readline().decode().strip():
            said = line.upper()
            if said == "DATA":
                self.say(354)
                while (part := self.rfile.readline()) != b".\r\n":
                    taken.append(part.decode())
                self.server.taken.append("".join(taken))
            self.say(221 if said == "QUIT" else 250)
            if said == "QUIT":
                return

    def say(self, code):
        self.wfile.write(f"{code} ok\r\n".encode())


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked += 1
        if self.server.refuses:
            self.send_response(self.server.refuses)
            self.send_header("Location", self.server.to)
            self.end_headers()
            return
        self.server.taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def listening(server):
    server.taken, server.asked, server.refuses, server.to = [], 0, 0, ""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def mail():
    with listening(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail)) as server:
        yield server


@pytest.fixture
def hook():
    with listening(HTTPServer(("127.0.0.1", 0), Hook)) as server:
        yield server


def settings(mail, hook, **more):
    return AlertSettings(
        email=("lab@example.org",),
        smtp=f"127.0.0.1:{mail.server_address[1]}",
        tls=False,
        webhook=f"http://127.0.0.1:{hook.server_address[1]}/",
        **more,
    )


def test_an_alert_goes_out_by_mail_and_to_the_webhook_once(tmp_path, mail, hook):
    clock = Clock()
    study = small_study(rows=1, target=1)
    store = open_store(study, f"sqlite:///{tmp_path / 'a.db'}", clock=clock)
    told = Alerts(settings(mail, hook, silent_hours=5))
    told.look(store)
    assert hook.taken == []
    clock.advance(6 * 3600)
    for _ in range(3):
        told.look(store)
    assert [sent["alert"] for sent in hook.taken] == ["silent"]
    assert len(mail.taken) == 1
    assert f"Subject: {study.spec.title}: nobody came" in mail.taken[0]
    assert "Nobody has come for 6 hours" in mail.taken[0]
    told.note_error()
    told.look(store)
    assert [sent["alert"] for sent in hook.taken] == ["silent", "error"]
    assert "1 page could not be shown" in hook.taken[-1]["text"]
    store.close()


def test_what_could_not_be_sent_is_sent_later_and_only_that_way(tmp_path, mail, hook):
    clock = Clock()
    store = open_store(small_study(rows=1, target=1), f"sqlite:///{tmp_path / 'a.db'}", clock=clock)
    finish(store, begin(store))
    hook.refuses = 503
    told = Alerts(settings(mail, hook, silent_hours=0))
    for _ in range(3):
        told.look(store)
    assert (len(mail.taken), hook.taken, hook.asked) == (1, [], 1)
    hook.refuses = 0
    told.look(store)
    assert hook.taken == []  # it was tried a moment ago
    clock.advance(RETRY)
    for _ in range(3):
        told.look(store)
    assert [sent["alert"] for sent in hook.taken] == ["full"]
    assert len(mail.taken) == 1
    assert [done.type for done in store.read(acted, 9)] == ["alert", "alert not sent", "alert", "alert"]
    store.close()


def test_pages_that_failed_while_the_database_was_away_are_told_of_when_it_is_back(
    tmp_path, mail, hook, monkeypatch
):
    store = open_store(small_study(), f"sqlite:///{tmp_path / 'a.db'}", clock=Clock())
    told = Alerts(settings(mail, hook, silent_hours=0))
    told.note_error()
    with monkeypatch.context() as away:
        away.setattr("verax.web.alerts.due_alerts", lambda *_: 1 / 0)
        told.look(store)
    told.note_error()
    told.look(store)
    assert "2 pages could not be shown" in hook.taken[0]["text"]
    store.close()


def test_a_webhook_is_followed_to_no_other_address(hook):
    with listening(HTTPServer(("127.0.0.1", 0), Hook)) as elsewhere:
        hook.refuses, hook.to = 307, f"http://127.0.0.1:{elsewhere.server_address[1]}/"
        there = AlertSettings(webhook=f"http://127.0.0.1:{hook.server_address[1]}/")
        for status in (301, 302, 303, 307, 308):
            hook.refuses = status
            with pytest.raises(VeraxError, match="the webhook did not take it"):
                send(Alert("full", "T", "Text."), there)
        assert elsewhere.asked == 0


def test_a_title_of_several_lines_adds_no_header(tmp_path, mail, hook):
    study = small_study(rows=1, target=1)
    spec = study.spec.model_copy(update={"title": "Study\r\nBcc: all@example.org\x00\u2028x"})
    store = open_store(replace(study, spec=spec), f"sqlite:///{tmp_path / 'a.db'}", clock=Clock())
    finish(store, begin(store))
    Alerts(settings(mail, hook, silent_hours=0)).look(store)
    [message] = mail.taken
    head = message_from_string(message)
    assert head["Subject"].startswith("Study Bcc: all@example.org x")
    assert (head["Bcc"], head["To"]) == (None, "lab@example.org")
    store.close()


@pytest.mark.parametrize(
    "wrong",
    [
        'email = ["a@b.example\\nBcc: c@d.example"]',
        'email = ["a@b.example, c@d.example"]',
        'email = ["a@b.example"]\nsender = "x\\r\\ny@z"',
        'email = ["a@b.example"]\nsmtp = "mail:port"',
        'email = ["a@b.example"]\nsmtp = "mail.example.org"\nuser = "u"\ntls = false',
        'webhook = "file:///etc/passwd"',
        'webhook = "http://user:pass@host/"',
        'webhook = "http://host /"',
        'webhook = "gopher://host/"',
    ],
)
def test_addresses_that_are_none_are_a_sentence(tmp_path, wrong):
    (tmp_path / "alerts.toml").write_text(wrong)
    with pytest.raises(VeraxError, match=r"^alerts.toml[,:] "):
        read_alerts(tmp_path)


def test_whom_alerts_go_to_is_told_without_what_may_be_secret():
    told = AlertSettings(
        email=("a@b.example",), smtp="mail.example:587", webhook="https://chat.example/hooks/s3cret"
    )
    assert told.told == ("a@b.example (by the mail server mail.example:587)", "chat.example")
    assert (told.mail_server, AlertSettings(email=("a@b.example",), smtp="[::1]").mail_server) == (
        ("mail.example", 587),
        ("[::1]", 25),
    )


def test_full_and_dropping_out_are_found(tmp_path, mail, hook):
    clock = Clock()
    store = open_store(small_study(rows=1, target=3), f"sqlite:///{tmp_path / 'a.db'}", clock=clock)
    wanted = settings(mail, hook, fewest=2, dropout=0.4, silent_hours=0)
    tokens = [store.enter() for _ in range(2)]
    for token in tokens:
        store.consent(token, agreed=True)
    assert [alert.name for alert in due_alerts(store, wanted)] == []
    store.withdraw(tokens[0])
    found = list(due_alerts(store, wanted))
    assert [alert.name for alert in found] == ["dropout"]
    assert found[0].text.startswith("1 of 2 who began have left, which is more than the limit of 40%.")
    store.close()


def test_a_server_that_takes_no_alert_is_one_sentence():
    nowhere = AlertSettings(
        email=("a@b.example",), smtp="127.0.0.1:9", webhook="http://127.0.0.1:9/", tls=False
    )
    with pytest.raises(VeraxError, match=r"'T' was not sent: the mail server .* the webhook did not take it"):
        send(Alert("full", "T", "Text."), nowhere)


def test_settings_that_tell_nobody_are_a_sentence(tmp_path):
    assert read_alerts(tmp_path) is None
    (tmp_path / "alerts.toml").write_text("dropout = 0.2\n")
    with pytest.raises(VeraxError, match=r"alerts.toml: nobody is told; give email or webhook"):
        read_alerts(tmp_path)
    (tmp_path / "alerts.toml").write_text('webhook = "https://a.example"\nsilent_hours = 3\n')
    assert read_alerts(tmp_path).silent_hours == 3


@pytest.fixture
def folder(tmp_path):
    save_study(replace(small_study(rows=1, target=1), hash=""), tmp_path / "study")
    return tmp_path / "study"


def test_a_pilot_takes_remarks_and_lies_apart(folder, answer):
    import httpx

    with (
        running(pilot_app(folder, "http://192.168.1.2:8000/")) as address,
        httpx.Client(base_url=address) as client,
    ):
        shown = client.get("/pilot").text
        assert "<svg" in shown
        assert "http://192.168.1.2:8000/" in shown
        place = http_enter(client)
        page = client.get(place).text
        assert f'action="{place}/feedback"' in page
        for text in ("Too <long>.", "\x1b]52;c;bWFsaWNl\x07\x9b2J\x00"):
            assert client.post(f"{place}/feedback", data={"text": text}).status_code == 303
        http_walk(client, place, answer)
    found = pilot_results(folder)
    assert (found.came, found.completed) == (1, 1)
    assert [(remark.phase, remark.text) for remark in found.remarks[:1]] == [("instructions", "Too <long>.")]
    assert not (folder / "answers.sqlite").exists()
    said = CliRunner().invoke(app, ["study", "pilot", str(folder), "--results"])
    assert "Came: 1. Completed: 1." in said.stdout
    assert "instructions, instructions:door: Too <long>." in said.stdout or "Too <long>." in said.stdout
    # What somebody nearby wrote does nothing to the terminal of whoever reads it.
    assert "␛]52;c;bWFsaWNl" in said.stdout
    assert not set(said.stdout) & set("\x1b\x07\x9b")
    assert wipe_pilot(folder)
    assert not has_pilot(folder)
    assert pilot_results(folder).came == 0


def test_nobody_leaves_remarks_without_end(folder, monkeypatch):
    import httpx

    monkeypatch.setitem(RATES, "in_vain_as", (1e-6, 2))
    with running(pilot_app(folder, "http://a/")) as address, httpx.Client(base_url=address) as client:
        place = http_enter(client)
        taken = [client.post(f"{place}/feedback", data={"text": "x"}).status_code for _ in range(4)]
    assert taken == [303, 303, 429, 429]
    assert len(pilot_results(folder).remarks) == 2


def test_the_study_itself_has_no_box_for_remarks(served):
    place = http_enter(served.client)
    assert "feedback" not in served.client.get(place).text
    assert served.client.post(f"{place}/feedback", data={"text": "x"}).status_code == 404
    assert served.client.get("/pilot").status_code == 404


def test_what_is_missing_before_launch_is_a_sentence_each(folder, monkeypatch):
    checks = {check.name: check for check in launch_checks(folder)}
    assert list(checks) == ["pilot", "frozen", "power", "consent", "codes", "backup", "clock", "https"]
    assert {name for name in checks if checks[name].state == "missing"} >= {
        "pilot",
        "frozen",
        "consent",
        "backup",
        "https",
    }
    assert checks["codes"].state == "fine"  # people come by link
    assert "about.purpose" in checks["consent"].sentence
    assert checks["clock"].state == clock_state()
    freeze_study(folder, load_study(folder), people=None)
    (folder.parent / "backup.sqlite").write_bytes(b"x")
    again = {check.name: check.state for check in launch_checks(folder, url="http://study.example.org")}
    assert again["frozen"] == again["backup"] == "fine"
    assert again["https"] == "missing"
    said = CliRunner().invoke(app, ["study", "check", str(folder), "--json"])
    assert said.exit_code == 1
    assert len(json.loads(said.stdout)["checks"]) == 8


def test_a_qr_code_is_that_of_another_implementation():
    matrix = qr_matrix("http://a/")
    assert ["".join("1" if dark else "0" for dark in row) for row in matrix] == CODE.split()
    assert len(qr_lines("http://a/")) == (21 + 8 + 1) // 2
    assert 'aria-label="a &amp; b"' in qr_svg("http://a/", "a & b")
    with pytest.raises(VeraxError, match="too many for a small QR code"):
        qr_matrix("x" * 107)
