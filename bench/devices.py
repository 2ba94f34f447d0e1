"""Kernels of several devices: docs/explanation/benchmarks.md.

    ./dev bench devices [--only tpu|gpu] [--no-docs]

TPUs, here and in JAX's TPU interpreter, with and without race detection. Each row runs in a process of its own with 8
host devices: the same jitted program (python/tests/device_programs.py), compiled, the fastest of some later calls. With
race detection ours has every check on, and one schedule, as JAX's has.

GPUs, on 1, 2, 4 and 8 devices: what a device costs more than one alone. The collective matmul of the JAX wheel, each
device with the same product however many there are (its rows are gathered from all of them);
a process for each number of devices, in turns, the fastest of all.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("tools", "python", "python/tests")]
ROWS = (("right permute", 8), ("ring sum", 2), ("ring sum", 4), ("ring sum", 8), ("all to all", 8))
AIM, LEAST, CALLS = 100, 20, 5  # times as fast
GPUS, ROUNDS = (1, 2, 4, 8), 2
PRODUCTS = ((512, 512, 256), (2048, 1024, 1024))  # rows, depth and columns of each device's
GPU_AIM = 1  # of many devices over as many times one


def program(name, devices):
    """(kernel, scratch) of a row."""
    import device_programs as programs
    import jax.numpy as jnp
    from jax.experimental.pallas import tpu as pltpu

    dma = [programs.DMA, programs.DMA]
    slots = pltpu.VMEM((2, programs.ROWS, 128), jnp.float32)
    kernel, scratch = {
        "right permute": (functools.partial(programs.permute, meets=False), dma),
        "ring sum": (functools.partial(programs.ring_sum, capacity=True), [slots, *dma, programs.COUNT]),
        "all to all": (programs.everyone, dma),
    }[name]
    return functools.partial(kernel, n=devices), scratch


def fastest(function, x) -> float:
    import jax

    times = []
    for _ in range(CALLS + 1):  # the first compiles
        start = time.perf_counter()
        jax.block_until_ready(function(x))
        times.append(time.perf_counter() - start)
    return min(times[1:])


def measure(name, devices) -> dict:
    import device_programs as programs
    import palladion
    from jax.experimental.pallas import tpu as pltpu

    kernel, scratch = program(name, devices)
    x, found = programs.numbers(devices), {}
    for races in (False, True):
        theirs = programs.on_mesh(
            kernel, programs.line(devices), scratch=scratch, interpret=pltpu.InterpretParams(detect_races=races)
        )
        their_time = fastest(theirs, x)
        ours = programs.on_mesh(kernel, programs.line(devices), scratch=scratch)
        with palladion.emulate("v5e", **({"seeds": 1} if races else {})):
            found["races" if races else "plain"] = their_time / fastest(ours, x)
    return found


def measure_gpus(devices, rows, depth, columns) -> dict:
    """Seconds of a plain run and of a schedule with every check."""
    import gpu_device_kernels as kernels
    import palladion

    kernels.all_devices_are(devices)
    function, args, _ = kernels.multiplied(devices, rows // devices, depth, columns)
    found = {}
    for name, session in (("plain", {}), ("checked", {"seeds": 1})):
        with palladion.emulate(kernels.H100, on_defect="collect", **session):
            found[name] = fastest(lambda _: function(*args), None)
    return found


def child(name, *numbers) -> dict:
    command = [sys.executable, os.path.abspath(__file__), "--row", name, *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} {numbers}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def tpu_lines():
    yield (
        f"| kernel | devices | plain run: JAX's time over ours | with race detection (aim {AIM}, never below "
        f"{LEAST}) | |"
    )
    yield "|---|---|---|---|---|"
    for name, devices in ROWS:
        found = child(name, devices)
        verdict = "met" if found["races"] >= AIM else "missed" if found["races"] >= LEAST else "below the least"
        yield f"| {name} | {devices} | {found['plain']:.0f} | {found['races']:.0f} | {verdict} |"


def gpu_lines():
    yield (
        "| each device's product | GPUs | plain run over as many times one | checked, one schedule (aim: at most "
        f"{GPU_AIM}) | |"
    )
    yield "|---|---|---|---|---|"
    for product in PRODUCTS:
        turns = [{devices: child("gpu", devices, *product) for devices in GPUS} for _ in range(ROUNDS)]
        least = {
            devices: {name: min(turn[devices][name] for turn in turns) for name in turns[0][devices]}
            for devices in GPUS
        }
        for devices in GPUS:
            plain, checked = (least[devices][name] / (devices * least[1][name]) for name in ("plain", "checked"))
            met = "met" if checked <= GPU_AIM else "missed"
            yield f"| {' x '.join(map(str, product))} | {devices} | {plain:.2f} | {checked:.2f} | {met} |"


PARTS = {"tpu": ("devices", tpu_lines), "gpu": ("gpu-devices", gpu_lines)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, help="one kind of devices")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/explanation/benchmarks.md as it is")
    parser.add_argument("--row", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        name, numbers = options.row[0], list(map(int, options.row[1:]))
        print(json.dumps(measure_gpus(*numbers) if name == "gpu" else measure(name, *numbers)))
        return 0
    import measured_part

    for kind in [options.only] if options.only else PARTS:
        part, rows = PARTS[kind]
        lines = []
        for row in rows():
            lines.append(row)
            print(row, flush=True)
        if not options.no_docs:
            page = os.path.join(ROOT, "docs/explanation/benchmarks.md")
            measured_part.write(page, part, "\n".join([measured_part.host_sentence(), "", *lines]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
