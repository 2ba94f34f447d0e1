"""A matrix product for Blackwell in seven steps, each a technique more: those of JAX's tutorial on Blackwell's matrix
products, written anew. `STEPS` has them; `matmul(step, config, left_out)` is the kernel, and `left_out` names one thing
that is missing in it, which makes it wrong (`MISTAKES`).

0 a pipeline of copies under the products, 1 a warp for copies and one for products, 2 an epilogue of tiles, 3 products
of two blocks, 4 blocks that stay and take several tiles, 5 a warpgroup of its own for the epilogue, 6 tiles in an order
that shares operands. Not here: sizes that tiles do not divide, types of less than 16 bits.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

F16, F32 = jnp.float16, jnp.float32
STEPS = ("basic", "warp specialised", "tiled epilogue", "collective", "persistent", "epilogue warpgroup", "grid tiling")
MISTAKES = {  # step -> what may be left out of it
    "basic": ("last wait", "commit_smem"),
    "warp specialised": ("wait for operands", "wait for a free slot", "commit_arrive"),
    "tiled epilogue": ("wait for a free tile",),
    "collective": ("wait for operands", "commit_arrive"),
    "persistent": ("accumulator is read",),
    "epilogue warpgroup": ("accumulator is read", "orders_tensor_core"),
    "grid tiling": ("wait_load_tmem",),
}
COPY_WARP, MMA_WARP = 0, 1
PRODUCTS, EPILOGUE = 0, 1  # warpgroups


@dataclasses.dataclass(frozen=True)
class Config:
    tile_m: int = 128  # of one block; a pair has twice as many rows, and twice the columns
    tile_n: int = 64
    tile_k: int = 64
    slots: int = 2
    epilogue_n: int = 32
    clusters: int = 1  # of the persistent steps

    def iterations(self, a, b, blocks=1):
        return a.shape[0] // (self.tile_m * blocks), b.shape[1] // (self.tile_n * blocks), a.shape[1] // self.tile_k


def tiled(columns, dtype=F16):
    swizzle = plgpu.find_swizzle(columns * jnp.dtype(dtype).itemsize * 8)
    return plgpu.TilingTransform((8, swizzle // jnp.dtype(dtype).itemsize)), plgpu.SwizzleTransform(swizzle)


def slots_of(config):
    """Shared memory for operands: `slots` tiles of each."""
    return {
        "a_smem": plgpu.SMEM((config.slots, config.tile_m, config.tile_k), F16, transforms=tiled(config.tile_k)),
        "b_smem": plgpu.SMEM((config.slots, config.tile_k, config.tile_n), F16, transforms=tiled(config.tile_n)),
        "loaded": plgpu.Barrier(num_arrivals=2, num_barriers=config.slots),
        "consumed": plgpu.Barrier(num_barriers=config.slots, orders_tensor_core=True),
    }


def tiles_out(config, count):
    columns = config.epilogue_n if count > 1 else config.tile_n
    return plgpu.SMEM((count, config.tile_m, columns), F16, transforms=tiled(columns))


def basic(config, left_out):
    """One thread: emit_pipeline copies tiles while the tensor core multiplies the ones before."""

    def call(a, b):
        m_iters, n_iters, k_iters = config.iterations(a, b)

        def kernel(a_gmem, b_gmem, o_gmem, acc, out_smem, consumed):
            m, n = lax.axis_index("m"), lax.axis_index("n")

            def multiply(indices, a_smem, b_smem):
                (k,) = indices
                plgpu.tcgen05_mma(acc, a_smem, b_smem, consumed.at[lax.rem(k, 2)], accumulate=k > 0)
                plgpu.barrier_wait(consumed.at[1 - lax.rem(k, 2)])

            plgpu.barrier_arrive(consumed.at[1])  # nothing is before the first product
            specs = [
                plgpu.BlockSpec(
                    (config.tile_m, config.tile_k), lambda k: (m, k), transforms=tiled(config.tile_k), delay_release=1
                ),
                plgpu.BlockSpec(
                    (config.tile_k, config.tile_n), lambda k: (k, n), transforms=tiled(config.tile_n), delay_release=1
                ),
            ]
            plgpu.emit_pipeline(multiply, in_specs=specs, grid=(k_iters,), max_concurrent_steps=max(config.slots, 2))(
                a_gmem, b_gmem
            )
            if left_out != "last wait":
                plgpu.barrier_wait(consumed.at[(k_iters - 1) % 2])
            out_smem[0] = plgpu.async_load_tmem(acc).astype(F16)
            if left_out != "commit_smem":
                plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(out_smem.at[0], tile_of(config, o_gmem, m, n))
            plgpu.wait_smem_to_gmem(0)

        return plgpu.kernel(
            kernel,
            out_type=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), F16),
            grid=(m_iters, n_iters),
            grid_names=("m", "n"),
            scratch_types={
                "acc": plgpu.TMEM((config.tile_m, config.tile_n), F32),
                "out_smem": tiles_out(config, 1),
                "consumed": plgpu.Barrier(num_barriers=2, orders_tensor_core=True),
            },
        )(a, b)

    return call


def tile_of(config, o_gmem, m, n, columns=None):
    columns = columns or config.tile_n
    return o_gmem.at[pl.ds(m * config.tile_m, config.tile_m), pl.ds(n * columns, columns)]


class Products:
    """What the two warps of a warpgroup do for one tile: copies into slots, and products of them into `acc`. `before`:
    the iterations over k of all tiles before it. `pair`: the axis of two blocks that work together.
    """

    def __init__(self, config, left_out, refs, k_iters, pair=None):
        self.config, self.left_out, self.k_iters, self.pair = config, left_out, k_iters, pair
        self.a_gmem, self.b_gmem, self.a_smem, self.b_smem, self.loaded, self.consumed = refs

    def copies(self, m, n, before):
        config, blocks = self.config, 2 if self.pair else 1
        parts = [
            {"leader_tracked": plgpu.CopyPartition.PARTITIONED(axis), "collective_axes": self.pair} if self.pair else {}
            for axis in (0, 1)
        ]
        rows, columns = (
            pl.ds(m * config.tile_m * blocks, config.tile_m * blocks),
            pl.ds(n * config.tile_n * blocks, config.tile_n * blocks),
        )

        def copy(k, _):
            slot, inner = lax.rem(before + k, config.slots), pl.ds(k * config.tile_k, config.tile_k)
            if self.left_out != "wait for a free slot":

                @pl.when(before + k >= config.slots)
                def _():
                    plgpu.barrier_wait(self.consumed.at[slot])

            plgpu.copy_gmem_to_smem(self.a_gmem.at[rows, inner], self.a_smem.at[slot], self.loaded.at[slot], **parts[0])
            plgpu.copy_gmem_to_smem(
                self.b_gmem.at[inner, columns], self.b_smem.at[slot], self.loaded.at[slot], **parts[1]
            )

        lax.fori_loop(0, self.k_iters, copy, None)

    def products(self, acc, done, before):
        def multiply(k, _):
            slot = lax.rem(before + k, self.config.slots)
            if self.left_out != "wait for operands":
                plgpu.barrier_wait(self.loaded.at[slot])
            plgpu.tcgen05_mma(
                acc,
                self.a_smem.at[slot],
                self.b_smem.at[slot],
                self.consumed.at[slot],
                accumulate=k > 0,
                collective_axis=self.pair,
            )

        lax.fori_loop(0, self.k_iters, multiply, None)
        if self.left_out == "commit_arrive":
            plgpu.barrier_arrive(done)
        else:
            plgpu.tcgen05_commit_arrive(done, collective_axis=self.pair)

    def by_warps(self, place, acc, done, before, free=None):
        """Both, by a warp each. `free()` waits until `acc` may be written."""
        leads = lax.axis_index(self.pair) == 0 if self.pair else True

        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            warp = lax.axis_index("warp")

            @pl.when(warp == COPY_WARP)
            def _():
                self.copies(*place, before)

            @pl.when(warp == MMA_WARP)
            def _():
                if free is not None:
                    free()

                @pl.when(leads)
                def _():
                    self.products(acc, done, before)


def store(config, left_out, acc, out_smem, o_tile, tiles):
    """From tensor memory through `out_smem` to `o_tile`, in so many tiles of columns."""
    columns = config.epilogue_n if tiles > 1 else acc.shape[1]
    for i in range(tiles):
        part = pl.ds(i * columns, columns)
        staged = out_smem.at[i % out_smem.shape[0]]
        staged[...] = plgpu.async_load_tmem(acc.at[:, part]).astype(F16)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(staged, o_tile.at[:, part])
        if left_out != "wait for a free tile":
            plgpu.wait_smem_to_gmem(out_smem.shape[0] - 1, wait_read_only=True)


def warp_specialised(config, left_out, tiles=1):
    """A warp copies and a warp multiplies; the whole warpgroup stores."""

    def call(a, b):
        m_iters, n_iters, k_iters = config.iterations(a, b)

        def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, consumed, acc, out_smem, done):
            m, n = lax.axis_index("m"), lax.axis_index("n")
            work = Products(config, left_out, (a_gmem, b_gmem, a_smem, b_smem, loaded, consumed), k_iters)
            work.by_warps((m, n), acc, done, 0)
            plgpu.barrier_wait(done)
            store(config, left_out, acc, out_smem, tile_of(config, o_gmem, m, n), tiles)
            plgpu.wait_smem_to_gmem(0)

        return plgpu.kernel(
            kernel,
            out_type=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), F16),
            grid=(m_iters, n_iters),
            grid_names=("m", "n"),
            scratch_types={
                **slots_of(config),
                "acc": plgpu.TMEM((config.tile_m, config.tile_n), F32),
                "out_smem": tiles_out(config, min(tiles, 2)),
                "done": plgpu.Barrier(orders_tensor_core=True),
            },
        )(a, b)

    return call


def tiled_epilogue(config, left_out):
    return warp_specialised(config, left_out, config.tile_n // config.epilogue_n)


def collective(config, left_out):
    """Two blocks: each copies half of either operand, the first multiplies for both, each stores its rows."""

    def call(a, b):
        m_iters, n_iters, k_iters = config.iterations(a, b, 2)
        columns = 2 * config.tile_n
        tiles = columns // config.epilogue_n

        def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, consumed, acc, out_smem, done):
            m, n, block = lax.axis_index("m"), lax.axis_index("n"), lax.axis_index("pair")
            work = Products(config, left_out, (a_gmem, b_gmem, a_smem, b_smem, loaded, consumed), k_iters, "pair")
            work.by_warps((m, n), acc, done, 0)
            plgpu.barrier_wait(done)
            store(config, left_out, acc, out_smem, tile_of(config, o_gmem, 2 * m + block, n, columns), tiles)
            plgpu.wait_smem_to_gmem(0)

        return plgpu.kernel(
            kernel,
            out_type=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), F16),
            grid=(m_iters, n_iters),
            grid_names=("m", "n"),
            cluster=(2,),
            cluster_names=("pair",),
            scratch_types={
                **slots_of(config),
                "acc": plgpu.TMEM((config.tile_m, columns), F32, collective=True),
                "out_smem": tiles_out(config, 2),
                "done": plgpu.Barrier(orders_tensor_core=True),
            },
        )(a, b)

    return call


def persistent(config, left_out):
    """Pairs of blocks that stay and take one tile after another; all of a block's threads do all steps of a tile."""

    def call(a, b):
        m_iters, n_iters, k_iters = config.iterations(a, b, 2)
        columns = 2 * config.tile_n
        tiles = columns // config.epilogue_n

        def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, consumed, acc, out_smem, done, read):
            block = lax.axis_index("pair")
            work = Products(config, left_out, (a_gmem, b_gmem, a_smem, b_smem, loaded, consumed), k_iters, "pair")

            @plgpu.nd_loop((m_iters, n_iters), collective_axes="cluster")
            def _(loop):
                m, n = loop.index
                work.by_warps((m, n), acc, done, loop.local_index * k_iters)
                plgpu.barrier_wait(done)
                plgpu.wait_smem_to_gmem(0, wait_read_only=True)
                store(config, left_out, acc, out_smem, tile_of(config, o_gmem, 2 * m + block, n, columns), tiles)
                plgpu.wait_load_tmem()
                if left_out != "accumulator is read":  # by both blocks: the next products write into both
                    plgpu.barrier_arrive(read)
                    plgpu.barrier_wait(read)

            plgpu.wait_smem_to_gmem(0)

        return plgpu.kernel(
            kernel,
            out_type=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), F16),
            grid=(config.clusters,),
            grid_names=("cluster",),
            cluster=(2,),
            cluster_names=("pair",),
            scratch_types={
                **slots_of(config),
                "acc": plgpu.TMEM((config.tile_m, columns), F32, collective=True),
                "out_smem": tiles_out(config, 2),
                "done": plgpu.Barrier(orders_tensor_core=True),
                "read": plgpu.ClusterBarrier(collective_axes=("pair",), orders_tensor_core=True),
            },
        )(a, b)

    return call


