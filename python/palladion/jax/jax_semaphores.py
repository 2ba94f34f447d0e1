"""Semaphores as values of a JAX program: what they are for XLA, and back.

Beside jax_versions.py, and under its rule: JAX 0.8 to 0.12, nothing of `jax._src` elsewhere. JAX gives the extended
dtypes of semaphores no operations; these two change the type alone, and compile to nothing.
"""

import jax
from jax._src import core
from jax.interpreters import mlir

_numbers_p = core.Primitive("palladion_numbers_of_semaphores")
_semaphores_p = core.Primitive("palladion_semaphores_of_numbers")


@_numbers_p.def_abstract_eval
def _numbers_aval(aval):
    numbers = core.physical_aval(aval)  # whose memory space, of a core (JAX 0.12), no operation of XLA's takes
    return core.ShapedArray(numbers.shape, numbers.dtype)


@_semaphores_p.def_abstract_eval
def _semaphores_aval(aval, *, dtype):
    return core.ShapedArray(aval.shape, dtype)


for _primitive in (_numbers_p, _semaphores_p):
    mlir.register_lowering(_primitive, lambda context, node, **_: [node], platform="cpu")


def numbers_of(semaphores):
    """The integers that XLA has for them."""
    return _numbers_p.bind(semaphores)


def of_numbers(numbers, dtype):
    """The same back: semaphores of that dtype."""
    physical = core.physical_aval(jax.core.ShapedArray(numbers.shape, dtype))
    return _semaphores_p.bind(numbers.astype(physical.dtype), dtype=dtype)
