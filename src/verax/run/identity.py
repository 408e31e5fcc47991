"""What an object is, as a hash: its class, its parameters, and the code of its own that it runs.

A job's key must hold everything that its outcome depends on. Of a named thing that is the name and the parameters; of
an object from a notebook it is also the code of its class, and of the functions that this code calls. Code is
compared as Python compiled it: comments and line numbers make no difference, and it can be had in a notebook too.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

from verax.run.sources import code_of, is_installed

# Their values are hashed by their content.
ARRAYS = ("numpy", "pandas", "scipy")


class _Plain:
    """As large as every object whose whole content is its `__dict__`; one with content in C is larger."""


class _UnknownError(Exception):
    """Something inside an object whose content cannot be told."""


def identity(thing: object) -> str | None:
    """A hash of all that an object's behaviour depends on; None where that cannot be known."""
    try:
        return hashlib.sha256(_Description().of(thing).encode()).hexdigest()
    except (_UnknownError, RecursionError):
        return None


class _Description:
    """Objects in words; one that was met before is named by its number, so that circles end."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, object]] = {}  # the object too, or another one could get its id

    def of(self, thing: object) -> str:
        if thing is None or isinstance(thing, bool | int | float | complex | str | bytes | Path):
            return repr(thing)
        if id(thing) in self._met:
            return f"#{self._met[id(thing)][0]}"
        self._met[id(thing)] = len(self._met), thing
        if isinstance(thing, list | tuple):
            return f"{type(thing).__name__}[{', '.join(self.of(item) for item in thing)}]"
        if isinstance(thing, set | frozenset):
            return f"{type(thing).__name__}{sorted(_Description().of(item) for item in thing)}"
        if isinstance(thing, Mapping):
            pairs = sorted(thing.items(), key=lambda pair: repr(pair[0]))
            return f"{{{', '.join(f'{self.of(key)}: {self.of(value)}' for key, value in pairs)}}}"
        if isinstance(thing, ModuleType):
            return _installed(thing.__name__) if is_installed(thing.__name__) else self._module(thing)
        if isinstance(thing, type):
            return self._class(thing)
        return self._callable(thing) or self._content(thing) or self._instance(thing)

    def _callable(self, thing: object) -> str:
        if isinstance(thing, staticmethod | classmethod | MethodType):
            holder = getattr(thing, "__self__", None)
            return f"{self.of(thing.__func__)} of {self.of(holder)}"
        if isinstance(thing, property | functools.cached_property):
            parts = (getattr(thing, name, None) for name in ("fget", "fset", "fdel", "func"))
            return f"property({', '.join(self.of(part) for part in parts)})"
        if isinstance(thing, functools.partial):
            return f"partial({self.of(thing.func)}, {self.of(thing.args)}, {self.of(thing.keywords)})"
        name, module = getattr(thing, "__qualname__", None), getattr(thing, "__module__", None)
        if name and (isinstance(thing, BuiltinFunctionType) or is_installed(module)):
            return f"{_installed(module)}.{name}"
        if hasattr(thing, "__wrapped__"):  # such as a function with a cache
            return f"{type(thing).__qualname__}({self.of(thing.__wrapped__)})"
        return self._function(thing) if isinstance(thing, FunctionType) else ""

    def _function(self, function: FunctionType) -> str:
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        # What a global name means to it; the name itself if it is built in, or not there yet.
        named = {name: function.__globals__.get(name, name) for name in _globals_of(function.__code__)}
        given = [function.__defaults__, function.__kwdefaults__, held, named]
        return f"def({_code(function.__code__)}, {self.of(given)})"

    def _class(self, kind: type) -> str:
        if is_installed(kind.__module__):
            return f"{_installed(kind.__module__)}.{kind.__qualname__}"
        inside = {
            name: value
            for name, value in vars(kind).items()
            # What Python itself writes into a class is not described: it follows from the rest.
            if isinstance(value, FunctionType) or not name.startswith(("__", "_abc_"))
        }
        return f"class {kind.__qualname__}({self.of(list(kind.__bases__))}, {self.of(inside)})"

    def _module(self, module: ModuleType) -> str:
        code = code_of(module.__name__)
        if code is None:
            raise _UnknownError
        return f"{module.__name__} {code}"

    def _content(self, thing: object) -> str:
        if type(thing).__module__.partition(".")[0] not in ARRAYS:
            return ""
        import joblib

        try:
            return f"{type(thing).__qualname__} {joblib.hash(thing)}"
        except Exception as error:  # whatever pickling something may raise
            raise _UnknownError from error

    def _instance(self, thing: object) -> str:
        get_params = getattr(thing, "get_params", None)
        if callable(get_params):  # of scikit-learn: its parameters, not what an earlier fit left
            return f"{self.of(type(thing))}({self.of(get_params(deep=False))})"
        if dataclasses.is_dataclass(thing):
            state = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
        elif hasattr(thing, "__dict__") and type(thing).__basicsize__ == _Plain.__basicsize__:
            state = vars(thing)
        else:
            raise _UnknownError
        return f"{self.of(type(thing))}({self.of(state)})"


def _globals_of(code: CodeType) -> Iterator[str]:
    """The global names that code reads, that of functions inside it too."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)


def _code(code: CodeType) -> str:
    """What code does, without where it stands."""
    constants = [_constant(constant) for constant in code.co_consts]
    return repr((code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_flags))


def _constant(constant: object) -> str:
    if isinstance(constant, CodeType):
        return _code(constant)
    # A set is printed in another order in each process.
    return str(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)


def _installed(module: str | None) -> str:
    """A module with the version of its package, where that has one."""
    name = module or "builtins"
    version = getattr(sys.modules.get(name.partition(".")[0]), "__version__", "")
    return f"{name} {version}" if version else name
