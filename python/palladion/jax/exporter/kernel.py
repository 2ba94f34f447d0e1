"""One kernel call as a `kernel` of kernel text: operands, grid, blocks, compiler parameters, body.

Input: the parameters of JAX's pallas_call and mpmd_map. Based on: JAX's GridMapping and BlockMapping, whose fields are
the same from 0.8 to 0.12. Shape-polymorphic grids and blocks are refused.
"""

import dataclasses
import enum
import math

import numpy as np

from palladion.base.errors import ExportError
from palladion.jax import jax_versions
from palladion.jax.exporter.async_ops import ASYNC_OPS, mesh_attributes
from palladion.jax.exporter.attributes import Word, attr_text, map_text, string_text, word_of_enum
from palladion.jax.exporter.collective_ids import collective_id
from palladion.jax.exporter.control_ops import CONTROL_OPS
from palladion.jax.exporter.memory_ops import MEMORY_OPS
from palladion.jax.exporter.names import Names, sanitized
from palladion.jax.exporter.parameters import check_parameters, knows, unknown
from palladion.jax.exporter.tpu_ops import TPU_OPS, on_tpu_keys
from palladion.jax.exporter.tpu_pipeline import TPU_PIPELINE_OPS
from palladion.jax.exporter.types import (
    array_type,
    is_ref,
    operand_type,
    space_name,
    space_of_array,
    tpu_key_words,
    type_text,
)
from palladion.jax.exporter.value_ops import VALUE_OPS
from palladion.jax.exporter.views import block_view_text
from palladion.jax.exporter.writer import INDENT, TextFile, Writer, parameter_text, parameters_text, ref_name

HANDLERS = {**VALUE_OPS, **MEMORY_OPS, **CONTROL_OPS, **ASYNC_OPS, **TPU_OPS, **TPU_PIPELINE_OPS}
HANDLERS.update(on_tpu_keys(HANDLERS))

_BACKEND_OF_MODULE = ((".mosaic_gpu.", "mosaic_gpu"), (".triton.", "triton"), (".mosaic.", "mosaic_tpu"))
_BACKEND_OF_SPACE = {
    "gmem": "mosaic_gpu",
    "tmem": "mosaic_gpu",
    "regs": "mosaic_gpu",
    "vmem": "mosaic_tpu",
    "vmem_shared": "mosaic_tpu",
    "cmem": "mosaic_tpu",
    "hbm": "mosaic_tpu",
    "semaphore": "mosaic_tpu",
}


def backend_of_class(value) -> str:
    module = type(value).__module__ + "."
    return next((name for part, name in _BACKEND_OF_MODULE if part in module), "")


def _backend_of_space(memory_space) -> str:
    inner = getattr(memory_space, "memory_space", memory_space)
    return backend_of_class(inner) or _BACKEND_OF_SPACE.get(space_name(inner), "")


def compiler_params_of(params):
    """(backend or "", the dataclass or None) of the call; older JAX also takes a dict from backend to parameters."""
    if isinstance(params, dict) or (hasattr(params, "items") and not dataclasses.is_dataclass(params)):
        given = {name: value for name, value in params.items() if value}
        if len(given) > 1:
            raise ExportError(f"compiler_params name several backends ({', '.join(given)}); give the one to emulate")
        if not given:
            return "", None
        [(name, value)] = given.items()
        return {"mosaic": "mosaic_tpu"}.get(name, name), value
    return (backend_of_class(params), params) if params is not None else ("", None)


def infer_backend(params, mesh, jaxpr) -> str:
    """From the compiler parameters, else the mesh, else what the kernel does and where its refs lie, else ""."""
    backend, _ = compiler_params_of(params)
    backend = backend or (backend_of_class(mesh) if mesh is not None else "")
    if backend:
        return backend
    if any(eqn.primitive.name == "emit_pipeline" for inner in jax_versions.all_jaxprs(jaxpr) for eqn in inner.eqns):
        return "mosaic_tpu"  # whose pipeline alone is a primitive
    spaces = (aval.memory_space for aval in jax_versions.all_parameters(jaxpr) if is_ref(aval))
    return next((backend for backend in map(_backend_of_space, spaces) if backend), "")


# What kernel text means where it says nothing; JAX's own default has changed since (Mosaic GPU's to Warpgroup,
# in 0.11).
_TEXT_DEFAULTS = {"lowering_semantics": "lane"}


