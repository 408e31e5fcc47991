"""Representations of texts on disk: a transformer reads each distinct text once, and the store stays bounded."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verax.models.neural.encoders import Encoded

MAX_BYTES = 2_000_000_000
# Texts represented between two writes: what a killed process loses at the most.
STEP = 512
# What reading a damaged file raises; the messages of its errors may be no text themselves.
DAMAGED = (sqlite3.Error, ValueError)
# What a damaged page holds may have any type.
FIND = "SELECT width, data, sum FROM checked WHERE key = ? AND typeof(data) = 'blob' AND typeof(width) = 'integer'"

logger = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where Verax keeps what can be computed again: VERAX_CACHE, or the user's folder for such things."""
    given = os.environ.get("VERAX_CACHE")
    return (
        Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "verax"
    )


@dataclass(frozen=True)
class Representations:
    """A store of arrays by the content of texts; the least recently used go when it is full.

    Each array has a checksum: one whose bytes changed on the disk is computed again.

    Attributes:
        path: its file.
        max_bytes: of arrays, at the most.
    """

    path: Path = field(default_factory=lambda: cache_folder() / "representations.sqlite")
    max_bytes: int = MAX_BYTES

    def get(
        self, about: str, texts: Sequence[str], compute: Callable[[Sequence[str]], Sequence[Encoded]]
    ) -> list[Encoded]:
        """An array per text, computed for those that are not in the store.

        Args:
            about: what else the arrays depend on: the transformer, and how it is used.
            texts: any number, equal ones as often as they come.
            compute: two-dimensional arrays in half precision for some distinct texts.
        """
        keys = [
            hashlib.sha256(f"{about}\0{text}".encode("utf-8", "surrogatepass")).digest() for text in texts
        ]
        texts_by_key = dict(zip(keys, texts, strict=True))
        with closing(self._open()) as store:
            arrays = self._stored(store, list(texts_by_key))
            missing = [key for key in texts_by_key if key not in arrays]
            for first in range(0, len(missing), STEP):
                some = missing[first : first + STEP]
                computed = dict(zip(some, compute([texts_by_key[key] for key in some]), strict=True))
                arrays |= computed
                try:
                    self._keep(store, computed)
                except DAMAGED:
                    self._begin_anew()
        return [arrays[key] for key in keys]

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            store = sqlite3.connect(self.path, timeout=60)
            self._make(store)
        except (OSError, *DAMAGED):
            # A folder that cannot be written, or a file that is something else: compute, and keep nothing.
            store = sqlite3.connect(":memory:")
            self._make(store)
        return store

    @staticmethod
    def _make(store: sqlite3.Connection) -> None:
        with store:
            store.execute("DROP TABLE IF EXISTS arrays")  # of earlier versions, without checksums
            store.execute(
                "CREATE TABLE IF NOT EXISTS checked "
                "(key BLOB PRIMARY KEY, width INTEGER, data BLOB, used REAL, sum BLOB)"
            )

    def _stored(self, store: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Encoded]:
        arrays: dict[bytes, Encoded] = {}
        try:
            with store:
                for key in keys:
                    row = store.execute(FIND, (key,)).fetchone()
                    if row is not None and row[2] == _checksum(key, row[0], row[1]):
                        arrays[key] = np.frombuffer(row[1], dtype="<f2").reshape(-1, row[0])
                # Not SQLite's own clock: it counts milliseconds, in which a quick machine reads several times.
                store.executemany(
                    "UPDATE checked SET used = ? WHERE key = ?", [(time.time_ns(), key) for key in arrays]
                )
        except DAMAGED:
            self._begin_anew()
        return arrays

    def _begin_anew(self) -> None:
        """Removes a file that is no database any more; whoever has it open works on, and keeps nothing."""
        logger.warning(
            "The store %s is damaged; it is begun anew, and what was in it is computed again.", self.path
        )
        with suppress(OSError):
            self.path.unlink()

    def _keep(self, store: sqlite3.Connection, arrays: dict[bytes, Encoded]) -> None:
        stored = [(key, array.shape[1], array.astype("<f2").tobytes()) for key, array in arrays.items()]
        rows = [(*row, time.time_ns(), _checksum(*row)) for row in stored]
        with store:
            store.executemany("INSERT OR REPLACE INTO checked VALUES (?, ?, ?, ?, ?)", rows)
            (held,) = store.execute("SELECT TOTAL(LENGTH(data)) FROM checked").fetchone()
            if held > self.max_bytes:
                # So many of the oldest that a quarter is free again: full stores are then cleared rarely.
                store.execute(
                    "DELETE FROM checked WHERE key IN (SELECT key FROM (SELECT key, SUM(LENGTH(data)) OVER "
                    "(ORDER BY used DESC, key) AS newer FROM checked) WHERE newer > ?)",
                    (0.75 * self.max_bytes,),
                )


def _checksum(key: bytes, width: int, data: bytes) -> bytes:
    """Of all that is stored of an array: the key too, or rows could be exchanged."""
    return hashlib.sha256(b"%s %d %s" % (key, width, data)).digest()[:16]
