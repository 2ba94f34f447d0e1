"""The operations of the package tokamax under `palladion.emulate`, unchanged, against its own XLA implementation: `./dev test-packages`.

A row is an operation, one of its implementations and a chip. A row that runs has to agree with a higher precision: `implementation="xla"` of
the same operands in f32, with products of f32, of quantised operands the product of what they stand for; and to have no finding but those
that tokamax_findings.py argues; one that cannot run has to say so by name. Small shapes: what is tried is whether they run and are right. It needs tokamax (docs/explanation/production-kernels.md says which), and
is no part of `./dev test`. With JAX before 0.10 it runs the rows that need one.
"""

import argparse
import dataclasses
import logging
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import qwix
import tokamax
import tokamax_models  # noqa: F401  (says what the kernels' machine code means)
from tokamax._src import quantization
from tokamax._src.ops.gated_linear_unit import pallas_mosaic_gpu as glu
from tokamax._src.ops.ragged_dot import pallas_mosaic_gpu as dot
from tokamax_findings import ARGUED, argued

import palladion


OLDER = jax.__version_info__ < (0, 10)  # this JAX has what tokamax 0.0.12 still asks for

# Why a row does not run: a pattern of what is said, and what that is.
REFUSED = {
    "older JAX": (r"no attribute '(TransposeTransform|unswizzle_ref|untile_ref)'",
                  "tokamax asks JAX 0.10.2 for `TransposeTransform`, `unswizzle_ref` or `untile_ref` of plgpu, which JAX had until 0.9"),
    "two barriers": (r"barrier_wait\(barrier=%store_gmem_done_barrier_ref\)`: expected one of the 2 that the ref holds",
                     "ragged_dot's `store_gmem_done_barrier` is two barriers, and is waited for without an index (kernel_sm90_quant_ws_async_store.py, "
                     "lines 213 and 248). JAX 0.10.2 refuses that too (BarrierRef.get_ptr: \"only valid for a single barrier\"); JAX 0.8 took the first "
                     "barrier without a word"),
}
# The reason of a row that runs and is wrong, as it is on a GPU: of a group without rows the last iteration, number -1, is not masked.
EMPTY_GROUPS = "empty groups"


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    operation: str
    implementation: str | None  # None: tokamax's own choice, by what the device says
    make: Callable  # () -> (implementation -> function, arguments)
    chips: dict  # chip -> "", or the reason in REFUSED
    gradient: bool = False
    tolerance: float = 2**-7  # two units of bf16's last place, which kernels round weights and results to
    older: bool = False  # it runs with JAX before 0.10, and not with this one

    @property
    def name(self):
        return f"{self.operation} / {self.implementation or 'its own choice'}"


def _normal(seed, shape, dtype=jnp.float32):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def attention(dtype=jnp.bfloat16, length=256, heads=2, width=64, **options):
    q, k, v = (_normal(n, (1, length, heads, width), dtype) for n in range(3))
    return lambda implementation: (lambda q, k, v: tokamax.dot_product_attention(q, k, v, implementation=implementation, **options)), (q, k, v)


def gated_linear_unit(dtype=jnp.bfloat16, rows=128, inner=128, columns=128):
    x, w = _normal(0, (rows, inner), dtype), _normal(1, (inner, 2, columns), dtype) / 8
    return lambda implementation: (lambda x, w: tokamax.gated_linear_unit(x, w, activation=jax.nn.swish, implementation=implementation)), (x, w)


def layer_norm(dtype=jnp.float32, rows=64, columns=256, **options):
    x, scale, offset = _normal(0, (rows, columns), dtype), _normal(1, (columns,), dtype), _normal(2, (columns,), dtype)
    return lambda implementation: (lambda *a: tokamax.layer_norm(*a, implementation=implementation, **options)), (x, scale, offset)


def grouped_heads(dtype=jnp.bfloat16, width=64):
    q, k, v = (_normal(n, (2, 256, 2 + 2 * (n == 0), width), dtype) for n in range(3))
    return lambda implementation: (lambda q, k, v: tokamax.dot_product_attention(q, k, v, implementation=implementation)), (q, k, v)


