"""Outputs that are wrong on purpose, made by NumPy and ml_dtypes alone, and how often `palladion.compare` names their
cause.

`python spoiled_outputs.py [--write PAGE]` judges PER_CAUSE outputs of each cause, and NOISY ones that nothing but noise
spoiled; with --write what became of each goes to spoiled_outputs.json beside this file, and the table of them to the
page. Each spoiled output is what a program in NumPy gives that makes the mistake, with shapes, seeds and the form of
the mistake drawn: what stands where an index leaves the array, how many elements are summed at a time. Some forms no
hypothesis has exactly: an index that wraps around, garbage, the order of NumPy's BLAS, sums of 3. Named: the cause is
among those that explain most, alone (first) or with others (tied). Of noise none is to be named.
"""

import argparse
import collections
import json
import os
import sys
import tempfile

import jax.numpy as jnp
import numpy as np

import palladion
import spoiled_blocks
import spoiled_numbers

PER_CAUSE, NOISY = 20, 50
NOISE = "noise"
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spoiled_outputs.json")
HEADER = ("cause", "outputs", "named first", "named with others", "another named", "none named")

MISTAKES = {
    "rounded operands": spoiled_numbers.rounded_operands,
    "f32 product in three passes": spoiled_numbers.three_passes,
    "constant factor": spoiled_numbers.constant_factor,
    "constant offset": spoiled_numbers.constant_offset,
    "missing epilogue": spoiled_numbers.missing_epilogue,
    "wrong sign": spoiled_numbers.wrong_sign,
    "transposed output": spoiled_blocks.transposed_output,
    "exchanged tiles": spoiled_blocks.exchanged_tiles,
    "transposed block": spoiled_blocks.transposed,
    "off-by-one block index": spoiled_blocks.off_by_one,
    "program missing": spoiled_blocks.missing,
    "wrong slot of a buffer": spoiled_blocks.wrong_slot,
    "stale or unwritten block": spoiled_blocks.stale,
    "padding leaked": spoiled_blocks.padding,
    "lower precision of accumulation": spoiled_numbers.lower_precision,
    "another order of summation": spoiled_numbers.other_order,
    "flushed subnormals": spoiled_numbers.flushed,
    "another rounding mode": spoiled_numbers.rounding,
}


def named(comparison) -> list:
    """The causes that explain as much as the first does."""
    likely = comparison.report["causes"]["likely"]
    score = [(cause["explained"] - cause["spoiled"], cause["unwritten"]) for cause in likely]
    return sorted({cause["kind"] for cause, s in zip(likely, score) if s == score[0]})


def case_of(kind, seed):
    """The function, its inputs and the spoiled output. Its numbers depend on the cause's name, not on its place in a
    list.
    """
    rng = np.random.default_rng([*kind.encode(), seed])
    return (spoiled_blocks.noise if kind == NOISE else MISTAKES[kind])(rng)


def judge(kind, seed) -> str:
    """'first', 'tied', 'other' or 'none': what became of one spoiled output."""
    f, inputs, spoiled = case_of(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        (bundle,) = palladion.golden(f, *map(jnp.asarray, inputs), out=os.path.join(folder, "bundle"))
        found = named(palladion.compare(bundle, spoiled))
    if kind in found:
        return "first" if len(found) == 1 else "tied"
    return "other" if found else "none"


def row_of(kind, outcomes) -> tuple:
    count = collections.Counter(outcomes)
    return kind, len(outcomes), count["first"], count["tied"], count["other"], count["none"]


def table(recorded) -> str:
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    rows = [row_of(kind, outcomes) for kind, outcomes in recorded.items()]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def recorded() -> dict:
    """{cause: what became of the output of each seed}"""
    with open(DATA, encoding="utf-8") as file:
        return json.load(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="causes whose name has this")
    parser.add_argument(
        "--write", metavar="PAGE", help="record what became of each output, and replace the page's table"
    )
    options = parser.parse_args()
    outcomes = {}
    for kind in (*MISTAKES, NOISE):
        if options.only in kind:
            outcomes[kind] = [judge(kind, seed) for seed in range(NOISY if kind == NOISE else PER_CAUSE)]
            print(
                row_of(kind, outcomes[kind]),
                [seed for seed, one in enumerate(outcomes[kind]) if one in ("other", "none")],
                flush=True,
            )
    if options.write:
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
        import measured_part

        outcomes = recorded() | outcomes if os.path.exists(DATA) else outcomes
        outcomes = {kind: outcomes[kind] for kind in (*MISTAKES, NOISE)}
        with open(DATA, "w", encoding="utf-8") as file:
            file.write(
                "{\n"
                + ",\n".join(f"  {json.dumps(kind)}: {json.dumps(all_)}" for kind, all_ in outcomes.items())
                + "\n}\n"
            )
        measured_part.write(options.write, "spoiled-outputs", table(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
