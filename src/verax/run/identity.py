"""What objects and code are, as hashes, so that jobs can name what they are about and find it where they run.

The code behind a name, as a hash: its module's source and that of the modules it imports from the same project.

A job's key holds everything that its outcome depends on. Of a name that is the code that it stands for. Installed
packages are known by their versions; a project that is being worked on is known by what its files say now. Files are
compared as Python reads them: comments, empty lines and the length of lines make no difference.

What an object is, as a hash: its class, its parameters, and the code of its own that it runs.

A job's key must hold everything that its outcome depends on. Of a named thing that is the name and the parameters; of
an object from a notebook it is also the code of its class, and of the functions that this code calls. Code is
compared as Python compiled it: comments and line numbers make no difference, and it can be had in a notebook too.

Objects that jobs are about: a job names them by what they are, and finds them where it runs.

The arguments of a job are plain JSON. In place of an object they hold its reference, "object:" and a hash; `fetch`
gives the object in the process that was given it, and in the worker processes that it was sent to.
"""

from __future__ import annotations

import ast
import dataclasses
import dis
import functools
import hashlib
import importlib.util
import logging
import pickle
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

from verax.errors import VeraxError

# Code that lies there is somebody's release: its name and version say what it is.
INSTALLED = ("site-packages", "dist-packages")
logger = logging.getLogger(__name__)


def code_of(module: str) -> str | None:
    """A hash of the code that a module of somebody's own runs; "" for Verax's; None where it cannot be known.

    Args:
        module: its name; it must have been imported, or be importable.
    """
    top = module.partition(".")[0]
    if top == "verax" or top in sys.stdlib_module_names:
        return ""
    sources = project_sources(module)
    if sources is None:
        released = _version(top)
        return None if released is None else hashlib.sha256(f"{top} {released}".encode()).hexdigest()
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(f"{name}\x1f{sources[name]}\x1e".encode())
    return digest.hexdigest()


def code_behind(modules: Mapping[str, str]) -> dict[str, str]:
    """By what people call it, the code of somebody's own, for a job's key; nothing of what is Verax's.

    Args:
        modules: the module behind each name.
    """
    code = {}
    for name, module in modules.items():
        known = code_of(module)
        if known is None:
            logger.warning(
                "What %s does cannot be read from a file, so a change of it is not noticed; after one, say --fresh "
                "(of a study: --force).",
                name,
            )
        if known != "":
            code[name] = known or "unknown"
    return code


def project_sources(module: str) -> dict[str, str] | None:
    """By name, the source of a module and of those it imports, directly or not, from the same project.

    None where the module itself is installed, or has no source to read.
    """
    sources: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        path = _source_file(name)
        if path is None:
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError):
            continue
        sources[name] = ast.unparse(tree)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += list(_imported(tree, package))
        waiting += list(_parents(name))
    return sources if module in sources else None


def is_installed(module: str | None) -> bool:
    """Whether code is of Python, of Verax or of an installed package; anything else is the user's own."""
    top = (module or "builtins").partition(".")[0]
    if top == "__main__":
        return False
    if top in sys.stdlib_module_names or top == "verax":
        return True
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return any(place in Path(file).parts for place in INSTALLED)


def _source_file(module: str) -> Path | None:
    """The file of a module of the user's own; None for all others, and for what is no module."""
    top = module.partition(".")[0]
    # The package first: looking for a module inside imports it, and an installed one may be heavy.
    if top == "verax" or top in sys.stdlib_module_names or _own_file(top) is None:
        return None
    path = _own_file(module)
    return path if path is not None and path.suffix == ".py" else None


def _own_file(module: str) -> Path | None:
    """Where a module lies (a folder without code of its own too), unless that is where packages are installed."""
    try:
        spec = find_spec(module) if module else None
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    if not places or places[0] is None:
        return None
    path = Path(places[0])
    return None if set(INSTALLED) & set(path.parts) else path


def _imported(tree: ast.Module, package: str) -> Iterator[str]:
    """The modules that code names in its imports, those inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:
                continue
            yield base
            # What is taken from a package may be a module of it.
            yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")


def _parents(module: str) -> Iterator[str]:
    """The packages that a module lies in: importing it runs them first."""
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


def _version(top: str) -> str | None:
    """The version of the installed package that a module is of; None if it does not say."""
    for distribution in packages_distributions().get(top, [top]):
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    declared = getattr(sys.modules.get(top), "__version__", None)
    return None if declared is None else str(declared)


# Their values are hashed by their content.
ARRAYS = ("numpy", "pandas", "scipy")


class _Plain:
    """As large as every object whose whole content is its `__dict__`; one with content in C is larger."""


class _UnknownError(Exception):
    """Something inside an object whose content cannot be told."""


def identity(thing: object) -> str | None:
    """A hash of all that an object's behaviour depends on; None where that cannot be known."""
    try:
        return hashlib.sha256(_Description().describe(thing).encode()).hexdigest()
    except (_UnknownError, RecursionError):
        return None


