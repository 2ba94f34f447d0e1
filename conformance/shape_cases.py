"""Cases of operations that move elements: shapes, slices, gathers, sorting. Results are JAX's or NumPy's."""

import jax
import numpy as np
from case_tables import INF, NAN, lax, one_instruction

F32, I32 = "f32", "i32"


def counted(*shape, dtype=I32, start=0):
    """An operand that counts up, so that every element shows where it went."""
    size = int(np.prod(shape))
    return (dtype, tuple(range(start, start + size)), shape)


def shape_case(name, prose, operands, oracle, attrs="", suffix=""):
    return one_instruction("shape", name, prose, operands, oracle, attrs=attrs, suffix=suffix)


def shapes():
    yield shape_case(
        "broadcast_in_dim",
        "Dimension 0 of x becomes dimension 1; dimension 1, of size 1, is repeated. Oracle: JAX.",
        [counted(3, 1)],
        lax("broadcast_in_dim", shape=(2, 3, 2), broadcast_dimensions=(1, 2)),
        attrs="{shape=[2,3,2], dims=[1,2]}",
    )
    yield shape_case(
        "broadcast_in_dim",
        "One element fills an array; its bits are kept, here a NaN's payload.",
        [(F32, ("0x7fc12345",), ())],
        lambda x: np.broadcast_to(x, (2, 2)),
        attrs="{shape=[2,2], dims=[]}",
        suffix="_scalar",
    )
    yield shape_case(
        "broadcast_to",
        "Dimensions are matched from the last, as NumPy does.",
        [counted(2, 1)],
        lambda x: np.broadcast_to(x, (2, 2, 3)),
        attrs="{shape=[2,2,3]}",
    )
    yield shape_case("reshape", "Row-major order is kept.", [counted(2, 3)], lambda x: x.reshape(3, 2), "{shape=[3,2]}")
    yield shape_case("squeeze", "Dimensions of size 1 go.", [counted(1, 2, 1)], lambda x: x[0, :, 0], "{dims=[0,2]}")
    yield shape_case(
        "expand_dims", "Places count in the result.", [counted(2)], lambda x: x[None, :, None], "{dims=[0,2]}"
    )
    yield shape_case(
        "transpose",
        "Dimension i of the result is dimension perm[i] of x.",
        [counted(2, 3, 2)],
        lambda x: np.transpose(x, (2, 0, 1)),
        attrs="{perm=[2,0,1]}",
    )
    yield shape_case("rev", "Reversed along dimension 1.", [counted(2, 3)], lambda x: x[:, ::-1], "{dims=[1]}")
    yield shape_case(
        "tile", "Copies stand next to each other.", [counted(2, 2)], lambda x: np.tile(x, (1, 2)), "{reps=[1,2]}"
    )
    iota = lambda dtype, shape, dim: lambda: np.asarray(jax.lax.broadcasted_iota(dtype, shape, dim))
    yield shape_case("iota", "Counts along dimension 1.", [], iota(np.float32, (2, 3), 1), "{dim=1}")
    yield shape_case(
        "iota",
        "i8 wraps: element 128 is -128. Oracle: JAX.",
        [],
        iota(np.int8, (130, 1), 0),
        "{dim=0}",
        suffix="_wraps",
    )


def joins():
    yield shape_case(
        "concatenate",
        "One after another along dimension 1.",
        [counted(2, 2), counted(2, 1, start=10)],
        lambda x, y: np.concatenate([x, y], 1),
        attrs="{dim=1}",
    )
    yield shape_case(
        "stack",
        "A new last dimension.",
        [counted(3), counted(3, start=10)],
        lambda x, y: np.stack([x, y], 1),
        attrs="{axis=1}",
    )
    yield shape_case(
        "unstack", "One result for each column.", [counted(3, 2)], lambda x: (x[:, 0], x[:, 1]), "{axis=1}"
    )
    yield shape_case(
        "split",
        "Parts of 2, 1 and 1 columns.",
        [counted(2, 4)],
        lambda x: (x[:, :2], x[:, 2:3], x[:, 3:]),
        attrs="{sizes=[2,1,1], axis=1}",
    )


