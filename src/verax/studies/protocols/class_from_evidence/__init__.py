"""The class from the evidence: do the fragments that an explanation picks tell the predicted class?"""

from verax.studies.protocols.class_from_evidence.protocol import ClassFromEvidence

__all__ = ["ClassFromEvidence"]