def masked_attention(dtype=jnp.bfloat16):
    mask = jnp.asarray(np.random.default_rng(3).random((1, 2, 256, 256)) > 0.3)
    return attention(dtype, mask=mask, bias=_normal(4, (1, 2, 256, 256)))


def ragged_dot(dtype=jnp.bfloat16, inner=128, columns=128, groups=(100, 0, 92, 64)):
    lhs, rhs = _normal(0, (sum(groups), inner), dtype), _normal(1, (len(groups), inner, columns), dtype)
    sizes = jnp.array(groups, jnp.int32)
    return lambda implementation: (lambda l, r: tokamax.ragged_dot(l, r, sizes, implementation=implementation)), (lhs, rhs)


def tiles_of_output(**sizes):
    """gated_linear_unit with a `Config`."""
    x, w = _normal(0, (256, 128), jnp.bfloat16), _normal(1, (128, 2, 256), jnp.bfloat16) / 8
    op = glu.PallasMosaicGpuGatedLinearUnit(config=glu.Config(**sizes))
    return lambda implementation: (lambda x, w: (tokamax.gated_linear_unit(x, w, activation=jax.nn.swish, implementation="xla")
                                                 if implementation == "xla" else op(x, w, activation=jax.nn.swish))), (x, w)


def quantised(rhs_type, lhs_type=None, groups=(40, 0, 72, 16), tile=128, **sizes):
    """ragged_dot of quantised operands with a `Config`, beside what they stand for, in f32."""
    lhs, rhs = _normal(0, (sum(groups), 256), jnp.bfloat16) / 8, _normal(1, (len(groups), 256, 256), jnp.bfloat16) / 8
    lhs = lhs if lhs_type is None else qwix.quantize(lhs, jnp.dtype(lhs_type), tiled_axes={0: 1, 1: tile})
    rhs = qwix.quantize(rhs, jnp.dtype(rhs_type), tiled_axes={0: 1, 1: tile, 2: 1})
    counts = jnp.array(groups, jnp.int32)
    op = dot.PallasMosaicGpuRaggedDot(config=dot.Config(**dict(block_k=128, num_stages=2, split_k=1) | sizes))

    def exact(lhs, rhs):
        lhs, rhs = (quantization.as_array(x).astype(jnp.float32) for x in (lhs, rhs))
        return jax.lax.ragged_dot(lhs, rhs, counts, precision=jax.lax.Precision.HIGHEST)

    return lambda implementation: exact if implementation == "xla" else (lambda l, r: op(l, r, group_sizes=counts)), (lhs, rhs)


def _hopper(rhs_type, **options):
    return lambda: quantised(rhs_type, block_m=64, block_n=64, **options)


def _blackwell(rhs_type="int4", lhs_type=None, **options):
    return lambda: quantised(rhs_type, lhs_type, block_m=64 if lhs_type is None else 16, block_n=128, **options)


def cross_entropy(dtype=jnp.float32, rows=1024, hidden=512, vocabulary=2048):
    x, w = _normal(0, (rows, hidden), dtype), _normal(1, (hidden, vocabulary), dtype) / 16
    labels = jnp.asarray(np.random.default_rng(2).integers(0, vocabulary, rows), jnp.int32)
    return lambda implementation: (lambda x, w: tokamax.linear_softmax_cross_entropy_loss(x, labels, w, implementation=implementation)), (x, w)


GPUS, TPUS = ("h100", "b200"), ("v5p", "v6e", "v7x")


def _on(chips, *reasons) -> dict:
    """One reason for each chip, or the last for all that follow; none: it runs."""
    reasons = [*reasons, *[reasons[-1] if reasons else ""] * len(chips)]
    return dict(zip(chips, reasons))


def _wide():
    return attention(jnp.float32, width=128)


