"""What a measure is: from a model, inputs and their explanations to one number per input; its contract as tests."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.checks import TEXTS, additive_table_model, additive_text_model
from verax.explain.explanation import Attribution, Cost, Explanation
from verax.explain.random import Random
from verax.measures.case import Case, Reads, make_case
from verax.models import as_model
from verax.models.base import Inputs, Model, metered
from verax.names import SORTS, fits, parse_name
from verax.registry import Registry

Better = Literal["higher", "lower"]
# What a measure costs: nothing but arithmetic, rows asked of the model, explanations made again, models fitted again.
Costs = Literal["nothing", "rows", "explanations", "fits"]
# Of models that predict a number: the same range; the number takes the place of the probability, as a share of how far
# its predictions spread, and has no ends; or it makes no sense.
Numbers = Literal["same", "unbounded", "refused"]
Function = Callable[..., FloatArray]


@dataclass(frozen=True)
class Definition:
    """A measure as it is declared.

    Attributes:
        function: from a case and options to a value per input.
        better: which direction is better.
        low: the smallest value that there can be.
        high: the largest.
        reads: "order" if only the order of the features' scores counts, "scores" if their sizes do.
        costs: what it needs besides the explanations.
        constant: its value where the model says the same to everything; None if that depends on the explanation.
        numbers: of models that predict a number: "same" range, "unbounded", or "refused".
        any_unit: whether scores times a positive number have the same value; so it is where only their order counts.
    """

    function: Function
    better: Better
    low: float
    high: float
    reads: Reads
    costs: Costs
    constant: float | None = None
    numbers: Numbers = "same"
    any_unit: bool = False

    def __post_init__(self) -> None:
        # What it says of itself and where it is found are the function's.
        object.__setattr__(self, "__doc__", self.function.__doc__)
        object.__setattr__(self, "__module__", self.function.__module__)

    @property
    def options(self) -> dict[str, Any]:
        """Its options and their defaults; ``inspect.Parameter.empty`` for what has to be given."""
        return {
            one.name: one.default
            for one in inspect.signature(self.function).parameters.values()
            if one.kind is inspect.Parameter.KEYWORD_ONLY
        }


def defines(
    *,
    better: Better,
    low: float,
    high: float,
    reads: Reads = "order",
    costs: Costs = "rows",
    constant: float | None = None,
    numbers: Numbers = "same",
    any_unit: bool = False,
) -> Callable[[Function], Definition]:
    """Decorator: a function becomes a measure; the arguments are the attributes of `Definition`."""
    return lambda function: Definition(function, better, low, high, reads, costs, constant, numbers, any_unit)


measures: Registry[Definition] = Registry("measure", "verax.measures", home="verax.measures")


@dataclass(frozen=True, eq=False)
class Measured:
    """Values of a measure, and what they cost.

    Attributes:
        values: one per input.
        cost: rows asked of the model, calls and seconds, of all inputs together.
    """

    values: FloatArray
    cost: Cost


@dataclass(frozen=True)
class Measure:
    """A measure with its options: call it with a model, inputs and their explanations.

    Attributes:
        name: by which it was asked for.
        definition: what it is.
        options: those that were given.
    """

    name: str
    definition: Definition = field(repr=False, compare=False)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, model: Model, inputs: Inputs, explanations: Sequence[Explanation]) -> FloatArray:
        """One value per input; see `measured`."""
        return self.measured(model, inputs, explanations).values

    def measured(self, model: Model, inputs: Inputs, explanations: Sequence[Explanation]) -> Measured:
        """One value per input, and what they cost.

        Args:
            model: what is explained.
            inputs: texts, or rows of a table, in whatever holds them.
            explanations: one for each, in their order; their own targets are measured.
        """
        return self.of_case(make_case(self.name, self.definition.reads, model, inputs, explanations))

    def of_case(self, case: Case) -> Measured:
        """The same for a case that is made already, so that several measures share it."""
        if case.model.output == "number" and self.definition.numbers == "refused":
            raise VeraxError(
                f"The measure {self.name!r} is about classes, and this model predicts a number; take one of the "
                "others, such as comprehensiveness, sufficiency, deletion or infidelity."
            )
        started, rows, calls = time.perf_counter(), case.rows, case.calls
        with metered() as meter:
            values = np.asarray(self.definition.function(case, **self.options), dtype=np.float64)
        if values.shape != (len(case),):
            raise VeraxError(
                f"The measure {self.name!r} gave values of shape {values.shape} for {len(case)} inputs; it must give "
                "one for each."
            )
        if not np.isfinite(values).all():
            bad = int(np.argmin(np.isfinite(values)))
            raise VeraxError(
                f"The measure {self.name!r} gave {values[bad]} for input {bad} (counted from 0); a measure has a "
                "defined value for every input, or says in a sentence why not."
            )
        # What goes over the engine's paths is counted there; what is asked of the model itself, by the meter.
        cost = Cost(
            case.rows - rows + meter.rows, case.calls - calls + meter.calls, time.perf_counter() - started
        )
        return Measured(values, cost)

    @property
    def better(self) -> Better:
        """Which direction is better."""
        return self.definition.better

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value that there can be for a model of classes; see `range_of`."""
        return self.definition.low, self.definition.high

    def range_of(self, model: Model) -> tuple[float, float]:
        """The same for a model of classes or of a number."""
        unbounded = model.output == "number" and self.definition.numbers == "unbounded"
        return (-float("inf"), float("inf")) if unbounded else self.range

    @property
    def costs(self) -> Costs:
        """What it needs besides the explanations."""
        return self.definition.costs

    @property
    def label(self) -> str:
        """Its name with its options, as it is written in lists."""
        written = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}({written})" if written else self.name

    def goodness(self, values: FloatArray) -> FloatArray:
        """The values turned so that larger is better."""
        return values if self.better == "higher" else -values


