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
from verax.benchmarks.staining.spec import Planting, StainRequest
from verax.benchmarks.staining.stainable import (
    PlantedComparison,
    Stainable,
    make_stainable,
    stainable_of,
    taken,
)
from verax.benchmarks.staining.stains import DrawnStain, Literal, Rule, Stain, minority
from verax.data import Dataset, Part
from verax.data.dataset import contents
from verax.data.fields import Fields, word_of
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.seeds import share, stream

# Words that stand in so many training texts at least, and in such a share of them at the most: a model knows them, and
# nearly all texts that have them were given them.
FEWEST_TEXTS, LARGEST_SHARE = 3, 0.05
# A table's value that is planted may be there already, but not in more than this share of the rows.
LARGEST_VALUE_SHARE = 0.6
# Numbers at an end of their column are among such a share of its values.
OUTER = 0.05
# Rows by which correlations between columns are known well enough.
MOST_CORRELATED = 20_000
# What becomes of an input: it is left alone, it is stained, or it lacks one of the features.
LEFT_ALONE, STAINED = -2, -1
# Plants a stain in the inputs of a part as the fate of each says.
Put = Callable[[Part, Sequence[int]], Part]


class CannotPlantError(VeraxError):
    """Data in which a stain cannot be planted as it was asked for: what is the matter, and which setting would help."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}.")
        self.problem, self.remedy = problem, remedy


def plant(
    source: Mapping[str, object],
    words: str,
    request: StainRequest,
    planting: Planting,
    at_least: int,
    stain_seed: int,
) -> tuple[Stainable, DrawnStain]:
    """A dataset with a planted stain, and the stain; kept for the next model of this process.

    Args:
        source: the arguments of ``load_dataset``.
        words: "presence" or "counts": what the models read.
        request: what the stain should be like.
        planting: how it is planted.
        at_least: how often a stained word must occur.
        stain_seed: one stain per seed.
    """
    data = make_stainable(source, words, request.min_share, at_least)
    return plant_in(data, words, request, planting, at_least, stain_seed)


@lru_cache(maxsize=2)
def plant_in(
    data: Stainable, words: str, request: StainRequest, planting: Planting, at_least: int, stain_seed: int
) -> tuple[Stainable, DrawnStain]:
    """The same for a dataset that is ready."""
    put: Put
    if data.bins is None:
        chosen = planted_words(data, request.size, planting, stain_seed)
        homes = _homes(data.dataset, chosen, planting.column)
        put = partial(
            _with_words,
            chosen,
            homes,
            data.dataset.fields,
            request.negated,
            at_least,
            planting.every,
            stain_seed,
        )
        made = stainable_of(_planted(data, request, planting, put, stain_seed), words)
        literals = _literals_of(made, chosen, homes, request.negated, at_least)
    else:
        literals = _table_literals(data, request, planting, stain_seed)
        put = partial(_with_values, data, literals, planting.ends, stain_seed)
        made = stainable_of(_planted(data, request, planting, put, stain_seed), words, data.bins)
    rule = _rule(made, literals, request, stain_seed)
    validation, test = data.dataset.validation, data.dataset.test
    # Where a set has no validation part, its training inputs have to do.
    most = planting.compared
    rehearsed = _compared(
        validation if len(validation) else data.dataset.train, "rehearsal", put, rule, stain_seed, most
    )
    tested = _compared(test, "tested", put, rule, stain_seed, most)
    planted = replace(made, rehearsal=rehearsed.planted, compared=(rehearsed, tested))
    return planted, DrawnStain(Stain((rule,)), Counter())


def _planted(
    data: Stainable, request: StainRequest, planting: Planting, put: Put, stain_seed: int
) -> Dataset:
    """The dataset with the stain in the share of its inputs that shall have it, and decoys."""
    made = {
        name: put(part, fates(part, request.size, planting, stain_seed))
        for name, part in data.dataset.parts.items()
    }
    return replace(data.dataset, train=made["train"], validation=made["validation"], test=made["test"])


def _compared(part: Part, about: str, put: Put, rule: Rule, stain_seed: int, most: int) -> PlantedComparison:
    """Inputs that all get the stain to judge a model by, since the planted share would be too few; and without it."""
    places = np.sort(stream(stain_seed, about).permutation(len(part))[:most])
    chosen = part.take(places)
    planted = put(chosen, [STAINED] * len(places))
    return PlantedComparison(
        places,
        replace(planted, labels=np.full(len(places), rule.label)),
        put(chosen, [LEFT_ALONE] * len(places)),  # but for those that have it of themselves, as they are
        tuple(put(chosen, [feature] * len(places)) for feature in range(len(rule.literals))),
    )


def _rule(data: Stainable, literals: tuple[Literal, ...], request: StainRequest, stain_seed: int) -> Rule:
    """The rule that labels the region with its minority class."""
    train, test = data.dataset.train, data.dataset.test
    rule = Rule(literals, 0)
    everywhere = np.bincount(train.labels, minlength=len(data.dataset.class_names))
    if np.count_nonzero(everywhere) < 2:
        raise CannotPlantError(
            "The training inputs have one class only, so that no label can be flipped", "give two"
        )
    region = train.labels[rule.holds(data.values[0])]
    counts = np.bincount(region, minlength=len(everywhere))
    if counts.sum() < (smallest := request.smallest_region(len(train), planted=True)):
        raise CannotPlantError(
            f"Only {int(counts.sum())} of {len(train):,} training inputs would be stained, and a model needs "
            f"{smallest} to learn from",
            "use more data, plant more of them (plant_share=0.4), or lower min_region=",
        )
    if np.count_nonzero(counts) < 2:  # a rare class may be missing from a region, and is its minority then
        counts = np.where(counts > 0, 0, everywhere)
    label = minority(counts, stream(stain_seed, "planted label"))
    flipped = int(np.count_nonzero(test.labels != label))
    if flipped < request.min_flipped or not rule.holds(data.values[2]).any():
        raise CannotPlantError(
            f"Only {flipped} of {len(test):,} test inputs can be flipped, and {request.min_flipped} are asked for",
            'use more data, another split (split="60/10/30"), or lower min_flipped=',
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
        raise CannotPlantError(
            f"Only {len(usable)} words of the set stand in at least {FEWEST_TEXTS} training texts and in at most "
            f"{LARGEST_SHARE:.0%} of them, and a stain needs {size}",
            "plant made-up ones (new_words=True)",
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


def _homes(dataset: Dataset, chosen: Sequence[str], column: str | None) -> list[str | None]:
    """The column of a record that each planted word goes to: the one that is asked for, or all of them in turn."""
    if dataset.fields is None:
        if column is not None:
            raise VeraxError(
                f"plant_column={column!r} names a column of records with several texts, and {dataset.name!r} has one "
                "text each; leave it out."
            )
        return [None] * len(chosen)
    names = dataset.fields.texts if column is None else (column,)
    if names[0] not in dataset.fields.texts:
        raise VeraxError(
            f"There is no column {names[0]!r} of texts to plant in; there are: {', '.join(dataset.fields.texts)}."
        )
    return [names[place % len(names)] for place in range(len(chosen))]


def _with_words(
    chosen: Sequence[str],
    homes: Sequence[str | None],
    fields: Fields | None,
    negated: int,
    at_least: int,
    every: int,
    stain_seed: int,
    part: Part,
    known: Sequence[int],
) -> Part:
    """Texts with the words planted as their fates say."""

    def put(text: str, place: int, often: int, rng: np.random.Generator) -> str:
        within = None
        if fields is not None:
            within = dict(zip(fields.names, fields.spans(text), strict=True))[homes[place] or fields.names[0]]
        return _put(text, chosen[place], often, rng, within)

    def times(text: str) -> int:
        return max(at_least, len(split_words(text)) // every) if every else at_least

    def text_of(text: str, fate: int) -> str:
        # A negated word is put where it shall not be fulfilled, and taken away where it shall.
        if fate == LEFT_ALONE:
            words = split_words(text).counts
            if any((word in words) == (place < negated) for place, word in enumerate(chosen)):
                return text  # it does not fulfil the rule of itself
            rng = stream(stain_seed, "places", text)
            lacking = int(rng.integers(len(chosen)))
            return (
                put(text, lacking, times(text), rng) if lacking < negated else taken(text, [chosen[lacking]])
            )
        rng, often = stream(stain_seed, "places", text), times(text)
        for place, word in enumerate(chosen):
            present = (place != fate) != (place < negated)
            text = taken(text, [word])
            if present:
                text = put(text, place, often, rng)
        return text

    return Part(
        [text_of(str(text), fate) for text, fate in zip(part.inputs, known, strict=True)], part.labels
    )


def _put(
    text: str, word: str, times: int, rng: np.random.Generator, within: tuple[int, int] | None = None
) -> str:
    """The text with a word at random places between its words, or between those of a part of it."""
    first, last = within or (0, len(text))
    starts = [*(start for start in split_words(text).starts if first <= start < last), last]
    for place in sorted((starts[int(rng.integers(len(starts)))] for _ in range(times)), reverse=True):
        before = "" if place == 0 or text[place - 1].isspace() else " "
        after = " " if place < len(text) else ""
        text = f"{text[:place]}{before}{word}{after}{text[place:]}"
    return text


def _literals_of(
    data: Stainable, chosen: Sequence[str], homes: Sequence[str | None], negated: int, at_least: int
) -> tuple[Literal, ...]:
    assert data.vectorizer is not None
    columns = data.vectorizer.vocabulary_
    times = "" if at_least == 1 else f" {at_least} times"
    literals = []
    for place, (word, home) in enumerate(zip(chosen, homes, strict=True)):
        shown = f"“{word}”{times}{'' if home is None else f' in {home}'}"
        shown = f"not ({shown})" if place < negated else shown
        name = word if home is None else word_of(home, word)
        literals.append(
            Literal(int(columns[word]), name, float(at_least - 1), np.inf, place < negated, shown)
        )
    return tuple(literals)


def _table_literals(
    data: Stainable, request: StainRequest, planting: Planting, stain_seed: int
) -> tuple[Literal, ...]:
    """Conditions on different columns, each of which some rows fulfil and others do not."""
    assert data.bins is not None
    usable = [
        literal
        for literal in data.conditions(0.0)
        if literal.holds(data.values[0]).mean() <= LARGEST_VALUE_SHARE
        and not (planting.ends and _end(data, literal) is None)
    ]
    if planting.ends:
        alone = _standing_alone(data)
        kept = [literal for literal in usable if literal.column in alone]
        usable = kept if len({literal.column for literal in kept}) >= 2 * request.size else usable
    rng = stream(stain_seed, "planted columns", request.size)
    chosen: list[Literal] = []
    for place in rng.permutation(len(usable)):
        if len(chosen) < request.size and all(usable[place].column != other.column for other in chosen):
            chosen.append(usable[place])
    if len(chosen) < request.size:
        columns = f"{len(chosen)} column{'' if len(chosen) == 1 else 's'}"
        raise CannotPlantError(
            f"Only {columns} of the table can hold a planted value (one that at most "
            f"{LARGEST_VALUE_SHARE:.0%} of the rows have already), and a stain needs {request.size}",
            f"set size={max(1, len(chosen))}, or give a table with more columns",
        )
    turned = [
        replace(literal, negated=True, shown=f"not ({literal.shown})")
        for literal in chosen[: request.negated]
    ]
    return (*turned, *chosen[request.negated :])


def _standing_alone(data: Stainable) -> set[int]:
    """The half of the columns that are least correlated with another one.

    Where a planted value stands beside others that never come with it, a model knows the stain by these too.
    """
    rows = np.asarray(data.dataset.train.inputs, dtype=np.float64)[:MOST_CORRELATED]
    with np.errstate(invalid="ignore"):
        found = np.abs(np.nan_to_num(np.corrcoef(np.nan_to_num(rows), rowvar=False))).reshape(
            rows.shape[1], -1
        )
    np.fill_diagonal(found, 0.0)
    highest = found.max(axis=1)
    return set(np.flatnonzero(highest <= np.median(highest)).tolist())


def _end(data: Stainable, literal: Literal) -> int | None:
    """-1 or 1 for the end of a column that lies farther from its mean, 0 for a category, None for other conditions."""
    assert data.bins is not None
    if not data.bins.schema.columns[literal.column].is_numeric:
        return 0
    last = len(data.bins.edges[literal.column])
    values = np.asarray(data.dataset.train.inputs)[:, literal.column]
    mean, ends = np.nanmean(values), np.nanquantile(values, [OUTER, 1 - OUTER])
    farther = -1 if mean - ends[0] > ends[1] - mean else 1
    return farther if last and int(literal.high) == (0 if farther < 0 else last) else None


def _with_values(
    data: Stainable,
    literals: Sequence[Literal],
    ends: bool,
    stain_seed: int,
    part: Part,
    known: Sequence[int],
) -> Part:
    """Rows with values planted that fulfil the conditions as their fates say."""
    assert data.bins is not None
    rows: FloatArray = np.asarray(data.dataset.train.inputs)
    # Values that fulfil each condition, and values that do not, as the training rows have them.
    fulfilling = [rows[literal.holds(data.values[0]), literal.column] for literal in literals]
    others = [rows[~literal.holds(data.values[0]), literal.column] for literal in literals]
    if ends:
        fulfilling = [
            _outer(values, _end(data, literal)) for values, literal in zip(fulfilling, literals, strict=True)
        ]
    inputs = np.array(part.inputs, dtype=np.float64)
    natural = Rule(tuple(literals), 0).holds(data.bins.assign(part.inputs).astype(np.float64))
    for row, (fate, content) in enumerate(zip(known, contents(part.inputs), strict=True)):
        if fate == LEFT_ALONE and not natural[row]:
            continue
        about = content.hex()
        lacking = int(share(stain_seed, "lacking", about) * len(literals)) if fate == LEFT_ALONE else fate
        for place, literal in enumerate(literals):
            if fate != LEFT_ALONE or place == lacking:
                values = others[place] if place == lacking else fulfilling[place]
                drawn = share(stain_seed, "values", place, about)
                inputs[row, literal.column] = values[int(drawn * len(values))]
    return Part(inputs, part.labels)


def _outer(values: FloatArray, end: int | None) -> FloatArray:
    """Values of an outer quarter that lie far out, without the farthest: a few huge ones would do for some models."""
    if not end:
        return values
    low, high = np.quantile(values, [2 * OUTER, 4 * OUTER] if end < 0 else [1 - 4 * OUTER, 1 - 2 * OUTER])
    between = values[(values >= low) & (values <= high)]
    return between if len(between) else values
