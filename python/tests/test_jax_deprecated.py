"""What JAX deprecates: the list is complete for this JAX, Palladion uses nothing of it, and all runs without it."""

import ast
import importlib
import pathlib
import subprocess
import sys
import warnings

import pytest

import palladion
from palladion.jax import jax_deprecated

PACKAGE = pathlib.Path(palladion.__file__).parent
HERE = pathlib.Path(__file__).parent
PUBLIC = ("pl", "pltpu", "plgpu", "plsc")


def test_every_name_that_this_jax_deprecates_is_in_the_list():
    listed = {row.name for row in jax_deprecated.NAMES}
    found = set()
    for short in PUBLIC:
        module = importlib.import_module(jax_deprecated.MODULES[short])
        found |= {f"{short}.{name}" for name in getattr(module, "_deprecations", {})}
    assert found and found <= listed


def test_the_page_has_the_list():
    page = (HERE.parents[1] / "docs" / "reference" / "jax-versions.md").read_text(encoding="utf-8")
    assert jax_deprecated.table() in page, "stale: tools/gen_docs.py --write"


def uses(path: pathlib.Path) -> set:
    """The deprecated names that a file has in its code. In text that it writes they are not found here, but where
    jax_without_names.py runs what was written.
    """
    names, tree = set(), ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add(f"{node.value.id}.{node.attr}")
    return names & {row.name for row in jax_deprecated.NAMES}


def files():
    own = (path for path in PACKAGE.rglob("*.py") if path.name != "jax_deprecated.py")
    return sorted(own)


def test_no_file_of_the_package_uses_one():
    assert {str(path.relative_to(PACKAGE)): uses(path) for path in files() if uses(path)} == {}


def test_a_use_is_found(tmp_path):
    path = tmp_path / "one.py"
    path.write_text("from jax.experimental import pallas as pl\nx = pl.core_map\n", encoding="utf-8")
    assert uses(path) == {"pl.core_map"}


def test_a_warning_that_the_package_causes_is_an_error_in_tests():
    with pytest.raises(DeprecationWarning):
        warnings.warn_explicit("gone", DeprecationWarning, "x.py", 1, module="palladion.jax.x")


def test_a_spelling_is_one_that_this_jax_has():
    for row in jax_deprecated.NAMES:
        if row.others:
            assert jax_deprecated._has(jax_deprecated.spelled(row.name)), row.name


def test_kernels_of_each_backend_run_without_the_names():
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", HERE / "jax_without_names.py"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.endswith(" ok")] == done.stdout.splitlines()
    assert len(done.stdout.splitlines()) == 14, done.stdout


def test_the_shipped_kernels_are_left_out_with_a_reason(tmp_path):
    program = (
        "import sys, warnings\n"
        "from palladion.jax import jax_deprecated\n"
        "for name in jax_deprecated.GOING_MODULES: sys.modules[name] = None\n"
        "from palladion.real_kernels import table\n"
        "with warnings.catch_warnings(record=True) as given:\n"
        "    warnings.simplefilter('always')\n"
        "    cases = table.all_cases()\n"
        "assert {case.group for case in cases} and not {3, 5} & {case.group for case in cases}\n"
        "print(*(one.message for one in given))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Triton kernels are left out" in done.stdout
