"""Explanation methods, one module each."""

from verax.explain.anchor.anchor import Anchor
from verax.explain.base import Explainer, explainer, explainers
from verax.explain.composite import Composite, Part, Together
from verax.explain.decision_boundary import DecisionBoundary
from verax.explain.exemplar import Exemplar
from verax.explain.explanation import Attribution, Cost, Explanation
from verax.explain.fragments import Fragment, Fragments, fragments
from verax.explain.frames import to_frame, to_shap
from verax.explain.greedy import Greedy, GreedyPath
from verax.explain.imported import (
    Imported,
    from_captum,
    from_lime,
    from_shap,
    from_transformers_interpret,
)
from verax.explain.inside.decision_trees import DecisionTrees
from verax.explain.inside.deeplift import DeepLift
from verax.explain.inside.grad_cam_text import GradCamText
from verax.explain.inside.gradient_x_input import GradientXInput
from verax.explain.inside.integrated_gradients import IntegratedGradients
from verax.explain.inside.invase import Invase
from verax.explain.inside.l2x import L2x
from verax.explain.inside.lrp import Lrp
from verax.explain.lime import Lime
from verax.explain.path import Edit, Path
from verax.explain.precomputed import Precomputed
from verax.explain.prototype import Prototype
from verax.explain.random import Random
from verax.explain.random_fragments import RandomFragments
from verax.explain.rule import Rule, RuleStep
from verax.explain.shap import Shap
from verax.explain.written import Written

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