def params_line(params, backend="", partitioned=(), *, jaxprs=(), grid="") -> list:
    """Every field of the compiler parameters that is not the default, which is JAX's where _TEXT_DEFAULTS has none.

    `partitioned` are the axes over which XLA would partition the kernel, which is said of what may be a TPU's. `jaxprs`
    and `grid` are what a collective id is made of that the parameters leave to JAX.
    """
    _, params = compiler_params_of(params)
    assigned = collective_id(params, jaxprs, grid) if backend in ("mosaic_tpu", "") else None
    if params is None and backend == "mosaic_gpu":
        params = jax_versions.default_gpu_params()
    if params is None:
        params = {}
    if dataclasses.is_dataclass(params):
        fields = {}
        for field in dataclasses.fields(params):
            value = getattr(params, field.name)
            default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
            if field.name in _TEXT_DEFAULTS:
                value, default = word_of_enum(value), Word(_TEXT_DEFAULTS[field.name])
            if value is not default and not _equal(value, default):
                fields[field.name] = value
    else:
        fields = dict(params)
    if assigned is not None:
        fields["collective_id"] = assigned
    if "dimension_semantics" in fields and fields["dimension_semantics"] is not None:
        fields["dimension_semantics"] = [_lower(s) for s in fields["dimension_semantics"]]
    if partitioned and backend in ("", "mosaic_tpu"):
        fields["partitioned"] = [str(axis) for axis in partitioned]
    return [f"params {map_text(fields)};"] if fields else []


def _equal(a, b) -> bool:
    return type(a) is type(b) and a == b


def _lower(semantics) -> str:
    return semantics.name.lower() if isinstance(semantics, enum.Enum) else str(semantics)


def note_lines(cost_estimate, metadata) -> list:
    lines = []
    if cost_estimate is not None:
        lines.append(
            f"cost {map_text({f.name: getattr(cost_estimate, f.name) for f in dataclasses.fields(cost_estimate)})};"
        )
    if metadata:
        lines.append(f"meta {map_text(dict(metadata.items()))};")
    return lines


def as_label(label: str) -> str:
    return f" as {string_text(label)}" if label else ""


@dataclasses.dataclass
class KernelInfo:
    """What a caller needs to know of a written kernel: names of its operands, without the sigil,
    in the order of a run.
    """

    name: str
    inputs: list  # bounds, prefetch, in
    outputs: list
    grid: str
    devices: int = 0  # that run it together, each with operands of its own; 0: it is one device's
    backend: str = ""  # "mosaic_tpu", as kernel text has it; "" where nothing shows it


class KernelText:
    """Collects the lines of one kernel. `names` are unique in the kernel, maps have their own."""

    def __init__(self, file: TextFile, name: str, traceback=None):
        self.file = file
        self.name = file.kernel_names.named(name)
        self.names = Names()
        self.caller = file.locations.as_caller(traceback)
        self.lines = []
        self.info = KernelInfo(self.name, [], [], "")
        self.launch_at = 0  # the line of `lines` that the launch goes before

    def writer(self) -> Writer:
        return Writer(self.file, self.names, HANDLERS, self.caller)

    def operand(self, label: str, otherwise: str, kind: str = "input") -> str:
        """The operand's name: the user's name of its ref without `_ref`. `kind` is input, output or scratch."""
        name = self.names.named(sanitized(label).removesuffix("_ref") or otherwise)
        if kind != "scratch":
            (self.info.inputs if kind == "input" else self.info.outputs).append(name)
        return "%" + name

    def write_devices(self):
        """The mesh, where its devices run the kernel together."""
        if self.file.devices:
            self.lines.append(
                f"devices {map_text({self.file.axis(name): size for name, size in self.file.devices.items()})};"
            )
            self.info.devices = math.prod(self.file.devices.values())

    def place(self, function=None) -> str:
        """` #l7;`: where an operand's index map was written, or else where the kernel is called;
        ";" where neither is known.
        """
        frame = jax_versions.function_frame(function) if function is not None else None
        name = self.file.locations.function_name(frame, self.caller)
        return f" {name};" if name else ";"

    def _say_target(self):
        """The chip that the text is for, and its backend, in place of what the kernel says; nothing for `generic`."""
        backend, _, chip = self.file.resolved_target(self.name, self.info.backend or None).partition("/")
        if chip:
            rest = [line for line in self.lines if not line.startswith("backend ")]
            self.lines = [f"backend {backend};", f'arch "{chip}";', *rest]

    def finish(self):
        if self.file.resolved_target is not None:
            self._say_target()
        body = "\n".join(INDENT + line for line in self.lines)
        self.file.kernels.append(f"kernel @{self.name} {{\n{body}\n}}")


def _block_dim(dim) -> str:
    kind = type(dim).__name__
    if kind == "Squeezed" or dim is None:
        return "sq"
    if isinstance(dim, (int, np.integer)):
        return str(int(dim))
    size = dim.block_size
    if not isinstance(size, (int, np.integer)):
        raise ExportError(f"the block size {size} is not a constant; shape-polymorphic blocks are not supported")
    if kind == "Blocked":
        return str(int(size))
    if kind == "Element":
        low, high = dim.padding
        return f"el({int(size)},{int(low)},{int(high)})"
    if kind in ("BoundedSlice", "Indirect"):
        return f"{'bs' if kind == 'BoundedSlice' else 'ind'}({int(size)})"
    raise unknown(f"a block dimension of Python type {kind} is not known to the exporter")


