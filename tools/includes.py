"""Every #include of the C++ sources, and which part of the tree may include which. Read by the include-arrows test and
by the generator of docs/develop/architecture.md. It reads text,
not the preprocessor's result: an include inside #if counts too.
"""

import os
import re
import subprocess
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Every folder is a part, but simd, which is one with its tables. Longest prefix wins.
PARTS = {
    f"{folder}/": folder
    for folder in """
        semantics/base semantics/tensor semantics/port semantics/simd semantics/ir semantics/registry semantics/program
        semantics/ops semantics/ops/value semantics/ops/shape semantics/ops/flow semantics/ops/ref semantics/ops/scope
        semantics/ops/matrix semantics/ops/tpu semantics/ops/gpu semantics/ops/control semantics/prepare
        memory_model memory_model/sets memory_model/bytes memory_model/order memory_model/sync memory_model/engine
        memory_model/sweep
        scheduler scheduler/policies scheduler/search
        emu emu/kernel emu/chip/machines emu/chip/layouts emu/run emu/run/agents emu/run/threads emu/run/launch
        emu/run/watch emu/check emu/check/legality emu/check/legality/gpu emu/check/legality/tpu
        emu/check/legality/triton emu/check/legality/sparsecore emu/timing emu/timing/report emu/timing/timeline
        emu/timing/base emu/timing/gpu emu/timing/mosaic_gpu emu/timing/triton emu/timing/tpu emu/timing/figures
        emu/tools/edit emu/tools/mutation emu/tools/reduce emu/tools/debug emu/tools/golden emu/tools/advice
        emu/tools/fit emu/tools/schedule emu/tools/hunt emu/front/reports emu/front/options emu/front/cpp
        emu/front/bridge emu/front/ffi emu/front/command emu/testing
        python conformance bench
    """.split()
}

_PORT = {"semantics/base", "semantics/tensor", "semantics/port"}
_VALUES = _PORT | {"semantics/simd", "semantics/ir", "semantics/registry", "semantics/ops"}
_STEPS = _VALUES | {"semantics/program"}
_MEMORY = _PORT | {
    "memory_model",
    "memory_model/sets",
    "memory_model/bytes",
    "memory_model/order",
    "memory_model/sync",
    "memory_model/engine",
    "memory_model/sweep",
}
_WHO = {"semantics/base", "scheduler", "scheduler/policies", "scheduler/search"}
# The wings of the emulator, from below; each adds its own folders to what it may see.
_KERNEL = _STEPS | {"semantics/prepare", "emu.h"}
_CHIP = _KERNEL | {"emu/kernel", "emu/chip/machines", "emu/chip/layouts"}
_RUN = _CHIP | _MEMORY | _WHO | {"emu/run", "emu/run/agents", "emu/run/threads", "emu/run/launch", "emu/run/watch"}
_LEGALITY = {
    "emu/check/legality",
    "emu/check/legality/gpu",
    "emu/check/legality/tpu",
    "emu/check/legality/triton",
    "emu/check/legality/sparsecore",
}
_CHECKED = _RUN | _LEGALITY | {"emu/check"}
_ONE_TIME = _CHECKED | {"emu/timing/report", "emu/timing/timeline", "emu/timing/base"}  # what all models share
_TIMED = _ONE_TIME | {
    "emu/timing",
    "emu/timing/gpu",
    "emu/timing/mosaic_gpu",
    "emu/timing/triton",
    "emu/timing/tpu",
}
_TOOLS = {
    f"emu/tools/{name}" for name in ("edit", "mutation", "reduce", "debug", "golden", "advice", "fit", "schedule")
}

