"""What can be asked of a study once there is a spec: the options of its commands and of its functions in Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypedDict

from pydantic import Field

from verax.options import Spec

Estimator = Literal["crossed", "hase2020", "both"]
Pace = Literal["simulated", "human", "fast"]
FileFormat = Literal["csv", "jsonl", "parquet"]


class BuildSpec(Spec):
    """How a study is built."""

    jobs: int = Field(default=1, ge=1, description="Processes on this machine.")
    force: bool = Field(
        default=False, description="Build again, or in place of another study that nobody answered."
    )


class BuildOptions(TypedDict, total=False):
    """The types of `BuildSpec` for editors and type checkers; a test compares the two."""

    jobs: int
    force: bool


class PreviewSpec(Spec):
    """Where the pages of a study are."""

    port: int = Field(
        default=8000, ge=0, le=65535, description="Where the pages are served; 0 for any free port."
    )
    host: str = Field(
        default="127.0.0.1", description="127.0.0.1 for this machine only, 0.0.0.0 for everybody."
    )


class DatabaseSpec(Spec):
    """Where the answers of a study are."""

    database: str | None = Field(
        default=None,
        description="The URL of the answers' database; a SQLite file in the study's folder by default.",
    )


class ServeSpec(PreviewSpec, DatabaseSpec):
    """How a study is served to participants."""

    workers: int = Field(default=1, ge=1, description="Processes that serve pages.")
    proxy: str = Field(
        default="", description="Addresses of reverse proxies that say who asks, with commas between."
    )
    host_name: str = Field(
        default="", description="Names under which it is served, with commas between; any by default."
    )
    title: str = Field(
        default="", description="Of the first page of several studies; the first one's title by default."
    )


class ServeOptions(TypedDict, total=False):
    """The types of `ServeSpec` for editors and type checkers; a test compares the two."""

    port: int
    host: str
    database: str | None
    workers: int
    proxy: str
    host_name: str
    title: str


class BotsSpec(DatabaseSpec):
    """Who goes through a study's pages in the place of people, and how."""

    objects: ClassVar[tuple[str, ...]] = ("n", "profile")

    n: int = Field(default=40, ge=1, description="How many.")
    profile: str = Field(
        default="helped", description="Who they are: one profile, or several with their shares."
    )
    url: str | None = Field(
        default=None,
        description="Where the study is served, with the same database; if it is not given, it is served here on a "
        "free port.",
    )
    concurrent: int = Field(default=10, ge=1, description="How many are at it at once.")
    seed: int = Field(default=0, description="Of all that they decide: the same seed, the same answers.")
    pace: Pace = Field(
        default="simulated",
        description="Simulated does not wait, and its clock runs as if people had looked at each page; human waits as "
        "long as people do; fast answers in no time.",
    )
    patience: float = Field(
        default=60.0,
        ge=0,
        description="For how many seconds they try again where no answer comes, as while a server is restarted.",
    )
    language_model: str | None = Field(
        default=None,
        description="A language model that takes part in place of profiles: smollm2, the folder of a model, or "
        "openai:MODEL for one behind an endpoint. It reads the pages and nothing else.",
    )
    base_url: str | None = Field(
        default=None, description="The address of the endpoint, as in http://localhost:8000/v1."
    )
    persona: str = Field(default="", description="What the language model is told to be.")
    temperature: float = Field(
        default=0.0, ge=0, description="Of the language model's answers; 0 gives the likeliest."
    )
    reading: int = Field(
        default=2000,
        ge=200,
        description="Characters that the language model has before it, the last pages first.",
    )
    pass_screening: bool = Field(
        default=False,
        description="Tell the language model the right answers to the screening test; marked so.",
    )
    transcripts: str | Path | None = Field(
        default=None,
        description="The folder for what the language model read and said; transcripts in the study's folder by "
        "default.",
    )


class BotsOptions(TypedDict, total=False):
    """The types of `BotsSpec` for editors and type checkers; a test compares the two."""

    database: str | None
    url: str | None
    concurrent: int
    seed: int
    pace: Pace
    patience: float
    language_model: str | None
    base_url: str | None
    persona: str
    temperature: float
    reading: int
    pass_screening: bool
    transcripts: str | Path | None


