"""Views of refs: JAX's chains of transforms as the `.at[...]` chains of kernel text.

The kind of a transform is the name of its class, which is the same in every supported JAX.
"""

import numpy as np

from palladion.base.errors import ExportError
from palladion.base.scalars import dense_text, dtype_name
from palladion.jax import jax_versions
from palladion.jax.exporter.attributes import attrs_text
from palladion.jax.exporter.parameters import unknown
from palladion.jax.exporter.types import tensor_memory_attrs


def ints_text(ints) -> str:
    return "[" + ",".join(str(int(i)) for i in ints) + "]"


def index_atom(value, read) -> str:
    """One start, size or point. A bare integer is an i32; arrays are written in place."""
    if jax_versions.is_literal(value):
        value = value.val
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if jax_versions.is_array(value):
        array = np.asarray(value)
        return str(int(array)) if array.ndim == 0 else dense_text(array)
    if type(value).__name__ == "TransformedRef":
        return view_of(value, read)
    text = read(value)  # a variable of a call that is written in line may stand for a number
    return text if text.startswith(("%", "@")) else text.partition(":")[0]


def _start_shape(index) -> tuple:
    """Of what a slice starts at; () for a point, too."""
    start = getattr(index, "start", 0)
    return np.shape(start.val if jax_versions.is_literal(start) else getattr(start, "aval", start))


def _slice_start(index, read) -> str:
    """An array of one element, as a load of a slice of one gives it, is that element in JAX's lowering for Triton."""
    shape = _start_shape(index)
    if shape == ():
        return index_atom(index.start, read)
    if read.backend not in ("", "triton"):
        raise ExportError(
            f"a slice starts at an array of shape {shape}; expected an integer scalar: JAX's lowering "
            f"for Triton alone takes an array, and the kernel is for {read.backend}. Read the scalar: "
            "ref[i], not ref[pl.ds(i, 1)]"
        )
    if shape != (1,):
        raise ExportError(
            f"a slice of {index.size} starts at an array of shape {shape}, which JAX's lowering for Triton "
            f"cannot broadcast to ({index.size},); expected an integer scalar, an array of shape (1,), or "
            "one start for each element"
        )
    return read.element(index.start)


def _has_own_starts(index) -> bool:
    """JAX's lowering for Triton adds start and arange(size): where each element has a start,
    place k is start[k] + k.
    """
    shape = _start_shape(index)
    return len(shape) == 1 and shape[0] > 1 and shape[0] == index.size


def _expect_one_group(indices) -> None:
    """A slice with a start for each element is an array of points here, whose dimension stays where it is in JAX only
    where all points are neighbours and no other is an array."""
    shapes = [_start_shape(i) if type(i).__name__ == "Slice" else np.shape(getattr(i, "aval", i)) for i in indices]
    points = [d for d, i in enumerate(indices) if type(i).__name__ != "Slice" or _has_own_starts(i)]
    arrays = [d for d in points if shapes[d] not in ((), (1,))]
    if len(arrays) > 1 or points[-1] - points[0] + 1 != len(points):
        raise ExportError(
            "a slice has a start for each of its elements beside other indices that are no slices; "
            "expected slices alone, or index arrays for all: start + jnp.arange(size)"
        )


def _index_entry(index, dim, read) -> str:
    if type(index).__name__ != "Slice":
        return index_atom(index, read)
    stride = index.stride
    if (
        isinstance(index.start, int)
        and index.start == 0
        and isinstance(index.size, int)
        and index.size == dim
        and stride == 1
    ):
        return "*"
    if read.backend in ("", "triton") and _has_own_starts(index):
        return read.places(index.start, stride)
    text = f"{_slice_start(index, read)} +: {index_atom(index.size, read)}"
    return text if stride == 1 else f"{text} : {stride}"


