"""Options of benchmarks are declared in their specs: the command line, Python, TOML files and the docs follow."""

from __future__ import annotations

import inspect
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal, get_type_hints

import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

import verax as library
from verax.benchmarks.atlas.spec import AtlasOptions, AtlasSpec
from verax.benchmarks.measures.spec import MeasuresOptions, MeasuresSpec
from verax.benchmarks.rationale.spec import RationaleOptions, RationaleSpec
from verax.benchmarks.staining.spec import Planting, StainOptions, StainRequest, StainSpec
from verax.benchmarks.students.spec import StudentsOptions, StudentsSpec
from verax.cli.options import options_table, with_spec_options
from verax.options import RunSpec, default_of, objects_of, options_of
from verax.studies.definition import options as asked
from verax.studies.planning.power import plan_power
from verax.web.serve import serve
from verax.workflows.analysis import analyze_study
from verax.workflows.options import ExplainSpec, JudgeOptions, JudgeSpec
from verax.workflows.spec_draft import SpecDraft
from verax.workflows.study import BuiltStudy, send_bots

ROOT = Path(__file__).parents[2]
BENCHMARKS = [
    (StainSpec, StainOptions, library.stain),
    (RationaleSpec, RationaleOptions, library.rationale),
    (MeasuresSpec, MeasuresOptions, library.bench_measures),
    (StudentsSpec, StudentsOptions, library.bench_students),
]
OTHERS = [
    ((AtlasSpec, RunSpec), AtlasOptions, library.atlas),
    ((JudgeSpec,), JudgeOptions, library.judge),
    ((asked.BuildSpec,), asked.BuildOptions, library.build_study),
    ((asked.PowerSpec,), asked.PowerOptions, plan_power),
    ((asked.ServeSpec,), asked.ServeOptions, serve),
    ((asked.ServeSpec,), asked.ServeOptions, BuiltStudy.serve),
    ((asked.BotsSpec,), asked.BotsOptions, send_bots),
    ((asked.BotsSpec,), asked.BotsOptions, BuiltStudy.bots),
    ((asked.ExportSpec,), asked.ExportOptions, BuiltStudy.export),
    ((asked.AnalyzeSpec,), asked.AnalyzeOptions, analyze_study),
    ((asked.AnalyzeSpec,), asked.AnalyzeOptions, BuiltStudy.analyze),
]
SPECS = [kind for kind, _, _ in BENCHMARKS] + [ExplainSpec, RunSpec, SpecDraft]
SPECS += [kind for kinds, _, _ in OTHERS for kind in kinds]
SHARED = {
    "--samples 30": {"samples": 30},
    "--inputs 4": {"inputs": 4},
    "--seed 5": {"seed": 5},
    "--split 60/10/30": {"split": "60/10/30"},
    "--limit 100": {"limit": 100},
    "--text-column review": {"text": "review"},
    "--label-column stars": {"label": "stars"},
    "--format lei-beer": {"format": "lei-beer"},
    "--part train": {"part": "train"},
    "-e lime,shap(samples=5,seed=1)": {"explainers": ["lime", "shap(samples=5,seed=1)"]},
    "--explainers lime": {"explainers": ["lime"]},
} | {
    f"{flag} a,b": {name: ["a", "b"]}
    for name, flags in {"datasets": "--dataset --datasets -d", "models": "--model --models -m"}.items()
    for flag in flags.split()
}
STAIN = SHARED | {
    "--stains 3": {"stains": 3},
    "--size 3": {"size": 3},
    "--rules 2": {"rules": 2},
    "--negated 1": {"negated": 1},
    "--at-least 2": {"at_least": 2},
    "--words counts": {"words": "counts"},
    "--min-share 0.2": {"min_share": 0.2},
    "--min-region 9": {"min_region": 9},
    "--min-flipped 7": {"min_flipped": 7},
    "--weight 3": {"weight": 3},
    "--weight auto": {"weight": "auto"},
    "--plant": {"plant": True},
    "--no-plant": {"plant": False},
    "--plant-share 0.3": {"plant_share": 0.3},
    "--decoy-share 0.1": {"decoy_share": 0.1},
    "--new-words": {"new_words": True},
    "--plant-column premise": {"plant_column": "premise"},
    "--learnt 0.9": {"learnt": 0.9},
}
RATIONALE = SHARED | {
    "--target-models 2": {"target_models": 2},
    "--difficulty hard,easy": {"difficulty": ["hard", "easy"]},
    "--share 0.2": {"share": 0.2},
    "--max-words 50": {"max_words": 50},
    "--epochs 2": {"epochs": 2},
    "--tau 0.2": {"tau": 0.2},
    "--subsets 0": {"subsets": 0},
    "--order signed": {"order": "signed"},
    "--ratings": {"ratings": True},
    "--no-ratings": {"ratings": False},
    "--show 3,0": {"show": [3, 0]},
}
MEASURES = SHARED | {
    "--measures deletion,sufficiency(k=3)": {"measures": ["deletion", "sufficiency(k=3)"]},
    "--reasons or,and": {"reasons": ["or", "and"]},
    "--stains 3": {"stains": 3},
    "--replaced": {"replaced": True},
    "--no-replaced": {"replaced": False},
    "--learnt 0.9": {"learnt": 0.9},
}
STUDENTS = SHARED | {
    "--inputs 40": {"inputs": 40},
    "--students tree,linear": {"students": ["tree", "linear"]},
    "--sizes 32,8": {"sizes": [8, 32]},
    "--reasons or": {"reasons": ["or"]},
    "--stains 3": {"stains": 3},
    "--draws 5": {"draws": 5},
    "--learnt 0.9": {"learnt": 0.9},
}
STUDENTS.pop("--inputs 4")  # too few to test students with


