"""The examples of JAX's page on Mosaic GPU kernels that need a Blackwell GPU, each written anew as a whole kernel with inputs and what
NumPy says of them, and what the page warns of as kernels that are wrong (see pages.py). Not here: exchanges between devices.
"""

import functools

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, Kernel, found, kernel, load, ty
from tensor_memory import undefined

SPEC = "gpu-order.md#examples"
TARGET = "mosaic_gpu/b200"
TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
WIDE = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))  # of f32
OPERAND, ACC = ty(128, 64, dtype=F16), ty(128, 64, dtype=F32)
SIDE, LEFT = ty(64, 64, dtype=F16), plgpu.SMEM((128, 64), F16, transforms=TILED)
RIGHT = plgpu.SMEM((64, 64), F16, transforms=TILED)
ORDERED = plgpu.Barrier(orders_tensor_core=True)
ALONE = {"threads": None}
X16 = np.arange(128 * 64).astype(np.float16).reshape(128, 64).astype(np.float64)
Y16 = np.full((64, 64), 0.5)
XY = {"x": "iota", "y": "full(0.5)"}


def stored(body, outs):
    """A kernel that loads x through shared memory into registers, and lets `body` do the rest."""
    def fetched(x_ref, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem, full)
        plgpu.barrier_wait(full)
        return load(smem, layout=plgpu.Layout.TCGEN05)

    def one(x_ref, o_ref, smem, full, tmem):
        body(fetched(x_ref, smem, full), tmem, o_ref)

    def two(x_ref, o_ref, p_ref, smem, full, tmem):
        body(fetched(x_ref, smem, full), tmem, o_ref, p_ref)

    scratch = [plgpu.SMEM((128, 64), F32, transforms=WIDE), plgpu.Barrier(), plgpu.TMEM((128, 64), F32)]
    made = plgpu.kernel(one if outs == 1 else two, out_type=(ACC,) * outs, scratch_types=scratch)
    return Kernel(made, (ACC,), ("x", "o", "p")[: 1 + outs])


def tmem_round_trip(committed=True):
    """A store to tensor memory, and a load of it."""
    def body(x, tmem, o_ref):
        plgpu.async_store_tmem(tmem, x)  #@ A
        if committed:
            plgpu.commit_tmem()
        o_ref[...] = plgpu.async_load_tmem(tmem)  #@ async_load_tmem:B swap:out
        if not committed:
            plgpu.commit_tmem()

    return stored(body, 1)


def tmem_reuse(waits=True):
    """Tensor memory that was loaded is stored into again."""
    def body(x, tmem, o_ref, p_ref):
        plgpu.async_store_tmem(tmem, x)
        plgpu.commit_tmem()
        o_ref[...] = plgpu.async_load_tmem(tmem)  #@ async_load_tmem:A
        if waits:
            plgpu.wait_load_tmem()
        plgpu.async_store_tmem(tmem, x + 1)  #@ B
        plgpu.commit_tmem()
        p_ref[...] = plgpu.async_load_tmem(tmem)

    return stored(body, 2)


def loaded(multiply, **scratch):
    """A kernel that loads the operands and lets `multiply` put the result into `acc`; what it returns is called after the result is loaded."""
    def body(x_ref, y_ref, o_ref, a, b, full, acc, **more):
        plgpu.copy_gmem_to_smem(x_ref, a, full)
        plgpu.copy_gmem_to_smem(y_ref, b, full)
        plgpu.barrier_wait(full)
        late = multiply(acc, a, b, **more)
        o_ref[...] = plgpu.async_load_tmem(acc).astype(F32)  #@ async_load_tmem:L swap:out
        if late is not None:  # what had to be before
            late()

    scratch = {"a": LEFT, "b": RIGHT, "full": plgpu.Barrier(num_arrivals=2), "acc": plgpu.TMEM((128, 64), F32), **scratch}
    return kernel(body, OPERAND, SIDE, out=ACC, scratch=scratch, **ALONE)


def now_or_late(step, now):
    """Does it, or gives it back to be done after the load."""
    return step() if now else step


def awaited_product(waits=True):
    def multiply(acc, a, b, done):
        plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)  #@ M
        return now_or_late(lambda: plgpu.barrier_wait(done), waits)

    return loaded(multiply, done=ORDERED)


def committed_products(commits=True):
    """Two products into one accumulator; the second does not wait for the first."""
    def multiply(acc, a, b, done):
        plgpu.tcgen05_mma(acc, a, b, accumulate=False)
        plgpu.tcgen05_mma(acc, a, b)  #@ M
        def await_them():
            plgpu.tcgen05_commit_arrive(done)
            plgpu.barrier_wait(done)
        return now_or_late(await_them, commits)

    return loaded(multiply, done=ORDERED)


def left_in_tmem(committed=True):
    """The left operand from packed tensor memory, into an accumulator of f16 that is not packed."""
    def multiply(acc, a, b, done, left):
        plgpu.async_store_tmem(left, load(a, layout=plgpu.Layout.TCGEN05))  #@ S
        if committed:
            plgpu.commit_tmem()
        plgpu.tcgen05_mma(acc, left, b, done, accumulate=False)  #@ M
        plgpu.barrier_wait(done)
        if not committed:
            plgpu.commit_tmem()

    return loaded(multiply, done=ORDERED, left=plgpu.TMEM((128, 64), F16, packed=True), acc=plgpu.TMEM((128, 64), F16, packed=False))


