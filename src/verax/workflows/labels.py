"""Which explainer to believe for each label of a multi-label model: one verdict a label, and a table over labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from verax.data.inputs import as_frame
from verax.errors import VeraxError
from verax.models import as_model
from verax.models.multilabel import n_labels
from verax.phrases import say
from verax.results.tables import Table, build_table, share, table_html, table_lines, text
from verax.workflows.judge import EXPLAINERS, Given, judge
from verax.workflows.judgement import Judgement
from verax.workflows.options import JudgeOptions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LabelJudgements:
    """A verdict for each label.

    Attributes:
        judgements: by label.
    """

    judgements: Mapping[str, Judgement]

    def table(self) -> Table:
        """Labels by explainers: how far of the way from random features to the best each comes."""
        names = dict.fromkeys(trial.name for one in self.judgements.values() for trial in one.trials)
        reached = {
            label: {trial.name: trial.reached for trial in one.trials}
            for label, one in self.judgements.items()
        }
        sources = [
            text("label", "label", lambda label: label),
            *(share(name, name, partial(_of, reached, name)) for name in names),
            text("believe", "believe", lambda label: ", ".join(self.judgements[label].believe)),
        ]
        return build_table(
            "labels",
            say("judge", "labels-title"),
            list(self.judgements),
            sources,
            say("judge", "labels-sentence"),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each label and explainer."""
        import pandas as pd

        frames = [one.to_frame().assign(label=label) for label, one in self.judgements.items()]
        return pd.concat(frames, ignore_index=True)

    def __getitem__(self, label: str) -> Judgement:
        return self.judgements[label]

    def __str__(self) -> str:
        made = self.table()
        return "\n".join([*table_lines(made), "", made.sentence])

    def _repr_html_(self) -> str:
        return table_html(self.table())


def _of(reached: Mapping[str, Mapping[str, float | None]], name: str, label: str) -> float | None:
    return reached[label].get(name)


def judge_labels(
    model: Any,
    data: Any,
    explainers: Given = EXPLAINERS,
    *,
    class_names: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    reference: Any = None,
    progress: bool | None = None,
    **options: Unpack[JudgeOptions],
) -> LabelJudgements:
    """Says for each label of a multi-label model which explainer to believe.

    Args:
        model: a fitted classifier that gives several labels at once.
        data: inputs, or (inputs, labels) with a column of 0 and 1 for each label, as the model was fitted on.
        explainers: as of `verax.judge`.
        class_names: the names of the labels, in the model's order; their numbers by default.
        labels: those to judge; all by default.
        reference: some of the model's training rows, for a model of tables; by default the data themselves.
        progress: whether to show what is being done.
        options: as of `verax.judge`; ``seconds`` is for each label.
    """
    count = n_labels(getattr(model, "best_estimator_", model))
    if not count:
        raise VeraxError("The model gives one class of several, and no labels; use verax.judge(model, data).")
    inputs, known = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    if known is not None:
        frame = as_frame(known)
        if class_names is None and frame is not None:
            class_names = [str(name) for name in frame.columns]
        known = np.asarray(known if frame is None else frame.to_numpy())
        if known.shape != (len(inputs), count):
            raise VeraxError(
                f"The labels have the shape {known.shape}; give a column of 0 and 1 for each of the {count} labels."
            )
    names = [str(name) for name in class_names or range(count)]
    rows = inputs if reference is None else reference
    found = {}
    for name in names if labels is None else [str(label) for label in labels]:
        one = as_model(model, class_names=names, label=name, reference=rows)
        given = inputs if known is None else (inputs, known[:, names.index(name)])
        found[name] = judge(one, given, explainers, progress=progress, **options)
    return LabelJudgements(found)
