"""From a spec to jobs, in two steps: the targets, and then the explanations of the inputs that they leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from verax.benchmarks.planning import NO_OBJECTS, Method, Objects, own_code, sources_of, with_floor
from verax.benchmarks.rationale import explaining, target
from verax.benchmarks.rationale.spec import Difficulty, RationaleSpec
from verax.benchmarks.rationale.target import TargetResult, load_texts, mean_selected, reference_of
from verax.errors import VeraxError
from verax.explain import explainers
from verax.models.ready import parse_model
from verax.models.resolve import is_saved, model_files
from verax.run.identity import is_reference
from verax.run.jobs import Job, named_files

CEILING = "oracle"
TRAINED = "rationale"
# Inputs of one job.
CHUNK = 50
# What an explainer may call the number of words that it chooses, if it must be told.
NUMBERS_OF_WORDS = ("k", "words")
SELECTS = "l2x"
# What makes a target easy or hard to explain: see `verax.models.neural.rationale_training.Ties`.
TRAINING: Mapping[Difficulty, Mapping[str, object]] = {
    "easy": {"stability": 0.5},
    "hard": {"stability": 0.1, "deletions": "all"},
    # Lei et al.'s costs of a selection's edges, and no tie: the paper prunes handshakes and does nothing against them.
    "published": {"stability": 0.0, "coherence": 6e-4},
}

# Options of a model that say themselves what a difficulty would say.
TIES = {"stability", "deletions"}


@dataclass(frozen=True)
class Target:
    """A planned target.

    Attributes:
        dataset: by name.
        label: what to call it among the targets of its dataset.
        difficulty: of the test that it makes, or the model as it was written where its options decide that; None for
            one that was there already.
        seed: of its training.
        job: that trains and prunes.
    """

    dataset: str
    label: str
    difficulty: str | None
    seed: int
    job: Job


@dataclass(frozen=True)
class Piece:
    """The explanations of some inputs of one target by one explainer."""

    target: Target
    explainer: str
    places: tuple[int, ...]
    job: Job


@dataclass(frozen=True)
class Plan:
    """Everything that a run will do first, and what the second step needs.

    Attributes:
        spec: what was asked.
        methods: label, name and parameters of each explainer, ``random`` among them.
        hashes: the content hash of each dataset, its texts cut.
        sources: what each dataset is loaded by.
        targets: in order.
        objects: what the jobs refer to, by reference.
    """

    spec: RationaleSpec
    methods: tuple[Method, ...]
    hashes: Mapping[str, str]
    sources: Mapping[str, Mapping[str, object]]
    targets: tuple[Target, ...]
    objects: Mapping[str, object]

    @property
    def explainers(self) -> tuple[str, ...]:
        """Labels in order, the floor and the ceiling last."""
        return (*(label for label, _, _ in self.methods), CEILING)

    def code(self) -> dict[str, str]:
        """Hashes of code and files of somebody's own that targets and explanations depend on, by their names."""
        of_targets = [target.job.arguments["files"] for target in self.targets]
        return reduce(or_, of_targets, own_code(self.methods))

    def claims(self) -> dict[str, str]:
        """What each explainer's scores claim, by label."""
        return {label: claim_of(name) for label, name, _ in self.methods} | {CEILING: "selective"}


def make_plan(spec: RationaleSpec, methods: Sequence[Method], objects: Objects = NO_OBJECTS) -> Plan:
    """Plans a run; the datasets are loaded, so that what is wrong with them is told before anything is trained.

    Args:
        spec: what is asked.
        methods: label, name (or reference) and parameters of each explainer, already known to be right.
        objects: what of the rest is no name; they must be at hand, see `verax.run.identity`.
    """
    known = with_floor(methods, spec.seed)
    sources = sources_of(spec, objects)
    hashes = {name: load_texts(source, spec.max_words).hash for name, source in sources.items()}
    targets = [
        planned
        for name in spec.datasets
        for planned in _targets(spec, name, sources[name], hashes[name], objects)
    ]
    return Plan(spec, tuple(known), hashes, sources, tuple(targets), objects.things)


