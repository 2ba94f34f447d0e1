"""How the kernels of the GPU corpus become conformance cases: a kernel is written in JAX, exported, and its places named.

A comment `#@ A` in a kernel's source names the last operation of that line, `#@ get:A` its load; a case says which codes are found at
which names. File names and lines of this folder are left out of the case: its own text is what people read, and what findings are asserted on.
Based on the format of docs/spec/cases.md. Does not catch: a line with two loads; then the last is meant.
"""

import dataclasses
import functools
import inspect
import os
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import mosaic_gpu as plgpu

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import case_writer
import palladion

HERE = os.path.dirname(os.path.abspath(__file__))
I32, F32, F16, U32 = jnp.int32, jnp.float32, jnp.float16, jnp.uint32
LANES = 128  # the least that a warpgroup loads and stores at once

# What a name can stand for: operations on memory and on synchronisation.
OPERATIONS = re.compile(
    r"(get|swap|masked_load|masked_swap|(mgpu\.|triton\.)?load|copy_\w+|async_\w+|\w+_cluster_cancel|barrier_\w+|semaphore_\w+|wait_\w+|commit_\w+|wgmma\w*|tcgen05_\w+|"
    r"mgpu_atomic_store|run_scoped|griddepcontrol_\w+|set_max_registers|core_map|mpmd_map|multiple_of|debug_\w+|cond|while|mma)$")


def load(ref, **options):
    """plgpu.load of all of a ref, which has an index until JAX 0.11."""
    index = ((),) if "idx" in inspect.signature(plgpu.load).parameters else ()
    return plgpu.load(ref, *index, **options)


def ty(*shape, dtype=I32):
    return jax.ShapeDtypeStruct(shape, dtype)


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel to export, the arguments it is traced for, and the names of its operands."""

    function: object
    args: tuple
    names: tuple


def kernel(body, *args, out, scratch=None, threads=2, **options):
    """`out`: one type or a tuple. Operands have the names of the body's first parameters."""
    outs = out if isinstance(out, tuple) else (out,)
    if threads:
        options |= {"num_threads": threads, "thread_name": "wg"}
    names = tuple(name.removesuffix("_ref") for name in list(inspect.signature(body).parameters)[: len(args) + len(outs)])
    return Kernel(plgpu.kernel(body, out_type=outs, scratch_types=scratch or {}, **options), args, names)


@dataclasses.dataclass(frozen=True)
class Finding:
    """`sites`: one name where the finding has one place, two for its two accesses (or one name twice)."""

    code: str
    sites: tuple


def found(code, *sites):
    return Finding(code, sites)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str  # "gpu/001_smem_ww_two_threads_racy"
    spec: str  # one anchor or several, separated by spaces
    prose: str
    kernel: Kernel
    inputs: dict = dataclasses.field(default_factory=dict)
    outputs: dict = dataclasses.field(default_factory=dict)
    findings: tuple = ()
    schedules: int = 16
    target: str = "mosaic_gpu/h100"
    headers: tuple = ()
    exit: int | None = None
    edit: object = None  # of the exported text, for kernels that JAX refuses to trace
    printed: tuple = ()

    def text(self):
        lines, names = exported(self.kernel, self.target.rpartition("/")[2], self.edit)
        marks = {}
        for number, finding in enumerate(self.findings):
            spots = [spot(names, lines, site) for site in finding.sites]
            label = f"@{chr(ord('a') + number)}" if len(spots) > 1 else ""
            for line in sorted(set(spots)):
                marks.setdefault(line, []).append(finding.code + label)
        lines = [line + (f"  //~ {' '.join(marks[i])}" if i in marks else "") for i, line in enumerate(lines)]
        exit_code = self.exit if self.exit is not None else int(any(f.code not in NOTES for f in self.findings))
        head = case_writer.spec_lines(self.name, self.spec)
        head += [f"# {line}" for line in self.prose.split("\n")] + [f"# target: {self.target}"]
        head += [f"# exit: {exit_code}"] * bool(exit_code) + [f"# schedules: {self.schedules}"] * bool(self.schedules)
        head += [f"# {header}" for header in self.headers]
        text = head + ["--- kernel"] + lines
        if self.inputs:
            text += ["--- inputs"] + [f"{name} = {value}" for name, value in self.inputs.items()]
        if self.outputs or self.printed:
            text += ["--- expect"] + [f'print "{line}"' for line in self.printed]
            for name, value in self.outputs.items():
                text += case_writer.expectation(name, np.asarray(value))
        return "\n".join(text) + "\n"


