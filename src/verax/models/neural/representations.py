"""Representations of texts on disk: a transformer reads each distinct text once, and the store stays bounded."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verax.models.neural.encoders import Encoded

MAX_BYTES = 2_000_000_000
# Texts represented between two writes: what a killed process loses at the most.
STEP = 512


def cache_folder() -> Path:
    """Where Verax keeps what can be computed again: VERAX_CACHE, or the user's folder for such things."""
    given = os.environ.get("VERAX_CACHE")
    return (
        Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "verax"
    )


@dataclass(frozen=True)
class Representations:
    """A store of arrays by the content of texts; the least recently used go when it is full.

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
                self._keep(store, computed)
        return [arrays[key] for key in keys]

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            store = sqlite3.connect(self.path, timeout=60)
            self._make(store)
        except (OSError, sqlite3.Error):
            # A folder that cannot be written, or a file that is something else: compute, and keep nothing.
            store = sqlite3.connect(":memory:")
            self._make(store)
        return store

    @staticmethod
    def _make(store: sqlite3.Connection) -> None:
        with store:
            store.execute(
                "CREATE TABLE IF NOT EXISTS arrays (key BLOB PRIMARY KEY, width INTEGER, data BLOB, used REAL)"
            )

    @staticmethod
    def _stored(store: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Encoded]:
        arrays: dict[bytes, Encoded] = {}
        with store:
            for key in keys:
                row = store.execute("SELECT width, data FROM arrays WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    arrays[key] = np.frombuffer(row[1], dtype="<f2").reshape(-1, row[0])
            # Not SQLite's own clock: it counts milliseconds, in which a quick machine reads and writes several times.
            store.executemany(
                "UPDATE arrays SET used = ? WHERE key = ?", [(time.time_ns(), key) for key in arrays]
            )
        return arrays

    def _keep(self, store: sqlite3.Connection, arrays: dict[bytes, Encoded]) -> None:
        rows = [
            (key, array.shape[1], array.astype("<f2").tobytes(), time.time_ns())
            for key, array in arrays.items()
        ]
        with store:
            store.executemany("INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?)", rows)
            (held,) = store.execute("SELECT TOTAL(LENGTH(data)) FROM arrays").fetchone()
            if held > self.max_bytes:
                # So many of the oldest that a quarter is free again: full stores are then cleared rarely.
                store.execute(
                    "DELETE FROM arrays WHERE key IN (SELECT key FROM (SELECT key, SUM(LENGTH(data)) OVER "
                    "(ORDER BY used DESC, key) AS newer FROM arrays) WHERE newer > ?)",
                    (0.75 * self.max_bytes,),
                )
