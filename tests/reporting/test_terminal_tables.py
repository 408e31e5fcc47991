"""Tables in a terminal: what is said of a row is there in a narrow one too."""

import pytest
from rich.console import Console

from verax.reporting.page import FittedTable
from verax.results.tables import Column, Table

TABLE = Table(
    key="made-up",
    title="Made up",
    columns=(
        Column("name", "measure", "text"),
        Column("verdict", "verdict", "text"),
        *(Column(f"n{place}", f"number {place}", "count") for place in range(8)),
    ),
    rows=(
        {"name": "faithfulness-correlation", "verdict": "believable"}
        | {f"n{place}": 1234 for place in range(8)},
    ),
    sentence="",
)


@pytest.mark.parametrize(("width", "left"), [(200, 0), (80, 4), (45, 8)])
def test_the_first_columns_are_whole_and_the_others_are_counted(width, left):
    console = Console(width=width, record=True)
    with console.capture() as printed:
        console.print(FittedTable(TABLE))
    text = printed.get()
    assert "faithfulness-correlation" in text
    assert "believable" in text
    assert "…" not in text
    assert ("more columns are in the report" in text) == bool(left)
    if left:
        assert f"{left} more columns" in text
