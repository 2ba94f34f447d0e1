"""What kernel operands are while they pass through XLA: PRNG keys are their u32 words, 2- and 4-bit numbers are bytes,
and semaphores are i16, the numbers that a session of the library knows them by (docs/spec/tpu-sessions.md).

XLA packs narrow numbers, and the library wants one a byte, with the value in the low bits: the storage of ml_dtypes.
What it does not do: 6-bit floats, which JAX has no arrays of.
"""

import jax
import numpy as np
from jax import lax

from palladion.base.scalars import dtype_name, numpy_dtype
from palladion.jax import jax_semaphores
from palladion.jax.exporter.types import semaphore_name

_BITS = {"i2": "uint2", "u2": "uint2", "i4": "uint4", "u4": "uint4", "f4e2m1fn": "uint4"}


def is_key(dtype) -> bool:
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def carried_name(dtype) -> str:
    """The kernel-text name of a type that comes in bytes, "" for one that comes as it is."""
    name = "" if is_key(dtype) or semaphore_name(dtype) else dtype_name(dtype)
    return name if name in _BITS else ""


def storage(aval):
    """(shape, NumPy dtype) of the array that the library sees for a value of this abstract value."""
    if is_key(aval.dtype):
        return tuple(aval.shape) + tuple(aval.dtype._impl.key_shape), np.dtype(np.uint32)
    if semaphore_name(aval.dtype):
        return tuple(aval.shape), np.dtype(np.int16)
    return tuple(aval.shape), numpy_dtype(dtype_name(aval.dtype))


def carrier_dtype(dtype) -> np.dtype:
    """Of the array that passes through XLA for a storage of this NumPy dtype."""
    return np.dtype(np.uint8) if carried_name(dtype) else np.dtype(dtype)


def to_carrier(value):
    if is_key(value.dtype):
        return jax.random.key_data(value)
    if semaphore_name(value.dtype):
        return jax_semaphores.numbers_of(value).astype(np.int16)
    name = carried_name(value.dtype)
    if not name:
        return value
    bits = jax.numpy.dtype(_BITS[name])
    return (value if value.dtype == bits else lax.bitcast_convert_type(value, bits)).astype(np.uint8)


def from_carrier(value, aval):
    if is_key(aval.dtype):
        return jax.random.wrap_key_data(value, impl=aval.dtype._impl.name)
    if semaphore_name(aval.dtype):
        return jax_semaphores.of_numbers(value, aval.dtype)
    name = carried_name(aval.dtype)
    if not name:
        return value
    bits = value.astype(jax.numpy.dtype(_BITS[name]))
    return bits if aval.dtype == bits.dtype else lax.bitcast_convert_type(bits, aval.dtype)
