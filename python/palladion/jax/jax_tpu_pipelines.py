"""What pltpu.emit_pipeline is made of where JAX keeps it as one primitive. Private names of JAX, as in jax_versions.py.

That is so under the configuration `jax_use_emit_pipeline_primitive`; without it a kernel has the pipeline's equations
itself. JAX's lowering and its interpreter expand the primitive with the function that is called here.
"""

from typing import NamedTuple

from palladion.base.errors import ExportError
from palladion.jax.jax_versions import own_lines


def expanded(eqn, axes):
    """The pipeline's equations as a jaxpr of the primitive's operands,
    with a `pipeline_body` for each call of the user's.

    `axes` are the named dimensions around the kernel: {name: size}.
    """
    from jax._src.pallas.mosaic import pipeline

    if not hasattr(pipeline, "emit_pipeline_to_jaxpr"):
        raise ExportError(
            "this JAX has no function that expands the primitive; leave jax_use_emit_pipeline_primitive "
            "False, its default"
        )
    avals, names, sizes = [v.aval for v in eqn.invars], tuple(axes), tuple(axes.values())
    with own_lines():
        return pipeline.emit_pipeline_to_jaxpr(avals, grid_names=names, grid_sizes=sizes, **eqn.params)


def grid_of(eqn) -> list:
    """The size of each dimension of the body's program ids, without those of vmap: a number,
    or the operand that has it.
    """
    mapping = eqn.params["grid_mapping"]
    bounds = iter(eqn.params["args_tree"].unflatten(eqn.invars).dynamic_grid_spec)
    sizes = [size if isinstance(size, int) else next(bounds) for size in mapping.grid]
    return [size for axis, size in enumerate(sizes) if axis not in mapping.vmapped_dims]


class Body(NamedTuple):
    """A call of the user's body: program ids, constants, and arguments, which are variables,
    literals and views of refs.
    """

    program_ids: list
    constants: list
    arguments: list


def called_body(eqn) -> Body:
    step, constants, refs = eqn.params["in_tree"].unflatten(eqn.invars)
    indices = [*step.index, step.local_index] if eqn.params.get("_explicit_indices") else []
    return Body(list(step.index), list(constants), indices + list(refs))