def slices():
    yield shape_case(
        "slice",
        "Rows 1 and 3, columns 0 and 1.",
        [counted(5, 3)],
        lambda x: x[1:5:2, 0:2],
        attrs="{start=[1,0], limit=[5,2], strides=[2,1]}",
    )
    bind = lambda name, **params: lambda *xs: np.asarray(getattr(jax.lax, name).bind(*xs, **params))
    yield shape_case(
        "dynamic_slice",
        "Starts are clamped so that the box lies inside: 9 becomes 2, -1 becomes 0. Oracle: JAX.",
        [counted(4, 3), (I32, (9,), ()), (I32, (-1,), ())],
        bind("dynamic_slice_p", slice_sizes=(2, 2)),
        attrs="{sizes=[2,2]}",
    )
    yield shape_case(
        "dynamic_update_slice",
        "The update is moved inside as by dynamic_slice. Oracle: JAX.",
        [counted(3, 3), counted(2, 1, start=10), (I32, (2,), ()), (I32, (1,), ())],
        bind("dynamic_update_slice_p"),
    )
    yield shape_case(
        "pad",
        "Two rows of padding between neighbours; one column before, none of the last. Oracle: JAX.",
        [counted(2, 3, start=1), (I32, (-7,), ())],
        lax("pad", padding_config=[(0, 1, 2), (1, -1, 0)]),
        attrs="{config=[[0,1,2],[1,-1,0]]}",
    )
    yield shape_case(
        "pad",
        "Negative padding takes places of the spread row: of x . y . z the first three go. Oracle: JAX.",
        [counted(2, 3, start=1), (I32, (-7,), ())],
        lax("pad", padding_config=[(0, 0, 0), (-3, 2, 1)]),
        attrs="{config=[[0,0,0],[-3,2,1]]}",
        suffix="_negative",
    )


def gathers():
    def case(mode, prose, fill=None, suffix=""):
        modes = {"clip": "clip", "fill": "fill", "promise": "promise_in_bounds"}
        numbers = jax.lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
        attrs = (
            "{offset_dims=[1], collapsed_slice_dims=[0], operand_batching_dims=[], start_indices_batching_dims=[], "
            f"start_index_map=[0], slice_sizes=[1,2], mode={mode}, fill_value={'none' if fill is None else fill}}}"
        )
        indices = (2, 0, 1) if mode == "promise" else (2, -1, 3)
        return shape_case(
            "gather",
            prose,
            [(F32, (1, 2, 3, 4, 5, 6), (3, 2)), (I32, indices, (3, 1))],
            lambda x, i: np.asarray(jax.lax.gather(x, i, numbers, (1, 2), mode=modes[mode], fill_value=fill)),
            attrs=attrs,
            suffix=suffix,
        )

    yield case("promise", "Whole rows by their numbers. Oracle: JAX.")
    yield case("clip", "Row numbers outside are clamped. Oracle: JAX.", suffix="_clip")
    yield case("fill", "Rows outside are NaN without a fill_value. Oracle: JAX.", suffix="_fill")
    yield case("fill", "Rows outside are the fill_value. Oracle: JAX.", fill=-1.5, suffix="_fill_value")
    numbers = jax.lax.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(1,),
        start_index_map=(1,),
        operand_batching_dims=(0,),
        start_indices_batching_dims=(0,),
    )
    yield shape_case(
        "gather",
        "Within each row by indices of its own, as take_along_axis lowers. Oracle: JAX.",
        [counted(2, 3), (I32, (2, 0, 1, 1), (2, 2, 1))],
        lambda x, i: np.asarray(jax.lax.gather(x, i, numbers, (1, 1), mode="clip")),
        attrs="{offset_dims=[], collapsed_slice_dims=[1], operand_batching_dims=[0], start_indices_batching_dims=[0], "
        "start_index_map=[1], slice_sizes=[1,1], mode=clip, fill_value=none}",
        suffix="_batching",
    )


SCATTERS = {
    "scatter": jax.lax.scatter,
    "scatter_add": jax.lax.scatter_add,
    "scatter_sub": jax.lax.scatter_sub,
    "scatter_mul": jax.lax.scatter_mul,
    "scatter_min": jax.lax.scatter_min,
    "scatter_max": jax.lax.scatter_max,
}


def scatter_case(name, prose, operands, numbers, mode, suffix=""):
    """`numbers`: update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims and, if any,
    the batching ones.
    """
    window, inserted, start_map, batching, indices_batching = (*numbers, (), ())[:5]
    dims = jax.lax.ScatterDimensionNumbers(
        update_window_dims=window,
        inserted_window_dims=inserted,
        scatter_dims_to_operand_dims=start_map,
        operand_batching_dims=batching,
        scatter_indices_batching_dims=indices_batching,
    )
    ints = lambda values: "[" + ",".join(map(str, values)) + "]"
    attrs = (
        f"{{update_window_dims={ints(window)}, inserted_window_dims={ints(inserted)}, "
        f"operand_batching_dims={ints(batching)}, scatter_indices_batching_dims={ints(indices_batching)}, "
        f"scatter_dims_to_operand_dims={ints(start_map)}, mode={mode}}}"
    )
    modes = {"clip": "clip", "drop": "fill", "promise": "promise_in_bounds"}
    oracle = lambda x, i, u: np.asarray(SCATTERS[name](x, i, u, dims, mode=modes[mode]))
    return shape_case(name, prose, operands, oracle, attrs=attrs, suffix=suffix)


