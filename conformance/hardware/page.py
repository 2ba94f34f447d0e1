"""Writes docs/explanation/hardware.md from the recordings and what Palladion gives today: python conformance/hardware/page.py
--write (./dev docs does)."""

import collections
import os
import pathlib
import re
import sys

import compare
import results
import shown
import unrecorded

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import prose  # noqa: E402

PAGE = ROOT / "docs/explanation/hardware.md"

HEAD = """# Palladion beside an H200

`./dev record` runs kernels through Pallas' own backends on the GPU of the machine it is called on, and stores what came out in
`conformance/hardware/`. Here Palladion runs the same kernels on the same inputs, on a machine without a GPU, and is held against it by
`python/tests/test_hardware.py`: the same bits, or within a bound that follows from the kernel, or a listed deviation. This page is written by
`conformance/hardware/page.py` from both (`./dev docs`), and the test holds it against the data.

Recorded on {date}: {device}, driver {driver}, JAX {jax}. Of {listed} kernels {recorded} ran there; the other {refused} were
refused by JAX or its compilers ([below](#refused)). Each ran {runs} times with the same bits each time. In another
session {again} gave the same bits again; {not_again} did not, for which XLA chose another program for its part. Those that both lowerings of Mosaic GPU take
(by lanes, as until JAX 0.10, and by warpgroups, as from 0.11 on) gave the same bits with both, but for {other}.

| kernels | recorded | the same bits as Palladion | all allowed |
|---|---|---|---|
{groups}
"""

CONTRADICTED = """
## What the GPU contradicted

Fixed since:

- Conversions to f8e4m3fn and f8e5m2. Palladion gave what JAX gives on a CPU, NaN or infinity, for numbers beyond the largest. GPUs saturate, and both backends use that instruction
  (PTX `cvt.rn.satfinite`): now so on `triton` and `mosaic_gpu` ([convert_element_type](../spec/elementwise.md#convert_element_type)).

Left, with the reason. Elsewhere than at the elements named here these kernels are held to their bounds:

| kernels | the smallest | why | kind |
|---|---|---|---|
{deviations}

A *compiler* deviation is not what the operation means: the GPU's numbers are the backend's doing, and Palladion keeps JAX's meaning. *Undefined* is what LLVM leaves open;
there Palladion has a finding. *Unbounded* is an approximation outside the range that PTX bounds.

Beside numbers:

- A kernel whose arrays in shared memory fill all 227 KiB passes JAX's own test, and the launch is refused ("invalid argument"): the compiled kernel has a little of its own. 226 KiB and 32 barriers run.
  So to fill them all is the defect CAPACITY here ([capacity](../spec/contracts.md#capacity)).
- A wait for a barrier's phase after which another one has completed returns here at once, with the defect BAR_PHASE_SKIP. On the GPU it hangs (`033_bar_alternate_waiters_racy`, which has three threads,
  is the smallest): an mbarrier knows the parity of phases alone, so the wait returns only where the number of completions that the thread has not seen is odd.
- What the backends refuse and a check here does not say is [at the end](#refused).
"""

PRODUCTS = """
## Matrix products

Palladion adds exact products in double and rounds once ([contractions](../spec/dot.md)); a tensor core does not. What it does is known to the last bit: `conformance/hardware/tensor_core.py`
is a model of it in NumPy (the truncated fused dot-product-add of MMA-Sim, arXiv 2511.10909), and every sum that was recorded, {sums} of them, is the model's to the bit. So the difference
of a kernel's product from Palladion's is the tensor core's, and its bound follows from the model: what each instruction cuts off and rounds.
What no document says and the recordings do:

- `wgmma` with f16, bf16 and TensorFloat-32 keeps 25 bits below the largest term and rounds toward zero, with 8-bit floats 13 bits; one instruction (32 bytes of each operand) is one sum, and the accumulator is
  one of its terms. With an f16 accumulator the sum is rounded to nearest, ties to even.
- f32 operands of `wgmma` are cut to TensorFloat-32; Triton rounds them first, halves away from zero.
- The exponent of a zero term is -21 where the accumulator is f16, for `wgmma` as for `mma.sync` (of f16 operands); with f32 it is low enough never to be seen here.
- A negative sum that underflows is +0. Subnormal operands, results and accumulators are kept. NaN is 0x7FFFFFFF, or 0x7FFF.
- Triton multiplies 8-bit floats with `wgmma` where the result is f16 and there are 64 rows, else as two products of f16, in the order k mod 4 in 0, 1 and then 2, 3.
- i8 is exact. An f32 product of Triton with IEEE precision is a chain of fused multiply-adds, lowest k first.

| products | kernels | sums | the model's bits | the same bits as Palladion | why not |
|---|---|---|---|---|---|
{products}
"""

