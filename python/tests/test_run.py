"""Running and recording through the library: values, element types that XLA does not pass, loops, errors, files."""

import os

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl

import palladion
from palladion import _abi, _library
from palladion.api import running


def double_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] + x_ref[...]


def double(x):
    return pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def test_results_come_back_through_the_code_around_the_kernels():
    result = palladion.run(lambda x: double(double(x) + 1) * 3, X)
    np.testing.assert_array_equal(result, (X * 2 + 1) * 6)


@pytest.mark.parametrize(
    "name",
    [
        "int2",
        "uint2",
        "int4",
        "uint4",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "float16",
        "bfloat16",
        "float32",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3b11fnuz",
        "float8_e8m0fnu",
        "float4_e2m1fn",
    ],
)
def test_every_type_reaches_the_kernel_and_comes_back(name):
    def copy_kernel(x_ref, y_ref):
        y_ref[...] = x_ref[...]

    dtype = getattr(ml_dtypes, name, None) or getattr(np, name)
    x = jnp.asarray(np.asarray([0, 1, 1, 0, 1]).astype(dtype))
    result = palladion.run(
        lambda v: pl.pallas_call(copy_kernel, out_shape=jax.ShapeDtypeStruct(v.shape, v.dtype))(v), x
    )
    assert result.dtype == x.dtype
    assert np.asarray(result).tobytes() == np.asarray(x).tobytes()


def test_prng_keys_are_their_words():
    def kernel(key_ref, bits_ref):
        bits_ref[...] = jax.random.bits(key_ref[...], (4, 8))

    key = jax.random.key(7)
    result = palladion.run(lambda k: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4, 8), jnp.uint32))(k), key)
    np.testing.assert_array_equal(result, jax.random.bits(key, (4, 8)))


def test_kernels_in_loops_branches_and_under_vmap():
    def program(x):
        final, stacked = lax.scan(lambda c, _: (double(c), double(c)[0]), x, None, length=3)
        chosen = lax.cond(x[0, 0] < 0, double, lambda v: v, x)
        return final, stacked, chosen, jax.vmap(double)(jnp.stack([x, x + 1]))

    final, stacked, chosen, mapped = palladion.run(program, X)
    np.testing.assert_array_equal(final, X * 8)
    np.testing.assert_array_equal(stacked, np.stack([X[0] * 2, X[0] * 4, X[0] * 8]))
    np.testing.assert_array_equal(chosen, X * 2)
    np.testing.assert_array_equal(mapped, np.stack([X * 2, X * 2 + 2]))


def test_record_writes_each_call(tmp_path):
    out = tmp_path / "calls"
    result = palladion.record(lambda x: double(double(x) + 1), X, out=out)
    assert sorted(os.listdir(out)) == ["00_double_kernel", "01_double_kernel"]
    first, second = out / "00_double_kernel", out / "01_double_kernel"
    assert sorted(os.listdir(first)) == ["in_x.npy", "kernel.pkir", "out_y.npy"]
    np.testing.assert_array_equal(np.load(first / "in_x.npy"), X)
    np.testing.assert_array_equal(np.load(first / "out_y.npy"), X * 2)
    np.testing.assert_array_equal(np.load(second / "in_x.npy"), X * 2 + 1)
    np.testing.assert_array_equal(np.load(second / "out_y.npy"), result)
    assert _library.kernel_names((second / "kernel.pkir").read_text()) == ["double_kernel"]
    with pytest.raises(FileExistsError, match="is not empty"):
        palladion.record(double, X, out=out)


def test_record_leaves_nothing_half_written(tmp_path, monkeypatch):
    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running.np, "save", full_disk)
    with pytest.raises(OSError, match="No space left"):
        palladion.record(double, X, out=tmp_path / "calls")
    assert os.listdir(tmp_path / "calls") == []


def test_unsupported_operations_are_named_with_their_line():
    from jax.experimental.pallas import mosaic_gpu as plgpu

    def kernel(x_ref, y_ref):
        plgpu.inline_mgpu()(lambda context: context.of_the_compiler)()
        y_ref[...] = x_ref[...]

    with pytest.raises(palladion.PalladionError, match="inline_mgpu") as caught:
        palladion.run(lambda x: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x), X)
    assert caught.value.code == _library.UNSUPPORTED
    assert "test_run.py" in str(caught.value)


def test_a_defect_is_a_warning_with_its_line_and_the_results_are_there():
    def kernel(x_ref, y_ref):
        y_ref[...] = x_ref[pl.ds(pl.program_id(0) + 2, 2)]

    def f(x):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((2,), x.dtype), grid=(1,))(x)

    with pytest.warns(palladion.PalladionWarning, match=r"^error\[OOB\]: .*x_ref.*\n  at .*test_run\.py:\d+"):
        result = palladion.run(f, np.float32([1, 2, 3]))
    np.testing.assert_array_equal(result, np.float32([3, np.nan]))


def test_the_library_is_said_to_be_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PALLADION_LIBRARY", str(tmp_path / "absent.so"))
    with pytest.raises(palladion.PalladionError, match=r"absent\.so.*not a file"):
        _abi.find_library()
