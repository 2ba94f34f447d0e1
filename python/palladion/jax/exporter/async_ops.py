"""Primitives of asynchronous copies, semaphores, barriers and matrix units: written by name, with views and attributes.

Those that Palladion does not run (docs/reference/operations.md) are written too, so that a text is whole. JAX flattens
their operands in two ways: all of them as one tree, or refs first and then the leaves of each ref's transforms.
Not covered: SparseCore.
Based on: JAX 0.10.2, `jax/_src/pallas/{primitives.py,mosaic/primitives.py,mosaic_gpu/primitives.py}`.
"""

import dataclasses

from palladion.base.errors import ExportError
from palladion.jax import jax_versions
from palladion.jax.exporter.attributes import Word, attr_text, word_of_enum
from palladion.jax.exporter.control_ops import closed_function, labels_of
from palladion.jax.exporter.inline_code import write_inline
from palladion.jax.exporter.parameters import knows, unflatten, unknown
from palladion.jax.exporter.views import device_numbers, view_text


def attribute(value):
    """A parameter as an attribute; what has no spelling of its own (a layout) is written as JAX prints it."""
    if callable(value) and not isinstance(value, type):
        raise ExportError(f"a Python function ({value!r}) cannot be written as kernel text")
    if hasattr(value, "name") and hasattr(value, "value"):
        return word_of_enum(value)
    try:
        attr_text(value)
    except ExportError:
        return str(value)
    return value


def _axes(value):
    if value is None or isinstance(value, str):
        return value
    return [str(v) for v in value] if isinstance(value, (tuple, list)) else str(value)


_UNWRITTEN = ("has_barrier", "has_user_predicate")  # the operands show it


def _attributes(params, skipped):
    attrs = {}
    for name, value in params.items():
        if name in skipped:
            continue
        attrs[name] = _axes(value) if name.endswith(("_axes", "_axis")) else attribute(value)
    return attrs


@dataclasses.dataclass(frozen=True)
class RefsFirst:
    """`operands` in their order; `trees` maps an operand to the parameter that holds the tree of its transforms."""

    operands: tuple
    trees: dict
    known: tuple = ()
    name: str | None = None
    present: object = None  # params -> names of the operands that this equation has
    arrival_with_copy: bool = False  # a false predicate may keep the barrier from its arrival too

    @property
    def parameters(self) -> frozenset:
        return frozenset((*self.trees.values(), *self.known))

    def __call__(self, writer, eqn, env):
        params = eqn.params
        operands = self.operands if self.present is None else self.present(params)
        atoms = dict(zip(operands, eqn.invars))
        leaves = list(eqn.invars[len(operands) :])
        read, texts = writer.reader(env), {}
        for operand, parameter in self.trees.items():
            tree = params.get(parameter)
            if operand not in atoms or tree is None:
                continue
            transforms = unflatten(tree, leaves[: tree.num_leaves])
            del leaves[: tree.num_leaves]
            texts[operand] = view_text(atoms[operand], transforms, read)
        args = [f"{operand}={texts.get(operand) or read(atom)}" for operand, atom in atoms.items()]
        attrs = _attributes(params, {*self.trees.values(), *_UNWRITTEN})
        if leaves:  # the predicate is last
            args += [f"predicate={read(leaf)}" for leaf in leaves]
            if self.arrival_with_copy and jax_versions.arrival_has_predicate():
                attrs["predicated_arrival"] = True
        writer.emit_equation(eqn, env, self.name, attrs=attrs, args=args)


