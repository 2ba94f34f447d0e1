"""JAX's mpmd_map (pl.kernel, plgpu.kernel, core_map) as a `kernel` of kernel text: whole arrays, a mesh,
one body per mesh.

Based on: JAX 0.9.2 to 0.12.
"""

import math

from palladion.base.errors import ExportError
from palladion.jax import jax_versions
from palladion.jax.exporter.async_ops import mesh_attributes
from palladion.jax.exporter.attributes import map_text
from palladion.jax.exporter.kernel import (
    KernelText,
    alias_pairs,
    arrays_line,
    as_label,
    infer_backend,
    note_lines,
    params_line,
    with_prefix,
)
from palladion.jax.exporter.parameters import check_parameters, knows
from palladion.jax.exporter.ref_names import body_labels
from palladion.jax.exporter.types import (
    element_text,
    is_ref,
    operand_type,
    ref_space,
    space_name,
    space_of_array,
    type_text,
)
from palladion.jax.exporter.writer import own_name, parameter_text, parameters_text, ref_name


@knows(
    "jaxprs",
    "meshes",
    "external_meshes",
    "out_avals",
    "input_output_aliases",
    "compiler_params",
    "interpret",
    "debug",
    "cost_estimate",
    "name",
    "metadata",
    "grid_mappings",
)
def mpmd_map_text(file, params, in_avals, traceback):
    """Writes the kernel into `file` and returns its KernelInfo; parameters as for pallas_call_text."""
    check_parameters(params, mpmd_map_text)
    jaxprs, meshes = params["jaxprs"], params["meshes"]
    external = tuple(params.get("external_meshes") or ())
    kernel = KernelText(file, params.get("name") or jax_versions.function_name(jaxprs[0]), traceback)
    inner = jax_versions.open_jaxpr(jaxprs[0])
    refs = [v.aval for v in inner.invars]
    backend = infer_backend(params.get("compiler_params"), meshes[0], jaxprs[0])
    kernel.info.backend = file.backend = backend
    file.axes = {name: int(size) for mesh in meshes for name, size in mesh.shape.items()}
    kernel.lines += [f"backend {backend};"] if backend else []
    kernel.lines += params_line(params.get("compiler_params"), backend, file.partitioned, jaxprs=jaxprs, grid=meshes)
    kernel.lines += note_lines(params.get("cost_estimate"), params.get("metadata"))
    kernel.write_devices()
    labels = _labels(jaxprs[0], params, len(in_avals))
    space = _default_space((*meshes, *external))
    _check_captured(refs, backend)
    _operands(kernel, params, refs, labels, in_avals, space)
    written = [mesh_attributes(mesh, file) for mesh in (*meshes, *external)]
    for position, jaxpr in enumerate(jaxprs):
        kind = f" on {written[position][0]}" if len(jaxprs) > 1 else ""
        function = _body(kernel, jaxpr, _labels(jaxpr, params, len(in_avals)), space)
        kernel.lines += with_prefix(f"body @{kernel.name}{f'.{position}' if position else ''}{kind} ", function)
    kernel.info.grid = str([int(size) for mesh in meshes for size in mesh.shape.values()])
    kernel.lines.insert(kernel.launch_at, _mesh_line(written))
    kernel.finish()
    return kernel.info


def _check_captured(refs, backend):
    scalar = next((aval for aval in refs if not is_ref(aval)), None)
    if scalar is not None and backend != "mosaic_tpu":
        typed = element_text(scalar.dtype, scalar.shape)
        raise ExportError(
            f"the kernel captures a scalar from outside ({typed}), which JAX passes to kernels of TPUs "
            "alone; pass it as an operand, an array of shape (1,)"
        )