class PowerSpec(Spec):
    """Which effect a planned study shall find, and what people are taken to be like."""

    effect: float = Field(
        default=10.0,
        description="The effect to find, in points; of the graded tasks in hundredths of the score.",
    )
    participants: Sequence[Annotated[int, Field(ge=1)]] = Field(
        default=(5, 10, 20, 40),
        description="Sizes to try beside the spec's own: people for each row of the design.",
    )
    items: Sequence[Annotated[int, Field(ge=1)]] = Field(
        default=(),
        description="Numbers of items to try beside the spec's: its protocol's test, or evaluation (of one session).",
    )
    power: float = Field(default=0.8, gt=0, lt=1, description="The share of studies that shall find it.")
    between_people: float | None = Field(
        default=None,
        ge=0,
        description="How much people differ: the standard deviation of their log-odds; that of the calibration if not "
        "given.",
    )
    between_items: float | None = Field(
        default=None, ge=0, description="How much items differ: the same of items."
    )
    accuracy: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Right answers without explanations, as a share; the protocol's own if not given.",
    )
    studies: int = Field(default=400, ge=1, description="Simulated studies for each size.")
    seed: int = Field(default=0, description="Of the simulation.")


class PowerOptions(TypedDict, total=False):
    """The types of `PowerSpec` for editors and type checkers; a test compares the two."""

    effect: float
    participants: Sequence[int]
    items: Sequence[int]
    power: float
    between_people: float | None
    between_items: float | None
    accuracy: float | None
    studies: int
    seed: int


class ExportSpec(DatabaseSpec):
    """What of the answers goes into an export."""

    file_formats: Sequence[FileFormat] = Field(
        default=("csv",), min_length=1, description="The sorts of files that are written."
    )
    identifying: bool = Field(
        default=False, description="With times of day, completion codes and hashes of persons."
    )
    free_text: bool = Field(default=False, description="With what people wrote in their own words.")


class ExportOptions(TypedDict, total=False):
    """The types of `ExportSpec` for editors and type checkers; a test compares the two."""

    database: str | None
    file_formats: Sequence[FileFormat]
    identifying: bool
    free_text: bool


class AnalyzeSpec(DatabaseSpec):
    """How the answers of a study are analysed."""

    export: str | Path | None = Field(
        default=None, description="Analyse this export of the study, not its database."
    )
    together: Sequence[str | Path] = Field(
        default=(),
        description="A further forward or counterfactual study with the same conditions; adds the tables of Hase and "
        "Bansal (2020) over all of them. Or a further reverse-turing study, of another task: adds Table 1 of Gonzalez "
        "and Sogaard (2020). Or further studies of the three tasks with graded answers: adds Table 4 of "
        "Lertvittayakumjorn and Toni (2019).",
    )
    bots: bool = Field(default=False, description="Analyse the bots; they are never mixed with people.")
    out: str | Path | None = Field(
        default=None, description="Where the report goes; DIR/analysis (DIR/analysis-bots) by default."
    )
    replicates: int | None = Field(
        default=None,
        ge=100,
        description="Replicates of each bootstrap. By default 5,000, and for published tables what was published: "
        "25,000 for Change, 10,000 for means, 15,000 for the regression on ratings.",
    )
    estimator: Estimator = Field(
        default="both",
        description="Whose tables of Change are reported: crossed, with its cross-check; hase2020, the published "
        "procedure; or both. The primary analysis is always by crossed.",
    )
    mend: Sequence[str] = Field(
        default=(),
        description="Defects of the published procedure to mend: across_methods, shared_names, items_as_participants, "
        "drop_singular.",
    )
    methods_only: bool = Field(
        default=False,
        description="The tables as published count people who saw a method's explanations alone: conditions that the "
        "paper had not, such as none, are left out of 'User Avg.' and of the fit of Pre too.",
    )
    seed: int = Field(default=0, ge=0, description="Of the resampling.")
    strategies: str | Path | None = Field(
        default=None,
        description="A CSV file for what people wrote of how they found their answers in reverse-turing studies, with "
        "a column to code it: fill it in and analyse again, and the codes are counted by task and condition.",
    )
    session_term: bool = Field(
        default=False,
        description="Where everybody meets every condition: account for the session in which it was met.",
    )
    refuse_unequal: bool = Field(
        default=False,
        description="Where everybody meets every condition: analyse nothing if rows of the design are filled "
        "unequally.",
    )


class AnalyzeOptions(TypedDict, total=False):
    """The types of `AnalyzeSpec` for editors and type checkers; a test compares the two."""

    database: str | None
    export: str | Path | None
    together: Sequence[str | Path]
    bots: bool
    out: str | Path | None
    replicates: int | None
    estimator: Estimator
    mend: Sequence[str]
    methods_only: bool
    seed: int
    strategies: str | Path | None
    session_term: bool
    refuse_unequal: bool
