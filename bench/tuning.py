"""`palladion.tune` on kernels that JAX ships: what it chooses against timing every candidate by itself, and how many
candidates it goes through in a second.

    ./dev bench tune [--filter X] [--no-docs]

Each space is tuned (one check, four schedules), and then each of its candidates is timed by itself as `palladion.time`
does, with its values. Then the table becomes a part of docs/explanation/benchmarks.md. Exit code 1 where another
candidate than the chosen one is the fastest of all, or a candidate that was not timed is faster. Seconds are of this
machine, whatever else runs on it. What this does not show: whether the model of time ranks candidates as a chip does
(docs/explanation/time.md).
"""

import argparse
import dataclasses
import functools
import os
import sys
import time
from collections.abc import Callable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "python"), os.path.join(ROOT, "python", "tests")]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import measured_part  # noqa: E402
import numpy as np  # noqa: E402
import palladion  # noqa: E402
import tuned_kernels  # noqa: E402
from jax.experimental.pallas.ops.gpu import attention_mgpu, ragged_dot_mgpu  # noqa: E402
from jax.experimental.pallas.ops.tpu import megablox, ragged_paged_attention  # noqa: E402
from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention_kernel  # noqa: E402


@dataclasses.dataclass
class Case:
    """What is tuned: `f(*args, **sizes)` over a space, on a target."""

    name: str
    f: Callable
    args: tuple
    space: dict
    target: str


def grouped_matmul(lhs, rhs, groups, tile_m=128, tile_k=128, tile_n=128):
    return megablox.gmm(lhs, rhs, groups, jnp.float32, (tile_m, tile_k, tile_n))


def paged_attention(q, k, v, lengths, pages, pages_per_block=2):
    return paged_attention_kernel.paged_attention(q, k, v, lengths, pages, pages_per_compute_block=pages_per_block)


def ragged_paged(q, kv, lengths, pages, starts, count, pages_per_block=2, queries_per_block=16):
    return ragged_paged_attention.ragged_paged_attention(
        q, kv, lengths, pages, starts, count,
        num_kv_pages_per_block=pages_per_block, num_queries_per_block=queries_per_block,
    )  # fmt: skip


def hopper_attention(q, k, v, block_q=64, block_kv=64, stages=2):
    config = attention_mgpu.TuningConfig(block_q=block_q, block_kv=block_kv, max_concurrent_steps=stages)
    return attention_mgpu.attention(q, k, v, config)


def hopper_ragged(lhs, rhs, groups, block_n=64, stages=2):
    sizes = {"block_m": 64, "block_n": block_n, "block_k": 64, "max_concurrent_steps": stages, "grid_block_n": 1}
    return ragged_dot_mgpu.ragged_dot(lhs, rhs, group_sizes=groups, **sizes)


def cases() -> list[Case]:
    random, i32 = tuned_kernels.random, functools.partial(np.array, dtype=np.int32)
    x, heads = random((1024, 1024)), random((1, 4, 1024, 128))
    half = functools.partial(random, dtype=jnp.float16)
    pages = np.arange(32, dtype=np.int32)
    blocks = [128, 256, 512, 1024]
    return [
        Case("matmul, bf16 1024", tuned_kernels.matmul, (x, x), {"bm": blocks, "bn": blocks, "bk": blocks}, "v6e"),
        Case("flash attention, 1024 of 4 heads", tuned_kernels.flash_attention, (heads,) * 3,
             {"block_q": blocks, "block_k": blocks}, "v6e"),
        Case("splash attention, 1024 of 4 heads", tuned_kernels.splash_attention, (heads[0],) * 3,
             {"block_q": blocks, "block_kv": blocks}, "v5e"),
        Case("grouped matmul (megablox gmm), 4 groups", grouped_matmul,
             (random((512, 512)), random((4, 512, 512)), i32([100, 200, 12, 200])),
             {"tile_m": [128, 256, 512], "tile_k": [128, 256, 512], "tile_n": [128, 256, 512]}, "v6e"),
        Case("paged attention, 4 sequences", paged_attention,
             (random((4, 8, 128)), *[random((2, 32, 16, 128), seed=n) for n in (1, 2)], i32([128, 60, 90, 17]),
              pages.reshape(4, 8)), {"pages_per_block": [1, 2, 4, 8]}, "v5e"),
        Case("ragged paged attention, 4 sequences", ragged_paged,
             (random((64, 8, 128)), random((32, 16, 4, 128)), i32([128, 60, 90, 17]), pages.reshape(4, 8),
              i32([0, 20, 40, 60, 64]), i32([4])),
             {"pages_per_block": [2, 4, 8], "queries_per_block": [8, 16, 32]}, "v6e"),
        Case("Hopper matmul, f16 512", tuned_kernels.hopper_matmul, (half((512, 512)),) * 2,
             {"tile_m": [64, 128], "tile_n": [64, 128], "stages": [2, 4, 6]}, "h100"),
        Case("Hopper attention, 512 of 2 heads", hopper_attention, (half((1, 512, 2, 64)),) * 3,
             {"block_q": [64, 128], "block_kv": [64, 128], "stages": [2, 3]}, "h100"),
        Case("Hopper ragged product, 2 groups", hopper_ragged, (half((256, 256)), half((2, 256, 256)), i32([100, 156])),
             {"block_n": [64, 128], "stages": [2, 4]}, "h100"),
    ]  # fmt: skip


