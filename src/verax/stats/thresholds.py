"""Numbers that decide what may be claimed: the share of false claims, and how small a study may be for which claim."""

from __future__ import annotations

# Share of false claims that a test allows: a p-value up to it is significant.
ALPHA = 0.05

# Participants of a method for a test with the pooled variance, and with its own: below, an exact test cannot reach 5%.
FEWEST_POOLED, FEWEST_OWN = 3, 6
# Up to so many participants the pooled variance decides alone.
FEW = 5
# From so many participants in every cell each cell has its own variance; below, one variance is pooled over all.
OWN_FROM = 10
# A method whose participants have so many times the pooled variance is named. In simulated studies where they truly
# vary more (and the test claims falsely in 10 to 16%) that is said in 46 to 64%, which leaves false claims without it
# in 6 to 7%; where all methods vary alike it is said in 15 to 20%.
SUSPECT_RATIO = 1.5
# Degrees of freedom of the pooled variance; below, intervals are wider than need be.
FEWEST_DF = 10

# Items for a claim about items in general: the fewest that were simulated.
FEWEST_ITEMS = 16
FEWEST_PER_ITEM = 3

# Units (stains) of a paired difference; below, nobody is called higher: two equal differences have a p of 0 and prove
# nothing.
FEWEST_UNITS = 5

# Methods of a rank correlation; below, it says nothing: two methods always correlate by 1 or -1.
FEWEST_METHODS = 3
