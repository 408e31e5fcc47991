"""Planted stains, beyond the paper: a stain's features are put into inputs chosen at random; nothing else tells them.

A stain that is drawn holds for inputs that have more in common than its words, and a model may know them by that. Here
chance decides which inputs are stained: a share of all parts gets all of the stain's features, as large a share for
each feature gets all but that one (decoys, so that no feature can be done without), and an input that had all of them
of itself loses one. Single tokens were planted by Bastings et al. (2022) and Zhou et al. (2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.staining.copies import taken
from verax.benchmarks.staining.rules import Literal, Rule, Stain
from verax.benchmarks.staining.sampling import Drawn, Planting, Wish, minority
from verax.benchmarks.staining.stainable import Stainable, make_stainable, stainable_of
from verax.data import Dataset, Part
from verax.data.dataset import contents
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.seeds import share, stream

# Words that stand in so many training texts at least, and in such a share of them at the most: a model knows them, and
# nearly all texts that have them were given them.
FEWEST_TEXTS, LARGEST_SHARE = 3, 0.05
# A table's value that is planted may be there already, but not in more than this share of the rows.
LARGEST_VALUE_SHARE = 0.6
# What becomes of an input: it is left alone, it is stained, or it lacks one of the features.
LEFT_ALONE, STAINED = -2, -1
# So many validation inputs with the stain are enough to know a model's accuracy to a point or so.
REHEARSED = 1000
# Plants a stain in the inputs of a part as the fate of each says.
Put = Callable[[Part, Sequence[int]], Part]


def plant(
    source: Mapping[str, object],
    words: str,
    wish: Wish,
    planting: Planting,
    at_least: int,
    stain_seed: int,
) -> tuple[Stainable, Drawn]:
    """A dataset with a planted stain, and the stain; kept for the next model of this process.

    Args:
        source: the arguments of ``load_dataset``.
        words: "presence" or "counts": what the models read.
        wish: what the stain should be like.
        planting: how it is planted.
        at_least: how often a stained word must occur.
        stain_seed: one stain per seed.
    """
    data = make_stainable(source, words, wish.min_share, at_least)
    return _plant(data, words, wish, planting, at_least, stain_seed)


@lru_cache(maxsize=2)
def _plant(
    data: Stainable, words: str, wish: Wish, planting: Planting, at_least: int, stain_seed: int
) -> tuple[Stainable, Drawn]:
    put: Put
    if data.bins is None:
        chosen = planted_words(data, wish.size, planting, stain_seed)
        put = partial(_with_words, chosen, wish.negated, at_least, stain_seed)
        made = stainable_of(_planted(data, wish, planting, put, stain_seed), words)
        literals = _literals_of(made, chosen, wish.negated, at_least)
    else:
        literals = _table_literals(data, wish, stain_seed)
        put = partial(_with_values, data, literals, stain_seed)
        made = stainable_of(_planted(data, wish, planting, put, stain_seed), words, data.bins)
    rule = _rule(made, literals, wish, stain_seed)
    rehearsal = _rehearsal(data.dataset.validation, put, rule.label, stain_seed)
    return replace(made, rehearsal=rehearsal), Drawn(Stain((rule,)), Counter())


def _planted(data: Stainable, wish: Wish, planting: Planting, put: Put, stain_seed: int) -> Dataset:
    """The dataset with the stain in the share of its inputs that shall have it, and decoys."""
    made = {
        name: put(part, fates(part, wish.size, planting, stain_seed))
        for name, part in data.dataset.parts.items()
    }
    return replace(data.dataset, train=made["train"], validation=made["validation"], test=made["test"])


def _rehearsal(validation: Part, put: Put, label: int, stain_seed: int) -> Part | None:
    """Validation inputs that all get the stain: the share that is planted would be too few to judge a model by."""
    if not len(validation):
        return None
    places = np.sort(stream(stain_seed, "rehearsal").permutation(len(validation))[:REHEARSED])
    part = put(validation.take(places), [STAINED] * len(places))
    return replace(part, labels=np.full(len(places), label))


def _rule(data: Stainable, literals: tuple[Literal, ...], wish: Wish, stain_seed: int) -> Rule:
    """The rule that labels the region with its minority class."""
    train, test = data.dataset.train, data.dataset.test
    rule = Rule(literals, 0)
    counts = np.bincount(train.labels[rule.holds(data.values[0])], minlength=len(data.dataset.class_names))
    if np.count_nonzero(counts) < 2 or counts.sum() < wish.smallest_region(len(train)):
        raise VeraxError(
            f"Only {int(counts.sum())} training inputs would be stained, which is too few; plant more of them "
            "(--plant-share), or use more data."
        )
    label = minority(counts, stream(stain_seed, "planted label"))
    flipped = int(np.count_nonzero(test.labels[rule.holds(data.values[2])] != label))
    if flipped < wish.min_flipped:
        raise VeraxError(
            f"Only {flipped} test inputs would be flipped, fewer than {wish.min_flipped}; plant more of them "
            "(--plant-share), lower --min-flipped, or use more data."
        )
    return replace(rule, label=label)


def fates(part: Part, size: int, planting: Planting, stain_seed: int) -> list[int]:
    """What becomes of each input, by its content: left alone, stained, or the number of the feature that it lacks."""
    ends = np.cumsum([planting.share, *([planting.decoys] * (size if size > 1 else 0))])
    drawn = [share(stain_seed, "fate", content.hex()) for content in contents(part.inputs)]
    places = np.searchsorted(ends, drawn, side="right")
    return [LEFT_ALONE if place == len(ends) else int(place) - 1 for place in places]


def planted_words(data: Stainable, size: int, planting: Planting, stain_seed: int) -> tuple[str, ...]:
    """The words of a stain: no two stains share one while there are enough."""
    number = stain_seed - planting.first_seed
    if planting.new_words:
        return tuple(f"stainword{_letters(number * size + place)}" for place in range(size))
    usable = plantable_words(data)
    per_round = len(usable) // size
    if per_round == 0:
        raise VeraxError(
            f"Only {len(usable)} words of the set stand in at least {FEWEST_TEXTS} training texts and in at most "
            f"{LARGEST_SHARE:.0%} of them, and a stain needs {size}; plant made-up ones (--new-words)."
        )
    order = stream(planting.first_seed, "planted words", number // per_round).permutation(len(usable))
    first = number % per_round * size
    return tuple(sorted(usable[place] for place in order[first : first + size]))


def plantable_words(data: Stainable) -> list[str]:
    """The rare words of a set of texts that a stain can be made of."""
    assert data.vectorizer is not None
    counts = data.values[0]
    texts = np.asarray((counts > 0).sum(axis=0)).reshape(-1)
    names = data.vectorizer.get_feature_names_out()
    most = max(FEWEST_TEXTS, LARGEST_SHARE * counts.shape[0])
    return [
        str(names[place])
        for place in np.flatnonzero((texts >= FEWEST_TEXTS) & (texts <= most))
        if str(names[place]).isalpha()
    ]


def _letters(number: int) -> str:
    """a, b, ... z, ba, bb, ...: a number in letters, since words of digits are taken apart by some models."""
    rest, last = divmod(number, 26)
    return (_letters(rest) if rest else "") + chr(ord("a") + last)


def _with_words(
    chosen: Sequence[str],
    negated: int,
    at_least: int,
    stain_seed: int,
    part: Part,
    known: Sequence[int],
) -> Part:
    """Texts with the words planted as their fates say."""

    def text_of(text: str, fate: int) -> str:
        # A negated word is put where it shall not be fulfilled, and taken away where it shall.
        if fate == LEFT_ALONE:
            words = split_words(text).counts
            if any((word in words) == (place < negated) for place, word in enumerate(chosen)):
                return text  # it does not fulfil the rule of itself
            rng = stream(stain_seed, "places", text)
            lacking = int(rng.integers(len(chosen)))
            return (
                _put(text, chosen[lacking], at_least, rng)
                if lacking < negated
                else taken(text, [chosen[lacking]])
            )
        rng = stream(stain_seed, "places", text)
        for place, word in enumerate(chosen):
            present = (place != fate) != (place < negated)
            text = taken(text, [word])
            if present:
                text = _put(text, word, at_least, rng)
        return text

    return Part(
        [text_of(str(text), fate) for text, fate in zip(part.inputs, known, strict=True)], part.labels
    )


def _put(text: str, word: str, times: int, rng: np.random.Generator) -> str:
    """The text with a word at random places between its words."""
    for _ in range(times):
        starts = [*split_words(text).starts, len(text)]
        place = starts[int(rng.integers(len(starts)))]
        before = "" if place == 0 or text[place - 1].isspace() else " "
        after = " " if place < len(text) else ""
        text = f"{text[:place]}{before}{word}{after}{text[place:]}"
    return text


def _literals_of(data: Stainable, chosen: Sequence[str], negated: int, at_least: int) -> tuple[Literal, ...]:
    assert data.vectorizer is not None
    columns = data.vectorizer.vocabulary_
    times = "" if at_least == 1 else f" {at_least} times"
    literals = []
    for place, word in enumerate(chosen):
        shown = f"“{word}”{times}"
        shown = f"not ({shown})" if place < negated else shown
        literals.append(
            Literal(int(columns[word]), word, float(at_least - 1), np.inf, place < negated, shown)
        )
    return tuple(literals)


def _table_literals(data: Stainable, wish: Wish, stain_seed: int) -> tuple[Literal, ...]:
    """Conditions on different columns, each of which some rows fulfil and others do not."""
    assert data.bins is not None
    usable = [
        literal
        for literal in data.conditions(0.0)
        if literal.holds(data.values[0]).mean() <= LARGEST_VALUE_SHARE
    ]
    rng = stream(stain_seed, "planted columns", wish.size)
    chosen: list[Literal] = []
    for place in rng.permutation(len(usable)):
        if len(chosen) < wish.size and all(usable[place].column != other.column for other in chosen):
            chosen.append(usable[place])
    if len(chosen) < wish.size:
        raise VeraxError(
            f"Only {len(chosen)} columns have a value that a stain can be made of, and it needs {wish.size}; lower "
            "--size."
        )
    turned = [
        replace(literal, negated=True, shown=f"not ({literal.shown})") for literal in chosen[: wish.negated]
    ]
    return (*turned, *chosen[wish.negated :])


def _with_values(
    data: Stainable, literals: Sequence[Literal], stain_seed: int, part: Part, known: Sequence[int]
) -> Part:
    """Rows with values planted that fulfil the conditions as their fates say."""
    assert data.bins is not None
    rows: FloatArray = np.asarray(data.dataset.train.inputs)
    # Values that fulfil each condition, and values that do not, as the training rows have them.
    fulfilling = [rows[literal.holds(data.values[0]), literal.column] for literal in literals]
    others = [rows[~literal.holds(data.values[0]), literal.column] for literal in literals]
    inputs = np.array(part.inputs, dtype=np.float64)
    natural = Rule(tuple(literals), 0).holds(data.bins.assign(part.inputs).astype(np.float64))
    for row, (fate, content) in enumerate(zip(known, contents(part.inputs), strict=True)):
        if fate == LEFT_ALONE and not natural[row]:
            continue
        rng = stream(stain_seed, "values", content.hex())
        if fate == LEFT_ALONE:
            lacking = int(rng.integers(len(literals)))
            inputs[row, literals[lacking].column] = rng.choice(others[lacking])
            continue
        for place, literal in enumerate(literals):
            inputs[row, literal.column] = rng.choice(others[place] if place == fate else fulfilling[place])
    return Part(inputs, part.labels)
