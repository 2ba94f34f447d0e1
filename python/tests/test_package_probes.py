"""What published kernel packages ask at trace time, asked here in their own way, with no package installed:
`palladion.target`, `emulate`.

Each function is a question of a package as that package asks it; where it stands is named. tokamax is 0.0.12,
tpu-inference 0.32.0.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import mesh_utils, pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.extend import backend

import palladion

GPUS, TPUS = ("h100", "h200", "b200"), ("v4", "v5e", "v5p", "v6e", "v7x")


# tokamax


def has_triton_support(device=None):
    """tokamax/_src/gpu_utils.py, has_triton_support; has_mosaic_gpu_support differs in the number."""
    device = backend.get_default_device() if device is None else device
    if device.platform != "gpu":
        return False
    if not hasattr(device, "compute_capability"):
        return True
    return float(device.compute_capability) >= 8.0


def cc_between(lower, upper):
    """tokamax/_src/gpu_utils.py, is_sm90, is_sm100."""
    device = backend.get_default_device()
    return device.platform == "gpu" and lower <= float(getattr(device, "compute_capability", None)) < upper


def mosaic_tpu_supported_on(device):
    """supported_on of tokamax's PallasMosaicTpu operations."""
    return device.platform == "tpu" and pltpu.get_tpu_info().generation >= 5


def ragged_dot_capability(device):
    """tokamax/_src/ops/ragged_dot/pallas_mosaic_gpu_common.py, line 471."""
    if device.platform != "gpu":
        raise ValueError(f"Unsupported device platform: {device}")
    return int(float(getattr(device, "compute_capability", 0)) * 10)


def devices_of(x):
    """tokamax/_src/ops/op.py, infer_devices: of the arguments, where they are arrays and no tracers."""
    try:
        return x.devices()
    except jax.errors.ConcretizationTypeError:
        return {backend.get_default_device()}


def canonical_precision():
    """tokamax/_src/precision.py, line 122."""
    if jax.default_backend() != "gpu":
        return "no gpu"
    capability = getattr(jax.devices()[0], "compute_capability", None)
    return "old" if capability is None or float(capability) < 8.0 else "tf32"


def adaptive_sublanes():
    """tokamax/_src/mosaic_tpu.py, line 40."""
    return 16 if pltpu.get_tpu_info().generation >= 7 else 8


def mosaic_of_default_device():
    """tokamax/_src/ops/attention/api.py, line 171."""
    return "mosaic_gpu" if "NVIDIA" in backend.get_default_device().device_kind else "mosaic_tpu"


# tpu-inference


def device_name():
    """tpu_inference/utils.py, get_device_name."""
    return jax.devices()[0].device_kind


def hbm_limits(devices):
    """tpu_inference/utils.py, _local_memory_stats, and platforms/tpu_platform.py, line 295."""
    return [(stats["bytes_in_use"], stats["bytes_limit"]) for stats in (d.memory_stats() for d in devices)]


def in_a_ring(devices):
    """tpu_inference/runner/tpu_runner.py, line 934, and utils.py, line 506."""
    if not all(hasattr(d, "coords") and hasattr(d, "core_on_chip") for d in devices):
        raise ValueError("the devices report no coords/core_on_chip")
    zip(*(d.coords for d in devices))
    return [
        f"({d.coords[0]},{d.coords[1]},{d.coords[2]})c{d.core_on_chip}"
        for d in sorted(devices, key=lambda d: (d.coords[::-1], d.core_on_chip))
    ]


# Others


def has_backend(name):
    """The question of scripts that pick an implementation: jax.devices raises where there is no such backend."""
    try:
        return len(jax.devices(name)) > 0 and len(jax.local_devices(backend=name)) == jax.local_device_count(name)
    except RuntimeError:
        return False


def ways_of_asking_for_the_platform():
    from jax import default_backend  # as modules do that import the function

    x = jax.device_put(np.zeros(2))
    return {
        jax.devices()[0].platform,
        jax.local_devices()[0].platform,
        jax.default_backend(),
        default_backend(),
        backend.get_backend().platform,
        backend.get_default_device().platform,
        jax.devices()[0].client.platform,
        next(iter(x.devices())).platform,
        next(iter(x.sharding.device_set)).platform,
        getattr(jax.devices()[0], "platform"),  # noqa: B009
        *(d.platform for d in jax.devices()),
        *map(lambda d: d.platform, jax.devices()),
    }


def under(chip):
    return [functools.partial(palladion.target, chip), functools.partial(palladion.emulate, chip)]


