"""Views of refs: the `.at[...]` chains of kernel text as JAX writes them, the inverse of exporter/views.py."""

from palladion.base.errors import ToJaxError
from palladion.jax.jax_deprecated import spelled
from palladion.jax.jax_source import reading, spelling
from palladion.jax.jax_source.memory import tensor_memory_layout
from palladion.jax.jax_source.spelling import attribute_text, tuple_text


def _atom(block, arg) -> str:
    """A start, a size or a point; an i32 is one of Python's numbers."""
    if arg["kind"] == "literal" and arg["dtype"] == "i32":
        return str(int(reading.literal_value(arg)))
    return block.arg(arg)


def _entry(block, index) -> str:
    kind = index["kind"]
    if kind == "full":
        return ":"
    if kind == "ref":
        raise ToJaxError("an index that is a ref (SparseCore) is not written")
    start = _atom(block, index["start"])
    if kind == "point":
        return start
    stride = f", {index['stride']}" if index["stride"] != 1 else ""
    return f"pl.ds({start}, {_atom(block, index['size'])}{stride})"


def index_text(block, indices) -> str:
    """What stands between the brackets."""
    return ", ".join(_entry(block, index) for index in indices) or "()"


def _peer(block, t) -> str:
    kind, name = reading.attributes(t["attrs"]).get("kind"), spelled("pl.DeviceIdType")
    return f"gpu_core.PeerMemRef({block.arg(t['peer'])}, {name}.{getattr(kind, 'text', 'mesh').upper()})"


def _cluster(block, t):
    attrs = reading.attributes(t["attrs"])
    indices = [_atom(block, index["start"]) for index in t["indices"]] or [str(i) for i in attrs["idxs"]]
    return f"gpu_core.ClusterRefTransform({attribute_text(attrs['dims'])}, {tuple_text(indices)})"


def _alias(block, t):
    attrs = reading.attributes(t["attrs"])
    layout = tensor_memory_layout(attrs, attrs["shape"]) if "layout" in attrs else None
    return (
        f"gpu_core.ExtractAliasedRef(np.dtype({attribute_text(attrs['dtype'])}), {attrs['shape']!r}, "
        f"{attrs['offset']}, 0, {layout})"
    )


def _ints(t) -> str:
    return spelling.shape_text(t["ints"])


# Of JAX's public methods.
_METHODS = {
    "at": lambda block, t: f".at[{index_text(block, t['indices'])}]",
    "bitcast": lambda block, t: f".bitcast({spelling.dtype_text(t['dtype'])})",
    "reshape": lambda block, t: f".reshape{_ints(t)}" if t["ints"] else ".reshape(())",
    "transpose": lambda block, t: f".transpose({_ints(t)})",
}
# Transforms that JAX's own constructors of refs put there.
_TRANSFORMS = {
    "unswizzle": lambda block, t: f"gpu_core.UnswizzleRef({t['ints'][0]})",
    "swizzle": lambda block, t: f"gpu_core.SwizzleTransform({t['ints'][0]})",
    "untile": lambda block, t: f"gpu_core.UntilingTransform({_ints(t)})",
    "tile": lambda block, t: f"gpu_core.TilingTransform({_ints(t)})",
    "expand_batch": lambda block, t: f"gpu_core.ExpandLeadingBatchDimensionsTransform({_ints(t)})",
    "collapse_batch": lambda block, t: "gpu_core.CollapseLeadingBatchDimensionsTransform()",
    "multicast": lambda block, t: f"gpu_core.MulticastRef({attribute_text(reading.attributes(t['attrs'])['axes'])})",
    "cluster": _cluster,
    "alias": _alias,
    "peer": _peer,
}


def view_text(block, arg, chain=None) -> str:
    """A ref and its view, or a value. `chain` stands for the view's own."""
    if arg["kind"] == "select":
        index, *views = arg["select"]
        return f"pl.select_ref({block.arg(index)}, {', '.join(view_text(block, view) for view in views)})"
    text = block.name(arg["value"])
    for t in arg["view"] if chain is None else chain:
        kind = t["kind"]
        if kind in _TRANSFORMS:
            text = f"_view({text}, {_TRANSFORMS[kind](block, t)})"
        else:
            text += _METHODS[kind](block, t)
    return text


def access_text(block, arg) -> str:
    """`ref[...]`: what is read or written through a view."""
    if arg["kind"] == "select":
        return view_text(block, arg) + "[...]"
    chain = arg["view"]
    if chain and chain[-1]["kind"] == "at":
        return f"{view_text(block, arg, chain[:-1])}[{index_text(block, chain[-1]['indices'])}]"
    return view_text(block, arg) + "[...]"
