"""Writes hopper_matmul.txt: JAX's own Hopper matrix product as kernel text, in a few sizes whose times were published.

Usage: make_hopper_matmul.py [--out FILE]      (default: hopper_matmul.txt beside this script; needs PYTHONPATH=python)

Each entry is a line `=== NAME` and the kernel's text, without places in Python. The C++ test
emu/timing/figures/hopper_matmul_test.cc times them. The kernel is jax.experimental.pallas.ops.gpu.hopper_matmul_mgpu of
the installed JAX, on 132 SMs. Does not catch: a change of that kernel, until this script runs again.
"""

import argparse
import pathlib
import re
from unittest import mock

import jax
import numpy as np
import palladion
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu

SMS = 132
AXES = hopper_matmul_mgpu.MatmulDimension
COMMON = {"tile_n": 128, "tile_k": 64, "max_concurrent_steps": 4, "grid_tile_width": 8, "grid_minor_dim": AXES.M}
CASES = {  # m, n, k; what is chosen. Tiles of a block: 128 x 128, 128 x 256
    "1024x4096x4096, tiles of 128 x 128": ((1024, 4096, 4096), {"tile_m": 64, "wg_dimension": AXES.M}),
    "1024x4096x4096, tiles of 128 x 256": ((1024, 4096, 4096), {"tile_m": 128, "wg_dimension": AXES.N}),
    "4096x4096x4096, tiles of 128 x 256": ((4096, 4096, 4096), {"tile_m": 128, "wg_dimension": AXES.N}),
}


def text_of(sizes, options):
    m, n, k = sizes
    config = hopper_matmul_mgpu.TuningConfig(**COMMON, **options)
    a, b = jax.ShapeDtypeStruct((m, k), np.float16), jax.ShapeDtypeStruct((k, n), np.float16)
    with palladion.target("h100"), mock.patch.object(hopper_matmul_mgpu, "get_num_sms", lambda: SMS):
        text = palladion.export(lambda a, b: hopper_matmul_mgpu.matmul(a, b, None, config), a, b)
    lines = [line for line in text.splitlines() if not line.startswith(("file #", "loc #", "producer "))]
    return "\n".join(re.sub(r" #l\d+(?=[; ]|$)", "", line) for line in lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=pathlib.Path(__file__).with_name("hopper_matmul.txt"))
    out = pathlib.Path(parser.parse_args().out)
    out.write_text("".join(f"=== {name}\n{text_of(*case)}" for name, case in CASES.items()))


if __name__ == "__main__":
    main()
