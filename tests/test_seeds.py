"""Chance depends on the seed and on what it is about, and on nothing else."""

from verax.seeds import share, shuffled, stream


def test_shuffles_depend_on_the_seed_and_on_what_they_are_about_only():
    things = list(range(20))
    assert sorted(shuffled(things, 1, "pre")) == things
    assert shuffled(things, 1, "pre") == shuffled(things, 1, "pre")
    assert shuffled(things, 1, "pre") != shuffled(things, 1, "post")
    assert shuffled(things, 1, "pre") != shuffled(things, 2, "pre")
    assert shuffled([], 1, "pre") == []


def test_a_stream_is_the_same_for_the_same_subject_only():
    assert stream(1, "lime", 3).random() == stream(1, "lime", 3).random()
    assert len({stream(*about).random() for about in ((1, "a"), (1, "b"), (2, "a"), (1, "a", 1))}) == 4


def test_a_share_is_a_number_between_0_and_1_of_its_own_subject():
    shares = [share(7, "person", number) for number in range(4000)]
    assert len(set(shares)) == 4000
    assert 0 < min(shares) < 0.01
    assert 0.99 < max(shares) < 1
    assert abs(sum(shares) / 4000 - 0.5) < 0.02
