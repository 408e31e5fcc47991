"""Finding things by name: ours by decorator, other people's by entry point or by ``package.module:Name``."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Generic, TypeVar

from verax.errors import VeraxError
from verax.foreign import check_foreign

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one sort (explainers, models, datasets), with errors that name the nearest match.

    Attributes:
        noun: what errors call one of them.
        group: the entry points under which other people's packages offer theirs.
        home: the package in which ours are. A new module in it is found without being named anywhere: when a name is
            asked for that nobody has registered yet, or all names, its modules that register something are imported.
    """

    def __init__(self, noun: str, group: str, home: str | None = None) -> None:
        self.noun = noun
        self.group = group
        self.home = home
        self._things: dict[str, T] = {}
        self._searched = home is None

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator: makes the decorated thing available as ``name``."""

        def add(thing: T) -> T:
            self._things[name] = thing
            return thing

        return add

    def get(self, name: str) -> T:
        """The thing called ``name``: registered, from an entry point, or imported from ``package.module:Name``."""
        if name in self._things:
            return self._things[name]
        if ":" in name:
            return self._imported(name)
        self._search_home()
        if name in self._things:
            return self._things[name]
        for point in entry_points(group=self.group):
            if point.name == name:
                thing: T = point.load()
                return thing
        near = difflib.get_close_matches(name, self.names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(self.names())}."
        raise VeraxError(f"There is no {self.noun} called {name!r}; {hint}")

    def module_of(self, name: str) -> str:
        """The module that holds what is called ``name``."""
        thing = self.get(name)
        # A name says where it is to be found; what is found there may be an object of another module's class.
        return name.partition(":")[0] if ":" in name else str(getattr(thing, "__module__", ""))

    def __contains__(self, name: str) -> bool:
        """Whether something is called so; installed packages are looked through only where no thing of ours is."""
        if name not in self._things:
            self._search_home()
        return name in self._things or any(point.name == name for point in entry_points(group=self.group))

    def names(self) -> list[str]:
        """All names, registered and from entry points, sorted."""
        self._search_home()
        return sorted({*self._things, *(point.name for point in entry_points(group=self.group))})

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _search_home(self) -> None:
        """Imports the modules of the home package that register something; the others may be heavy."""
        if self._searched or self.home is None:
            return
        for folder in map(Path, importlib.import_module(self.home).__path__):
            for path in sorted(folder.rglob("*.py")):
                if ".register(" in path.read_text(encoding="utf-8"):
                    parts = path.relative_to(folder).with_suffix("").parts
                    importlib.import_module(".".join([self.home, *parts]).removesuffix(".__init__"))
        self._searched = True

    def _imported(self, name: str) -> T:
        module_name, _, attribute = name.partition(":")
        check_foreign(name, self.noun)
        try:
            thing: T = getattr(importlib.import_module(module_name), attribute)
        except ImportError as error:
            raise VeraxError(
                f"The {self.noun} {name!r} cannot be imported ({error}); check that {module_name!r} is installed "
                "or lies in the current folder."
            ) from error
        except AttributeError as error:
            raise VeraxError(
                f"The module {module_name!r} has no {attribute!r}; check the spelling of {name!r}."
            ) from error
        return thing
