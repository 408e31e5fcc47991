"""From a spec to the list of jobs, and the places of their outcomes in the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from verax.benchmarks.planning import (
    NO_OBJECTS,
    Method,
    Objects,
    check_models,
    model_arguments,
    own_code,
    plain_methods,
    sources_of,
    with_floor,
)
from verax.benchmarks.staining import choosing, jobs, training
from verax.benchmarks.staining.choosing import ChosenPlanting
from verax.benchmarks.staining.planting import plant, plantable_words
from verax.benchmarks.staining.spec import StainSpec
from verax.benchmarks.staining.stainable import Facts, Stainable, facts_of, load_source, make_stainable
from verax.data import Dataset
from verax.models.llm.planted import told_where
from verax.models.resolve import is_saved
from verax.phrases import say
from verax.run.jobs import Job


@dataclass(frozen=True)
class Trial:
    """One stain of one dataset with one model."""

    dataset: str
    model: str
    stain: int
    job: Job


@dataclass(frozen=True)
class Plan:
    """Everything that a run will do.

    Attributes:
        spec: what was asked.
        explainers: labels in order, ``random`` among them.
        hashes: the content hash of each dataset.
        twins: the job of the unstained model of each (dataset, model).
        trials: the stained ones.
        sources: what each dataset is loaded by.
        objects: what the jobs refer to, by reference.
        code: hashes of code and files of somebody's own that the jobs depend on, by their names.
        correlated: per dataset, the words and columns that no model sees because they are copies of another one.
        facts: per dataset, what the paper's Table 2 says of one.
        room: per dataset, how many stains it has room for, in a sentence.
        choosing: per dataset, the job that finds out how stains are planted, where that is not told.
        chosen: per dataset, what it found.
    """

    spec: StainSpec
    explainers: tuple[str, ...]
    hashes: Mapping[str, str]
    twins: Mapping[tuple[str, str], Job]
    trials: tuple[Trial, ...]
    sources: Mapping[str, Mapping[str, object]]
    objects: Mapping[str, object]
    code: Mapping[str, str]
    correlated: Mapping[str, Sequence[tuple[str, str]]]
    facts: Mapping[str, Facts]
    room: Mapping[str, str]
    choosing: Mapping[str, Job] = field(default_factory=dict)
    chosen: Mapping[str, ChosenPlanting] = field(default_factory=dict)

    @property
    def jobs(self) -> list[Job]:
        """All jobs: stain by stain, so that a run that is stopped early has whole stains."""
        return [*self.twins.values(), *(trial.job for trial in self.trials)]

    def planted(self, chosen: Mapping[str, ChosenPlanting]) -> Plan:
        """The same with trials that plant their stains as was found."""
        trials = []
        for trial in self.trials:
            arguments = {**trial.job.arguments, "planting": asdict(chosen[trial.dataset].planting)}
            trials.append(replace(trial, job=replace(trial.job, arguments=arguments)))
        return replace(self, trials=tuple(trials), chosen=dict(chosen))


def make_plan(spec: StainSpec, explainers: Sequence[Method], objects: Objects = NO_OBJECTS) -> Plan:
    """Plans a run; the datasets are loaded, so that what is wrong with them is told before anything is fitted.

    Args:
        spec: what is asked.
        explainers: label, name (or reference) and parameters of each, already known to be right.
        objects: what of the rest is no name; they must be at hand, see `verax.run.identity`.
    """
    for name in spec.models:
        if name not in objects.models and not is_saved(name):
            told_where(name)
    check_models(spec, objects, endpoints=True)
    methods = with_floor(explainers, spec.seed)
    sources = sources_of(spec, objects)
    code = own_code(methods)
    planting = spec.planting()
    of_models = {name: model_arguments(name, objects) for name in spec.models}
    stainable = {
        name: make_stainable(source, spec.words, spec.min_share, spec.at_least)
        for name, source in sources.items()
    }
    twins: dict[tuple[str, str], Job] = {}
    trials: list[Trial] = []
    searches: dict[str, Job] = {}
    for dataset, data in stainable.items():
        _first_stain(spec, sources[dataset], data)
        shared: dict[str, object] = {
            "source": sources[dataset],
            "words": spec.words,
            "data_hash": data.dataset.hash,
        }
        quick = {
            name: told
            for name, told in of_models.items()
            if name in objects.models or not training.is_slow(name)
        }
        if planting is not None and spec.searches and quick:
            asked = {
                **shared,
                "request": asdict(spec.request()),
                "at_least": spec.at_least,
                "models": quick,
                "first": asdict(planting),
                "stains": spec.stains,
                "learnt": spec.learnt,
                "seed": spec.seed,
            }
            name = f"{dataset}, how stains are planted"
            searches[dataset] = Job(name, f"{choosing.__name__}:choose", asked, choosing.VERSION)
        for model in spec.models:
            arguments = {
                **shared,
                **of_models[model],
                "seed": spec.seed,
                "min_share": spec.min_share,
                "at_least": spec.at_least,
            }
            name = f"{dataset}, {model}, unstained"
            twins[dataset, model] = _job(name, "twin", arguments)
        for stain in range(spec.stains):
            for model in spec.models:
                arguments = {
                    **shared,
                    "request": asdict(spec.request()),
                    "at_least": spec.at_least,
                    "stain_seed": spec.seed + stain,
                    "weight": spec.weight,
                    **of_models[model],
                    **({"explainer_code": code} if code else {}),
                    **({"planting": asdict(planting)} if planting else {}),
                    "explainers": plain_methods(methods),
                    "inputs": spec.inputs,
                    "learnt": spec.learnt,
                    "seed": spec.seed + stain,
                }
                job = _job(f"{dataset}, stain {stain}, {model}", "trial", arguments)
                trials.append(Trial(dataset, model, stain, job))
    return Plan(
        spec=spec,
        explainers=tuple(label for label, _, _ in methods),
        hashes={name: data.dataset.hash for name, data in stainable.items()},
        twins=twins,
        trials=tuple(trials),
        sources=sources,
        objects=objects.things,
        code=_together(code, of_models),
        correlated={name: data.copies for name, data in stainable.items()},
        facts={
            name: facts_of(data, spec.min_share, spec.at_least, _whole(sources[name]))
            for name, data in stainable.items()
        },
        room={name: _capacity(spec, data) for name, data in stainable.items()},
        choosing=searches,
    )


def _whole(source: Mapping[str, Any]) -> Dataset | None:
    """The dataset as it was split, if another part is explained in the place of its test part."""
    return load_source(**{**source, "part": "test"}) if "part" in source else None


def _together(code: Mapping[str, str], of_models: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """All code and files that jobs depend on, for the manifest."""
    together = dict(code)
    for model in of_models.values():
        files = model.get("model_files", {})
        assert isinstance(files, Mapping)
        together |= files
    return together


def _job(name: str, function: str, arguments: dict[str, object]) -> Job:
    return Job(name, f"{jobs.__name__}:{function}", arguments, jobs.VERSION)


def _first_stain(spec: StainSpec, source: Mapping[str, object], data: Stainable) -> None:
    """Makes the first stain, to fail now and not in every job if none can be had."""
    planting = spec.planting()
    if planting is None:
        jobs.stain_of(data, spec.request(), spec.at_least, spec.seed)
    elif not spec.searches:
        plant(source, spec.words, spec.request(), planting, spec.at_least, spec.seed)


def _capacity(spec: StainSpec, data: Stainable) -> str:
    """How many stains a dataset has room for, in a sentence, and what to do if that is too few."""
    name = data.dataset.name
    if spec.plant:
        rare = len(plantable_words(data)) if data.bins is None and not spec.new_words else 0
        if rare < spec.size:
            return say("staining", "room-planted", dataset=name)
        return say("staining", "room-rare-words", dataset=name, rare=rare, stains=rare // spec.size)
    found = jobs.capacity_of(data, spec.request(), spec.at_least, spec.seed)
    return say(
        "staining",
        "room",
        dataset=name,
        features=found.features,
        table=data.bins is not None,
        share=f"{spec.min_share:.0%}",
        exact=found.counted,
        stains=found.stains,
        size=spec.size,
        asked=spec.stains if found.stains < spec.stains else 0,
    )
