"""Schedules of JAX's matmuls for Hopper and Blackwell, with every check, beside Eigen's double:
docs/explanation/benchmarks.md.

    ./dev bench schedules [--schedules N] [--no-docs]

The kernels are those of jax.experimental.pallas.ops.gpu as installed, of f16. hopper_matmul_mgpu: tiles of 64 x 128 x
64 in a ring of 4, one warpgroup that fetches and two that multiply. blackwell_matmul_mgpu, collective: tiles of 256 x
256 x 64 of two blocks in a ring of 4, an epilogue of 32 columns at a time.
They are exported here and measured by schedules_main.cc, in processor time.
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "python")]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import measured_part  # noqa: E402
import numpy as np  # noqa: E402
import palladion  # noqa: E402
from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu as blackwell  # noqa: E402
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as hopper  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    target: str
    size: int
    multiply: Callable
    aim: float  # of one schedule, in multiplies
    many: bool  # is a thousand schedules measured, too?
    wrong: tuple = ()  # the codes of what is wrong with the kernel as it is shipped (docs/explanation/real-kernels.md)


def on_hopper(a, b):
    config = hopper.TuningConfig(
        tile_m=64,
        tile_n=128,
        tile_k=64,
        max_concurrent_steps=4,
        epi_tile_m=64,
        epi_tile_n=64,
        wg_dimension=hopper.MatmulDimension.N,
    )
    return hopper.matmul(a, b, None, config)


def on_blackwell(a, b):
    config = blackwell.TuningConfig(
        tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4, collective=True, epilogue_tile_n=32
    )
    return blackwell.matmul_kernel(a, b, config)


CASES = (
    Case("Hopper, 512", "h100", 512, on_hopper, 1.5, True),
    *(
        Case(f"Blackwell, collective, {size}", "b200", size, on_blackwell, 3, False, ("NOT_AWAITED",))
        for size in (1024, 2048)
    ),
)


def write_kernel(case: Case, folder: str):
    square = jax.ShapeDtypeStruct((case.size, case.size), np.float16)
    with palladion.target(case.target):
        text = str(palladion.export(case.multiply, square, square))
    with open(os.path.join(folder, "kernel.pkir"), "w", encoding="utf-8") as stream:
        stream.write(text)
    random = np.random.default_rng(1)
    for line in text.splitlines():
        if line.startswith("  in %"):
            name = line.split("%", 1)[1].split(":", 1)[0]
            np.save(os.path.join(folder, f"in_{name}.npy"), random.standard_normal(square.shape).astype(np.float16))


def page_lines(case: Case, found: dict) -> list:
    schedules, threads = found["schedules"], found["threads"]
    rows = [("one schedule with every check, over the multiply", case.aim, found["check"] / found["eigen"])]
    if case.many:
        rows.append(
            (
                f"{schedules} schedules on {threads} cores, over {schedules} multiplies on one",
                1 / 3,
                found["all"] / threads / (schedules * found["eigen"]),
            )
        )
    rows.append(("a plain run, over the multiply", None, found["run"] / found["eigen"]))
    lines = []
    for what, aim, value in rows:
        verdict = "" if aim is None else "met" if value <= aim else "missed"
        lines.append(f"| {case.name} | {what} | {'' if aim is None else f'{aim:.2g}'} | {value:.2f} | {verdict} |")
    return lines


def measure(case: Case, schedules: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        write_kernel(case, folder)
        command = [
            os.path.join(ROOT, "build/bench/schedules_bench"),
            folder,
            *3 * [str(case.size)],
            str(schedules if case.many else 1),
            *case.wrong,
        ]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{case.name}: {done.stderr.strip()}")
    print(done.stdout.strip(), flush=True)
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schedules", type=int, default=1000, help="how many, on all cores together")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/explanation/benchmarks.md as it is")
    options = parser.parse_args()
    lines = ["| kernel | what | aim: at most | measured | |", "|---|---|---|---|---|"]
    for case in CASES:
        lines += page_lines(case, measure(case, options.schedules))
    print("\n".join(lines))
    if not options.no_docs:
        measured_part.write(
            os.path.join(ROOT, "docs/explanation/benchmarks.md"),
            "schedules",
            "\n".join([measured_part.host_sentence(), "", *lines]) + "\n",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
