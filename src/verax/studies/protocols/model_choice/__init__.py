"""The choice between two models: do explanations show which of two is the worse one?"""

from verax.studies.protocols.model_choice.protocol import ModelChoice

__all__ = ["ModelChoice"]