# One direction only; the order of the lines is that of the arrows, from below. "emu.h" is the headers of emu/ itself,
# which its folders may see; in conformance, bench and python it means emu/public_headers.txt.
ALLOWED = {
    "semantics/base": set(),
    "semantics/tensor": {"semantics/base"},
    "semantics/port": {"semantics/base", "semantics/tensor"},
    "semantics/simd": {"semantics/base", "semantics/tensor"},
    "semantics/ir": {"semantics/base", "semantics/tensor"},
    "semantics/registry": _PORT | {"semantics/ir"},
    "semantics/program": _PORT | {"semantics/simd", "semantics/ir", "semantics/registry"},
    "semantics/ops": _PORT | {"semantics/ir", "semantics/registry"},
    "semantics/ops/value": _VALUES,
    "semantics/ops/shape": _VALUES | {"semantics/ops/value"},
    "semantics/ops/matrix": _STEPS | {"semantics/ops/shape"},
    "semantics/ops/tpu": _STEPS
    | {"semantics/ops/value", "semantics/ops/shape", "semantics/ops/ref", "semantics/ops/matrix"},
    "semantics/ops/flow": _VALUES | {"semantics/ops/value", "semantics/ops/shape"},
    "semantics/ops/ref": _STEPS,
    "semantics/ops/scope": _STEPS | {"semantics/ops/ref"},
    "semantics/ops/gpu": _STEPS | {"semantics/ops/ref", "semantics/ops/scope", "semantics/ops/matrix"},
    "semantics/ops/control": _STEPS | {"semantics/ops/ref", "semantics/ops/scope", "semantics/ops/gpu"},
    "semantics/prepare": _STEPS
    | {"semantics/ops/ref", "semantics/ops/scope", "semantics/ops/tpu", "semantics/ops/control"},
    "memory_model/sets": _PORT,
    "memory_model/bytes": _PORT | {"memory_model/sets"},
    "memory_model/order": _PORT | {"memory_model/sets"},
    "memory_model/sync": _PORT | {"memory_model/sets", "memory_model/order"},
    "memory_model/engine": _PORT | {"memory_model/sets", "memory_model/order", "memory_model/sync"},
    "memory_model/sweep": _PORT | {"memory_model/sets", "memory_model/bytes"},
    "memory_model": _MEMORY,
    "scheduler": {"semantics/base"},
    "scheduler/policies": {"semantics/base", "scheduler"},
    "scheduler/search": {"semantics/base", "scheduler", "scheduler/policies"},
    "emu.h": {"semantics/base", "semantics/tensor"},
    "emu": set(),  # headers only
    "emu/kernel": _KERNEL,
    "emu/chip/machines": _PORT,
    "emu/chip/layouts": _STEPS | {"emu/chip/machines"},
    "emu/run": _CHIP | _MEMORY | _WHO,
    "emu/run/agents": _CHIP | _MEMORY | _WHO | {"emu/run"},
    "emu/run/threads": _CHIP | _MEMORY | _WHO | {"emu/run", "emu/run/agents", "semantics/ops/gpu"},
    "emu/run/launch": _CHIP | _MEMORY | _WHO | {"emu/run", "emu/run/agents", "emu/run/threads"},
    "emu/run/watch": _RUN,
    "emu/check/legality": _CHIP,
    "emu/check/legality/gpu": _CHIP | {"emu/check/legality"},
    "emu/check/legality/tpu": _CHIP | {"emu/check/legality"},
    "emu/check/legality/triton": _CHIP | {"emu/check/legality"},
    "emu/check/legality/sparsecore": _CHIP | {"emu/check/legality", "emu/check/legality/tpu"},
    "emu/check": _RUN | _LEGALITY,
    "emu/timing/report": _CHECKED,
    "emu/timing/timeline": _CHECKED | {"emu/timing/report"},
    "emu/timing/base": _CHECKED | {"emu/timing/report", "emu/timing/timeline"},
    "emu/timing/gpu": _ONE_TIME,
    "emu/timing/mosaic_gpu": _ONE_TIME | {"emu/timing/gpu"},
    "emu/timing/triton": _ONE_TIME | {"emu/timing/gpu"},
    "emu/timing/tpu": _ONE_TIME,
    "emu/timing": _TIMED,
    "emu/timing/figures": _TIMED,
    "emu/tools/edit": _VALUES,
    "emu/tools/mutation": _CHECKED | {"emu/tools/edit"},
    "emu/tools/reduce": _CHECKED | {"emu/tools/edit"},
    "emu/tools/debug": _TIMED,
    "emu/tools/golden": _CHECKED | {"emu/tools/edit", "emu/tools/mutation", "emu/tools/debug"},
    "emu/tools/advice": _TIMED | {"emu/tools/edit", "emu/tools/debug"},
    "emu/tools/fit": _TIMED | {"emu/tools/debug"},
    "emu/tools/schedule": _CHECKED,
    "emu/tools/hunt": _CHECKED | {"emu/tools/reduce"},
    "emu/front/reports": _CHECKED,
    "emu/front/options": _CHECKED | {"emu/front/reports"},
    "emu/front/cpp": _CHECKED | {"emu/front/reports"},
    "emu/front/bridge": _TIMED | _TOOLS | {"emu/front/reports", "emu/front/options"},
    "emu/front/ffi": _CHECKED | {"emu/front/bridge"},
    "emu/front/command": _TIMED | _TOOLS | {"emu/front/reports", "emu/front/options", "emu/front/bridge"},
    "emu/testing": _TIMED,
    "python": {"semantics/base", "emu.h"},
    "conformance": {"semantics/base", "semantics/tensor", "emu.h", "emu/testing"},
    "bench": _MEMORY | _WHO | {"semantics/simd", "emu.h"},
}
ALLOWED = {part: parts - {part} for part, parts in ALLOWED.items()}
PUBLIC_ONLY = {"python", "conformance", "bench"}
with open(os.path.join(ROOT, "emu/public_headers.txt"), encoding="utf-8") as _file:
    PUBLIC_HEADERS = {line.strip() for line in _file if line.strip() and not line.startswith("#")}

