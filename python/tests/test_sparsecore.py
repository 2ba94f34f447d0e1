"""SparseCore is not modelled: what needs it is refused by name and line, and JAX refuses it on a TensorCore as well
(docs/reference/sparsecore.md).
"""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu, tpu_sc as plsc

import palladion
from palladion import _library
from palladion.jax.jax_devices import abstract_device

X, I = np.zeros((64, 128), np.float32), np.zeros((8,), np.int32)
ANYWHERE, VMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.VMEM)
LINES = {}  # of the copies below


@contextlib.contextmanager
def on(kind):
    """The device that JAX asks about while it traces and lowers."""
    device = abstract_device(kind, 1, "tpu")
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("device",), abstract_device=device)):
        yield


def here(offset=1):
    import inspect

    return inspect.currentframe().f_back.f_lineno + offset


def gather(x_ref, i_ref, o_ref, sem):
    LINES["gather"] = here()
    pltpu.async_copy(x_ref.at[i_ref], o_ref, sem).wait()


def scatter(x_ref, i_ref, o_ref, sem):
    LINES["scatter"] = here()
    pltpu.async_copy(o_ref, x_ref.at[i_ref], sem).wait()


def adding(x_ref, i_ref, o_ref, sem):
    copy = pltpu.make_async_copy(x_ref.at[pl.ds(0, 8)], o_ref, sem)
    LINES["adding"] = here()
    copy.start(add=True)
    copy.wait()


def indirect(x_ref, i_ref, o_ref, sem):
    def body(x_block, o_block):
        o_block[...] = x_block[...]

    LINES["indirect"] = here()
    pltpu.emit_pipeline(
        body,
        grid=(1,),
        in_specs=[pl.BlockSpec((pl.Indirect(8), 128), lambda k: (i_ref, 0))],
        out_specs=[pl.BlockSpec((8, 128), lambda k: (k, 0))],
    )(x_ref, o_ref)


def called(kernel):
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
        in_specs=[ANYWHERE, VMEM],
        out_specs=ANYWHERE if kernel is indirect else VMEM,
        scratch_shapes=[pltpu.SemaphoreType.DMA],
    )


@pytest.mark.parametrize(
    "kernel, said",
    [
        (gather, "a ref as an index needs SparseCore"),
        (scatter, "a ref as an index needs SparseCore"),
        (indirect, "a ref as an index needs SparseCore"),
        (adding, "add=True needs SparseCore"),
    ],
)
def test_copies_that_only_a_sparsecore_makes(kernel, said):
    f = called(kernel)
    with on("TPU v5e"), pytest.raises(Exception, match="variadic of 32-bit|add=True is not supported"):
        jax.jit(f).trace(X, I).lower(lowering_platforms=("tpu",))
    with pytest.raises(palladion.PalladionError) as error:
        palladion.check(f, X, I, target="v5e", seeds=1)
    assert error.value.code == 3 and said in str(error.value), error.value
    assert f"{__file__}:{LINES[kernel.__name__]}" in str(error.value), error.value


MESHES = {
    "plsc.ScalarSubcoreMesh": lambda: plsc.ScalarSubcoreMesh(axis_name="c", num_cores=2),
    "plsc.VectorSubcoreMesh": lambda: plsc.VectorSubcoreMesh(
        core_axis_name="c", subcore_axis_name="s", num_cores=2, num_subcores=16
    ),
}


@pytest.mark.parametrize("name", MESHES)
def test_meshes_of_subcores(name):
    with on("TPU7x"):  # JAX 0.12 traces under an abstract mesh, and compiles nothing
        f = pl.kernel(
            lambda x_ref, o_ref: pltpu.sync_copy(x_ref, o_ref),
            out_type=jax.ShapeDtypeStruct(X.shape, X.dtype),
            mesh=MESHES[name](),
        )
        text = palladion.export(f, X)
    with pytest.raises(palladion.PalladionError) as error:
        _library.Program(text, target="mosaic_tpu/v7x")
    assert error.value.code == 3 and name in str(error.value) and __file__ in str(error.value), error.value


def test_an_instruction_says_what_it_is():
    def kernel(x_ref, o_ref):
        LINES["barrier"] = here()
        plsc.subcore_barrier()
        pltpu.sync_copy(x_ref, o_ref)

    with on("TPU7x"):
        f = pl.kernel(kernel, out_type=jax.ShapeDtypeStruct(X.shape, X.dtype), mesh=MESHES["plsc.VectorSubcoreMesh"]())
        with pytest.raises(palladion.ExportError) as error:
            palladion.export(f, X)
    assert f"{__file__}:{LINES['barrier']}: barrier is not supported: SparseCore" in str(error.value), error.value
    assert "a barrier of a core's subcores" in str(error.value), error.value