@dataclasses.dataclass(frozen=True)
class OneTree:
    """All operands are one tree; `operands` names its entries, "transforms" belongs to the ref before it."""

    operands: tuple
    tree: str = "args_tree"
    known: tuple = ()
    name: str | None = None

    @property
    def parameters(self) -> frozenset:
        return frozenset((self.tree, *self.known))

    def __call__(self, writer, eqn, env):
        entries = unflatten(eqn.params[self.tree], eqn.invars)
        if len(entries) != len(self.operands):
            raise ExportError(f"it has {len(entries)} operands; expected {', '.join(self.operands)}")
        attrs, args = _attributes(eqn.params, {self.tree}), []
        by_name = dict(zip(self.operands, entries))
        transforms = by_name.pop("transforms", ())
        read = writer.reader(env)
        for position, (name, entry) in enumerate(by_name.items()):
            if position == 0:
                args.append(f"{name}={view_text(entry, transforms, read)}")
            elif name == "device_id" and isinstance(entry, dict):
                attrs["device_axes"] = [
                    [writer.file.axis(one) for one in axis] if isinstance(axis, tuple) else writer.file.axis(axis)
                    for axis in entry
                ]
                args += [f"{name}={read(value)}" for value in entry.values()]
            elif name == "device_id" and isinstance(entry, (tuple, list)):
                args += [f"{name}={read(value)}" for value in entry]
            else:
                text = view_text(entry, (), read) if type(entry).__name__ == "TransformedRef" else read(entry)
                args.append(f"{name}={text}")
        writer.emit_equation(eqn, env, self.name, attrs=attrs, args=args)


@knows("args_tree")
def _signal_parallel(writer, eqn, env):
    refs, transforms, incs, device_ids = unflatten(eqn.params["args_tree"], eqn.invars)
    read, args = writer.reader(env), []
    for ref, chain, inc, device_id in zip(refs, transforms, incs, device_ids):
        numbers = device_numbers(device_id, read)
        if isinstance(device_id, dict) and None in numbers:
            raise ExportError("a device is named along some axes of the mesh; name it along all of them here")
        args += [f"ref={view_text(ref, chain, read)}", f"inc={read(inc)}"] + [
            f"device_id={read(number)}" for number in numbers
        ]
    writer.emit_equation(eqn, env, args=args)


def _plain(known=(), name=None, hint="", of_result=()):
    """`of_result`: parameters that the result's type says."""

    @knows(*known, *of_result)
    def handler(writer, eqn, env):
        writer.emit_equation(eqn, env, name, attrs=_attributes(eqn.params, of_result), hint=hint)

    return handler


def _counted(*known, name=None):
    """How many are left or kept: an operand until JAX 0.10, the parameter `n` from 0.11."""

    @knows("n", *known)
    def handler(writer, eqn, env):
        args = [f"{int(eqn.params['n'])}:i32"] if "n" in eqn.params else None
        writer.emit_equation(eqn, env, name, attrs=_attributes(eqn.params, ("n",)), args=args)

    return handler


@knows("wait_n")
def _accumulator_deref(writer, eqn, env):
    wait = eqn.params.get("wait_n", 0)  # releases without the parameter wait for all
    writer.emit_equation(eqn, env, "wgmma_accumulator_deref", attrs={"wait_n": attribute(wait)})


_ARRIVE, _WAIT = (
    RefsFirst(("barrier",), {"barrier": "transforms_treedef"}, name=name) for name in ("barrier_arrive", "barrier_wait")
)


@knows("transforms_treedef")
def _arrive_and_wait(writer, eqn, env):
    _ARRIVE(writer, eqn, env)
    _WAIT(writer, eqn, env)


@knows("tree", "reduce")
def _async_load_tmem(writer, eqn, env):
    """With `reduce` (since JAX 0.11) a reduction of the value along its last dimension is the second result."""
    src, *leaves = eqn.invars
    args = [f"src={view_text(src, unflatten(eqn.params['tree'], leaves), writer.reader(env))}"]
    reduce = eqn.params.get("reduce")
    if reduce is None:
        writer.emit_equation(eqn, env, "async_load_tmem", args=args)
        return
    loaded, reduced = eqn.outvars
    place, whole, line = writer.location(eqn), writer.type_of(loaded.aval, env), writer.type_of(reduced.aval, env)
    env[loaded] = value = writer.fresh()
    writer.emit("async_load_tmem", args=args, results=[value], types=[whole], loc=place)
    if reduce.startswith("abs"):
        value = writer.fresh()
        writer.emit("abs", args=[env[loaded]], results=[value], types=[whole], loc=place)
    env[reduced] = writer.fresh()
    axis = len(loaded.aval.shape) - 1
    writer.emit(
        f"reduce_{reduce[-3:]}", attrs={"axes": [axis]}, args=[value], results=[env[reduced]], types=[line], loc=place
    )


