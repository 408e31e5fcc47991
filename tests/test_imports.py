"""No module imports itself by way of others, imports inside functions and for type checking counted."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def test_no_imports_go_in_a_circle():
    modules = {module_name(path): path for path in SOURCE.rglob("*.py")}
    graph = {name: set(imported(path, modules)) - {name} for name, path in modules.items()}
    assert circle(graph) == []


def circle(graph):
    """Some modules that import each other in turn, if there are any."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return error.args[1]
    return []


def imported(path, modules):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
