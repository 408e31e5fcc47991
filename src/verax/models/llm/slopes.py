"""Gradients of a local language model's class scores with respect to the vectors of the text's tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verax.arrays import FloatArray, IndexArray
from verax.models.base import Inputs
from verax.models.capabilities import Embedded
from verax.models.llm.continuations import Ids, States
from verax.models.llm.local import LanguageModel
from verax.models.llm.prompt import MASK, Filled
from verax.models.neural.pieces import words_of
from verax.models.text import check_texts

# Tokens that go through the network with all that gradients need: some 1.5 MB each in a network of thirty layers.
TOKENS = 512


@dataclass(frozen=True)
class Tokens:
    """A prompt's tokens, and which of them are the text's.

    Attributes:
        before: tokens before the text.
        text: those of the text.
        after: those behind it.
        word_of: for each of the text's tokens the number of its word; -1 for none.
    """

    before: Ids
    text: Ids
    after: Ids
    word_of: IndexArray


@dataclass(frozen=True, eq=False)
class WordLanguageModel(LanguageModel):
    """A language model whose explanations are about the words of the text: it gives gradients too.

    The rest of the prompt stays as it is: in a causal model its beginning is read once for all points.
    """

    def embed(self, inputs: Inputs) -> list[Embedded]:
        """The vectors of each text's tokens."""
        table = self.network.get_input_embeddings()
        found = []
        for text in check_texts(inputs):
            tokens = self._tokens_of(text)
            with torch.inference_mode():
                vectors = table(torch.tensor(tokens.text, dtype=torch.long)).float().numpy()
            found.append(Embedded(text, vectors, tokens.word_of))
        return found

    def scores_from(self, embedded: Sequence[Embedded]) -> FloatArray:
        """(texts, classes): the scores if these were the vectors."""
        scores = np.empty((len(embedded), len(self.class_names)))
        for places, tokens, vectors in self._runs(embedded):
            with torch.no_grad():
                found = [self._log_probability(tokens, vectors, label) for label in self.label_ids()]
            scores[places] = self.to_scores(torch.stack(found, dim=1).double().numpy())
        return scores

    def gradients(self, embedded: Sequence[Embedded], targets: Sequence[int]) -> list[NDArray[np.float32]]:
        """For each text the gradient of its target's score, of the shape of its vectors."""
        slopes: dict[int, NDArray[np.float32]] = {}
        for places, tokens, vectors in self._runs(embedded):
            target = targets[places[0]]
            # All points of a run belong to one text and, as explainers ask, to one class.
            for place in places:
                if targets[place] != target:
                    raise ValueError("points of one text have several targets")
            vectors.requires_grad_()
            if len(self.labels) == 1:
                given = self._log_probability(tokens, vectors, self.label_ids()[0])
                score = given if target == 0 else torch.log(-torch.expm1(given))
            else:
                score = self.calibration.scale * self._log_probability(
                    tokens, vectors, self.label_ids()[target]
                )
            (found,) = torch.autograd.grad(score.sum(), vectors)
            slopes |= zip(places, found.float().numpy(), strict=True)
        return [slopes[place] for place in range(len(embedded))]

    def _runs(self, embedded: Sequence[Embedded]) -> Iterator[tuple[list[int], Tokens, Tensor]]:
        """Points of one text after the other, so that what is found for a text does not depend on the others."""
        first = 0
        while first < len(embedded):
            text = embedded[first].text
            tokens = self._tokens_of(text)
            most = max(1, TOKENS // (len(tokens.text) + len(tokens.after) + 1))
            last = first + 1
            while last < len(embedded) and last - first < most and embedded[last].text is text:
                last += 1
            vectors = torch.from_numpy(np.stack([embedded[place].vectors for place in range(first, last)]))
            yield list(range(first, last)), tokens, vectors.to(self.network.dtype)
            first = last

    def _tokens_of(self, text: str) -> Tokens:
        """The tokens of the prompt with this text; of a masked model, as if labels had one token."""
        parts = self.fitting(self._one_mask(self.prompt.fill(text)))
        read = self.tokenizer(
            parts.whole, add_special_tokens=self.marks, return_offsets_mapping=True, verbose=False
        )
        spans = np.array(read["offset_mapping"]).reshape(-1, 2) - len(parts.before)
        inside = (spans[:, 1] > 0) & (spans[:, 0] < len(parts.text)) & (spans[:, 0] < spans[:, 1])
        places = np.flatnonzero(inside)
        first, last = (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
        if not len(places):  # nothing of the text: what stands before its place is before
            first = last = int(np.count_nonzero(spans[:, 1] <= 0)) if self.sort == "causal" else 0
        ids = tuple(read["input_ids"])
        return Tokens(ids[:first], ids[first:last], ids[last:], words_of(spans[first:last].clip(min=0), text))

    def _one_mask(self, parts: Filled) -> Filled:
        if self.sort != "masked":
            return parts
        return Filled(*(part.replace(MASK, str(self.tokenizer.mask_token)) for part in parts))

    def _log_probability(self, tokens: Tokens, vectors: Tensor, label: Ids) -> Tensor:
        """Of a label, for each point (points, tokens, dimensions) of one text."""
        self.network.eval()
        table = self.network.get_input_embeddings()
        points = len(vectors)

        def fixed(ids: Sequence[int]) -> Tensor:
            made: Tensor = table(torch.tensor(list(ids), dtype=torch.long)).detach()
            return made.expand(points, -1, -1)

        if self.sort == "causal":
            states, before = self._states(tokens.before, points)
            rows = torch.cat([fixed(before), vectors, fixed(tokens.after), fixed(label[:-1])], dim=1)
            more = {} if states is None else {"past_key_values": states, "use_cache": True}
            logits = self.network(inputs_embeds=rows, **more).logits[:, -len(label) :]
        elif self.sort == "masked":
            # As many masks as the label has tokens.
            mask = self.tokenizer.mask_token_id
            head, tail = (
                [token for token in ids for _ in range(len(label) if token == mask else 1)]
                for ids in (tokens.before, tokens.after)
            )
            spot = [*head, *([-1] * len(tokens.text)), *tail].index(mask)
            rows = torch.cat([fixed(head), vectors, fixed(tail)], dim=1)
            logits = self.network(inputs_embeds=rows).logits[:, spot : spot + len(label)]
        else:
            rows = torch.cat([fixed(tokens.before), vectors, fixed(tokens.after)], dim=1)
            start = self.network.config.decoder_start_token_id
            logits = self.network(
                encoder_outputs=self.network.get_encoder()(inputs_embeds=rows),
                decoder_input_ids=torch.tensor([[start, *label[:-1]]]).expand(points, -1),
                use_cache=False,
            ).logits
        found: Tensor = logits.log_softmax(-1)[:, range(len(label)), list(label)].sum(dim=1)
        return found

    def _states(self, before: Ids, points: int) -> tuple[States | None, Ids]:
        """The states of the prompt's beginning for so many points, and what of it has still to be read."""
        asked = self.continuations()
        if not asked.trees or not asked.prefix or before[: len(asked.prefix)] != asked.prefix:
            return None, before
        from transformers import DynamicCache

        states = DynamicCache()
        for number, layer in enumerate(asked.prefix_states().layers):
            states.update(
                layer.keys.clone().expand(points, -1, -1, -1),
                layer.values.clone().expand(points, -1, -1, -1),
                number,
            )
        return states, before[len(asked.prefix) :]
