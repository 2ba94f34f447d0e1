"""Measures one case of palladion.real_kernels in this process; prints one line of JSON, times in seconds.

    measure_case.py list                  the cases
    measure_case.py interpreters NAME     Palladion and JAX's interpret=True, in turns
    measure_case.py tpu NAME              Palladion and JAX's TPU interpreter
    measure_case.py races NAME            a check and JAX's TPU interpreter with detect_races=True

What is in a time:
    cold           the first call after jax.clear_caches(): trace, lower, compile, run. For Palladion also write the
                   kernel text, parse, verify and prepare it. Imports are excluded: both sides have run before, and the
                   caches of JAX are cleared between.
    cold kernels   Palladion only: export (trace and lower the function, write the texts), parse, verify, prepare, and
                   run the kernels; without XLA's compilation of what is around them.
    warm           a later call. JAX: the compiled function. Palladion: its kernels, prepared, through the C ABI on
                   arrays; what the function does around its kernels counts for JAX only.
    warm call      Palladion only: the compiled function, its kernels answered through Python callbacks.
    check          as warm: each kernel checked, with every check and all the schedules it needs, through the C ABI.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from unittest import mock

import jax
import numpy as np
import palladion
from palladion import _library
from palladion.api import running
from palladion.base.scalars import numpy_dtype
from palladion.real_kernels import table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLD_CALLS = 2
WARM_CALLS, WARM_SECONDS = 30, 1.0  # as many rounds as that, or as long
LONG_SECONDS = 20  # a call of the TPU interpreter that took so long is not made again


class _Recorded(_library.Program):
    """A prepared kernel that keeps its inputs while `recording` is set: later runs are timed."""

    runs: list = []
    recording = False

    def __init__(self, text, *rest):
        super().__init__(text, *rest)
        self.text = text

    def run(self, inputs, outputs, *budget):
        result = super().run(inputs, outputs, *budget)
        if _Recorded.recording:
            self.runs.append((self, [np.array(a) for a in inputs], [np.array(a) for a in outputs]))
        return result


def seconds(function, *args) -> float:
    start = time.perf_counter()
    jax.block_until_ready(function(*args))
    return time.perf_counter() - start


def record(problem, target=None) -> list:
    """(program, inputs, outputs) of each kernel the function runs, in order; `target` as the case names it."""
    _Recorded.runs, _Recorded.recording = [], True
    with mock.patch.object(_library, "Program", _Recorded):
        running.execute(problem.function, problem.args, target)
    _Recorded.recording = False
    return list(_Recorded.runs)


def run_kernels(runs):
    for program, inputs, outputs in runs:
        program.run(inputs, outputs)


def cold(function, *args) -> float:
    """Least of a few first calls."""
    times = []
    for _ in range(COLD_CALLS):
        jax.clear_caches()
        times.append(seconds(function, *args))
    return min(times)


def cold_kernels(problem, runs):
    palladion.export(problem.function, *problem.args)
    for program, inputs, outputs in runs:
        _library.Program(program.text).run(inputs, outputs)


def interpreters(case) -> dict:
    problem = case.make()
    runs = record(problem)
    peer = lambda: jax.jit(lambda *a: problem.peer(*a))(*problem.args)  # noqa: E731
    jax.block_until_ready(peer())
    result = {"kernels": len(runs), "memory": memory(runs)}
    result["cold"] = cold(lambda: running.execute(problem.function, problem.args).results)
    result["cold_kernels"] = cold(lambda: cold_kernels(problem, runs))
    result["jax_cold"] = cold(peer)
    compiled = jax.jit(lambda *a: problem.peer(*a)).lower(*problem.args).compile()
    execution = running.execute(problem.function, problem.args, repeats=5)
    result["warm_call"] = execution.seconds
    result["warm"], result["jax_warm"] = in_turns(lambda: run_kernels(runs), lambda: compiled(*problem.args))
    return result


def in_turns(ours, theirs) -> tuple:
    """Least times of both; they take turns, so that a busy host slows both."""
    first, second, start = [], [], time.perf_counter()
    seconds(ours)
    seconds(theirs)
    while len(first) < WARM_CALLS and (len(first) < 3 or time.perf_counter() - start < WARM_SECONDS):
        first.append(seconds(ours))
        second.append(seconds(theirs))
    return min(first), min(second)


def tpu(case) -> dict:
    problem = case.make()
    runs = record(problem)
    return {"tpu_interpreter": tpu_interpreter(problem), "warm": min(seconds(run_kernels, runs) for _ in range(5))}


def races(case) -> dict:
    problem = case.make()
    runs = record(problem)
    theirs = tpu_interpreter(problem, detect_races=True)
    return {"tpu_races": theirs, "check": min(seconds(check_kernels, runs) for _ in range(5))}


def check_kernels(runs):
    for program, inputs, _ in runs:
        program.check(inputs)


def tpu_interpreter(problem, **params) -> float:
    """The compiled function in JAX's TPU interpreter: a later call, unless the first took long."""
    from jax.experimental.pallas import tpu as pltpu

    with pltpu.force_tpu_interpret_mode(pltpu.InterpretParams(**params)):
        compiled = jax.jit(lambda *a: problem.function(*a)).lower(*problem.args).compile()
    first = seconds(compiled, *problem.args)
    if first > LONG_SECONDS:
        return first
    return min(first, seconds(compiled, *problem.args))


