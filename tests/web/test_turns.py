"""How many handlers work at once, and who is next."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

import pytest

from real_parts import LONG
from verax.web import requests as requests_module
from verax.web.requests import Turns


async def until(is_so) -> None:
    """Waits for a state."""
    async with asyncio.timeout(LONG):
        while not is_so():
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("places", [1, 3])
def test_only_so_many_work_at_once_and_in_the_order_of_asking(monkeypatch, places):
    monkeypatch.setattr(requests_module, "WAIT_SECONDS", LONG)

    async def crowd() -> tuple[list[int], int]:
        turns, gates, order, most = Turns(places), [threading.Event() for _ in range(20)], [], []
        inside: set[int] = set()

        def work(number: int) -> None:
            order.append(number)
            inside.add(number)
            most.append(len(inside))
            gates[number].wait(LONG)
            inside.discard(number)

        people = [asyncio.create_task(turns.run(work, number)) for number in range(20)]
        for number in range(20):
            await until(lambda number=number: number in order)
            gates[number].set()
            await people[number]
        return order, max(most)

    order, most = asyncio.run(crowd())
    assert (most, sorted(order)) == (places, list(range(20)))
    # Those inside begin at the same moment, and threads start in any order.
    assert all(abs(place - number) < places for place, number in enumerate(order))


def test_where_nobody_is_done_all_go_on_together_and_the_places_are_as_many_as_before(monkeypatch):
    monkeypatch.setattr(requests_module, "WAIT_SECONDS", 0.02)

    async def stuck() -> int:
        turns, gate, inside = Turns(2), threading.Event(), []

        def work(number: int) -> None:
            inside.append(number)
            gate.wait(LONG)

        people = [asyncio.create_task(turns.run(work, number)) for number in range(12)]
        await until(lambda: len(inside) == 12)
        gate.set()
        await asyncio.gather(*people)
        return turns._free

    assert asyncio.run(stuck()) == 2


def test_who_goes_while_waiting_takes_no_place_away(monkeypatch):
    monkeypatch.setattr(requests_module, "WAIT_SECONDS", LONG)

    async def leaving() -> int:
        turns, gate, inside = Turns(1), threading.Event(), []

        def work(number: int) -> None:
            inside.append(number)
            gate.wait(LONG)

        people = [asyncio.create_task(turns.run(work, number)) for number in range(4)]
        await until(lambda: inside == [0])
        people[1].cancel()
        await asyncio.sleep(0)
        gate.set()
        await people[0]
        people[2].cancel()  # who was given the place at this moment, before it was taken
        await asyncio.gather(*people, return_exceptions=True)
        return turns._free

    assert asyncio.run(leaving()) == 1


def test_an_error_gives_the_place_back():
    async def failing() -> int:
        turns = Turns(1)
        for _ in range(3):
            with suppress(ZeroDivisionError):
                await turns.run(lambda: 1 / 0)
        return turns._free

    assert asyncio.run(failing()) == 1
