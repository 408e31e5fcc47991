from __future__ import annotations

import threading
import time

from store_tools import run_together
from verax.studies.store.database.engine import Turns


def test_no_more_threads_than_places_are_inside_and_all_get_in():
    turns, inside, most = Turns(3), set(), []

    def work(number):
        for _ in range(20):
            with turns.place():
                inside.add(number)
                most.append(len(inside))
                time.sleep(0.0001)
                inside.discard(number)

    run_together(work, range(8))
    assert max(most) == 3
    assert len(most) == 8 * 20


def test_places_are_given_in_the_order_of_asking():
    turns, order, asked = Turns(1), [], []

    def ask(number):
        with turns.place():
            order.append(number)

    with turns.place():
        for number in range(10):
            asked.append(threading.Thread(target=ask, args=(number,)))
            asked[-1].start()
            while len(turns._waiting) <= number:
                time.sleep(0.001)
    for thread in asked:
        thread.join()
    assert order == list(range(10))


def test_a_place_is_free_again_after_an_error():
    turns = Turns(1)
    for _ in range(3):
        try:
            with turns.place():
                raise KeyError
        except KeyError:
            pass
    assert turns._free == 1
