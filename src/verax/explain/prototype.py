"""The explainer `prototype` (Hase & Bansal 2020, section 3.3): which training example an input is most similar to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from verax.arrays import FloatArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Explainer, Target, at_least, explainers
from verax.explain.entry import check_targets
from verax.explain.exemplar import OUT_OF, Exemplar
from verax.explain.explanation import Cost
from verax.explain.imputation import Imputation
from verax.explain.perturbed import shown_input
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for, what_works

if TYPE_CHECKING:
    from verax.models.neural.prototype_model import PrototypeModel

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
        from verax.explain.inside.learned import Lesson, learned
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
            lambda: Lesson.of(model, "prototype"),
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