@knows("tree", "optimized")
def _mosaic_gpu_store(writer, eqn, env):
    """A swap without a result."""
    ref, value, *leaves = eqn.invars
    view = view_text(ref, unflatten(eqn.params["tree"], leaves), writer.reader(env))
    writer.emit(
        "swap",
        args=[view, writer.read(env, value)],
        results=["_"],
        types=[writer.type_of(value.aval, env)],
        loc=writer.location(eqn),
    )


@knows()
def _accumulator_store(writer, eqn, env):
    """JAX gives it a result, for its own discharge of refs; no kernel reads it."""
    writer.emit_equation(
        eqn.replace(outvars=[]), env, "wgmma_accumulator_store", args=[writer.read(env, v) for v in eqn.invars]
    )


def _copy_operands(params):
    """A copy without a barrier is by cp.async, of GPUs before Hopper (JAX 0.11)."""
    return ("src", "dst", "barrier") if params.get("has_barrier", True) else ("src", "dst")


def _tcgen05_operands(params):
    operands = ["acc", "a", "b", "accumulate"]
    operands += ["barrier"] if params["arrive"] else []
    operands += ["a_scale", "b_scale"] if params["scaled"] else []
    return operands + (["a_sparse_metadata"] if params["sparse"] else [])


def mesh_attributes(mesh, file) -> tuple:
    """(kind, attributes) of a mesh: `gpu`, `warp`, `tensorcore`, `sc_scalar`, `sc_vector`."""
    kind = type(mesh).__name__
    shape = {file.axis(name): int(size) for name, size in mesh.shape.items()}
    sizes = {"axes": list(shape), "sizes": list(shape.values())}
    if kind == "WarpMesh":
        return "warp", sizes
    if kind == "TensorCoreMesh":
        return "tensorcore", sizes
    if kind in ("ScalarSubcoreMesh", "VectorSubcoreMesh"):
        return ("sc_scalar" if kind.startswith("Scalar") else "sc_vector"), sizes
    if hasattr(mesh, "cluster") and hasattr(mesh, "num_threads"):
        file.thread_axis = None if mesh.thread_name is None else file.axis(mesh.thread_name)
        return "gpu", {
            "grid": list(mesh.grid),
            "grid_names": [file.axis(n) for n in mesh.grid_names],
            "cluster": list(mesh.cluster),
            "cluster_names": [file.axis(n) for n in mesh.cluster_names],
            "threads": mesh.num_threads,
            "thread_name": file.thread_axis,
        }
    raise unknown(f"a mesh of Python type {kind} is not known to the exporter")


def _number_warps(writer, eqn, axes):
    """Before JAX 0.10 the warps of thread n begin with 4 * n."""
    thread = writer.file.thread_axis
    for axis in axes:
        writer.file.first_warps.pop(axis, None)  # of the kernel before
    if thread is None or not jax_versions.WARPS_ARE_COUNTED_THROUGH_THE_BLOCK:
        return
    index, first, loc = writer.fresh(), writer.fresh(), writer.location(eqn)
    writer.emit("axis_index", attrs={"axis": thread}, results=[index], types=["i32[]"], loc=loc)
    writer.emit("mul", args=[index, "4:i32"], results=[first], types=["i32[]"], loc=loc)
    writer.file.first_warps.update(dict.fromkeys(axes, first))


@knows("jaxpr", "debug_info", "mesh", "compiler_params", "interpret", "debug", "cost_estimate", "name", "metadata")
def _core_map(writer, eqn, env):
    """A nested mesh: four warps of one warpgroup. The body uses the refs around it."""
    params = eqn.params
    inner = jax_versions.open_jaxpr(params["jaxpr"])
    outer = dict(zip(inner.constvars, (writer.read(env, v) for v in eqn.invars)))
    kind, attrs = mesh_attributes(params["mesh"], writer.file)
    _number_warps(writer, eqn, attrs["axes"])
    with writer.inside(eqn):
        function = closed_function(writer, inner, outer, labels_of(inner, len(inner.invars)))
    writer.emit_equation(eqn, env, "core_map", attrs={"mesh": Word(kind), **attrs}, args=[], functions=[function])


