"""Times the kernels of timed_kernels.py on this machine's GPU: ./dev record --times [--out FILE] [PART OF A NAME...].

Needs JAX with CUDA and CuPy; nothing of Palladion. Each kernel runs again and again, by CUPTI's times; what it reads is
not in L2 before (a large array is written in between), and once more without that. The clock is measured on the GPU
while the kernel runs (tools/calibration/clock.py), by a thread that needs an SM for itself, so kernels that fill all
SMs are made for a few less then. A kernel that fails is noted, and the rest goes on.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_gpu_enable_command_buffer="
)  # CUPTI is to see each kernel

import jax
import jax.numpy as jnp
import timed_kernels

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "tools"))

from calibration.clock import rate_during  # noqa: E402

FLUSHED = 256 << 20  # bytes written between two executions; L2 has 50 or 60 MiB
WHILE, LEAST, MOST = 0.1, 12, 200  # seconds, executions
FREE = 121  # SMs of a kernel beside which the clock is measured: 11 x 11
TOGETHER = 8  # executions of one dispatch, so that little is between them


def by_cupti(function, args, iterations):
    """The kernels' times of each execution, [(name, milliseconds)]."""
    from jax.experimental.mosaic.gpu import profiler

    _, times = profiler.measure(function, aggregate=False, iterations=iterations)(*args)
    if times is None:
        raise RuntimeError("CUPTI saw no kernel; is its library of the driver's version?")
    return times


def again_and_again(function):
    """A few executions one after another: each has an argument that the one before could have changed."""

    def call(*args):
        results = None
        for _ in range(TOGETHER):
            results = function(*args)
            args, _ = jax.lax.optimization_barrier((args, results))
        return results

    return jax.jit(call)


def times_of(one):
    function, args = one.make()
    args = [jax.device_put(x) for x in args]
    compiled = jax.jit(lambda *a: function(*a))
    alone = by_cupti(compiled, args, LEAST)
    names = {name for name, _ in alone[0]}
    of_one = statistics.median(sum(t for _, t in run) for run in alone) * 1e-3
    flush = jnp.zeros(FLUSHED // 4, jnp.float32)

    def cold(flush, *a):
        return compiled(*a), jax.lax.optimization_barrier(flush) + 1.0

    runs = by_cupti(jax.jit(cold), (flush, *args), int(min(MOST, max(LEAST, WHILE / (of_one + 0.2e-3)))))
    seconds = sorted(sum(t for name, t in run if name in names) * 1e-3 for run in runs)
    again = sorted(
        sum(t for _, t in run) * 1e-3
        for run in by_cupti(compiled, args, int(min(2 * MOST, max(LEAST, WHILE / of_one))))
    )
    beside, beside_args = one.make(FREE) if one.fills else (function, args)
    beside_args = [jax.device_put(x) for x in beside_args]
    together = again_and_again(beside)
    rate = rate_during(lambda: together(*beside_args), WHILE)
    return {
        "seconds": statistics.median(seconds),
        "least": seconds[0],
        "most": seconds[-1],
        "runs": len(seconds),
        "again": {"seconds": statistics.median(again), "least": again[0], "most": again[-1], "runs": len(again)},
        "ghz": rate.mean * 1e-9,
        "ghz_least": rate.least * 1e-9,
        "ghz_most": rate.most * 1e-9,
    }


def about():
    asked = [
        "nvidia-smi",
        "--query-gpu=name,driver_version,vbios_version,clocks.max.sm,power.limit",
        "--format=csv,noheader,nounits",
    ]
    name, driver, bios, most, power = [
        x.strip()
        for x in subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split("\n")[0].split(",")
    ]
    return {
        "device": name,
        "driver": driver,
        "vbios": bios,
        "clock_most_mhz": int(most),
        "power_limit_watts": float(power),
        "jax": jax.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("parts", nargs="*", help="only kernels whose names have one of these in them")
    parser.add_argument("--out", default=os.path.join(HERE, "h200", "times.json"))
    parser.add_argument("--limit", type=float, default=1e9, help="seconds for all")
    chosen = parser.parse_args()
    found, start = {}, time.monotonic()
    for name, one in timed_kernels.kernels().items():
        if chosen.parts and not any(part in name for part in chosen.parts):
            continue
        if time.monotonic() - start > chosen.limit:
            found[name] = {"failed": "the time for all was over"}
            continue
        try:
            found[name] = times_of(one)
        except Exception as error:  # of compilers and drivers, in many types
            found[name] = {"failed": re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:400]}
        print(name, found[name], file=sys.stderr, flush=True)
        with open(chosen.out, "w", encoding="utf-8") as out:
            json.dump({**about(), "kernels": found}, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