# Libraries that few files may see: what the include starts with, its name, and the files that may.
LIBRARIES = [
    (r"Eigen/|unsupported/Eigen/", "Eigen", r"bench/"),
    (r"boost/math/", "Boost.Math", r".*_(test|main)\.cc$|.*_mpfr\.h$"),  # an oracle
    (r"boost/", "Boost", r"scheduler/"),
    (r"hwy/", "Highway", r"semantics/simd/"),
    (r"mpfr\.h|gmp\.h|gmpxx\.h", "MPFR", r".*_(test|main)\.cc$|.*_mpfr\.h$"),
    (r"benchmark/", "Google Benchmark", r"bench/"),
    (r"gtest/|gmock/", "GoogleTest", r".*_test\.(cc|h)$|.*_test_util\.h$|conformance/"),
    (r"absl/", "Abseil", r""),
    (r"xla/", "XLA's FFI", r"emu/front/ffi/"),
    (r"nlohmann/", "nlohmann-json", r"emu/(front/reports|tools/golden)/|conformance/"),
    (r"png\.h", "libpng", r"emu/tools/golden/"),
    (r"zlib\.h", "zlib", r"emu/check/legality/.*_test_util\.h$"),
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
    if best == "emu/" and path.endswith(".h"):
        return "emu.h"
    return PARTS[best] if best else None


def may_see(source: str) -> set[str]:
    """The parts that this file may include; a test sees all that stands beside its folder too."""
    part = part_of(source)
    allowed = ALLOWED[part]
    if not TEST_OR_TOOL.match(source) or part in PUBLIC_ONLY:
        return allowed
    above = part.split("/")[0].removesuffix(".h")
    return set().union(allowed, *({other} | ALLOWED[other] for other in ALLOWED if other.split("/")[0] == above))


def circle() -> list[str] | None:
    """Parts each of which may include the next and the last the first; None where there is no such circle."""
    path, done = [], set()

    def follow(part: str) -> list[str] | None:
        if part in path:
            return path[path.index(part) :] + [part]
        if part in done:
            return None
        path.append(part)
        found = next(filter(None, (follow(other) for other in sorted(ALLOWED[part]))), None)
        path.pop()
        done.add(part)
        return found

    return next(filter(None, (follow(part) for part in ALLOWED)), None)


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
        return (
            None if include.source.startswith("tests/") else "this file is in no part of the tree (tools/includes.py)"
        )
    if target is None:
        return "neither in a part of the tree, named from the root, nor of a known library"
    if TEST_HEADER.match(include.target) and not TEST_OR_TOOL.match(include.source):
        return "only tests and tools may include this header"
    if target == source:
        return None
    if target not in may_see(include.source):
        return f"{source} may not include {target}"
    if source in PUBLIC_ONLY and target == "emu.h" and include.target not in PUBLIC_HEADERS:
        return f"{source} may include emu's public headers (emu/public_headers.txt) only"
    return None
