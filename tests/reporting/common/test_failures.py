"""What failed, in sentences."""

from verax.benchmarks.contract import Failure
from verax.reporting.page import failed_jobs


def failures(number):
    return [Failure(f"reviews, stain {place}, tree", "ValueError: no room.") for place in range(number)]


def test_names_that_have_commas_are_told_apart():
    assert failed_jobs(failures(2), "trial") == [
        "2 trials failed (reviews, stain 0, tree; reviews, stain 1, tree): ValueError: no room."
    ]


def test_beyond_three_the_rest_is_counted():
    assert failed_jobs(failures(1_005), "trial") == [
        "1,005 trials failed (reviews, stain 0, tree; reviews, stain 1, tree; reviews, stain 2, tree; and 1,002 more): "
        "ValueError: no room."
    ]
