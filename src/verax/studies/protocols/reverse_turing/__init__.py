"""The Reverse Turing Test: can people imitate the model, with explanations and without, on tasks they know or not?"""

from verax.studies.protocols.reverse_turing.protocol import ReverseTuring

__all__ = ["ReverseTuring"]
