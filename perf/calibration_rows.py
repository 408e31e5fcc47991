"""One line of the calibration suite: what a claim promises, what was measured, and the band it must stay in."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """How often a claim is made, or an interval holds the truth, in simulated runs.

    Attributes:
        claim: What is claimed and in which setting.
        promised: The promise, as the documentation words it.
        measured: The rate in per cent.
        runs: Simulated runs.
        low: The lowest rate, in per cent, that the promise and the simulation's own error allow.
        high: The highest one.
    """

    claim: str
    promised: str
    measured: float
    runs: int
    low: float
    high: float
