"""Kernels that are called with tensors of another library: results are that library's, memory is shared, and what a GPU
would refuse or read wrongly is an error. With tensor_double.py, and with PyTorch where it is installed.
"""

import importlib
import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
from palladion.jax import tensors

LIBRARIES = [name for name in ("tensor_double", "torch") if importlib.util.find_spec(name)]


@pytest.fixture(params=LIBRARIES)
def lib(request):
    return importlib.import_module(request.param)


def of_shape(dtype=jnp.int32):
    return jax.ShapeDtypeStruct([128], dtype)


def add_kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


add = pl.pallas_call(add_kernel, out_shape=of_shape())


def _increment(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


increment_in_place = pl.pallas_call(_increment, out_shape=of_shape(), input_output_aliases={0: 0})


def _through_shared_memory(x_ref, o_ref, smem, loaded):
    plgpu.copy_gmem_to_smem(x_ref, smem, loaded)
    plgpu.barrier_wait(loaded)
    o_ref[...] = smem[...] * 2


def numbers(lib, dtype="int32", values=range(128)):
    return lib.tensor(list(values), dtype=getattr(lib, dtype))


def test_the_example_of_jaxs_page(lib):
    x, y = numbers(lib), numbers(lib, values=np.arange(128) ** 2)
    with palladion.emulate("triton/h100", seeds=4) as session:
        out = plgpu.as_torch_kernel(add)(x, y)
    assert type(out) is type(x) and out.dtype == x.dtype
    assert out.tolist() == (np.arange(128) + np.arange(128) ** 2).tolist()
    assert session.report.verdict == "proved"


def test_a_kernel_of_mosaic_gpu(lib):
    kernel = plgpu.kernel(
        _through_shared_memory,
        out_type=of_shape(jnp.float32),
        scratch_types=[plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()],
    )
    with palladion.emulate("h100", seeds=4) as session:
        out = plgpu.as_torch_kernel(kernel)(numbers(lib, "float32"))
    assert out.tolist() == (2.0 * np.arange(128)).tolist() and session.report.verdict == "proved"


def test_what_the_kernel_writes_into_is_the_argument(lib):
    x = numbers(lib)
    with palladion.emulate("triton/h100"):
        out = plgpu.as_torch_kernel(jax.jit(increment_in_place))(x)
    assert out.data_ptr() == x.data_ptr() and x.tolist() == list(range(1, 129))


def test_truth_values_travel_as_bytes(lib):
    flip = pl.pallas_call(lambda x, o: o.__setitem__(..., ~x[...]), out_shape=of_shape(jnp.bool_))
    with palladion.emulate("triton/h100"):
        out = plgpu.as_torch_kernel(flip)(lib.tensor([True, False] * 64, dtype=lib.bool))
    assert out.tolist() == [False, True] * 64


def test_no_copy_of_what_is_aligned(lib):
    x = numbers(lib)
    assert x.data_ptr() % 64 == 0 and tensors.to_jax(x).unsafe_buffer_pointer() == x.data_ptr()


def test_run_and_check(lib):
    x = numbers(lib)
    out = palladion.run(add, x, x)
    assert type(out) is type(x) and out.tolist() == list(range(0, 256, 2))
    report = palladion.check(add, x, x, reference=lambda a, b: a + b, seeds=4)
    assert report.verdict == "proved" and report.difference is None and isinstance(report.results, jax.Array)


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda a: increment_in_place(a) * 2, "one kernel call and nothing else; found mul"),
        (lambda a: increment_in_place(increment_in_place(a)), "one kernel call; found 2"),
        (lambda a: a, "one kernel call; found 0"),
    ],
)
def test_what_jax_refuses_on_a_gpu(lib, function, said):
    with palladion.emulate("triton/h100"), pytest.raises(ValueError, match=said):
        plgpu.as_torch_kernel(function)(numbers(lib))


def test_strides(lib):
    spread = tensor_with_strides(lib)
    with (
        palladion.emulate("triton/h100"),
        pytest.raises(ValueError, match=r"strides \[2\].*pass tensor.contiguous\(\)"),
    ):
        plgpu.as_torch_kernel(increment_in_place)(spread)


def tensor_with_strides(lib):
    if lib.__name__ == "torch":
        return numbers(lib, values=range(256))[::2]
    return lib.Tensor(np.arange(256, dtype=np.int32)[::2])


def test_another_device():
    import tensor_double

    there = tensor_double.Tensor(np.zeros(128, np.int32), device=(2, 0))
    with pytest.raises(ValueError, match=r"on device cuda:0: Palladion emulates on the CPU; pass tensor.cpu\(\)"):
        palladion.run(increment_in_place, there)


def test_outside_of_emulate_it_is_jaxs(lib):
    with palladion.emulate("triton/h100"):
        pass
    with pytest.raises((ValueError, RuntimeError), match="Only interpret mode|import torch failed"):
        plgpu.as_torch_kernel(add)(numbers(lib), numbers(lib))
