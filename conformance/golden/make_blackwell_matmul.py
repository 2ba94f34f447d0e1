"""Writes blackwell_matmul.txt: the steps of JAX's Blackwell tutorial as kernel text, in the size whose times were
published.

Usage: make_blackwell_matmul.py [--out FILE]
    (default: blackwell_matmul.txt beside this script; needs PYTHONPATH=python)

Each entry is a line `=== NAME` and the kernel's text, without places in Python. The C++ test
emu/timing/figures/blackwell_matmul_test.cc times them. The kernels are those of python/tests/blackwell_tutorial.py, on
74 pairs of SMs. Tiles of a block are 128 x 256, as wide as tensor memory's sums allow, in as many slots as shared
memory holds; which tiles JAX's page was measured with is not known here. Does not catch: a change of those kernels,
until this script runs again.
"""

import argparse
import pathlib
import re
import sys

import jax
import numpy as np
import palladion

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests"))
import blackwell_tutorial

M, N, K = 4096, 8192, 4096
PAIR = {"tile_n": 128, "slots": 6}  # of one block; a pair has 256 x 256
SIZES = {
    "basic": {"tile_n": 256, "slots": 3},
    "warp specialised": {"tile_n": 256, "slots": 3},
    "tiled epilogue": {"tile_n": 256, "slots": 4},
}


def text_of(step):
    config = blackwell_tutorial.Config(tile_m=128, tile_k=64, epilogue_n=64, clusters=74, **SIZES.get(step, PAIR))
    a, b = jax.ShapeDtypeStruct((M, K), np.float16), jax.ShapeDtypeStruct((K, N), np.float16)
    with palladion.target("b200"):
        text = palladion.export(blackwell_tutorial.matmul(step, config), a, b)
    lines = [line for line in text.splitlines() if not line.startswith(("file #", "loc #", "producer "))]
    return "\n".join(re.sub(r" #l\d+(?=[; ]|$)", "", line) for line in lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=pathlib.Path(__file__).with_name("blackwell_matmul.txt"))
    out = pathlib.Path(parser.parse_args().out)
    out.write_text("".join(f"=== {step}\n{text_of(step)}" for step in blackwell_tutorial.STEPS))


if __name__ == "__main__":
    main()
