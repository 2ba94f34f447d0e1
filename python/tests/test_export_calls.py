"""Grids, blocks, operands and parameters of a kernel call, and every way by which a kernel is reached."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src.interpreters import mlir
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from test_export import F32, X, call, exported, lines_of


def copy_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...]


def operand(lines, name) -> str:
    return next(line for line in lines if re.match(rf"\w+ %{name}:", line))


def test_blocks_and_grid():
    lines = exported(
        copy_kernel,
        X,
        grid=(4, 2),
        in_specs=[pl.BlockSpec((2, 64), lambda i, j: (i, j))],
        out_specs=pl.BlockSpec((2, 64), lambda i, j: (3 - i, j)),
    )
    assert operand(lines, "x").endswith("block (2,64) map (%i: i32[], %j: i32[]) { return %i, %j; };")
    at = lines.index(operand(lines, "y"))
    assert lines[at : at + 4] == [
        'out %y: f32[8,128] as "outputs" space default block (2,64) map (%i: i32[], %j: i32[]) {',
        "%0 = sub(3:i32, %i) : i32[];",
        "return %0, %j;",
        "};",
    ]
    assert "grid [4,2];" in lines


def test_squeezed_and_element_blocks():
    def kernel(x_ref, y_ref):
        y_ref[...] = x_ref[...] + jnp.zeros_like(y_ref)

    lines = exported(
        kernel,
        X,
        grid=(8,),
        in_specs=[pl.BlockSpec((None, pl.Element(128, (2, 3))), lambda i: (i, i * 0))],
        out_specs=pl.BlockSpec((pl.Squeezed(), 128), lambda i: (i, 0)),
    )
    assert "block (sq,el(128,2,3)) map (%i: i32[])" in operand(lines, "x")
    assert "block (sq,128) map (%i: i32[]) { return %i, 0:" in operand(lines, "y")


def test_rank_zero_and_whole_array_blocks():
    def kernel(s_ref, x_ref, y_ref):
        y_ref[...] = x_ref[...] * s_ref[...]

    f = call(
        kernel,
        ((8, 128), F32),
        grid=(2,),
        in_specs=[pl.BlockSpec((), lambda i: ()), pl.BlockSpec()],
        out_specs=pl.BlockSpec((4, 128), lambda i: (i, 0)),
    )
    lines = lines_of(palladion.export(f, np.float32(3), X[:4]))
    assert operand(lines, "s") == 'in %s: f32[] as "args[0]" space default;'  # the whole array
    assert operand(lines, "x") == 'in %x: f32[4,128] as "args[1]" space default;'


def test_prefetch_dynamic_grid_alias_and_scratch():
    def kernel(table_ref, x_ref, init_ref, y_ref, acc_ref):
        acc_ref[...] = x_ref[...] + init_ref[...]
        y_ref[...] = acc_ref[...] * table_ref[0].astype(F32)

    def f(n, table, x):
        spec = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(n,),
            in_specs=[pl.BlockSpec((2, 128), lambda i, t: (t[i], 0)), pl.BlockSpec((2, 128), lambda i, t: (i, 0))],
            out_specs=pl.BlockSpec((2, 128), lambda i, t: (i, 0)),
            scratch_shapes=[pltpu.VMEM((2, 128), F32)],
        )
        return pl.pallas_call(
            kernel,
            grid_spec=spec,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            input_output_aliases={2: 0},
            name="gathered",
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",), vmem_limit_bytes=1 << 20),
            cost_estimate=pl.CostEstimate(flops=5, transcendentals=0, bytes_accessed=7),
            metadata={"team": "a b"},
        )(table, x, jnp.zeros_like(x))

    lines = lines_of(palladion.export(f, jnp.int32(4), np.zeros(4, np.int32), X))
    assert "kernel @gathered {" in lines and "backend mosaic_tpu;" in lines
    assert 'params {dimension_semantics=["arbitrary"], vmem_limit_bytes=1048576};' in lines
    assert any(line.startswith("cost {flops=5, ") for line in lines) and 'meta {team="a b"};' in lines
    assert "bound %bound0: i32[];" in lines and "grid [%bound0];" in lines
    assert operand(lines, "table") == "prefetch %table: i32[4] space smem;"
    at = lines.index(operand(lines, "x"))
    assert lines[at].endswith("block (2,128) map (%i: i32[], %t_ref: ref<smem,i32[4]>) {")
    assert lines[at + 1] == "%0 = get(%t_ref.at[%i]) : i32[];"
    end = next(line for line in lines[lines.index(operand(lines, "y")) :] if line.endswith(";"))
    assert end.endswith("alias %init;")
    assert operand(lines, "acc") == 'scratch %acc: ref<vmem,f32[2,128]> as "acc_ref";'


def test_buffered_blocks_and_memory_spaces():
    lines = exported(
        copy_kernel,
        X,
        in_specs=[pl.BlockSpec((8, 128), lambda: (0, 0), memory_space=pltpu.VMEM, pipeline_mode=pl.Buffered(3))],
        out_specs=pl.BlockSpec(memory_space=pltpu.SMEM),
    )
    assert operand(lines, "x").endswith("buffered {buffer_count=3};")
    assert " space vmem " in operand(lines, "x") and operand(lines, "y").endswith(" space smem;")


def test_named_grid():
    def kernel(x_ref, y_ref):
        y_ref[...] = x_ref[...] + lax.axis_index("rows").astype(F32)

    lines = exported(
        kernel,
        X,
        grid=(("rows", 4),),
        in_specs=[pl.BlockSpec((2, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((2, 128), lambda i: (i, 0)),
    )
    assert 'grid [4] names ["rows"];' in lines
    assert '%1 = axis_index{axis="rows"}() : i32[];' in lines


copy = call(copy_kernel, ((8, 128), F32))


def kernels(f, *args) -> list:
    return re.findall(r"^kernel @(\S+) \{$", palladion.export(f, *args), re.M)


def test_vmap_adds_a_squeezed_dimension():
    lines = lines_of(palladion.export(jax.vmap(copy), np.zeros((3, 8, 128), np.float32)))
    assert "grid [3] vmapped [0];" in lines
    assert "block (sq,8,128) map (%i: i32[]) { return %i, 0:" in operand(lines, "x")


def test_reached_through_jit_scan_cond_and_grad():
    assert kernels(jax.jit(copy), X) == ["copy_kernel"]
    assert kernels(lambda x: lax.scan(lambda c, _: (copy(c), None), x, None, length=3)[0], X) == ["copy_kernel"]
    assert len(kernels(lambda p, x: lax.cond(p, lambda v: copy(v), lambda v: copy(v) + 1, x), True, X)) == 2

    @jax.custom_vjp
    def f(x):
        return copy(x)

    def backward_kernel(g_ref, d_ref):
        d_ref[...] = g_ref[...] * 2

    f.defvjp(lambda x: (copy(x), None), lambda _, g: (call(backward_kernel, ((8, 128), F32))(g),))
    assert kernels(jax.value_and_grad(lambda x: f(x).sum()), X) == ["copy_kernel", "backward_kernel"]


def test_a_kernel_called_twice_is_written_twice():
    assert kernels(lambda x: copy(copy(x)), X) == ["copy_kernel", "copy_kernel.1"]
    shared = jax.jit(lambda x: copy(x))
    assert kernels(lambda x: shared(shared(x)), X) == ["copy_kernel"]  # JAX lowers the shared function once


def test_interpreted_kernels_are_kernels_too():
    assert kernels(call(copy_kernel, ((8, 128), F32), interpret=True), X) == ["copy_kernel"]


def test_export_again_and_nothing_is_left_behind():
    uncacheable = set(mlir._uncacheable_primitives)
    assert palladion.export(copy, X) == palladion.export(copy, X)
    assert mlir._uncacheable_primitives == uncacheable
    with pytest.raises(ValueError, match="interpret mode"):
        jax.jit(copy)(X)  # JAX's own rule is back


def test_shapes_are_enough():
    assert kernels(copy, jax.ShapeDtypeStruct((8, 128), F32)) == ["copy_kernel"]


def test_errors_name_the_line():
    def kernel(x_ref, y_ref):
        y_ref[...] = lax.fft(x_ref[...].astype(jnp.complex64), "fft", (128,)).real

    with pytest.raises(palladion.ExportError, match=r"test_export_calls\.py:\d+: .*complex64"):
        palladion.export(call(kernel, ((8, 128), F32)), X)

    def other(x_ref, y_ref):
        y_ref[...] = lax.linalg.cholesky(x_ref[...])

    line = other.__code__.co_firstlineno + 1
    with pytest.raises(
        palladion.ExportError, match=rf"test_export_calls\.py:{line}: the primitive 'cholesky' is not known"
    ):
        palladion.export(call(other, ((8, 8), F32)), X[:, :8])

    def accuracy(x_ref, y_ref):
        y_ref[...] = lax.exp(x_ref[...], accuracy=lax.AccuracyMode.HIGHEST)

    with pytest.raises(palladion.ExportError, match=r"test_export_calls\.py:\d+: exp: its parameter accuracy"):
        palladion.export(call(accuracy, ((8, 128), F32)), X)


def test_a_function_without_kernels_is_an_error():
    with pytest.raises(palladion.ExportError, match="no kernel was found"):
        palladion.export(lambda x: x + 1, X)


def test_an_unknown_parameter_is_an_error():
    from palladion.jax.exporter.parameters import check_parameters
    from palladion.jax.exporter.value_ops import VALUE_OPS

    with pytest.raises(palladion.ExportError, match="its parameter 'colour' .here 3. is not known"):
        check_parameters({"colour": 3}, VALUE_OPS["add"])
