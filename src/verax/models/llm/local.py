"""Local language models as classifiers: how likely they say each class's label behind, or inside, a prompt.

And the gradients of these scores with respect to the vectors of the text's tokens.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.models.base import Inputs, Model, ask
from verax.models.capabilities import Embedded
from verax.models.llm.continuations import BATCH_TOKENS, Continuations, Ids, Network, States
from verax.models.llm.prompt import BETWEEN, MASK, Calibration, Features, Filled, Placed, Prompt
from verax.models.neural.encoders import length_batches, say_cut, words_of
from verax.models.neural.networks import weights_state
from verax.models.wrappers import check_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


log = logging.getLogger("verax.models")

Sort = Literal["causal", "masked", "seq2seq"]
AS_IT_IS = Calibration()
# Texts at the end of a prompt's beginning, to see how far its tokens do not depend on what follows.
PROBES = ("", "a", " a", ".", "\n", "1", "The")


@dataclass(frozen=True, eq=False)
class LanguageModel(Model):
    """A language model of the transformers library that is asked for a class.

    Attributes:
        network: causal, masked, or from sequence to sequence.
        tokenizer: its own.
        prompt: what it is asked.
        labels: what it says for each class; one alone is an answer whose log-probability is explained.
        class_names: the name of each class.
        sort: what the network is.
        calibration: from log-probabilities to scores.
        about: what explanations are about: the words of the text, or parts of the prompt.
        marks: whether the tokenizer puts its own marks around a prompt; a chat template has them already.
        reference: training texts; None if not given.
    """

    network: Network = field(repr=False)
    tokenizer: PreTrainedTokenizerFast = field(repr=False)
    prompt: Prompt
    labels: tuple[str, ...]
    class_names: tuple[str, ...]
    sort: Sort = "causal"
    calibration: Calibration = AS_IT_IS
    about: Features = "words"
    marks: bool = True
    reference: Sequence[str] | None = field(default=None, repr=False)
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    kind = "text"

    @property
    def default_target(self) -> int | None:
        """The class that is explained where none is asked for: a given answer; else the predicted one, None."""
        return 0 if len(self.labels) == 1 else None

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text, checked."""
        texts = check_texts(inputs)
        if not texts:
            return np.empty((0, len(self.class_names)))

        def probabilities(batch: Sequence[str]) -> FloatArray:
            return np.asarray(softmax(self.scores_of([self.prompt.fill(text) for text in batch]), axis=1))

        return ask(probabilities, texts, len(texts), len(self.class_names))

    def scores(self, inputs: Inputs) -> FloatArray:
        """Class scores before the softmax: calibrated log-probabilities of the labels, one row per text."""
        return self.scores_of([self.prompt.fill(text) for text in check_texts(inputs)])

    def place(self, text: str) -> Placed:
        """What an explanation of this text is about, and where it stands in the prompt."""
        return self.prompt.place(text, self.about)

    def scores_of(self, filled: Sequence[Filled]) -> FloatArray:
        """(prompts, classes): the same for prompts that are filled already."""
        if not filled:
            return np.empty((0, len(self.class_names)))
        return self.to_scores(self.log_probabilities(filled))

    def explained_of(self, filled: Sequence[Filled]) -> FloatArray:
        """(prompts, classes): what perturbation explains: probabilities, or the log-probability of a given answer."""
        scores = self.scores_of(filled)
        return scores if len(self.labels) == 1 else np.asarray(softmax(scores, axis=1))

    def to_scores(self, log_probabilities: FloatArray) -> FloatArray:
        """Class scores from log-probabilities of the labels."""
        if len(self.labels) > 1:
            return self.calibration.apply(log_probabilities)
        given = np.minimum(log_probabilities[:, 0], -1e-12)  # its opposite is not to be minus infinity
        return np.stack([given, np.log(-np.expm1(given))], axis=1)

    def log_probabilities(self, filled: Sequence[Filled]) -> FloatArray:
        """(prompts, labels): how likely each label is, not calibrated."""
        self.network.eval()
        if self.sort == "causal":
            return self.continuations().log_probabilities(self.encode(filled))
        if self.sort == "masked":
            return self._filled_in(filled)
        return self._written(filled)

    @property
    def writes(self) -> bool:
        """Whether it can be asked in words: a model that fills in masks cannot."""
        return self.sort != "masked"

    def reply(self, text: str, target: int | None, question: str, tokens: int) -> str:
        """What it writes behind the prompt, its answer and a question; the likeliest words, so always the same."""
        filled = self.prompt.fill(text)
        said = self.labels[target] if target is not None and target < len(self.labels) else ""
        (ids,) = self.encode([filled._replace(after=f"{filled.after}{said}{BETWEEN}{question}")])
        self.network.eval()
        with torch.inference_mode():
            given = torch.tensor([ids])
            made = self.network.generate(
                given,
                attention_mask=torch.ones_like(given),
                max_new_tokens=tokens,
                do_sample=False,
                pad_token_id=self.tokenizer.pad_token_id or 0,
            )[0]
        new = made[len(ids) :] if self.sort == "causal" else made
        return str(self.tokenizer.decode(new, skip_special_tokens=True))

    def label_ids(self) -> tuple[Ids, ...]:
        """The tokens of each label."""
        known = self._kept.get("labels")
        if known is None:
            known = tuple(
                tuple(self.tokenizer(label, add_special_tokens=False)["input_ids"]) for label in self.labels
            )
            self._kept["labels"] = known
        return known

    def encode(self, filled: Sequence[Filled]) -> list[Ids]:
        """The tokens of prompts; a text that is too long for the model's window is cut at its end, and that is said."""
        rows = self._tokens([parts.whole for parts in filled])
        room = self.room()
        long = [place for place, row in enumerate(rows) if len(row) > room]
        for place in long:
            rows[place] = self._tokens([self.fitting(filled[place]).whole])[0]
        say_cut(len(long), len(rows), f"{room:,} tokens of the model's window, the prompt included,")
        return rows

    def room(self) -> int:
        """How many tokens a prompt may have."""
        return window(self.network, self.tokenizer) - max(map(len, self.label_ids()))

    def fits(self, text: str, tokens: int) -> bool:
        """Whether the prompt with this text leaves room for a reply of so many tokens."""
        return len(self._tokens([self.prompt.fill(text).whole])[0]) + tokens <= self.room()

    def fitting(self, parts: Filled) -> Filled:
        """A prompt whose text is cut at its end so far that it fits into the model's window."""
        room = self.room()
        while (length := len(self._tokens([parts.whole])[0])) > room:
            if not parts.text:
                raise VeraxError(
                    f"The prompt without any text has {length:,} tokens and the model reads {room:,}; give fewer "
                    "examples or a shorter prompt."
                )
            # What is over is some share of the tokens; a character is the least to go.
            kept = min(len(parts.text) - 1, int(len(parts.text) * room / length))
            parts = parts._replace(text=parts.text[:kept])
        return parts

    def fitted_state(self) -> tuple[int, ...]:
        """Numbers that change when a weight does."""
        state = weights_state(self.network)
        if self._kept.get("state", state) != state:
            self._kept.pop("continuations", None)
        self._kept["state"] = state
        return state

    def _tokens(self, prompts: Sequence[str]) -> list[Ids]:
        rows = self.tokenizer(list(prompts), add_special_tokens=self.marks, truncation=False, verbose=False)[
            "input_ids"
        ]
        return [tuple(row) for row in rows]

    def continuations(self) -> Continuations:
        """What asks a causal network, with the states of the prompt's beginning; made anew when a weight changes."""
        versions = tuple((tensor._version, tensor.data_ptr()) for tensor in self.network.parameters())
        kept = self._kept.get("continuations")
        if kept is None or kept[0] != versions:
            before = self.prompt.fill("").before
            rows = self._tokens([before + probe for probe in PROBES])
            same = 0
            while same < min(map(len, rows)) and len({row[same] for row in rows}) == 1:
                same += 1
            kept = (versions, Continuations(self.network, rows[0][:same], self.label_ids()))
            self._kept["continuations"] = kept
        made: Continuations = kept[1]
        return made

    def _filled_in(self, filled: Sequence[Filled]) -> FloatArray:
        """Of a masked model: labels of several tokens stand in as many masks, and are multiplied."""
        labels = self.label_ids()
        found = np.empty((len(filled), len(labels)))
        mask = self.tokenizer.mask_token
        for length in sorted({len(label) for label in labels}):
            masks = mask * length
            rows = self.encode([Filled(*(part.replace(MASK, masks) for part in parts)) for parts in filled])
            chosen = [number for number, label in enumerate(labels) if len(label) == length]
            for batch, ids, inside in _batches(rows, self.tokenizer.pad_token_id or 0):
                with torch.inference_mode():
                    after = self.network(input_ids=ids, attention_mask=inside).logits.double().log_softmax(-1)
                for at, place in enumerate(batch):
                    spots = (ids[at] == self.tokenizer.mask_token_id).nonzero()[:, 0][-length:]
                    for number in chosen:
                        found[place, number] = float(after[at, spots, list(labels[number])].sum())
        return found

    def _written(self, filled: Sequence[Filled]) -> FloatArray:
        """Of a model from sequence to sequence: the labels as what it writes."""
        labels = self.label_ids()
        found = np.empty((len(filled), len(labels)))
        start = self.network.config.decoder_start_token_id
        for batch, ids, inside in _batches(self.encode(filled), self.tokenizer.pad_token_id or 0):
            with torch.inference_mode():
                read = self.network.get_encoder()(input_ids=ids, attention_mask=inside)
                for number, label in enumerate(labels):
                    written = torch.tensor([[start, *label[:-1]]]).expand(len(batch), -1)
                    logits = self.network(
                        encoder_outputs=read,
                        attention_mask=inside,
                        decoder_input_ids=written,
                        use_cache=False,
                    ).logits
                    steps = logits.double().log_softmax(-1)[:, range(len(label)), list(label)]
                    found[batch, number] = steps.sum(dim=1).numpy()
        return found