@knows(
    "jaxprs",
    "meshes",
    "external_meshes",
    "grid_mappings",
    "out_avals",
    "input_output_aliases",
    "compiler_params",
    "interpret",
    "debug",
    "cost_estimate",
    "name",
    "metadata",
)
def _warp_map(writer, eqn, env):
    """mpmd_map inside a kernel: a nested mesh of warps like core_map's, with what the body uses as its operands."""
    params = eqn.params
    if len(params["jaxprs"]) != 1 or params["out_avals"]:
        raise ExportError(
            f"inside a kernel it has {len(params['jaxprs'])} functions and {len(params['out_avals'])} results; "
            "expected one function, over plgpu.WarpMesh, that returns nothing"
        )
    inner = jax_versions.open_jaxpr(params["jaxprs"][0])
    if len(inner.invars) != len(eqn.invars):
        raise ExportError(
            "inside a kernel it allocates memory for its function; expected none: use pl.run_scoped around it"
        )
    kind, attrs = mesh_attributes(params["meshes"][0], writer.file)
    if kind != "warp":
        raise ExportError(f"inside a kernel its mesh is {type(params['meshes'][0]).__name__}; expected plgpu.WarpMesh")
    texts = [writer.read(env, v) for v in eqn.invars]
    _number_warps(writer, eqn, attrs["axes"])
    with writer.inside(eqn):
        lines = writer.region(lambda body: body.inline(params["jaxprs"][0], texts) and [], "()")
    writer.emit_equation(eqn, env, "core_map", attrs={"mesh": Word(kind), **attrs}, args=[], functions=[lines])


_SRC_DST = {"src": "src_transforms_treedef", "dst": "dst_transforms_treedef"}
_BARRIER = {"barrier": "transforms_treedef"}
_SMEM_TMEM = {"smem": "smem_tree", "tmem": "tmem_tree"}
_DMA = ("src", "dst", "dst_sem", "src_sem", "device_id")