def _is_whole_array(mapping) -> bool:
    for dim, size in zip(mapping.block_shape, mapping.array_aval.shape):
        if type(dim).__name__ != "Blocked" or dim.block_size != size:
            return False
    outputs = jax_versions.open_jaxpr(mapping.index_map_jaxpr).outvars
    return not mapping.transforms and all(jax_versions.is_literal(o) and int(o.val) == 0 for o in outputs)


_BUFFERING = ("buffer_count", "use_lookahead", "revisit")


def _buffering(mode) -> dict:
    """The fields of a pl.Buffered that are not their defaults."""
    given = {f.name: getattr(mode, f.name) for f in dataclasses.fields(mode) if getattr(mode, f.name) != f.default}
    if "prefetched_count" in given:
        raise ExportError(
            "pl.Buffered with prefetched_count is for buffers that the kernel fills itself before pltpu.emit_pipeline; "
            "the blocks of a grid have none"
        )
    for name in set(given) - set(_BUFFERING):
        raise unknown(
            f"the field {name!r} of {type(mode).__name__} (here {given[name]!r}) is not known to the exporter"
        )
    return given


def block_text(kernel: KernelText, mapping, grid_rank: int) -> list:
    """The lines of ` block (...) map (...) {...}`, [""] for the whole array."""
    buffered = ""
    if mapping.pipeline_mode is not None:
        buffered = f" buffered {map_text(_buffering(mapping.pipeline_mode))}"
    if _is_whole_array(mapping) and not buffered:
        return [""]
    writer = Writer(kernel.file, Names(kernel.names.taken), HANDLERS, kernel.caller)
    inner = jax_versions.open_jaxpr(mapping.index_map_jaxpr)
    hints = [("ijklmnop"[n] if n < 8 else f"i{n}") for n in range(grid_rank)]
    hints += [ref_name(label) or "table_ref" for label in jax_versions.argument_names(inner)[grid_rank:]]
    hints += ["table_ref"] * (len(inner.invars) - len(hints))
    names = [writer.fresh(hint) for hint in hints]
    params = parameters_text([parameter_text(n, v.aval) for n, v in zip(names, inner.invars)])
    words = tpu_key_words(mapping.array_aval.dtype) or ()  # of a key, which the block has whole
    lines = writer.region(lambda w: [*w.inline(mapping.index_map_jaxpr, names), *["0:i32"] * len(words)], params)
    if len(lines) <= 3:  # a map that computes nothing is one line
        lines = [" ".join(line.strip() for line in lines)]
    dims = ",".join([*map(_block_dim, mapping.block_shape), *map(str, words)])
    lines[0] = f" block ({dims}) map {lines[0]}"
    lines[-1] += block_view_text(mapping.transforms, lambda v: v) + buffered
    return lines


def _grid_line(kernel: KernelText, grid, bounds, grid_names, vmapped) -> str:
    sizes, left = [], iter(bounds)
    for size in grid:
        sizes.append(next(left) if jax_versions.is_dynamic_grid_dimension(size) else str(size))
    text = f"grid [{','.join(sizes)}]"
    if grid_names is not None and len(grid_names):
        text += f" names {attr_text([axis_name(n) for n in grid_names])}"
    if vmapped:
        text += f" vmapped {attr_text([int(v) for v in vmapped])}"
    kernel.info.grid = text.removeprefix("grid ")
    return text + ";"


def axis_name(name) -> str:
    return "" if name is None or type(name) is object else str(name)


@knows(
    "jaxpr",
    "grid_mapping",
    "mesh",
    "input_output_aliases",
    "debug",
    "interpret",
    "compiler_params",
    "cost_estimate",
    "out_avals",
    "metadata",
    "name",
    "backend",
    "kernel_arg_transforms",
)  # the last is for JAX's interpreter: the jaxpr has them
def pallas_call_text(file: TextFile, params, in_avals, traceback):
    """Writes the kernel of one pallas_call into `file` and returns its KernelInfo.

    `in_avals` are those of all operands of the call, `traceback` is where it was made.
    """
    check_parameters(params, pallas_call_text)
    jaxpr, mapping = params["jaxpr"], params["grid_mapping"]
    if jax_versions.open_jaxpr(jaxpr).constvars:
        raise ExportError("the kernel closes over array constants; pass them as operands")
    kernel = KernelText(file, params.get("name") or jax_versions.function_name(jaxpr), traceback)
    refs = [v.aval for v in jax_versions.open_jaxpr(jaxpr).invars]
    backend = infer_backend(params.get("compiler_params"), params.get("mesh"), jaxpr) or file.bare_backend
    kernel.info.backend = file.backend = backend
    file.axes = {name: size for name, size in zip(mapping.grid_names or (), mapping.grid) if isinstance(size, int)}
    kernel.lines += [f"backend {backend};"] if backend else []
    kernel.lines += params_line(params.get("compiler_params"), backend, file.partitioned, jaxprs=(jaxpr,), grid=mapping)
    kernel.lines += note_lines(params.get("cost_estimate"), params.get("metadata"))
    kernel.write_devices()
    _operands(kernel, params, mapping, refs, in_avals)
    labels = ref_labels(jaxpr, len(refs))
    body = kernel.writer().function(jaxpr, labels=labels)
    kernel.lines += with_prefix(f"body @{kernel.name} ", body)
    kernel.finish()
    return kernel.info


