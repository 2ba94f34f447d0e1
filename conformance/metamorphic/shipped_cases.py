"""Writes the kernels that JAX ships, as they are exported, as conformance cases without expectations: for the
metamorphic test.

    python3 conformance/metamorphic/shipped_cases.py FOLDER

Those of `python -m palladion.real_kernels --quick` with the arguments that they are called with. What a kernel computes
is no matter here, so large arrays of floats become random numbers.
"""

import os
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from palladion import _library  # noqa: E402
from palladion.api import running  # noqa: E402
from palladion.real_kernels import table  # noqa: E402

LISTED = 4096  # elements; integers are listed whatever their number, for they may be indices


class Recorder:
    """In place of a library program: runs, and keeps what it was given."""

    def __init__(self, text, target, kept):
        self.program, self.text, self.target, self.kept = _library.Program(text, None, target), text, target, kept

    def run(self, inputs, outputs, *_):
        code, report = self.program.run(inputs, outputs)
        self.kept.append((report["kernel"], report["target"], self.text, [np.array(a) for a in inputs]))
        return code, report


def value(array) -> str:
    bits = np.ascontiguousarray(array)
    if bits.dtype == np.bool_:
        return "[" + ", ".join("true" if one else "false" for one in bits.ravel()) + "]"
    is_integer = np.issubdtype(bits.dtype, np.integer)
    if not is_integer and bits.size > LISTED:
        return "random(seed=1,lo=-1,hi=1)"
    words = bits.reshape(-1).view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[bits.dtype.itemsize])
    return "[" + ", ".join(hex(int(word)) for word in words) + "]"


def case_text(name, target, text, inputs) -> str:
    # Bounds, prefetched scalars and inputs, in the order of the text.
    names = re.findall(r"^  (?:bound|prefetch|in) %([A-Za-z0-9_]+):", text, re.MULTILINE)
    if len(names) != len(inputs):
        raise ValueError(f"{name}: {len(names)} operands and {len(inputs)} inputs")
    values = "".join(f"{operand} = {value(array)}\n" for operand, array in zip(names, inputs))
    # A case must say something of an output; the metamorphic test does not ask what.
    outputs = "".join(
        f"hash {name} = {0:016x}\n" for name in re.findall(r"^  out %([A-Za-z0-9_]+):", text, re.MULTILINE)
    )
    head = f"# spec: kernel-text.md#grammar\n# {name}.\n# target: {target}\n# schedules: 4\n"
    return f"{head}--- kernel\n{text.rstrip()}\n--- inputs\n{values}--- expect\n{outputs}"


def kernels_of(case) -> list:
    kept = []
    problem = case.make()
    running.execute(
        problem.function, problem.args, case.target, program=lambda text, target: Recorder(text, target, kept)
    )
    return kept


def main(folder) -> int:
    os.makedirs(folder, exist_ok=True)
    written = set()
    for case in table.all_cases():
        if not case.quick:
            continue
        for i, (kernel, target, text, inputs) in enumerate(kernels_of(case)):
            if text in written:
                continue
            written.add(text)
            name = re.sub(r"[^A-Za-z0-9]+", "_", f"{case.op} {case.variant} {i} {kernel}")
            (pathlib.Path(folder) / f"{name}.case").write_text(case_text(case.name, target, text, inputs))
    print(f"{len(written)} kernels in {folder}")
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
