"""What an estimate gives: named values that become plain ones for JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Record:
    """The base of all results."""

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return asdict(self)
