"""The operations of the package tokamax under `palladion.emulate`, unchanged, against its own XLA implementation: `./dev test-packages`.

A row is an operation, one of its implementations and a chip. A row that runs has to agree with `implementation="xla"` and to have no
finding that its reason does not name; one that cannot run has to say so by name. Small shapes: what is tried is whether they run and
are right. It needs tokamax (docs/jax.md says which), and is no part of `./dev test`.
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
import tokamax

import palladion


# Why a row does not run: a pattern of what is said, and what that is.
REFUSED = {
    "named barriers": (r"inline_mgpu is not supported: _bar_operation", "the kernel writes PTX of its own for named barriers (`inline_mgpu`)"),
    "newer JAX": (r"no attribute 'TransposeTransform'", "tokamax asks JAX 0.10.2 for `plgpu.TransposeTransform`, which it does not have"),
    "Blackwell": (r"(copy_gmem_to_smem|try_cluster_cancel) is not supported", "copies of two blocks together, cluster launch control"),
}
# The reason of a row that runs and is wrong, as it is on a GPU: of a group without rows the last iteration, number -1, is not masked.
EMPTY_GROUPS = "empty groups"
# Findings that are true: where a block sticks out of the array tokamax reads behind it on purpose, and masks what it makes of that.
TRUE_FINDINGS = {"ragged_dot / triton": {"OOB"}, "ragged_dot, gradient / triton": {"OOB"}, "gated_linear_unit, odd sizes / triton": {"OOB"}}


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    operation: str
    implementation: str | None  # None: tokamax's own choice, by what the device says
    make: Callable  # () -> (implementation -> function, arguments)
    chips: dict  # chip -> "", or the reason in REFUSED
    gradient: bool = False
    tolerance: float = 2e-2

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
    Row("attention", "mosaic", attention, _on(GPUS, "named barriers", "Blackwell")),
    Row("attention, causal", "mosaic", lambda: attention(is_causal=True), _on(GPUS, "named barriers", "Blackwell")),
    Row("attention, gradient", "mosaic", attention, _on(GPUS, "named barriers", "Blackwell"), gradient=True),
    Row("gated_linear_unit", "mosaic", gated_linear_unit, _on(GPUS, "newer JAX", "Blackwell")),
    Row("ragged_dot", "mosaic", ragged_dot, _on(GPUS, "", "Blackwell")),
    Row("ragged_dot, gradient", "mosaic", ragged_dot, _on(("h100",)), gradient=True),
    Row("attention", "mosaic", _wide, _on(TPUS)),
    Row("attention, causal", "mosaic", lambda: attention(jnp.float32, width=128, is_causal=True), _on(TPUS)),
    Row("attention", None, _wide, _on(TPUS)),
    Row("attention, grouped heads", "mosaic", lambda: grouped_heads(jnp.float32, 128), _on(TPUS)),
    Row("attention, gradient", "mosaic", _wide, _on(TPUS), gradient=True),
    Row("ragged_dot", "mosaic", ragged_dot, _on(TPUS)),
    Row("cross_entropy", "mosaic_tpu", cross_entropy, _on(TPUS)),
    Row("cross_entropy, gradient", "mosaic_tpu", cross_entropy, _on(TPUS), gradient=True),
]


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


def run(row: Row, chip: str, seeds: int) -> Result:
    made = row.make()
    wanted = _computed(made, "xla", row.gradient)
    session, said, distance = palladion.emulate(chip, seeds=seeds, on_defect="collect"), "", None
    try:
        with session:
            distance = _distance(_computed(made, row.implementation, row.gradient), wanted)
    except Exception as error:  # whatever it is, the row says it
        said = f"{type(error).__name__}: {str(error).strip()}"
    return Result(_word(row, chip, session.report, said, distance), f"{session.report}\n{said}")


def _word(row, chip, report, said, distance) -> str:
    reason = row.chips[chip]
    if reason == EMPTY_GROUPS:
        return reason if distance is not None and distance > row.tolerance else f"wrong: it was to be wrong; found {said or distance}"
    if reason:
        return reason if re.search(REFUSED[reason][0], said) else f"wrong: it was to be refused ({reason}); found {said or 'that it runs'}"
    found = {f.code for call in report.calls for f in call.findings if f.severity != "note"}
    if said or not report.calls:
        return f"wrong: {said or 'no kernel ran'}"
    if not distance <= row.tolerance:
        return f"wrong: off by {distance:.1e}"
    if found != TRUE_FINDINGS.get(row.name, set()):
        return f"wrong: found {', '.join(sorted(found)) or 'nothing'}"
    return ", ".join(sorted(found)) or report.verdict


def _page(results) -> str:
    """The part of docs/jax.md."""
    lines = [f"tokamax {tokamax.__version__}, JAX {jax.__version__}, by `./dev test-packages`:", ""]
    for chips in (GPUS, TPUS):
        lines += ["| operation | implementation | " + " | ".join(chips) + " |", "|---|---|" + "---|" * len(chips)]
        for row in ROWS:
            if chips[0] in row.chips:
                cells = [results[row, chip].word if chip in row.chips else "not in tokamax" for chip in chips]
                lines.append(f"| {row.operation} | {row.implementation or 'its own choice'} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += [f"- {name}: {what}; refused by name and line." if name != "newer JAX" else f"- {name}: {what}." for name, (_, what) in REFUSED.items()]
    lines += ["- OOB is true: where a block sticks out of the array tokamax reads behind it on purpose, and masks what it makes of that.",
              f"- {EMPTY_GROUPS}: the kernel runs and its result is not that of XLA, which is tokamax's mistake: of a group without rows the last iteration, "
              "number -1, is not masked, and the rows before the group are added."]
    return "\n".join(textwrap.fill(line, 119, subsequent_indent="  ", break_on_hyphens=False) if line.startswith("- ") else line for line in lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="a pattern of the rows to run: `operation / implementation / chip`")
    parser.add_argument("--seeds", type=int, default=4, help="check each kernel under so many schedules (4)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/jax.md")
    parser.add_argument("--verbose", action="store_true", help="print each report")
    options = parser.parse_args()
    sys.argv = sys.argv[:1]  # tokamax reads the rest as flags of its own
    warnings.simplefilter("ignore")
    logging.disable()  # what its table of tuned sizes misses
    results = {}
    for row in ROWS:
        for chip in row.chips:
            if re.search(options.filter, name := f"{row.name} / {chip}"):
                result = results[row, chip] = run(row, chip, options.seeds)
                print(f"{name}: {result.word}", flush=True)
                if options.verbose:
                    print(result.report)
    wrong = [result.word for result in results.values() if result.word.startswith("wrong")]
    if options.write and not wrong and not options.filter:
        root = os.path.join(os.path.dirname(__file__), "..", "..")
        sys.path.insert(0, os.path.join(root, "tools"))
        import measured_part
        measured_part.write(os.path.join(root, "docs", "jax.md"), "tokamax", _page(results))
    print(f"{len(results) - len(wrong)} as expected, {len(wrong)} wrong")
    return 1 if wrong or not results else 0


if __name__ == "__main__":
    sys.exit(main())