def scatters():
    rows = ((1,), (0,), (0,))
    three_rows = [counted(3, 2, start=1), (I32, (2, 0, 2), (3, 1)), counted(3, 2, start=10)]
    outside = [counted(4, start=1), (I32, (-1, 3, 4, 2), (4, 1)), counted(4, start=10)]
    yield scatter_case(
        "scatter", "Whole rows; of two updates of row 2 the later stays. Oracle: JAX.", three_rows, rows, "drop"
    )
    yield scatter_case(
        "scatter",
        "Elements outside are left out, also below zero. Oracle: JAX.",
        outside,
        ((), (0,), (0,)),
        "drop",
        suffix="_drop",
    )
    yield scatter_case(
        "scatter",
        "Clamped, so that two updates meet in element 3: the later stays. Oracle: JAX.",
        outside,
        ((), (0,), (0,)),
        "clip",
        suffix="_clip",
    )
    yield scatter_case(
        "scatter",
        "A window of 2x2 that would stick out is left out whole; the indices name columns first. Oracle: JAX.",
        [counted(3, 4), (I32, (1, 0, 2, 2), (2, 2)), counted(2, 2, 2, start=100)],
        ((1, 2), (), (1, 0)),
        "drop",
        suffix="_window",
    )
    yield scatter_case(
        "scatter",
        "Within each row by indices of its own; the window's dimension stands before the points'. Oracle: JAX.",
        [counted(2, 3, 2), (I32, (2, 0, 1, 1), (2, 2, 1)), counted(2, 2, 2, start=100)],
        ((0,), (1,), (1,), (0,), (0,)),
        "promise",
        suffix="_batching",
    )
    yield scatter_case(
        "scatter_add",
        "1 + 2^24 rounds to 2^24 before 1 is added once more: f32, one update after another, in order. Oracle: JAX.",
        [(F32, (1, 0), (2,)), (I32, (0, 0, 1, 0), (4, 1)), (F32, (16777216, 1, 5, -16777216), (4,))],
        ((), (0,), (0,)),
        "drop",
    )
    yield scatter_case(
        "scatter_add",
        "i8 wraps; a column of each row is a strided window. Oracle: JAX.",
        [("i8", (100, 1, 2, 3, -100, 5), (3, 2)), (I32, (0, 0), (2, 1)), ("i8", (100, 0, -100, 1, 2, 3), (2, 3))],
        ((1,), (1,), (1,)),
        "clip",
        suffix="_column",
    )
    yield scatter_case("scatter_sub", "Rows, row 2 twice. Oracle: JAX.", three_rows, rows, "drop")
    yield scatter_case("scatter_mul", "Rows, row 2 twice. Oracle: JAX.", three_rows, rows, "drop")
    nans = [(F32, (1, NAN, 3, -0.0), (4,)), (I32, (0, 1, 2, 3, 2), (5, 1)), (F32, (NAN, 2, 2, 0.0, 5), (5,))]
    yield scatter_case("scatter_min", "NaN if either is; -0 < 0. Oracle: JAX.", nans, ((), (0,), (0,)), "drop")
    yield scatter_case("scatter_max", "NaN if either is; -0 < 0. Oracle: JAX.", nans, ((), (0,), (0,)), "drop")


def sorts():
    sort = lambda **params: lambda *xs: tuple(np.asarray(v) for v in jax.lax.sort(xs, **params))
    yield shape_case(
        "sort",
        "NaNs of either sign come last; zeros are equal and keep their order. Oracle: JAX.",
        [(F32, ("0xffc00000", 1.0, 0.0, NAN, -0.0, -INF, INF))],
        lambda x: sort(dimension=0)(x)[0],
        attrs="{dim=0, stable=true, num_keys=1}",
    )
    yield shape_case(
        "sort",
        "Columns sorted by two keys; the third operand goes along. Oracle: JAX.",
        [(I32, (2, 1, 1, 0, 1, 2), (3, 2)), (F32, (5, 4, 3, 2, 1, 0), (3, 2)), counted(3, 2)],
        sort(dimension=0, num_keys=2),
        attrs="{dim=0, stable=true, num_keys=2}",
        suffix="_two_keys",
    )


FAMILIES = (shapes, joins, slices, gathers, scatters, sorts)
