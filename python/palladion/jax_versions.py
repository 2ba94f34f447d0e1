"""Everything that differs between JAX versions, and every private JAX name that Palladion uses, in one place.

Supported: JAX 0.8 to 0.11. No other file of this package imports from `jax._src` or asks for a version.
What it does not catch: a version that keeps a name and changes its meaning; `exporter/` refuses parameters it does not know.
"""

import contextlib
import functools
import importlib
import inspect
import os
import sys

import jax
import numpy as np
from jax._src import config, core, dispatch, lib, mesh, source_info_util
from jax._src.interpreters import mlir

OLDEST, TOO_NEW = (0, 8), (0, 12)
if not OLDEST <= jax.__version_info__[:2] < TOO_NEW:
    raise ImportError(f"Palladion needs JAX {OLDEST[0]}.{OLDEST[1]} to {TOO_NEW[0]}.{TOO_NEW[1] - 1}, found {jax.__version__}. Install "
                      "one of these, such as `pip install 'jax>=0.8,<0.12'`, or a Palladion that knows this JAX")

KERNEL_CALL_MODULES = (
    ("jax._src.pallas.pallas_call", "pallas_call_p"),
    ("jax._src.pallas.mpmd", "mpmd_map_p"),  # from 0.9.2
)


def jax_version() -> str:
    return jax.__version__


def kernel_call_primitives() -> dict:
    """The primitives that call a kernel, by name: those this JAX has."""
    found = {}
    for module_name, attribute in KERNEL_CALL_MODULES:
        try:
            primitive = getattr(importlib.import_module(module_name), attribute)
        except (ImportError, AttributeError):
            continue
        found[primitive.name] = primitive
    return found


def register_kernel_rules(platform: str, make_rule):
    """Puts `make_rule(name, fallback)` in place for each kernel call primitive; returns a function that puts back what was there.

    `fallback` is the rule that would apply without it. The rules are uncacheable, so that each call keeps its own source lines.
    """
    options = {"cacheable": False} if "cacheable" in inspect.signature(mlir.register_lowering).parameters else {}
    uncacheable = getattr(mlir, "_uncacheable_primitives", set())
    undo = []
    for name, primitive in kernel_call_primitives().items():
        newly_uncacheable = primitive not in uncacheable
        before = {p: mlir._platform_specific_lowerings[p].get(primitive) for p in _platforms(platform)}
        entry = next((e for e in before.values() if e is not None), None) or mlir._lowerings.get(primitive)
        mlir.register_lowering(primitive, make_rule(name, getattr(entry, "rule", entry)), platform=platform, **options)
        undo.append((primitive, before, newly_uncacheable))

    def put_back():
        for primitive, before, newly_uncacheable in undo:
            for one, entry in before.items():
                if entry is None:
                    mlir._platform_specific_lowerings[one].pop(primitive, None)
                else:
                    mlir._platform_specific_lowerings[one][primitive] = entry
            if newly_uncacheable:
                uncacheable.discard(primitive)
    return put_back


def _platforms(platform: str) -> tuple:
    return ("cuda", "rocm") if platform == "gpu" else (platform,)


def swap_interpret_configuration(value):
    """Sets what JAX passes as `interpret` to every kernel of this thread; returns what was set. It is part of jit's key."""
    return config.pallas_tpu_interpret_mode_context_manager.swap_local(value)


def interpret_configuration():
    """What is set in this thread. A kernel function got what was set when `pl.pallas_call` made it, not what is set when it is called."""
    return config.pallas_tpu_interpret_mode_context_manager.value


def restore_interpret_configuration(value):
    config.pallas_tpu_interpret_mode_context_manager.set_local(value)


# What kernels ask about the chip (probes.py).


def abstract_device(device_kind: str, num_cores: int, platform: str):
    """A context in which JAX's own abstract device is this one, part of jit's key; nothing where a mesh of devices is set."""
    if not jax.sharding.get_abstract_mesh().empty:
        return contextlib.nullcontext()
    fields = {"device_kind": device_kind, "num_cores": num_cores, "platform": platform}
    known = inspect.signature(jax.sharding.AbstractDevice).parameters  # no platform at 0.8
    device = jax.sharding.AbstractDevice(**{name: value for name, value in fields.items() if name in known})
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=device))


