"""Random kernels of GPU threads with barriers, TMA copies and shared memory, for inputs with which every order gives
one result.

The texts are those of the hunt (docs/develop/hunting.md), which this asks for by number. Each is checked on inputs of
its own, and only what is `proved` or `clean` under 64 schedules is a kernel here: one with a race may give anything.
Limits: one in twenty of the hunt's kernels is of that kind; none with semaphores, unions of refs or barriers of a
cluster, which JAX's GPU interpreter of 0.10 does not have.
"""

import re
import subprocess
from pathlib import Path

import numpy as np
from random_kernel import RandomKernel

HUNT = Path(__file__).resolve().parents[2] / "build" / "hunt"
SEEDS = 64
_NOT_IN_JAX = "semaphore|cluster_barrier|union"


def hunt_text(seed: int) -> str:
    shown = subprocess.run([HUNT, "1", str(seed), "--show"], capture_output=True, text=True, check=True).stdout
    return re.match(rf"(pkir 1;.*?^}}\n){seed}: ", shown, re.DOTALL | re.MULTILINE)[1]


def thread_kernel(seed: int) -> RandomKernel | None:
    """None: the kernel is none of threads alone, or what it gives depends on the order."""
    from palladion import _library

    text = hunt_text(seed)
    if "backend mosaic_gpu;" not in text or re.search(_NOT_IN_JAX, text):
        return None
    operands = re.findall(r"^in %(\w+): i32\[([\d,]+)\]", text, re.MULTILINE)
    rng = np.random.default_rng(seed)
    inputs = {
        name: rng.integers(0, 100, [int(n) for n in shape.split(",")], dtype=np.int32) for name, shape in operands
    }
    _, report = _library.Program(text).check(list(inputs.values()), seeds=SEEDS)
    if report["verdict"] not in ("proved", "clean"):
        return None
    outputs = re.findall(r"^out %(\w+):", text, re.MULTILINE)
    return RandomKernel(seed, text, inputs, dict.fromkeys(outputs, 0.0))
