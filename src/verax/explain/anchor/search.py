"""The search for an anchor: rules grow by one condition at a time, the most precise ones are kept.

Ribeiro, Singh and Guestrin (2018), algorithm 2: a beam search in which KL-LUCB decides with few samples which
candidates are the most precise. Two things differ from their code. All candidates are asked about the same samples,
so that much of what is known of a rule is known of the longer ones too. And whether a rule is precise enough is
decided on fresh samples, which had no part in choosing it: the bound holds for the rule that is returned, however
many were tried.

How far a share may be from what was counted: Kullback-Leibler bounds (Kaufmann and Kalyanakrishnan 2013).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

import numpy as np
from scipy.special import rel_entr

from verax.arrays import BoolArray, FloatArray
from verax.explain.anchor.samples import Ask, Neighbourhood
from verax.text import counted

# Steps of Newton's method: exact to eleven digits, whatever the share and the level.
STEPS = 7
# A share of 0 or 1 stands for one that is so near to it that it makes no difference.
TINY = 1e-12
# Of the published code of KL-LUCB: the level grows with the rounds as log(405.5 K t^1.1 / delta), twice iterated.
ALPHA, K1 = 1.1, 405.5


def lower(share: FloatArray, level: FloatArray) -> FloatArray:
    """The lowest share whose divergence from what was counted is at most the level.

    The highest is 1 less the lowest of the rest: ``1 - lower(1 - share, level)``.
    """
    counted = np.clip(share, TINY, 1.0 - TINY)
    rest = 1.0 - counted
    # The divergence of p from q is this much less p log q + (1 - p) log (1 - q).
    own = counted * np.log(counted) + rest * np.log(rest)
    # Two shares that are surely too low (by Pinsker, and since 1 - q is at most 1): the higher one is the start. The
    # divergence is convex, so that from there Newton's steps go up to the edge and never beyond it.
    edge = np.maximum(counted - np.sqrt(level / 2.0), np.exp((own - level) / counted))
    edge = np.clip(edge, TINY, counted)
    for _ in range(STEPS):
        excess = own - level - counted * np.log(edge) - rest * np.log1p(-edge)
        slope = np.maximum(counted - edge, TINY) / (edge * (1.0 - edge))
        edge = np.minimum(edge + np.maximum(excess, 0.0) / slope, counted)
    return edge


@lru_cache(maxsize=512)
def lowest_shares(size: int, level: float) -> list[float]:
    """The lowest share for every number of hits in a sample, from none to all; searches ask for the same ones often."""
    counted = np.arange(size + 1) / size
    lowest: list[float] = lower(counted, np.full(size + 1, level / size)).tolist()
    return lowest


def divergence(share: float, other: float) -> float:
    """How far a share is from another, strictly between 0 and 1: of Kullback and Leibler, in nats."""
    return float(rel_entr(share, other) + rel_entr(1.0 - share, 1.0 - other))


def search_level(n_rules: int, rounds: int, delta: float) -> float:
    """By how much the divergence times the sample's size may exceed 0, for all rules in all rounds at once."""
    first = np.log(K1 * n_rules * rounds**ALPHA / delta)
    return float(first + np.log(first))


# A candidate begins with so many samples, and has at the most so many. The published rule goes on until candidates are
# told apart up to epsilon, each with samples of its own; on shared samples so many tell them apart as well.
FIRST, MOST = 64, 192
# A rule is looked at after so many fresh samples.
LOOKS = (256, 1_024, 4_096)
# What is returned without being precise enough was looked at with so many, if that is not more than half of all.
LAST_LOOK = 1_024

Asking = Generator[Ask, BoolArray, None]

_NOTHING: BoolArray = np.empty(0, dtype=np.bool_)


@dataclass(frozen=True)
class SearchSettings:
    """What is searched for; see :class:`verax.explain.Anchor`."""

    precision: float
    tolerance: float
    delta: float
    epsilon: float
    beam: int
    most_conditions: int | None
    most_samples: int


class Candidate:
    """A rule and what is known of it: which of the first so many samples keep the prediction under it."""

    def __init__(self, conditions: tuple[int, ...], parent: Candidate | None, coverage: float) -> None:
        self.conditions = conditions
        self.parent = parent
        self.coverage = coverage
        self.kept = _NOTHING
        self.size = 0
        self.hits = 0
        self.precision = 0.0

    def learn(self, kept: BoolArray, hits: int) -> None:
        """Takes in which of the next samples keep the prediction, and how many do."""
        self.kept = np.concatenate([self.kept, kept]) if self.size else kept
        self.size = len(self.kept)
        self.hits += hits
        self.precision = self.hits / self.size


@dataclass(frozen=True)
class SearchResult:
    """The end of a search.

    Attributes:
        rule: the chosen one.
        precision: its share of fresh samples that keep the prediction, and
        lowest: the lower end of the interval of that share, at the search's confidence.
        reached: whether it is as precise as was asked for.
        sampled: how many fresh samples were asked about.
        reason: why a search ended without the wanted precision; empty if it did not.
    """

    rule: Candidate
    precision: float
    lowest: float
    reached: bool
    sampled: int
    reason: str = ""


