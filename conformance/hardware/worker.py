"""Runs kernels of the list on this machine's GPU, one after another: python worker.py FOLDER RUNS, names on standard
input.

Writes a line of JSON for each to FOLDER/done.PID.jsonl as soon as it is known, and its outputs beside it. A kernel that
fails while it runs may have taken the GPU's context with it, so the process ends after it; record.py starts another for
the rest.
"""

import contextlib
import json
import os
import sys

import inputs
import jax
import kernel_lists
import numpy as np
import store

import semantics

FAILED_WHILE_RUNNING = 3
DIFFERENT = 8  # of the outputs of a defective kernel, so many different ones are kept


def same_bits(a, b):
    return len(a) == len(b) and all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in zip(a, b))


def orders(one):
    """The kernels of the corpus and ours have the semantics of all supported versions first; those of the wheel what
    they ask for."""
    if one.target.startswith("triton"):
        return ("",)
    return (semantics.WARPGROUP, semantics.LANE) if one.group == "wheel" else (semantics.LANE, semantics.WARPGROUP)


def compiled(one, order):
    """(the compiled function, its arguments on the GPU, what the arguments hash to)."""
    with semantics.lowered_by(order) if order else contextlib.nullcontext():
        function, args = one.make()
        on_device = [jax.device_put(a, jax.devices("gpu")[0]) for a in args]
        made = jax.jit(lambda *a: function(*a)).lower(*on_device).compile()
    return made, on_device, inputs.digest(args)


def outputs_of(made, args):
    return [np.asarray(x) for x in jax.tree.leaves(made(*args))]


def run(one, runs):
    """(entry, outputs by semantics, whether the GPU is still to be trusted)."""
    entry, kept = {}, {}
    for order in orders(one):
        try:
            made, args, hashed = compiled(one, order)
        except Exception as error:  # a refusal has many types
            entry.setdefault("refused", {})[order] = one_line(error)
            continue
        entry["inputs"] = hashed
        try:
            results = [outputs_of(made, args) for _ in range(runs)]
        except Exception as error:
            return entry | {"failed": one_line(error)}, kept, False
        if one.group in ("races", "hangs", "shown"):
            entry[order], kept[order] = judged(one, results)
        elif "" not in kept:
            kept[""] = results[0]
            others = sum(not same_bits(results[0], other) for other in results)
            entry |= {"semantics": order, "runs": runs, "other_bits": others, "outputs": store.described(results[0])}
        elif same_bits(kept[""], results[0]):
            entry["same_bits_by"] = order
        else:
            entry["other_bits_by"] = {"semantics": order, "outputs": store.described(results[0])}
            kept[order] = results[0]
    return entry, kept, True


def judged(one, results):
    """(how many runs gave the right values and how many different ones there were, the different ones)."""
    right = one.bound()
    different = {}
    for result in results:
        different.setdefault(b"".join(np.asarray(x).tobytes() for x in result), result)
    counts = {"runs": len(results), "different": len(different)}
    if right is not None:
        counts |= {"like": right[0], "wrong": sum(not same_values(right[1], result) for result in results)}
    few = list(different.values())[:DIFFERENT]
    return counts, [np.stack([result[i] for result in few]) for i in range(len(results[0]))]


def same_values(a, b):
    return all(
        x.shape == y.shape and np.array_equal(x.astype(np.float64), y.astype(np.float64), equal_nan=True)
        for x, y in zip(a, b)
    )


def one_line(error):
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return text if len(text) <= 300 else text[:297] + "..."


def members(outputs):
    """Number of the output, with `@semantics` behind those of the second."""
    return {
        f"{i}@{order}".rstrip("@"): store.as_words(o) for order, some in outputs.items() for i, o in enumerate(some)
    }


def main(folder, runs):
    known = kernel_lists.kernels() | kernel_lists.defective()
    with open(os.path.join(folder, f"done.{os.getpid()}.jsonl"), "w", encoding="utf-8") as out:
        for number, name in enumerate(sys.stdin.read().split("\n")):
            print(json.dumps({"begun": name}), file=out, flush=True)
            entry, outputs, trusted = run(known[name], int(runs))
            if outputs:
                entry["file"] = f"{os.getpid()}.{number}.npz"
                np.savez(os.path.join(folder, entry["file"]), **members(outputs))
            print(json.dumps({"name": name, "entry": entry}), file=out, flush=True)
            if not trusted:
                sys.exit(FAILED_WHILE_RUNNING)


if __name__ == "__main__":
    main(*sys.argv[1:])
