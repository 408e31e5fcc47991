"""Forward simulation: do explanations of some inputs help people to predict the model on others?"""

from verax.studies.protocols.forward.protocol import Forward

__all__ = ["Forward"]