def measure(name: str, **options: Any) -> Measure:
    """Makes a measure by name.

    Args:
        name: a name that ``verax list measures`` shows, or ``package.module:name`` for one's own; options may stand
            behind it, as in "comprehensiveness(absent=masked)".
        options: what it takes, e.g. ``absent="resampled"``.
    """
    if "(" in name:
        written = parse_name(name, "measure", "comprehensiveness(absent=masked)")
        if twice := sorted(set(written.options) & set(options)):
            raise VeraxError(f"The option {twice[0]!r} of the measure {name!r} is given twice; give it once.")
        name, options = written.name, {**written.options, **options}
    definition = measures.get(name)
    if not isinstance(definition, Definition):
        raise VeraxError(
            f"{name!r} is no measure; decorate its function with verax.measures.defines(better=..., low=..., high=...)."
        )
    known = definition.options
    for given, value in options.items():
        if given not in known:
            raise VeraxError(
                f"The measure {name!r} has no option {given!r}; it has {', '.join(known) or 'none'}."
            )
        if type(known[given]) in SORTS and not fits(value, known[given]):
            raise VeraxError(
                f"The option {given!r} of the measure {name!r} is {SORTS[type(known[given])]}, not {value!r}."
            )
    missing = [
        one for one, default in known.items() if default is inspect.Parameter.empty and one not in options
    ]
    if missing:
        raise VeraxError(
            f"The measure {name!r} needs {missing[0]}=; write verax.measure({name!r}, {missing[0]}=...)."
        )
    return Measure(name, definition, options)


# Values that differ by less are the same.
SAME = 1e-9


def check_measure(
    measure: Measure,
    *,
    model: Model | None = None,
    inputs: Inputs | None = None,
    explanations: Sequence[Explanation] | None = None,
    batches: bool = True,
) -> None:
    """Raises an AssertionError that says which part of the contract a measure breaks.

    One finite value per input, inside the declared range; the same again, in a batch or one by one, and in any order of
    the features; other scores in the same order are the same to what reads their order, and scores times a positive
    number to what says that any unit will do; ties do not depend on where features stand; a constant model has the
    value that is declared; inputs without features, with one, and explanations that score nothing have a defined value.

    Args:
        measure: a measure with its options.
        model: what it is tried on; by default models whose probability is a sum over words, or over columns.
        inputs: of this model, if one is given.
        explanations: of these inputs; random ones if not given.
        batches: whether it can be taken input by input; those that fit a model again on the inputs cannot.
    """
    if model is not None:
        assert inputs is not None, "give inputs= of the model"
        _check(measure, model, inputs, explanations, batches)
        return
    rows = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 1.0], [0.5, 0.6, 0.0]])
    _check(measure, additive_text_model(), list(TEXTS), None, batches)
    _check(measure, additive_table_model(), rows, None, batches)
    if measure.costs in ("nothing", "rows"):
        _check_odd(measure)
        _check_constant(measure)


