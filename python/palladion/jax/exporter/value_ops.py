"""The table of primitives that compute values: which of JAX's parameters are written, under which names; which must
have their default; which have no meaning for a kernel. A parameter that is in none of the three is an error.

Based on: docs/spec/kernel-text.md ("Instructions") and JAX 0.8 to 0.12.
"""

import dataclasses
import enum

import numpy as np

from palladion.base.errors import ExportError
from palladion.base.scalars import dtype_name, literal_text
from palladion.jax import jax_versions
from palladion.jax.exporter.attributes import Word, word_of_enum
from palladion.jax.exporter.elementwise_names import ELEMENTWISE
from palladion.jax.exporter.parameters import knows
from palladion.jax.exporter.types import array_type


def _dtype_word(value):
    return None if value is None else Word(dtype_name(value))


def _key_word(impl):
    return Word(getattr(impl, "tag", None) or getattr(impl, "name", str(impl)))


def _ints(value):
    return None if value is None else [int(v) for v in value]


def _int_lists(value):
    return [_ints(one) for one in value]


def _precision(value):
    """none, one enumerator, or a pair: `highest`, `[highest,highest]`, `bf16_bf16_f32_x3`."""
    if isinstance(value, tuple):
        return [_precision(v) for v in value]
    return word_of_enum(value) if isinstance(value, enum.Enum) else value


def _bitcast_type(ty):
    return _dtype_word(getattr(ty, "dtype", ty))


def _gather_mode(mode):
    name = mode.name.lower()
    short = {"clip": "clip", "fill_or_drop": "fill", "promise_in_bounds": "promise"}
    if name not in short:
        raise ExportError(f"gather mode {mode} is not one of {', '.join(short)}")
    return Word(short[name])


def _scatter_mode(mode):
    short = {"clip": "clip", "fill_or_drop": "drop", "promise_in_bounds": "promise"}
    name = mode.name.lower()
    if name not in short:
        raise ExportError(f"scatter mode {mode} is not one of {', '.join(short)}")
    return Word(short[name])


def _fill_value(value):
    """A number; attributes spell those that are not finite as words."""
    if value is None or isinstance(value, (bool, int, np.bool_, np.integer)):
        return value
    value = float(value)
    return value if np.isfinite(value) else Word("nan" if np.isnan(value) else "inf" if value > 0 else "-inf")


def _no_function(jaxpr):
    """`scatter` also carries the function of `x.at[i].apply(f)`; that of `.set` gives back its second parameter."""
    if jaxpr is not None:
        inner = jax_versions.open_jaxpr(jaxpr)
        if inner.eqns or inner.outvars[0] is not inner.invars[1]:
            raise ExportError(
                "x.at[...].apply(f) has a function of its own, which kernel text does not hold; write "
                "x.at[...].set(f(x[...]))"
            )
    return {}


def _dot_dimensions(numbers):
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    return {"contract": [_ints(lhs_contract), _ints(rhs_contract)], "batch": [_ints(lhs_batch), _ints(rhs_batch)]}


def _gather_dimensions(numbers):
    names = (
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
    )
    return {name: _ints(getattr(numbers, name)) for name in names}


def _scatter_dimensions(numbers):
    names = (
        "update_window_dims",
        "inserted_window_dims",
        "operand_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
    )
    return {name: _ints(getattr(numbers, name)) for name in names}


def _first_axis(axes):
    if len(axes) != 1:
        raise ExportError(f"one axis is expected, found {axes}")
    return int(axes[0])