def _batches(rows: Sequence[Ids], padding: int) -> list[tuple[list[int], torch.Tensor, torch.Tensor]]:
    """The places, tokens and attention masks of rows, those of similar lengths together."""
    made = []
    for batch in length_batches([len(row) for row in rows], BATCH_TOKENS):
        width = max(len(rows[place]) for place in batch)
        ids = torch.full((len(batch), width), padding, dtype=torch.long)
        for at, place in enumerate(batch):
            ids[at, : len(rows[place])] = torch.tensor(rows[place])
        inside = (torch.arange(width) < torch.tensor([len(rows[place]) for place in batch])[:, None]).long()
        made.append((batch, ids, inside))
    return made


def window(network: Network, tokenizer: PreTrainedTokenizerFast) -> int:
    """How many tokens both can take."""
    positions = getattr(network.config, "max_position_embeddings", None) or getattr(
        network.config, "n_positions", None
    )
    lost = 2 if "roberta" in str(network.config.model_type) else 0
    return min(int(positions or 1 << 20) - lost, int(min(tokenizer.model_max_length, 1 << 20)))


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
            tokens = self.tokens_of(text)
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
            tokens = self.tokens_of(text)
            most = max(1, TOKENS // (len(tokens.text) + len(tokens.after) + 1))
            last = first + 1
            while last < len(embedded) and last - first < most and embedded[last].text is text:
                last += 1
            vectors = torch.from_numpy(np.stack([embedded[place].vectors for place in range(first, last)]))
            yield list(range(first, last)), tokens, vectors.to(self.network.dtype)
            first = last

    def tokens_of(self, text: str) -> Tokens:
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
