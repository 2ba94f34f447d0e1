"""pltpu.emit_pipeline as one primitive: written as the equations that JAX's lowering makes of it.

Based on: JAX 0.12, `jax/_src/pallas/mosaic/pipeline.py`.
"""

from palladion.base.errors import ExportError
from palladion.jax import jax_tpu_pipelines, jax_versions
from palladion.jax.exporter.parameters import knows
from palladion.jax.exporter.types import is_ref
from palladion.jax.exporter.views import view_text


@knows(
    "grid_mapping",
    "body_jaxpr",
    "tiling",
    "core_axis",
    "core_axis_name",
    "args_tree",
    "refs_tree",
    "dimension_semantics",
    "trace_scopes",
    "no_pipelining",
    "output_wait_read_only",
    "_explicit_indices",
    "num_cores",
    "body_consts_len",
    "_static_grid_offsets",
    "_num_extra_dynamic",
)  # these are JAX 0.10's, which is refused
def _emit_pipeline(writer, eqn, env):
    texts = [writer.read(env, v) for v in eqn.invars]
    jaxpr = jax_tpu_pipelines.expanded(eqn, writer.file.axes)
    grid = jax_tpu_pipelines.grid_of(eqn)
    sizes = [f"{size}:i32" if isinstance(size, int) else writer.read(env, size) for size in grid]
    outside = writer.program_ids, writer.program_counts, writer.users_names
    writer.program_counts = sizes + (writer.program_counts or [])
    writer.users_names = {**writer.users_names, **_slot_names(eqn)}
    with writer.inside(eqn):
        writer.inline(jaxpr, texts)
    writer.program_ids, writer.program_counts, writer.users_names = outside


def _slot_names(eqn) -> dict:
    """JAX's name -> the user's, of the slots that the pipeline keeps for each ref of the body."""
    body, inputs = eqn.params["body_jaxpr"], eqn.params["grid_mapping"].num_inputs
    refs = [label for label, v in zip(jax_versions.argument_names(body), body.invars) if is_ref(v.aval)]
    own = {}
    for kind, labels in (("in", refs[:inputs]), ("out", refs[inputs:])):
        for number, label in enumerate(labels):
            own[f"{kind}_smem_refs[{number}]"] = own[f"flat_{kind}_smem_refs[{number}]"] = label
    return own


@knows("jaxpr", "in_tree", "num_inputs", "_explicit_indices")
def _pipeline_body(writer, eqn, env):
    """The body of one step; its program ids are the pipeline's indices, and after them those around the pipeline."""
    read = writer.reader(env)
    body = jax_tpu_pipelines.called_body(eqn)
    inner = jax_versions.open_jaxpr(eqn.params["jaxpr"])
    arguments = [view_text(a, (), read) if type(a).__name__ == "TransformedRef" else read(a) for a in body.arguments]
    if len(arguments) != len(inner.invars) or len(body.constants) != len(inner.constvars):
        raise ExportError(
            f"its body takes {len(inner.invars)} refs and {len(inner.constvars)} constants; "
            f"found {len(arguments)} and {len(body.constants)}"
        )
    names = dict(zip(inner.constvars, map(read, body.constants))) | dict(zip(inner.invars, arguments))
    outside = writer.program_ids
    writer.program_ids = [read(index) for index in body.program_ids] + (outside or [])
    with writer.inside(eqn):
        writer.equations(inner, names)
    writer.program_ids = outside


TPU_PIPELINE_OPS = {
    "emit_pipeline": _emit_pipeline,
    "pipeline_body": _pipeline_body,
}