def with_prefix(prefix, lines):
    return [prefix + lines[0]] + lines[1:]


def ref_labels(jaxpr, count):
    names = jax_versions.argument_names(jaxpr)
    return [n for n in names] if len(names) == count else [""] * count


def _operands(kernel, params, mapping, refs, in_avals):
    grid, first = mapping.grid, len(kernel.lines)
    num_bounds = sum(1 for size in grid if jax_versions.is_dynamic_grid_dimension(size))
    bounds = []
    for position in range(num_bounds):
        bounds.append(kernel.operand("", f"bound{position}"))
        kernel.lines.append(f"bound {bounds[-1]}: {array_type(in_avals[position])}{kernel.place()}")
    num_prefetch, num_inputs = mapping.num_index_operands, mapping.num_inputs
    labels = ref_labels(params["jaxpr"], len(refs))
    inputs = []
    for position in range(num_prefetch):
        inputs.append(kernel.operand(labels[position], f"prefetch{position}"))
        aval = in_avals[num_bounds + position]
        space = space_name(refs[position].memory_space)
        kernel.lines.append(f"prefetch {inputs[-1]}: {array_type(aval)} space {space}{kernel.place()}")
    # Blocks may name only what is above them: the scalar-prefetch refs reach an index map as its own parameters.
    lines = []
    for position, block in enumerate(mapping.block_mappings[:num_inputs]):
        inputs.append(kernel.operand(labels[num_prefetch + position], f"in{position}"))
        lines.append(("in", inputs[-1], block, ""))
    aliases = {out: source for source, out in alias_pairs(params["input_output_aliases"])}
    for position, block in enumerate(mapping.block_mappings[num_inputs:]):
        alias = f" alias {inputs[aliases[position]]}" if position in aliases else ""
        label = labels[num_prefetch + num_inputs + position]
        lines.append(("out", kernel.operand(label, f"out{position}", "output"), block, alias))
    outputs = [(name, alias) for role, name, _, alias in lines if role == "out"]
    kernel.lines[first:first] = arrays_line([(aval, *names) for aval, names in zip(params["out_avals"], outputs)])
    kernel_lines = []
    for role, name, block, alias in lines:
        head = f"{role} {name}: {operand_type(block.array_aval)}{as_label(str(block.origin or ''))}"
        head += f" space {space_name(block.transformed_block_aval.memory_space)}"
        text = block_text(kernel, block, len(grid))
        text[-1] += alias + kernel.place(block.index_map_jaxpr)
        kernel_lines += with_prefix(head, text)
    kernel.lines += kernel_lines
    if params.get("mesh") is not None:  # before 0.9.2 kernels over a mesh come this way
        kind, attrs = mesh_attributes(params["mesh"], kernel.file)
        kernel.lines.append(f"mesh {kind} {map_text(attrs)};")
    else:
        kernel.lines.append(_grid_line(kernel, grid, bounds, mapping.grid_names, mapping.vmapped_dims))
    scratch_labels = labels[num_prefetch + len(mapping.block_mappings) :]
    for position, aval in enumerate(refs[num_prefetch + len(mapping.block_mappings) :]):
        name = kernel.operand(scratch_labels[position], f"scratch{position}", "scratch")
        kernel.lines.append(f"scratch {name}: {type_text(aval)}{as_label(scratch_labels[position])}{kernel.place()}")


def arrays_line(outputs) -> list:
    """[`arrays {%o=vmem};`] where an output lies in the memory of a core after the kernel,
    and the input that shares it did before.

    `outputs`: of each its array, its name and the text of its alias.
    """
    kept = {}
    for aval, name, alias in outputs:
        space = space_of_array(aval)
        if space in ("vmem", "smem"):
            kept.update({each: Word(space) for each in (name, alias.removeprefix(" alias ")) if each})
    return [f"arrays {map_text({name.removeprefix('%'): space for name, space in kept.items()})};"] if kept else []


def alias_pairs(aliases):
    return aliases.items() if hasattr(aliases, "items") else aliases