@dataclasses.dataclass(frozen=True)
class ValueOp:
    """`written`: parameter -> attribute, or (attribute, conversion),
    or a conversion to several attributes (attribute None).
    """

    written: dict = dataclasses.field(default_factory=dict)
    defaults: dict = dataclasses.field(default_factory=dict)
    ignored: frozenset = frozenset()
    name: str | None = None
    elementwise: bool = False  # operands of the results' shape, or of rank 0

    @property
    def turns_around(self) -> dict | None:
        """parameter -> attribute, where kernel text has all of the primitive's parameters,
        each as it is: what binds it again.
        """
        targets = {
            parameter: target if isinstance(target, tuple) else (target, None)
            for parameter, target in self.written.items()
        }
        whole = not self.defaults and not self.ignored and self.name is None
        if not whole or any(
            attribute is None or convert not in (None, int, _ints, _int_lists)
            for attribute, convert in targets.values()
        ):
            return None
        return {parameter: attribute for parameter, (attribute, _) in targets.items()}

    @property
    def parameters(self) -> frozenset:
        return frozenset((*self.written, *self.defaults, *self.ignored))

    def attributes(self, params) -> dict:
        attrs = {}
        for parameter, target in self.written.items():
            if parameter not in params:
                continue
            attribute, convert = target if isinstance(target, tuple) else (target, None)
            value = params[parameter]
            value = convert(value) if convert is not None else value
            attrs.update(value if attribute is None else {attribute: value})
        for parameter, value in params.items():
            if parameter in self.written or parameter in self.ignored:
                continue
            if not _is_default(value, self.defaults[parameter]):
                raise ExportError(
                    f"its parameter {parameter} = {value!r} is not supported; expected {self.defaults[parameter]!r}"
                )
        return attrs

    def __call__(self, writer, eqn, env):
        attrs = self.attributes(eqn.params)
        args = [_of_shape(writer, eqn, env, atom) for atom in eqn.invars] if self.elementwise else None
        writer.emit_equation(eqn, env, self.name, attrs=attrs, args=args)


def _of_shape(writer, eqn, env, atom):
    """JAX's elementwise operations also stretch dimensions of size 1;
    in kernel text that is an instruction of its own.
    """
    shape, text = eqn.outvars[0].aval.shape, writer.read(env, atom)
    if atom.aval.shape in ((), shape):
        return text
    stretched = writer.fresh()
    if all(size == 1 for size in atom.aval.shape):  # one element is an operand of rank 0
        name, attrs, shape = "reshape", {"shape": []}, ()
    else:
        name, attrs = "broadcast_in_dim", {"shape": list(shape), "dims": list(range(len(shape)))}
    writer.emit(
        name,
        attrs=attrs,
        args=[text],
        results=[stretched],
        types=[array_type(atom.aval, shape)],
        loc=writer.location(eqn),
    )
    return stretched


def _is_default(value, default) -> bool:
    if value is default or value is None:
        return True
    if default is None and hasattr(value, "mesh") and all(axes in (None, ()) for axes in value.spec):
        # a sharding that parts nothing: forward-mode differentiation and values made inside shard_map have one
        return True
    try:
        return bool(value == default)
    except Exception:  # a value that cannot be compared is not the default
        return False


def _op(name=None, ignored=(), defaults=None, elementwise=False, **written):
    return ValueOp(written, defaults or {}, frozenset(ignored), name, elementwise)


@knows("axis_name")
def _axis_index(writer, eqn, env):
    axis = writer.file.axis(eqn.params["axis_name"])
    if axis not in writer.file.first_warps:
        writer.emit_equation(eqn, env, attrs={"axis": axis})
        return
    warp = writer.fresh()
    writer.emit("axis_index", attrs={"axis": axis}, results=[warp], types=["i32[]"], loc=writer.location(eqn))
    writer.emit_equation(eqn, env, "add", args=[writer.file.first_warps[axis], warp])


def _scatter(name, update_jaxpr):
    return ValueOp(
        {"dimension_numbers": (None, _scatter_dimensions), "mode": ("mode", _scatter_mode), **update_jaxpr},
        {},
        frozenset({"indices_are_sorted", "unique_indices", "update_consts", "update_jaxpr"} - set(update_jaxpr)),
        name,
    )


@knows("new_sizes", "dimensions", "sharding", "out_sharding")
def _reshape(writer, eqn, env):
    """`dimensions` is the order in which the operand's dimensions are read: a transpose before."""
    [x], order = eqn.invars, eqn.params.get("dimensions")
    text = writer.read(env, x)
    if order is not None:
        moved = writer.fresh()
        writer.emit(
            "transpose",
            attrs={"perm": _ints(order)},
            args=[text],
            results=[moved],
            types=[array_type(x.aval, [x.aval.shape[d] for d in order])],
            loc=writer.location(eqn),
        )
        text = moved
    attrs = _RESHAPE.attributes({**eqn.params, "dimensions": None})
    writer.emit_equation(eqn, env, attrs=attrs, args=[text])


