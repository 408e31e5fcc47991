"""Finding things by name: ours by decorator, other people's by entry point or by ``package.module:Name``."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from verax.errors import VeraxError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one sort (explainers, models, datasets), with errors that name the nearest match."""

    def __init__(self, noun: str, group: str) -> None:
        self.noun = noun
        self.group = group
        self._things: dict[str, T] = {}

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
        for point in entry_points(group=self.group):
            if point.name == name:
                thing: T = point.load()
                return thing
        near = difflib.get_close_matches(name, self.names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(self.names())}."
        raise VeraxError(f"There is no {self.noun} called {name!r}; {hint}")

    def names(self) -> list[str]:
        """All names, registered and from entry points, sorted."""
        return sorted({*self._things, *(point.name for point in entry_points(group=self.group))})

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _imported(self, name: str) -> T:
        module_name, _, attribute = name.partition(":")
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
