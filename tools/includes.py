"""Every #include of the C++ sources, and which part of the tree may include which. Read by the include-arrows test and by
the generator of docs/architecture.md. It reads text, not the preprocessor's result: an include inside #if counts too.
"""

import os
import re
import subprocess
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Longest prefix wins. A part is what an arrow connects.
PARTS = {
    "semantics/base/": "semantics/base",
    "semantics/tensor/": "semantics/tensor",
    "semantics/machine.": "semantics/machine.h",
    "semantics/thread_port.": "semantics/machine.h",
    "semantics/simd/": "semantics/simd",
    "semantics/": "semantics",
    "memory_model/": "memory_model",
    "scheduler/": "scheduler",
    "emu/": "emu",
    "python/": "python",
    "conformance/": "conformance",
    "bench/": "bench",
}

_PORT = {"semantics/base", "semantics/tensor", "semantics/machine.h"}
_ALL_BELOW_EMU = _PORT | {"semantics/simd", "semantics", "memory_model", "scheduler"}

# One direction only. "emu" on the right of conformance, bench and python means emu/public_headers.txt.
ALLOWED = {
    "semantics/base": set(),
    "semantics/tensor": {"semantics/base"},
    "semantics/machine.h": {"semantics/base", "semantics/tensor"},
    "semantics/simd": {"semantics/base", "semantics/tensor"},
    "semantics": _PORT | {"semantics/simd"},
    "memory_model": _PORT,
    "scheduler": _PORT | {"memory_model"},
    "emu": _ALL_BELOW_EMU,
    "python": {"semantics/base", "emu"},
    "conformance": {"semantics/base", "emu"},
    "bench": {"semantics/base", "semantics/tensor", "semantics/simd", "memory_model", "scheduler", "emu"},
}
PUBLIC_ONLY = {"python", "conformance", "bench"}
with open(os.path.join(ROOT, "emu/public_headers.txt"), encoding="utf-8") as _file:
    PUBLIC_HEADERS = {line.strip() for line in _file if line.strip() and not line.startswith("#")}

# Libraries that few files may see: what the include starts with, its name, and who may.
LIBRARIES = [
    (r"Eigen/|unsupported/Eigen/", "Eigen", r"bench/"),
    (r"boost/math/", "Boost.Math", r".*_(test|main)\.cc$"),  # an oracle
    (r"boost/", "Boost", r"scheduler/"),
    (r"hwy/", "Highway", r"semantics/simd/"),
    (r"mpfr\.h|gmp\.h|gmpxx\.h", "MPFR", r".*_(test|main)\.cc$|.*_mpfr\.h$"),
    (r"benchmark/", "Google Benchmark", r"bench/"),
    (r"gtest/|gmock/", "GoogleTest", r".*_test\.(cc|h)$|.*_test_util\.h$|conformance/"),
    (r"absl/", "Abseil", r""),
    (r"xla/", "XLA's FFI", r"emu/ffi/"),
    (r"nlohmann/", "nlohmann-json", r"emu/reports/"),
    (r"sleef", "SLEEF", r"(?!)"),
    # Not in both compilers that must build this.
    (r"format$", "<format>", r"(?!)"),
]

# Headers that only tests and tools may see, wherever they are.
TEST_HEADER = re.compile(r".*_(mpfr|test|test_util)\.h$")
TEST_OR_TOOL = re.compile(r".*_(test|main|fuzz)\.cc$|.*_(mpfr|test|test_util)\.h$|conformance/.*")

_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


class Include(NamedTuple):
    source: str
    line: int
    target: str
    quoted: bool


def cpp_files() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.cc", "*.h"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return sorted(path for path in set(listed) if os.path.exists(os.path.join(ROOT, path)))


def includes_of(source: str, text: str) -> list[Include]:
    return [
        Include(source, text.count("\n", 0, match.start(2)) + 1, match.group(2), match.group(1) == '"')
        for match in _INCLUDE.finditer(text)
    ]


def all_includes() -> list[Include]:
    found = []
    for path in cpp_files():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            found += includes_of(path, file.read())
    return found


def part_of(path: str) -> str | None:
    best = max((prefix for prefix in PARTS if path.startswith(prefix)), key=len, default=None)
    return PARTS[best] if best else None


def library_of(target: str) -> str | None:
    return next((name for pattern, name, _ in LIBRARIES if re.match(pattern, target)), None)


def complaint(include: Include) -> str | None:
    """Why this include is wrong, or None."""
    for pattern, name, may in LIBRARIES:
        if re.match(pattern, include.target):
            return None if re.match(may, include.source) else f"{name} may not be seen from here"
    if not include.quoted:
        return None
    source, target = part_of(include.source), part_of(include.target)
    if source is None:
        return None if include.source.startswith("tests/") else "this file is in no part of the tree (tools/includes.py)"
    if target is None:
        return "neither in a part of the tree, named from the root, nor of a known library"
    if TEST_HEADER.match(include.target) and not TEST_OR_TOOL.match(include.source):
        return "only tests and tools may include this header"
    if target == source:
        return None
    if target not in ALLOWED[source]:
        return f"{source} may not include {target}"
    if source in PUBLIC_ONLY and target == "emu" and include.target not in PUBLIC_HEADERS:
        return f"{source} may include emu's public headers (emu/public_headers.txt) only"
    return None
