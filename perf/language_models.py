"""LIME on a language model, beside the ``lime`` package that calls the same model as people do; and gradients.

Run by ``make perf-llm``; writes its own section of perf/OTHERS.md. Times are processor times of one thread. The package
is timed with fewer samples than Verax, and times are per perturbed row: both ask the model once for each.
"""

from __future__ import annotations

import argparse
import os
import time
from datetime import date
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import lime.lime_text
import numpy as np
import torch

import verax
from explainers import machine
from verax.data.words import split_words
from verax.perturb import Masks, path_for

TITLE = "\n## Speed on language models\n"
OTHERS = Path(__file__).with_name("OTHERS.md")
# Words in a text that is short, usual and long among Rotten Tomatoes' reviews.
LENGTHS = (10, 20, 40)


def as_people_do(model, batch=32):
    """A prediction function as it is written by hand: prompts padded to the longest, all logits, the last of them kept."""
    pieces, network = model.tokenizer, model.network
    labels = [tokens[0] for tokens in model.label_ids()]
    pieces.padding_side = "left"

    def predict(texts):
        rows = []
        for first in range(0, len(texts), batch):
            prompts = [model.prompt.fill(text).whole for text in texts[first : first + batch]]
            read = pieces(prompts, return_tensors="pt", padding=True)
            with torch.inference_mode():
                logits = network(**read).logits[:, -1, labels].double()
            scores = model.calibration.apply(logits.log_softmax(-1).numpy())
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            rows.append(shares / shares.sum(axis=1, keepdims=True))
        return np.concatenate(rows)

    return predict


def measured(samples: int, package_samples: int) -> list[str]:
    """A row of the table for each length."""
    data = verax.load_dataset("rotten-tomatoes", limit=2000)
    model = verax.fit_model("smollm2", data)
    plain = as_people_do(model)
    rows = []
    for words in LENGTHS:
        text = min(data.test.inputs, key=lambda each: abs(len(split_words(each)) - words))
        package = lime.lime_text.LimeTextExplainer(class_names=model.class_names, random_state=0)
        begun = time.process_time()
        package.explain_instance(text, plain, labels=(1,), num_samples=package_samples)
        theirs = (time.process_time() - begun) / package_samples
        begun = time.process_time()
        (found,) = verax.explainer("lime", samples=samples).explain(model, [text], 1)
        ours = (time.process_time() - begun) / found.cost.rows
        begun = time.process_time()
        verax.explainer("integrated-gradients", steps=50).explain(model, [text], 1)
        gradients = time.process_time() - begun
        path = path_for(model)
        prepared = path.prepare([text])
        present = np.random.default_rng(0).random((16, len(prepared[0].features))) < 0.5
        (answer,) = path.evaluate(prepared, [Masks.from_rows(present)])
        kept = [
            split_words(text).keep(word for word, here in zip(prepared[0].features, row, strict=True) if here)
            for row in present
        ]
        apart = float(np.abs(answer.probabilities - plain(kept)).max())
        rows.append(
            f"| {len(split_words(text))} | {1000 * theirs:.0f} | {1000 * ours:.0f} | {theirs / ours:.1f} | "
            f"{apart:.1e} | {gradients:.1f} |"
        )
        print(rows[-1], flush=True)
    return rows


def write(rows: list[str], samples: int, package_samples: int) -> None:
    """Puts the section into perf/OTHERS.md."""
    section = "\n".join(
        [
            TITLE.strip(),
            "",
            f"`make perf-llm`, measured on {date.today():%-d %B %Y}: SmolLM2-135M with six examples in its prompt, LIME on reviews of Rotten Tomatoes. Milliseconds "
            "of one thread for each perturbed row: the `lime` package with a prediction function as people write it "
            f"({package_samples} samples), and Verax ({samples} samples). The difference is the largest between the "
            "probabilities of the two ways on 16 variants. The longer a text is beside the prompt, the less there is to share.",
            "",
            "| words | `lime`, ms a row | Verax, ms a row | ratio | difference | integrated gradients, 50 steps, s |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            machine(),
            "",
        ]
    )
    before, _, rest = OTHERS.read_text().partition(TITLE)
    after = rest[rest.find("\n## ") :] if "\n## " in rest else ""
    OTHERS.write_text(before.rstrip("\n") + "\n\n" + section + after)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--package-samples", type=int, default=64)
    parser.add_argument("--quick", action="store_true", help="few samples; writes nothing")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.quick:
        measured(32, 8)
    else:
        write(measured(given.samples, given.package_samples), given.samples, given.package_samples)
