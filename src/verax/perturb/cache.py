"""A small memory of things that are costly to build, bounded by bytes and not by number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """Anything that knows how many bytes it holds."""

    @property
    def nbytes(self) -> int:
        """Memory held."""


T = TypeVar("T", bound=Sized)


class ByteCache(Generic[T]):
    """Keeps the most recently used things up to a number of bytes; a thing larger than that is not kept."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._things: OrderedDict[Hashable, T] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable, build: Callable[[], T]) -> T:
        """The thing kept under ``key``, or the one that ``build`` makes now."""
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
                return self._things[key]
        thing = build()
        with self._lock:
            if key not in self._things and thing.nbytes <= self.max_bytes:
                self._things[key] = thing
                self._bytes += thing.nbytes
                while self._bytes > self.max_bytes:
                    self._bytes -= self._things.popitem(last=False)[1].nbytes
        return thing

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._things.clear()
            self._bytes = 0
