"""One report for benchmarks and studies together."""

from __future__ import annotations
