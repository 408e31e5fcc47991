"""Answers stand in an order of each participant's own: what is stored is what was clicked, wherever it stood."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sqlalchemy import select

from small_study import GIVEN, small_study
from verax.studies.answers.flat_records import participant_records, response_records
from verax.studies.build.build import compose_study
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.store.tables import participants
from web.walk import Asked, Form, http_enter, http_walk


def test_everybody_sees_one_order_on_all_pages_and_what_was_clicked_is_stored(serve):
    served = serve(small_study(rows=2, target=4, answer_order="counterbalanced"))
    orders = []
    for person in range(8):
        clicked: list[tuple[str, str]] = []

        def answer(asked: Asked, person=person, clicked=clicked) -> str:
            if asked.name not in ("prediction", "rating"):
                return GIVEN.get(asked.name, "1")
            wanted = {"prediction": "AB"[person % 3 == 0], "rating": "2"}[asked.name]
            clicked.append((asked.name, wanted))
            return str(asked.options.index(wanted) + 1)

        url = http_enter(served.client)
        assert served.client.get(url).text == served.client.get(url).text  # as after a reload
        walked = http_walk(served.client, url, answer)
        served.client.cookies.clear()
        seen = {asked.options for asked in walked.asked if asked.name == "prediction"}
        scales = {asked.options for asked in walked.asked if asked.name == "rating"}
        assert len(seen) == len(scales) == 1, "one person met two orders"
        orders.append((seen.pop(), scales.pop()))
        who = served.store.database.read(
            lambda connection: connection.execute(
                select(participants).where(participants.c.completion_code == walked.code)  # noqa: B023
            ).one()
        )
        mine = list(response_records(served.store))[-len(walked.asked) :]
        stored = [(record["question"], record["answer"]) for record in mine]
        for name, words in clicked:
            meaning = "2" if name == "rating" else str(who.names.index(words))
            assert (name, meaning) in stored
        for record in mine:
            if record["position"] is not None:
                assert record["offered"][record["position"] - 1] == record["answer"]
    assert {scale for _, scale in orders} == {tuple("1234567"), tuple("7654321")}
    people = list(participant_records(served.store))
    held = Counter((person["design_row"], person["answer_order"]) for person in people)
    assert held == {(row, order): 2 for row in range(2) for order in range(2)}


def test_the_echo_says_what_was_clicked_also_in_the_other_order(serve):
    material = sample_material(
        {"name": "reverse-turing", "training": 2, "evaluation": 2, "masked": True},
        {"training": 2, "evaluation": 2},
        groups=3,
        options={"screening": False, "participants": 2},
    )
    study = replace(compose_study(material, make_protocol(material.spec.protocol), ""), hash="0" * 64)
    served = serve(study)
    shown: list[tuple[str, ...]] = []

    def look(_form: Form, html: str) -> None:
        if "You said" in html:
            assert f"<strong>{shown[-1][0]}</strong>" in html

    def answer(asked: Asked) -> str:
        shown.append(asked.options)
        return "1"

    for _ in range(4):
        http_walk(served.client, http_enter(served.client), answer, look=look)
        served.client.cookies.clear()
    by_class = Counter()
    for record in response_records(served.store):
        by_class[tuple(record["offered"])] += 1
    assert by_class[("0", "1")] == by_class[("1", "0")], "the position gives the order of the classes away"
    assert set(shown) == {("K", "R"), ("R", "K")}