def answer_device_attributes(names, answer):
    """Every device has `answer(name)` for these attributes, and its own where that is None; returns what puts back."""
    before = {name: jax.Device.__dict__.get(name) for name in names}

    def make(name, own):
        def get(device):
            if (value := answer(name)) is not None:
                return value
            if own is None:
                raise AttributeError(name=name, obj=device)  # Python then asks the device's own __getattr__
            return own.__get__(device, type(device))
        return property(get)

    for name, own in before.items():
        setattr(jax.Device, name, make(name, own))

    def put_back():
        for name, own in before.items():
            if own is None:
                delattr(jax.Device, name)
            else:
                setattr(jax.Device, name, own)
    return put_back


def make_abstract_meshes_in(context):
    """Meshes make the abstract mesh that they keep inside `context()`; returns what puts back."""
    before = mesh.Mesh.__dict__["abstract_mesh"]
    cached = isinstance(before, functools.cached_property)
    own = before.func if cached else before.fget

    def make(one):
        with context():
            return own(one)

    mesh.Mesh.abstract_mesh = functools.cached_property(make) if cached else property(make)
    if cached:
        mesh.Mesh.abstract_mesh.__set_name__(mesh.Mesh, "abstract_mesh")

    def put_back():
        mesh.Mesh.abstract_mesh = before
    return put_back


def replace_missing_cuda_versions(stand_in):
    """`stand_in` for JAX's module `cuda_versions` where it has none, in modules outside of JAX that import it too; returns what puts back."""
    if lib.cuda_versions is not None:
        return lambda: None

    def replace(old, new, which):
        for name, module in list(sys.modules.items()):
            names = getattr(module, "__dict__", {})
            if names.get("cuda_versions", lib) is old and which(name):
                names["cuda_versions"] = new

    replace(None, stand_in, lambda name: name == lib.__name__ or not name.startswith(("jax._src.", "jaxlib.")))
    return lambda: replace(stand_in, None, lambda _: True)


def wait_for_effects():
    """Waits for this thread's computations with side effects; returns the error of one that failed, or None.

    JAX keeps what failed, and would raise it at each later wait and when Python ends; here it is told once.
    """
    try:
        jax.effects_barrier()
    except jax.errors.JaxRuntimeError as error:
        dispatch.runtime_tokens.clear()
        return error
    return None


def lower_function(function):
    """A lowering rule that inlines what `function(*arrays) -> list of arrays` does."""
    return mlir.lower_fun(function, multiple_results=True)


def emit_python_callback(context, callback, operands, operand_avals, result_avals, has_side_effect):
    """Calls `callback(*numpy arrays) -> arrays` from compiled code. It never builds jax arrays, so it cannot deadlock."""
    try:
        from jax._src.callback import emit_python_callback as emit
    except ImportError:
        emit = mlir.emit_python_callback
    results, _, keepalive = emit(
        context, callback, None, list(operands), list(operand_avals), list(result_avals),
        has_side_effect=has_side_effect, returns_token=False,
    ) if "returns_token" in inspect.signature(emit).parameters else emit(
        context, callback, None, list(operands), list(operand_avals), list(result_avals),
        has_side_effect=has_side_effect,
    )
    if keepalive is not None:
        context.module_context.add_keepalive(keepalive)
    return results


# Jaxprs. From 0.11 ClosedJaxpr and Jaxpr are one class.


def open_jaxpr(jaxpr):
    return getattr(jaxpr, "jaxpr", jaxpr)


def jaxpr_consts(jaxpr):
    return tuple(getattr(jaxpr, "consts", ()))


def is_literal(atom) -> bool:
    return isinstance(atom, core.Literal)


