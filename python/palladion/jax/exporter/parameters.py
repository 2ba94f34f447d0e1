"""Which parameters of a primitive its handler knows: said beside the handler,
checked by the walker before it is called.

A parameter that a handler knows may still be refused for its value.
Not caught: a parameter that keeps its name and changes its meaning.
"""

import jax

from palladion import _library
from palladion.base.errors import ExportError
from palladion.jax import jax_versions


def knows(*names):
    """Decorates a handler; the classes of handlers have a property `parameters` of their own."""

    def mark(handler):
        handler.parameters = frozenset(names)
        return handler

    return mark


def unknown(message: str) -> ExportError:
    """What has a name that Palladion has never seen; where JAX is newer than Palladion, that is most likely why."""
    return ExportError(message + jax_versions.newer_note())


def refused(name: str) -> ExportError:
    """A primitive that no table writes: with the reason from the registry, where it has a row there."""
    reasons = [row["reason"] for row in _library.operations() if row["name"] == name and row["status"] == "unsupported"]
    if reasons:
        return ExportError(f"{name} is not supported: {reasons[0]}")
    return unknown(f"the primitive {name!r} is not known to Palladion's exporter; no kernel text can be written for it")


def check_parameters(params, handler):
    if strangers := set(params) - handler.parameters:
        name = sorted(strangers)[0]
        raise unknown(f"its parameter {name!r} (here {params[name]!r}) is not known to Palladion's exporter")


def unflatten(tree, leaves):
    try:
        return jax.tree_util.tree_unflatten(tree, leaves)
    except Exception as error:
        raise ExportError(f"its operands do not fit the tree that JAX recorded for them ({error})") from None
