"""What stands in the columns of a table, counted while it is written: for the codebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from verax.studies.answers.export.writers import Part
from verax.studies.answers.schema import Column

MOST_LEVELS = 100


class ColumnCount:
    """Counts what is missing, the levels of texts and booleans, and the range of numbers."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.missing = 0
        self.levels: Counter[str | bool] | None = None
        self.range: tuple[float, float] | None = None
        each_differs = column.any_text or column.identifying
        if column.type == "boolean" or (column.type == "text" and not each_differs):
            self.levels = Counter(dict.fromkeys(column.values or (), 0))

    def add(self, values: Sequence[object]) -> None:
        """Counts more values."""
        given = [value for value in values if value is not None]
        self.missing += len(values) - len(given)
        if self.levels is not None:
            self.levels.update(value for value in given if isinstance(value, str | bool))
            if len(self.levels) > MOST_LEVELS:
                self.levels = None
        if self.column.type in ("integer", "number"):
            numbers = [value for value in given if isinstance(value, int | float)]
            if numbers:
                numbers += self.range or ()
                self.range = min(numbers), max(numbers)

    def to_dict(self) -> dict[str, object]:
        """What was counted, as plain data."""
        counts: dict[str, object] = {"missing": self.missing}
        if self.levels is not None:
            counts["levels"] = dict(sorted((_spelled(level), count) for level, count in self.levels.items()))
        if self.range is not None:
            counts["lowest"], counts["highest"] = self.range
        return counts


class TableCount:
    """Counts the rows and columns of a table, and the answers to each question where it has any."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.rows = 0
        self.columns = [ColumnCount(column) for column in columns]
        self.chosen: Counter[tuple[str, str]] = Counter()
        self.written: Counter[str] = Counter()

    def add(self, part: Part) -> None:
        """Counts more rows."""
        for counted in self.columns:
            counted.add(part[counted.column.name])
        self.rows += len(part[self.columns[0].column.name])
        if "position" in part:
            for question, answer, position, state in zip(
                part["question"], part["answer"], part["position"], part["state"], strict=True
            ):
                if position is not None:
                    self.chosen[str(question), str(answer)] += 1
                elif state == "closed":
                    self.written[str(question)] += 1


def _spelled(level: str | bool) -> str:
    return str(level).lower() if isinstance(level, bool) else level
