"""Operations of Mosaic GPU: copies, barriers, semaphores, matrix units.
Views are written as they stand in the text, layouts included.
"""

import re

import jax

from palladion.base.errors import ToJaxError
from palladion.jax.jax_deprecated import spelled
from palladion.jax.jax_source import reading
from palladion.jax.jax_source.memory import scratch_type
from palladion.jax.jax_source.spelling import attribute_text, tuple_text


def named(block, instr) -> dict:
    """The operands by their names, as texts."""
    return {arg["arg"]: block.arg(arg) for arg in instr["args"] if "arg" in arg}


_SAID_BY_OPERANDS = ("has_barrier", "has_user_predicate")


def options(values: dict, leave_out=()) -> str:
    """`, a=1` of each attribute that is not None."""
    said = {
        name: value
        for name, value in values.items()
        if value is not None and name not in (*leave_out, *_SAID_BY_OPERANDS)
    }
    return "".join(f", {name}={attribute_text(value)}" for name, value in said.items())


def _simple(name, *operands, module="plgpu"):
    """A call with the named operands by position, and the attributes by keyword."""

    def handler(block, instr):
        texts = named(block, instr)
        given = [texts[operand] for operand in operands] if operands else [block.arg(arg) for arg in instr["args"]]
        call = f"{', '.join(given)}{options(reading.attributes(instr['attrs']))}"
        return f"{module}.{name}({call.removeprefix(', ')})"

    return handler


def _leader_tracked(attrs: dict) -> str:
    """The option of a copy that a leader tracks; takes it from `attrs`."""
    leader = attrs.pop("leader_tracked", None)
    if leader is None:
        return ""
    partition = f"PARTITIONED({leader['axis']})" if "axis" in leader else "REPLICATED"
    return f", leader_tracked=plgpu.CopyPartition.{partition}"


def _copy_gmem_to_smem(block, instr):
    texts, attrs = named(block, instr), reading.attributes(instr["attrs"])
    if "predicate" in texts or "barrier" not in texts:
        raise ToJaxError("JAX 0.10 has neither a predicate nor a copy without a barrier here; 0.11 and 0.12 do")
    oob = f", oob_mode=plgpu.OOBFillMode.{attrs['oob_mode'].text.upper()}" if "oob_mode" in attrs else ""
    leader = _leader_tracked(attrs)
    return (
        f"plgpu.copy_gmem_to_smem({texts['src']}, {texts['dst']}, "
        f"{texts['barrier']}{options(attrs, ('oob_mode',))}{leader}{oob})"
    )


def _async_prefetch(block, instr):
    attrs = reading.attributes(instr["attrs"])
    leader = _leader_tracked(attrs)
    return f"plgpu.async_prefetch({named(block, instr)['ref']}{options(attrs)}{leader})"


def _copy_smem_to_gmem(block, instr):
    texts, attrs = named(block, instr), reading.attributes(instr["attrs"])
    predicate = f", {texts['predicate']}" if "predicate" in texts else ""
    return f"plgpu.copy_smem_to_gmem({texts['src']}, {texts['dst']}{predicate}{options(attrs)})"


def _async_store_smem(block, instr):
    texts, attrs = named(block, instr), reading.attributes(instr["attrs"])
    atomic = attrs.pop("atomic", None)
    attrs["atomic"] = None if atomic is None else getattr(atomic, "text", atomic)
    return (
        f"plgpu.async_store_smem({texts['src']}, {texts['ref']}, {texts['barrier']}, cluster_idx={texts['cluster_idx']}"
        f"{options(attrs)})"
    )


def _wait_smem_to_gmem(block, instr):
    [count] = instr["args"]
    return (
        f"plgpu.wait_smem_to_gmem({block.arg(count)}, "
        f"{reading.attributes(instr['attrs']).get('wait_read_only', False)})"
    )


def _set_max_registers(block, instr):
    [count] = instr["args"]
    return f"plgpu.set_max_registers({block.arg(count)}, action={reading.attributes(instr['attrs'])['action']!r})"


def _deref(block, instr):
    return (
        f"plgpu.wgmma_accumulator_load({block.arg(instr['args'][0])}, "
        f"wait_n={reading.attributes(instr['attrs']).get('wait_n', 0)})"
    )