def handed_over(ordered=True):
    """Another thread loads what a product made: its barrier orders tensor memory, or does not."""
    def body(x_ref, y_ref, o_ref, a, b, full, acc, done, told):
        thread = lax.axis_index("wg")

        @pl.when(thread == 0)
        def _():
            plgpu.copy_gmem_to_smem(x_ref, a, full)
            plgpu.copy_gmem_to_smem(y_ref, b, full)
            plgpu.barrier_wait(full)
            plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)  #@ M
            plgpu.barrier_wait(done)
            plgpu.barrier_arrive(told)

        @pl.when(thread == 1)
        def _():
            plgpu.barrier_wait(told)
            o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:L

    scratch = {"a": LEFT, "b": RIGHT, "full": plgpu.Barrier(num_arrivals=2), "acc": plgpu.TMEM((128, 64), F32), "done": ORDERED,
               "told": plgpu.Barrier(orders_tensor_core=ordered)}
    return kernel(body, OPERAND, SIDE, out=ACC, scratch=scratch)


def gathered():
    """Rows by an array of indices, which lies in the layout that the copy wants."""
    def body(x_ref, i_ref, o_ref, smem, rows, full):
        plgpu.copy_gmem_to_smem(i_ref, rows, full)
        plgpu.barrier_wait(full)
        plgpu.copy_gmem_to_smem(x_ref.at[load(rows, layout=plgpu.Layout.TMA_INDICES)], smem, full)
        plgpu.barrier_wait(full)
        o_ref[...] = smem[...]

    scratch = {"smem": plgpu.SMEM((64, 64), F16, transforms=TILED), "rows": plgpu.SMEM((64,), jnp.uint32), "full": plgpu.Barrier()}
    return kernel(body, ty(256, 64, dtype=F16), ty(64, dtype=jnp.uint32), out=ty(64, 64, dtype=F16), scratch=scratch, **ALONE)


def single(kind, made, prose, inputs, **outputs):
    return Case(f"page_{kind}", spec=SPEC, prose=prose, kernel=made, inputs=inputs, outputs=outputs, target=TARGET)


def racy(kind, made, prose, inputs, *findings):
    return Case(f"page_{kind}_racy", spec=SPEC, prose=prose, kernel=made, inputs=inputs, findings=findings, target=TARGET)


def cases():
    f32 = functools.partial(np.asarray, dtype=np.float32)
    iota, product = np.arange(128 * 64, dtype=np.float32).reshape(128, 64), X16 @ Y16
    yield single("tmem_round_trip", tmem_round_trip(), "A store to tensor memory is committed before it is loaded.", {"x": "iota"}, o=iota)
    yield racy("tmem_round_trip", tmem_round_trip(False), "A load does not wait for the store.", {"x": "iota"}, found("RACE_RW", "A", "B"), *undefined("B"))
    yield single("tmem_reuse", tmem_reuse(), "A load is awaited before its place is stored into.", {"x": "iota"}, o=iota, p=iota + 1)
    yield racy("tmem_reuse", tmem_reuse(False), "A store overwrites what a load may still read.", {"x": "iota"}, found("RACE_RW", "A", "B"))
    yield single("tcgen05_mma", awaited_product(), "A product is awaited at its barrier.", XY, o=f32(product))
    yield racy("tcgen05_mma", awaited_product(False), "The accumulator is loaded before the product is complete.", XY, found("RACE_RW", "M", "L"), *undefined("L"))
    yield single("tcgen05_commit", committed_products(), "Two products, awaited together.", XY, o=f32(2 * product))
    yield racy("tcgen05_commit", committed_products(False), "The accumulator is loaded before the products are complete.", XY, found("RACE_RW", "M", "L"), *undefined("L"))
    yield single("tcgen05_left_in_tmem", left_in_tmem(), "The left operand lies in tensor memory.", {"x": "full(1)", "y": "full(0.5)"}, o=np.full((128, 64), 32, np.float32))
    yield racy("tcgen05_left_in_tmem", left_in_tmem(False), "The left operand is multiplied before its store is committed.", XY, found("RACE_RW", "S", "M"), *undefined("M"))
    yield single("tcgen05_hand_over", handed_over(), "A barrier with orders_tensor_core gives an accumulator to another thread.", XY, o=f32(product))
    yield racy("tcgen05_hand_over", handed_over(False), "A barrier without it orders nothing of tensor memory.", XY, found("BAR_TC_ORDER", "M", "L"))
    rows = (np.arange(64) * 3 + 1).astype(np.uint32)
    yield single("gather", gathered(), "A copy that gathers rows.", {"x": "iota", "i": "[" + ", ".join(map(str, rows)) + "]"},
                 o=np.arange(256 * 64).astype(np.float16).reshape(256, 64)[rows])
