"""Explanations of rows of a table as people go on with them: a DataFrame beside the inputs, and shap's own object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.data.inputs import as_frame, plain_inputs
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation

if TYPE_CHECKING:
    import pandas as pd


def to_frame(explanations: Sequence[Explanation], inputs: Any = None) -> pd.DataFrame:
    """One row for each explanation: what was explained and a column of scores for each feature, beside the inputs.

    Args:
        explanations: of rows of one table, or of anything with equal features.
        inputs: the rows, whose columns come first as they are, with their index; without them scores stand alone.
    """
    import pandas as pd

    found = _same_features(explanations)
    scores = pd.DataFrame(
        np.array([one.scores for one in found]), columns=[f"score of {name}" for name in found[0].features]
    )
    said = pd.DataFrame({"explained": [one.target_name or str(one.target) for one in found]})
    if all("base" in one.details for one in found):
        said["base"] = [float(str(one.details["base"])) for one in found]
    frame = None if inputs is None else as_frame(plain_inputs(inputs))
    if frame is None:
        return pd.concat([said, scores], axis=1)
    if len(frame) != len(found):
        raise VeraxError(
            f"There are {len(found)} explanations for {len(frame)} rows; give the rows that were explained."
        )
    said.index = scores.index = frame.index
    return pd.concat([frame, said, scores], axis=1)


def to_shap(explanations: Sequence[Explanation], inputs: Any = None) -> Any:
    """The same as a ``shap.Explanation``, for the plots of the package shap, which has to be installed.

    Args:
        explanations: of rows of one table.
        inputs: the rows, whose values the plots show and colour by.
    """
    try:
        import shap
    except ImportError as error:
        raise VeraxError(
            "to_shap makes an object of the package shap; install it: pip install shap."
        ) from error
    found = _same_features(explanations)
    bases = np.array([float(str(one.details.get("base", 0.0))) for one in found])
    data = None
    if inputs is not None:
        plain = plain_inputs(inputs)
        frame = as_frame(plain)
        data = np.asarray(plain) if frame is None else frame.to_numpy()
        if data.shape != (len(found), len(found[0].features)):
            raise VeraxError(
                f"The inputs have the shape {data.shape}, and there are {len(found)} explanations of "
                f"{len(found[0].features)} features; leave inputs= out where columns are explained in groups."
            )
    return shap.Explanation(
        values=np.array([one.scores for one in found]),
        base_values=bases,
        data=data,
        feature_names=list(found[0].features),
    )


def _same_features(explanations: Sequence[Explanation]) -> list[Attribution]:
    found = [one.as_attribution() for one in explanations]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        raise VeraxError(
            "Only scores of features become a table; give explanations such as those of lime or shap."
        )
    if any(one.features != known[0].features for one in known):
        raise VeraxError(
            "The explanations speak about different features, as those of texts do; call to_frame() on each of them."
        )
    return known