ASYNC_OPS = {
    # TPU
    "dma_start": OneTree(_DMA, "tree", ("device_id_type", "priority", "add")),
    "dma_wait": OneTree(_DMA, "tree", ("device_id_type", "insert_dummy_device", "is_wait_send")),
    "semaphore_read": OneTree(("ref", "transforms")),
    "semaphore_signal": OneTree(
        ("ref", "transforms", "inc", "device_id", "core_index"), known=("device_id_type", "memory_scope")
    ),
    "semaphore_wait": OneTree(("ref", "transforms", "value", "decrement"), known=("memory_scope",)),
    "get_barrier_semaphore": _plain(of_result=("tag",)),  # collective_ids.py has read it
    "prng_seed": _plain(),
    "prng_random_bits": _plain(("shape",)),
    "matmul_push_rhs": _plain(("staging_register", "mxu_index", "transpose")),
    "matmul_acc_lhs": _plain(("acc_addr", "mxu_index", "load_staged_rhs")),
    "matmul_pop": _plain(("acc_addr", "mxu_index"), of_result=("shape", "dtype")),
    # Mosaic GPU
    "copy_gmem_to_smem": RefsFirst(
        ("src", "dst", "barrier"),
        {**_SRC_DST, "barrier": "barrier_transforms_treedef"},
        (
            "collective_axes",
            "leader_tracked",
            "partitioned_axis",
            "oob_mode",
            "oob_fill_mode",
            "has_barrier",
            "has_user_predicate",
        ),
        present=_copy_operands,
        arrival_with_copy=True,
    ),
    "copy_smem_to_gmem": RefsFirst(("src", "dst"), _SRC_DST, ("has_user_predicate", "commit_group", "reduction_op")),
    "async_store_smem": RefsFirst(
        ("src", "ref", "barrier", "cluster_idx"),
        {"ref": "ref_transforms_treedef", "barrier": "barrier_transforms_treedef"},
        ("cluster_dim", "optimized", "atomic"),
    ),
    "async_prefetch": RefsFirst(
        ("ref",),
        {"ref": "ref_transforms_treedef"},
        ("collective_axes", "leader_tracked", "partitioned_axis", "has_user_predicate"),
    ),
    "barrier_arrive": RefsFirst(("barrier",), _BARRIER, ("has_user_predicate",)),
    "barrier_arrive_and_wait": _arrive_and_wait,
    "barrier_test": RefsFirst(("barrier",), _BARRIER),
    "barrier_wait": RefsFirst(("barrier",), _BARRIER),
    "wait_smem_to_gmem": _counted("wait_read_only"),
    "wait_gmem_to_smem": _counted(),
    "commit_group": _plain(),
    "commit_smem": _plain(),
    "commit_tmem": _plain(),
    "wait_load_tmem": _plain(),
    "wgmma_ref": RefsFirst(
        ("acc", "a", "b"), {"acc": "acc_transforms_tree", "a": "a_transforms_tree", "b": "b_transforms_tree"}
    ),
    "wgmma": RefsFirst(
        ("acc", "a", "b"), {"acc": "acc_transforms_tree", "a": "a_transforms_tree", "b": "b_transforms_tree"}
    ),
    "wgmma_wait": _counted(),
    "mma": _plain(),
    "wgmma_accumulator_deref": _accumulator_deref,
    "wgmma_accumulator_store": _accumulator_store,
    "tcgen05_mma": RefsFirst(
        (),
        {
            "acc": "acc_transforms_tree",
            "a": "a_transforms_tree",
            "b": "b_transforms_tree",
            "barrier": "barrier_transforms_tree",
            "a_scale": "a_scale_transforms_tree",
            "b_scale": "b_scale_transforms_tree",
            "a_sparse_metadata": "a_sparse_metadata_transforms_tree",
        },
        ("collective_axis", "arrive", "scaled", "sparse"),
        present=_tcgen05_operands,
    ),
    "tcgen05_commit_arrive": RefsFirst(
        ("barrier",), {"barrier": "barrier_transforms_tree"}, ("collective_axis", "has_user_predicate")
    ),
    "set_max_registers": _counted("action"),
    "griddepcontrol_wait": _plain(),
    "griddepcontrol_launch_dependents": _plain(),
    "inline_mgpu": write_inline,
    "print_layout": RefsFirst(("x",), {"x": "transforms_tree"}, ("fmt",)),
    "load": RefsFirst(("src",), {"src": "tree"}, ("optimized",), name="mgpu.load"),
    "store": _mosaic_gpu_store,
    "async_load": _async_load_tmem,
    "async_store_tmem": RefsFirst(("ref", "value"), {"ref": "tree"}),
    "async_copy_scales_to_tmem": RefsFirst(("smem", "tmem"), _SMEM_TMEM, ("collective_axis",)),
    "async_copy_sparse_metadata_to_tmem": RefsFirst(("smem", "tmem"), _SMEM_TMEM, ("collective_axis",)),
    "async_copy_smem_to_tmem": RefsFirst(("smem", "tmem"), _SMEM_TMEM, ("collective_axis",)),
    "semaphore_signal_parallel": _signal_parallel,
    "semaphore_signal_multicast": OneTree(("ref", "transforms", "inc"), known=("collective_axes",)),
    "try_cluster_cancel": RefsFirst(
        ("result", "barrier"),
        {"result": "result_transforms_tree", "barrier": "barrier_transforms_tree"},
        ("collective_axes",),
    ),
    "query_cluster_cancel": RefsFirst(("result",), {"result": "transforms_tree"}, ("grid_names",)),
    "mgpu_atomic_store": OneTree(
        ("ref", "transforms", "value"), known=("atomic_type", "optimized"), name="atomic_store"
    ),
    "multimem_store": RefsFirst(("source", "ref"), {"ref": "transforms_tree"}, ("collective_axes",)),
    "multimem_load_reduce": RefsFirst(("ref",), {"ref": "tree"}, ("collective_axes", "reduction_op")),
    "get_global": _plain(("what",), hint="global_ref"),
    "core_map": _core_map,
    "mpmd_map": _warp_map,
}
