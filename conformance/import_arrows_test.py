"""Fails on any import inside python/palladion that goes up, or round in a circle (docs/develop/architecture.md,
Python and the library).

A part is a sub-package, or a module that lies beside them. Imports inside functions count as an arrow between parts,
too; only for a circle of modules they do not, since they break one. What it does not catch: a module that is imported
by a name made at run time, which __init__.py does with the names that need JAX.

Standard library only, so it runs without .venv: python3 conformance/import_arrows_test.py
"""

import ast
import graphlib
import os
import unittest
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(ROOT, "python")
PACKAGE = "palladion"

# From the ground up: a part may import from the rows below its own. Parts of one row know nothing of each other.
ROWS = [
    ("base", "version"),
    ("_abi",),
    ("_library",),
    ("report", "machines", "progress"),
    ("jax",),
    ("bridge",),
    ("api",),
    ("learn",),
    ("pytest_plugin",),
    ("",),  # palladion/__init__.py
    ("backends", "real_kernels", "pytest_entry", "__main__"),
]
ROW_OF = {part: row for row, parts in enumerate(ROWS) for part in parts}
NO_JAX = ("base", "version", "_abi", "_library", "report", "machines", "progress", "pytest_plugin", "pytest_entry", "")


class Import(NamedTuple):
    module: str  # palladion.jax.probes
    line: int
    target: str  # what is imported: palladion.report.short_errors, numpy
    lazy: bool  # inside a function, or for type checkers only


def modules() -> dict[str, str]:
    """The text of each module of the package."""
    found = {}
    for folder, _, names in os.walk(os.path.join(SOURCES, PACKAGE)):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                module = os.path.relpath(path, SOURCES)[: -len(".py")].replace(os.sep, ".").removesuffix(".__init__")
                with open(path, encoding="utf-8") as file:
                    found[module] = file.read()
    return found


def imports_of(module: str, text: str, known: set[str]) -> list[Import]:
    """`from palladion.jax import probes` imports the module, `from palladion.jax.probes import target` the same one."""
    found = []

    def visit(node: ast.AST, lazy: bool) -> None:
        lazy = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        lazy = lazy or (
            isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        )
        if isinstance(node, ast.Import):
            found.extend(Import(module, node.lineno, name.name, lazy) for name in node.names)
        if isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            for name in node.names:
                inner = f"{source}.{name.name}"
                found.append(Import(module, node.lineno, inner if inner in known else source, lazy))
        for child in ast.iter_child_nodes(node):
            visit(child, lazy)

    visit(ast.parse(text), lazy=False)
    return found


def part_of(module: str) -> str | None:
    """`jax` of palladion.jax.probes, "" of palladion itself, None of what is not ours."""
    ours, *inner = module.split(".")
    return None if ours != PACKAGE else inner[0] if inner else ""


def complaint(one: Import) -> str | None:
    source, target = part_of(one.module), part_of(one.target)
    if one.target.startswith("."):
        return "a relative import: inside palladion.jax `import jax` is JAX, so ours are written in full"
    if target is None:
        needs_jax = one.target.split(".")[0] in ("jax", "jaxlib")
        return f"{source or PACKAGE} needs no JAX" if needs_jax and source in NO_JAX and not one.lazy else None
    for part in (source, target):
        if part not in ROW_OF:
            return f"the part {part!r} is in no row of this test"
    if source != target and ROW_OF[target] >= ROW_OF[source]:
        return f"{source or PACKAGE} stands below {target or PACKAGE}, or beside it"
    return None


def circle(imports: list[Import]) -> list[str]:
    """Modules that cannot be imported without each other, or nothing. A package is not one of its modules."""
    graph = {}
    for one in imports:
        if part_of(one.target) is not None and not one.lazy:
            graph.setdefault(one.module, set()).add(one.target)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def all_imports() -> list[Import]:
    texts = modules()
    return [one for module, text in sorted(texts.items()) for one in imports_of(module, text, set(texts))]


class ImportArrows(unittest.TestCase):
    KNOWN = {
        "palladion",
        "palladion.api.running",
        "palladion.base.errors",
        "palladion.jax.probes",
        "palladion.report.picture",
    }

    def complaints(self, module: str, text: str) -> list[str]:
        return [why for one in imports_of(module, text, self.KNOWN) if (why := complaint(one))]

    def test_what_goes_down_is_allowed(self):
        for module, text in [
            ("palladion.api.running", "from palladion.jax import probes"),
            ("palladion.jax.probes", "import jax\nfrom palladion.report import picture"),
            ("palladion.report.picture", "from palladion.base.errors import ExportError"),
            ("palladion.report.picture", "def f():\n    import jax"),
            ("palladion.jax.probes", "from palladion.jax.exporter import names"),
            ("palladion.backends.template", "import palladion"),
        ]:
            self.assertEqual([], self.complaints(module, text), f"{module}: {text}")

    def test_what_goes_up_is_not(self):
        for module, text in [
            ("palladion.jax.probes", "from palladion.api import running"),
            ("palladion.jax.probes", "def f():\n    from palladion.api.running import run"),
            ("palladion.report.picture", "from palladion.jax import probes"),
            ("palladion.report.picture", "from palladion import progress"),
            ("palladion.base.errors", "import palladion"),
            ("palladion.base.errors", "import palladion._library"),
            ("palladion.report.picture", "import jax.numpy as jnp"),
            ("palladion.jax.probes", "from . import jax_versions"),
            ("palladion.jax.probes", "from palladion.learn import anything"),
        ]:
            known = self.KNOWN | {"palladion.progress", "palladion._library", "palladion.learn"}
            found = [why for one in imports_of(module, text, known) if (why := complaint(one))]
            self.assertEqual(1, len(found), f"{module}: {text}: {found}")

    def test_a_circle_of_modules_is_found(self):
        down, up = (
            Import("palladion.api.a", 1, "palladion.api.b", False),
            Import("palladion.api.b", 1, "palladion.api.a", False),
        )
        self.assertEqual({"palladion.api.a", "palladion.api.b"}, set(circle([down, up])))
        self.assertEqual([], circle([down, up._replace(lazy=True)]))

    def test_every_import_of_the_package(self):
        found = all_imports()
        self.assertGreater(len(found), 500, "hardly any imports were read: the test looks in the wrong place")
        self.assertEqual(
            [], [f"{one.module}:{one.line}: {one.target}: {why}" for one in found if (why := complaint(one))]
        )

    def test_no_module_reaches_itself(self):
        self.assertEqual([], circle(all_imports()))

    def test_every_part_is_there(self):
        self.assertEqual(set(ROW_OF), {part_of(module) for module in modules()})


if __name__ == "__main__":
    unittest.main()
