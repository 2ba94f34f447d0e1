"""Runs kernels of every backend on a JAX from which all that is deprecated is gone, as it may be in a later release.

A program, started by test_jax_deprecated.py: the names and modules of palladion/jax/jax_deprecated.py are removed
before anything else of Palladion is loaded. Prints `NAME ok` for each kernel that gave the right numbers without a
finding, and for each text that came back as Python.
"""

import importlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.pallas import core as pallas_core, primitives as pl_primitives
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

from palladion.jax import jax_deprecated

X = np.arange(1024, dtype=np.float32).reshape(8, 128) + 1
LIKE_X = jax.ShapeDtypeStruct(X.shape, X.dtype)


def remove_names():
    for row in jax_deprecated.NAMES:
        short, _, attribute = row.name.partition(".")
        try:
            module = importlib.import_module(jax_deprecated.MODULES[short])
        except ImportError:
            continue
        vars(module).pop("__getattr__", None)  # what answers with a warning
        vars(module).pop(attribute, None)
        assert not hasattr(module, attribute), row.name
    for name in jax_deprecated.GOING_MODULES:
        sys.modules[name] = None  # an import of it fails
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            vars(sys.modules[package]).pop(last, None)


def runs(name, target, call, expected):
    with palladion.emulate(target, seeds=2) as session:
        found = np.asarray(call(jnp.asarray(X)))
    np.testing.assert_array_equal(found, expected)
    assert not session.report.findings, session.report
    print(name, "ok")


def comes_back(name, call, *said):
    """The kernel's text, written as Python for this JAX, is traced again without a warning."""
    source = palladion.to_jax_source(palladion.export(call, jnp.asarray(X)))
    for text in said:
        assert text in source, source
    assert "device_id_type" not in source, source
    made = {}
    exec(compile(source, "written.py", "exec"), made)
    assert palladion.export(made["kernel"], jnp.asarray(X))
    print(name, "ok")


def doubles(x, o):
    o[...] = x[...] * 2


def inverse(x, o):
    o[...] = pl_primitives.reciprocal(x[...], approx=False)


def signals(x, o, semaphore):
    pl.semaphore_signal(semaphore, 1)
    pl.semaphore_wait(semaphore, 1)
    o[...] = x[...] * 2


def copies(x, o, semaphore):
    pltpu.async_copy(x, o, semaphore).wait()


def warps(x, o):
    @pallas_core.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
        @pl.when(jax.lax.axis_index("warp") == 0)
        def _():
            pass

    o[...] = x[...] * 2


def main():
    call = pl.pallas_call(doubles, out_shape=LIKE_X)
    for target in ("v5e", "v7x", "triton/h100", "mosaic_gpu/h100", "b200"):
        runs(f"doubles on {target}", target, call, X * 2)
    for target in ("h100", "b200"):
        runs(f"plgpu.kernel on {target}", target, plgpu.kernel(doubles, out_type=LIKE_X), X * 2)
    inverted = pl.pallas_call(inverse, out_shape=LIKE_X)
    copied = pl.pallas_call(copies, out_shape=LIKE_X, scratch_shapes=[pltpu.SemaphoreType.DMA])
    in_warps = plgpu.kernel(warps, out_type=LIKE_X)
    runs("reciprocal", "v5e", inverted, np.float32(1) / X)
    runs("copy", "v5e", copied, X)
    runs("warps", "h100", in_warps, X * 2)
    comes_back("reciprocal's source", inverted, jax_deprecated.spelled("pl.reciprocal"))
    comes_back("doubles' source", call)
    comes_back("warps' source", in_warps, "pallas_core.core_map")
    signalled = pl.pallas_call(signals, out_shape=LIKE_X, scratch_shapes=[pltpu.SemaphoreType.REGULAR])
    comes_back("signal's source", signalled, "semaphore_signal")


if __name__ == "__main__":
    remove_names()
    import palladion

    main()
