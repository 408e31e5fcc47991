"""What a benchmark is that comes as a package from outside: options, jobs, and what their outcomes say.

A subclass of `Benchmark` behind an entry point of the group "verax.benchmarks" gets the command ``verax bench NAME``,
``verax.bench("NAME")`` in Python, runs that resume, a report page, and its place in the joint report. docs/extending.md
makes one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel

from verax.errors import VeraxError
from verax.registry import Registry
from verax.results.figures import Figure
from verax.results.findings import Finding
from verax.results.tables import Table
from verax.results.verdict import Verdict
from verax.run.jobs import Job, Outcome

S = TypeVar("S", bound=BaseModel)


class Benchmark(ABC, Generic[S]):
    """A test of explainers without people; the first line of its docstring is what the command says of itself.

    Attributes:
        title: what readers call it, such as "Repetition".
        spec: its options, a frozen pydantic model; see `verax.benchmarks.spec_files.BenchmarkSpec`.
    """

    title: ClassVar[str]
    spec: ClassVar[type[BaseModel]]

    @abstractmethod
    def jobs(self, spec: S) -> Sequence[Job]:
        """What is to be done; jobs may not depend on each other.

        A job's arguments hold all that its outcome depends on, but for the code of the benchmark and of explainers and
        models that the spec names, and the content of its datasets: these are added to its key.
        """

    @abstractmethod
    def findings(self, spec: S, outcomes: Sequence[Outcome]) -> Sequence[Finding]:
        """What was found of each method.

        Source, name, title, dataset, model and key of a finding are filled in where they are empty.

        Args:
            spec: what was asked.
            outcomes: of the jobs, in their order; a failed one has no value and an error.
        """

    def verdict(self, spec: S, outcomes: Sequence[Outcome]) -> Verdict | None:  # noqa: ARG002
        """The first thing that the report says; by default made of the findings."""
        return None

    def tables(self, spec: S, outcomes: Sequence[Outcome]) -> Sequence[Table]:  # noqa: ARG002
        """Tables beside those of the findings."""
        return ()

    def figures(self, spec: S, outcomes: Sequence[Outcome]) -> Sequence[Figure]:  # noqa: ARG002
        """Figures beside those of the findings; one with the key of a table stands beside it."""
        return ()


benchmarks: Registry[type[Benchmark[BaseModel]]] = Registry("benchmark", "verax.benchmarks")


def benchmark_named(name: str) -> Benchmark[BaseModel]:
    """The benchmark of an installed package, or ``package.module:Class``.

    Raises:
        VeraxError: There is none, it cannot be imported, or it breaks the contract.
    """
    try:
        kind = benchmarks.get(name)
    except ImportError as error:
        raise VeraxError(
            f"The benchmark {name!r} cannot be imported ({error}); mend or remove its package."
        ) from error
    if not isinstance(kind, type) or not issubclass(kind, Benchmark):
        raise VeraxError(f"{name!r} is no benchmark; name a subclass of verax.benchmarks.contract.Benchmark.")
    lacking = [one for one in ("title", "spec") if not hasattr(kind, one)]
    if lacking or kind.__abstractmethods__:
        what = (*lacking, *sorted(kind.__abstractmethods__))[0]
        raise VeraxError(f"The benchmark {name!r} has no {what}; write it into the class {kind.__name__}.")
    return kind()