def _check(
    measure: Measure,
    model: Model,
    inputs: Inputs,
    explanations: Sequence[Explanation] | None,
    batches: bool,
) -> None:
    given = list(explanations) if explanations is not None else list(Random(seed=1).explain(model, inputs))
    values = measure(model, inputs, given)
    name = measure.label
    assert values.shape == (len(given),), f"{name} gives {values.shape}, not one value per input"
    low, high = measure.range_of(model)
    inside = (values >= low - SAME) & (values <= high + SAME)
    assert inside.all(), f"{name} gives {values}, outside of {low} to {high}"
    assert measure.better in ("higher", "lower"), f"{name} does not say which direction is better"
    assert _same(values, measure(model, inputs, given)), f"{name} gives other values the second time"
    if batches:
        one_by_one = [
            float(measure(model, inputs[place : place + 1], given[place : place + 1])[0])
            for place in range(len(given))
        ]
        assert _same(values, one_by_one), f"{name} gives other values one by one: {values} and {one_by_one}"
        backwards = measure(model, inputs[::-1], given[::-1])[::-1]
        assert _same(values, backwards), f"{name} depends on the order of the inputs"
    turned = [_turned(one) for one in given]
    assert _same(values, measure(model, inputs, turned)), f"{name} depends on the order of the features"
    if measure.definition.reads == "order":
        bent = [_with_scores(one, lambda scores: np.sign(scores) * np.sqrt(np.abs(scores))) for one in given]
        assert _same(values, measure(model, inputs, bent)), f"{name} reads the sizes of scores"
    elif measure.definition.any_unit:
        doubled = [_with_scores(one, lambda scores: 2.0 * scores) for one in given]
        assert _same(values, measure(model, inputs, doubled)), f"{name} depends on the unit of scores"
    level = [_with_scores(one, np.ones_like) for one in given]
    tied = measure(model, inputs, level)
    assert _same(tied, measure(model, inputs, [_turned(one) for one in level])), (
        f"{name} breaks ties by where features stand"
    )


def _check_odd(measure: Measure) -> None:
    """Empty texts, one word, words the model does not know, scores that are all equal or all 0."""
    model = additive_text_model()
    texts = ["", " ... !", "good", "zzz", "good good"]
    for seed in (1, 2):
        assert np.isfinite(measure(model, texts, _random(model, texts, seed))).all()
    sentence = ["a fine good film", "bad dull plot"]
    for value in (0.0, 1.0, -1.0):
        level = [
            replace(one, scores=np.full(len(one.features), value))
            for one in Random().explain(model, sentence)
        ]
        values = measure(model, sentence, level)
        assert np.isfinite(values).all(), f"{measure.label} has no value where all scores are {value}"


def _check_constant(measure: Measure) -> None:
    """A model that says the same to everything."""

    def constant(texts: Sequence[str]) -> FloatArray:
        return np.tile([0.3, 0.7], (len(texts), 1))

    model = as_model(constant, kind="text", class_names=("no", "yes"))
    texts = ["a fine good film", "bad dull plot", "film"]
    values = measure(model, texts, _random(model, texts, 1))
    wanted = measure.definition.constant
    assert np.isfinite(values).all(), f"{measure.label} has no value for a constant model"
    assert wanted is None or np.allclose(values, wanted, atol=SAME), (
        f"{measure.label} declares {wanted} for a constant model and gives {values}"
    )


def _random(model: Model, texts: Sequence[str], seed: int) -> list[Explanation]:
    return list(Random(seed=seed).explain(model, list(texts)))


def _turned(explanation: Any) -> Explanation:
    """The same scores, the features in another order."""
    if not isinstance(explanation, Attribution):
        changed: Explanation = explanation
        return changed
    spans = None if explanation.spans is None else explanation.spans[::-1]
    return replace(
        explanation, features=explanation.features[::-1], scores=explanation.scores[::-1].copy(), spans=spans
    )


def _with_scores(explanation: Any, change: Callable[[FloatArray], FloatArray]) -> Explanation:
    """The explanation with other scores of the same features."""
    if not isinstance(explanation, Attribution):
        changed: Explanation = explanation
        return changed
    return replace(explanation, scores=change(explanation.scores))


def _same(one: Any, other: Any) -> bool:
    return bool(np.allclose(np.asarray(one), np.asarray(other), atol=SAME, rtol=SAME))
