"""Private JAX names for programs as they run: what is waited for, and kernel calls in programs over several devices.

Beside jax_versions.py, and under its rule: JAX 0.8 to 0.12, nothing of `jax._src` elsewhere.
"""

import contextlib
import inspect
import math

import jax
import numpy as np
from jax._src import config, core, dispatch, mesh, sharding_impls
from jax._src.interpreters import mlir, pxla
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import hlo

from palladion.base.errors import ExportError
from palladion.jax import jax_versions


def wait_for_effects():
    """Waits for this thread's computations with side effects; returns the error of one that failed, or None.

    JAX keeps what failed, and would raise it at each later wait and when Python ends; here it is raised once.
    """
    failed = None
    try:
        jax.effects_barrier()
    except jax.errors.JaxRuntimeError as error:
        dispatch.runtime_tokens.clear()
        failed = error
    for token in vars(dispatch.runtime_tokens).pop(_KEPT, ()):
        try:
            token.block_until_ready()
        except jax.errors.JaxRuntimeError as error:
            failed = failed or error
    return failed


_KEPT, _MOST_KEPT = "palladion_kept", 4096


_ALWAYS_WITH_TOKENS = object()  # kept alive by programs that run on several devices and call kernels


def keep_runtime_tokens():
    """From now on `wait_for_effects` waits for every such program: each gives a token, and all are kept, not the last
    of each device alone. Where devices wait for each other, a small computation may overtake a program.
    Returns what puts back.
    """
    tokens, replicated = dispatch.RuntimeTokenSet, pxla.ExecuteReplicated
    before, made = tokens.set_output_runtime_token, replicated.__init__

    def make(self, *arguments, **named):
        made(self, *arguments, **named)
        if any(one is _ALWAYS_WITH_TOKENS for one in self.keepalive or ()):
            self.has_unordered_effects = True

    def set_and_keep(self, device, token):
        before(self, device, token)
        kept = vars(self).setdefault(_KEPT, [])  # of this thread
        kept.append(token)
        if len(kept) > _MOST_KEPT:
            kept.pop(0).block_until_ready()

    tokens.set_output_runtime_token, replicated.__init__ = set_and_keep, make

    def put_back():
        tokens.set_output_runtime_token, replicated.__init__ = before, made

    return put_back


def is_extended(dtype) -> bool:
    """Of PRNG keys and semaphores, which are no numbers."""
    return jax.dtypes.issubdtype(dtype, jax.dtypes.extended)


def is_for_export(context) -> bool:
    """What is lowered is to be written to a file (jax.export), not run here."""
    return context.module_context.lowering_parameters.for_export


def keep_alive(context, one):
    """The compiled program keeps `one`, and pickles it with itself."""
    context.module_context.add_keepalive(one)


# Programs over several devices.


def is_one_of_several(context) -> bool:
    """The program that is lowered runs on more than one device."""
    axis_context = context.module_context.axis_context
    if isinstance(axis_context, sharding_impls.SPMDAxisContext):
        return axis_context.mesh.size > 1
    return getattr(axis_context, "num_devices", 1) > 1


def partitioned_axes(context) -> tuple:
    """The axes over which XLA would have to partition a TPU kernel that is lowered here, which JAX refuses
    (tpu_custom_call.py, _tpu_custom_call_lowering): those of a mesh that shard_map leaves to it,
    or all devices where there is no shard_map."""
    axis_context = context.module_context.axis_context
    if isinstance(axis_context, sharding_impls.SPMDAxisContext):
        manual = axis_context.manual_axes | set(getattr(axis_context.mesh, "manual_axes", ()))
        return (
            tuple(name for name in axis_context.mesh.axis_names if name not in manual)
            if axis_context.manual_axes
            else ()
        )
    return (
        ("devices",)
        if isinstance(axis_context, sharding_impls.ShardingContext) and axis_context.num_devices != 1
        else ()
    )


def _automatic_axes(context):
    """(mesh, names of its axes that XLA would partition) in this lowering;
    no axes where each device has its own program, or there is one.
    """
    axis_context = context.module_context.axis_context
    if isinstance(axis_context, sharding_impls.SPMDAxisContext):
        own, manual = getattr(axis_context.mesh, "abstract_mesh", axis_context.mesh), axis_context.manual_axes
    elif isinstance(axis_context, sharding_impls.ShardingContext) and axis_context.num_devices > 1:
        own, manual = jax.sharding.AbstractMesh((axis_context.num_devices,), ("devices",)), ()
    else:
        return None, ()
    types = jax.sharding.AxisType
    own = own.update_axis_types({name: types.Manual if name in manual else types.Auto for name in own.axis_names})
    return own, tuple(name for name in own.axis_names if name not in manual)


