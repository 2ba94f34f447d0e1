"""The table of operations on values: for each the JAX call that is exactly this one operation.

`{0}` is an operand, `{args}` all of them, `{axes}` an attribute, `{shape_of_result}` and `{dtype_of_result}` are of the
first result. Where lax leaves out a call that changes nothing, the second text of a row binds the primitive itself. An
operation without a row is bound as the exporter found it, where it writes all of the primitive's parameters; one that
works element by element is a function of jax.lax.
"""

import string

import jax
from jax._src.lax import lax as lax_internal

from palladion.base.errors import ToJaxError
from palladion.jax.exporter import value_ops as exported
from palladion.jax.exporter.attributes import Word
from palladion.jax.exporter.elementwise_names import ELEMENTWISE
from palladion.jax.jax_deprecated import spelled
from palladion.jax.jax_source import reading, spelling
from palladion.jax.jax_source.spelling import attribute_text, tuple_text
from palladion.jax.jax_source.writer import Many

# lax's name where it is not the primitive's.
_LAX_NAMES = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "not": "bitwise_not"}

_SAME = ", dimensions=None, sharding=None)"
_ROWS = {
    "mulhi": "lax_internal.mulhi({args})",
    "add_any": "ad_util.add_any_p.bind({args})",
    "copy": "lax_internal.copy_p.bind({0})",
    "clamp": "lax.clamp({args})",
    "integer_pow": "lax.integer_pow({0}, {y})",
    "round": "lax.round({0}, lax.RoundingMethod({rounding_method}))",
    "reduce_precision": "lax.reduce_precision({0}, {exponent_bits}, {mantissa_bits})",
    "convert_element_type": (
        "lax.convert_element_type({0}, {to})",
        "lax.convert_element_type_p.bind({0}, new_dtype=np.dtype({to}), weak_type=False, sharding=None)",
    ),
    "bitcast_convert_type": (
        "lax.bitcast_convert_type({0}, {to})",
        "lax.bitcast_convert_type_p.bind({0}, new_dtype=np.dtype({to}))",
    ),
    "broadcast_in_dim": (
        "lax.broadcast_in_dim({0}, {shape}, {dims})",
        "lax.broadcast_in_dim_p.bind({0}, shape={shape}, broadcast_dimensions={dims}, sharding=None)",
    ),
    "broadcast_to": (
        "state_primitives.broadcast_to({0}, {shape})",
        "state_primitives.broadcast_to_p.bind({0}, shape={shape})",
    ),
    "reshape": ("lax.reshape({0}, {shape})", "lax.reshape_p.bind({0}, new_sizes={shape}" + _SAME),
    "squeeze": ("lax.squeeze({0}, {dims})", "lax.squeeze_p.bind({0}, dimensions={dims})"),
    "transpose": ("lax.transpose({0}, {perm})", "lax.transpose_p.bind({0}, permutation={perm})"),
    "rev": ("lax.rev({0}, {dims})", "lax.rev_p.bind({0}, dimensions={dims})"),
    "iota": "lax.broadcasted_iota({dtype_of_result}, {shape_of_result}, {dim})",
    **{
        f"reduce_{name}": f"lax.reduce_{name}_p.bind({{0}}, axes={{axes}}, out_sharding=None)"
        for name in ("sum", "prod", "max", "min")
    },
    **{f"reduce_{name}": f"lax.reduce_{name}({{0}}, {{axes}})" for name in ("and", "or", "xor")},
    **{
        name: f"lax.{name}({{0}}, axis={{axis}}, reverse={{reverse}})"
        for name in "cumsum cumprod cummax cummin cumlogsumexp".split()
    },
    "argmax": "lax.argmax({0}, {axis}, {dtype_of_result})",
    "argmin": "lax.argmin({0}, {axis}, {dtype_of_result})",
    "program_id": "pl.program_id({axis})",
    "num_programs": "pl.num_programs({axis})",
    "axis_index": "lax.axis_index({axis})",
    "multiple_of": "pl.multiple_of({0}, {values})",
    "max_contiguous": "pltriton.max_contiguous({0}, {values})",
    "random_wrap": "jax.random.wrap_key_data({0}, impl={impl})",
    "random_seed": "prng.random_seed({0}, prng.prngs[{impl}])",
    "random_unwrap": "jax.random.key_data({0})",
    "random_bits": "prng.random_bits({0}, {bits}, {shape})",
    "random_fold_in": "prng.random_fold_in({0}, {1})",
    "random_split": "prng.random_split({0}, {shape})",
    "tpu.reciprocal": spelled("pl.reciprocal") + "({0}, approx={approx}, full_range={full_range})",
    "tpu.roll": "tpu_primitives.roll_p.bind({0}, {1}, axis={axis}, stride={stride}, stride_axis={stride_axis})",
    "tpu.bitcast": "pltpu.bitcast({0}, {to})",
    "tpu.stochastic_round": "pltpu.stochastic_round({0}, {1}, target_dtype={to})",
    "tpu.pack_elementwise": "pltpu.pack_elementwise([{args}], packed_dtype={to})",
    "tpu.unpack_elementwise": "pltpu.unpack_elementwise({0}, index={index}, packed_dtype={packed}, "
    "unpacked_dtype={to})",
    "debug_barrier": "pltriton.debug_barrier()",
    "call": "None",  # what is called stands behind it
    "delay": "pl.delay({0})",
    "prng_seed": "pltpu.prng_seed({args})",
    "prng_random_bits": "pltpu.prng_random_bits({shape})",
}
_MANY = {
    "split": "lax.split({0}, {sizes}, {axis})",
    "sort": "lax.sort([{args}], dimension={dim}, is_stable={stable}, num_keys={num_keys})",
    "optimization_barrier": "lax.optimization_barrier([{args}])",
    "threefry2x32": "threefry2x32.threefry2x32_p.bind({args})",
    "iota_2x32_shape": "prng.iota_2x32_shape({shape})",
}
_KEY_NAMES = {"fry": "threefry2x32", "rbg": "rbg", "urbg": "unsafe_rbg"}


