"""Explanation methods, one module each."""

from verax.explain.anchor.anchor import Anchor
from verax.explain.base import Explainer, explainer, explainers
from verax.explain.composite import Composite, Part, Together
from verax.explain.decision_boundary import DecisionBoundary
from verax.explain.explanation import Attribution, Cost, Explanation, to_frame, to_shap
from verax.explain.fragments import Fragment, Fragments, fragments
from verax.explain.greedy import Greedy, GreedyPath
from verax.explain.imported import (
    Imported,
    from_captum,
    from_lime,
    from_shap,
    from_transformers_interpret,
)
from verax.explain.inside.filters import DecisionTrees, GradCamText
from verax.explain.inside.gradients import DeepLift, GradientXInput, IntegratedGradients, Lrp
from verax.explain.inside.selection import Invase, L2x
from verax.explain.kinds import Edit, Exemplar, Path, Rule, RuleStep, Written
from verax.explain.lime import Lime
from verax.explain.precomputed import Precomputed
from verax.explain.prototype import Prototype
from verax.explain.random import Random, RandomFragments
from verax.explain.shap import Shap

__all__ = [
    "Anchor",
    "Attribution",
    "Composite",
    "Cost",
    "DecisionBoundary",
    "DecisionTrees",
    "DeepLift",
    "Edit",
    "Exemplar",
    "Explainer",
    "Explanation",
    "Fragment",
    "Fragments",
    "GradCamText",
    "GradientXInput",
    "Greedy",
    "GreedyPath",
    "Imported",
    "IntegratedGradients",
    "Invase",
    "L2x",
    "Lime",
    "Lrp",
    "Part",
    "Path",
    "Precomputed",
    "Prototype",
    "Random",
    "RandomFragments",
    "Rule",
    "RuleStep",
    "Shap",
    "Together",
    "Written",
    "explainer",
    "explainers",
    "fragments",
    "from_captum",
    "from_lime",
    "from_shap",
    "from_transformers_interpret",
    "to_frame",
    "to_shap",
]
