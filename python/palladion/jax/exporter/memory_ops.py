"""Primitives that read and write refs: their operands are trees, flattened into the equation's operands by JAX."""

import numpy as np

from palladion.base.errors import ExportError
from palladion.base.scalars import dtype_name, literal_text
from palladion.jax import jax_versions
from palladion.jax.exporter import packed_views
from palladion.jax.exporter.attributes import Word, word_of_enum
from palladion.jax.exporter.parameters import knows, unflatten
from palladion.jax.exporter.types import element_text
from palladion.jax.exporter.views import view_text


@knows("tree")
def _get(writer, eqn, env):
    ref, *leaves = eqn.invars
    transforms = unflatten(eqn.params["tree"], leaves)
    if (access := packed_views.packed(writer, ref, transforms)) is not None:
        packed_views.load(writer, eqn, env, access)
        return
    writer.emit_equation(eqn, env, "get", args=[view_text(ref, transforms, writer.reader(env))])


def _store(name):
    @knows("tree")
    def handler(writer, eqn, env):
        ref, value, *leaves = eqn.invars
        transforms = unflatten(eqn.params["tree"], leaves)
        if name == "swap" and (access := packed_views.packed(writer, ref, transforms)) is not None:
            packed_views.store(writer, eqn, env, access, value)
            return
        writer.emit_equation(
            eqn, env, name, args=[view_text(ref, transforms, writer.reader(env)), writer.read(env, value)]
        )

    return handler


def _named(name, writer, env, value):
    return [] if value is None else [f"{name}={writer.read(env, value)}"]


def _as_type(writer, eqn, env, atom):
    """The `other` of a load, which JAX leaves in the type the user gave, in the type that is loaded."""
    dtype = eqn.outvars[0].aval.dtype
    if jax_versions.is_literal(atom) and np.shape(atom.val) == ():
        return literal_text(atom.val, dtype)
    text = writer.read(env, atom)
    if atom.aval.dtype == dtype:
        return text
    converted = writer.fresh()
    writer.emit(
        "convert_element_type",
        attrs={"to": Word(dtype_name(dtype))},
        args=[text],
        results=[converted],
        types=[element_text(dtype, atom.aval.shape)],
        loc=writer.location(eqn),
    )
    return converted


@knows("args_tree", "cache_modifier", "eviction_policy", "is_volatile")
def _masked_load(writer, eqn, env):
    params = eqn.params
    ref, transforms, mask, other = unflatten(params["args_tree"], eqn.invars)
    attrs = {}
    for name in ("cache_modifier", "eviction_policy"):
        if params.get(name) is not None:
            attrs[name] = str(params[name])
    if params.get("is_volatile"):
        attrs["is_volatile"] = True
    args = [view_text(ref, transforms, writer.reader(env))]
    args += _named("mask", writer, env, mask)
    if other is not None:
        args.append(f"other={_as_type(writer, eqn, env, other)}")
    writer.emit_equation(eqn, env, "masked_load", attrs=attrs, args=args)


@knows("args_tree", "eviction_policy")
def _masked_swap(writer, eqn, env):
    ref, transforms, value, mask = unflatten(eqn.params["args_tree"], eqn.invars)
    policy = eqn.params.get("eviction_policy")
    attrs = {} if policy is None else {"eviction_policy": str(policy)}
    args = [view_text(ref, transforms, writer.reader(env)), writer.read(env, value)]
    writer.emit_equation(eqn, env, "masked_swap", attrs=attrs, args=args + _named("mask", writer, env, mask))


_ATOMIC_WORDS = {"xchg", "add", "max", "min", "and", "or", "xor"}


@knows("args_tree", "atomic_type")
def _atomic_rmw(writer, eqn, env):
    ref, transforms, value, mask = unflatten(eqn.params["args_tree"], eqn.invars)
    op = word_of_enum(eqn.params["atomic_type"])
    if op.text not in _ATOMIC_WORDS:
        raise ExportError(f"atomic_type {eqn.params['atomic_type']!r} is not one of {', '.join(sorted(_ATOMIC_WORDS))}")
    args = [view_text(ref, transforms, writer.reader(env)), writer.read(env, value)]
    writer.emit_equation(eqn, env, "atomic_rmw", attrs={"op": op}, args=args + _named("mask", writer, env, mask))


@knows()
def _atomic_cas(writer, eqn, env):
    writer.emit_equation(eqn, env, "atomic_cas")


@knows("memory_space", "kind", "pin")
def _new_ref(writer, eqn, env):
    if eqn.params.get("kind") is not None:
        raise ExportError(f"its parameter kind = {eqn.params['kind']!r} is not supported; expected None")
    writer.emit_equation(eqn, env, "new_ref")


@knows("ty", "memory_space", "kind", "pin")
def _empty_ref(writer, eqn, env):
    writer.emit_equation(eqn, env, "empty_ref")


@knows()
def _freeze(writer, eqn, env):
    writer.emit_equation(eqn, env, "freeze")


MEMORY_OPS = {
    "get": _get,
    "swap": _store("swap"),
    "addupdate": _store("addupdate"),
    "masked_load": _masked_load,
    "masked_swap": _masked_swap,
    "atomic_rmw": _atomic_rmw,
    "atomic_cas": _atomic_cas,
    "new_ref": _new_ref,
    "ref": _new_ref,
    "mutable_array": _new_ref,
    "empty_ref": _empty_ref,
    "freeze": _freeze,
}