def _lower_on_every_device(context, nodes, function, own, axes):
    """Inlines `function(number of the device, whole arrays)` so that each device of the mesh computes it,
    whatever mesh the user has set.
    """
    whole = jax.sharding.PartitionSpec()
    unchecked = {
        name: False for name in ("check_vma", "check_rep") if name in inspect.signature(jax.shard_map).parameters
    }
    # lax.axis_index would do, but that JAX 0.8 cannot lower it in a shard_map in another
    one_each = jax.sharding.PartitionSpec(axes)
    devices = math.prod(size for name, size in zip(own.axis_names, own.axis_sizes) if name in axes)

    def numbered(*values):
        each = jax.shard_map(
            lambda numbers, *v: function(numbers[0], *v),
            mesh=own,
            in_specs=(one_each,) + (whole,) * len(values),
            out_specs=whole,
            axis_names=set(axes),
            **unchecked,
        )
        return each(jax.numpy.arange(devices, dtype="int32"), *values)

    with jax.sharding.use_abstract_mesh(own), _no_concrete_mesh():
        plain = [core.ShapedArray(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in context.avals_in]
        return jax_versions.lower_function(numbered)(context.replace(avals_in=plain), *nodes)


@contextlib.contextmanager
def _no_concrete_mesh():
    context = getattr(mesh, "device_context", None) or config.device_context  # there from 0.12, here before
    before = context.swap_local(mesh.empty_concrete_mesh)
    try:
        yield
    finally:
        context.set_local(before)


def expect_devices(context, place_of):
    """A mesh that names no devices has those of the program's arrays, or none;
    what XLA says of the latter is about an operation of its own.

    `place_of(context)` is where the user calls the kernel that is lowered.
    """
    axis_context = context.module_context.axis_context
    attributes = context.module_context.module.operation.attributes
    if not isinstance(axis_context, sharding_impls.SPMDAxisContext) or "mhlo.num_partitions" not in attributes:
        return
    own, devices = axis_context.mesh, ir.IntegerAttr(attributes["mhlo.num_partitions"]).value
    if own.size <= devices:
        return
    axes = ", ".join(f"{name}={size}" for name, size in own.shape.items())
    raise ExportError(
        f"shard_map is over an AbstractMesh of {own.size} devices ({axes}), which names none, and the program runs on "
        f"{devices}: no argument is on such a mesh; give shard_map jax.make_mesh(sizes, names), or pass arguments that "
        "are there: jax.device_put(x, NamedSharding(mesh, spec)). JAX makes host devices by "
        "XLA_FLAGS=--xla_force_host_platform_device_count=N",
        place_of(context),
    )


def lower_once(context, nodes, function, on_others=None):
    """Inlines `function` so that it runs once for all devices where XLA would partition it, the others run
    `on_others()` on the whole arrays (nothing, where there is none: results are zeros);
    in shard_map over all axes each device has its own.
    """
    if is_one_of_several(context):
        keep_alive(context, _ALWAYS_WITH_TOKENS)
    own, axes = _automatic_axes(context)
    if not axes:
        return jax_versions.lower_function(function)(context, *nodes)

    def nothing(*_):
        return [jax.numpy.zeros(aval.shape, aval.dtype) for aval in context.avals_out]

    other = on_others() if on_others is not None else nothing

    def first_or_other(number, *values):
        return jax.lax.cond(number == 0, lambda v: function(*v), lambda v: other(*v), values)

    return _lower_on_every_device(context, nodes, first_or_other, own, axes)


def mesh_of(context):
    """({axis: size} of the mesh around this lowering, the axes among them that XLA would partition);
    ({}, ()) outside of one.
    """
    axis_context = context.module_context.axis_context
    if not isinstance(axis_context, sharding_impls.SPMDAxisContext):
        return {}, ()
    own = axis_context.mesh
    return dict(own.shape), tuple(name for name in own.axis_names if name not in axis_context.manual_axes)


# The number of the device in the mesh, row-major: what XLA calls the partition.
_device_number_p = core.Primitive("palladion_device_number")


@_device_number_p.def_abstract_eval
def _device_number_aval():
    return core.ShapedArray((), np.uint32)


mlir.register_lowering(_device_number_p, lambda context: [hlo.PartitionIdOp().result], platform="cpu")


def device_number():
    return _device_number_p.bind()
