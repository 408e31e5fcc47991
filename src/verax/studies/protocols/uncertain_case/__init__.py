"""The uncertain case: do evidence and counter-evidence help people to find the true class where the model is unsure?"""

from verax.studies.protocols.uncertain_case.protocol import UncertainCase

__all__ = ["UncertainCase"]
