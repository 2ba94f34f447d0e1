"""Lists what the installed JAX has for Pallas kernels and Palladion does not know: primitives, their parameters, views
of refs, effects, types, fields and their defaults, public names, shipped kernels.

Usage: python tools/jax_release.py [--all] [--diff FILE] [--write]      (with PYTHONPATH=python and the JAX to look at)

Exit 0: everything is known or refused by name; 1: what is printed is neither. What Palladion knows of primitives stands
in the exporter's tables and in the registry; of the rest, in tools/jax_known.txt, where a line says what becomes of it.
--all prints what this JAX has, --diff what it has more or less than such a print of another one, --write adds what is
new to tools/jax_known.txt, to be looked at.

Based on: the lowering tables of the three backends, the calls of `bind` in JAX's sources (parsed, not run) and the
signatures of lowering rules. Not caught: a parameter that JAX gives only by `**kwargs`,
and a name that stays and changes its meaning.
"""

import argparse
import ast
import collections
import dataclasses
import enum
import importlib
import inspect
import os
import pkgutil
import sys
import warnings

KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jax_known.txt")
PUBLIC = {"pl": "", "pltpu": ".tpu", "plgpu": ".mosaic_gpu", "pltriton": ".triton", "plsc": ".tpu_sc"}
# Classes whose fields a kernel's author sets.
SET_BY_USERS = (
    "CompilerParams",
    "InterpretParams",
    "InterpretGPUParams",
    "GridSpec",
    "PrefetchScalarGridSpec",
    "BlockSpec",
    "Buffered",
    "Barrier",
    "ClusterBarrier",
    "Mesh",
    "WarpMesh",
    "TensorCoreMesh",
    "ScalarSubcoreMesh",
    "VectorSubcoreMesh",
)
MADE_OF_CALLS = ("GridMapping", "BlockMapping")  # what the exporter reads of a call


def public_modules() -> dict:
    """Short name -> module, of those this JAX has. `jax._src` is loaded with them, as far as Pallas needs it."""
    found = {}
    for short, name in PUBLIC.items():
        try:
            found[short] = importlib.import_module("jax.experimental.pallas" + name)
        except ImportError as error:
            print(f"not looked at: {short} ({error})", file=sys.stderr)
    return found


def modules_below(package) -> list:
    found = []
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            found.append(importlib.import_module(info.name))
        except ImportError:
            continue  # needs what is not installed, such as torch
    return found


def lowering_rules() -> list:
    """(primitive, rule) of every lowering rule of the three backends."""
    from jax._src.pallas.mosaic import lowering as tpu
    from jax._src.pallas.mosaic_gpu import lowering as gpu
    from jax._src.pallas.triton import lowering as triton

    tables = [*tpu.lowering_rules.values(), *gpu.mosaic_lowering_rules.values(), triton.triton_lowering_rules]
    return [pair for table in tables for pair in table.items()]


def keyword_parameters(rule) -> set:
    """Those without a default: a rule that serves several primitives has defaults for what only some have."""
    try:
        signature = inspect.signature(rule)
    except (TypeError, ValueError):
        return set()
    return {name for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY and p.default is p.empty}


def bound_parameters(primitives) -> dict:
    """Primitive -> the keywords it is bound with, wherever JAX's sources bind it by a module's own name."""
    found = collections.defaultdict(set)
    for module in [
        m for name, m in sorted(sys.modules.items()) if name.startswith("jax.") and getattr(m, "__file__", None)
    ]:
        with open(module.__file__, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "bind"):
                continue
            owner = node.func.value
            holder = (
                vars(module).get(owner.value.id)
                if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name)
                else module
            )
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            primitive = getattr(holder, name, None)
            if primitive in primitives:
                found[primitive] |= {k.arg for k in node.keywords if k.arg} | _in_dicts(node.keywords)
    return found


def _in_dicts(keywords) -> set:
    """The names in `**(dict(name=...) if ... else {})`."""
    calls = [c for k in keywords if k.arg is None for c in ast.walk(k.value) if isinstance(c, ast.Call)]
    return {k.arg for c in calls if getattr(c.func, "id", "") == "dict" for k in c.keywords if k.arg}


def primitives_of_pallas(modules) -> dict:
    """Name -> parameters of what a kernel may contain. SparseCore's have names of others, so they are `sc.load`,
    as in the registry.
    """
    from jax._src import core

    defined = {
        v: module.__name__
        for module in modules
        for name, v in vars(module).items()
        if isinstance(v, core.Primitive) and name.endswith("_p")
    }
    sparse = {
        v
        for module in modules
        if module.__name__.endswith(".sc_primitives")
        for v in vars(module).values()
        if isinstance(v, core.Primitive)
    }
    rules = lowering_rules()
    every = set(defined) | {primitive for primitive, _ in rules}
    bound = bound_parameters(every)
    found = collections.defaultdict(set)
    for primitive, parameters in [
        *((p, bound[p]) for p in every),
        *((p, keyword_parameters(rule)) for p, rule in rules),
    ]:
        found[f"sc.{primitive.name}" if primitive in sparse else primitive.name] |= parameters
    return found