def is_array(value) -> bool:
    """A constant that stands in a tree of operands by itself: NumPy's, or JAX's array with a type (0.8)."""
    return isinstance(value, (np.ndarray, np.generic)) or type(value).__name__ == "TypedNdArray"


def is_dropped(variable) -> bool:
    return type(variable).__name__ == "DropVar"


def all_parameters(jaxpr):
    """The abstract values of the parameters of a jaxpr and of all jaxprs inside it."""
    inner = open_jaxpr(jaxpr)
    for variable in (*inner.invars, *inner.constvars):
        yield variable.aval
    for eqn in inner.eqns:
        for value in eqn.params.values():
            for one in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(open_jaxpr(one), "eqns"):
                    yield from all_parameters(one)


def argument_names(jaxpr):
    """The user's names of the parameters of a traced function, or () where JAX kept none."""
    debug_info = getattr(open_jaxpr(jaxpr), "debug_info", None)
    names = getattr(debug_info, "arg_names", None) if debug_info is not None else None
    return tuple("" if name is None else str(name) for name in names or ())


def function_name(jaxpr) -> str:
    debug_info = getattr(open_jaxpr(jaxpr), "debug_info", None)
    return getattr(debug_info, "func_name", "") or "kernel"


def function_frame(jaxpr):
    """(file, function, line, 0) of the user's Python function that was traced, or None: JAX keeps no column, here 0."""
    debug_info = getattr(open_jaxpr(jaxpr), "debug_info", None)
    function, at, place = (getattr(debug_info, "func_src_info", None) or "").partition(" at ")
    file_name, colon, line = place.rpartition(":")
    if not (at and colon and line.isdigit() and is_user_file(file_name)):
        return None
    return file_name, function, int(line), 0