def command_of(kind):
    """A command with the options of a spec, and what it was given when it was called."""
    app, seen = typer.Typer(), []

    @app.command()
    @with_spec_options(kind)
    def command(*, given: dict[str, object], jobs: int = 1) -> None:
        seen.append((given, jobs))

    return app, seen


@pytest.mark.parametrize(
    ("kind", "typed", "asked"),
    [
        *((StainSpec, typed, asked) for typed, asked in STAIN.items()),
        *((RationaleSpec, typed, asked) for typed, asked in RATIONALE.items()),
        *((MeasuresSpec, typed, asked) for typed, asked in MEASURES.items()),
        *((StudentsSpec, typed, asked) for typed, asked in STUDENTS.items()),
    ],
)
def test_every_spelling_of_the_command_line_gives_its_option_and_no_other(kind, typed, asked):
    app, seen = command_of(kind)
    ended = CliRunner().invoke(app, [*typed.split(), "--jobs", "2"])
    assert ended.exit_code == 0, ended.output
    [(given, jobs)] = seen
    assert set(given) == set(asked)
    assert jobs == 2
    # The spec turns text into numbers where an option is either.
    fits = {"size": 4} | ({"words": "counts"} if "at_least" in asked else {}) if kind is StainSpec else {}
    assert kind(**fits | given).model_dump(include=set(asked)) == asked


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [(StainSpec, STAIN), (RationaleSpec, RATIONALE), (MeasuresSpec, MEASURES), (StudentsSpec, STUDENTS)],
)
def test_what_is_not_typed_is_not_given_and_every_option_can_be_typed(kind, spellings):
    app, seen = command_of(kind)
    assert CliRunner().invoke(app, []).exit_code == 0
    assert seen == [({}, 1)]
    assert {name for asked in spellings.values() for name in asked} == set(kind.model_fields)


