"""Sets of methods that a paper compares, with its settings, under one name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from verax.errors import VeraxError

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
    "shap-package": ("shap", {"samples": None}),
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
