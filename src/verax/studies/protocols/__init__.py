"""The study protocols, one module each."""

from verax.studies.protocols.class_from_evidence import protocol as class_from_evidence
from verax.studies.protocols.contract import Briefing, Material, Protocol, Source, make_protocol, protocols
from verax.studies.protocols.counterfactual import protocol as counterfactual
from verax.studies.protocols.forward import protocol as forward
from verax.studies.protocols.model_choice import protocol as model_choice
from verax.studies.protocols.reverse_turing import protocol as reverse_turing
from verax.studies.protocols.uncertain_case import protocol as uncertain_case

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
