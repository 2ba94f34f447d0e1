"""Kernels of tpu_legality.txt about values: elementwise operations, casts, reductions, contractions, moves."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from palladion.jax.exporter.elementwise_names import ELEMENTWISE
from tpu_legality_case import (
    BF16,
    BOOL,
    E4,
    E5,
    F16,
    F32,
    I4,
    I8,
    I16,
    I32,
    SMEM,
    TYPES,
    U8,
    U16,
    U32,
    VMEM,
    call,
    name_of,
    of_scalars,
    of_values,
    shape,
)

FEW = (F32, BF16, F16, E5, I32, I16, I8, U32, U8, BOOL)


def arity(f, dtype):
    for count in (1, 2, 3):
        try:
            jax.eval_shape(f, *[shape((8, 128), dtype)] * count)
            return count
        except (TypeError, ValueError):
            pass
    return 0


def elementwise():
    """Every elementwise operation that traces, of drawn types, of arrays and of scalars."""
    random = np.random.default_rng(3)
    for name in sorted(set(ELEMENTWISE) - {"select_n"}):
        f = getattr(lax, name, None)
        takes = [dtype for dtype in FEW if f is not None and arity(f, dtype)]
        for dtype in takes:
            if random.random() < 0.45 or len(takes) < 3:
                ins = [shape((8, 128), dtype)] * arity(f, dtype)
                yield of_values(f"{name}_{name_of(dtype)}", f, *ins)
            if random.random() < 0.2 or dtype in (F32, I32):
                yield of_scalars(f"{name}_scalar_{name_of(dtype)}", f, *[dtype] * arity(f, dtype))
    for dtype in (F32, BF16):
        for n in (-2, 0, 3):
            yield of_values(
                f"integer_pow_{n}_{name_of(dtype)}", lambda x, n=n: lax.integer_pow(x, n), shape((8, 128), dtype)
            )
    for base in (F32, BF16):
        for power in (I32, U32, I8, F32, BF16):
            if base == power or power in (I32, U32, I8):
                yield of_values(
                    f"pow_{name_of(base)}_{name_of(power)}", lax.pow, shape((8, 128), base), shape((8, 128), power)
                )
    yield of_values(
        "exp_accuracy", lambda x: lax.exp(x, accuracy=lax.Tolerance(atol=1e-3, rtol=1e-3, ulps=1)), shape((8, 128))
    )
    yield of_values("round_away", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), shape((8, 128)))
    yield of_values("select_three", lambda i, x: lax.select_n(i, x, x, x), shape((8, 128), I32), shape((8, 128)))
    yield of_values("select_int", lambda i, x: lax.select_n(i > 0, x, x), shape((8, 128), I32), shape((8, 128)))
    for dtype in (F32, BF16):
        yield of_values(f"reciprocal_{name_of(dtype)}", lambda x: pl.reciprocal(x), shape((8, 128), dtype))
        yield of_values(
            f"reciprocal_approx_{name_of(dtype)}", lambda x: pl.reciprocal(x, approx=True), shape((8, 128), dtype)
        )


def casts():
    random = np.random.default_rng(4)
    for a, b in itertools.product(TYPES, TYPES):
        if a == b:
            continue
        common = a in (F32, I32, BF16, BOOL) and b in (F32, I32, BF16, BOOL)
        if common or random.random() < 0.55:
            yield of_values(f"cast_{name_of(a)}_{name_of(b)}", lambda x, b=b: x.astype(b), shape((32, 128), a))
        if common or random.random() < 0.15:
            yield of_scalars(
                f"cast_scalar_{name_of(a)}_{name_of(b)}",
                lambda x, b=b: x.astype(b),
                a,
            )
    for a, b in ((F32, I32), (F32, U32), (BF16, I16), (F32, BF16), (I8, U8), (BF16, U16), (U16, BF16)):
        if jnp.dtype(a).itemsize == jnp.dtype(b).itemsize:
            yield of_values(
                f"bitcast_convert_{name_of(a)}_{name_of(b)}",
                lambda x, b=b: lax.bitcast_convert_type(x, b),
                shape((8, 128), a),
            )
    yield of_values("bitcast_convert_wide", lambda x: lax.bitcast_convert_type(x, U32), shape((8, 128, 2), U16))
    yield of_values("bitcast_convert_narrow", lambda x: lax.bitcast_convert_type(x, U16), shape((8, 128), U32))
    yield of_scalars("bitcast_convert_scalar", lambda x: lax.bitcast_convert_type(x, U32), F32)
    for a, b, dims in (
        (F32, BF16, (8, 128)),
        (BF16, F32, (16, 128)),
        (I8, I32, (32, 128)),
        (F32, I32, (8, 128)),
        (F32, I8, (4, 8, 128)),
        (U16, I32, (8, 128)),
        (F32, I8, (3, 100)),
    ):
        yield of_values(
            f"tpu_bitcast_{name_of(a)}_{name_of(b)}_{len(dims)}", lambda x, b=b: pltpu.bitcast(x, b), shape(dims, a)
        )


def reductions():
    random = np.random.default_rng(5)
    for name in ("sum", "max", "min", "prod", "and", "or", "xor"):
        f = getattr(lax, f"reduce_{name}")
        for dtype in FEW:
            for dims, axes in (
                ((8, 128), (1,)),
                ((8, 128), (0,)),
                ((8, 128), (0, 1)),
                ((4, 8, 128), (0,)),
                ((4, 8, 128), (1, 2)),
                ((128,), (0,)),
            ):
                if random.random() < 0.26:
                    yield of_values(
                        f"reduce_{name}_{name_of(dtype)}_{len(dims)}_{''.join(map(str, axes))}",
                        lambda x, f=f, axes=axes: f(x, axes),
                        shape(dims, dtype),
                    )
    for name, dtype, index, dims in itertools.product(
        ("argmax", "argmin"), (F32, BF16, I32), (I32, U32, I8), ((8, 128), (4, 8, 128), (128,))
    ):
        for axis in range(len(dims)):
            if random.random() < 0.3 or (dtype == F32 and index == I32):
                yield of_values(
                    f"{name}_{name_of(dtype)}_{name_of(index)}_{len(dims)}_{axis}",
                    lambda x, f=getattr(lax, name), axis=axis, index=index: f(x, axis, index),
                    shape(dims, dtype),
                )
    for name in ("cumsum", "cumprod", "cummax", "cumlogsumexp"):
        yield of_values(name, lambda x, f=getattr(lax, name): f(x, 1), shape((8, 128)))


def contractions():
    def dot(name, x, y, contract, batch=((), ()), precision=None, preferred=None):
        dims = (contract, batch)
        return of_values(
            name, lambda a, b: lax.dot_general(a, b, dims, precision=precision, preferred_element_type=preferred), x, y
        )

    random = np.random.default_rng(6)
    for a, b in itertools.product((F32, BF16, F16, E5, E4, I8, I4, I32, I16, U8, U32), repeat=2):
        if a == b or random.random() < 0.12:
            for preferred in (F32, I32, BF16, F16, I8, I16, None):
                if random.random() < 0.6 or preferred is None:
                    name = f"dot_{name_of(a)}_{name_of(b)}_{'none' if preferred is None else name_of(preferred)}"
                    yield dot(name, shape((128, 128), a), shape((128, 128), b), ((1,), (0,)), preferred=preferred)
    m, k, n = 16, 128, 256
    for name, x, y, contract, batch in (
        ("nt", (m, k), (n, k), ((1,), (1,)), ((), ())),
        ("tn", (k, m), (k, n), ((0,), (0,)), ((), ())),
        ("tt", (k, m), (n, k), ((0,), (1,)), ((), ())),
        ("two_contracted", (m, 8, k), (8, k, n), ((1, 2), (0, 1)), ((), ())),
        ("none_contracted", (m, 8), (8, n), ((), ()), ((), ())),
        ("batch", (2, m, k), (2, k, n), ((2,), (1,)), ((0,), (0,))),
        ("batch_minor", (m, 2, k), (k, 2, n), ((2,), (0,)), ((1,), (1,))),
        ("batch_nt", (2, m, k), (2, n, k), ((2,), (2,)), ((0,), (0,))),
        ("batch_two", (2, 3, m, k), (2, 3, k, n), ((3,), (2,)), ((0, 1), (0, 1))),
        ("batch_last", (m, k, 2), (k, n, 2), ((1,), (0,)), ((2,), (2,))),
        ("vector", (k,), (k, n), ((0,), (0,)), ((), ())),
        ("matrix_vector", (m, k), (k,), ((1,), (0,)), ((), ())),
        ("vectors", (k,), (k,), ((0,), (0,)), ((), ())),
        ("row", (m, k), (1, k), ((1,), (1,)), ((), ())),
        ("rank_3_rhs", (m, k), (k, 2, n), ((1,), (0,)), ((), ())),
        ("rank_3_lhs", (2, m, k), (k, n), ((2,), (0,)), ((), ())),
        ("batch_vector", (2, k), (2, k), ((1,), (1,)), ((0,), (0,))),
        ("batch_matrix_vector", (2, m, k), (2, k), ((2,), (1,)), ((0,), (0,))),
        ("batch_matrix_column", (2, m, k), (2, k, 1), ((2,), (1,)), ((0,), (0,))),
        ("all_batch", (2, 8), (2, 8), ((), ()), ((0, 1), (0, 1))),
        ("batch_row", (2, 1, k), (2, k, n), ((2,), (1,)), ((0,), (0,))),
        ("small", (3, 5), (5, 7), ((1,), (0,)), ((), ())),
        ("one_column", (m, k), (k, 1), ((1,), (0,)), ((), ())),
    ):
        for dtype in (F32, BF16):
            yield dot(f"dot_{name}_{name_of(dtype)}", shape(x, dtype), shape(y, dtype), contract, batch, preferred=F32)
    for dtype, preferred in (
        (I8, I32),
        (BF16, BF16),
        (BF16, None),
        (F16, F32),
        (I32, I32),
        (E5, F32),
        (I8, F32),
        (F16, F16),
    ):
        label = "none" if preferred is None else name_of(preferred)
        yield dot(
            f"dot_row_{name_of(dtype)}_{label}",
            shape((m, k), dtype),
            shape((1, k), dtype),
            ((1,), (1,)),
            preferred=preferred,
        )
        yield dot(
            f"dot_one_row_{name_of(dtype)}_{label}",
            shape((1, k), dtype),
            shape((1, k), dtype),
            ((1,), (1,)),
            preferred=preferred,
        )
    p = lax.Precision
    for precision in (
        p.DEFAULT,
        p.HIGH,
        p.HIGHEST,
        (p.DEFAULT, p.HIGHEST),
        (p.HIGHEST, p.HIGHEST),
        "bfloat16",
        "tensorfloat32",
        lax.DotAlgorithmPreset.F32_F32_F32,
        lax.DotAlgorithmPreset.BF16_BF16_F32_X3,
    ):
        name = (
            str(precision)
            .replace(" ", "")
            .replace("Precision.", "")
            .replace("(", "")
            .replace(")", "")
            .replace(",", "_")
            .replace(".", "_")
        )
        for dtype in (F32, BF16):
            yield dot(
                f"dot_precision_{name}_{name_of(dtype)}".lower(),
                shape((m, k), dtype),
                shape((k, n), dtype),
                ((1,), (0,)),
                precision=precision,
                preferred=F32,
            )


def shapes():
    random = np.random.default_rng(7)
    for dims, to in (
        ((8, 128), (1024,)),
        ((8, 128), (8, 1, 128)),
        ((1024,), (8, 128)),
        ((8, 128), (16, 64)),
        ((1, 1), (1,)),
        ((4, 8, 128), (32, 128)),
        ((8, 128), (128, 8)),
        ((3, 5), (15,)),
    ):
        for dtype in (F32, BF16, I8, BOOL):
            if random.random() < 0.5:
                yield of_values(
                    f"reshape_{len(dims)}_{len(to)}_{to[0]}_{name_of(dtype)}",
                    lambda x, to=to: x.reshape(to),
                    shape(dims, dtype),
                )
    for rank in (1, 2, 3, 4):
        for permutation in itertools.permutations(range(rank)):
            dims = (2, 4, 8, 128)[-rank:]
            for dtype in (F32, BF16, I8):
                if rank < 3 or random.random() < (0.5 if rank == 3 else 0.12):
                    yield of_values(
                        f"transpose_{''.join(map(str, permutation))}_{name_of(dtype)}",
                        lambda x, p=permutation: lax.transpose(x, p),
                        shape(dims, dtype),
                    )
    for dtype in (F32, BF16, I32, I8, BOOL, U8):

        def to_scalar(x, o):
            o[0] = lax.squeeze(x[...], (0, 1)).astype(F32)

        yield call(
            f"squeeze_to_scalar_{name_of(dtype)}",
            to_scalar,
            [shape((1, 1), dtype)],
            shape((1,)),
            out_specs=pl.BlockSpec(memory_space=SMEM),
        )

        def reshaped(x, o):
            o[0] = x[...].reshape(()).astype(F32)

        yield call(
            f"reshape_to_scalar_{name_of(dtype)}",
            reshaped,
            [shape((1, 1), dtype)],
            shape((1,)),
            out_specs=pl.BlockSpec(memory_space=SMEM),
        )

        def spread(x, o):
            o[...] = jnp.broadcast_to(x[0], o.shape)

        yield call(
            f"broadcast_scalar_{name_of(dtype)}",
            spread,
            [shape((1,), dtype)],
            shape((8, 128), dtype),
            in_specs=[pl.BlockSpec(memory_space=SMEM)],
        )
        yield of_values(
            f"broadcast_row_{name_of(dtype)}", lambda x: jnp.broadcast_to(x, (8, 128)), shape((1, 128), dtype)
        )
        yield of_values(
            f"broadcast_axis_{name_of(dtype)}", lambda x: lax.broadcast_in_dim(x, (8, 128), (0,)), shape((8,), dtype)
        )
        yield of_values(f"expand_{name_of(dtype)}", lambda x: x[:, None, :], shape((8, 128), dtype))


def joins():
    for dtype in (F32, BF16, I8, BOOL):
        for dims, axis in (((8, 128), 0), ((8, 128), 1), ((128,), 0), ((2, 8, 128), 0), ((2, 8, 128), 2), ((5, 7), 1)):
            yield of_values(
                f"concatenate_{len(dims)}_{axis}_{dims[0]}_{name_of(dtype)}",
                lambda x, axis=axis: lax.concatenate([x, x], axis),
                shape(dims, dtype),
            )
        yield of_values(f"stack_{name_of(dtype)}", lambda x: jnp.stack([x, x]), shape((8, 128), dtype))
        yield of_values(f"tile_{name_of(dtype)}", lambda x: jnp.tile(x, (2, 1)), shape((8, 128), dtype))
        yield of_values(f"split_{name_of(dtype)}", lambda x: lax.split(x, (64, 64), 1)[1], shape((8, 128), dtype))
    yield of_values("concatenate_one", lambda x: lax.concatenate([x], 0), shape((8, 128)))
    yield of_values("concatenate_three", lambda x: lax.concatenate([x, x, x], 1), shape((8, 128)))
    yield of_values("unstack", lambda x: jnp.unstack(x)[1], shape((2, 8, 128)))
    yield of_values("jnp_repeat", lambda x: jnp.repeat(x, 2, 0), shape((8, 128)))
    for name, config in (
        ("high", ((0, 8, 0), (0, 128, 0))),
        ("low", ((8, 0, 0), (0, 0, 0))),
        ("interior", ((0, 0, 1), (0, 0, 0))),
        ("nothing", ((0, 0, 0),) * 2),
        ("negative", ((0, -4, 0), (0, 0, 0))),
    ):
        for dtype in (F32, BF16, I32, I8, BOOL):
            yield of_values(
                f"pad_{name}_{name_of(dtype)}",
                lambda x, c=config: lax.pad(x, np.zeros((), x.dtype), c),
                shape((8, 128), dtype),
            )
    yield of_values("pad_computed", lambda x: lax.pad(x, x[0, 0], ((0, 8, 0), (0, 0, 0))), shape((8, 128)))


def slices():
    for name, f in (
        ("rows", lambda x: lax.slice(x, (2, 0), (6, 128))),
        ("columns", lambda x: lax.slice(x, (0, 3), (8, 100))),
        ("strided_rows", lambda x: lax.slice(x, (0, 0), (8, 128), (2, 1))),
        ("strided_columns", lambda x: lax.slice(x, (0, 0), (8, 128), (1, 2))),
        ("unit_strides", lambda x: lax.slice(x, (0, 0), (8, 64), (1, 1))),
        ("dynamic", lambda x: lax.dynamic_slice(x, (2, 0), (4, 128))),
        ("update", lambda x: lax.dynamic_update_slice(x, x[:2], (1, 0))),
        ("one", lambda x: x[3:4]),
        ("row", lambda x: x[3]),
        ("reversed", lambda x: lax.rev(x, (0,))),
        ("sorted", lambda x: lax.sort(x, dimension=1)),
        ("top_k", lambda x: lax.top_k(x, 2)[0]),
        ("at_set", lambda x: x.at[2].set(0)),
        ("at_add", lambda x: x.at[2].add(1)),
        ("negative", lambda x: x[::-1]),
    ):
        for dtype in (F32, BF16, I8):
            yield of_values(f"slice_{name}_{name_of(dtype)}", f, shape((8, 128), dtype))
    for name, f in (("element", lambda x: x[2, 3].astype(F32)), ("last", lambda x: x[-1, -1].astype(F32))):
        for dtype in (F32, BF16, I32):

            def body(x, o, f=f):
                o[0] = f(x[...])

            yield call(
                f"slice_{name}_{name_of(dtype)}",
                body,
                [shape((8, 128), dtype)],
                shape((1,)),
                out_specs=pl.BlockSpec(memory_space=SMEM),
            )
    for dtype in (I32, F32, BF16, I8, I16, U32, U8, F16):
        for dims, axis in (((8, 128), 0), ((8, 128), 1), ((128,), 0), ((2, 8, 128), 0), ((2, 8, 128), 2)):

            def rows(o, dims=dims, axis=axis, dtype=dtype):
                o[...] = lax.broadcasted_iota(dtype, dims, axis)

            yield call(f"iota_{name_of(dtype)}_{len(dims)}_{axis}", rows, [], shape(dims, dtype))


def gathers():
    for dtype, index, mode in itertools.product(
        (F32, BF16, I8, I32), (I32, I8, U32), ("fill", "clip", "promise_in_bounds")
    ):
        if dtype == F32 or index == I32:
            for dims, axis in (((8, 128), 0), ((8, 128), 1)):
                yield of_values(
                    f"take_{name_of(dtype)}_{name_of(index)}_{mode}_{axis}",
                    lambda x, i, axis=axis, mode=mode: jnp.take_along_axis(x, i, axis, mode=mode),
                    shape(dims, dtype),
                    shape(dims, index),
                )
    for dims, axis in (
        ((4, 8, 128), 0),
        ((4, 8, 128), 1),
        ((4, 8, 128), 2),
        ((128,), 0),
        ((2, 2, 8, 128), 1),
        ((2, 2, 8, 128), 3),
    ):
        yield of_values(
            f"take_rank_{len(dims)}_{axis}",
            lambda x, i, axis=axis: jnp.take_along_axis(x, i, axis, mode="promise_in_bounds"),
            shape(dims),
            shape(dims, I32),
        )
    yield of_values("take_rows", lambda x, i: jnp.take(x, i, axis=0), shape((8, 128)), shape((8,), I32))
    yield of_values(
        "take_longer",
        lambda x, i: jnp.take_along_axis(x, i, 1, mode="promise_in_bounds"),
        shape((8, 128)),
        shape((8, 256), I32),
    )
    yield of_values("scatter", lambda x, i: x.at[i].set(0.0), shape((8, 128)), shape((4,), I32))
    for size, shift in ((128, 1), (128, 0), (128, 127), (256, 200), (100, 3)):
        for dtype in (F32, BF16, I8, BOOL):
            yield of_values(
                f"roll_{size}_{shift}_{name_of(dtype)}",
                lambda x, shift=shift: pltpu.roll(x, shift, 1),
                shape((8, size), dtype),
            )
    for dims, axis in (((8, 128), 0), ((2, 8, 128), 0), ((2, 8, 128), 2), ((128,), 0)):
        yield of_values(f"roll_rank_{len(dims)}_{axis}", lambda x, axis=axis: pltpu.roll(x, 1, axis), shape(dims))
        yield of_values(f"jnp_roll_rank_{len(dims)}_{axis}", lambda x, axis=axis: jnp.roll(x, 1, axis), shape(dims))
    for stride, stride_axis in ((1, 0), (2, 0), (0, 0), (1, 1)):
        yield of_values(
            f"roll_stride_{stride}_{stride_axis}",
            lambda x, s=stride, a=stride_axis: pltpu.roll(x, 3, 1, stride=s, stride_axis=a),
            shape((8, 128)),
        )

    def rolled(x, n, o):
        o[...] = pltpu.roll(x[...], n[0], 1)

    yield call(
        "roll_computed",
        rolled,
        [shape((8, 128)), shape((1,), I32)],
        shape((8, 128)),
        in_specs=[pl.BlockSpec(memory_space=s) for s in (VMEM, SMEM)],
    )


def packs():
    for count, dtype, packed in (
        (2, F32, BF16),
        (4, I32, I8),
        (2, I32, I16),
        (2, F32, I16),
        (8, I32, I4),
        (2, U32, U16),
        (4, F32, E5),
        (4, F32, I8),
    ):
        yield of_values(
            f"pack_{name_of(dtype)}_{name_of(packed)}",
            lambda *xs, p=packed: pltpu.pack_elementwise(xs, packed_dtype=p),
            *[shape((8, 128), dtype)] * count,
        )
    for dtype, packed, unpacked in (
        (U32, BF16, F32),
        (I32, I8, I32),
        (U32, I16, I32),
        (U32, I4, I32),
        (F32, BF16, F32),
        (U32, U8, U32),
    ):
        for index in (0, 1):
            yield of_values(
                f"unpack_{name_of(dtype)}_{name_of(packed)}_{name_of(unpacked)}_{index}",
                lambda x, i=index, p=packed, u=unpacked: pltpu.unpack_elementwise(
                    x, index=i, packed_dtype=p, unpacked_dtype=u
                ),
                shape((8, 128), dtype),
            )
    for dtype, target in ((F32, BF16), (F32, E4), (F32, E5)):
        yield of_values(
            f"stochastic_round_{name_of(dtype)}_{name_of(target)}",
            lambda x, b, t=target: pltpu.stochastic_round(x, b, target_dtype=t),
            shape((8, 128), dtype),
            shape((8, 128), U32),
        )


def value_cases():
    for family in (elementwise, casts, reductions, contractions, shapes, joins, slices, gathers, packs):
        yield from family()