def _get_global(block, instr):
    return f"pl.get_global({scratch_type(instr['types'][0], block.context.backend)})"


def _core_map(block, instr):
    attrs = reading.attributes(instr["attrs"])
    if attrs["mesh"].text != "warp" or instr["regions"][0]["params"]:
        raise ToJaxError(f"inside a kernel a mesh is of warps and allocates nothing; this is {attrs['mesh'].text}")
    name = block.function("warps", instr["regions"][0])
    return f"{spelled('pl.core_map')}(plgpu.WarpMesh(axis_name={attrs['axes'][0]!r}))({name})"


def _load(block, instr):
    attrs = reading.attributes(instr["attrs"])
    return f"plgpu.load({named(block, instr)['src']}, (), optimized={attrs.get('optimized', True)})"


def _atomic_store(block, instr):
    texts = named(block, instr)
    return f"plgpu.atomic_{reading.attributes(instr['attrs'])['atomic_type'].text}({texts['ref']}, {texts['value']})"


_REDUCED = re.compile(r"ReducedLayout\(layout=<Layout\.(\w+): [^>]*>, axes=(\([\d, ]*\))\)$")


def _layout_cast(block, instr):
    """The layout is in the text as JAX prints it."""
    layout = reading.attributes(instr["attrs"])["layout"]
    reduced = _REDUCED.match(layout)
    if not reduced and not re.match(r"Layout\.\w+$", layout):
        raise ToJaxError(f"the layout {layout!r} is written as JAX prints it, which cannot be read back")
    text = f"plgpu.Layout.{reduced[1]}.reduce({reduced[2]})" if reduced else f"plgpu.{layout}"
    return f"plgpu.layout_cast({block.arg(instr['args'][0])}, {text})"


def _print_layout(block, instr):
    return f"plgpu.print_layout({reading.attributes(instr['attrs'])['fmt']!r}, {named(block, instr)['x']})"


def _signal_parallel(block, instr):
    refs, incs, devices = (
        [block.arg(arg) for arg in instr["args"] if arg["arg"] == name] for name in ("ref", "inc", "device_id")
    )
    signals = (
        f"plgpu.SemaphoreSignal({ref}, device_id={device}, inc={inc})" for ref, inc, device in zip(refs, incs, devices)
    )
    return f"plgpu.semaphore_signal_parallel({', '.join(signals)})"


def _mma(block, instr):
    from jax.experimental.pallas import mosaic_gpu

    if not hasattr(mosaic_gpu, "mma"):
        raise ToJaxError(f"JAX {jax.__version__} has no plgpu.mma, which came with 0.11")
    return f"plgpu.mma({', '.join(map(block.arg, instr['args']))})"


def _multimem_load_reduce(block, instr):
    attrs = reading.attributes(instr["attrs"])
    reduction = getattr(attrs["reduction_op"], "text", attrs["reduction_op"])
    return (
        f"plgpu.multimem_load_reduce({named(block, instr)['ref']}, collective_axes={attrs['collective_axes']!r}, "
        f"reduction_op={reduction!r})"
    )


def _inline_ptx(text, number=None):
    """A call that writes one PTX statement; `number`: the value of its operand."""
    assembly = 'llvm.inline_asm(ir.Type.parse("!llvm.void"), [{}], ' + repr(text) + ", {!r}, has_side_effects=True)"
    if number is None:
        return f"plgpu.inline_mgpu()(lambda _: {assembly.format('', '')})()"
    given = "plgpu.inline_mgpu(arg_types=(plgpu.Layout.WG_SPLAT,))"
    return f"{given}(lambda _, number: {assembly.format('number.registers[()]', 'r')})({number})"


def _inline_mgpu(block, instr):
    attrs = reading.attributes(instr["attrs"])
    if instr["args"] or "ptx" not in attrs:
        raise ToJaxError("a Python function that writes MLIR is in the text by name only")
    return _inline_ptx(attrs["ptx"])


