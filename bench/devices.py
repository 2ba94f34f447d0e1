"""Kernels of several TPU devices here and in JAX's TPU interpreter, with and without race detection: docs/benchmarks.md.

    ./dev bench devices [--no-docs]

Each row runs in a process of its own with 8 host devices: the same jitted program (python/tests/device_programs.py), compiled, the fastest
of some later calls. With race detection ours has every check on, and one schedule, as JAX's has.
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


def program(name, devices):
    """(kernel, scratch) of a row."""
    import device_programs as programs
    import jax.numpy as jnp
    from jax.experimental.pallas import tpu as pltpu
    dma = [programs.DMA, programs.DMA]
    slots = pltpu.VMEM((2, programs.ROWS, 128), jnp.float32)
    kernel, scratch = {"right permute": (functools.partial(programs.permute, meets=False), dma),
                       "ring sum": (functools.partial(programs.ring_sum, capacity=True), [slots, *dma, programs.COUNT]),
                       "all to all": (programs.everyone, dma)}[name]
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
        theirs = programs.on_mesh(kernel, programs.line(devices), scratch=scratch, interpret=pltpu.InterpretParams(detect_races=races))
        their_time = fastest(theirs, x)
        ours = programs.on_mesh(kernel, programs.line(devices), scratch=scratch)
        with palladion.emulate("v5e", **({"seeds": 1} if races else {})):
            found["races" if races else "plain"] = their_time / fastest(ours, x)
    return found


def child(name, devices) -> dict:
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--row", name, str(devices)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} on {devices} devices: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(options.row[0], int(options.row[1]))))
        return 0
    import measured_part
    lines = [f"| kernel | devices | plain run: JAX's time over ours | with race detection (aim {AIM}, never below {LEAST}) | |", "|---|---|---|---|---|"]
    for name, devices in ROWS:
        found = child(name, devices)
        verdict = "met" if found["races"] >= AIM else "missed" if found["races"] >= LEAST else "below the least"
        lines.append(f"| {name} | {devices} | {found['plain']:.0f} | {found['races']:.0f} | {verdict} |")
        print(lines[-1])
    if not options.no_docs:
        measured_part.write(os.path.join(ROOT, "docs/benchmarks.md"), "devices", "\n".join([measured_part.host_sentence(), "", *lines]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
