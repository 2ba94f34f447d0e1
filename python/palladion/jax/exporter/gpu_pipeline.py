"""A pallas_call of Mosaic GPU as a `kernel` of kernel text: what JAX's lowering makes of it,
a grid of blocks that each run a pipeline.

Its refs are the whole arrays in GMEM; the pipeline's copies, barriers and slots are JAX's own (emit_pipeline), as in a
kernel over plgpu.Mesh. What JAX's lowering refuses, and older releases, are written with blocks (kernel.py).
"""

from palladion.jax import jax_gpu_calls, jax_versions
from palladion.jax.exporter import kernel as plain
from palladion.jax.exporter.attributes import map_text
from palladion.jax.exporter.parameters import check_parameters
from palladion.jax.exporter.ref_names import has_pipeline
from palladion.jax.exporter.types import is_ref, operand_type
from palladion.jax.exporter.writer import TextFile, parameter_text, parameters_text, ref_name


def gpu_call_text(file: TextFile, params, in_avals, traceback):
    """Writes the kernel of one pallas_call into `file` and returns its KernelInfo;
    for all but Mosaic GPU as pallas_call_text does.
    """
    check_parameters(params, plain.pallas_call_text)
    backend = plain.infer_backend(params.get("compiler_params"), params.get("mesh"), params["jaxpr"])
    if any(
        plain.backend_of_class(t) == "mosaic_gpu"
        for block in params["grid_mapping"].block_mappings
        for t in block.transforms
    ):
        backend = backend or "mosaic_gpu"  # no other backend has tiles and swizzles
    backend = backend or file.bare_backend
    pipelined = None
    if backend == "mosaic_gpu" and params.get("mesh") is None:
        pipelined = jax_gpu_calls.gpu_pipeline(params, plain.compiler_params_of(params.get("compiler_params"))[1])
    if pipelined is None:
        return plain.pallas_call_text(file, params, in_avals, traceback)
    jaxpr, parallel = pipelined
    kernel = plain.KernelText(file, params.get("name") or jax_versions.function_name(params["jaxpr"]), traceback)
    kernel.info.backend = file.backend = backend
    kernel.lines.append(f"backend {backend};")
    kernel.lines += plain.params_line(params.get("compiler_params"), "mosaic_gpu")
    kernel.lines += plain.note_lines(params.get("cost_estimate"), params.get("metadata"))
    kernel.write_devices()
    names_of_refs = _operands(kernel, params)
    sizes, names = _grid(params["grid_mapping"], parallel)
    mesh = {
        "grid": sizes,
        "grid_names": names,
        "cluster": [],
        "cluster_names": [],
        "threads": None,
        "thread_name": None,
    }
    kernel.lines.append(f"mesh gpu {map_text(mesh)};")
    kernel.info.grid = str([int(size) for size in params["grid_mapping"].grid])
    kernel.lines += plain.with_prefix(f"body @{kernel.name} ", _body(kernel, jaxpr, names_of_refs, names))
    kernel.finish()
    return kernel.info


def _grid(mapping, parallel):
    """(sizes, names) of the dimensions that blocks run along; one without a name has its number."""
    given = mapping.grid_names or [None] * len(mapping.grid)
    dims = [
        (int(size), plain.axis_name(name) or f"grid{n}")
        for n, (size, name, p) in enumerate(zip(mapping.grid, given, parallel))
        if p
    ]
    return [size for size, _ in dims], [name for _, name in dims]


def _operands(kernel, params):
    """Writes the operands' lines; returns the user's names of their refs,
    and those of scratch that JAX calls otherwise.
    """
    mapping = params["grid_mapping"]
    blocks, count = mapping.block_mappings, mapping.num_inputs
    refs = jax_versions.open_jaxpr(params["jaxpr"]).invars
    labels = plain.ref_labels(params["jaxpr"], len(refs))
    scratch = {f"scratch_refs[{n}]": label for n, label in enumerate(labels[len(blocks) :]) if label}
    labels = [label.removesuffix(".ref") for label in labels[: len(blocks)]]  # of one with a view
    if not has_pipeline(params["jaxpr"]):  # else JAX's names of slots may mean that one's
        scratch |= {f"in_smem_refs[{n}]": label for n, label in enumerate(labels[:count]) if label}
        scratch |= {f"out_smem_refs[{n}]": label for n, label in enumerate(labels[count:]) if label}
    inputs = [kernel.operand(label, f"in{i}") for i, label in enumerate(labels[:count])]
    aliases = {out: source for source, out in plain.alias_pairs(params["input_output_aliases"])}
    for position, block in enumerate(blocks):
        out = position - count
        name = inputs[position] if out < 0 else kernel.operand(labels[position], f"out{out}", "output")
        alias = f" alias {inputs[aliases[out]]}" if out in aliases else ""
        kernel.lines.append(
            f"{'in' if out < 0 else 'out'} {name}: "
            f"{operand_type(block.array_aval)}{plain.as_label(str(block.origin or ''))} space "
            f"gmem{alias}{kernel.place(block.index_map_jaxpr)}"
        )
    return labels, scratch


def _body(kernel, jaxpr, names_of_refs, axes):
    """The function, whose program ids are the indices along the grid of blocks."""
    labels, scratch = names_of_refs
    writer = kernel.writer()
    writer.users_names = scratch
    inner = jax_versions.open_jaxpr(jaxpr)
    names = [writer.fresh(ref_name(label) or "gmem_ref") for label in labels]
    params = [
        parameter_text(name, v.aval, label if is_ref(v.aval) else "")
        for name, v, label in zip(names, inner.invars, labels)
    ]

    def build(body):
        body.program_ids = []
        for axis in axes:
            body.program_ids.append(body.fresh())
            body.emit("axis_index", attrs={"axis": axis}, results=[body.program_ids[-1]], types=["i32[]"])
        return body.inline(jaxpr, names)

    return writer.region(build, parameters_text(params))
