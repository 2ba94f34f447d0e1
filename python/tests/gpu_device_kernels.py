"""The kernels of the JAX wheel for several GPUs, unchanged, on 2, 4 and 8 devices. Run as device_programs.py is, by
test_devices.py.

Numbers are NumPy's, in f64 and rounded once. Without argument: numbers after one schedule; seeds: what a check finds.
"""

import functools
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import (
    all_gather_mgpu,
    collective_matmul_mgpu,
    hopper_matmul_mgpu,
    reduce_scatter_mgpu,
)
from jax.sharding import Mesh, PartitionSpec as P

import palladion
from device_programs import UNCHECKED, codes

H100 = "h100"


def mapped(function, n, specs, out):
    mesh = Mesh(np.array(jax.devices()[:n]), ("x",))
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=out, **UNCHECKED))


def gathered(n, shape, dimension, dtype, **options):
    """(function, its argument, what comes out of it, over all devices along the first dimension)."""
    x = np.random.default_rng(n).integers(-9, 9, (n * shape[0], *shape[1:])).astype(dtype)
    parts = np.split(x, n)
    call = functools.partial(all_gather_mgpu.all_gather, axis_name="x", gather_dimension=dimension, **options)
    return mapped(call, n, P("x"), P("x")), x, np.concatenate([np.concatenate(parts, dimension)] * n)


REDUCTIONS = {
    "add": np.sum,
    "min": np.min,
    "max": np.max,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


def scattered(n, shape, dimension, dtype, reduction="add", **options):
    x = np.random.default_rng(n).integers(-9, 9, (n * shape[0], *shape[1:])).astype(dtype)
    whole = REDUCTIONS[reduction](x.reshape(n, *shape).astype(np.int64), axis=0).astype(dtype)
    call = functools.partial(
        reduce_scatter_mgpu.reduce_scatter, axis_name="x", scatter_dimension=dimension, reduction=reduction, **options
    )
    expected = [whole] * n if dimension is None else np.split(whole, n, dimension)
    return mapped(call, n, P("x"), P("x")), x, np.concatenate(expected)


def all_devices_are(n):
    """The collective matmul wants all devices of the process in its mesh. Before the first array of the process."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={n}"


def multiplied(n, m, k, columns, dtype=jnp.float16, **options):
    generator = np.random.default_rng(n)
    a, b = (generator.integers(-4, 5, shape).astype(dtype) for shape in ((n * m, k), (k, n * columns)))
    config = hopper_matmul_mgpu.TuningConfig(
        **{"tile_m": 64, "tile_n": 64, "tile_k": 64, "max_concurrent_steps": 2, **options}
    )
    call = functools.partial(collective_matmul_mgpu.all_gather_lhs_matmul, axis_name="x", config=config, dtype=dtype)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(dtype)
    return mapped(call, n, (P("x", None), P(None, "x")), P(None, "x")), (a, b), expected


def checked(problem, seeds=64, target=H100):
    function, args, expected = problem
    report = palladion.check(function, *(args if isinstance(args, tuple) else (args,)), target=target, seeds=seeds)
    np.testing.assert_array_equal(np.asarray(report.results), expected)
    return report


def test_all_gather():
    for n, shape, dimension, dtype, options in (
        (2, (4, 128), 0, np.float32, {}),
        (4, (4, 512), 1, np.float16, {"num_blocks": 2}),
        (8, (1, 1024), 0, np.int32, {"num_blocks": 3}),
        (2, (2, 2, 128), 1, np.int32, {"num_blocks": 4}),
    ):
        report = checked(gathered(n, shape, dimension, dtype, **{"num_blocks": 1, **options}))
        assert report.findings == [], report


def test_reduce_scatter():
    for n, shape, dimension, dtype, reduction in (
        (2, (2, 128), 0, np.float32, "add"),
        (4, (4, 512), 1, np.float16, "max"),
        (8, (8, 128), 0, np.int32, "add"),
        (4, (2, 256), None, np.int32, "xor"),
        (2, (1, 256), None, np.int32, "min"),
    ):
        report = checked(scattered(n, shape, dimension, dtype, reduction, num_blocks=2))
        assert report.findings == [], report


def multiplies(n):
    all_devices_are(n)
    function, args, expected = multiplied(n, 64, 128, 128)
    np.testing.assert_array_equal(np.asarray(palladion.run(function, *args, target=H100)), expected)


def test_collective_matmul_on_four_devices():
    multiplies(4)


def test_collective_matmul_on_eight_devices():
    multiplies(8)


def test_collective_matmul_of_two_devices():
    all_devices_are(2)
    report = checked(multiplied(2, 64, 128, 128), 64)
    assert report.findings == [], report


def test_on_blackwell():
    """The first two are quiet there too; the third multiplies with Hopper's wgmma, which a B200 does not have."""
    for problem in (
        gathered(2, (4, 128), 0, np.float32, num_blocks=1),
        scattered(2, (2, 128), 0, np.float32, num_blocks=2),
    ):
        report = checked(problem, 16, "b200")
        assert report.findings == [], report


def test_collective_matmul_on_blackwell():
    all_devices_are(2)
    function, args, _ = multiplied(2, 64, 128, 128)
    report = palladion.check(function, *args, target="b200", seeds=1)
    assert codes(report) == {"ILLEGAL"} and all(
        "[machine.wgmma]" in finding.message for finding in report.findings
    ), report


def timed(problem, target=H100):
    function, args, _ = problem
    (kernel,) = palladion.time(function, *(args if isinstance(args, tuple) else (args,)), target=target).kernels
    assert kernel.uncertainty is None, kernel
    return kernel


def test_times_of_collectives_have_their_devices():
    part = 256 * 1024 * 4
    for n, target in ((2, H100), (4, H100), (4, "b200")):
        kernel = timed(gathered(n, (256, 1024), 0, np.float32, num_blocks=16), target)
        assert [(one["sent_bytes"], one["received_bytes"]) for one in kernel.data["devices"]] == [
            (part, n * part)
        ] * n, kernel
        assert kernel.seconds > kernel.roofline["bytes of one link, one direction"] > 0, kernel
        kernel = timed(scattered(n, (256, 1024), 0, np.float32, num_blocks=16), target)
        assert [(one["sent_bytes"], one["received_bytes"]) for one in kernel.data["devices"]] == [
            (part, part // n)
        ] * n, kernel


def times_of_product(n):
    """Each device passes on all of the left operand but one part, and waits for it once a round."""
    all_devices_are(n)
    kernel = timed(multiplied(n, 64, 128, 128))
    rounds = n - 1
    for device in kernel.data["devices"]:
        assert device["sent_bytes"] == device["received_bytes"] == rounds * 64 * 128 * 2, device
        assert device["stalls"][0]["reason"] == "a semaphore", device
    assert kernel.seconds > rounds * 1.662e-6, kernel


def test_time_of_the_collective_matmul_on_two_devices():
    times_of_product(2)


def test_time_of_the_collective_matmul_on_four_devices():
    times_of_product(4)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(name, "is well")
