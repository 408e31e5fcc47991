"""Objects that jobs are about: a job names them by what they are, and finds them where it runs.

The arguments of a job are plain JSON. In place of an object they hold its reference, "object:" and a hash; `fetch`
gives the object in the process that was given it, and in the worker processes that it was sent to.
"""

from __future__ import annotations

import logging
import pickle
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from verax.errors import VeraxError
from verax.run.identity import identity

PREFIX = "object:"
_here: dict[str, object] = {}
_packed: dict[str, bytes] = {}
logger = logging.getLogger(__name__)


def refer(thing: object, label: str) -> str:
    """The reference of an object; one whose content cannot be known has another one each time, so nothing is reused.

    Args:
        thing: the object.
        label: what people call it.
    """
    known = identity(thing)
    if known is None:
        logger.warning(
            "What %s does depends on something that cannot be compared, so nothing is reused from an earlier run.",
            label,
        )
    return PREFIX + (known or uuid.uuid4().hex)


def is_reference(name: str) -> bool:
    """Whether a name stands for an object."""
    return name.startswith(PREFIX)


def fetch(reference: str) -> object:
    """The object of a reference, which must be at hand in this process."""
    if reference not in _here:
        if reference not in _packed:
            raise VeraxError("An object that this job is about is not in this process; give it again.")
        _here[reference] = pickle.loads(_packed[reference])
    return _here[reference]


@contextmanager
def at_hand(objects: Mapping[str, object]) -> Iterator[None]:
    """Objects by their references, for jobs that run in this process meanwhile."""
    new = {reference: thing for reference, thing in objects.items() if reference not in _here}
    _here.update(new)
    try:
        yield
    finally:
        # What was at hand before stays so: jobs may run inside of somebody else's meanwhile.
        for reference in new:
            _here.pop(reference, None)


def pack(objects: Mapping[str, object]) -> dict[str, bytes] | None:
    """The objects as bytes for other processes; None where one of them cannot be sent."""
    packed = {}
    for reference, thing in objects.items():
        try:
            content = pickle.dumps(thing)
        except Exception:  # whatever pickling something may raise
            return None
        # A class of a notebook or a script has a name, but in no other process.
        if b"__main__" in content:
            return None
        packed[reference] = content
    return packed


def receive(packed: Mapping[str, bytes]) -> None:
    """Keeps what was sent to this process."""
    _packed.update(packed)
