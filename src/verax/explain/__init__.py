"""Explanation methods, one module each."""

from verax.explain.anchor.anchor import Anchor
from verax.explain.base import Explainer, explainer, explainers
from verax.explain.composite import Composite, Part, Together
from verax.explain.decision_boundary import DecisionBoundary
from verax.explain.exemplar import Exemplar
from verax.explain.explanation import Attribution, Cost, Explanation
from verax.explain.fragments import Fragment, Fragments, fragments
from verax.explain.greedy import Greedy, GreedyPath
from verax.explain.lime import Lime
from verax.explain.path import Edit, Path
from verax.explain.precomputed import Precomputed
from verax.explain.prototype import Prototype
from verax.explain.random import Random
from verax.explain.rule import Rule, RuleStep
from verax.explain.shap import Shap
from verax.explain.written import Written

__all__ = [
    "Anchor",
    "Attribution",
    "Composite",
    "Cost",
    "DecisionBoundary",
    "Edit",
    "Exemplar",
    "Explainer",
    "Explanation",
    "Fragment",
    "Fragments",
    "Greedy",
    "GreedyPath",
    "Lime",
    "Part",
    "Path",
    "Precomputed",
    "Prototype",
    "Random",
    "Rule",
    "RuleStep",
    "Shap",
    "Together",
    "Written",
    "explainer",
    "explainers",
    "fragments",
]
