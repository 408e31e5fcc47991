"""Inputs as people have them: what holds texts or rows becomes a list, an array or a DataFrame, in its own order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

# The column of texts in a table that has others besides.
TEXT_COLUMN = "text"


def plain_inputs(given: Any) -> list[Any] | NDArray[Any] | pd.DataFrame:
    """A batch of inputs without what else its container knows (an index, chunks, a library's own types).

    Args:
        given: a list, tuple or other iterable, an array, a pandas or polars Series or DataFrame, a pyarrow array or
            table, a Hugging Face column or Dataset, or a list of dicts.
    """
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()  # one thing, and no batch of them: told as if it stood there without its array
    if isinstance(given, (str, bytes)):
        raise VeraxError("The model was given one text instead of a list of texts; put it in a list: [text].")
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        import pandas as pd

        return pd.DataFrame.from_records(given)  # a structured array is a table with names
    if isinstance(given, np.ndarray):
        # An array of texts has elements of a class of numpy's own; one of rows is left as it is.
        return given.tolist() if given.ndim == 1 and given.dtype.kind in "UO" else given
    if isinstance(given, list):
        return _frame_of_dicts(given) if given and isinstance(given[0], Mapping) else given
    if isinstance(given, Mapping):
        raise VeraxError(
            f"The inputs are a dict with the keys {', '.join(map(str, given))}; give one of its values, or a "
            "DataFrame made of it."
        )
    if (frame := as_frame(given)) is not None:
        return frame
    # A pandas index counts for nothing: inputs are in the order in which they stand.
    for method in ("to_pylist", "to_list"):
        if callable(getattr(given, method, None)):
            return list(getattr(given, method)())
    if isinstance(given, Iterable):
        return list(given)
    raise VeraxError(
        f"The inputs are a {type(given).__name__}; give a list of texts, or rows of a table as a DataFrame or array."
    )


def as_frame(given: Any) -> pd.DataFrame | None:
    """A table of any library (pandas, polars, pyarrow, Hugging Face) as a pandas DataFrame; None for anything else."""
    if hasattr(given, "iloc"):
        return given if hasattr(given, "columns") else None
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        import pandas as pd

        return pd.DataFrame.from_records(given)
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):  # polars puts off what it is asked
        given = given.collect()
    if hasattr(given, "to_pandas") and (hasattr(given, "column_names") or hasattr(given, "columns")):
        frame: pd.DataFrame = given.to_pandas()
        return frame
    return None


def texts_in(given: Any) -> list[Any]:
    """The texts of a batch: of a table those of its only column, or of the one called ``text``."""
    inputs = plain_inputs(given)
    if (frame := as_frame(inputs)) is not None:
        names = [str(name) for name in frame.columns]
        if len(names) != 1 and TEXT_COLUMN not in names:
            raise VeraxError(
                f"The model reads texts and was given a table with the columns {', '.join(names)}; give the column "
                "of the texts alone, such as frame['review']."
            )
        place = names.index(TEXT_COLUMN) if TEXT_COLUMN in names else 0
        return list(frame.iloc[:, place].tolist())
    return inputs if isinstance(inputs, list) else list(inputs)


def plain_targets(targets: Any) -> Any:
    """Classes to explain, one per input, as a plain list; what is no batch of them is left for others to refuse."""
    if isinstance(targets, np.ndarray) and targets.ndim == 0:
        return targets.item()
    if targets is None or isinstance(targets, (str, bytes, int, list)) or not isinstance(targets, Iterable):
        return targets
    values = plain_inputs(targets)
    return values.tolist() if isinstance(values, np.ndarray) else values


def _frame_of_dicts(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows))
