"""Published datasets as their publishers distribute them, one module per format."""

from verax.data.formats import (
    aclimdb,
    arxiv,
    beer,
    hateval,
    rt_polarity,
    senteval_probing,
    sst,
    stars,
    uci_adult,
    ud_probing,
)

__all__ = [
    "aclimdb",
    "arxiv",
    "beer",
    "hateval",
    "rt_polarity",
    "senteval_probing",
    "sst",
    "stars",
    "uci_adult",
    "ud_probing",
]