def _targets(
    spec: RationaleSpec, dataset: str, source: Mapping[str, object], data_hash: str, objects: Objects
) -> Iterator[Target]:
    """The targets of one dataset: those to train, of each difficulty, and those that are there."""
    shared: dict[str, object] = {
        "source": dict(source),
        "data_hash": data_hash,
        "max_words": spec.max_words,
        "tau": spec.tau,
        "subsets": spec.subsets,
        "inputs": spec.inputs,
        "seed": spec.seed,
    }
    function = f"{target.__name__}:target"
    for model in spec.models:
        name = objects.models.get(model, model)
        shared["files"] = {} if is_reference(name) else named_files(model_files(name))
        if is_reference(name) or parse_model(name).name != TRAINED:
            _check_model(name)
            arguments = {**shared, "model": name, "options": {}, "model_seed": 0}
            job = Job(f"{dataset}, target {model}", function, arguments, target.VERSION)
            yield Target(dataset, model, None, 0, job)
            continue
        for group, options in _trainings(spec, model, name):
            for number in range(spec.target_models):
                seed = spec.seed + number
                arguments = {**shared, "model": TRAINED, "options": options, "model_seed": seed}
                label = f"{group}, seed {seed}"
                job = Job(f"{dataset}, target: {label}", function, arguments, target.VERSION)
                yield Target(dataset, label, group, seed, job)


def _trainings(spec: RationaleSpec, model: str, name: str) -> Iterator[tuple[str, dict[str, object]]]:
    """What targets of one model are called together, and their options: one set for each difficulty.

    A model whose own options say what a difficulty would say is trained once, and called by its name.
    """
    own = dict(parse_model(name).options)
    if own.keys() & TIES:
        yield model, training_options(spec, None) | own
        return
    for difficulty in spec.difficulty:
        group = difficulty if len(spec.models) == 1 else f"{model}, {difficulty}"
        yield group, training_options(spec, difficulty) | own


def training_options(spec: RationaleSpec, difficulty: Difficulty | None) -> dict[str, object]:
    """The options of the rationale model that a spec asks for; without those of a difficulty if None."""
    options: dict[str, object] = {
        **(TRAINING[difficulty] if difficulty else {}),
        "max_words": spec.max_words,
        "share": spec.share,
        "epochs": spec.epochs,
    }
    return {name: value for name, value in options.items() if value is not None}


def _check_model(name: str) -> None:
    if is_reference(name):
        return
    if not is_saved(name) or name.endswith((".joblib", ".pkl", ".pickle")):
        raise VeraxError(
            f"{name!r} is no target model; give 'rationale', which is trained, or the folder of a rationale model that "
            "verax.save_model wrote."
        )


def pieces(plan: Plan, results: Mapping[str, TargetResult]) -> list[Piece]:
    """The second step: every explainer on the inputs of every target that can serve, some at a time.

    Args:
        plan: the first step.
        results: of the targets, by the keys of their jobs; those that failed are not there.
    """
    made = []
    for planned in plan.targets:
        result = results.get(planned.job.key)
        if result is None:
            continue
        places = [each.place for each in result.explained]
        for label, name, parameters in plan.methods:
            code = own_code([(label, name, parameters)])
            told = dict(parameters) | words_to_choose(name, parameters, result)
            for first in range(0, len(places), CHUNK):
                some = places[first : first + CHUNK]
                arguments = {
                    "source": dict(plan.sources[planned.dataset]),
                    "data_hash": plan.hashes[planned.dataset],
                    "max_words": plan.spec.max_words,
                    "model": reference_of(result),
                    "places": some,
                    "method": [label, name, told],
                    **({"code": code} if code else {}),
                }
                name_shown = (
                    f"{planned.dataset}, {planned.label}, {label}, inputs {first + 1} to {first + len(some)}"
                )
                job = Job(name_shown, f"{explaining.__name__}:explain", arguments, explaining.VERSION)
                made.append(Piece(planned, label, tuple(some), job))
    return made


def words_to_choose(name: str, parameters: Mapping[str, object], result: TargetResult) -> dict[str, object]:
    """How many words a method that must be told chooses: the mean size of the target's selections, if not said."""
    if name != SELECTS:
        return {}
    fields = getattr(explainers.get(name), "__dataclass_fields__", {})
    unsaid = [field for field in NUMBERS_OF_WORDS if field in fields and field not in parameters]
    return {unsaid[0]: mean_selected(result.explained)} if unsaid else {}


def claim_of(name: str) -> str:
    """What the scores of an explainer claim, by its own declaration."""
    if is_reference(name):
        from verax.run.identity import fetch

        return str(getattr(fetch(name), "claim", "undeclared"))
    return str(getattr(explainers.get(name), "claim", "undeclared"))