def scan_groups(params) -> tuple[int, int]:
    """(number of constants, number of carries) of a scan."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()  # from 0.11
    return len(consts), len(carry)


def is_dynamic_grid_dimension(size) -> bool:
    return not isinstance(size, int)


def gpu_pipeline(params, options):
    """A pallas_call with the compiler parameters `options` as Mosaic GPU's lowering sees it: (its jaxpr over the arrays in GMEM, which dimensions of its grid are parallel).

    The lowering wraps the kernel in emit_pipeline over the sequential dimensions; a program of the others is a block. None where
    this release of JAX does it in another way, or refuses the call (its limits are found by other means). The steps are those of
    lower_pipelined_jaxpr_to_module of JAX 0.10.2, jax/_src/pallas/mosaic_gpu/lowering.py.
    """
    try:
        return _traced_pipeline(params["grid_mapping"], open_jaxpr(params["jaxpr"]), options)
    except (ImportError, AttributeError, TypeError, AssertionError, NotImplementedError):
        return None


def _traced_pipeline(mapping, kernel, options):
    from jax._src import linear_util
    from jax._src.interpreters import partial_eval
    from jax._src.pallas.mosaic_gpu import core as gpu, lowering, pipeline
    semantics = getattr(options, "dimension_semantics", None)
    parallel = [True] * len(mapping.grid) if semantics is None else [str(getattr(s, "value", s)) == "parallel" for s in semantics]
    if mapping.vmapped_dims or mapping.num_dynamic_grid_bounds or mapping.num_index_operands or len(parallel) != len(mapping.grid):
        return None
    lowering._check_block_mappings(mapping.block_mappings, kernel.debug_info)
    body = _pipeline_body(gpu, lowering, pipeline, (mapping, kernel, parallel, getattr(options, "max_concurrent_steps", 1)))
    arrays = [gpu.GMEM(block.array_aval.shape, block.array_aval.dtype).get_ref_aval() for block in mapping.block_mappings]
    with mapping.trace_env(), _own_lines():
        function = linear_util.wrap_init(body, debug_info=kernel.debug_info.with_unknown_names())
        jaxpr, _, constants = partial_eval.trace_to_jaxpr_dynamic(function, arrays)
    return None if constants else (jaxpr, parallel)


@contextlib.contextmanager
def _own_lines():
    """What is traced meanwhile has the lines that write it, not the line of the call that is being lowered."""
    place = getattr(source_info_util, "_source_info_context", None)
    if place is None:
        yield
        return
    before, place.context = place.context, source_info_util.new_source_info()
    try:
        yield
    finally:
        place.context = before


def _pipeline_body(gpu, lowering, pipeline, call):
    """The function of the arrays' refs that the lowering traces; `call` is (grid mapping, jaxpr, parallel dimensions, steps at once)."""
    from jax._src import core as jax_core
    from jax._src.pallas import core as pallas_core, primitives
    from jax._src.pallas.mosaic_gpu import primitives as gpu_primitives
    mapping, kernel, parallel, steps = call
    jaxpr_call = getattr(primitives, "_jaxpr_call", None) or gpu_primitives.jaxpr_call  # of the GPU's own until 0.9
    scratch = kernel.invars[mapping.slice_scratch_ops]
    specs = [lowering._block_spec_from_block_mapping(block, parallel) for block in mapping.block_mappings]

    def scratch_ref(aval):
        if isinstance(aval, gpu.WGMMAAbstractAccumulatorRef):
            return gpu.WGMMAAccumulatorRef(aval.shape, aval.dtype)
        if isinstance(aval, gpu.AbstractTMEMRef):
            return gpu.GPUMemoryRef(jax_core.ShapedArray(aval.shape, aval.dtype), gpu.TMEM, transforms=(), layout=aval.layout,
                                    collective=aval.collective)
        space = gpu.GMEM if aval.memory_space is pallas_core.MemorySpace.DEFAULT else aval.memory_space
        return pallas_core.MemoryRef(jax_core.ShapedArray(aval.shape, aval.dtype), space)

    def with_scratch(*refs, scratch_refs):
        def step(indices, *blocks):
            indices = list(indices)
            programs = [None if p else indices.pop(0) for p in parallel]
            return jaxpr_call(kernel, *blocks, *scratch_refs, program_ids=programs)

        sequential = tuple(size for size, p in zip(mapping.grid, parallel) if not p)
        pipeline.emit_pipeline(step, grid=sequential, in_specs=specs[:mapping.num_inputs], out_specs=specs[mapping.num_inputs:],
                               max_concurrent_steps=steps)(*refs)

    def body(*refs):
        primitives.run_scoped(functools.partial(with_scratch, *refs), scratch_refs=[scratch_ref(v.aval) for v in scratch])
        return ()

    return body


# Source locations.


def call_traceback(context):
    """Where the call was made that a lowering rule is asked for, or None."""
    return getattr(context, "traceback", None)


def user_frames(traceback):
    """(file, function, line, column) of each frame of the user's Python and of JAX's kernel helpers, innermost first.

    All other files of JAX are hidden, except the kernels it ships.
    """
    frames = []
    codes, instructions = traceback.raw_frames()
    for code, instruction in zip(codes, instructions):
        if not (is_user_file(code.co_filename) or is_helper_file(code.co_filename)) or code.co_filename == __file__:
            continue
        frame = source_info_util.raw_frame_to_frame(code, instruction)
        frames.append((frame.file_name, frame.function_name, frame.start_line, frame.start_column + 1))
    return frames


_PALLAS = os.path.join(os.path.dirname(jax.__file__), "_src", "pallas")
# What they write into a kernel (emit_pipeline, nd_loop, ...) waits, copies and signals: two findings there have two lines.
_HELPERS = frozenset(os.path.join(_PALLAS, backend, name) for backend in ("mosaic", "mosaic_gpu") for name in ("pipeline.py", "helpers.py"))
_SHIPPED_KERNELS = os.path.join(os.path.dirname(jax.__file__), "experimental", "pallas", "ops") + os.sep


def is_user_file(file_name: str) -> bool:
    return file_name.startswith(_SHIPPED_KERNELS) or source_info_util.is_user_filename(file_name)


def is_helper_file(file_name: str) -> bool:
    """JAX's own Python that writes parts of kernels for its users."""
    return file_name in _HELPERS
