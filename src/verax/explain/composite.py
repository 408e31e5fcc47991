"""Several methods together: the sets that papers compare, under one name, and composites of several explanations."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from verax.errors import OwnCodeError, VeraxError
from verax.explain.base import Explainer, Target, at_least, check_targets, explainer, explainers
from verax.explain.explanation import Cost, Explanation, short_repr
from verax.explain.perturbed import shown_input
from verax.models.base import Inputs, Model
from verax.notebook import paragraph_html

# N-grams are as long as the filters of the paper's network look.
NGRAMS = (2, 3, 4)


@dataclass(frozen=True)
class Method:
    """A method as a paper shows it to people.

    Attributes:
        name: in data and tables.
        called: what the paper calls it.
        explainer: a registered name.
        parameters: of the explainer.
        sizes: how many words a fragment may have; None for a method that gives fragments by itself.
        any_sign: evidence are the highest scores and counter-evidence the lowest, whatever their sign.
        display: how scores are shown where there is a choice: "marks" on the input, or "weights" that add up.
    """

    name: str
    called: str
    explainer: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    sizes: tuple[int, ...] | None = None
    any_sign: bool = False
    display: str = "marks"


PRESETS: dict[str, tuple[Method, ...]] = {
    # Lertvittayakumjorn and Toni (2019), Table 2 and section 4.3.
    "human-grounded": (
        Method("random-w", "Random (W)", "random", {}, (1,), any_sign=True),
        Method("random-n", "Random (N)", "random-fragments", {"count": 3, "sizes": NGRAMS}),
        Method("lime-w", "LIME (W)", "lime", {"samples": 5_000}, (1,)),
        Method("lrp-w", "LRP (W)", "lrp", {}, (1,), any_sign=True),
        Method("lrp-n", "LRP (N)", "lrp", {}, NGRAMS, any_sign=True),
        Method("deeplift-w", "DeepLIFT (W)", "deeplift", {}, (1,), any_sign=True),
        Method("deeplift-n", "DeepLIFT (N)", "deeplift", {}, NGRAMS, any_sign=True),
        Method("grad-cam-text-n", "Grad-CAM-Text (N)", "grad-cam-text", {"count": 3}),
        Method("decision-trees-n", "DTs (N)", "decision-trees", {"count": 3}),
    ),
    # Hase and Bansal (2020), section 3, in the order of their tables; what the paper does not say is from their code.
    "simulatability": (
        Method("lime", "LIME", "lime", {"samples": 5_000, "features": 5}, (1,), display="weights"),
        Method("anchor", "Anchor", "anchor", {"tolerance": 0.05}),
        Method("prototype", "Prototype", "prototype"),
        Method("decision-boundary", "Decision Boundary", "decision-boundary", {"attempts": 10}),
        Method("composite", "Composite", "composite"),
    ),
}


# One explainer under another name: with the defaults of the package, or the settings of the paper, that it is known by.
AS_PUBLISHED: dict[str, tuple[str, Mapping[str, object]]] = {
    "lime-package": ("lime", {"samples": 5_000, "features": 10}),
    # KernelSHAP as the package shap had it when the papers were written: sampled even of trees, features chosen by AIC.
    "shap-package": ("shap", {"samples": None, "route": "kernel", "selection": "aic"}),
    # Camburu et al. (2020), section 5; k is 23, 18 and 13 for the three aspects there.
    "l2x-camburu": ("l2x", {"embedding": 200, "epochs": 30}),
}


# Whose methods these are.
PAPERS = {
    "human-grounded": "The nine methods of Lertvittayakumjorn and Toni (2019), for networks of texts.",
    "simulatability": "The five methods of Hase and Bansal (2020), for texts and tables.",
}


def preset(name: str) -> tuple[Method, ...]:
    """The methods of a preset."""
    if name not in PRESETS:
        raise VeraxError(f"There is no preset called {name!r}; there are: {', '.join(PRESETS)}.")
    return PRESETS[name]


# What the parts are called, in the order in which they are shown, and their methods in the preset.
PARTS = {
    "LIME": "lime",
    "Anchor": "anchor",
    "Decision boundary": "decision-boundary",
    "Prototype": "prototype",
}
# Which methods take the composite's own parameters, where these are given.
SAMPLE, READ_VECTORS = ("lime", "decision-boundary"), ("anchor", "decision-boundary")


@dataclass(frozen=True)
class Part:
    """One of several explanations, and what the method is called."""

    name: str
    explanation: Explanation


@dataclass(frozen=True)
class Composite(Explanation):
    """Several explanations of one prediction.

    Attributes:
        parts: the explanations, in the order in which they are shown.
        target: the class that is explained.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        details: how it was made.
        cost: rows, calls and seconds of all parts; two explanations that differ in nothing else are equal.
        explainer: the explainer that made it, as code.
    """

    parts: tuple[Part, ...]
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "composite"

    def __repr__(self) -> str:
        return short_repr(self, ", ".join(part.name for part in self.parts))

    def _repr_html_(self) -> str:
        return "".join(paragraph_html(bold=part.name) + part.explanation._repr_html_() for part in self.parts)


@explainers.register("composite")
@dataclass(frozen=True)
class Together(Explainer):
    """LIME's five words, an anchor, the last step to the decision boundary and the nearest prototype (Hase & Bansal).

    Each part is what its method gives alone, as the preset ``simulatability`` has it. A model that can have no
    prototypes is explained by the other three; ``details["left out"]`` says why.

    Attributes:
        samples: of LIME and of the decision boundary; what each has in the preset if None.
        seed: of all of them.
        vectors: where similar words are found, see ``anchor``; as in the preset if None.
    """

    samples: int | None = None
    seed: int = 0
    vectors: str | None = None

    def __post_init__(self) -> None:
        at_least(self.samples, 2, "samples")

    numbers: ClassVar[bool] = False
    records: ClassVar[bool] = False

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Composite]:
        """Explains each input; see :meth:`Explainer.explain`."""
        started = time.perf_counter()
        wanted = check_targets(model, inputs, targets)
        guesses = model.predict_proba(inputs).argmax(axis=1).tolist() if len(inputs) else []
        chosen = [guess if target is None else target for guess, target in zip(guesses, wanted, strict=True)]
        made: dict[str, list[Explanation]] = {}
        details: dict[str, object] = {}
        for name, method in PARTS.items():
            try:
                made[name] = list(self._method(method).explain(model, inputs, chosen))
            except VeraxError as error:
                if method != "prototype" or isinstance(error, OwnCodeError):
                    raise
                details["left out"] = f"prototype. {str(error).removesuffix('.')}"
        seconds = (time.perf_counter() - started) / max(1, len(inputs))
        composites = []
        for place, (given, target) in enumerate(zip(inputs, chosen, strict=True)):
            parts = tuple(Part(name, found[place]) for name, found in made.items())
            costs = [getattr(part.explanation, "cost", Cost()) for part in parts]
            cost = Cost(1 + sum(each.rows for each in costs), 1 + sum(each.calls for each in costs), seconds)
            composites.append(
                Composite(
                    parts=parts,
                    target=target,
                    target_name=model.class_names[target],
                    input=shown_input(model, given),
                    details=dict(details),
                    cost=cost,
                    explainer=repr(self),
                )
            )
        return composites

    def _method(self, name: str) -> Explainer:
        """A part's method with its parameters in the preset, but for those that were given."""
        published = next(method for method in preset("simulatability") if method.name == name)
        given: dict[str, object] = {"seed": self.seed}
        if self.samples is not None and name in SAMPLE:
            given["samples"] = self.samples
        if self.vectors is not None and name in READ_VECTORS:
            given["vectors"] = self.vectors
        return explainer(published.explainer, **{**published.parameters, **given})
