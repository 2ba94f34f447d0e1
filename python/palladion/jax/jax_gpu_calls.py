"""What Mosaic GPU's lowering makes of a pallas_call: a pipeline over the arrays in GMEM.
Private names of JAX, as in jax_versions.py.

JAX lowers such calls until 0.10; from 0.11 it has only its interpreter for them, and Palladion goes on as 0.10 did. The
steps are those of lower_pipelined_jaxpr_to_module of JAX 0.10.2 (jax/_src/pallas/mosaic_gpu/lowering.py). What it does
not catch: a newer JAX may mean something else by such a call.
"""

import functools

import jax
from jax._src import core as jax_core
from jax._src import effects, linear_util
from jax._src.interpreters import partial_eval

from palladion.jax.jax_versions import jaxpr_consts, open_jaxpr, own_lines


def backend_of_bare_calls() -> str:
    """What JAX compiles a pallas_call without compiler parameters with on a GPU: Mosaic GPU where its flag says so (by
    default in 0.9 and 0.10), else Triton (by default in 0.8; in 0.12, which has no flag)."""
    return "mosaic_gpu" if getattr(jax.config, "jax_pallas_use_mosaic_gpu", False) else "triton"


def gpu_pipeline(params, options):
    """A pallas_call with the compiler parameters `options`: (its jaxpr over the arrays in GMEM,
    which dimensions of its grid are parallel).

    The kernel is wrapped in emit_pipeline over the sequential dimensions; a program of the others is a block. None
    where this release of JAX does it in another way, or refuses the call (its limits are found by other means).
    """
    try:
        return _traced_pipeline(params["grid_mapping"], open_jaxpr(params["jaxpr"]), options)
    except (ImportError, AttributeError, TypeError, AssertionError, NotImplementedError):
        return None


def _traced_pipeline(mapping, kernel, options):
    from jax._src.pallas.mosaic_gpu import core as gpu
    from jax._src.pallas.mosaic_gpu import lowering

    semantics = getattr(options, "dimension_semantics", None)
    parallel = (
        [True] * len(mapping.grid)
        if semantics is None
        else [str(getattr(s, "value", s)) == "parallel" for s in semantics]
    )
    if (
        mapping.vmapped_dims
        or mapping.num_dynamic_grid_bounds
        or mapping.num_index_operands
        or len(parallel) != len(mapping.grid)
    ):
        return None
    lowering._check_block_mappings(mapping.block_mappings, kernel.debug_info)
    body = _pipeline_body(gpu, (mapping, kernel, parallel, getattr(options, "max_concurrent_steps", 1)))
    arrays = [
        gpu.GMEM(block.array_aval.shape, block.array_aval.dtype).get_ref_aval() for block in mapping.block_mappings
    ]
    with mapping.trace_env(), own_lines():
        function = linear_util.wrap_init(body, debug_info=kernel.debug_info.with_unknown_names())
        jaxpr, _, constants = partial_eval.trace_to_jaxpr_dynamic(function, arrays)
    return None if constants else (jaxpr, parallel)


def _block_spec(gpu, block, parallel):
    """The block's spec for emit_pipeline, whose indices are those of the sequential dimensions."""
    from jax._src.pallas import primitives

    def index_map(*indices):
        left, blocks = iter(indices), iter(range(sum(parallel)))
        every = [primitives.program_id(next(blocks)) if p else next(left) for p in parallel]
        return jax_core.eval_jaxpr(open_jaxpr(block.index_map_jaxpr), jaxpr_consts(block.index_map_jaxpr), *every)

    return gpu.BlockSpec(
        block.block_shape,
        index_map,
        memory_space=block.transformed_block_aval.memory_space,
        transforms=block.transforms,
    )


def _pipeline_body(gpu, call):
    """The function of the arrays' refs that the lowering traces;
    `call` is (grid mapping, jaxpr, parallel dimensions, steps at once).
    """
    from jax._src.pallas import core as pallas_core
    from jax._src.pallas import primitives
    from jax._src.pallas.mosaic_gpu import pipeline

    mapping, kernel, parallel, steps = call
    scratch = kernel.invars[mapping.slice_scratch_ops]
    specs = [_block_spec(gpu, block, parallel) for block in mapping.block_mappings]

    def scratch_ref(aval):
        if isinstance(aval, gpu.WGMMAAbstractAccumulatorRef):
            return gpu.WGMMAAccumulatorRef(aval.shape, aval.dtype)
        if isinstance(aval, gpu.AbstractTMEMRef):
            return gpu.GPUMemoryRef(
                jax_core.ShapedArray(aval.shape, aval.dtype),
                gpu.TMEM,
                transforms=(),
                layout=aval.layout,
                collective=aval.collective,
            )
        space = gpu.GMEM if aval.memory_space is pallas_core.MemorySpace.DEFAULT else aval.memory_space
        return pallas_core.MemoryRef(jax_core.ShapedArray(aval.shape, aval.dtype), space)

    def with_scratch(*refs, scratch_refs):
        def step(indices, *blocks):
            indices = list(indices)
            programs = [None if p else indices.pop(0) for p in parallel]
            return _jaxpr_call()(kernel, *blocks, *scratch_refs, program_ids=programs)

        sequential = tuple(size for size, p in zip(mapping.grid, parallel) if not p)
        pipeline.emit_pipeline(
            step,
            grid=sequential,
            in_specs=specs[: mapping.num_inputs],
            out_specs=specs[mapping.num_inputs :],
            max_concurrent_steps=steps,
        )(*refs)

    def body(*refs):
        primitives.run_scoped(
            functools.partial(with_scratch, *refs), scratch_refs=[scratch_ref(v.aval) for v in scratch]
        )
        return ()

    return body


def _jaxpr_call():
    """JAX's own function that calls a kernel's jaxpr with views of refs; from 0.11, which has none, the one below."""
    from jax._src.pallas import primitives
    from jax._src.pallas.mosaic_gpu import primitives as gpu_primitives

    return getattr(primitives, "_jaxpr_call", None) or getattr(gpu_primitives, "jaxpr_call", None) or _bind_jaxpr_call


@functools.cache
def _jaxpr_call_primitive():
    primitive = jax_core.Primitive("jaxpr_call")
    primitive.multiple_results = True

    @primitive.def_effectful_abstract_eval
    def _(*_, jaxpr, **__):
        return jaxpr.out_avals, {e for e in jaxpr.effects if not isinstance(e, effects.JaxprInputEffect)}

    return primitive


def _bind_jaxpr_call(jaxpr, *refs, program_ids):
    """The primitive that exporter/control_ops.py writes; `program_ids` are None for dimensions of the grid around."""
    leaves, trees = [], []
    for ref in refs:
        of_ref, tree = jax.tree_util.tree_flatten((ref.ref, ref.transforms) if hasattr(ref, "transforms") else ref)
        leaves += of_ref
        trees.append(tree)
    ids, ids_tree = jax.tree_util.tree_flatten(program_ids)
    return _jaxpr_call_primitive().bind(
        *leaves, *ids, jaxpr=jaxpr, ref_treedefs=tuple(trees), program_ids_treedef=ids_tree
    )