def _attribute(name, value) -> str:
    if name == "impl":
        if value.text not in _KEY_NAMES:
            raise ToJaxError(f"keys of {value.text} are not known; expected one of {', '.join(_KEY_NAMES)}")
        return repr(_KEY_NAMES[value.text])
    return attribute_text(value)


def filled(block, instr, template: str) -> str:
    """The template with the operands and attributes of the instruction."""
    args = [block.arg(arg) for arg in instr["args"]]
    fields = {name: _attribute(name, value) for name, value in reading.attributes(instr["attrs"]).items()}
    if instr["types"]:
        first = instr["types"][0]
        fields.update(
            shape_of_result=spelling.shape_text(first["shape"]), dtype_of_result=spelling.dtype_text(first["dtype"])
        )
    try:
        return template.format(*args, args=", ".join(args), **fields)
    except (KeyError, IndexError) as error:
        raise ToJaxError(f"it lacks {error}, which JAX needs") from None


def _same_type(block, instr) -> bool:
    before, after = block.type_of(instr["args"][0]), instr["types"][0]
    return (before["dtype"], before["shape"]) == (after["dtype"], after["shape"])


def _row(template):
    changing, unchanged = template if isinstance(template, tuple) else (template, template)
    return lambda block, instr: filled(
        block, instr, unchanged if _same_type_or_none(block, instr, template) else changing
    )


def _same_type_or_none(block, instr, template) -> bool:
    return isinstance(template, tuple) and _same_type(block, instr)


def _primitive(name):
    """How a source spells the primitive, and the primitive; not every release has it."""
    for written, module in (("lax", jax.lax), ("lax_internal", lax_internal)):
        if hasattr(module, f"{name}_p"):
            return f"{written}.{name}_p", getattr(module, f"{name}_p")
    raise ToJaxError(f"JAX {jax.__version__} has no jax.lax.{name}")


def _bound(name, parameters):
    """The primitive, bound with `parameters`: JAX's name -> the attribute's."""
    given = "".join(f", {parameter}={{{attribute}}}" for parameter, attribute in parameters.items())

    def handler(block, instr):
        spelled, primitive = _primitive(name)
        text = filled(block, instr, f"{spelled}.bind({{args}}{given})")
        return Many(text) if primitive.multiple_results else text

    return handler


def _elementwise(name):
    """A function of jax.lax; without one, the primitive."""
    function = _LAX_NAMES.get(name, name)

    def handler(block, instr):
        if not hasattr(jax.lax, function):
            return _bound(name, {})(block, instr)
        return filled(block, instr, f"lax.{function}({{args}})")

    return handler


def _turned_around():
    """Of the exporter's rows, those that say all that binds the primitive again."""
    rows = {name: row for name, row in exported.VALUE_OPS.items() if isinstance(row, exported.ValueOp)}
    return {name: _bound(name, row.turns_around) for name, row in rows.items() if row.turns_around is not None}


def _many(template):
    return lambda block, instr: Many(filled(block, instr, template))


