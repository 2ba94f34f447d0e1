"""A kernel over a grid as a `pl.pallas_call`: grid, blocks, prefetch, scratch, aliases, compiler parameters."""

from palladion.base.errors import ToJaxError
from palladion.jax.jax_source import reading, spelling
from palladion.jax.jax_source.compiler_params import call_options
from palladion.jax.jax_source.memory import scratch_type, space_text
from palladion.jax.jax_source.spelling import tuple_text
from palladion.jax.jax_source.writer import Block


def lines(context) -> list:
    """The statements of `kernel`."""
    kernel = context.kernel
    operands = {
        role: [o for o in kernel["operands"] if o["role"] == role]
        for role in ("bound", "prefetch", "in", "out", "scratch")
    }
    block = Block(context)
    for operand in (*operands["bound"], *operands["prefetch"], *operands["in"]):
        block.define(operand["name"], operand["type"])
    if len(kernel["bodies"]) != 1:
        raise ToJaxError(
            f"a kernel over a grid has one body, this one has {len(kernel['bodies'])}", "kernel", kernel["line"]
        )
    region = kernel["bodies"][0]["region"]
    name = block.function(kernel["bodies"][0]["name"], region, region["params"])
    specs = _Specs(block, region, operands)
    call = [
        "return tuple(pl.pallas_call(",
        f"    {name},",
        f"    out_shape=[{', '.join(out_shape(context, o) for o in operands['out'])}],",
    ]
    call += [f"    {option}," for option in _grid_options(block, operands, specs)]
    call += [f"    {option}," for option in (*_alias_option(operands), *call_options(context))]
    arguments = [block.name(o["name"]) for o in (*operands["prefetch"], *operands["in"])]
    return block.lines + call + ["    interpret=interpret,", f")({', '.join(arguments)}))"]


def out_shape(context, operand: dict) -> str:
    """Of an output that lies in the memory of a core after the kernel: pltpu.VMEM."""
    arrays = context.kernel["other"].get("arrays", {})
    space = reading.attributes(arrays.get("map", arrays)).get(operand["name"]) if arrays else None
    text = shape_dtype(operand)
    if space is None:
        return text
    return text.replace("jax.ShapeDtypeStruct", space_text(space.text, context.backend), 1)


def shape_dtype(operand: dict) -> str:
    t = operand["type"]
    if t["kind"] != "array":
        raise ToJaxError(f"an output of type {t['kind']} is not written", operand["role"], operand["line"])
    return f"jax.ShapeDtypeStruct({spelling.shape_text(t['shape'])}, {spelling.dtype_text(t['dtype'])})"


def _alias_option(operands) -> list:
    inputs = [o["name"] for o in (*operands["prefetch"], *operands["in"])]
    aliases = {
        inputs.index(o["alias"]): position for position, o in enumerate(operands["out"]) if o["alias"] is not None
    }
    return [f"input_output_aliases={aliases!r}"] if aliases else []


def _grid_options(block, operands, specs) -> list:
    kernel = block.context.kernel
    sizes = [block.name(size) if isinstance(size, str) else str(size) for size in kernel["grid"]]
    if kernel["grid_names"]:
        sizes = [f"({name!r}, {size})" if name else size for name, size in zip(kernel["grid_names"], sizes)]
    scratch = [scratch_type(o["type"], block.context.backend) for o in operands["scratch"]]
    grid = [
        f"grid={tuple_text(sizes)}",
        f"in_specs=[{', '.join(map(specs.spec, operands['in']))}]",
        f"out_specs=[{', '.join(map(specs.spec, operands['out']))}]",
    ]
    scratch_option = [f"scratch_shapes=[{', '.join(scratch)}]"] if scratch else []
    if not operands["prefetch"]:
        return grid + scratch_option
    inner = [f"num_scalar_prefetch={len(operands['prefetch'])}", *grid, *scratch_option]
    return [f"grid_spec=pltpu.PrefetchScalarGridSpec({', '.join(inner)})"]


class _Specs:
    """The BlockSpecs of a kernel's operands."""

    def __init__(self, block, region, operands):
        self.block = block
        ordered = [*operands["prefetch"], *operands["in"], *operands["out"], *operands["scratch"]]
        if len(ordered) != len(region["params"] or ()):
            raise ToJaxError(
                f"the body has {len(region['params'] or ())} parameters for {len(ordered)} operands",
                "body",
                region["line"],
            )
        self.params = {o["name"]: param for o, param in zip(ordered, region["params"])}

    def spec(self, operand) -> str:
        try:
            return self._spec(operand)
        except ToJaxError as error:
            raise ToJaxError(error.why, error.operation or operand["role"], error.line or operand["line"]) from None

    def _spec(self, operand) -> str:
        param = self.params[operand["name"]]["type"]
        space = operand["space"] or param["space"]
        options = [] if space == "default" else [f"memory_space={space_text(space, self.block.context.backend)}"]
        if operand["block"] is None:
            return f"pl.BlockSpec({', '.join(options)})"
        spec = operand["block"]
        if spec["view"]:
            raise ToJaxError("a block in tiles or swizzled is not written yet")
        if spec["buffered"] is not None:
            options.append(f"pipeline_mode=pl.Buffered({_buffered(spec['buffered'])})")
        shape = tuple_text([_dim(dim) for dim in spec["dims"]])
        return f"pl.BlockSpec({', '.join([shape, self._map(spec['map']), *options])})"

    def _map(self, region) -> str:
        if any(instr["name"] not in self.block.context.handlers for instr in region["body"]) or region["body"]:
            return self.block.function("index_map", region)
        names = [self.block.define(param["name"], param["type"]) for param in region["params"] or ()]
        results = [_index(self.block, arg) for arg in region["results"]]
        return f"lambda {', '.join(names)}: {tuple_text(results)}" if names else f"lambda: {tuple_text(results)}"


def _index(block, arg) -> str:
    if arg["kind"] == "literal" and arg["dtype"] == "i32" and not block.context.wide:
        return str(int(reading.literal_value(arg)))
    return block.arg(arg)


def _dim(dim) -> str:
    size = dim["size"]
    return {
        "blocked": str(size),
        "squeezed": "None",
        "element": f"pl.Element({size}, ({dim['low']}, {dim['high']}))",
        "bounded_slice": f"pl.BoundedSlice({size})",
        "indirect": f"pl.Indirect({size})",
    }[dim["kind"]]


def _buffered(attrs) -> str:
    parts = []
    for name, value in reading.attributes(attrs).items():
        parts.append(f"revisit=pl.RevisitMode.{value.text.upper()}" if name == "revisit" else f"{name}={value!r}")
    if "buffer_count" not in attrs:
        parts.insert(0, "buffer_count=2")
    return ", ".join(parts)
