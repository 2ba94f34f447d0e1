"""Which tests notice a change of a file: for `./dev test --of FILE...`, the short loop while at work on it.

    tests_of.py FILE...     prints "TARGET FILTER" for each GoogleTest binary, and "pytest FILE" for Python

A C++ file has the tests that stand in its folder, and those that noticed when a place of it was broken on purpose
(docs/develop/mutants.md; of the folder, where none of its own was). A Python module has the tests with its name. It is
a choice: what else a change breaks is `./dev test`'s to find.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The longest prefix names the binary.
BINARIES = {
    "semantics/": "semantics_test",
    "semantics/base/": "semantics_port_test",
    "semantics/tensor/": "semantics_port_test",
    "semantics/simd/": "semantics_simd_test",
    "memory_model/": "memory_model_test",
    "scheduler/": "scheduler_test",
    "emu/": "emu_test",
    "emu/timing/figures/": "timing_figures_test",
    "emu/tools/hunt/": "hunt_test",
    "conformance/": "conformance_test",
}
_SUITE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+),", re.MULTILINE)
_ROW = re.compile(r"^\| `([^`]+)` \|.*\| (\w+): (\S+)[^|]*\|$", re.MULTILINE)


def read(path: str) -> str:
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def beside(folder: str) -> dict[str, set[str]]:
    """The suites of a folder's tests, by binary."""
    binary = BINARIES[max((prefix for prefix in BINARIES if f"{folder}/".startswith(prefix)), key=len)]
    tests = [name for name in os.listdir(os.path.join(ROOT, folder)) if name.endswith("_test.cc")]
    suites = {f"{suite}.*:*/{suite}.*" for name in tests for suite in _SUITE.findall(read(f"{folder}/{name}"))}
    return {binary: suites} if suites else {}


def noticed(path: str) -> dict[str, set[str]]:
    """The tests that noticed a broken place of the file, or of its folder, by binary."""
    rows = _ROW.findall(read("docs/develop/mutants.md"))
    folder = os.path.dirname(path)
    of_file = [(binary, test) for where, binary, test in rows if where == path]
    found = {}
    for binary, test in of_file or [(b, t) for where, b, t in rows if os.path.dirname(where) == folder]:
        found.setdefault(binary, set()).add(test)
    return found


def of_python(path: str) -> list[str]:
    if re.match(r"python/tests/test_\w+\.py$", path):
        return [path]
    stem = os.path.splitext(os.path.basename(path))[0]
    names = [
        name for name in sorted(os.listdir(os.path.join(ROOT, "python/tests"))) if re.match(r"test_\w+\.py$", name)
    ]

    def meant(name: str) -> bool:  # test_fit_over.py of fitting.py; or the test names the module
        word = name[len("test_") :].removesuffix(".py").split("_")[0]
        return len(word) > 2 and stem.startswith(word) or bool(re.search(rf"\b{stem}\b", read(f"python/tests/{name}")))

    return [f"python/tests/{name}" for name in names if meant(name)]


def main(paths: list[str]) -> None:
    filters, python = {}, []
    for given in paths:
        path = os.path.relpath(os.path.abspath(given), ROOT)
        if not os.path.isfile(os.path.join(ROOT, path)):
            raise SystemExit(f"{given} is no file of this repository")
        if path.endswith(".py"):
            python += of_python(path)
        elif path.endswith((".cc", ".h")):
            if not path.startswith(tuple(BINARIES)):
                raise SystemExit(f"{given}: no test binary has tests of this folder")
            for found in (beside(os.path.dirname(path)), noticed(path)):
                for binary, tests in found.items():
                    filters.setdefault(binary, set()).update(tests)
        else:
            raise SystemExit(f"{given}: of C++ and Python files it is known which tests notice a change")
    if not filters and not python:
        raise SystemExit(f"no test is known to notice a change of {' '.join(paths)}: run ./dev test release")
    for binary in sorted(filters):
        print(binary, ":".join(sorted(filters[binary])))
    for path in dict.fromkeys(python):
        print("pytest", path)


if __name__ == "__main__":
    main(sys.argv[1:])