@dataclasses.dataclass
class Row:
    """One case: seconds of tuning, of all its checks, and of timing each candidate by itself."""

    case: Case
    result: palladion.Tuned
    tuned_seconds: float
    each_seconds: float
    times: list[float | None]

    @property
    def fastest(self) -> float:
        return min(one for one in self.times if one is not None)

    @property
    def right(self) -> bool:
        return self.result.best is not None and self.result.best.seconds <= self.fastest * (1 + 1e-9)


def time_of(case: Case, sizes: dict) -> float | None:
    try:
        return palladion.time(functools.partial(case.f, **sizes), *case.args, target=case.target).seconds
    except Exception:  # of the kernel, of JAX, or of the target: the candidate cannot run
        return None


def measure(case: Case) -> Row:
    jax.clear_caches()
    begin = time.perf_counter()
    result = palladion.tune(case.f, case.args, space=case.space, target=case.target, seeds=4, checks=1)
    tuned_seconds = time.perf_counter() - begin
    jax.clear_caches()
    begin = time.perf_counter()
    # What may be refused by the target's compiler is timed by neither.
    times = [None if one.status == "may be refused" else time_of(case, one.sizes) for one in result.rows]
    return Row(case, result, tuned_seconds, time.perf_counter() - begin, times)


HEAD = ["kernel", "target", "candidates", "timed", "chosen", "time", "fastest of all", "spread", "tune", "a second",
        "each by itself"]  # fmt: skip


def cells(row: Row) -> list[str]:
    timed = sum(one.seconds is not None for one in row.result.rows)
    known = [one for one in row.times if one is not None]
    return [
        row.case.name,
        row.case.target,
        str(len(row.result.rows)),
        str(timed),
        row.result.best.name if row.result.best else "none",
        f"{row.result.best.seconds * 1e6:.2f} us" if row.result.best else "",
        f"{row.fastest * 1e6:.2f} us",
        f"{max(known) / min(known):.1f}",
        f"{row.tuned_seconds:.1f} s",
        f"{len(row.result.rows) / row.tuned_seconds:.1f}",
        f"{row.each_seconds:.1f} s",
    ]


def lines(rows: list[Row]) -> list[str]:
    return [f"| {' | '.join(one)} |" for one in [HEAD, ["---"] * len(HEAD), *map(cells, rows)]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only the cases whose name contains this")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/explanation/benchmarks.md as it is")
    options = parser.parse_args()
    rows = []
    for case in cases():
        if options.filter in case.name:
            rows.append(measure(case))
            print("  ".join(cells(rows[-1])), flush=True)
    if not rows:
        print(f"no case has {options.filter!r} in its name", file=sys.stderr)
        return 1
    if not options.no_docs:
        text = "\n".join([measured_part.host_sentence(), "", *lines(rows)]) + "\n"
        measured_part.write(os.path.join(ROOT, "docs/explanation/benchmarks.md"), "tune", text)
    wrong = [row.case.name for row in rows if not row.right]
    for name in wrong:
        print(f"{name}: another candidate is faster than the chosen one", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