class _Description:
    """Objects in words; one that was met before is named by its number, so that circles end."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, object]] = {}  # the object too, or another one could get its id

    def describe(self, thing: object) -> str:
        if thing is None or isinstance(thing, bool | int | float | complex | str | bytes | Path):
            return repr(thing)
        if id(thing) in self._met:
            return f"#{self._met[id(thing)][0]}"
        self._met[id(thing)] = len(self._met), thing
        if isinstance(thing, list | tuple):
            return f"{type(thing).__name__}[{', '.join(self.describe(item) for item in thing)}]"
        if isinstance(thing, set | frozenset):
            return f"{type(thing).__name__}{sorted(_Description().describe(item) for item in thing)}"
        if isinstance(thing, Mapping):
            pairs = sorted(thing.items(), key=lambda pair: repr(pair[0]))
            return f"{{{', '.join(f'{self.describe(key)}: {self.describe(value)}' for key, value in pairs)}}}"
        if isinstance(thing, ModuleType):
            return _installed(thing.__name__) if is_installed(thing.__name__) else self._module(thing)
        if isinstance(thing, type):
            return self._class(thing)
        return self._callable(thing) or self._content(thing) or self._instance(thing)

    def _callable(self, thing: object) -> str:
        if isinstance(thing, staticmethod | classmethod | MethodType):
            holder = getattr(thing, "__self__", None)
            return f"{self.describe(thing.__func__)} of {self.describe(holder)}"
        if isinstance(thing, property | functools.cached_property):
            parts = (getattr(thing, name, None) for name in ("fget", "fset", "fdel", "func"))
            return f"property({', '.join(self.describe(part) for part in parts)})"
        if isinstance(thing, functools.partial):
            return f"partial({self.describe(thing.func)}, {self.describe(thing.args)}, {self.describe(thing.keywords)})"
        name, module = getattr(thing, "__qualname__", None), getattr(thing, "__module__", None)
        if name and (isinstance(thing, BuiltinFunctionType) or is_installed(module)):
            return f"{_installed(module)}.{name}"
        if hasattr(thing, "__wrapped__"):  # such as a function with a cache
            return f"{type(thing).__qualname__}({self.describe(thing.__wrapped__)})"
        return self._function(thing) if isinstance(thing, FunctionType) else ""

    def _function(self, function: FunctionType) -> str:
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        # What a global name means to it; the name itself if it is built in, or not there yet.
        named = {name: function.__globals__.get(name, name) for name in _globals_of(function.__code__)}
        given = [function.__defaults__, function.__kwdefaults__, held, named]
        return f"def({_code(function.__code__)}, {self.describe(given)})"

    def _class(self, kind: type) -> str:
        if is_installed(kind.__module__):
            return f"{_installed(kind.__module__)}.{kind.__qualname__}"
        inside = {
            name: value
            for name, value in vars(kind).items()
            # What Python itself writes into a class is not described: it follows from the rest.
            if isinstance(value, FunctionType) or not name.startswith(("__", "_abc_"))
        }
        return f"class {kind.__qualname__}({self.describe(list(kind.__bases__))}, {self.describe(inside)})"

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
            return f"{self.describe(type(thing))}({self.describe(get_params(deep=False))})"
        if dataclasses.is_dataclass(thing):
            state = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
        elif hasattr(thing, "__dict__") and type(thing).__basicsize__ == _Plain.__basicsize__:
            state = vars(thing)
        else:
            raise _UnknownError
        return f"{self.describe(type(thing))}({self.describe(state)})"


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


PREFIX = "object:"
_here: dict[str, object] = {}
_packed: dict[str, bytes] = {}


def refer(thing: object, label: str) -> str:
    """The reference of an object; one whose content cannot be known has another one each time, so nothing is reused.

    Args:
        thing: the object.
        label: what people call it.
    """
    known = identity(thing)
    if known is None:
        logger.warning(
            "What %s does depends on something that cannot be compared, so nothing is reused from an earlier run.",
            label,
        )
    return PREFIX + (known or uuid.uuid4().hex)


def is_reference(name: str) -> bool:
    """Whether a name stands for an object."""
    return name.startswith(PREFIX)


def fetch(reference: str) -> object:
    """The object of a reference, which must be at hand in this process."""
    if reference not in _here:
        if reference not in _packed:
            raise VeraxError("An object that this job is about is not in this process; give it again.")
        _here[reference] = pickle.loads(_packed[reference])
    return _here[reference]


@contextmanager
def at_hand(objects: Mapping[str, object]) -> Iterator[None]:
    """Objects by their references, for jobs that run in this process meanwhile."""
    new = {reference: thing for reference, thing in objects.items() if reference not in _here}
    _here.update(new)
    try:
        yield
    finally:
        # What was at hand before stays so: jobs may run inside of somebody else's meanwhile.
        for reference in new:
            _here.pop(reference, None)


def pack(objects: Mapping[str, object]) -> dict[str, bytes] | None:
    """The objects as bytes for other processes; None where one of them cannot be sent."""
    packed = {}
    for reference, thing in objects.items():
        try:
            content = pickle.dumps(thing)
        except Exception:  # whatever pickling something may raise
            return None
        # A class of a notebook or a script has a name, but in no other process.
        if b"__main__" in content:
            return None
        packed[reference] = content
    return packed


def receive(packed: Mapping[str, bytes]) -> None:
    """Keeps what was sent to this process."""
    _packed.update(packed)
