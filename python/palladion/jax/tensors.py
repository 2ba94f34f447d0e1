"""Arrays of other libraries, such as PyTorch's tensors, as arguments and results: over DLPack,
which shares their memory.

`run` and `check` take them. In `emulate` so does `plgpu.as_torch_kernel`, as on a GPU
(jax/_src/pallas/mosaic_gpu/torch.py): one kernel call and nothing else, results in new tensors, or in the argument that
the kernel writes into. No library is imported here: the module of an argument makes the results. What it does not
catch: a library whose module has no `from_dlpack`, and 64-bit numbers without `jax_enable_x64`.
"""

import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from palladion.jax import jax_versions
from palladion.jax.exporter.kernel import alias_pairs

# DLPack has these in new releases only, or not: they travel as their bytes.
_AS_BYTES = ("bool", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
_CPU = 1  # kDLCPU
_AROUND = ("jit", "pjit", "closed_call", "core_call", "custom_vmap_call", "custom_jvp_call", "custom_vjp_call")
_BESIDE = ("broadcast_in_dim", "empty")  # how semaphores and scratch of a kernel begin


def is_tensor(value: object) -> bool:
    return hasattr(value, "__dlpack_device__") and not isinstance(value, (np.ndarray, np.generic, jax.Array))


def _library(tensor):
    return sys.modules[type(tensor).__module__.partition(".")[0]]


def to_jax(tensor) -> jax.Array:
    """The tensor as JAX's array over the same memory, where XLA can use that as it lies."""
    if tensor.__dlpack_device__()[0] != _CPU:
        raise ValueError(
            f"a tensor of shape {list(tensor.shape)} is on device {tensor.device}: Palladion emulates on the CPU; pass "
            "tensor.cpu()"
        )
    if hasattr(tensor, "is_contiguous") and not tensor.is_contiguous():
        raise ValueError(
            f"a tensor of shape {list(tensor.shape)} has strides {list(tensor.stride())}, and a kernel on a GPU would "
            "get its first address alone; pass tensor.contiguous()"
        )
    tensor = tensor.detach() if hasattr(tensor, "detach") else tensor
    name = str(tensor.dtype).rpartition(".")[2]
    if name not in _AS_BYTES:
        return jax.dlpack.from_dlpack(tensor)
    as_bytes = jax.dlpack.from_dlpack(tensor.view(_library(tensor).uint8))
    return as_bytes.astype(bool) if name == "bool" else lax.bitcast_convert_type(as_bytes, np.dtype(name))


def _from_jax(library, array):
    name = np.dtype(array.dtype).name
    if name not in _AS_BYTES:
        return library.from_dlpack(jax.block_until_ready(array))
    as_bytes = array.astype(np.uint8) if name == "bool" else lax.bitcast_convert_type(array, np.uint8)
    return library.from_dlpack(jax.block_until_ready(as_bytes)).view(getattr(library, name))


def as_arrays(args: tuple) -> tuple[tuple, Callable[[Any], Any]]:
    """The arguments with tensors as JAX's arrays; and what makes results tensors of the same library,
    where there was one.
    """
    tensors = [leaf for leaf in jax.tree.leaves(args) if is_tensor(leaf)]
    if not tensors:
        return args, lambda results: results
    library = _library(tensors[0])
    arrays = jax.tree.map(lambda leaf: to_jax(leaf) if is_tensor(leaf) else leaf, args)
    return arrays, lambda results: jax.tree.map(lambda array: _from_jax(library, array), results)


class _Calls:
    """The kernel calls of a traced function, and which argument each of its results is."""

    def __init__(self, jaxpr):
        self.kernels = 0
        inner = jax_versions.open_jaxpr(jaxpr)
        self.arguments = self._results(inner, list(range(len(inner.invars))))

    def _results(self, jaxpr, arguments) -> list:
        """Of each result the number of the argument whose memory it is, or None."""
        known = dict(zip(jaxpr.invars, arguments))
        for eqn in jaxpr.eqns:
            name = eqn.primitive.name
            given = [None if jax_versions.is_literal(atom) else known.get(atom) for atom in eqn.invars]
            found = [None] * len(eqn.outvars)
            if name in jax_versions.kernel_call_primitives():
                self.kernels += 1
                for source, out in alias_pairs(eqn.params["input_output_aliases"]):
                    found[out] = given[source]
            elif name in _AROUND:
                for inside in jax_versions.inner_jaxprs(eqn):
                    found = self._results(inside, given)
            elif name not in _BESIDE:
                raise ValueError(
                    f"plgpu.as_torch_kernel takes a function of one kernel call and nothing else; found {name}, as JAX "
                    "would on a GPU. Compute it with the tensors' own library, before or after"
                )
            known.update(zip(eqn.outvars, found))
        return [None if jax_versions.is_literal(atom) else known.get(atom) for atom in jaxpr.outvars]


def torch_kernel(fn: Callable) -> Callable:
    """What `plgpu.as_torch_kernel(fn)` is in `emulate`."""

    def call(*args):
        arrays, tensors = as_arrays(args)
        calls = _Calls(jax.make_jaxpr(fn)(*arrays))
        if calls.kernels != 1:
            raise ValueError(f"plgpu.as_torch_kernel takes a function of one kernel call; found {calls.kernels}")
        results, tree = jax.tree.flatten(tensors(jax.jit(fn)(*arrays)))
        leaves = jax.tree.leaves(args)
        return tree.unflatten(
            [
                result if source is None else leaves[source].copy_(result)
                for result, source in zip(results, calls.arguments)
            ]
        )

    return call