DEFECTS = """
## Do mistakes show?

A check says what some order of the hardware does; a run on a GPU is one order. Kernels that store what a mistake of synchronisation may have spoilt, and their twins without it, {runs} times by
each lowering (of the twins no run was wrong):

| mistake | Palladion's findings | wrong runs by lanes | by warpgroups | different outputs (at most) |
|---|---|---|---|---|
{shown}

Those that did not show are no argument against their findings: PTX promises no order there, and another chip, driver or neighbour may take the other one. Every element of every output above, and of those
below, is one that a schedule of Palladion gives too, where it is defined at all ({tried} schedules each).

- Of the corpus' kernels with races {races} ran, 1000 times by each lowering. Most throw away what the race spoils, so that their results are known; {alike} gave other values than the
  kernel they are like, all of them values that Palladion predicts.
- Of {hangs} kernels that wait for what may not come, {hung} hung on the GPU: {hung_names}. Two of them Palladion calls BAR_PHASE_SKIP, not DEADLOCK
  ([above](#what-the-gpu-contradicted)). One ended with an error of the GPU: {broke}. The others came to their ends in the order that they met.
"""


RECORDING = """
## To record anew

`./dev record` on a machine with a GPU, whose Python (`PALLADION_GPU_PYTHON`) has JAX with CUDA, writes `conformance/hardware/h100/index.json` and `index.npz`: of each kernel a hash of its
inputs, which are made from seeds, and hashes and at most 2048 elements of its outputs. `--defects` records the kernels with mistakes, `--repeat` notes which kernels give other bits than
before, `--out FOLDER` is another place, and a part of a name is only those kernels. Kernels run in processes of their own, and one that hangs is ended. It takes about a minute. A new kernel is
an entry of `conformance/hardware/triton_probes.py`, `mosaic_probes.py`, `products.py` or `shown.py`, or a clean case of the GPU corpus.
"""


def group_rows(found):
    rows = []
    for group in dict.fromkeys(name.partition("/")[0] for name in found.entries):
        outputs = [row for name, some in found.rows.items() if name.startswith(f"{group}/") for row in some]
        names = {row.name for row in outputs}
        equal = names - {row.name for row in outputs if row.equal < 1}
        allowed = names - {row.name for row in outputs if row.wrong}
        rows.append(f"| {group} | {len(names)} | {len(equal)} | {len(allowed)} |")
    return rows


def product_rows(found):
    kinds = collections.defaultdict(list)
    for name, (row,) in ((name, rows) for name, rows in found.rows.items() if name.startswith("products/")):
        kinds["/".join(name.split("/")[1:3])].append(row)
    for kind, rows in kinds.items():
        sums = sum(shape_size(found.entries[row.name]) for row in rows)
        model = "exact" if rows[0].model is None else "all" if all(row.model for row in rows) else "NOT ALL"
        equal = f"{min(row.equal for row in rows):.0%} to {max(row.equal for row in rows):.0%}"
        yield f"| `{kind}` | {len(rows)} | {sums} | {model} | {equal} | {rows[-1].why} |"


def shape_size(entry):
    size = 1
    for n in entry["outputs"][0]["shape"]:
        size *= n
    return size


def numbers(name, rows):
    """Of one kernel, its outputs together."""
    equal = min(row.equal for row in rows)
    worst = max(row.worst for row in rows)
    return f"| `{name}` | {len(rows)} | {equal:.2%} | {worst} | {rows[0].why} |"


def elementwise(found):
    yield from (
        "",
        "## Elementwise operations, conversions, reductions",
        "",
        "Not the same bits everywhere. Steps are those between neighbouring numbers of the type; elements that a "
        "deviation above names are left out, and so",
        "are infinities and NaN, which must be met (any NaN is a NaN).",
        "",
        "| kernel | outputs | same bits | largest difference in steps | why |",
        "|---|---|---|---|---|",
    )
    same = collections.defaultdict(list)
    for name, rows in found.rows.items():
        if not name.startswith(("triton/", "mosaic/")):
            continue
        if all(row.equal == 1 for row in rows):
            same[name.rpartition("/")[0] if "/cast/" not in name else name.partition("_to_")[0]].append(name)
        else:
            yield (
                numbers(name, rows)
                if not compare.deviations(name)
                else numbers(name, rows).rpartition(" | ")[0].rpartition(" | ")[0] + deviating(rows)
            )
    yield from ("", "The same bits in all elements:", "")
    for stem, names in same.items():
        short = [name.rpartition("_to_")[2] if "/cast/" in name else name.rpartition("/")[2] for name in names]
        yield f"- `{stem}`{' to' if '/cast/' in stem else ''} {', '.join(short)}"


def deviating(rows):
    return f" | {max(row.worst for row in rows)} | a deviation, see above |"


