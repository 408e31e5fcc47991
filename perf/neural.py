"""LIME and KernelSHAP on networks, beside the packages that call them unmodified: ratios, interleaved in one process.

Run by ``make perf-neural``; writes its own section of perf/OTHERS.md. ``--quick`` uses few inputs and writes nothing.
Times are processor times of the one thread, so that other programs on the machine count as little as can be; packages
are timed on some of the inputs in each repeat, Verax on all of them every time.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import lime.lime_text
import numpy as np
import torch
import transformers
from captum.attr import KernelShap
from torch.nn import functional

import verax
from explainers import Cell, machine, ms, ratio, show, table, texts_of, verdict
from neural_equality import (
    MOST_PIECES,
    MOST_WORDS,
    ODD,
    as_people_write_it,
    table_difference,
    text_difference,
)
from verax.data.dataset import Dataset, Part
from verax.data.words import split_words
from verax.explain.perturbed import BANKS
from verax.models.neural.encoders import PADDING
from verax.models.neural.networks import TextNetwork

TITLE, STUDIES = "\n## Speed on networks\n", "\n## Speed of studies\n"
EQUAL = 1e-5
WAYS = ("dropped", "masked", "background")


@dataclass(frozen=True)
class Settings:
    """How much is measured."""

    inputs: int = 10
    repeats: int = 3
    package_inputs: int = 1
    transformer_inputs: int = 1
    masks: int = 1_000
    texts: int = 50


def seconds(function: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    started = time.process_time()
    function()
    return time.process_time() - started


def fit(name: str, train: list[str], labels: np.ndarray) -> TextNetwork:
    """A network trained for a moment: how well it does is no matter here."""
    count = 200 if name.startswith("transformer") else 2000
    parts = [Part(train[some], labels[some]) for some in (slice(0, count), slice(count, count + 100))]
    data = Dataset("rotten-tomatoes", "text", ("negative", "positive"), *parts, parts[1])
    model: TextNetwork = verax.fit_model(name, data, options=moment(name))
    return model


def moment(name: str) -> dict[str, int]:
    """The options of a short training; a prototype network's task model is trained too."""
    return {"epochs": 1} | ({"task_epochs": 1} if name.startswith("prototype") else {})


def lime_on_cnn(settings: Settings, length: str, model: TextNetwork, texts: list[str]) -> list[Cell]:
    cells = []
    package = lime.lime_text.LimeTextExplainer(random_state=0)
    # The batch that suits the network best: more of the long ones do not fit the cache.
    predict = as_people_write_it(model, 256 if length == "short" else 64)
    inputs = texts[: settings.inputs]
    for samples in (1000, 5000):
        ours = verax.explainer("lime", samples=samples, features=10)
        ours.explain(model, inputs)
        cell = Cell((length, f"{samples}"))
        for repeat in range(settings.repeats):
            some = inputs[repeat :: settings.repeats][: settings.package_inputs]
            cell.add(
                "lime",
                seconds(
                    lambda: [
                        package.explain_instance(text, predict, num_features=10, num_samples=samples)
                        for text in some
                    ]
                ),
                len(some),
            )
            BANKS.clear()
            split_words.cache_clear()
            cell.add("cold", seconds(lambda: ours.explain(model, inputs)), len(inputs))
            cell.add("warm", seconds(lambda: ours.explain(model, inputs)), len(inputs))
        cells.append(cell)
        show(cell, "lime", "cold", "warm")
    return cells


