"""Kernels that JAX traces inside a backward pass have the lines that write them: a part of `jax_versions`,
with JAX's private names.

JAX gives everything that a backward pass traces the line of the forward call.
What it does not catch: operations between kernels.
"""

import functools
import sys

from jax._src import source_info_util
from jax._src.interpreters import partial_eval

_TRACE = ("trace_to_jaxpr_dynamic", "trace_to_jaxpr")  # the second is what kernels are traced with from 0.12


def with_own_lines(put_back):
    """Until what this returns is called, which also calls `put_back`."""
    before = {name: getattr(partial_eval, name) for name in _TRACE if hasattr(partial_eval, name)}
    place = getattr(source_info_util, "_source_info_context", None)
    if place is None:
        return put_back
    for name, own in before.items():
        setattr(partial_eval, name, _by_own_lines(own, place))

    def put_both_back():
        for name, own in before.items():
            setattr(partial_eval, name, own)
        put_back()

    return put_both_back


def _by_own_lines(own, place):
    """`own`, a function that traces, and for callers in Pallas without the line that JAX has set for what is traced."""

    @functools.wraps(own)
    def trace(*args, **options):
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("jax._src.pallas."):
            return own(*args, **options)
        before, place.context = place.context, source_info_util.new_source_info()
        try:
            return own(*args, **options)
        finally:
            place.context = before

    return trace
