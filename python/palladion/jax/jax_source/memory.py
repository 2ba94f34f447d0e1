"""Memory spaces and what is allocated in them, as JAX's constructors for each backend."""

import re

from palladion.base.errors import ToJaxError
from palladion.jax import jax_tensor_memory
from palladion.jax.jax_source import reading, spelling
from palladion.jax.jax_source.spelling import attribute_text

_COMMON = {
    "any": "pl.ANY",
    "host": "pl.HOST",
    "default": "pl.MemorySpace.DEFAULT",
    "index": "pl.MemorySpace.INDEX",
    "key": "pl.MemorySpace.KEY",
    "error": "pl.MemorySpace.ERROR",
}
_OF_BACKEND = {
    "mosaic_tpu": {
        "vmem": "pltpu.VMEM",
        "smem": "pltpu.SMEM",
        "hbm": "pltpu.HBM",
        "cmem": "pltpu.CMEM",
        "semaphore": "pltpu.SEMAPHORE",
        "vmem_shared": "pltpu.VMEM_SHARED",
    },
    "mosaic_gpu": {"gmem": "plgpu.GMEM", "smem": "plgpu.SMEM", "tmem": "plgpu.TMEM", "regs": "plgpu.REGS"},
}
_BACKEND_OF_SPACE = {
    space: backend for backend in ("mosaic_gpu", "mosaic_tpu") for space in _OF_BACKEND[backend] if space != "smem"
}
_TMEM_LAYOUTS = {
    "scales": "SCALES_LAYOUT",
    "scales_m64_collective": "SCALES_M64_COLLECTIVE_LAYOUT",
    "sparse_metadata": "SPARSE_METADATA_LAYOUT",
}
_SEMAPHORES = {"sem": "REGULAR", "dma_sem": "DMA", "barrier_sem": "BARRIER"}


def backend_of(kernel: dict) -> str:
    """What the text says, or else its memory spaces; "" where neither decides."""
    if kernel["backend"]:
        return kernel["backend"]
    if kernel["mesh"]:
        return "mosaic_gpu" if kernel["mesh"] == "gpu" else "mosaic_tpu"
    spaces = [t.get("space") for t in reading.all_types(kernel)] + [operand["space"] for operand in kernel["operands"]]
    return next((_BACKEND_OF_SPACE[space] for space in spaces if space in _BACKEND_OF_SPACE), "")


def space_text(space: str, backend: str) -> str:
    known = {**_OF_BACKEND["mosaic_tpu"], **_OF_BACKEND.get(backend, {}), **_COMMON}
    if space not in known:
        raise ToJaxError(
            f"the memory space {space} is not one of {backend or 'any backend'}'s; expected one of "
            f"{', '.join(sorted(known))}"
        )
    return known[space]


def _barrier(t) -> str:
    attrs = reading.attributes(t["attrs"])
    count = repr(t["shape"][0]) if len(t["shape"]) == 1 else spelling.shape_text(t["shape"])
    text = (
        f"num_arrivals={attrs.get('arrivals', 1)}, num_barriers={count}, "
        f"orders_tensor_core={attrs.get('orders_tensor_core', False)}"
    )
    if t["element"] == "barrier":
        return f"plgpu.Barrier({text})"
    tracked = f", leader_tracked={attrs['leader_tracked']}" if attrs.get("leader_tracked") else ""
    return f"plgpu.ClusterBarrier(collective_axes={attribute_text(attrs.get('axes', ()))}, {text}{tracked})"


def tensor_memory_layout(attrs: dict, shape) -> str:
    """JAX's layout of tensor memory as an expression, from a ref's or a union's attributes of kernel text."""
    name = getattr(attrs.get("layout"), "text", "default")
    return jax_tensor_memory.source_of({"tile_columns": shape[-1], **attrs, "layout": name})


def _tensor_memory(t: dict) -> str:
    """plgpu.TMEM where it gives the ref this layout; else what it makes itself, with the layout spelled out."""
    attrs = reading.attributes(t["attrs"])
    shape, collective = tuple(t["shape"]), attrs.get("collective", False)
    name, packing = getattr(attrs.get("layout"), "text", "default"), attrs.get("packing", 1)
    inferred = {128: "default", 64: "m64_collective" if collective else "half_lane"}.get(
        shape[0] if len(shape) == 2 else None
    )
    full = 32 // int(re.search(r"\d+", t["dtype"])[0])  # elements of a cell of 32 bits
    arguments = f"{spelling.shape_text(shape)}, {spelling.dtype_text(t['dtype'])}"
    pair = ", collective=True" if collective else ""
    if name in _TMEM_LAYOUTS:
        return f"plgpu.TMEM({arguments}, layout=plgpu.TMEMLayout.{_TMEM_LAYOUTS[name]}{pair})"
    if name == inferred and "tile_columns" not in attrs and packing in (1, full):
        packed = f", packed={packing == full}" if full > 1 else ""
        return f"plgpu.TMEM({arguments}{packed}{pair})"
    return (
        f"gpu_core.GPUMemoryRef(jax.core.ShapedArray({arguments}), memory_space=plgpu.TMEM, "
        f"layout={tensor_memory_layout(attrs, shape)}, collective={collective})"
    )


def scratch_type(t: dict, backend: str) -> str:
    """The constructor of what a scope or a kernel's scratch allocates."""
    if t["element"] in ("barrier", "cluster_barrier"):
        return _barrier(t)
    shape = spelling.shape_text(t["shape"])
    if t["element"] in _SEMAPHORES:
        module = "plgpu" if backend == "mosaic_gpu" else "pltpu"
        return f"{module}.SemaphoreType.{_SEMAPHORES[t['element']]}({shape})"
    if t["key"]:
        raise ToJaxError("a ref of keys as scratch is not written")
    if t["space"] == "tmem":
        return _tensor_memory(t)
    if t["space"] == "regs":
        return f"plgpu.ACC({shape}, {spelling.dtype_text(t['dtype'])})"
    return f"{space_text(t['space'], backend)}({shape}, {spelling.dtype_text(t['dtype'])})"