ROWS = [
    Row("attention", "triton", attention, _on(GPUS)),
    Row("attention, causal", "triton", lambda: attention(is_causal=True), _on(GPUS)),
    Row("attention, window and soft cap", "triton", lambda: attention(local_window_size=(40, 3), logits_soft_cap=5.0), _on(GPUS)),
    Row("attention, mask and bias", "triton", masked_attention, _on(GPUS)),
    Row("attention, grouped heads", "triton", grouped_heads, _on(GPUS)),
    Row("attention, length 200", "triton", lambda: attention(length=200), _on(GPUS)),
    Row("attention, gradient", "triton", attention, _on(GPUS), gradient=True),
    Row("attention, mask and bias, gradient", "triton", masked_attention, _on(GPUS), gradient=True),
    Row("gated_linear_unit", "triton", gated_linear_unit, _on(GPUS)),
    Row("gated_linear_unit", None, gated_linear_unit, _on(GPUS)),
    Row("gated_linear_unit, odd sizes", "triton", lambda: gated_linear_unit(jnp.float32, 100, 72, 96), _on(GPUS)),
    Row("gated_linear_unit, gradient", "triton", gated_linear_unit, _on(GPUS), gradient=True),
    Row("layer_norm", "triton", layer_norm, _on(GPUS)),
    Row("layer_norm", None, layer_norm, _on(GPUS)),
    Row("layer_norm, RMS", "triton", lambda: layer_norm(subtract_mean=False), _on(GPUS)),
    Row("layer_norm, gradient", "triton", layer_norm, _on(GPUS), gradient=True),
    Row("ragged_dot", "triton", ragged_dot, _on(GPUS)),
    Row("ragged_dot, gradient", "triton", lambda: ragged_dot(groups=(100, 92, 64)), _on(GPUS), gradient=True),
    Row("ragged_dot with an empty group, gradient", "triton", ragged_dot, _on(GPUS, EMPTY_GROUPS), gradient=True),
    Row("attention", "mosaic", attention, _on(GPUS)),
    Row("attention, causal", "mosaic", lambda: attention(is_causal=True), _on(GPUS)),
    Row("attention, gradient", "mosaic", attention, _on(GPUS), gradient=True),
    Row("gated_linear_unit", "mosaic", gated_linear_unit, _on(GPUS, "older JAX", "")),
    Row("gated_linear_unit, four tiles of output", "mosaic", lambda: tiles_of_output(tile_k=64, num_stages=2, epi_tile_n=32), _on(("b200",))),
    Row("ragged_dot", "mosaic", ragged_dot, _on(GPUS)),
    Row("ragged_dot, gradient", "mosaic", ragged_dot, _on(("h100",)), gradient=True),
    Row("ragged_dot, int4 weights", "mosaic", _hopper("int4", warp_specialized=False), _on(("h100",), "older JAX")),
    Row("ragged_dot, int4 weights", "mosaic", _blackwell(), _on(("b200",))),
    Row("ragged_dot, int4 weights, two blocks", "mosaic", _blackwell(collective=True), _on(("b200",))),
    Row("ragged_dot, int4 weights, scaled after", "mosaic", _blackwell(post_scale=True), _on(("b200",))),
    Row("ragged_dot, int8 by int4", "mosaic", _blackwell(lhs_type="int8"), _on(("b200",))),
    Row("ragged_dot, fp8 by int4", "mosaic", _blackwell(lhs_type="float8_e4m3fn"), _on(("b200",))),
    Row("attention", "mosaic", _wide, _on(TPUS)),
    Row("attention, causal", "mosaic", lambda: attention(jnp.float32, width=128, is_causal=True), _on(TPUS)),
    Row("attention", None, _wide, _on(TPUS)),
    Row("attention, grouped heads", "mosaic", lambda: grouped_heads(jnp.float32, 128), _on(TPUS)),
    Row("attention, gradient", "mosaic", _wide, _on(TPUS), gradient=True),
    Row("ragged_dot", "mosaic", ragged_dot, _on(TPUS)),
    Row("cross_entropy", "mosaic_tpu", cross_entropy, _on(TPUS)),
    Row("cross_entropy, gradient", "mosaic_tpu", cross_entropy, _on(TPUS), gradient=True),
    Row("gated_linear_unit", "mosaic", gated_linear_unit, _on(GPUS), older=True),
    *(Row(f"ragged_dot, {kind} weights{how}", "mosaic", _hopper(kind, **options), _on(("h100",), reason), tolerance=1e-2, older=True)
      for how, reason, options in (("", "", {"warp_specialized": False}), (", warp-specialised", "", {"warp_specialized": True}),
                                   (", stored behind", "two barriers", {"warp_specialized": True, "async_store": True}))
      for kind in ("int4", "int8")),
    Row("ragged_dot, int8 by int4", "mosaic", _blackwell(lhs_type="int8"), _on(("b200",)), tolerance=1e-2, older=True),
    Row("ragged_dot, fp8 by int4", "mosaic", _blackwell(lhs_type="float8_e4m3fn"), _on(("b200",)), tolerance=1e-2, older=True),
]