def shap_on_cnn(settings: Settings, length: str, model: TextNetwork, texts: list[str]) -> Cell:
    """captum puts nothing (number 0) in place of words; so does Verax here, with as many coalitions."""
    samples, inputs = 1000, texts[: settings.inputs]
    ours = verax.explainer("shap", samples=samples, route="kernel", absent="masked")
    ours.explain(model, inputs)
    cell = Cell((length, f"{samples}"))

    def captum_shap(text: str) -> object:
        ids = torch.from_numpy(model.encoder.encode([text])[0])[None]
        place = {word: number for number, word in enumerate(split_words(text).distinct)}
        features = torch.tensor([[place[word] for word in split_words(text).words]])

        def target_probability(rows: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                lengths = torch.full((len(rows),), rows.shape[1])
                return functional.softmax(model.network(rows, lengths), dim=1)[:, 1]

        return KernelShap(target_probability).attribute(
            ids, baselines=PADDING, feature_mask=features, n_samples=samples, perturbations_per_eval=64
        )

    for repeat in range(settings.repeats):
        some = inputs[repeat :: settings.repeats][: settings.package_inputs]
        cell.add("captum", seconds(lambda: [captum_shap(text) for text in some]), len(some))
        BANKS.clear()
        split_words.cache_clear()
        cell.add("cold", seconds(lambda: ours.explain(model, inputs)), len(inputs))
        cell.add("warm", seconds(lambda: ours.explain(model, inputs)), len(inputs))
    show(cell, "captum", "cold", "warm")
    return cell


class PipelineHead(transformers.PreTrainedModel):
    """MiniLM with the trained head as Hugging Face classifiers are, so that a pipeline can call it."""

    config_class = transformers.BertConfig
    all_tied_weights_keys: ClassVar[dict[str, str]] = {}

    def __init__(self, model: TextNetwork) -> None:
        config = transformers.BertConfig(
            **model.network.backbone.config.to_diff_dict()
            | {"id2label": dict(enumerate(model.class_names)), "label2id": {}}
        )
        super().__init__(config)
        self.model = model.network

    def forward(self, input_ids=None, attention_mask=None, **_):
        states = self.model.backbone(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        scores = self.model.head(states, attention_mask.sum(dim=1))
        return transformers.modeling_outputs.SequenceClassifierOutput(logits=scores)


def lime_on_transformer(settings: Settings, length: str, model: TextNetwork, texts: list[str]) -> Cell:
    """lime with a pipeline as people call it: a list of texts in, one after the other through the network."""
    samples, inputs = 1000 if length == "short" else 200, texts[: settings.transformer_inputs]
    pipeline = transformers.pipeline(
        "text-classification",
        model=PipelineHead(model).eval(),
        tokenizer=model.encoder.tokenizer,
        top_k=None,
    )

    def predict_proba(batch: list[str]) -> np.ndarray:
        said = pipeline(list(batch), truncation=True, max_length=model.encoder.max_pieces)
        by_name = [{answer["label"]: answer["score"] for answer in answers} for answers in said]
        return np.array([[answers[name] for name in model.class_names] for answers in by_name])

    some = [*inputs[0].split()[:3], inputs[0]]
    np.testing.assert_allclose(predict_proba(some), model.predict_proba(some), atol=EQUAL)
    package = lime.lime_text.LimeTextExplainer(random_state=0)
    ours = verax.explainer("lime", samples=samples, features=10)
    cell = Cell((length, f"{samples}"))
    for text in inputs:
        cell.add(
            "lime",
            seconds(
                lambda: package.explain_instance(text, predict_proba, num_features=10, num_samples=samples)
            ),
            1,
        )
        cell.add("ours", seconds(lambda: ours.explain(model, [text])), 1)
        cell.add("arithmetic", arithmetic(model, text, ours), 1)
    show(cell, "lime", "ours", "arithmetic")
    return cell


def arithmetic(model: TextNetwork, text: str, ours: verax.Explainer) -> float:
    """Seconds that the products of the transformer's matrices alone take for one explanation's distinct variants.

    Measured with matrices of the same sizes on as many positions as the variants have, in batches as large as suit
    them; no attention, no layer norms, nothing else: no way of asking the network about all variants takes less.
    """
    words = split_words(text)
    rows = ours.bank(len(words.distinct)).masks.rows()
    variants = [words.keep(np.array(words.distinct)[row].tolist()) for row in rows]
    positions = sum(len(pieces) for pieces in model.encoder.encode(list(dict.fromkeys(variants))))
    batch = torch.randn(512, model.network.backbone.config.hidden_size)
    wide = torch.randn(512, model.network.backbone.config.intermediate_size)
    layers = [
        (wide if weights.shape[1] == wide.shape[1] else batch, weights)
        for name, weights in model.network.backbone.named_parameters()
        if ".layer." in name and weights.ndim == 2
    ]
    with torch.inference_mode():
        spent = min(
            seconds(lambda: [functional.linear(given, weights) for given, weights in layers])
            for _ in range(5)
        )
    return spent * positions / 512


def equality(
    settings: Settings,
    fitted: dict[str, TextNetwork],
    train: list[str],
    labels: np.ndarray,
    sentences: list[str],
) -> dict[str, dict[str, float]]:
    """The largest difference of each network, with words dropped and with words masked; these are fitted already."""
    others = ("bilstm", "prototype-bilstm", "rationale", "transformer-lstm")
    models = fitted | {name: fit(name, train, labels) for name in others}
    given = [" ".join(sentences[-10:]), *sentences[: settings.texts - len(ODD) - 1]]
    found: dict[str, dict[str, float]] = {}
    for name in ("cnn", "bilstm", "prototype-bilstm", "rationale", "transformer-mean", "transformer-lstm"):
        for absent in ("dropped", "masked"):
            worst = text_difference(models[name], given, settings.masks, absent)
            found.setdefault(name, {})[absent] = worst
            print(f"  {name} {absent}: {worst:.1e}", flush=True)
    adult = verax.load_dataset("adult")
    for name in ("mlp-2x50", "prototype-mlp-2x50"):
        model = verax.fit_model(name, adult, options=moment(name))
        worst = table_difference(model, adult.test.inputs[: settings.texts], settings.masks)
        found[name] = {"background": worst}
        print(f"  {name}: {worst:.1e}", flush=True)
    return found


def peak_memory(model: TextNetwork, texts: list[str], samples: int, batch: int) -> float:
    """Peak megabytes above the model: what Python and numpy hold; torch's own is seen by the batch's size."""
    explainer = verax.explainer("lime", samples=samples)
    explainer.explain(model, texts[:1])
    BANKS.clear()
    split_words.cache_clear()
    tracemalloc.start()
    explainer.explain(model, texts[:batch])
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few inputs and masks; nothing is written")
    parser.add_argument("--only", nargs="*", default=[], help="some of: cnn transformer equality memory")
    arguments = parser.parse_args()
    settings = Settings(5, 1, 1, 1, 50, 10) if arguments.quick else Settings()
    wanted = set(arguments.only) or {"cnn", "transformer", "equality", "memory"}
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    lime_cells, shap_cells, transformer_cells = [], [], []
    differences: dict[str, dict[str, float]] = {}
    peaks: dict[str, float] = {}
    sentences, labels, _ = texts_of("short")
    if wanted & {"transformer", "memory", "equality"}:
        mean = fit("transformer-mean", sentences, labels)
    for length in ("short", "long"):
        train, labels, texts = texts_of(length)
        if wanted & {"cnn", "memory", "equality"}:
            cnn = fit("cnn", train, labels)
        if "cnn" in wanted:
            lime_cells += lime_on_cnn(settings, length, cnn, texts)
            shap_cells.append(shap_on_cnn(settings, length, cnn, texts))
        if "transformer" in wanted:
            transformer_cells.append(lime_on_transformer(settings, length, mean, texts))
        if "memory" in wanted and length == "long":
            peaks["cnn, 64 documents, 5,000 samples"] = peak_memory(cnn, texts, 5000, 64)
            peaks["transformer-mean, 1 document, 100 samples"] = peak_memory(mean, texts, 100, 1)
            print(peaks, flush=True)
        if "equality" in wanted and length == "short":
            differences = equality(settings, {"cnn": cnn, "transformer-mean": mean}, train, labels, texts)
    if not arguments.quick:
        measured = {
            "cnn": [vars(cell) for cell in lime_cells],
            "captum": [vars(cell) for cell in shap_cells],
            "transformer": [vars(cell) for cell in transformer_cells],
            "equality": differences,
            "memory": peaks,
        }
        keep(settings, {part: found for part, found in measured.items() if found})


def keep(settings: Settings, measured: dict[str, Any]) -> None:
    """Keeps what was measured; writes the section, before that of studies, once all of its parts are there."""
    path = Path(__file__).with_name(".measured-neural.json")
    kept = (json.loads(path.read_text()) if path.exists() else {}) | measured
    path.write_text(json.dumps(kept))
    if set(kept) < {"cnn", "captum", "transformer", "equality", "memory"}:
        return
    cells = [
        [Cell(tuple(one["name"]), one["seconds"]) for one in kept[part]]
        for part in ("cnn", "captum", "transformer")
    ]
    section = report(settings, *cells, kept["equality"], kept["memory"])
    page = Path(__file__).with_name("OTHERS.md")
    before, line, others = page.read_text().partition(STUDIES)
    page.write_text(before.partition(TITLE)[0] + section + line + others)
    print("written: perf/OTHERS.md")


def report(
    settings: Settings,
    lime_cells: list[Cell],
    shap_cells: list[Cell],
    transformer_cells: list[Cell],
    differences: dict[str, dict[str, float]],
    peaks: dict[str, float],
) -> str:
    short = [cell.ratio("lime", "warm") for cell in lime_cells if cell.name[0] == "short"]
    long = [cell.ratio("lime", "warm") for cell in lime_cells if cell.name[0] == "long"]
    captum = [cell.ratio("captum", "warm") for cell in shap_cells]
    pipeline = [cell.ratio("lime", "ours") for cell in transformer_cells]
    limit = [cell.ratio("lime", "arithmetic") for cell in transformer_cells]
    worst, peak = max(max(one.values()) for one in differences.values()), max(peaks.values())

    def several(ratios: list[float]) -> str:
        return f"{min(ratios):.0f}x to {max(ratios):.0f}x"

    goals = [
        ("`lime` on `cnn`, sentences", "40x", several(short), min(short) >= 40),
        ("`lime` on `cnn`, documents of 230 words", "25x", several(long), min(long) >= 25),
        ("captum's `KernelShap` on `cnn`", "20x", several(captum), min(captum) >= 20),
        *(
            (
                f"`lime` calling a pipeline, `transformer-mean`, {cell.name[0]}",
                f"5x, or the arithmetic's {most:.1f}x",
                f"{reached:.1f}x",
                reached >= min(5, 0.8 * most),
            )
            for cell, reached, most in zip(transformer_cells, pipeline, limit, strict=True)
        ),
        ("largest difference from the network", f"{EQUAL:g}", f"{worst:.0e}", worst <= EQUAL),
        ("peak memory above the model", "under 64 MB", f"{peak:.0f} MB", peak < 64),
    ]
    return "\n".join([
        TITLE,
        f"Written by `make perf-neural` (`perf/neural.py`) on {date.today():%-d %B %Y}. Ratios of medians of processor time;",
        f"packages and Verax take turns in one process. {settings.inputs} inputs, {settings.repeats} repeats; for transformers "
        f"{settings.transformer_inputs} of each length; torch {torch.__version__}. Machine: {machine()}",
        "",
        "| against | to reach | measured | |",
        "|---|---|---|---|",
        *(f"| {what} | {goal} | {found} | {verdict(ok)} |" for what, goal, found, ok in goals),
        "",
        "### LIME on `cnn`, milliseconds per input",
        "",
        "`lime` calls the unmodified network: words to numbers, padded, in the batches that suit it best, no gradients.",
        "",
        table(
            lime_cells,
            ["text", "samples"],
            [ms("lime"), ms("cold"), ms("warm"), ratio("lime", "cold"), ratio("lime", "warm")],
        ),
        "",
        "### KernelSHAP on `cnn`, 1,000 coalitions, absent words masked on both sides",
        "",
        table(
            shap_cells,
            ["text", "coalitions"],
            [ms("captum"), ms("cold"), ms("warm"), ratio("captum", "cold"), ratio("captum", "warm")],
        ),
        "",
        "### LIME on `transformer-mean`",
        "",
        "`lime` calls a Hugging Face pipeline with the list of texts. The arithmetic: the products of the transformer's",
        "matrices for the distinct variants, and nothing else.",
        "",
        table(
            transformer_cells,
            ["text", "samples"],
            [ms("lime"), ms("ours"), ms("arithmetic"), ratio("lime", "ours"), ratio("lime", "arithmetic")],
        ),
        "",
        f"### Largest difference from the network's own probabilities, {settings.masks:,} masks of {settings.texts} texts",
        "",
        "Against the network called as people call it. Among the texts: an empty one, three of which no word is known, and ten",
        f"sentences in one, of which {MOST_WORDS} words or {MOST_PIECES} pieces are read and the rest is cut; the others",
        "are sentences as they are. Tables: an absent column has background values.",
        "",
        "| model | dropped | masked | background values |",
        "|---|---|---|---|",
        *(
            f"| {name} | {' | '.join(f'{found[way]:.0e}' if way in found else '' for way in WAYS)} |"
            for name, found in differences.items()
        ),
        "",
        "### Peak memory above the model",
        "",
        "| | MB |",
        "|---|---|",
        *(f"| {what} | {mb:.0f} |" for what, mb in peaks.items()),
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
