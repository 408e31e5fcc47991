"""How likely a causal language model goes on with each of several labels, after many prompts that begin alike.

Prompts share their beginning: its keys and values are computed once. Behind it prompts become a tree, in which what two
of them have in common is one branch; the tree goes through the network as one sequence, where each token sees its own
branch and nothing else. So nothing is padded and nothing is computed twice.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from verax.arrays import FloatArray, IndexArray
from verax.models.neural.encoders import length_batches

log = logging.getLogger("verax.models")

Ids = tuple[int, ...]
# A model of the transformers library, and the keys and values that it keeps: they are typed in part only.
Network: TypeAlias = Any
States: TypeAlias = Any
# Tokens of a tree that go through the network at once: enough for fast products, few enough for attention to be small.
NODES = 512
# Tokens in a padded batch, where trees are not possible.
BATCH_TOKENS = 1_024
# How far the tree's log-probabilities may lie from the plain way's when it is tried.
TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class PromptTree:
    """Sequences as a tree of tokens.

    Attributes:
        tokens: of each node, parents before their children.
        depths: how many nodes lie above each.
        sees: (nodes, nodes), which nodes are on the way from the root to each, itself included.
        ends: the nodes of each sequence, in its order.
    """

    tokens: IndexArray
    depths: IndexArray
    sees: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    ends: tuple[tuple[int, ...], ...]


def grow(sequences: Sequence[Ids]) -> PromptTree:
    """The tree of some sequences; those that begin alike share what they have in common."""
    numbers: dict[tuple[int, int], int] = {}
    tokens: list[int] = []
    parents: list[int] = []
    ends = []
    for sequence in sequences:
        node, way = -1, []
        for token in sequence:
            step = (node, token)
            if step not in numbers:
                numbers[step] = len(tokens)
                tokens.append(token)
                parents.append(node)
            node = numbers[step]
            way.append(node)
        ends.append(tuple(way))
    sees = np.eye(len(tokens), dtype=np.bool_)
    depths = np.zeros(len(tokens), dtype=np.intp)
    for node, parent in enumerate(parents):
        if parent >= 0:
            sees[node] |= sees[parent]
            depths[node] = depths[parent] + 1
    return PromptTree(np.array(tokens, dtype=np.intp), depths, sees, tuple(ends))


def forests(sequences: Sequence[Ids], nodes: int = NODES) -> list[list[int]]:
    """The places of the sequences in groups whose trees have a bounded size, those that begin alike side by side."""
    order = sorted(range(len(sequences)), key=lambda place: sequences[place])
    groups: list[list[int]] = []
    held = 0
    last: Ids = ()
    for place in order:
        sequence = sequences[place]
        common = 0
        while common < min(len(last), len(sequence)) and last[common] == sequence[common]:
            common += 1
        added = len(sequence) - common
        if not groups or held + added > nodes:
            groups.append([])
            held, added = 0, len(sequence)
        groups[-1].append(place)
        held += added
        last = sequence
    return groups


@dataclass(eq=False)
class Continuations:
    """A causal model's log-probabilities of labels after prompts.

    Attributes:
        network: the model.
        prefix: tokens that prompts begin with.
        labels: the tokens of each label.
        trees: whether the model can read trees; found out by trying.
    """

    network: Network
    prefix: Ids
    labels: tuple[Ids, ...]
    trees: bool = True
    _states: States | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        parameters = inspect.signature(self.network.forward).parameters
        self._keeps = "logits_to_keep" in parameters
        self.trees = self.trees and "position_ids" in parameters and self._agrees()

    def log_probabilities(self, prompts: Sequence[Ids]) -> FloatArray:
        """(prompts, labels): the log-probability of each label's tokens behind each prompt."""
        found = np.empty((len(prompts), len(self.labels)))
        n = len(self.prefix)
        shared = [
            place
            for place, prompt in enumerate(prompts)
            if self.trees and len(prompt) > n and prompt[:n] == self.prefix
        ]
        others = sorted(set(range(len(prompts))) - set(shared))
        if shared:
            found[shared] = self._in_trees([prompts[place][n:] for place in shared])
        if others:
            found[others] = self.one_by_one([prompts[place] for place in others])
        return found

    def one_by_one(self, prompts: Sequence[Ids]) -> FloatArray:
        """The same without any sharing: every prompt as a row of its own, in batches of similar lengths."""
        found = np.zeros((len(prompts), len(self.labels)))
        longest = max(map(len, self.labels))
        # Labels of one token are all read off behind the prompt itself.
        jobs = [
            (place, number)
            for place in range(len(prompts))
            for number in (range(len(self.labels)) if longest > 1 else (0,))
        ]
        rows = [prompts[place] + self.labels[number][:-1] for place, number in jobs]
        with torch.inference_mode():
            for batch in length_batches([len(row) for row in rows], BATCH_TOKENS):
                width = max(len(rows[job]) for job in batch)
                ids = torch.zeros((len(batch), width), dtype=torch.long)
                for at, job in enumerate(batch):
                    ids[at, : len(rows[job])] = torch.tensor(rows[job])
                inside = torch.arange(width) < torch.tensor([len(rows[job]) for job in batch])[:, None]
                logits = self.network(input_ids=ids, attention_mask=inside.long(), use_cache=False).logits
                for at, job in enumerate(batch):
                    place, number = jobs[job]
                    first = len(prompts[place]) - 1
                    if longest > 1:
                        steps = logits[at, first : len(rows[job])].double().log_softmax(-1)
                        tokens = self.labels[number]
                        found[place, number] = float(steps[range(len(tokens)), tokens].sum())
                    else:
                        after = logits[at, first].double().log_softmax(-1)
                        found[place] = after[[tokens[0] for tokens in self.labels]].numpy()
        return found

    def _in_trees(self, rests: Sequence[Ids]) -> FloatArray:
        found = np.empty((len(rests), len(self.labels)))
        inner = sorted({label[:-1] for label in self.labels})
        with torch.inference_mode():
            for group in forests(rests):
                # Behind each prompt the label's own tokens but for the last, where there are several.
                tree = grow([rests[place] + more for place in group for more in inner])
                ways = {
                    (place, more): tree.ends[at * len(inner) + number]
                    for at, place in enumerate(group)
                    for number, more in enumerate(inner)
                }
                steps = {
                    (place, number): ways[place, label[:-1]][len(rests[place]) - 1 :]
                    for place in group
                    for number, label in enumerate(self.labels)
                }
                asked = sorted({node for nodes in steps.values() for node in nodes})
                row_of = {node: row for row, node in enumerate(asked)}
                after = self._read(tree, asked).double().log_softmax(-1)
                for (place, number), nodes in steps.items():
                    rows = [row_of[node] for node in nodes]
                    found[place, number] = float(after[rows, list(self.labels[number])].sum())
        return found

    def _read(self, tree: PromptTree, asked: Sequence[int]) -> Tensor:
        """The logits behind some nodes of a tree."""
        n = len(self.prefix)
        states = self.prefix_states() if n else None
        dtype = self.network.dtype
        mask = torch.zeros((1, 1, len(tree.tokens), n + len(tree.tokens)), dtype=dtype)
        mask[0, 0, :, n:].masked_fill_(~torch.from_numpy(tree.sees), torch.finfo(dtype).min)
        kept = {"logits_to_keep": torch.tensor(asked)} if self._keeps else {}
        self._states = None  # what breaks half-way leaves no wrong states behind
        shared = (
            {"past_key_values": states, "use_cache": True} if states is not None else {"use_cache": False}
        )
        logits = self.network(
            input_ids=torch.from_numpy(tree.tokens)[None],
            attention_mask=mask,
            position_ids=torch.from_numpy(tree.depths)[None] + n,
            **shared,
            **kept,
        ).logits[0]
        if states is not None:
            states.crop(-len(tree.tokens))
            self._states = states
        kept_logits: Tensor = logits if self._keeps else logits[list(asked)]
        return kept_logits

    def prefix_states(self) -> States:
        """The keys and values of the common beginning, computed once."""
        if self._states is None:
            with torch.inference_mode():
                ids = torch.tensor([self.prefix])
                kept = {"logits_to_keep": 1} if self._keeps else {}
                self._states = self.network(input_ids=ids, use_cache=True, **kept).past_key_values
        return self._states

    def _agrees(self) -> bool:
        """Whether the tree gives what the plain way gives: not with every model (ALiBi, recurrent ones)."""
        start, some = self.prefix, (self.prefix + self.labels[0] + self.labels[-1])[:2]
        tried = [start + some[:1], start + some + some[-1:], start + some + some[:1]]
        try:
            same = self._in_trees([row[len(start) :] for row in tried])
        except Exception as error:  # whatever another library's model may raise
            log.info("This model reads prompts one by one: a tree of them raised %s.", type(error).__name__)
            return False
        plain = self.one_by_one(tried)
        if np.abs(same - plain).max() <= TOLERANCE:
            return True
        log.info("This model reads prompts one by one: from a tree of them it says something else.")
        self._states = None
        return False