def _at(transform, read) -> str:
    if any(_has_own_starts(index) for index in transform.indices if type(index).__name__ == "Slice"):
        _expect_one_group(transform.indices)
    entries = [_index_entry(index, dim, read) for index, dim in zip(transform.indices, transform.shape)]
    return ".at[" + ", ".join(entries) + "]"


def _cluster(transform, read) -> str:
    indices = [index_atom(i, read) for i in transform.idxs]
    dims = _names(transform.dims)
    if all(i.isdigit() for i in indices):
        return f".cluster{attrs_text({'dims': dims, 'idxs': [int(i) for i in indices]})}"
    return f".cluster{attrs_text({'dims': dims})}[{', '.join(indices)}]"


def _peer(transform, read) -> str:
    kind = getattr(transform.device_id_type, "name", str(transform.device_id_type)).lower()
    return "".join(
        f".peer({'none' if number is None else read(number)}, {kind})"
        for number in device_numbers(transform.device_id, read)
    )


def device_numbers(device_id, read) -> list:
    """A device as numbers: itself, or one coordinate for each axis of the mesh,
    None along those that a dict leaves out.
    """
    if isinstance(device_id, (tuple, list)):
        return list(device_id)
    if not isinstance(device_id, dict):
        return [device_id]
    mesh = getattr(read, "mesh", ())
    if not mesh and len(device_id) == 1:
        return list(device_id.values())
    if strangers := [axis for axis in device_id if axis not in mesh]:
        raise ExportError(
            f"a device is named along {strangers[0]!r}, which is no axis of the mesh {list(mesh)}; name axes of the "
            "mesh, one by one"
        )
    return [device_id.get(axis) for axis in mesh]


def _alias(transform, read) -> str:
    attrs = {"dtype": np.dtype(transform.dtype), "shape": list(transform.shape), "offset": transform.offset}
    if getattr(transform, "layout", None) is not None:
        attrs |= tensor_memory_attrs(transform.layout, transform.shape[-1])
    return f".alias{attrs_text(attrs)}"


def _assumption(transform, read) -> str:
    """pltpu.annotate (JAX 0.12). What cannot change a result is nothing here; what JAX does not check is refused."""
    given = transform.assumption
    for name in ("no_store", "no_hazard_no_deps"):
        if getattr(given, name):
            raise ExportError(f"pltpu.annotate with {name} is a promise that no machine here checks; leave it out")
    return ""


def _refused_view(why: str):
    def write(transform, read):
        raise ExportError(f"the view {type(transform).__name__} of a ref is not supported: {why}")

    return write


VIEWS = {
    "NDIndexer": _at,
    "BitcastTransform": lambda t, read: f".bitcast({dtype_name(t.dtype)})",
    "RefBitcaster": lambda t, read: f".bitcast({dtype_name(t.dtype)})",
    "ReshapeTransform": lambda t, read: f".reshape{ints_text(t.shape)}",
    "RefReshaper": lambda t, read: f".reshape{ints_text(t.shape)}",
    "TransposeTransform": lambda t, read: f".transpose{ints_text(t.permutation)}",
    "TransposeRef": lambda t, read: f".transpose{ints_text(t.permutation)}",
    "RefTransposer": lambda t, read: f".transpose{ints_text(t.permutation)}",
    "UntileRef": lambda t, read: f".untile{ints_text(t.tiling)}",
    "UntilingTransform": lambda t, read: f".untile{ints_text(t.tiling)}",
    "TilingTransform": lambda t, read: f".tile{ints_text(t.tiling)}",
    "TilingRef": lambda t, read: f".tile{ints_text(t.tiling)}",
    "UnswizzleRef": lambda t, read: f".unswizzle({t.swizzle})",
    "UnswizzlingTransform": lambda t, read: f".unswizzle({t.swizzle})",
    "SwizzleTransform": lambda t, read: f".swizzle({t.swizzle})",
    "PeerMemRef": _peer,
    "MulticastRef": lambda t, read: f".multicast{attrs_text({'axes': _names(t.collective_axes)})}",
    "ClusterRefTransform": _cluster,
    "ExtractAliasedRef": _alias,
    "CollapseLeadingBatchDimensionsTransform": lambda t, read: ".collapse_batch",
    "ExpandLeadingBatchDimensionsTransform": lambda t, read: f".expand_batch{ints_text(t.batch_shape)}",
    "IdentityTransform": lambda t, read: "",
    "AccessAssumptionTransform": _assumption,
    "MemorySpaceCastTransform": lambda t, read: "",  # the ref is what it was
    "SelectTransform": _refused_view("it joins several refs, and stands here under another view"),
    "Im2ColTransform": _refused_view("copies of windows (plgpu.im2col_ref) are not modelled yet"),
    "SharedMemRefSliceTransform": _refused_view("SparseCores are not modelled yet"),
}


