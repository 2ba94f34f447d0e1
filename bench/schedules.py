"""Schedules of JAX's Hopper matmul, with every check, beside the same multiply in Eigen's double: docs/benchmarks.md.

    ./dev bench schedules [--schedules N] [--no-docs]

The kernel is jax.experimental.pallas.ops.gpu.hopper_matmul_mgpu as installed: f16 [512,512] x [512,512], tiles of 64 x 128 x 64 in a
ring of 4, one warpgroup that fetches and two that multiply. It is exported here and measured by schedules_main.cc, in processor time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "python")]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import measured_part  # noqa: E402
import numpy as np  # noqa: E402
import palladion  # noqa: E402
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as hopper  # noqa: E402

SIZE = 512


def write_kernel(folder: str):
    config = hopper.TuningConfig(tile_m=64, tile_n=128, tile_k=64, max_concurrent_steps=4, epi_tile_m=64, epi_tile_n=64,
                                 wg_dimension=hopper.MatmulDimension.N)
    square = jax.ShapeDtypeStruct((SIZE, SIZE), np.float16)
    with palladion.target("h100"):
        text = str(palladion.export(lambda a, b: hopper.matmul(a, b, None, config), square, square))
    with open(os.path.join(folder, "kernel.pkir"), "w", encoding="utf-8") as stream:
        stream.write(text)
    random = np.random.default_rng(1)
    for line in text.splitlines():
        if line.startswith("  in %"):
            name = line.split("%", 1)[1].split(":", 1)[0]
            np.save(os.path.join(folder, f"in_{name}.npy"), random.standard_normal((SIZE, SIZE)).astype(np.float16))


def page_lines(found: dict) -> list:
    schedules, threads = found["schedules"], found["threads"]
    rows = [("one schedule with every check, over the multiply", 1.5, found["check"] / found["eigen"]),
            (f"{schedules} schedules on {threads} cores, over {schedules} multiplies on one", 1 / 3,
             found["all"] / threads / (schedules * found["eigen"])),
            ("a plain run, over the multiply", None, found["run"] / found["eigen"])]
    lines = ["| what | aim: at most | measured | |", "|---|---|---|---|"]
    for what, aim, value in rows:
        verdict = "" if aim is None else "met" if value <= aim else "missed"
        lines.append(f"| {what} | {'' if aim is None else f'{aim:.2g}'} | {value:.2f} | {verdict} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schedules", type=int, default=1000, help="how many, on all cores together")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_kernel(folder)
        command = [os.path.join(ROOT, "build/bench/schedules_bench"), folder, *3 * [str(SIZE)], str(options.schedules)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return 1
    lines = page_lines(json.loads(done.stdout))
    print(done.stdout + "\n".join(lines))
    if not options.no_docs:
        measured_part.write(os.path.join(ROOT, "docs/benchmarks.md"), "schedules", "\n".join([measured_part.host_sentence(), "", *lines]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
