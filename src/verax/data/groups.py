"""Columns that are one feature together: groups that somebody names, and one-hot columns of one category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError

# Between the name of a category and one of its values.
SEPARATORS = ("_", "=", " ", ":", ".", "-")
Groups = tuple[tuple[str, tuple[str, ...]], ...]


def check_groups(names: Sequence[str], groups: Groups) -> None:
    """Refuses groups with columns that are not there, or in two of them, or a name that a column has."""
    seen: dict[str, str] = {}
    for group, columns in groups:
        if not columns:
            raise VeraxError(f"The group {group!r} has no columns; name some or leave it out.")
        for column in columns:
            if column not in names:
                raise VeraxError(
                    f"The group {group!r} has a column {column!r} that the table lacks; there are: {', '.join(names)}."
                )
            if column in seen:
                raise VeraxError(
                    f"The column {column!r} is in the groups {seen[column]!r} and {group!r}; put it in one of them."
                )
            seen[column] = group
        if group in names and group not in columns:
            raise VeraxError(
                f"A group is called {group!r}, as is a column outside of it; give it another name."
            )


def find_groups(wanted: Any, names: Sequence[str], rows: FloatArray | None) -> Groups:
    """Groups as somebody gives them: by name, or "one-hot" for all one-hot columns that can be told from the rows.

    Args:
        wanted: a dict from a name to columns; "one-hot"; or None.
        names: the table's columns.
        rows: encoded training rows.
    """
    if wanted is None:
        return ()
    if wanted == "one-hot":
        if rows is None:
            raise VeraxError("groups='one-hot' finds groups in training rows; give them: reference=rows.")
        return one_hot_groups(names, rows)
    if not isinstance(wanted, Mapping):
        raise VeraxError("groups= is a dict from a feature's name to its columns, or 'one-hot'.")
    return tuple(
        (str(name), (columns,) if isinstance(columns, str) else tuple(str(column) for column in columns))
        for name, columns in wanted.items()
    )


def one_hot_groups(names: Sequence[str], rows: FloatArray) -> Groups:
    """Columns of 0 and 1 whose names begin alike, of which each row has one that is 1 (or at most one)."""
    flags = [number for number in range(len(names)) if np.isin(np.unique(rows[:, number]), (0.0, 1.0)).all()]
    by_start: dict[str, list[int]] = {}
    for number in flags:
        for separator in SEPARATORS:
            start, found, _ = names[number].partition(separator)
            while found and start:
                by_start.setdefault(start, []).append(number)
                rest = names[number][len(start) + len(separator) :]
                further, found, _ = rest.partition(separator)
                start = f"{start}{separator}{further}" if found else ""
    groups: list[tuple[str, tuple[str, ...]]] = []
    taken: set[int] = set()
    # The longest beginnings first: "marital-status_single" is one of "marital-status", not of "marital".
    for start in sorted(by_start, key=lambda start: (-len(by_start[start]), -len(start))):
        columns = [number for number in dict.fromkeys(by_start[start]) if number not in taken]
        if (
            len(columns) >= 2
            and (rows[:, columns].sum(axis=1) <= 1.0).all()
            and rows[:, columns].any(axis=0).sum() > 1
        ):
            groups.append((start, tuple(names[number] for number in columns)))
            taken.update(columns)
    return tuple(groups)
