"""What emulation inside JAX programs costs: each call, and making a kernel ready.
Writes its part of docs/explanation/benchmarks.md.

    ./dev bench jax [--no-docs]

Calls: one operation on f32[8,128], jitted, from the call to its result being there; beside a jitted function that does
nothing, in turns in one process, median of many. Readiness: flash attention's kernel for a TPU, from JAX's traced
function: our text and our preparation (cold, no kernel kept),
beside XLA's compilation of the same with interpret=True; lowering is in neither.
"""

import argparse
import os
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import palladion
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas.ops.tpu import flash_attention
from palladion import _library
from palladion.bridge import rules, transport

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import measured_part  # noqa: E402

CALLS, ROUNDS = 200, 15
AIM_MICROSECONDS = 100


def add_one(x, **options):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


def call_times() -> dict:
    """Microseconds of one call, by what is called."""
    x = jnp.ones((8, 128))
    functions = {"empty": jax.jit(lambda v: v)}
    for name, options, environment in (("run", {}, ""), ("check", {"seeds": 16}, ""), ("callback", {}, "callback")):
        os.environ["PALLADION_TRANSPORT"] = environment
        with palladion.emulate(**options):
            # called after it: its reports are folded, outside of any session
            functions[name] = jax.jit(add_one).lower(x).compile()
    os.environ["PALLADION_TRANSPORT"] = ""
    functions["interpret=True"] = jax.jit(lambda v: add_one(v, interpret=True))
    times = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():
            for _ in range(CALLS):
                start = time.perf_counter()
                jax.block_until_ready(function(x))
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) * 1e6 for name, values in times.items()}


def ready_times() -> dict:
    """Milliseconds: ours (text and preparation) and XLA's compilation of the HLO interpreter's program."""
    q = jnp.ones((1, 2, 256, 64))
    ours, xla = [], []
    call_of, spent = rules._call_of, []

    def timed(*arguments):
        start = time.perf_counter()
        try:
            return call_of(*arguments)
        finally:
            spent.append(time.perf_counter() - start)

    for number in range(5):

        def attention(q, k, v, scale=1.0 + number):  # another kernel each time, so that none is known
            return flash_attention.flash_attention(q, k, v, causal=True, sm_scale=scale)

        spent.clear()
        rules._call_of = timed
        try:
            with palladion.emulate("v5e"):
                jax.jit(attention).trace(q, q, q).lower()
        finally:
            rules._call_of = call_of
        ours.append(sum(spent))
        with pltpu.force_tpu_interpret_mode(True):
            lowered = jax.jit(attention).trace(q, q, q).lower()
        start = time.perf_counter()
        lowered.compile()
        xla.append(time.perf_counter() - start)
    return {"ours": statistics.median(ours) * 1e3, "xla": statistics.median(xla) * 1e3}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-docs", action="store_true", help="leave docs/explanation/benchmarks.md as it is")
    options = parser.parse_args()
    _library.load()
    assert transport.custom_call_is_there(), "the library was built without XLA's FFI headers"
    calls, ready = call_times(), ready_times()
    lines = [measured_part.host_sentence(), "", "| what | aim | measured | |", "|---|---|---|---|"]
    beyond = calls["run"] - calls["empty"]
    lines.append(
        f"| a call of a one-operation kernel beyond an empty jitted call, microseconds | at most {AIM_MICROSECONDS} | "
        f"{beyond:.3g} | {'met' if beyond <= AIM_MICROSECONDS else 'missed'} |"
    )
    ratio = ready["ours"] / ready["xla"]
    lines.append(
        f"| flash attention: text and preparation over XLA's compilation with interpret=True | below 1 | {ratio:.3g} | "
        f"{'met' if ratio < 1 else 'missed'} |"
    )
    lines += ["", "| one call, over the empty jitted call | ratio |", "|---|---|"]
    names = {
        "run": "run, custom call",
        "check": "checked, 16 seeds",
        "callback": "run, Python callback",
        "interpret=True": "JAX's interpret=True",
    }
    lines += [f"| {title} | {calls[name] / calls['empty']:.3g} |" for name, title in names.items()]
    print("\n".join(lines))
    if not options.no_docs:
        measured_part.write(os.path.join(ROOT, "docs/explanation/benchmarks.md"), "jax", "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
