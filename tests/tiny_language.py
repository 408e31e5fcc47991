"""Tiny language models of random weights with tokenizers of their own, and SmolLM2 unpacked once per machine."""

import fcntl
import os
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
torch.set_num_threads(1)

CORPUS = [
    "Review: the plot was good and the actors were fine .\nSentiment: positive",
    "Review: a bad , dull film with poor jokes !\nSentiment: negative",
    "Say whether each text is negative or positive. Answer: It was great, terrible, awful or good.",
    "Which part of the prompt made it say this? example one, example two.",
]
PROMPT = "Say whether it is good.\n\n{examples}Review: {text}\nSentiment:"
LABELS = {"negative": " negative", "positive": " positive"}
EXAMPLES = [("the plot was good", "positive"), ("a dull film", "negative")]


@cache
def tokenizer(sort="causal"):
    """Byte-level BPE as GPT-2's, or with BERT's marks and mask."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<pad>", "<mask>", "<s>", "</s>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=420, special_tokens=special, initial_alphabet=alphabet)
    )
    if sort == "masked":
        made.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", mask_token="<mask>", bos_token="<s>", eos_token="</s>"
    )


def network(sort="causal", family="llama", seed=0, window=512):
    """A network of random weights, large enough for its answers to differ."""
    import transformers

    torch.manual_seed(seed)
    size = len(tokenizer(sort))
    small = {"vocab_size": size, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
    marks = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    if sort == "masked":
        config = transformers.BertConfig(
            **small,
            intermediate_size=64,
            max_position_embeddings=window,
            type_vocab_size=1,
            initializer_range=0.4,
        )
        return transformers.BertForMaskedLM(config).eval()
    if sort == "seq2seq":
        config = transformers.BartConfig(
            vocab_size=size, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=window,
            decoder_start_token_id=2, forced_eos_token_id=None, init_std=0.4, **marks,
        )  # fmt: skip
        return transformers.BartForConditionalGeneration(config).eval()
    if family == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=size,
            n_embd=32,
            n_layer=3,
            n_head=4,
            n_positions=window,
            initializer_range=0.4,
            **marks,
        )
        return transformers.GPT2LMHeadModel(config).eval()
    if family == "bloom":
        config = transformers.BloomConfig(
            vocab_size=size, hidden_size=32, n_layer=2, n_head=4, initializer_range=0.4, **marks
        )
        return transformers.BloomForCausalLM(config).eval()
    config = transformers.LlamaConfig(
        **small, num_key_value_heads=2, intermediate_size=64, max_position_embeddings=window, initializer_range=0.4,
        **marks,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


def share_smollm2():
    """SmolLM2 in this test process's cache, unpacked once per machine; skips the test where it is not installed."""
    from verax.models.llm import weights

    if find_spec(weights.PACKAGE) is None or find_spec("gguf") is None:
        pytest.skip(f"SmolLM2 is not installed: {weights.INSTALL}")
    shared = Path(tempfile.gettempdir()) / "verax-tests-smollm2"
    shared.mkdir(exist_ok=True)
    own = Path(os.environ["VERAX_CACHE"])
    with open(shared / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("VERAX_CACHE", str(shared))
            folder = weights.unpacked_weights()
    link = own / "llm" / folder.name
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(folder)
