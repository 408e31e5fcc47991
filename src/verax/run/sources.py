"""The code behind a name, as a hash: its module's source and that of the modules it imports from the same project.

A job's key holds everything that its outcome depends on. Of a name that is the code that it stands for. Installed
packages are known by their versions; a project that is being worked on is known by what its files say now. Files are
compared as Python reads them: comments, empty lines and the length of lines make no difference.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import logging
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

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