def _precision(value):
    if value is None:
        return "None"
    if isinstance(value, tuple):
        return tuple_text([_precision(one) for one in value])
    if not isinstance(value, Word):
        raise ToJaxError(f"the precision {value!r} is not known")
    name = value.text.upper()
    return f"lax.Precision.{name}" if name in ("DEFAULT", "HIGH", "HIGHEST") else f"lax.DotAlgorithmPreset.{name}"


def _dot_general(block, instr):
    attrs = reading.attributes(instr["attrs"])
    a, b = (block.arg(arg) for arg in instr["args"])
    preferred = attrs.get("preferred")
    return (
        f"lax.dot_general({a}, {b}, ({attrs['contract']!r}, {attrs['batch']!r}), "
        f"precision={_precision(attrs.get('precision'))}, preferred_element_type={attribute_text(preferred)})"
    )


_GATHER = (
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "operand_batching_dims",
    "start_indices_batching_dims",
)
_SCATTER = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "operand_batching_dims",
    "scatter_indices_batching_dims",
)
_MODES = {"clip": "CLIP", "fill": "FILL_OR_DROP", "drop": "FILL_OR_DROP", "promise": "PROMISE_IN_BOUNDS"}


def _dimensions(attrs, names) -> str:
    return ", ".join(f"{name}={attrs.get(name, ())!r}" for name in names)


def _gather(block, instr):
    attrs = reading.attributes(instr["attrs"])
    x, indices = (block.arg(arg) for arg in instr["args"])
    mode = attrs["mode"].text
    fill = attrs.get("fill_value")
    fill = float(fill.text) if isinstance(fill, Word) else fill
    return (
        f"lax.gather_p.bind({x}, {indices}, "
        f"dimension_numbers=lax.GatherDimensionNumbers({_dimensions(attrs, _GATHER)}), "
        f"slice_sizes={attrs['slice_sizes']!r}, indices_are_sorted=False, unique_indices=False, "
        f"mode=lax.GatherScatterMode.{_MODES[mode]}, fill_value={attribute_text(fill)})"
    )


def _scatter(name):
    def handler(block, instr):
        attrs = reading.attributes(instr["attrs"])
        args = ", ".join(block.arg(arg) for arg in instr["args"])
        return (
            f"lax.{name}({args}, lax.ScatterDimensionNumbers({_dimensions(attrs, _SCATTER)}), "
            f"mode=lax.GatherScatterMode.{_MODES[attrs['mode'].text]})"
        )

    return handler


def _platform_index(block, instr):
    platforms = reading.attributes(instr["attrs"])["platforms"]
    return f"conditionals.platform_index_p.bind(platforms={platforms!r})"


def _positional(fmt: str) -> str:
    """The format with its fields in the order of the operands, which have no names."""
    text, count = "", 0
    for literal, field, spec, conversion in string.Formatter().parse(fmt):
        text += literal.replace("{", "{{").replace("}", "}}")
        if field is not None:
            number = field if field.isdigit() else str(count)
            text += "{" + number + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}"
            count += 1
    return text


def _debug_print(block, instr):
    fmt = _positional(reading.attributes(instr["attrs"])["fmt"])
    return f"pl.debug_print({', '.join([repr(fmt), *(block.arg(arg) for arg in instr['args'])])})"


def _inline_asm(block, instr):
    attrs = reading.attributes(instr["attrs"])
    types = ", ".join(
        f"jax.ShapeDtypeStruct({spelling.shape_text(t['shape'])}, {spelling.dtype_text(t['dtype'])})"
        for t in instr["types"]
    )
    args = ", ".join(block.arg(arg) for arg in instr["args"])
    return Many(
        f"pltriton.elementwise_inline_asm({attrs['asm']!r}, args=[{args}], constraints={attrs['constraints']!r}, "
        f"pack={attrs['pack']}, result_shape_dtypes=[{types}])"
    )


VALUE_OPS = {
    # Rows of this table stand before what follows from others.
    **_turned_around(),
    **{name: _elementwise(name) for name in ELEMENTWISE},
    **{name: _row(template) for name, template in _ROWS.items()},
    **{name: _many(template) for name, template in _MANY.items()},
    "dot_general": _dot_general,
    "gather": _gather,
    **{f"scatter{name}": _scatter(f"scatter{name}") for name in ("", "_add", "_sub", "_mul", "_min", "_max")},
    "debug_print": _debug_print,
    "platform_index": _platform_index,
    "triton.elementwise_inline_asm": _inline_asm,
}
