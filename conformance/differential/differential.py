"""Random kernels here and in JAX's own interpreters: the same numbers, within what two right implementations may differ
by.

    ./dev differential [KERNELS [FIRST]] [--mode interpret|tpu|gpu|pipelines] [--jobs N] [--out FOLDER]

Each kernel (random_kernel.py; for a GPU thread_kernel.py) is run by Palladion and, through palladion.to_jax, by JAX.
Where they differ the kernel is reduced while they still do (palladion.reduce) and written to FOLDER. Exits nonzero when
there is a difference. With --mode pipelines (random_pipelines.py) what is found of a TPU kernel's pipeline must be what
the order of its copies allows, too.
"""

import argparse
import concurrent.futures
import dataclasses
import multiprocessing
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "python")]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np  # noqa: E402
from random_kernel import NUMPY, RandomKernel, random_kernel  # noqa: E402
from thread_kernel import thread_kernel  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Difference:
    seed: int
    output: str
    found: str  # in words: the first element, what each gave, what may lie between
    text: str = ""


def ours(kernel: RandomKernel) -> dict:
    from palladion import _library

    program = _library.Program(kernel.text)
    outputs = {name: np.zeros(shape, NUMPY[dtype]) for name, (dtype, shape) in output_types(kernel.text).items()}
    program.run(list(kernel.inputs.values()), list(outputs.values()))
    return outputs


def output_types(text: str) -> dict:
    """dtype and shape of each output, as the text says them."""
    outputs = re.findall(r"^ *out %(\w+): (\w+)\[([\d,]*)\]", text, re.MULTILINE)
    return {name: (dtype, tuple(int(n) for n in shape.split(",") if n)) for name, dtype, shape in outputs}


def theirs(kernel: RandomKernel, mode: str) -> dict:
    import jax
    import palladion
    from palladion.jax import probes

    call = palladion.to_jax(kernel.text, interpret=_interpreter(mode))
    if mode == "gpu":
        with probes.of_target("mosaic_gpu/h100"):  # tracing asks the device what it is
            results = call(*kernel.inputs.values())
    else:
        once = {"xla_backend_optimization_level": 0}  # each kernel runs once: compiling is what costs
        results = jax.jit(call, compiler_options=once)(*kernel.inputs.values())
    return dict(zip(output_types(kernel.text), (np.asarray(result) for result in results)))


def _interpreter(mode: str):
    if mode == "interpret":
        return True
    if mode == "tpu":
        from jax.experimental.pallas import tpu

        return tpu.InterpretParams(dma_execution_mode="eager")
    from jax._src.pallas.mosaic_gpu.interpret import interpret_pallas_call, params

    interpret_pallas_call.reset_gpu_interpret_mode_state()  # an error leaves the state of its kernel behind
    return params.InterpretGPUParams()


def made(seed: int, mode: str) -> RandomKernel | None:
    """None: of this number there is no kernel whose outputs are known in every order."""
    return thread_kernel(seed) if mode == "gpu" else random_kernel(seed, in_turn=mode == "tpu")


def difference(kernel: RandomKernel, mode: str) -> Difference | None:
    """The first element that is further apart than two right implementations can be."""
    mine, other = ours(kernel), theirs(kernel, mode)
    for name, error in kernel.errors.items():
        one, two = mine[name], other[name]
        if error == 0.0:
            apart = ~((one == two) | ((one != one) & (two != two)))
        else:
            apart = ~(np.abs(one.astype(np.float64) - two.astype(np.float64)) <= error)
        if apart.any():
            at = tuple(int(i) for i in np.argwhere(apart)[0])
            found = (
                f"{name}{list(at)} is {one[at]} here and {two[at]} in JAX, of {int(apart.sum())} such elements; "
                f"at most {error:.3g} may lie between"
            )
            return Difference(kernel.seed, name, found, kernel.text)
    return None


def judge(seed: int, mode: str) -> Difference | None:
    if mode == "pipelines":
        return judge_pipeline(seed)
    kernel = made(seed, mode)
    if kernel is None:
        return None
    try:
        return difference(kernel, mode)
    except Exception as error:  # noqa: BLE001 - whatever either of them raises is a difference
        return Difference(seed, "", f"{type(error).__name__}: {str(error)[:300]}", kernel.text)


def judge_pipeline(seed: int) -> Difference | None:
    import random_pipelines

    pipeline = random_pipelines.random_pipeline(seed)
    found = random_pipelines.judge(pipeline)
    return Difference(seed, "", found, random_pipelines.described(pipeline)) if found else None


def judge_all(seeds, mode: str, jobs: int):
    """The differences, in the order of the seeds; each process is a new one, so that JAX's caches end with it."""
    if jobs == 1:
        yield from filter(None, (judge(seed, mode) for seed in seeds))
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from filter(None, pool.map(judge, seeds, [mode] * len(seeds), chunksize=10))


def reduced(found: Difference, mode: str) -> str:
    """The kernel of a difference, as small as it still differs."""
    import palladion

    kernel = made(found.seed, mode)

    def differs(text: str, inputs: list) -> bool:
        errors = {name: kernel.errors[name] for name in output_types(text) if name in kernel.errors}
        try:
            return difference(RandomKernel(found.seed, text, dict(enumerate(inputs)), errors), mode) is not None
        except Exception:  # noqa: BLE001 - another mistake than the one that is looked for
            return False

    return palladion.reduce(kernel.text, list(kernel.inputs.values()), keep=differs).text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="?", type=int, default=1000)
    parser.add_argument("first", nargs="?", type=int, default=1)
    parser.add_argument("--mode", choices=("interpret", "tpu", "gpu", "pipelines"), default="interpret")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="where kernels that differ go, reduced")
    options = parser.parse_args()
    differ = 0
    for found in judge_all(range(options.first, options.first + options.kernels), options.mode, options.jobs):
        differ += 1
        print(f"kernel {found.seed}: {found.found}", flush=True)
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            name = f"{found.seed}.txt" if options.mode == "pipelines" else f"{found.seed}.pkir"
            (options.out / name).write_text(reduced(found, options.mode) if found.output else found.text)
    print(f"{options.kernels} kernels from {options.first}: {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
