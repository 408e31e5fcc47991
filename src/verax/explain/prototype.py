"""The explainer `prototype` (Hase & Bansal 2020, section 3.3): which training example an input is most similar to.

Of a row, what matters is what a column might be otherwise, given the others: multinomial logistic regressions tell.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.data.bins import Bins
from verax.data.table import Schema
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Cost
from verax.explain.kinds import OUT_OF, Exemplar
from verax.explain.perturbed import shown_input
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for, what_works
from verax.seeds import stream

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

    from verax.models.neural.prototype_model import PrototypeModel


# As many training rows as a regression learns from; more would make it slow and hardly better.
MOST_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Imputation:
    """For every column the values that it may take, and what tells how likely each is.

    A category may take every category of the training rows; a number the mean of each of its quartiles. A column that
    has one value has no regression, and is never anything else. Without other columns values are as likely as they are
    frequent.
    """

    schema: Schema
    bins: Bins
    values: tuple[FloatArray, ...]
    regressions: tuple[LogisticRegression | None, ...]

    @classmethod
    def learn(cls, schema: Schema, rows: FloatArray) -> Imputation:
        """From encoded training rows: a random choice of them, if there are many."""
        from sklearn.linear_model import LogisticRegression

        if len(rows) > MOST_ROWS:
            rows = rows[stream(0, "imputation", len(rows)).choice(len(rows), MOST_ROWS, replace=False)]
        bins = Bins.learn(schema, rows)
        places = bins.assign(rows)
        parts = _parts(schema, bins, rows)
        values: list[FloatArray] = []
        regressions: list[LogisticRegression | None] = []
        for column in range(len(schema)):
            known = bins.values[column]
            numeric = schema.columns[column].is_numeric
            values.append(bins.means[column][known] if numeric else known.astype(np.float64))
            if len(known) < 2:
                regressions.append(None)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a regression that could be a little better is good enough
                fitted = LogisticRegression(max_iter=200).fit(_others(parts, column), places[:, column])
            regressions.append(fitted)
        return cls(schema, bins, tuple(values), tuple(regressions))

    @property
    def varies(self) -> BoolArray:
        """Whether each column has more than one value."""
        return np.array([regression is not None for regression in self.regressions])

    def variants(self, row: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """For each column the row with every value it may take there, and how likely each value is."""
        parts = _parts(self.schema, self.bins, row[None])
        found = []
        for column, (values, regression) in enumerate(zip(self.values, self.regressions, strict=True)):
            if regression is None:
                found.append((row[None].copy(), np.ones(1)))
                continue
            rows = np.repeat(row[None], len(values), axis=0)
            rows[:, column] = values
            found.append((rows, regression.predict_proba(_others(parts, column))[0]))
        return found


def _parts(schema: Schema, bins: Bins, rows: FloatArray) -> list[FloatArray]:
    """Each column as numbers: an indicator for each bin or category that training rows have."""
    places = bins.assign(rows)
    return [
        (places[:, column, None] == bins.values[column]).astype(np.float64) for column in range(len(schema))
    ]


def _others(parts: Sequence[FloatArray], column: int) -> FloatArray:
    others = [part for place, part in enumerate(parts) if place != column]
    # A column alone is regressed on nothing, and the intercept learns how frequent its values are.
    return np.concatenate(others or [np.zeros((len(parts[column]), 1))], axis=1)


_IMPUTATIONS: WeakKeyDictionary[Model, Imputation] = WeakKeyDictionary()


@explainers.register("prototype")
@dataclass(frozen=True)
class Prototype(Explainer):
    """The most similar prototype of the explained class, how similar it is, and which features make it so.

    A prototype model (``prototype-bilstm``, ``prototype-mlp-2x50``) is explained by its own prototypes. For a
    ``bilstm`` or ``mlp-2x50`` prototypes are learned first, once, on its features as they are: of the training inputs
    that it takes for what they are labelled. They are kept on disk, by what they were learned from.

    Attributes:
        prototypes: of each class, where they have to be made; 40 for texts and 20 for tables if None.
        seed: of making them.
    """

    prototypes: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        at_least(self.prototypes, 1, "prototypes")

    numbers: ClassVar[bool] = False
    records: ClassVar[bool] = False

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Exemplar]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        near = self._prototypes(model)
        if len(inputs) == 0:
            return []
        guesses = model.predict_proba(inputs).argmax(axis=1).tolist()
        return [
            self._explain_input(model, near, given, guess if target is None else target)
            for given, guess, target in zip(inputs, guesses, wanted, strict=True)
        ]

    def _explain_input(
        self, model: Model, near: PrototypeModel, given: str | FloatArray, target: int
    ) -> Exemplar:
        started = time.perf_counter()
        number, similarity = near.nearest(given, target)
        if isinstance(given, str):
            features = split_words(given).distinct
            without = near.without_words(given, number)
            rows = 2 + len(features)
        else:
            assert model.schema is not None
            features = model.schema.names
            if model not in _IMPUTATIONS:
                _IMPUTATIONS[model] = Imputation.learn(model.schema, near.reference_rows())
            imputation = _IMPUTATIONS[model]
            variants = imputation.variants(given)
            similarities = near.similarities(np.concatenate([rows for rows, _ in variants]), number)
            ends = np.cumsum([len(rows) for rows, _ in variants])[:-1]
            without = np.array(
                [
                    float(chances @ values)
                    for (_, chances), values in zip(variants, np.split(similarities, ends), strict=True)
                ]
            )
            # A column with one value takes nothing away: not even the last digit, which is the batch's.
            without = np.where(imputation.varies, without, similarity)
            rows = 2 + len(similarities)
        return Exemplar(
            features=features,
            scores=OUT_OF * (similarity - without),
            similarity=similarity,
            prototype=shown_input(model, near.example(number)),
            prototype_label=model.class_names[near.label(number)],
            target=target,
            target_name=model.class_names[target],
            input=shown_input(model, given),
            details={"path": near.name, "prototype": number, "example": near.example_number(number)},
            cost=Cost(rows, 3, time.perf_counter() - started),
            explainer=repr(self),
        )

    def _prototypes(self, model: Model) -> PrototypeModel:
        """The model's own prototypes, or those that are learned of it."""
        if not _can_have_prototypes(model):
            raise _cannot(model)
        ask_for(model, "reference", "prototype")
        from verax.explain.inside.learned import ReferenceAnswers, learned
        from verax.models.neural.prototype_model import (
            learn_prototypes,
            learned_from,
            own_prototypes,
            read_prototypes,
        )

        own = own_prototypes(model)
        if own is not None:
            return own
        return learned(
            model,
            f"{self!r} of {learned_from(model)}",
            lambda: ReferenceAnswers.from_model(model, "prototype"),
            lambda lesson: learn_prototypes(
                model, self.prototypes, self.seed, lesson.probabilities.argmax(axis=1)
            ),
            lambda arrays: read_prototypes(model, arrays),
        )


def _can_have_prototypes(model: Model) -> bool:
    if not type(model).__module__.startswith("verax.models.neural."):  # which need not even be installed
        return False
    from verax.models.neural.prototype_model import can_have_prototypes

    return can_have_prototypes(model)


def _cannot(model: Model) -> VeraxError:
    return VeraxError(
        "The method 'prototype' explains the models prototype-bilstm, prototype-mlp-2x50, bilstm and mlp-2x50, not "
        f"this {type(model).__name__}; choose one of these models, or another method: {what_works(model)}."
    )