def _named_barrier(block, instr):
    operation, lanes = instr["name"].removeprefix("named_barrier_"), reading.attributes(instr["attrs"])["lanes"]
    number = instr["args"][0]
    if number["kind"] == "literal":
        return _inline_ptx(f"bar.{operation} {number['number']}, {lanes};")
    return _inline_ptx(f"bar.{operation} $0, {lanes};", block.arg(number))


def _barrier_of_cluster(block, instr):
    return _inline_ptx(f"barrier.cluster.{instr['name'].removeprefix('barrier_cluster_')};")


def _query_cluster_cancel(block, instr):
    """JAX gives the indices as one tuple."""
    names = [
        block.define(result, kind) if result is not None else "_"
        for result, kind in zip(instr["results"], instr["types"])
    ]
    grid_names = tuple(reading.attributes(instr["attrs"])["grid_names"])
    block.lines.append(
        f"{tuple_text(names[:-1])}, {names[-1]} = plgpu.query_cluster_cancel({named(block, instr)['result']}, "
        f"{grid_names!r})"
    )


def _tcgen05_mma(block, instr):
    texts, attrs = named(block, instr), reading.attributes(instr["attrs"])
    given = [texts[name] for name in ("acc", "a", "b", "barrier") if name in texts]
    named_too = {
        name: texts[name] for name in ("a_scale", "b_scale", "a_sparse_metadata", "accumulate") if name in texts
    }
    words = "".join(f", {name}={text}" for name, text in named_too.items())
    return f"plgpu.tcgen05_mma({', '.join(given)}{words}{options(attrs, ('arrive', 'scaled', 'sparse'))})"


GPU_OPS = {
    "copy_gmem_to_smem": _copy_gmem_to_smem,
    "copy_smem_to_gmem": _copy_smem_to_gmem,
    "async_store_smem": _async_store_smem,
    "async_prefetch": _async_prefetch,
    "barrier_arrive": _simple("barrier_arrive", "barrier"),
    "barrier_wait": _simple("barrier_wait", "barrier"),
    "barrier_test": _simple("barrier_test", "barrier"),
    "wait_smem_to_gmem": _wait_smem_to_gmem,
    "commit_smem": _simple("commit_smem"),
    "commit_tmem": _simple("commit_tmem"),
    "commit_group": _simple("commit_smem_to_gmem_group"),
    "wgmma_ref": _simple("wgmma", "acc", "a", "b"),
    "wgmma_wait": _simple("wgmma_wait"),
    "mma": _mma,
    "wgmma_accumulator_deref": _deref,
    "wgmma_accumulator_store": _simple("wgmma_accumulator_store", module="gpu_primitives"),
    "set_max_registers": _set_max_registers,
    "griddepcontrol_wait": _simple("griddepcontrol_wait"),
    "griddepcontrol_launch_dependents": _simple("griddepcontrol_launch_dependents"),
    "get_global": _get_global,
    "core_map": _core_map,
    "mgpu.load": _load,
    "atomic_store": _atomic_store,
    "layout_cast": _layout_cast,
    "print_layout": _print_layout,
    "semaphore_signal_parallel": _signal_parallel,
    "multimem_store": _simple("multimem_store", "source", "ref"),
    "multimem_load_reduce": _multimem_load_reduce,
    "semaphore_signal_multicast": _simple("semaphore_signal_multicast", "ref", "inc"),
    "inline_mgpu": _inline_mgpu,
    "tcgen05_mma": _tcgen05_mma,
    "tcgen05_commit_arrive": _simple("tcgen05_commit_arrive", "barrier"),
    "async_load_tmem": _simple("async_load_tmem", "src"),
    "async_store_tmem": _simple("async_store_tmem", "ref", "value"),
    "wait_load_tmem": _simple("wait_load_tmem"),
    **{
        name: _simple(name, "smem", "tmem")
        for name in ("async_copy_smem_to_tmem", "async_copy_scales_to_tmem", "async_copy_sparse_metadata_to_tmem")
    },
    "named_barrier_arrive": _named_barrier,
    "named_barrier_sync": _named_barrier,
    "barrier_cluster_arrive": _barrier_of_cluster,
    "barrier_cluster_wait": _barrier_of_cluster,
    "try_cluster_cancel": _simple("try_cluster_cancel", "result", "barrier"),
    "query_cluster_cancel": _query_cluster_cancel,
}