@pytest.mark.parametrize("chip", GPUS)
def test_gpus(chip):
    blackwell = chip == "b200"
    for answering in under(chip):
        with answering():
            assert has_triton_support() and has_triton_support(jax.devices()[0]) and canonical_precision() == "tf32"
            assert (cc_between(9.0, 10.0), cc_between(10.0, 11.0)) == (not blackwell, blackwell)
            assert ragged_dot_capability(*devices_of(jnp.zeros(2))) == (100 if blackwell else 90)
            assert not mosaic_tpu_supported_on(jax.devices()[0]) and mosaic_of_default_device() == "mosaic_gpu"
            assert ways_of_asking_for_the_platform() == {"gpu"}
            assert (
                has_backend("gpu")
                and has_backend("cuda")
                and has_backend("cpu")
                and not has_backend("tpu")
                and not has_backend("rocm")
            )
            assert (
                "cuda" in backend.get_backend().platform_version
                and "rocm" not in backend.get_backend().platform_version
            )
            assert hbm_limits(jax.devices())[0][1] > 80e9 and not hasattr(jax.devices()[0], "coords")
            assert jax.devices()[0].device_vendor == "NVIDIA Corporation"


@pytest.mark.parametrize("chip", TPUS)
def test_tpus(chip):
    for answering in under(chip):
        with answering():
            assert (
                not has_triton_support()
                and canonical_precision() == "no gpu"
                and mosaic_of_default_device() == "mosaic_tpu"
            )
            assert mosaic_tpu_supported_on(*devices_of(jnp.zeros(2))) == (chip != "v4")
            assert adaptive_sublanes() == (16 if chip == "v7x" else 8)
            assert device_name().startswith("TPU") and hbm_limits(jax.devices())[0][1] > 17e9
            assert in_a_ring(jax.devices()) == [f"({d.id},0,0)c0" for d in jax.devices()]
            assert ways_of_asking_for_the_platform() == {"tpu"}
            assert has_backend("tpu") and has_backend("cpu") and not has_backend("gpu") and not has_backend("cuda")


def test_without_a_target_nothing_is_answered():
    assert ways_of_asking_for_the_platform() == {"cpu"} and not has_backend("gpu") and not has_backend("tpu")
    with pytest.raises(ValueError, match="no coords"):
        in_a_ring(jax.devices())


@pytest.mark.parametrize("chip", [*GPUS, *TPUS])
def test_inside_meshes(chip):
    """The abstract device, and what is made of it, inside shard_map and under set_mesh; and the shape of a mesh is what
    it was.
    """
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("a",))
    shape = mesh_utils.create_device_mesh((1, 1)).shape
    seen = []

    def f(x):
        device = jax.sharding.get_abstract_mesh().abstract_device
        seen.append((device.device_kind, device.num_cores, jax.default_backend()))
        if chip in TPUS:
            seen.append((device_name(), pltpu.get_tpu_info().num_cores, "tpu"))
        return x + 1

    for answering in under(chip):
        with answering():
            kind = jax.devices()[0].device_kind
            sharded = jax.shard_map(f, mesh=mesh, in_specs=jax.P(), out_specs=jax.P())
            assert float(jax.jit(sharded)(jnp.float32(1))) == 2
            with jax.set_mesh(mesh):
                assert float(jax.jit(sharded)(jnp.float32(1))) == 2
            assert mesh_utils.create_device_mesh((1, 1)).shape == shape
    assert len(set(seen)) == 1 and seen[0][0] == kind and seen[0][1] >= 1, seen


def test_a_function_that_asks_is_traced_for_each_chip_in_a_mesh_too():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("a",))
    cores = jax.jit(lambda x: x + jax.sharding.get_abstract_mesh().abstract_device.num_cores)
    with jax.set_mesh(mesh):
        for chip, expected in (("h100", 132), ("b200", 148), ("v5p", 2), ("h100", 132)):
            with palladion.target(chip):
                assert float(cores(jnp.float32(0))) == expected


def test_a_kernel_behind_a_device_check_runs():
    """As tokamax's layer_norm does it: refuse by the device, else run the kernel; the program computes on the CPU."""

    def double(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def op(x):
        if not all(map(has_triton_support, devices_of(x))):
            raise NotImplementedError("Triton not supported on this platform.")
        return pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    x = jnp.arange(8.0)
    with pytest.raises(NotImplementedError):
        op(x)
    for f in (op, jax.jit(op)):
        with palladion.emulate("triton/h100") as session:
            y = f(x)
        assert y.tolist() == (2 * x).tolist() and session.report.calls[0].target == "triton/h100"
        assert {d.platform for d in y.devices()} == {"cpu"}
    assert palladion.check(op, x, target="triton/h100").ok
