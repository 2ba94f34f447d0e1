"""JAX's abstract values as types of kernel text: arrays, refs into a memory space, PRNG keys,
synchronisation objects.
"""

from palladion.base.scalars import dims_text, dtype_name
from palladion.jax import jax_tensor_memory
from palladion.jax.exporter.attributes import Word, attrs_text
from palladion.jax.exporter.parameters import unknown

SPACES = frozenset(
    (
        "default",
        "any",
        "gmem",
        "smem",
        "tmem",
        "regs",
        "hbm",
        "vmem",
        "vmem_shared",
        "cmem",
        "semaphore",
        "host",
        "index",
        "key",
        "error",
    )
)
_RENAMED_SPACES = {"semaphore_mem": "semaphore", "device": "default", "none": "default"}
_SEMAPHORES = {
    "Semaphore": "sem",
    "semaphore": "sem",
    "DMASemaphore": "dma_sem",
    "dma_semaphore": "dma_sem",
    "BarrierSemaphore": "barrier_sem",
    "barrier_semaphore": "barrier_sem",
}


def space_name(memory_space) -> str:
    """`vmem` for any of JAX's classes of memory spaces; a ref without one is in `default`."""
    inner = getattr(memory_space, "memory_space", memory_space)  # CoreMemorySpace: the space of one mesh
    name = getattr(inner, "value", inner)
    name = (name if isinstance(name, str) else getattr(inner, "name", str(inner))).lower()
    name = _RENAMED_SPACES.get(name, name)
    if name not in SPACES:
        raise unknown(f"memory space {memory_space!r} is not known; expected one of {', '.join(sorted(SPACES))}")
    return name


def space_of_array(aval) -> str:
    """Where an array itself lies, outside of kernels too; a CoreMemorySpace is that space on each core of its mesh."""
    space = getattr(aval, "memory_space", "")
    return str(getattr(space, "memory_space", space))


def ref_space(aval, default="default") -> str:
    """`default` is where a ref lies that JAX has left without a space."""
    space = space_name(aval.memory_space)
    return default if space == "default" else space


def is_ref(aval) -> bool:
    return hasattr(aval, "inner_aval") and hasattr(aval, "memory_space")


def key_impl(dtype):
    """The short name of a PRNG key type's implementation (`fry`), or None for any other type."""
    impl = getattr(dtype, "_impl", None)
    return getattr(impl, "tag", None)


def tpu_key_words(dtype):
    """The shape of the words of a key of a TPU's own generator, as which it is written; None for any other type."""
    return tuple(dtype._impl.key_shape) if key_impl(dtype) in ("pl", "_pl_stateful") else None


def semaphore_name(dtype) -> str:
    """`dma_sem`; "" for what is no semaphore."""
    kind = type(dtype).__name__
    return _SEMAPHORES.get(kind if kind != "type" else dtype.__name__, "")


def operand_type(aval) -> str:
    """Of an operand of a kernel: semaphores are refs there too."""
    text = array_type(aval)
    return f"ref<semaphore,{text}>" if semaphore_name(aval.dtype) else text


def element_text(dtype, shape) -> str:
    """`f32[8,128]`, `key<fry>[]`, `barrier{arrivals=1}[2]`, `dma_sem[]`."""
    dims = dims_text(shape)
    tag = key_impl(dtype)
    if tpu_key_words(dtype) is not None:
        return "u32" + dims_text((*shape, *tpu_key_words(dtype)))
    if tag is not None:
        return f"key<{tag}>{dims}"
    if semaphore_name(dtype):
        return semaphore_name(dtype) + dims
    kind = type(dtype).__name__
    if kind == "BarrierType":
        attrs = {"arrivals": dtype.num_arrivals, "orders_tensor_core": dtype.orders_tensor_core}
        return f"barrier{attrs_text(attrs)}{dims}"
    if kind == "ClusterBarrierType":
        attrs = {
            "axes": list(dtype.collective_axes),
            "arrivals": dtype.num_arrivals,
            "orders_tensor_core": dtype.orders_tensor_core,
        }
        if getattr(dtype, "leader_tracked", None) is not None:
            attrs["leader_tracked"] = dtype.leader_tracked
        return f"cluster_barrier{attrs_text(attrs)}{dims}"
    return dtype_name(dtype) + dims


def array_type(aval, dims=None) -> str:
    """`~` marks a weak type. `dims` replaces the shape where a dimension is a value."""
    weak = "~" if getattr(aval, "weak_type", False) else ""
    return weak + element_text(aval.dtype, aval.shape if dims is None else dims)


def tensor_memory_attrs(layout, columns: int) -> dict:
    """Of an array with so many columns that JAX's TMEMLayout lays out."""
    found = jax_tensor_memory.attributes_of(layout, columns)
    if found is None:
        raise unknown(
            f"the layout of tensor memory {layout!r} is none that JAX's constructors make (plgpu.TMEM, "
            "plgpu.TMEMLayout)"
        )
    return {**found, "layout": Word(found["layout"])}


def _tensor_memory_attrs(aval) -> dict:
    attrs = tensor_memory_attrs(aval.layout, aval.shape[-1])
    absent = {"layout": Word("default"), "packing": 1}
    attrs = {name: value for name, value in attrs.items() if value != absent.get(name)}
    return attrs | ({"collective": True} if aval.collective else {})


def ref_type(aval, default="default") -> str:
    inner = aval.inner_aval
    space = ref_space(aval, default)
    if space in ("any", "default") and semaphore_name(inner.dtype):  # from JAX 0.11 operands over a mesh have no space
        space = "semaphore"
    attrs = attrs_text(_tensor_memory_attrs(aval)) if space == "tmem" else ""
    return f"ref<{space},{element_text(inner.dtype, inner.shape)}{attrs and ' '}{attrs}>"


def type_text(aval) -> str:
    if is_ref(aval):
        return ref_type(aval)
    if type(aval).__name__ == "AbstractToken":
        return "token"
    if not hasattr(aval, "shape") or not hasattr(aval, "dtype"):
        raise unknown(f"a value of JAX type {type(aval).__name__} has no kernel-text type")
    return array_type(aval)
