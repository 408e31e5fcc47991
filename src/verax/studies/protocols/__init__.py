"""The study protocols: `verax.studies.protocol` finds them here, so that none need be listed."""

from verax.studies.protocol.contract import Briefing, Material, Protocol, Source, make_protocol, protocols

__all__ = ["Briefing", "Material", "Protocol", "Source", "make_protocol", "protocols"]
