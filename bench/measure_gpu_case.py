"""Measures one case of gpu_cases.py in this process; prints one line of JSON, seconds of processor time of all threads.

    measure_gpu_case.py list
    measure_gpu_case.py plain NAME     our run and the compiled function in JAX's GPU interpreter
    measure_gpu_case.py races NAME     a check of one schedule, with every check, and the interpreter with
                                       detect_races=True
    measure_gpu_case.py ours NAME      the check alone: where the interpreter cannot run the kernel

Both are traced with palladion.target("h100"), which answers what kernels ask of the device; on a host without one the
interpreter could not trace the shipped kernels at all. hopper_matmul gets FEW_SMS as the number of SMs: it starts a
cluster on each of 132, and the interpreter compiles the threads of each cluster anew.
Processor time: the interpreter has a host thread for each thread of a block, and what else the host does is in neither.
A later call counts, unless the first took long. Ours is the least of several, the kernels prepared, through the C ABI.
"""

import contextlib
import json
import sys
import time
from unittest import mock

import gpu_cases
import jax
import measure_case
import numpy as np
import palladion
from jax._src.pallas.mosaic_gpu.interpret import interpret_pallas_call
from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams, force_gpu_interpret_mode
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu

LONG_SECONDS = 20  # a call that took so long is not made again
ROUNDS = 7
FEW_SMS = 4


class _Problem:
    """What measure_case.record wants."""

    def __init__(self, case):
        self.function, self.args = case.function, case.args()


@contextlib.contextmanager
def on_h100():
    with palladion.target("h100"), mock.patch.object(hopper_matmul_mgpu, "get_num_sms", lambda: FEW_SMS):
        yield


def processor_seconds(function, *args) -> float:
    start = time.process_time()
    jax.block_until_ready(function(*args))
    return time.process_time() - start


def interpreter(problem, **params) -> tuple:
    """(seconds, results) of the compiled function in JAX's GPU interpreter."""
    with on_h100(), force_gpu_interpret_mode(InterpretGPUParams(**params)):
        lowered = jax.jit(lambda *a: problem.function(*a)).lower(*problem.args)
    compiled = lowered.compile()
    results = []
    call = lambda: results.append(compiled(*problem.args)) or results[-1]  # noqa: E731
    took = processor_seconds(call)
    if took < LONG_SECONDS:
        took = min(took, processor_seconds(call))
    if params.get("detect_races") and interpret_pallas_call.get_races().races_found:
        raise RuntimeError("the interpreter reports a race, and the check does not")
    return took, results[-1]


def check_kernels(runs):
    for program, inputs, outputs in runs:
        written = [np.array(a) for a in outputs]
        _, report = program.check(inputs, written, seeds=1, threads=1)
        wrong = [finding for finding in report["findings"] if finding["severity"] != "note"]
        if wrong:
            raise RuntimeError(f"the check finds {wrong[0]['code']}: {wrong[0]['message']}")


def measure(case, what: str) -> dict:
    problem = _Problem(case)
    with on_h100():
        runs = measure_case.record(problem)
    ours = measure_case.run_kernels if what == "plain" else check_kernels
    ours(runs)
    result = {"ours": min(processor_seconds(ours, runs) for _ in range(ROUNDS))}
    if what != "ours":
        result["interpreter"], theirs = interpreter(problem, detect_races=what == "races")
        same(runs, theirs)
    return result


def same(runs, theirs):
    """Both must have computed the same thing; what a kernel does around its kernels is left out where there are
    several.
    """
    program, inputs, outputs = runs[-1]
    written = [np.array(a) for a in outputs]
    program.run(inputs, written)
    for mine, other in zip(written, jax.tree.leaves(theirs)):
        if len(runs) == 1 and mine.shape == other.shape:
            np.testing.assert_allclose(mine.astype(np.float64), np.asarray(other, np.float64), rtol=2e-2, atol=2e-2)


def main() -> int:
    what, name = sys.argv[1], " ".join(sys.argv[2:])
    cases = gpu_cases.all_cases()
    if what == "list":
        print(json.dumps({"cases": [{"name": case.name, "quick": case.quick} for case in cases]}))
        return 0
    print(json.dumps(measure(next(case for case in cases if case.name == name), what)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