@pytest.mark.parametrize(
    ("module", "spec", "function", "section", "command", "page", "needed"),
    [
        (
            "verax.benchmarks.staining.spec",
            "StainSpec",
            "verax.stain",
            "stain",
            "bench stain",
            "reference/options",
            "",
        ),
        (
            "verax.workflows.options",
            "JudgeSpec",
            "verax.judge",
            "",
            "judge",
            "reference/options",
            "logistic reviews.csv",
        ),
        (
            "verax.studies.definition.options",
            "AnalyzeSpec",
            "verax.workflows.analysis.analyze_study",
            "",
            "study analyze",
            "reference/options",
            "folder",
        ),
    ],
)
def test_a_made_up_option_is_one_line_in_the_spec(
    tmp_path, module, spec, function, section, command, page, needed
):
    (tmp_path / "asked.toml").write_text(f"[{section or 'other'}]\nmade_up = 9\n")
    program = f"""
import inspect, runpy
from pydantic import Field
import {module} as module

class More(module.{spec}):
    made_up: int = Field(default=7, ge=3, description="Of no use at all.")

module.{spec} = More
import verax, verax.workflows.study
from verax.benchmarks.spec_files import spec_options
from verax.cli.main import app
from verax.options import checked_spec

print(inspect.signature({function}).parameters["made_up"])
print("made_up: Of no use at all (3 or more)." in {function}.__doc__)
if {section!r}:
    print(checked_spec(More, spec_options("asked.toml", {section!r})).made_up, checked_spec(More, {{}}).made_up)
page = open({str(ROOT / "docs" / f"{page}.md")!r}, encoding="utf-8").read()
with_tables = runpy.run_path({str(ROOT / "scripts" / "options_tables.py")!r})["with_tables"]
print(*(line for line in with_tables(page).splitlines() if "made" in line and "up`" in line), sep="\\n")
for options in ({{"made_up": 2}}, {{"madeup": 2}}):
    try:
        {function}(*{needed.split()!r}, **options)
    except verax.VeraxError as error:
        print(error)
try:
    app({[*command.split(), *needed.split()]!r} + ["--made-up", "1"], standalone_mode=False)
except BaseException as error:
    print(type(error).__name__)
app({command.split()!r} + ["--help"])
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    expected = [
        "made_up: int = 7",
        "True",
        *(["9 7"] if section else []),
        "| `--made-up` | `made_up` | whole number, 3 or more | `7` | Of no use at all. |",
        "made_up must be at least 3, not 2.",
        "There is no option 'madeup'; did you mean 'made_up'?",
    ]
    assert lines[: len(expected)] == expected
    assert "made_up must be at least 3, not 1." in ended.stderr
    [shown] = [line for line in lines if "--made-up" in line and "│" in line]
    assert "Of no use at all (3 or more). [default: 7]" in " ".join(shown.split())


@pytest.mark.parametrize(("kind", "types", "function"), BENCHMARKS)
def test_the_keywords_of_python_and_their_types_are_those_of_the_spec(kind, types, function):
    declared = {
        one.name: one for one in (*options_of(kind), *options_of(RunSpec)) if one.name not in objects_of(kind)
    }
    assert get_type_hints(types) == {name: one.type for name, one in declared.items()}
    parameters = inspect.signature(function).parameters
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    for name, one in declared.items():
        assert (parameters[name].annotation, parameters[name].default) == (one.type, one.default)


@pytest.mark.parametrize(
    ("function", "keyword", "sentence"),
    [
        (library.stain, "min_fliped", "There is no option 'min_fliped'; did you mean 'min_flipped'?"),
        (library.stain, "job", "There is no option 'job'; did you mean 'jobs'?"),
        (library.stain, "datasets", "There is no option 'datasets'; did you mean 'dataset'?"),
        (
            library.rationale,
            "target_model",
            "There is no option 'target_model'; did you mean 'target_models'?",
        ),
    ],
)
def test_an_unknown_keyword_is_a_sentence_with_the_nearest_one(function, keyword, sentence):
    with pytest.raises(library.VeraxError) as raised:
        function(**{keyword: 1})
    assert str(raised.value) == sentence


def test_a_keyword_like_no_other_is_told_which_there_are():
    with pytest.raises(
        library.VeraxError, match=r"There is no option 'zzzz'; there are: dataset, models, .*, seed"
    ):
        library.stain(zzzz=1)


@pytest.mark.parametrize("kind", SPECS)
def test_every_option_says_what_it_means(kind):
    assert [one.name for one in options_of(kind) if not one.help.endswith((".", "?"))] == []


def test_ranges_in_words():
    class Made(BaseModel):
        both: int = Field(default=1, ge=1, le=4)
        open: float = Field(default=0.5, gt=0, lt=1)
        mixed: float | None = Field(default=None, gt=0, le=1)
        least: int | None = Field(default=None, ge=2)
        either: Annotated[int, Field(ge=1)] | Literal["auto"] = 1
        choice: Literal["a", "b"] = "a"
        some: list[Literal["a", "b"]] = Field(default=["a"], min_length=1)
        names: list[str] = Field(default=["a"], min_length=1)
        free: str = ""

    assert {one.name: one.allowed for one in options_of(Made)} == {
        "both": "1 to 4",
        "open": "above 0, below 1",
        "mixed": "above 0, at most 1",
        "least": "2 or more",
        "either": "1 or more, or auto",
        "choice": "a or b",
        "some": "any of a, b",
        "names": "",
        "free": "",
    }


def test_what_stains_are_like_without_a_spec_is_what_the_spec_says():
    spec = StainSpec()
    assert spec.request() == StainRequest()
    assert StainSpec(plant=True).planting() == Planting()
    assert default_of(StainSpec, "min_flipped") == spec.min_flipped


def test_the_tables_in_the_docs_are_what_the_specs_say():
    with_tables = runpy.run_path(str(ROOT / "scripts" / "options_tables.py"))["with_tables"]
    for page, kinds in (
        ("reference/options", (StainSpec, RunSpec)),
        ("reference/options", (RationaleSpec, RunSpec)),
        ("reference/options", (MeasuresSpec, RunSpec)),
        ("reference/options", (StudentsSpec, RunSpec)),
        ("reference/options", (AtlasSpec, RunSpec)),
        ("reference/options", (JudgeSpec,)),
        ("reference/options", (ExplainSpec,)),
        ("reference/options", (asked.BotsSpec,)),
        ("reference/options", (asked.PowerSpec,)),
        ("reference/options", (asked.AnalyzeSpec,)),
        ("reference/options", (asked.ExportSpec,)),
        ("reference/options", (asked.ServeSpec,)),
    ):
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        assert options_table(*kinds) in text, "run scripts/options_tables.py"
        assert with_tables(text) == text
