"""The ready-made networks by name: how each is built and trained. Light to import: torch comes when one is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from verax.errors import VeraxError
from verax.installed import install_command
from verax.models.ready import ReadsInputs, make_ready, models

if TYPE_CHECKING:
    from verax.models.neural.prototype_recipe import PrototypeRecipe
    from verax.models.neural.recipe import Recipe

MAX_WORDS = 1_000


@models.register("cnn")
def cnn(
    seed: int,
    *,
    epochs: int = 20,
    rate: float = 0.001,
    dropout: float = 0.5,
    vectors: str = "minilm",
    dimensions: int = 200,
    train_vectors: bool = False,
    max_words: int = MAX_WORDS,
) -> Recipe:
    """Filters of 2, 3 and 4 words over word vectors, then a hidden layer (Lertvittayakumjorn & Toni 2019); texts.

    Args:
        seed: of all that is random.
        epochs: passes over the training part at the most.
        rate: the size of a step.
        dropout: the share of what filters and hidden units say that is left out in training.
        vectors: word vectors: "minilm", "trained" (on the training texts), or the path of a GloVe file.
        dimensions: of vectors that are trained.
        train_vectors: whether training changes the vectors; the paper's stay as they are.
        max_words: how much of a text is read.
    """
    with _needs_torch("cnn"):
        from verax.models.neural.architectures import CnnNetwork
        from verax.models.neural.loop import Schedule
        from verax.models.neural.recipe import Recipe, WordVectorSource, words_into
    schedule = Schedule(epochs=epochs, patience=3, batch=64, optimizer="adam", rate=rate)
    source = WordVectorSource(vectors, dimensions, train_vectors, max_words)
    return Recipe("cnn", "text", seed, schedule, words_into(CnnNetwork, source, dropout, seed))


@models.register("bilstm")
def bilstm(
    seed: int,
    *,
    epochs: int = 40,
    rate: float = 0.1,
    dropout: float = 0.5,
    vectors: str = "minilm",
    dimensions: int = 200,
    train_vectors: bool = True,
    max_words: int = MAX_WORDS,
) -> Recipe:
    """An LSTM in both directions with attention over its words (Hase & Bansal 2020, Yang et al. 2016); texts.

    Args:
        seed: of all that is random.
        epochs: passes over the training part at the most.
        rate: the size of a step.
        dropout: the share of word vectors and of the text's vector that is left out in training.
        vectors: word vectors to begin with: "minilm", "trained" (on the training texts), or the path of a GloVe file.
        dimensions: of vectors that are trained.
        train_vectors: whether training changes the vectors, as in Yang et al.
        max_words: how much of a text is read.
    """
    with _needs_torch("bilstm"):
        from verax.models.neural.architectures import BilstmNetwork
        from verax.models.neural.loop import Schedule
        from verax.models.neural.recipe import Recipe, WordVectorSource, words_into
    schedule = Schedule(
        epochs=epochs, patience=5, batch=40, optimizer="sgd", rate=rate, momentum=0.9, penalty=1e-4
    )
    source = WordVectorSource(vectors, dimensions, train_vectors, max_words)
    return Recipe("bilstm", "text", seed, schedule, words_into(BilstmNetwork, source, dropout, seed))


@models.register("rationale")
def rationale(
    seed: int,
    *,
    share: float | None = None,
    stability: float = 0.5,
    deletions: Literal["any", "all"] = "any",
    epochs: int | None = None,
    rate: float = 0.002,
    vectors: str = "trained",
    dimensions: int = 50,
    max_words: int = 200,
    min_count: int = 3,
    everything: bool = False,
    sparsity: float | None = None,
    coherence: float = 0.0,
    estimator: Literal["straight-through", "reinforce"] = "straight-through",
    cells: Literal["filters", "recurrent"] = "filters",
    hidden: int = 200,
    choosing: int = 30,
    order: int = 2,
    depth: int = 2,
    batch: int = 64,
) -> Recipe:
    """Selects words of a text and predicts from these alone (Lei et al. 2016); texts.

    Args:
        seed: of all that is random.
        share: of words to select; 0.3 for short texts and 0.1 for long ones if None.
        stability: how much it costs in training if the selection changes when words that are not selected go.
        deletions: which of these words go there: "any", or "all" at once and never some, which makes a harder target.
        epochs: in which both halves learn together; 8 for short texts and 6 for long ones if None.
        rate: the size of a step.
        vectors: word vectors to begin with: "trained" (on the training texts), "minilm", or the path of a GloVe file.
        dimensions: of vectors that are trained.
        max_words: how much of a text is read.
        min_count: how often a word must occur in training to be known.
        everything: select every word, to see what selecting costs.
        sparsity: what each selected word costs (3e-4 as published), in place of a share of words to select.
        coherence: what each place costs where selected words begin or end (6e-4 as published).
        estimator: how selecting is learnt: "straight-through", or "reinforce" as published.
        cells: "filters" of three words, or "recurrent" as published, which take ten times as long.
        hidden: of recurrent cells: the size of a state,
        choosing: units before the choice,
        order: words of the longest n-gram, and
        depth: layers of the half that predicts.
        batch: texts of a step.
    """
    if share is not None and not 0 < share < 1:
        raise VeraxError(f"share={share:g} is no share of words to select; give one between 0 and 1.")
    if not stability >= 0:
        raise VeraxError(f"stability={stability:g} is below 0; give 0 or more.")
    if deletions not in ("any", "all"):
        raise VeraxError(f"deletions={deletions!r} is not known; give 'any' or 'all'.")
    if epochs is not None and epochs < 1:
        raise VeraxError(f"epochs={epochs} trains nothing; give 1 or more.")
    for value, name, known in (
        (estimator, "estimator", ("straight-through", "reinforce")),
        (cells, "cells", ("filters", "recurrent")),
    ):
        if value not in known:
            raise VeraxError(f"{name}={value!r} is not known; give {known[0]!r} or {known[1]!r}.")
    if estimator == "reinforce" and sparsity is None:
        raise VeraxError("estimator='reinforce' needs the cost of a selected word; give sparsity, e.g. 3e-4.")
    if (sparsity is not None and sparsity < 0) or coherence < 0:
        raise VeraxError("sparsity and coherence are costs; give 0 or more.")
    if min(hidden, choosing, order, depth, batch) < 1:
        raise VeraxError("hidden, choosing, order, depth and batch are numbers of something; give 1 or more.")
    if everything and cells == "recurrent":
        raise VeraxError("everything=True is known for cells='filters' only.")
    with _needs_torch("rationale"):
        from verax.models.neural.loop import Schedule, train
        from verax.models.neural.rationale_training import Costs, Ties, rationale_training
        from verax.models.neural.recipe import Recipe, WordVectorSource, words_into_rationale
    schedule = Schedule(epochs=epochs or 8, patience=3, batch=batch, optimizer="adam", rate=rate)
    source = WordVectorSource(vectors, dimensions, True, max_words, min_count)
    sizes = {"hidden": hidden, "choosing": choosing, "order": order, "depth": depth}
    recurrent = sizes if cells == "recurrent" else None
    prepare = words_into_rationale(source, seed, everything=everything, cells=recurrent)
    costs = Costs(sparsity, coherence, estimator)
    course = train if everything else rationale_training(share, Ties(stability, deletions), epochs, costs)
    return Recipe("rationale", "text", seed, schedule, prepare, course)


@models.register("mlp-2x50")
def mlp_2x50(seed: int, *, epochs: int = 100, rate: float = 0.05) -> Recipe:
    """Two hidden layers of 50 units, SGD, early stopping, L2 of 1e-4 (Hase & Bansal 2020, Ribeiro 2018); tables.

    Args:
        seed: of all that is random.
        epochs: passes over the training part at the most.
        rate: the size of a step.
    """
    with _needs_torch("mlp-2x50"):
        from verax.models.neural.loop import Schedule
        from verax.models.neural.recipe import Recipe, rows_into_dense
    schedule = Schedule(epochs=epochs, patience=5, batch=32, optimizer="sgd", rate=rate, penalty=1e-4)
    return Recipe("mlp-2x50", "table", seed, schedule, rows_into_dense)


@models.register("prototype-bilstm")
def prototype_bilstm(
    seed: int,
    *,
    prototypes: int = 40,
    fixed: bool = False,
    epochs: int = 40,
    rate: float = 0.01,
    task_epochs: int = 40,
    vectors: str = "minilm",
) -> PrototypeRecipe:
    """The bilstm with prototypes, each a training text, in place of its last layer (Hase & Bansal 2020); texts.

    Args:
        seed: of all that is random.
        prototypes: of each class.
        fixed: whether everything before the prototypes stays as the task model has it.
        epochs: passes over the training part with prototypes, at the most.
        rate: the size of a step.
        task_epochs: passes over the training part for the task model, which is trained first.
        vectors: word vectors of the task model, see ``bilstm``.
    """
    task = {"epochs": task_epochs, "vectors": vectors}
    return _prototypes("bilstm", "text", seed, task, prototypes, fixed, epochs, rate)


@models.register("prototype-mlp-2x50")
def prototype_mlp(
    seed: int,
    *,
    prototypes: int = 20,
    fixed: bool = False,
    epochs: int = 40,
    rate: float = 0.01,
    task_epochs: int = 100,
) -> PrototypeRecipe:
    """The mlp-2x50 with prototypes, each a training row, in place of its last layer (Hase & Bansal 2020); tables.

    Args:
        seed: of all that is random.
        prototypes: of each class.
        fixed: whether everything before the prototypes stays as the task model has it.
        epochs: passes over the training part with prototypes, at the most.
        rate: the size of a step.
        task_epochs: passes over the training part for the task model, which is trained first.
    """
    return _prototypes("mlp-2x50", "table", seed, {"epochs": task_epochs}, prototypes, fixed, epochs, rate)


def _prototypes(
    task: str,
    kind: str,
    seed: int,
    options: Mapping[str, object],
    prototypes: int,
    fixed: bool,
    epochs: int,
    rate: float,
) -> PrototypeRecipe:
    name = f"prototype-{task}"
    with _needs_torch(name):
        from verax.models.neural.loop import Schedule
        from verax.models.neural.prototype_recipe import PrototypeRecipe
    if prototypes < 1:
        raise VeraxError(f"prototypes={prototypes} compares with nothing; give 1 or more.")
    trained_first = make_ready(task, seed, options)
    assert isinstance(trained_first, ReadsInputs)
    schedule = Schedule(epochs=epochs, patience=5, batch=40, optimizer="sgd", rate=rate, momentum=0.9)
    return PrototypeRecipe(name, kind, seed, trained_first, schedule, prototypes, fixed)


@models.register("transformer-mean")
def transformer_mean(
    seed: int,
    *,
    epochs: int = 20,
    rate: float = 0.001,
    max_pieces: int = 256,
    patience: int = 3,
    weights: object = None,
) -> Recipe:
    """The mean of a frozen transformer's representations, then a hidden layer (Gonzalez & Søgaard 2020); texts.

    Args:
        seed: of all that is random.
        epochs: passes over the training part at the most.
        rate: the size of a step.
        max_pieces: how many pieces of words of a text are read.
        patience: epochs without a lower validation loss after which training stops; epochs or more for all of them.
        weights: a folder in which Hugging Face saved a transformer and its tokenizer, such as BERT; or the two as a
            pair of objects, or a pipeline that has them; MiniLM if None.
    """
    return _transformer("transformer-mean", "mean", seed, epochs, rate, max_pieces, patience, weights)


@models.register("transformer-lstm")
def transformer_lstm(
    seed: int,
    *,
    epochs: int = 20,
    rate: float = 0.001,
    max_pieces: int = 256,
    patience: int = 3,
    weights: object = None,
) -> Recipe:
    """An LSTM over a frozen transformer's representations, then a hidden layer (Gonzalez & Søgaard 2020); texts.

    Args:
        seed: of all that is random.
        epochs: passes over the training part at the most.
        rate: the size of a step.
        max_pieces: how many pieces of words of a text are read.
        patience: epochs without a lower validation loss after which training stops; epochs or more for all of them.
        weights: a folder in which Hugging Face saved a transformer and its tokenizer, such as BERT; or the two as a
            pair of objects, or a pipeline that has them; MiniLM if None.
    """
    return _transformer("transformer-lstm", "lstm", seed, epochs, rate, max_pieces, patience, weights)


def _transformer(
    name: str,
    pooling: Literal["mean", "lstm"],
    seed: int,
    epochs: int,
    rate: float,
    max_pieces: int,
    patience: int,
    weights: object,
) -> Recipe:
    with _needs_torch(name):
        from verax.models.neural.loop import Schedule
        from verax.models.neural.recipe import Recipe
        from verax.models.neural.transformer import folder_of, transformer_into
    if max_pieces < 3:
        # Two are the marks at the beginning and the end.
        raise VeraxError(f"max_pieces={max_pieces} leaves no room for a word; give 3 or more.")
    if patience < 1:
        raise VeraxError(f"patience={patience} stops before the first epoch; give 1 or more.")
    schedule = Schedule(epochs=epochs, patience=patience, batch=32, optimizer="adam", rate=rate)
    return Recipe(name, "text", seed, schedule, transformer_into(pooling, max_pieces, folder_of(weights)))


@contextmanager
def _needs_torch(name: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise VeraxError(f"The model {name!r} needs torch; {install_command('neural')}.") from error
