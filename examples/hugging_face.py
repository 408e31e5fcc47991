"""A Hugging Face classifier, explained: nothing is downloaded, a small BERT is made and taught here.

With a model of your own, replace `small_bert()` by `AutoTokenizer.from_pretrained(...)` and
`AutoModelForSequenceClassification.from_pretrained(...)`. It needs verax-xai[bench,data,transformer]; half a minute.
"""

import tempfile
from pathlib import Path

import torch
import transformers

import verax

GOOD = ("warm", "funny", "moving", "clever")
BAD = ("dull", "slow", "boring", "silly")
WORDS = ("a", "the", "film", "plot", "story", "is", "was", "and", "at", "all", *GOOD, *BAD)


def small_bert():
    """A tokenizer of whole words and a BERT of two layers, both new."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", *WORDS]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocab.txt"
        path.write_text("\n".join(pieces), encoding="utf-8")
        tokenizer = transformers.BertTokenizerFast(vocab=str(path), model_max_length=32)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=32, id2label={0: "negative", 1: "positive"}, label2id={"negative": 0, "positive": 1},
    )  # fmt: skip
    return tokenizer, transformers.BertForSequenceClassification(config)


def teach(tokenizer, network, steps=80):
    """Shows it made-up sentences: four words speak for a film, four against it."""
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    for step in range(steps):
        drawn = torch.Generator().manual_seed(step)
        numbers = torch.randint(len(WORDS), (32, 8), generator=drawn)
        texts = [" ".join(WORDS[number] for number in row) for row in numbers.tolist()]
        good = torch.tensor([sum(word in GOOD for word in text.split()) for text in texts])
        bad = torch.tensor([sum(word in BAD for word in text.split()) for text in texts])
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        loss = network(**batch, labels=(good > bad).long()).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network.eval()


if __name__ == "__main__":
    tokenizer, network = small_bert()
    model = verax.as_model(teach(tokenizer, network), tokenizer=tokenizer)
    text = "the plot was slow and dull , the film is warm ."
    for name in ("lime", "shap", "greedy", "gradient-x-input"):
        (explanation,) = verax.explainer(name).explain(model, [text])
        print(f"{name:<18} {explanation.target_name}: {explanation.top(3)}")