def _names(axes):
    return [str(a) for a in axes] if isinstance(axes, (tuple, list)) else [str(axes)]


def chain_text(transforms, read) -> str:
    """`read(atom)` gives the text of a value. Of several devices that a view names the last is meant,
    as in JAX's lowering.
    """
    text = ""
    transforms = tuple(transforms or ())
    peers = [n for n, transform in enumerate(transforms) if type(transform).__name__ == "PeerMemRef"]
    for n, transform in enumerate(transforms):
        if n in peers[:-1]:
            continue
        writer = VIEWS.get(type(transform).__name__)
        if writer is None:
            raise unknown(f"the ref transform {type(transform).__name__} is not known to the exporter")
        text += writer(transform, read)
    return text


def view_text(ref, transforms, read) -> str:
    """The view `transforms` of `ref`, which is a variable, a TransformedRef or, under a select, several of them."""
    transforms = tuple(transforms or ())
    if type(ref).__name__ == "TransformedRef":
        return view_text(ref.ref, tuple(ref.transforms) + transforms, read)
    if isinstance(ref, (tuple, list)):
        select, rest = transforms[0], transforms[1:]
        if type(select).__name__ != "SelectTransform":
            raise ExportError(f"several refs are joined by {type(select).__name__}; expected SelectTransform")
        views = [view_text(one, rest, read) for one in ref]
        return f"select({read(select.idx)}, {', '.join(views)})"
    base = read(ref)
    if base.startswith("select(") and transforms:
        raise ExportError("a view of a select of refs cannot be written here")
    return base + chain_text(transforms, read)


_LAYOUTS = ("UnswizzleRef", "UnswizzlingTransform", "UntileRef", "UntilingTransform")


def stored_view_text(ref, transforms, read) -> str:
    """The memory that the view is of as it is stored: a traced function that is called undoes tiles and swizzle
    itself.
    """
    transforms = tuple(transforms or ())
    layouts = [t for t in transforms if type(t).__name__ in _LAYOUTS]
    if not layouts:
        return view_text(ref, transforms, read)
    tiled = sum(len(getattr(t, "tiling", ())) for t in layouts)
    rest = transforms[len(layouts) :]
    if (
        list(transforms[: len(layouts)]) != layouts
        or len(rest) > 1
        or any(type(t).__name__ != "NDIndexer" for t in rest)
    ):
        raise ExportError(
            "a block in tiles is passed on through a view that is more than an index; it cannot be written"
        )
    if not rest:
        return read(ref)
    entries = [_index_entry(index, dim, read) for index, dim in zip(rest[0].indices, rest[0].shape)]
    kept, inside = (entries[:-tiled], entries[-tiled:]) if tiled else (entries, [])
    if any(entry != "*" for entry in inside):
        raise ExportError("a part of a block in tiles is passed on; expected the whole block")
    return read(ref) + ".at[" + ", ".join(kept + ["*"] * (2 * tiled)) + "]"


def view_of(transformed, read) -> str:
    return view_text(transformed, (), read)


def block_view_text(transforms, read) -> str:
    """The transforms of a BlockSpec, or "" where there are none."""
    text = chain_text(transforms, read)
    return f" view {text}" if text else ""