def _widened(array):
    """What the oracle takes for it: 16-bit floats in f32, which has each of them."""
    return array.astype(jnp.float32) if array.dtype in (jnp.bfloat16, jnp.float16) else array


def _tolerance(row, arguments) -> float:
    whole = all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(arguments))
    return 1e-5 if whole else row.tolerance


def _exact(made, gradient):
    """The XLA implementation in f32, or what the row has in its place."""
    function, arguments = made
    with jax.default_matmul_precision("highest"):
        return _computed((function, jax.tree.map(_widened, arguments)), "xla", gradient)


def _computed(make, implementation, gradient):
    function, arguments = make
    f = function(implementation)
    if gradient:
        f = jax.grad(lambda *a: jnp.sum(function(implementation)(*a).astype(jnp.float32) ** 2), argnums=tuple(range(len(arguments))))
    return jax.tree.map(np.asarray, jax.jit(f)(*arguments))


def _distance(found, wanted) -> float:
    worst = 0.0
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        a, b = a.astype(np.float64), b.astype(np.float64)
        if not (np.isfinite(a) == np.isfinite(b)).all():
            return float("inf")
        worst = max(worst, float(np.max(np.abs(a - b)) / (np.max(np.abs(b)) + 1e-9)))
    return worst


@dataclasses.dataclass(frozen=True)
class Result:
    word: str  # "proved", "clean", ...; or the reason; or "wrong: ..."
    report: str
    distance: float | None  # from the oracle, over its greatest number


def run(row: Row, chip: str, seeds: int) -> Result:
    made = row.make()
    wanted = _exact(made, row.gradient)
    session, said, distance = palladion.emulate(chip, seeds=seeds, on_defect="collect"), "", None
    try:
        with session:
            distance = _distance(_computed(made, row.implementation, row.gradient), wanted)
    except Exception as error:  # whatever it is, the row says it
        said = f"{type(error).__name__}: {str(error).strip()}"
    far = None if distance is None else distance / _tolerance(row, made[1])
    return Result(_word(row, chip, session.report, said, far), f"{session.report}\n{said}", distance)


def _word(row, chip, report, said, far) -> str:
    """`far`: how far the numbers are, over the tolerance."""
    reason = row.chips[chip]
    if reason == EMPTY_GROUPS:
        return reason if far is not None and far > 1 else f"wrong: it was to be wrong; found {said or far}"
    if reason:
        return reason if re.search(REFUSED[reason][0], said) else f"wrong: it was to be refused ({reason}); found {said or 'that it runs'}"
    if said or not report.calls:
        return f"wrong: {said or 'no kernel ran'}"
    found = [f for call in report.calls for f in call.findings if f.severity != "note"]
    codes = sorted({f.code for f in found})
    if not far <= 1 and "DEADLOCK" not in codes:
        return f"wrong: off by {far:.1f} times the tolerance"
    arguments = argued(f"{row.name} / {chip}, JAX {jax.__version__}")
    if new := sorted({f.code for f in found if not any(one.covers(f) for one in arguments)}):
        return f"wrong: found {', '.join(new)}, which ARGUED does not explain"
    if gone := [one.name for one in arguments if not any(one.covers(f) for f in found)]:
        return f"wrong: argued and not found: {', '.join(gone)}"
    return ", ".join(codes) or report.verdict


