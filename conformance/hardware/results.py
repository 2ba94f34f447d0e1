"""Runs every recorded kernel in Palladion and compares: what the test and the page stand on."""

import collections
import dataclasses
import functools

import compare
import inputs
import jax
import kernel_lists
import numpy as np
import schedules
import store
from palladion.api import running

# From this JAX on it is no kernel any more: a copy longer than its source is refused when it is traced.
NOT_TRACED = {"corpus/068_copy_longer_clean": (0, 12)}


@dataclasses.dataclass
class Results:
    about: dict
    entries: dict  # of the kernels without defect, by name
    rows: dict  # name -> a Row for each output, of those that have outputs
    drifted: list  # names of kernels whose inputs are not those that were recorded


@functools.cache
def of_kernels(chip="h100"):
    about, entries, outputs = store.read(chip)
    results = Results(about, entries, {}, [])
    for name, one in kernel_lists.kernels().items():
        entry = entries.get(name, {})
        if "outputs" not in entry or jax.__version_info__[:2] >= NOT_TRACED.get(name, (99,)):
            continue
        function, args = one.make()
        if inputs.digest(args) != entry["inputs"]:
            results.drifted.append(name)
            continue
        given = [np.asarray(x) for x in jax.tree.leaves(running.execute(function, args, one.target).results)]
        stored = zip(enumerate(entry["outputs"]), outputs(name), given, strict=True)
        results.rows[name] = [compare.compare(one, args, *output) for output in stored]
    return results


@dataclasses.dataclass
class Defect:
    name: str
    codes: set  # of Palladion's findings
    by_semantics: dict  # semantics -> runs, different, like, wrong
    strange: int  # elements that no schedule gives
    ended: str  # "" or why there are no outputs


@functools.cache
def of_defects(chip="h100"):
    _, entries, outputs = store.read(chip, "defects")
    found = {}
    for name, one in kernel_lists.defective().items():
        entry = entries.get(name)
        if entry is None:
            continue
        by_semantics = {order: entry[order] for order in ("lane", "warpgroup") if order in entry}
        ended = "" if by_semantics else str(entry.get("failed") or "; ".join(entry["refused"].values()))
        tried = schedules.tried(one) if by_semantics or "hung" in ended else None
        strange = 0
        for order in by_semantics:
            strange += sum(schedules.strange(tried, i, words) for i, words in enumerate(outputs(name, order)))
        found[name] = Defect(name, tried.codes if tried else set(), by_semantics, strange, ended)
    return found


def refused(results):
    """Why -> names, of the kernels that the recorder's JAX or its compilers refused."""
    why = collections.defaultdict(list)
    for name, entry in results.entries.items():
        if "outputs" not in entry:
            reason = entry.get("failed") or next(iter(entry["refused"].values()))
            why[reason.split(" OpResult")[0].split(". To dump")[0]].append(name)
    return why


@functools.cache
def illegal():
    """The refused kernels of which a check here says that the backend refuses them."""
    names = set()
    for name in (name for some in refused(of_kernels()).values() for name in some):
        one = kernel_lists.kernels()[name]
        execution = running.execute(*one.make(), one.target, how=running.How(check={"seeds": 1}))
        if any(finding["code"] == "ILLEGAL" for run in execution.runs for finding in run.report["findings"]):
            names.add(name)
    return names
