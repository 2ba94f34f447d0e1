"""Operations of Mosaic TPU in kernels, unchanged: the core's random generator and its keys, what is written as
something else, and choices among refs. Oracles: NumPy, JAX itself, and Threefry-2x32 as JAX has it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

X = np.random.default_rng(1).standard_normal((16, 128)).astype(np.float32)
SMEM, ANYWHERE = pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pl.ANY)


def ran(kernel, out, *args, **options):
    with palladion.emulate("v5e", seeds=4):
        return np.asarray(pl.pallas_call(kernel, out_shape=out, **options)(*args))


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


# docs/spec/tpu.md#prng_seed, with JAX's own Threefry-2x32.
def stream(words, count, drawn=0):
    def block(key, high, low):
        from jax._src.random import threefry2x32

        return [
            np.asarray(half)
            for half in threefry2x32.threefry2x32_p.bind(*(jnp.asarray(v, jnp.uint32) for v in (*key, high, low)))
        ]

    key = (np.uint32(0), np.uint32(0))
    for word in words:
        key = block(key, np.uint32(0), np.uint32(word))
    low = np.arange(drawn, drawn + count, dtype=np.uint32)
    first, second = block([np.full_like(low, k) for k in key], np.zeros_like(low), low)
    return (first ^ second).astype(np.int32)


def test_the_stream_of_a_seed():
    def kernel(o_ref):
        pltpu.prng_seed(3, -7)
        o_ref[:8] = pltpu.prng_random_bits((8, 128))
        o_ref[8:] = pltpu.prng_random_bits((8, 128))

    found = ran(kernel, jax.ShapeDtypeStruct((16, 128), jnp.int32))
    np.testing.assert_array_equal(found.ravel(), stream([3, 2**32 - 7], 2048))


def test_programs_go_on_with_the_stream_of_their_core():
    def kernel(o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            pltpu.prng_seed(5)

        o_ref[...] = pltpu.prng_random_bits((8, 128))

    found = ran(
        kernel,
        jax.ShapeDtypeStruct((24, 128), jnp.int32),
        grid=(3,),
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
    )
    np.testing.assert_array_equal(found.ravel(), stream([5], 3 * 1024))


def test_statistics_of_what_is_drawn():
    def kernel(u_ref, n_ref, b_ref):
        pltpu.prng_seed(11)
        u_ref[...] = pltpu.stateful_uniform((64, 128), jnp.float32)
        n_ref[...] = pltpu.stateful_normal((64, 128), jnp.float32)
        b_ref[...] = pltpu.stateful_bernoulli(0.25, (64, 128)).astype(jnp.float32)

    with palladion.emulate("v5e"):
        u, n, b = map(
            np.asarray, pl.pallas_call(kernel, out_shape=[jax.ShapeDtypeStruct((64, 128), jnp.float32)] * 3)()
        )
    assert 0 <= u.min() and u.max() < 1 and abs(u.mean() - 0.5) < 0.02 and abs(u.std() - 12**-0.5) < 0.02
    assert abs(n.mean()) < 0.05 and abs(n.std() - 1) < 0.05
    assert abs(b.mean() - 0.25) < 0.02


@pytest.mark.parametrize("impl", ["fry", "pallas"])
def test_blocks_of_samples_do_not_depend_on_the_blocks_size(impl):
    key = jax.random.key(3) if impl == "fry" else pltpu.to_pallas_key(jax.random.key(3))

    def sampled(rows):
        def kernel(key_ref, o_ref):
            o_ref[...] = pltpu.sample_block(
                jax.random.uniform, key_ref[...], block_size=(rows, 128), tile_size=(8, 128), total_size=(32, 128)
            )

        return ran(
            kernel,
            jax.ShapeDtypeStruct((32, 128), jnp.float32),
            key,
            grid=(32 // rows, 1),
            in_specs=[SMEM],
            out_specs=pl.BlockSpec((rows, 128), lambda i, j: (i, j)),
        )

    small, large = sampled(8), sampled(32)
    np.testing.assert_array_equal(small, large)
    assert len(np.unique(small)) > 4000


def test_threefry_keys_in_scalar_memory_are_jaxs():
    def kernel(key_ref, o_ref):
        o_ref[...] = jax.random.uniform(jax.random.fold_in(key_ref[...], 7), (16, 128))

    key = jax.random.key(9)
    np.testing.assert_array_equal(
        ran(kernel, like(X), key, in_specs=[SMEM]), jax.random.uniform(jax.random.fold_in(key, 7), (16, 128))
    )


def test_a_pallas_key_seeds_the_generator():
    def kernel(key_ref, o_ref):
        o_ref[...] = jax.random.bits(key_ref[...], (16, 128))

    key = pltpu.to_pallas_key(jax.random.key(9))
    found = ran(kernel, jax.ShapeDtypeStruct((16, 128), jnp.uint32), key, in_specs=[SMEM])
    np.testing.assert_array_equal(
        found.ravel().astype(np.int32), stream(np.asarray(jax.random.key_data(key)).ravel(), 2048)
    )


@pytest.mark.skipif(not hasattr(pltpu, "einshape"), reason="this JAX has no pltpu.einshape")
def test_einshape():
    def kernel(x_ref, o_ref):
        o_ref[...] = pltpu.einshape("(ab)c->b(ac)", x_ref[...], a=8)

    wanted = X.reshape(8, 2, 128).transpose(1, 0, 2).reshape(2, 1024)
    np.testing.assert_array_equal(ran(kernel, jax.ShapeDtypeStruct((2, 1024), jnp.float32), X), wanted)


def test_what_only_the_compiler_and_profiles_see():
    def kernel(x_ref, o_ref):
        if hasattr(pltpu, "touch"):
            pltpu.touch(x_ref)
        if hasattr(pltpu, "trace_value"):
            pltpu.trace_value("rows", jnp.int32(16))
        if jax.__version_info__ < (0, 11):  # later the space is of the value's type, and jnp takes no such values
            o_ref[...] = pltpu.with_memory_space_constraint(x_ref[...], pltpu.VMEM) + 1
        else:
            o_ref[...] = x_ref[...] + 1

    np.testing.assert_array_equal(ran(kernel, like(X), X), X + 1)


@pytest.mark.skipif(
    not hasattr(pl, "select_ref") and not hasattr(pltpu, "select_ref"), reason="this JAX has no select_ref"
)
@pytest.mark.parametrize("which", [0, 1])
def test_a_choice_among_refs(which):
    select_ref = getattr(pl, "select_ref", None) or pltpu.select_ref

    def kernel(which_ref, x_hbm, y_hbm, o_hbm, buffer, sem):
        chosen = select_ref(which_ref[0], x_hbm, y_hbm)
        pltpu.async_copy(chosen, buffer, sem).wait()
        pltpu.async_copy(buffer, o_hbm, sem).wait()

    found = ran(
        kernel,
        like(X),
        np.array([which], np.int32),
        X,
        X + 1,
        in_specs=[SMEM, ANYWHERE, ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[pltpu.VMEM(X.shape, jnp.float32), pltpu.SemaphoreType.DMA],
    )
    np.testing.assert_array_equal(found, X + which)


def test_copies_through_bitcast_and_transposed_refs():
    def kernel(x_hbm, o_ref, t_ref, halves, turned, sem):
        pltpu.async_copy(x_hbm.bitcast(jnp.int16), halves, sem).wait()
        pltpu.async_copy(x_hbm.transpose((1, 0)), turned, sem).wait()
        o_ref[...], t_ref[...] = halves[...], turned[...]

    with palladion.emulate("v5e", seeds=4, contracts=False):  # JAX 0.10 lowers no transposed view
        o, t = pl.pallas_call(
            kernel,
            out_shape=[jax.ShapeDtypeStruct((32, 128), jnp.int16), jax.ShapeDtypeStruct((128, 16), jnp.float32)],
            in_specs=[ANYWHERE],
            scratch_shapes=[
                pltpu.VMEM((32, 128), jnp.int16),
                pltpu.VMEM((128, 16), jnp.float32),
                pltpu.SemaphoreType.DMA,
            ],
        )(X)
    pieces = X.view(np.uint32)
    wanted = np.stack([pieces & 0xFFFF, pieces >> 16], axis=1).astype(np.uint16).view(np.int16).reshape(32, 128)
    np.testing.assert_array_equal(o, wanted)
    np.testing.assert_array_equal(t, X.T)


def next_slot_before_its_store_is_done(state_hbm, o_hbm, slots, loads, stores):
    """The ring of fused_decoding_gdn of tpu-inference 0.26.0: a slot is loaded anew while its last store may still read
    it.
    """

    def load(i):
        return pltpu.make_async_copy(state_hbm.at[i], slots.at[i % 2], loads.at[i % 2])

    def store(i):
        return pltpu.make_async_copy(slots.at[i % 2], o_hbm.at[i], stores.at[i % 2])

    load(0).start()
    for i in range(4):
        if i < 3:
            load(i + 1).start()  # the mistake: store(i - 1) of the same slot has not been waited for
        load(i).wait()
        slots[i % 2] = slots[i % 2] + 1
        if i >= 2:
            store(i - 2).wait()
        store(i).start()
    store(2).wait()
    store(3).wait()


def test_the_ring_of_gdn_decode_is_a_race():
    x = np.random.default_rng(0).standard_normal((4, 8, 128)).astype(np.float32)
    f = pl.pallas_call(
        next_slot_before_its_store_is_done,
        out_shape=like(x),
        in_specs=[ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[
            pltpu.VMEM((2, 8, 128), jnp.float32),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.SemaphoreType.DMA((2,)),
        ],
    )
    report = palladion.check(f, x, target="v5e", seeds=16)
    races = [finding for finding in report.findings if finding.code == "RACE_RW"]
    assert races and "the mistake" in str(report), report


@pytest.mark.parametrize("order, verdict", [("parallel", "defect"), ("arbitrary", "proved")])
def test_programs_that_share_a_stream_depend_on_their_order(order, verdict):
    def kernel(o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            pltpu.prng_seed(7)

        o_ref[...] = pltpu.prng_random_bits((8, 128))

    params = getattr(pltpu, "CompilerParams", None) or pltpu.TPUCompilerParams
    f = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((32, 128), jnp.int32),
        grid=(4,),
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
        compiler_params=params(dimension_semantics=(order,)),
    )
    assert palladion.check(f, target="v5e", seeds=8).verdict == verdict