def wheel(found):
    yield from (
        "",
        "## Kernels of the wheel",
        "",
        "What ships in JAX's wheel, at the sizes of `./dev run`. XLA computes the parts that are no kernels, on the "
        "GPU there and on a CPU here. Steps are",
        "many where a result is near 0. Bound: upstream's tolerance, for kernels and XLA's part together.",
        "",
        "| kernel | outputs | same bits | largest difference in steps |",
        "|---|---|---|---|",
    )
    for name, rows in found.rows.items():
        if name.startswith("wheel/"):
            yield numbers(name.removeprefix("wheel/"), rows).rpartition(" | ")[0] + " |"


def refusals(found):
    yield from (
        "",
        "## Refused",
        "",
        f"By JAX {found.about['jax']} or the compilers behind it, so that there is nothing to compare. Of these "
        f"{sum(map(len, results.refused(found).values()))} kernels a check here calls",
        f"{len(results.illegal())} ILLEGAL; the others are what its tables of refusals do not have yet. Their "
        f"operations run here.",
        "",
        "| why | ILLEGAL here | kernels |",
        "|---|---|---|",
    )
    for why, names in sorted(results.refused(found).items(), key=lambda item: -len(item[1])):
        listed = ", ".join(f"`{name}`" for name in names)
        yield f"| {plain(why)} | {len(results.illegal() & set(names))} of {len(names)} | {listed} |"


def plain(text):
    text = re.sub(r"^\w+: ", "", text)[:150].replace("|", "/").strip()
    return text if text and text != "AssertionError:" else "an assertion of JAX's lowering"


def shown_rows(defects):
    for name, (make, _) in shown.KERNELS.items():
        one = defects[f"shown/{name}_racy"]
        lane, warpgroup = one.by_semantics["lane"], one.by_semantics["warpgroup"]
        codes = ", ".join(sorted(one.codes))
        yield (
            f"| {make.__doc__.rstrip('.')} (`{name}`) | {codes} | {lane['wrong']} of {lane['runs']} | "
            f"{warpgroup['wrong']} of {warpgroup['runs']} | "
            f"{max(lane['different'], warpgroup['different'])} |"
        )


def defect_text(defects):
    races = [one for one in defects.values() if one.name.startswith("races/") and one.by_semantics]
    alike = [one for one in races if any(counts.get("wrong") for counts in one.by_semantics.values())]
    hangs = [
        one
        for one in defects.values()
        if one.name.startswith("hangs/") and (one.by_semantics or "hung" in one.ended or "CUDA" in one.ended)
    ]
    hung = [one.name.removeprefix("hangs/") for one in hangs if "hung" in one.ended]
    broke = [one.name.removeprefix("hangs/") for one in hangs if "CUDA" in one.ended]
    first = defects[f"shown/{next(iter(shown.KERNELS))}_racy"].by_semantics["lane"]
    return DEFECTS.format(
        runs=first["runs"],
        shown="\n".join(shown_rows(defects)),
        races=len(races),
        alike=len(alike),
        hangs=len(hangs),
        hung=len(hung),
        hung_names=", ".join(f"`{name}`" for name in hung),
        broke=", ".join(f"`{name}`" for name in broke),
        tried=97,
    )


def text():
    found, defects = results.of_kernels(), results.of_defects()
    other = [name for name, entry in found.entries.items() if "other_bits_by" in entry]
    runs = {entry["runs"] for entry in found.entries.values() if "runs" in entry}
    repeated = found.about["repeated"]
    sums = sum(shape_size(found.entries[name]) for name, rows in found.rows.items() if rows[0].model)
    rows = (
        "".join(
            one.smallest and f"| `{one.names}` | {one.smallest} | {one.why} | {one.kind} |\n"
            for one in compare.DEVIATIONS
        )
        .replace("(f32|f16|bf16)", "*")
        .replace("(triton|mosaic)", "*")
        .replace("(sin|cos)", "*")
        .replace("(i32|u32)", "*")
    )
    head = HEAD.format(
        **found.about,
        listed=len(found.entries),
        recorded=len(found.rows),
        refused=len(found.entries) - len(found.rows),
        runs=max(runs),
        other=", ".join(f"`{name}`" for name in other),
        groups="\n".join(group_rows(found)),
        again=repeated["kernels"] - len(repeated["other_bits"]),
        not_again=", ".join(f"`{name}`" for name in repeated["other_bits"]),
    )
    parts = [
        head,
        CONTRADICTED.format(deviations=rows.rstrip()),
        PRODUCTS.format(sums=sums, products="\n".join(product_rows(found))),
        "\n".join(elementwise(found)),
        "\n".join(wheel(found)),
        defect_text(defects).rstrip(),
        "\n".join(refusals(found)),
        f"\n{unrecorded.section()}\n",
        RECORDING.rstrip(),
    ]
    return prose.wrapped_text(re.sub(r"\n{3,}", "\n\n", "\n".join(parts)) + "\n")


def main():
    written = text()
    if "--write" in sys.argv:
        PAGE.write_text(written, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != written:
        raise SystemExit(
            f"{os.path.relpath(PAGE)} is not what the recordings say; python conformance/hardware/page.py --write"
        )


if __name__ == "__main__":
    main()