def epilogue_warpgroup(
    config, left_out, place=lambda index, m_iters, n_iters: (index // n_iters, lax.rem(index, n_iters))
):
    """One warpgroup multiplies into two accumulators in turns, while the other one stores the accumulator before."""

    def call(a, b):
        m_iters, n_iters, k_iters = config.iterations(a, b, 2)
        columns = 2 * config.tile_n
        tiles = columns // config.epilogue_n

        def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, loaded, consumed, accs, out_smem, done, read):
            block, group = lax.axis_index("pair"), lax.axis_index("wg")
            work = Products(config, left_out, (a_gmem, b_gmem, a_smem, b_smem, loaded, consumed), k_iters, "pair")

            @plgpu.nd_loop((m_iters * n_iters,), collective_axes="cluster")
            def _(loop):
                m, n = place(loop.index[0], m_iters, n_iters)
                half = lax.rem(loop.local_index, 2)
                acc = accs.at[:, pl.ds(half * columns, columns)]

                def free():
                    if left_out != "accumulator is read":

                        @pl.when(
                            (loop.local_index >= 2) & (block == 0)
                        )  # the multiplying block knows that both have read
                        def _():
                            plgpu.barrier_wait(read.at[half])

                @pl.when(group == PRODUCTS)
                def _():
                    work.by_warps((m, n), acc, done.at[half], loop.local_index * k_iters, free)

                @pl.when(group == EPILOGUE)
                def _():
                    plgpu.wait_smem_to_gmem(0, wait_read_only=True)
                    plgpu.barrier_wait(done.at[half])
                    store(config, left_out, acc, out_smem, tile_of(config, o_gmem, 2 * m + block, n, columns), tiles)
                    if left_out != "wait_load_tmem":
                        plgpu.wait_load_tmem()
                    plgpu.barrier_arrive(read.at[half])

            plgpu.wait_smem_to_gmem(0)

        ordered = left_out != "orders_tensor_core"
        return plgpu.kernel(
            kernel,
            out_type=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), F16),
            grid=(config.clusters,),
            grid_names=("cluster",),
            cluster=(2,),
            cluster_names=("pair",),
            num_threads=2,
            thread_name="wg",
            scratch_types={
                **slots_of(config),
                "accs": plgpu.TMEM((config.tile_m, 2 * columns), F32, collective=True),
                "out_smem": tiles_out(config, 2),
                "done": plgpu.Barrier(num_barriers=2, orders_tensor_core=True),
                "read": plgpu.ClusterBarrier(
                    collective_axes=("pair",), num_barriers=2, orders_tensor_core=ordered, leader_tracked=True
                ),
            },
        )(a, b)

    return call


def grid_tiling(config, left_out):
    """Tiles in the order of a snake, so that neighbours in time share operands."""
    return epilogue_warpgroup(
        config, left_out, lambda index, m_iters, n_iters: plgpu.planar_snake(index, (m_iters, n_iters), 1, 2)
    )


def matmul(step, config=Config(), left_out=""):
    """(a, b) -> a b, of f16 with sums in f32."""
    if left_out and left_out not in MISTAKES[step]:
        raise ValueError(f"step {step!r} has no {left_out!r} to leave out; it has {', '.join(MISTAKES[step])}")
    made = (basic, warp_specialised, tiled_epilogue, collective, persistent, epilogue_warpgroup, grid_tiling)
    return made[STEPS.index(step)](config, left_out)