class Search:
    """The search for one input's anchor, as a generator of questions that is sent their answers."""

    def __init__(self, near: Neighbourhood, settings: SearchSettings) -> None:
        self.near = near
        self.settings = settings
        self.first = FIRST
        self.asked = 0
        self.looked_at = 0
        self.best: SearchResult | None = None
        self.tried: list[SearchResult] = []
        self.spent = False
        self.found: SearchResult | None = None

    def run(self) -> Asking:
        """Asks until something is found; then ``found`` is set."""
        loose = self.near.loose
        root = Candidate((), None, 1.0)
        if not loose and not self.near.search.varies():
            self.found = SearchResult(root, 1.0, 1.0, True, 0, "nothing can be changed in this input")
            return
        self.tried = [SearchResult(root, 0.0, 0.0, False, 0)]
        try:
            yield from self._grow(root, loose)
        except BudgetError:
            self.spent = True
        self.found = self.best or (yield from self._most_precise_found())

    def _grow(self, root: Candidate, loose: list[int]) -> Asking:
        """Rules of no condition, of one, of two, ..., until none can cover more than the best that was found."""
        yield from self._extend([root], FIRST)
        yield from self._verified([root])
        beam = [root]
        for _ in range(min(self.settings.most_conditions or len(loose), len(loose))):
            candidates = self._longer(beam, loose)
            if not candidates:
                break
            beam = yield from self._most_precise(candidates)
            yield from self._verified(beam)

    def _longer(self, beam: list[Candidate], loose: list[int]) -> list[Candidate]:
        """Every rule of the beam with one more condition; only such as cover more than the best that was found."""
        grown: dict[frozenset[int], Candidate] = {}
        least = -1.0 if self.best is None else self.best.rule.coverage
        for rule in beam:
            coverage = self.near.longer_coverage(rule.conditions).tolist()
            for feature in loose:
                conditions = (*rule.conditions, feature)
                key = frozenset(conditions)
                if feature not in rule.conditions and key not in grown and coverage[feature] > least:
                    grown[key] = Candidate(conditions, rule, coverage[feature])
        return list(grown.values())

    def _most_precise(self, candidates: list[Candidate]) -> Generator[Ask, BoolArray, list[Candidate]]:
        """KL-LUCB: the few candidates of the highest precision, up to ``epsilon``, with confidence 1 - delta."""
        count = min(self.settings.beam, len(candidates))
        yield from self._extend(candidates, self.first)
        rounds = 1
        while len(candidates) > count:
            level = search_level(len(candidates), rounds, self.settings.delta)
            unsure = [
                candidate
                for candidate in _unsure(candidates, count, level, self.settings.epsilon)
                if candidate.size < MOST
            ]
            if not unsure:
                break
            yield from self._extend(unsure, MOST)
            rounds += 1
        # Longer rules are more alike: where most of these could not be told apart with few samples, neither can those.
        many = sum(candidate.size == MOST for candidate in candidates)
        self.first = MOST if 2 * many > len(candidates) else FIRST
        return _ranked(candidates)[:count]

    def _extend(self, candidates: list[Candidate], count: int) -> Asking:
        """Asks about more samples of rules that have equally many; what their parents' answers tell is known."""
        first = candidates[0].size
        holds = self.near.search.holds(count)[first:count]
        kept = np.zeros((len(candidates), count - first), dtype=np.bool_)
        unknown = np.ones_like(kept)
        stays = np.zeros((len(candidates), holds.shape[1]), dtype=np.bool_)
        row = 0
        for parent, children in groupby(candidates, key=lambda candidate: candidate.parent):
            if parent is None:
                continue  # the rule without conditions, of which nothing is known
            added = [child.conditions[-1] for child in children]
            family = slice(row, row + len(added))
            told = parent.kept[first:count]
            same = holds[: len(told), added].T
            unknown[family, : len(told)] = ~same
            kept[family, : len(told)] = same & told
            stays[family, parent.conditions] = True
            stays[np.arange(row, row + len(added)), added] = True
            row += len(added)
        rules, samples = unknown.nonzero()
        ask = Ask(self.near.place, self.near.search, samples + first, stays.take(rules, axis=0))
        kept[rules, samples] = yield from self._ask(ask)
        hits = np.count_nonzero(kept, axis=1).tolist()
        for candidate, more, count_kept in zip(candidates, kept, hits, strict=True):
            candidate.learn(more, count_kept)

    def _ask(self, ask: Ask) -> Generator[Ask, BoolArray, BoolArray]:
        if self.asked + len(ask.samples) > self.settings.most_samples - self._kept_back:
            raise BudgetError
        self.asked += len(ask.samples)
        answers = yield ask
        return answers

    def _verified(self, rules: list[Candidate]) -> Asking:
        """Looks how precise rules are on fresh samples, the one that covers most first, until one is precise enough.

        Rules that look too imprecise already are not asked about.
        """
        for rule in sorted(rules, key=lambda rule: (-rule.coverage, -rule.precision)):
            verdict = SearchResult(rule, rule.precision, 0.0, False, 0)
            if rule.precision >= self.settings.precision:
                verdict = yield from self._verify(rule)
            self.tried.append(verdict)
            if verdict.reached:
                # Only rules that cover more than the best so far are looked for.
                self.best = verdict
                break

    def _verify(self, rule: Candidate) -> Generator[Ask, BoolArray, SearchResult]:
        check = self._check(rule)
        for look in LOOKS:
            samples = np.arange(check.size, look)
            check.learn((yield from self._ask(self.near.fresh_question(rule.conditions, samples))))
            if check.decided:
                break
        return check.verdict()

    def _check(self, rule: Candidate) -> Check:
        self.looked_at += 1
        # The chances of all looks at all rules sum to delta: 1 + 1/4 + 1/9 + ... is pi^2 / 6.
        level = float(np.log(np.pi**2 / 6 * self.looked_at**2 * len(LOOKS) / self.settings.delta))
        return Check(rule, level, self.settings)

    @property
    def _kept_back(self) -> int:
        """Samples that the search itself does not ask about, so that some are left to tell how precise its rule is."""
        return min(LAST_LOOK, self.settings.most_samples // 2)

    def _most_precise_found(self) -> Generator[Ask, BoolArray, SearchResult]:
        """What is returned when no rule is precise enough, as precise as it is on fresh samples."""
        best = max(self.tried, key=lambda found: (found.lowest, found.precision, found.rule.coverage))
        if not best.sampled and self._kept_back:
            check = self._check(best.rule)
            self.asked += self._kept_back
            check.learn((yield self.near.fresh_question(best.rule.conditions, np.arange(self._kept_back))))
            best = check.verdict()
            if best.reached:
                return best
        return replace(best, reason=self._reason())

    def _reason(self) -> str:
        """Why no rule is precise enough."""
        most, longest = self.settings.most_samples, self.settings.most_conditions
        if self.spent:
            return f"the search may ask about no more than {most:,} samples (most_samples={most})"
        if longest is not None and longest < len(self.near.loose):
            return f"no rule was found that is as precise with at most {counted(longest, 'condition')}"
        return "no rule was found that is as precise as that"


class BudgetError(Exception):
    """The next question would ask for more rows than may be asked for."""


class Check:
    """A rule tested on fresh samples, which are looked at now and then."""

    def __init__(self, rule: Candidate, level: float, settings: SearchSettings) -> None:
        self.rule = rule
        self.level = level
        self.settings = settings
        self.size = 0
        self.kept = 0
        self.decided = False

    def learn(self, answer: BoolArray) -> None:
        """Counts; decides if it can."""
        self.size += len(answer)
        self.kept += int(np.count_nonzero(answer))
        self.decided = self.reached or self._hopeless()

    def _hopeless(self) -> bool:
        """Whether even a share that is higher by two standard errors would not be enough after the last look."""
        share = (self.kept + 1) / (self.size + 2)
        best = min(1.0, share + 2.0 * (share * (1 - share) / self.size) ** 0.5)
        return not self._enough(best, LOOKS[-1])

    def _enough(self, share: float, size: int) -> bool:
        """Whether such a share of so many samples is as high as asked for, and surely above that less the tolerance."""
        sure = self.settings.precision - self.settings.tolerance
        return share >= self.settings.precision and divergence(share, sure) * size >= self.level

    @property
    def reached(self) -> bool:
        """Whether the rule is precise enough, with confidence."""
        return self._enough(self.kept / self.size, self.size)

    def verdict(self) -> SearchResult:
        """What is known in the end."""
        share = self.kept / self.size
        lowest = lower(np.array([share]), np.array([self.level / self.size])).item()
        return SearchResult(self.rule, share, lowest, self.reached, self.size)


def _unsure(candidates: list[Candidate], count: int, level: float, epsilon: float) -> list[Candidate]:
    """The candidates that have to be sampled again before the ``count`` most precise are known up to ``epsilon``.

    The published rule samples the one of the lowest bound among the most precise, and the one of the highest bound
    among the others, until they are no longer in each other's way. Here all that are in the way are sampled together.
    """
    ranked = _ranked(candidates)
    lows = {rule: lowest_shares(rule.size, level)[rule.hits] for rule in ranked[:count]}
    # The highest share is 1 less the lowest of the rest.
    highs = {rule: 1.0 - lowest_shares(rule.size, level)[rule.size - rule.hits] for rule in ranked[count:]}
    low, high = min(lows.values()) + epsilon, max(highs.values()) - epsilon
    return [rule for rule in candidates if (lows[rule] < high if rule in lows else highs[rule] > low)]


def _ranked(candidates: list[Candidate]) -> list[Candidate]:
    """The most precise first."""
    return sorted(candidates, key=lambda candidate: -candidate.precision)
