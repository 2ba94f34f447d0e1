"""TPU kernels that copy by themselves, unchanged: against NumPy, under JAX's TPU interpreter's eyes and under several
schedules.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

X = np.random.default_rng(1).standard_normal((64, 128)).astype(np.float32)
ANYWHERE = pl.BlockSpec(memory_space=pl.ANY)


def ring(x_hbm, o_hbm, buffer, arrived, left):
    """Rows of eight through two slots: while one is worked on, the next is on its way."""

    def fetch(i):
        return pltpu.make_async_copy(x_hbm.at[pl.ds(i * 8, 8)], buffer.at[i % 2], arrived.at[i % 2])

    fetch(0).start()

    @pl.loop(0, 8)
    def _(i):
        @pl.when(i < 7)
        def _():
            fetch(i + 1).start()

        fetch(i).wait()
        buffer[i % 2] = buffer[i % 2] * 2.0
        back = pltpu.make_async_copy(buffer.at[i % 2], o_hbm.at[pl.ds(i * 8, 8)], left)
        back.start()
        back.wait()


def doubled(kernel):
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype),
        in_specs=[ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[pltpu.VMEM((2, 8, 128), jnp.float32), pltpu.SemaphoreType.DMA((2,)), pltpu.SemaphoreType.DMA],
    )


def test_a_ring_of_two_slots():
    checked = palladion.check(doubled(ring), X, target="v5e", seeds=16)
    assert checked.findings == [], checked
    with palladion.emulate("v5e"):
        np.testing.assert_array_equal(jax.jit(doubled(ring))(X), X * 2)
    with pltpu.force_tpu_interpret_mode():
        np.testing.assert_array_equal(doubled(ring)(X), X * 2)


def too_early(x_hbm, o_hbm, buffer, arrived, left):
    """The slot is read before its copy has been waited for."""
    copy = pltpu.make_async_copy(x_hbm.at[pl.ds(0, 8)], buffer.at[0], arrived.at[0])
    copy.start()
    value = buffer[0]
    copy.wait()
    buffer[1] = value * 2.0
    pltpu.sync_copy(buffer.at[1], o_hbm.at[pl.ds(0, 8)])


def test_a_slot_that_is_read_too_early():
    report = palladion.check(doubled(too_early), X, target="v5e", seeds=16)
    (race,) = [finding for finding in report.findings if finding.code == "RACE_ASYNC"]
    assert "value = buffer[0]" in str(report) and "copy.start()" in str(report), race


def emitted(x_hbm, o_hbm):
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2.0

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    pltpu.emit_pipeline(body, grid=(8,), in_specs=[spec], out_specs=[spec])(x_hbm, o_hbm)


def test_emit_pipeline():
    f = pl.pallas_call(
        emitted, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype), in_specs=[ANYWHERE], out_specs=ANYWHERE
    )
    report = palladion.check(f, X, target="v5e", seeds=16)
    assert report.findings == [], report
    with palladion.emulate("v5e"):
        np.testing.assert_array_equal(jax.jit(f)(X), X * 2)


def test_a_signal_of_its_own_core():
    def kernel(x_ref, o_ref, ready):
        pl.semaphore_signal(ready, 2)
        o_ref[...] = x_ref[...] + pl.semaphore_read(ready).astype(jnp.float32)
        pl.semaphore_wait(ready, 2)

    f = pl.pallas_call(
        kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype), scratch_shapes=[pltpu.SemaphoreType.REGULAR]
    )
    with palladion.emulate("v5e"):
        np.testing.assert_array_equal(f(X), X + 2)


def test_without_a_mesh_there_is_one_device():
    def kernel(x_ref, o_ref, sent, received):
        copy = pltpu.make_async_remote_copy(
            x_ref, o_ref, sent, received, device_id=1, device_id_type=pl.DeviceIdType.LOGICAL
        )
        copy.start()
        copy.wait()

    f = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype),
        in_specs=[ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.DMA],
    )
    checked = palladion.check(f, X, target="v5e", seeds=1)
    assert "device 1, which is not in the mesh of 1 device" in str(checked), checked


def paged(q, k_pages, v_pages, lengths, page_indices):
    from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention_kernel

    return paged_attention_kernel.paged_attention(q, k_pages, v_pages, lengths, page_indices, pages_per_compute_block=2)


def attended(q, k_pages, v_pages, lengths, page_indices):
    """Softmax attention of one query a sequence over the first `lengths` positions of its pages, in NumPy."""
    outputs = []
    for b, length in enumerate(lengths):
        k = k_pages[:, page_indices[b]].reshape(k_pages.shape[0], -1, k_pages.shape[-1])[:, :length]
        v = v_pages[:, page_indices[b]].reshape(v_pages.shape[0], -1, v_pages.shape[-1])[:, :length]
        groups = q.shape[1] // k.shape[0]
        logits = np.einsum("hgd,hsd->hgs", q[b].reshape(k.shape[0], groups, -1), k)
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        outputs.append(np.einsum("hgs,hsd->hgd", weights / weights.sum(-1, keepdims=True), v).reshape(q.shape[1], -1))
    return np.stack(outputs)


def test_paged_attention_of_the_wheel():
    random = np.random.default_rng(2)
    batch, heads, kv_heads, dim, pages, page, per_sequence = 2, 8, 1, 128, 16, 8, 4
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    operands = (
        normal(batch, heads, dim) / 8,
        normal(kv_heads, pages, page, dim),
        normal(kv_heads, pages, page, dim),
        np.array([20, 31], np.int32),
        random.permutation(pages)[: batch * per_sequence].reshape(batch, -1).astype(np.int32),
    )
    with palladion.emulate("v5e"):
        found = jax.jit(paged)(*operands)
    np.testing.assert_allclose(found, attended(*operands), rtol=0, atol=1e-2)  # the kernel multiplies in bf16


def test_ragged_paged_attention_of_the_wheel():
    from jax.experimental.pallas.ops.tpu.ragged_paged_attention import kernel

    random = np.random.default_rng(0)
    pages = random.standard_normal((16, 16, 4, 128)).astype(np.float32)
    operands = (
        random.standard_normal((32, 4, 128)).astype(np.float32),
        pages,
        np.array([40, 20], np.int32),
        random.permutation(16)[:8].reshape(2, 4).astype(np.int32),
        np.array([0, 12, 32], np.int32),
        np.array([2], np.int32),
    )
    f = lambda *args: kernel.ragged_paged_attention(
        *args, num_kv_pages_per_block=2, num_queries_per_block=8, sm_scale=0.1
    )
    report = palladion.check(f, *operands, target="v5e", seeds=4)
    assert report.findings == [], report
    with palladion.emulate("v5e"):
        found = jax.jit(f)(*operands)
    np.testing.assert_allclose(found, kernel.ref_ragged_paged_attention(*operands, sm_scale=0.1), rtol=0, atol=1e-5)


# Cores of a chip.


def two_cores():
    with palladion.target("v5p"):
        return pltpu.create_tensorcore_mesh("core", num_cores=2)


def half_each(x_ref, o_ref, met):
    """Each core copies its half once both have come."""
    rows = pl.ds(jax.lax.axis_index("core") * 32, 32)
    pltpu.core_barrier(met, core_axis_name="core")
    pltpu.sync_copy(x_ref.at[rows], o_ref.at[rows])


def all_each(x_ref, o_ref, met):
    del met
    pltpu.sync_copy(x_ref, o_ref)


def over_cores(kernel):
    return pl.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(X.shape, X.dtype),
        mesh=two_cores(),
        scratch_types=[pltpu.SemaphoreType.REGULAR],
    )


def test_two_cores_of_a_chip():
    checked = palladion.check(over_cores(half_each), X, target="v5p", seeds=16)
    assert checked.findings == [], checked
    np.testing.assert_array_equal(checked.results, X)


def test_two_cores_that_write_the_same_rows():
    checked = palladion.check(over_cores(all_each), X, target="v5p", seeds=8)
    found = {finding.code for finding in checked.findings}
    assert found & {"RACE_WW", "SAME_VALUE"}, checked


def test_a_core_that_is_not_there():
    def signals(x_ref, o_ref, met):
        del x_ref, o_ref
        pl.semaphore_signal(met, 1, core_index=2)

    checked = palladion.check(over_cores(signals), X, target="v5p", seeds=2)
    assert "core 2, which is not in the mesh" in str(checked), checked


def test_core_map_within_run_state():
    mesh = two_cores()

    def run(refs):
        x_ref, o_ref = refs

        @pl.core_map(mesh)
        def _():
            rows = pl.ds(jax.lax.axis_index("core") * 32, 32)

            def work(slot):
                pltpu.sync_copy(x_ref.at[rows], slot)
                slot[...] = slot[...] + 1.0
                pltpu.sync_copy(slot, o_ref.at[rows])

            pl.run_scoped(work, pltpu.VMEM((32, 128), jnp.float32))

    def f(x):
        return pl.run_state(run)((x, jnp.zeros_like(x)))[1]

    checked = palladion.check(f, X, target="v5p", seeds=8)
    assert checked.findings == [], checked
    np.testing.assert_array_equal(checked.results, X + 1)


def pages_by_size(table, sizes, x_hbm, o_hbm, buffer, arrived):
    """Rows of pages of eight rows, so many of each as `sizes` says, gathered one behind the other through flat views of
    both.
    """
    flat, slots = x_hbm.reshape(64, 128), buffer.reshape(64, 128)

    def fetch(i, at):
        return pltpu.make_async_copy(flat.at[pl.ds(table[i] * 8, sizes[i])], slots.at[pl.ds(at, sizes[i])], arrived)

    jax.lax.fori_loop(0, 4, lambda i, at: (fetch(i, at).start(), at + sizes[i])[1], 0)
    total = jax.lax.fori_loop(0, 4, lambda i, at: (fetch(i, at).wait(), at + sizes[i])[1], 0)
    pltpu.sync_copy(slots.at[pl.ds(0, total)], o_hbm.at[pl.ds(0, total)])


def gathered(buffer_shape):
    return pl.pallas_call(
        pages_by_size,
        out_shape=jax.ShapeDtypeStruct((64, 128), jnp.float32),
        input_output_aliases={},
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=2,
            in_specs=[ANYWHERE],
            out_specs=ANYWHERE,
            scratch_shapes=[pltpu.VMEM(buffer_shape, jnp.float32), pltpu.SemaphoreType.DMA],
        ),
    )


# One box (a flat buffer), a place for each element (rows over two dimensions of a page).
@pytest.mark.parametrize("buffer_shape", [(1, 64 * 128), (8, 8, 128)])
@pytest.mark.parametrize("sizes", [(3, 8, 1, 5), (0, 2, 0, 8), (8, 8, 8, 8)])
def test_sizes_known_only_at_run_time(buffer_shape, sizes):
    x, table = X.reshape(8, 8, 128), np.array([5, 0, 7, 2], np.int32)
    arguments = (table, np.array(sizes, np.int32), x)
    wanted = np.concatenate([x[page, :size] for page, size in zip(table, sizes)])
    with palladion.emulate("v5e"):
        found = np.asarray(gathered(buffer_shape)(*arguments))
    np.testing.assert_array_equal(found[: len(wanted)], wanted)
    checked = palladion.check(gathered(buffer_shape), *arguments, target="v5e", seeds=16)
    assert [f.code for f in checked.findings if f.severity == "defect"] == [], checked


@pytest.mark.parametrize(
    "size, said", [(20, "out of bounds"), (9000, "which has fewer; nothing is copied"), (-1, "is negative")]
)
def test_a_size_that_does_not_fit(size, said):
    def kernel(size, x_hbm, o_hbm, arrived):
        copy = pltpu.make_async_copy(x_hbm.at[pl.ds(48, size[0])], o_hbm.at[pl.ds(0, size[0])], arrived)
        copy.start()
        copy.wait()

    f = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, in_specs=[ANYWHERE], out_specs=ANYWHERE, scratch_shapes=[pltpu.SemaphoreType.DMA]
        ),
    )
    report = palladion.check(f, np.array([size], np.int32), X, target="v5e", seeds=2)
    found = [f.message for f in report.findings if f.code == "OOB"]
    assert found and said in found[0], report


def ragged_pages(count, x_hbm, o_hbm):
    """The first `count` pages in blocks of at most three: the last block is as large as what is left."""
    pages = count[0]

    def block(i):
        return pl.ds(i * 3, jnp.minimum(3, pages - i * 3)), 0, 0

    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2.0

    spec = pl.BlockSpec((pl.BoundedSlice(3), 8, 128), block)
    pltpu.emit_pipeline(body, grid=(pl.cdiv(pages, 3),), in_specs=[spec], out_specs=[spec])(x_hbm, o_hbm)


@pytest.mark.skipif(not hasattr(pl, "BoundedSlice"), reason="this JAX has no pl.BoundedSlice")
@pytest.mark.parametrize("pages", [1, 3, 7])
def test_blocks_whose_size_is_known_only_at_run_time(pages):
    x, count = X.reshape(8, 8, 128), np.array([pages], np.int32)
    f = pl.pallas_call(
        ragged_pages,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, in_specs=[ANYWHERE], out_specs=ANYWHERE),
    )
    with palladion.emulate("v5e"):
        found = np.asarray(f(count, x))
    np.testing.assert_array_equal(found[:pages], x[:pages] * 2)
    report = palladion.check(f, count, x, target="v5e", seeds=16)
    assert [finding.code for finding in report.findings if finding.severity == "defect"] == [], report


def test_a_slice_that_leaves_its_slot():
    """What a view of a view may touch is what the first one shows, though the memory goes on behind it."""

    def kernel(start, x_hbm, o_ref, slots, arrived):
        copy = pltpu.make_async_copy(x_hbm.at[pl.ds(0, 4)], slots.at[0].at[pl.ds(start[0], 4)], arrived)
        copy.start()
        copy.wait()
        o_ref[...] = slots[0, :4]

    f = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((4, 128), X.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            in_specs=[ANYWHERE],
            out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
            scratch_shapes=[pltpu.VMEM((2, 8, 128), jnp.float32), pltpu.SemaphoreType.DMA],
        ),
    )
    report = palladion.check(f, np.array([6], np.int32), X, target="v5e", seeds=2)
    (outside,) = [finding for finding in report.findings if finding.code == "OOB"]
    assert "index 6..9 into 'slots'" in outside.message, outside.message
    with palladion.emulate("v5e"):
        np.testing.assert_array_equal(f(np.array([0], np.int32), X), X[:4])