@knows()
def _one_minus_square(writer, eqn, env):
    """(1 + x)(1 - x), as all of JAX's lowerings write it."""
    aval, x = eqn.outvars[0].aval, _of_shape(writer, eqn, env, eqn.invars[0])
    one, types = literal_text(1, aval.dtype), [array_type(aval)]
    factors = [writer.fresh(), writer.fresh()]
    for name, factor in zip(("add", "sub"), factors):
        writer.emit(name, args=[one, x], results=[factor], types=types, loc=writer.location(eqn))
    writer.emit_equation(eqn, env, "mul", args=factors)


@knows("ty", "dim")
def _tpu_bitcast(writer, eqn, env):
    """Along the second minor dimension; along the last one (JAX 0.12) it is the bitcast of NumPy's views."""
    [x], to = eqn.invars, _bitcast_type(eqn.params["ty"])
    before, after = x.aval.shape, eqn.outvars[0].aval.shape
    if eqn.params.get("dim", len(before) - 2) != len(before) - 1:
        writer.emit_equation(eqn, env, "tpu.bitcast", attrs={"to": to})
    elif before == after:
        writer.emit_equation(eqn, env, "bitcast_convert_type", attrs={"to": to})
    elif before[-1] > after[-1]:
        split, shape = writer.fresh(), [*after, before[-1] // after[-1]]
        writer.emit(
            "reshape",
            attrs={"shape": shape},
            args=[writer.read(env, x)],
            results=[split],
            types=[array_type(x.aval, shape)],
            loc=writer.location(eqn),
        )
        writer.emit_equation(eqn, env, "bitcast_convert_type", attrs={"to": to}, args=[split])
    else:
        wide, shape = writer.fresh(), [*before, after[-1] // before[-1]]
        writer.emit(
            "bitcast_convert_type",
            attrs={"to": to},
            args=[writer.read(env, x)],
            results=[wide],
            types=[array_type(eqn.outvars[0].aval, shape)],
            loc=writer.location(eqn),
        )
        writer.emit_equation(eqn, env, "reshape", attrs={"shape": list(after)}, args=[wide])


_SHARDING = {"sharding": None, "out_sharding": None}
_NOTHING = {"accuracy": None, "out_dtype": None, **_SHARDING}

_REDUCTIONS = "reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or reduce_xor".split()
# plgpu.sum, ...: `accumulator_ilp` says how, not what
_GPU_REDUCTIONS = "reduce_sum reduce_prod reduce_max reduce_min".split()
_CUMULATIVE = "cumsum cumprod cummax cummin cumlogsumexp".split()

_RESHAPE = _op(new_sizes=("shape", _ints), defaults={"dimensions": None, **_SHARDING})
_SCATTERS = "add sub mul min max".split()

VALUE_OPS = {
    # The rows below stand before these: those with attributes of their own.
    **{name: _op(defaults=_NOTHING, elementwise=True) for name in ELEMENTWISE},
    **{name: _op(axes=("axes", _ints), defaults=_SHARDING) for name in _REDUCTIONS},
    **{f"mosaic_gpu_{name}": _op(name, axes=("axes", _ints), ignored=("accumulator_ilp",)) for name in _GPU_REDUCTIONS},
    **{name: _op(axis="axis", reverse="reverse") for name in _CUMULATIVE},
    "one_minus_square": _one_minus_square,
    "add_any": _op(elementwise=True),
    "stop_gradient": _op(),
    "copy": _op(),
    "round": _op(rounding_method=("rounding_method", int)),
    "integer_pow": _op(y="y"),
    "reciprocal": _op("tpu.reciprocal", approx="approx", full_range="full_range"),
    "convert_element_type": _op(new_dtype=("to", _dtype_word), ignored=("weak_type",), defaults=_SHARDING),
    "bitcast_convert_type": _op(new_dtype=("to", _dtype_word)),
    "reduce_precision": _op(exponent_bits="exponent_bits", mantissa_bits="mantissa_bits"),
    "optimization_barrier": _op(),
    "multiple_of": _op(values=("values", _ints)),
    "max_contiguous": _op(values=("values", _ints)),
    "broadcast_in_dim": _op(shape=("shape", _ints), broadcast_dimensions=("dims", _ints), defaults=_SHARDING),
    "broadcast_to": _op(shape=("shape", _ints)),
    "reshape": _reshape,
    "squeeze": _op(dimensions=("dims", _ints)),
    "expand_dims": _op(dimensions=("dims", _ints)),
    "transpose": _op(permutation=("perm", _ints)),
    "concatenate": _op(dimension="dim"),
    "stack": _op(axis="axis"),
    "unstack": _op(axis="axis"),
    "split": _op(sizes=("sizes", _ints), axis="axis"),
    "slice": _op(start_indices=("start", _ints), limit_indices=("limit", _ints), strides=("strides", _ints)),
    "dynamic_slice": _op(slice_sizes=("sizes", _ints)),
    "dynamic_update_slice": _op(),
    "pad": _op(padding_config=("config", _int_lists)),
    "iota": _op(dimension="dim", ignored=("dtype", "shape"), defaults=_SHARDING),
    "rev": _op(dimensions=("dims", _ints)),
    "tile": _op(reps=("reps", _ints)),
    "gather": _op(
        dimension_numbers=(None, _gather_dimensions),
        slice_sizes=("slice_sizes", _ints),
        mode=("mode", _gather_mode),
        fill_value=("fill_value", _fill_value),
        ignored=("indices_are_sorted", "unique_indices"),
    ),
    "scatter": _scatter("scatter", {"update_jaxpr": (None, _no_function)}),
    **{f"scatter{sign}{name}": _scatter(f"scatter_{name}", {}) for name in _SCATTERS for sign in "-_"},
    "platform_index": _op(platforms=("platforms", lambda ps: [None if p is None else list(p) for p in ps])),
    "roll": _op("tpu.roll", axis="axis", stride="stride", stride_axis="stride_axis"),
    "repeat": _op("tpu.repeat", repeats="repeats", axis="axis"),
    "bitcast": _tpu_bitcast,
    "stochastic_round": _op("tpu.stochastic_round", target_dtype=("to", _dtype_word)),
    "pack_elementwise": _op("tpu.pack_elementwise", packed_dtype=("to", _dtype_word)),
    "unpack_elementwise": _op(
        "tpu.unpack_elementwise",
        index="index",
        packed_dtype=("packed", _dtype_word),
        unpacked_dtype=("to", _dtype_word),
    ),
    "argmax": _op(axes=("axis", _first_axis), ignored=("index_dtype",)),
    "argmin": _op(axes=("axis", _first_axis), ignored=("index_dtype",)),
    "sort": _op(dimension="dim", is_stable="stable", num_keys="num_keys"),
    "dot_general": _op(
        dimension_numbers=(None, _dot_dimensions),
        precision=("precision", _precision),
        preferred_element_type=("preferred", _dtype_word),
        defaults=_SHARDING,
    ),
    "axis_index": _axis_index,
    "random_seed": _op(impl=("impl", _key_word)),
    "random_wrap": _op(impl=("impl", _key_word)),
    "random_unwrap": _op(),
    "random_bits": _op(bit_width="bits", shape=("shape", _ints)),
    "random_fold_in": _op(),
    "random_split": _op(shape=("shape", _ints)),
    "threefry2x32": _op(elementwise=True),
    "iota_2x32_shape": _op(shape=("shape", _ints)),
    "layout_cast": _op(new_layout=("layout", str)),
    "relayout": _op("layout_cast", dst_layout=("layout", str)),
    "reshard": _op(ignored=("dst_sharding", "concrete_mesh")),
    "stage": _op(ignored=("name",)),
    "delay": _op(),
    "debug_barrier": _op(),
    "elementwise_inline_asm": _op(
        "triton.elementwise_inline_asm",
        asm="asm",
        constraints="constraints",
        pack="pack",
        ignored=("result_shape_dtypes",),
    ),
}
