"""Numbers that decide what may be claimed: the share of false claims, and how small a study may be for which claim."""

from __future__ import annotations

# Share of false claims that a test allows: a p-value up to it is significant.
ALPHA = 0.05

# Participants in each of the compared conditions for a claim: below, an exact test cannot reach 5%, and with three to
# five the test with own variances claims falsely in up to 9% where one condition varies more.
FEWEST_PEOPLE = 6
# Participants in each of the compared conditions for an interval: two people often tie, and then it has no width.
FEWEST_SPREAD = 3
# Where somebody asks for pooled variances, a method with so many times the pooled one is named.
SUSPECT_RATIO = 1.5

# Items for a claim about items in general: the fewest that were simulated.
FEWEST_ITEMS = 16
FEWEST_PER_ITEM = 3

# Units (stains) of an interval or a paired test; below, there are values only: two equal differences have a p of 0 and
# prove nothing.
FEWEST_UNITS = 5

# Independent units (stains, or their words where stains share them) of a test by flipped signs; below, it cannot reach
# 5%: of the 32 signs of five units, two are as extreme as can be.
FEWEST_FLIPPED = 6

# Methods of a rank correlation; below, it says nothing: two methods always correlate by 1 or -1.
FEWEST_METHODS = 3