NOTES = {"SAME_VALUE", "PROXY_WAR", "WGMMA_ORDER", "GRID_ORDER", "OUT_MISSING"}


def spot(names, lines, site):
    """Where a name stands; `/regex` is the first line that it matches, `A#1` the second place of A."""
    if site.startswith("/"):
        return next(i for i, line in enumerate(lines) if re.search(site[1:], line))
    name, _, which = site.partition("#")
    if name not in names:
        raise KeyError(f"no operation has the name {name}; there are {sorted(names)}")
    return names[name][int(which or 0)][0]


LOC = re.compile(r'^loc (#l\d+) = (#f\d+):(\d+)(?::\d+)? fn "[^"]*"(?: via (#l\d+))?;$')
FILE = re.compile(r'^file (#f\d+) = "(.*)";$')


@functools.cache
def names_in(path):
    """Line -> (operation or "", name), of the comments `#@ A B` of a source file of this folder."""
    with open(path, encoding="utf-8") as source:
        comments = ((n, re.search(r"#@ ([\w.: ]+)$", line.rstrip())) for n, line in enumerate(source, 1))
        return {n: [name.rpartition(":")[::2] for name in match[1].split()] for n, match in comments if match}


def exported(made, chip, edit=None):
    """The lines of the kernel's text without places, and name -> the lines it stands for."""
    with palladion.target(chip):
        text = palladion.export(made.function, *made.args)
    for name, wanted in zip(re.findall(r"^  (?:in|out) %(\w+):", text, re.MULTILINE), made.names):
        text = re.sub(rf"%{name}\b", f"%{wanted}", text)
    files, places, lines, names = {}, {}, [], {}
    for line in text.rstrip("\n").split("\n"):
        if match := FILE.match(line):
            files[match[1]] = match[2]
        elif match := LOC.match(line):
            places[match[1]] = (match[2], int(match[3]), match[4])
        elif not line.startswith("producer "):
            place = re.search(r" (#l\d+);$", line)
            lines.append(re.sub(r" #l\d+;$", ";", line))
            if place:
                start = beginning(lines)
                for name, at in names_of(place[1], places, files):
                    note(names.setdefault(name, []), start, at, lines)
    if edit:
        lines = edit(lines)
    return lines, names


def beginning(lines):
    """The line where the instruction begins that ends in the last one."""
    last = len(lines) - 1
    if not lines[last].lstrip().startswith("}"):
        return last
    indent = len(lines[last]) - len(lines[last].lstrip())
    return next(i for i in range(last - 1, -1, -1)
                if len(lines[i]) - len(lines[i].lstrip()) == indent and not lines[i].lstrip().startswith("}"))


def operation(line):
    match = re.match(r"\s*(?:[%_][^=({]* = )?([a-z_][\w.]*)[{(]", line)
    return match[1] if match and OPERATIONS.match(match[1]) else ""


LOADS = {"get", "load", "mgpu.load", "wgmma_accumulator_deref", "async_load_tmem"}


def note(starts, start, at, lines):
    """Adds an operation to the places of a name. A store takes the place of the loads of its own source line."""
    wanted, place = at
    name = operation(lines[start])
    if not name or (wanted and name != wanted):
        return
    while starts and name not in LOADS and starts[-1][1] == place and operation(lines[starts[-1][0]]) in LOADS:
        starts.pop()
    starts.append((start, place))


def names_of(place, places, files):
    """Of the innermost frame that is in this folder."""
    while place:
        file, line, place = places[place]
        if os.path.dirname(files[file]) == HERE:
            return [(name, (wanted, line)) for wanted, name in names_in(files[file]).get(line, [])]
    return []


def clean_and_racy(name, prose, make, findings, **options):
    """Two cases of a builder that takes `racy`; findings of the racy one."""
    racy_outputs = options.pop("racy_outputs", {})
    yield Case(f"{name}_clean", kernel=make(False), prose=f"{prose} Here they are ordered.", **options)
    yield Case(f"{name}_racy", kernel=make(True), prose=prose, findings=findings, **{**options, "outputs": racy_outputs})


def of_jax_0_11(lines):
    """An edit: the text as of a newer JAX, which lowers what 0.10 refuses."""
    return [lines[0] + ' producer "jax 0.11.2";', *lines[1:]]


# Indices of a `plgpu.load` of all of a ref: an argument of its own in JAX 0.10, none in 0.12.
EVERY_INDEX = ((),) if "idx" in inspect.signature(plgpu.load).parameters else ()