def _page(results, seeds) -> str:
    """The part of docs/explanation/production-kernels.md."""
    lines = [f"tokamax {tokamax.__version__}, JAX {jax.__version__}, {seeds} schedules, by `./dev test-packages tokamax`:", ""]
    for chips in (GPUS,) if OLDER else (GPUS, TPUS):
        lines += ["| operation | implementation | " + " | ".join(chips) + " |", "|---|---|" + "---|" * len(chips)]
        for (operation, implementation), cells in _cells(results, chips).items():
            outcomes = [cells.get(chip, "–") for chip in chips]
            lines.append(f"| {operation} | {implementation or 'its own choice'} | " + " | ".join(outcomes) + " |")
        lines.append("")
    lines.append("- –: tokamax has no such kernel for that chip, or it is not tried here.")
    shown = {result.word for result in results.values()}
    lines += [f"- {name}: {what}." for name, (_, what) in REFUSED.items() if name in shown]
    ran = {f"{row.name} / {chip}, JAX {jax.__version__}" for row, chip in results}
    why = {one.why: one for one in ARGUED if any(one in argued(name) for name in ran)}
    lines += [f"- {one.name}: {one.why}" for one in why.values()]
    if EMPTY_GROUPS in shown:
        lines.append(f"- {EMPTY_GROUPS}: the kernel runs and its result is not that of XLA, which is tokamax's mistake: of a group without rows the "
                     "last iteration, number -1, is not masked, and the rows before the group are added.")
    return "\n".join(textwrap.fill(line, 119, subsequent_indent="  ", break_on_hyphens=False) if line.startswith("- ") else line for line in lines) + "\n"


def _cells(results, chips) -> dict:
    """{(operation, implementation): {chip: word}}, in the order of the rows."""
    table = {}
    for (row, chip), result in results.items():
        if chip in chips:
            table.setdefault((row.operation, row.implementation), {})[chip] = result.word
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="a pattern of the rows to run: `operation / implementation / chip`")
    parser.add_argument("--seeds", type=int, default=64, help="check each kernel under so many schedules (64)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/explanation/production-kernels.md")
    parser.add_argument("--verbose", action="store_true", help="print each report")
    options = parser.parse_args()
    sys.argv = sys.argv[:1]  # tokamax reads the rest as flags of its own
    warnings.simplefilter("ignore")
    logging.disable()  # what its table of tuned sizes misses
    results = {}
    for row in (row for row in ROWS if row.older == OLDER):
        for chip in row.chips:
            if re.search(options.filter, name := f"{row.name} / {chip}"):
                result = results[row, chip] = run(row, chip, options.seeds)
                off = "" if result.distance is None else f" (off by {result.distance:.1e})"
                print(f"{name}: {result.word}{off}", flush=True)
                if options.verbose:
                    print(result.report)
    wrong = [result.word for result in results.values() if result.word.startswith("wrong")]
    if options.write and not wrong and not options.filter:
        root = os.path.join(os.path.dirname(__file__), "..", "..")
        sys.path.insert(0, os.path.join(root, "tools"))
        import measured_part
        measured_part.write(os.path.join(root, "docs/explanation/production-kernels.md"), "tokamax-older" if OLDER else "tokamax", _page(results, options.seeds))
    print(f"{len(results) - len(wrong)} as expected, {len(wrong)} wrong")
    of_other_jax = any(re.search(options.filter, f"{row.name} / {chip}") for row in ROWS for chip in row.chips if row.older != OLDER)
    return 1 if wrong or not (results or of_other_jax) else 0


if __name__ == "__main__":
    sys.exit(main())