def _body(kernel, jaxpr, labels, space) -> list:
    """As Writer.function. A scalar that the kernel captures from outside is read first, from scalar memory."""
    writer = kernel.writer()
    avals = [v.aval for v in jax_versions.open_jaxpr(jaxpr).invars]
    names, texts = [], []
    for label, aval in zip(labels, avals):
        names.append(writer.fresh(ref_name(label) or (own_name(aval) if is_ref(aval) else "captured_ref")))
        captured = f"{names[-1]}: ref<smem,{element_text(aval.dtype, aval.shape)}>" if not is_ref(aval) else ""
        texts.append(captured or parameter_text(names[-1], aval, label, space))

    def build(inner):
        values = [name if is_ref(aval) else _captured(inner, name, aval, kernel) for name, aval in zip(names, avals)]
        return inner.inline(jaxpr, values)

    return writer.region(build, parameters_text(texts))


def _captured(writer, name, aval, kernel) -> str:
    value = writer.fresh()
    writer.emit("get", args=[name], results=[value], types=[type_text(aval)], loc=kernel.place().strip(" ;"))
    return value


def _mesh_line(written) -> str:
    if len(written) == 1:
        kind, attrs = written[0]
        return f"mesh {kind} {map_text(attrs)};"
    kinds = [kind for kind, _ in written]
    if len(set(kinds)) != len(kinds):
        raise ExportError(f"a kernel over several meshes of one kind ({', '.join(kinds)}) cannot be written")
    return f"mesh mpmd {map_text(dict(written))};"


def _labels(jaxpr, params, num_in):
    num_out = len(params["out_avals"])
    aliases = {out: source for source, out in alias_pairs(params["input_output_aliases"])}
    return body_labels(jaxpr, num_in, num_out, aliases)


def _operands(kernel, params, refs, labels, in_avals, space):
    num_in, num_out, place, first = len(in_avals), len(params["out_avals"]), kernel.place(), len(kernel.lines)
    names = [
        kernel.operand(label, f"in{i}" if is_ref(refs[i]) else "captured") for i, label in enumerate(labels[:num_in])
    ]
    for position, (name, aval) in enumerate(zip(names, in_avals)):
        captured = not is_ref(refs[position])
        typed = element_text(aval.dtype, aval.shape) if captured else operand_type(aval)
        kernel.lines.append(f"in {name}: {typed}{' space smem' if captured else _space(refs[position], space)}{place}")
    aliases = {out: source for source, out in alias_pairs(params["input_output_aliases"])}
    outputs = []
    for position, aval in enumerate(params["out_avals"]):
        name = kernel.operand(labels[num_in + position], f"out{position}", "output")
        aval = getattr(aval, "inner_aval", aval)
        _check_memory_of_cores(labels[num_in + position] or name, aval)
        alias = f" alias {names[aliases[position]]}" if position in aliases else ""
        kernel.lines.append(f"out {name}: {operand_type(aval)}{_space(refs[num_in + position], space)}{alias}{place}")
        outputs.append((aval, name, alias))
    kernel.lines[first:first] = arrays_line(outputs)
    kernel.launch_at = len(kernel.lines)
    for position, aval in enumerate(refs[num_in + num_out :]):
        label = labels[num_in + num_out + position]
        name = kernel.operand(label, f"scratch{position}", "scratch")
        kernel.lines.append(f"scratch {name}: {type_text(aval)}{as_label(label)}{place}")


def _check_memory_of_cores(name, aval):
    """Semaphores are one array for each core; of other arrays kernel text has one."""
    cores = math.prod(
        int(size) for size in getattr(getattr(getattr(aval, "memory_space", None), "mesh", None), "shape", {}).values()
    )
    if cores > 1 and space_of_array(aval) in ("vmem", "smem"):
        raise ExportError(
            f"operand '{name}' lies in the {space_of_array(aval)} of each of {cores} cores and outlives the kernel "
            "there, for which kernel text has no form; use a mesh of one core, or fetch within the kernel"
        )


def _space(aval, default) -> str:
    return f" space {ref_space(aval, default)}" if is_ref(aval) else ""


def _default_space(meshes) -> str:
    """Where an array lies that has no memory space: refs of run_state have no space,
    and JAX's lowering of mpmd_map asks the mesh.
    """
    spaces = {space_name(getattr(mesh, "default_memory_space", None)) for mesh in meshes}
    return spaces.pop() if len(spaces) == 1 else "default"
