"""The study protocols, one module each."""

from verax.studies.protocols import (
    class_from_evidence,
    counterfactual,
    forward,
    model_choice,
    reverse_turing,
    uncertain_case,
)
from verax.studies.protocols.base import Briefing, Material, Protocol, Source, make_protocol, protocols

__all__ = [
    "Briefing",
    "Material",
    "Protocol",
    "Source",
    "class_from_evidence",
    "counterfactual",
    "forward",
    "make_protocol",
    "model_choice",
    "protocols",
    "reverse_turing",
    "uncertain_case",
]