# ---- memory


def memory(runs) -> dict:
    """Peak memory of `palladion run` above that of `palladion doctor`, and what the aim allows; of the worst kernel."""
    empty = peak([os.path.join(ROOT, "build/palladion"), "doctor"])
    found = [kernel_memory(run, empty) for run in runs]
    return max(found, key=lambda one: one["used"] / one["allowed"])


def kernel_memory(run, empty: int) -> dict:
    program, inputs, outputs = run
    with tempfile.TemporaryDirectory() as folder:
        command = kernel_command("run", program.text, inputs, folder) + ["--out", os.path.join(folder, "out")]
        used = peak(command) - empty
    return {"used": used, "allowed": 2 * data_bytes(run) + (64 << 20)}


def check_memory(run) -> dict:
    """The same of `palladion check`, and what its aim allows."""
    program, inputs, _ = run
    empty = peak([os.path.join(ROOT, "build/palladion"), "doctor"])
    with tempfile.TemporaryDirectory() as folder:
        used = peak(kernel_command("check", program.text, inputs, folder)) - empty
    return {"used": used, "allowed": 3 * data_bytes(run) + (64 << 20)}


def data_bytes(run) -> int:
    """Of operands, outputs and scratch."""
    program, inputs, outputs = run
    return sum(a.nbytes for a in inputs) + sum(a.nbytes for a in outputs) + scratch_bytes(program.text)


def kernel_command(what: str, kernel_text: str, inputs, folder: str) -> list:
    """The command that runs or checks the kernel, with its files in the folder."""
    names = re.findall(r"^\s+(?:bound|prefetch|in) %(\w+):", kernel_text, re.MULTILINE)
    if len(names) != len(inputs):
        raise RuntimeError(f"{len(inputs)} inputs, but the text names {names}")
    text = os.path.join(folder, "kernel.pkir")
    with open(text, "w", encoding="utf-8") as stream:
        stream.write(kernel_text)
    command = [os.path.join(ROOT, "build/palladion"), what, text]
    for name, array in zip(names, inputs):
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, array)
        command += ["--in", f"{name}={path}"]
    return command


def peak(command) -> int:
    """Peak resident bytes of a process."""
    done = subprocess.run([os.path.join(ROOT, "build/bench/peak_memory"), *command], capture_output=True, text=True)
    if done.returncode not in (_library.CLEAN, _library.DEFECT):
        raise RuntimeError(f"{' '.join(command[:2])} failed: {done.stderr}")
    return int(done.stdout)


def scratch_bytes(text: str) -> int:
    total = 0
    for dtype, dims in re.findall(r"^\s+scratch %\w+: ref<\w+,(\w+)\[([\d,]*)\]", text, re.MULTILINE):
        total += int(np.prod([int(d) for d in dims.split(",") if d], dtype=np.int64)) * numpy_dtype(dtype).itemsize
    return total


def main() -> int:
    what, name = sys.argv[1], " ".join(sys.argv[2:])
    cases = table.all_cases()
    if what == "list":
        tpu_groups = {1, 2, 4, 7, 8, 9}
        listed = [{"name": c.name, "quick": c.quick, "tpu": c.group in tpu_groups} for c in cases]
        print(json.dumps({"cases": listed}))
        return 0
    case = next(c for c in cases if c.name == name)
    print(json.dumps({"interpreters": interpreters, "tpu": tpu, "races": races}[what](case)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