def classes(modules, base) -> set:
    return {v.__name__ for m in modules for v in vars(m).values() if isinstance(v, type) and base in v.__mro__[1:]}


def _default(field) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "made"
    if field.default is dataclasses.MISSING:
        return "needed"
    return field.default.name if isinstance(field.default, enum.Enum) else repr(field.default).split(" at 0x")[0]


def fields(public) -> set:
    """ "plgpu.CompilerParams.lowering_semantics = Warpgroup": a default that changes is a line that is new."""
    from jax._src.pallas import core

    found = set()
    for short, module in (*public.items(), ("core", core)):
        for name in MADE_OF_CALLS if module is core else SET_BY_USERS:
            one = getattr(module, name, None)
            if dataclasses.is_dataclass(one):
                found |= {f"{short}.{name}.{f.name} = {_default(f)}" for f in dataclasses.fields(one) if f.init}
    return found


def shipped_kernels() -> set:
    from jax.experimental.pallas import ops

    prefix = ops.__name__ + "."
    return {info.name.removeprefix(prefix) for info in pkgutil.walk_packages(ops.__path__, prefix) if not info.ispkg}


def surface() -> set:
    """Lines "kind name", all that this JAX has. A parameter is "parameter primitive.name"."""
    public = public_modules()
    import jax._src.pallas
    import jax._src.state
    from jax._src import dtypes, effects
    from jax._src.state import types as state_types

    pallas = modules_below(jax._src.pallas)
    state = modules_below(jax._src.state)
    lines = set()
    for name, parameters in primitives_of_pallas(pallas + state).items():
        lines.add(f"primitive {name}")
        lines |= {f"parameter {name}.{parameter}" for parameter in parameters}
    lines |= {f"view {name}" for name in classes(pallas + state, state_types.Transform)}
    lines |= {f"effect {name}" for name in classes(pallas + state, effects.Effect)}
    lines |= {f"type {name}" for name in classes(pallas, dtypes.extended)}
    lines |= {f"field {field}" for field in fields(public)}
    lines |= {
        f"name {short}.{name}" for short, module in public.items() for name in dir(module) if not name.startswith("_")
    }
    return lines | {f"kernel {name}" for name in shipped_kernels()}


def known_by_tables() -> set:
    """What the exporter's tables and the registry know or refuse;
    "parameter p.*" is a primitive refused whatever its parameters are.
    """
    from palladion import _library
    from palladion.jax.exporter.kernel import HANDLERS, pallas_call_text
    from palladion.jax.exporter.views import VIEWS

    lines = {f"view {name}" for name in VIEWS}
    for name, handler in (*HANDLERS.items(), ("pallas_call", pallas_call_text)):
        lines.add(f"primitive {name}")
        lines |= {f"parameter {name}.{parameter}" for parameter in handler.parameters}
    for row in _library.operations():
        name = f"sc.{row['name']}" if row["dialect"] == "sc" else row["name"]
        if row["status"] == "unsupported" and name not in HANDLERS:
            lines |= {f"primitive {name}", f"parameter {name}.*"}
    return lines


def read_known() -> dict:
    """Line -> what becomes of it, from tools/jax_known.txt: "kind name" with a note after " # "."""
    with open(KNOWN, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    return {line.partition(" # ")[0].strip(): line.partition(" # ")[2] for line in lines}


def canonical(line: str) -> str:
    """Some primitives' names ended in `_p` until 0.10; the exporter takes both."""
    kind, _, name = line.partition(" ")
    if kind == "primitive":
        return f"primitive {name.removesuffix('_p')}"
    primitive, _, parameter = name.rpartition(".")
    return f"parameter {primitive.removesuffix('_p')}.{parameter}" if kind == "parameter" else line


def unlisted(lines) -> list:
    tables, listed = known_by_tables(), set(read_known())
    refused = {
        line.replace("primitive ", "parameter ") + ".*" for line in listed - tables if line.startswith("primitive ")
    }
    known = tables | listed | refused
    missing = {line for line in map(canonical, lines) if line not in known}
    return sorted(line for line in missing if not _follows_from_its_primitive(line, known, missing))


def _follows_from_its_primitive(line, known, missing) -> bool:
    """A parameter of a primitive that is itself missing, or refused whatever its parameters are."""
    kind, _, name = line.partition(" ")
    primitive = name.rpartition(".")[0]
    return kind == "parameter" and (f"parameter {primitive}.*" in known or f"primitive {primitive}" in missing)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="print everything this JAX has")
    parser.add_argument("--diff", metavar="FILE", help="against what --all printed with another JAX")
    parser.add_argument("--write", action="store_true", help="add what is new to tools/jax_known.txt")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = surface()
    if options.all:
        print("\n".join(sorted(lines)))
        return 0
    if options.diff:
        with open(options.diff, encoding="utf-8") as file:
            before = set(file.read().splitlines())
        print(
            "\n".join(
                [f"+ {line}" for line in sorted(lines - before)] + [f"- {line}" for line in sorted(before - lines)]
            )
        )
        return 0
    missing = unlisted(lines)
    if options.write:
        with open(KNOWN, "a", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in missing)
    import jax

    print("\n".join(missing) if missing else f"JAX {jax.__version__}: {len(lines)} names, all known or refused by name")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
