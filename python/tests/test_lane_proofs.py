"""Where lanes of a Triton program, or of a Mosaic GPU thread without automatic barriers, are proved to be ordered."""

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, triton as plt

import palladion
from test_lanes import F32, TRITON, checked, not_shown

# ---- the same places, by two index expressions: Triton may spread them over the lanes in two ways


def loaded_indices(i_ref, x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    o_ref[...] = t_ref[i_ref[...]]


def loaded_indices_twice(i_ref, x_ref, o_ref, t_ref):
    t_ref[i_ref[...]] = x_ref[...]
    o_ref[...] = t_ref[i_ref[...]]


def stored_over_loaded_indices(i_ref, x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    plt.debug_barrier()
    o_ref[...] = t_ref[i_ref[...]]
    t_ref[...] = x_ref[...]


def loaded_indices_after_a_barrier(i_ref, x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    plt.debug_barrier()
    o_ref[...] = t_ref[i_ref[...]]


def start_from_memory(i_ref, x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    o_ref[...] = t_ref[pl.ds(i_ref[0], 128)]


def starts_from_memory(i_ref, x_ref, o_ref, t_ref):
    t_ref[pl.ds(i_ref[0], 128)] = x_ref[...]
    o_ref[...] = t_ref[pl.ds(i_ref[0], 128)]


def other_arithmetic(i_ref, x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    o_ref[...] = t_ref[jnp.arange(128) ^ 0]


def shifted_indices(i_ref, x_ref, o_ref, t_ref):
    t_ref[pl.ds(0, 64)] = x_ref[pl.ds(0, 64)]
    t_ref[pl.ds(64, 64)] = x_ref[pl.ds(0, 64)]
    o_ref[pl.ds(0, 64)] = t_ref[64 + jnp.arange(64)]
    o_ref[pl.ds(64, 64)] = x_ref[pl.ds(0, 64)]


def two_loops(i_ref, x_ref, o_ref, t_ref):
    def store(k, _):
        t_ref[pl.ds(k * 32, 32)] = x_ref[pl.ds(k * 32, 32)]

    def load(k, _):
        o_ref[pl.ds(k * 32, 32)] = t_ref[pl.ds(k * 32, 32)]

    jax.lax.fori_loop(0, 4, store, None)
    jax.lax.fori_loop(0, 4, load, None)


def with_indices(body, num_warps=1):
    params = {"compiler_params": plt.CompilerParams(num_warps=num_warps)}
    call = pl.pallas_call(body, out_shape=(jax.ShapeDtypeStruct((128,), F32),) * 2, **params)
    return checked(lambda: call(jnp.arange(128), jnp.arange(128.0)))


@pytest.mark.parametrize("body", [loaded_indices, stored_over_loaded_indices, start_from_memory, other_arithmetic])
def test_another_index_expression_is_no_proof(body):
    report = with_indices(body)
    assert report.verdict == "clean"
    assert "by two index expressions" in not_shown(report)
    assert "test_lane_proofs.py:" in not_shown(report)


@pytest.mark.parametrize(
    "body",
    [loaded_indices_twice, loaded_indices_after_a_barrier, starts_from_memory, shifted_indices, two_loops],
)
def test_the_same_index_expression_is_proved(body):
    assert with_indices(body).verdict == "proved"


def rows_and_columns(x_ref, o_ref, t_ref):
    rows, columns = jnp.arange(16)[:, None], jnp.arange(32)[None, :]
    t_ref[...] = x_ref[...]
    o_ref[...] = t_ref[rows, columns] + t_ref[pl.ds(0, 16), pl.ds(0, 32)]


def columns_and_rows(x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    o_ref[...] = t_ref[jnp.arange(16)[:, None], (jnp.arange(32) * 3 % 96 // 3)[None, :]]


@pytest.mark.parametrize(("body", "verdict"), [(rows_and_columns, "proved"), (columns_and_rows, "clean")])
def test_indices_of_two_dimensions(body, verdict):
    call = pl.pallas_call(body, out_shape=(jax.ShapeDtypeStruct((16, 32), F32),) * 2, **TRITON)
    assert checked(lambda: call(jnp.zeros((16, 32)))).verdict == verdict


def add_one(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


def test_blocks_in_place():
    block = pl.BlockSpec((128,), lambda i: (i,))
    call = pl.pallas_call(
        add_one,
        out_shape=jax.ShapeDtypeStruct((512,), F32),
        grid=(4,),
        in_specs=[block],
        out_specs=block,
        input_output_aliases={0: 0},
        **TRITON,
    )
    assert checked(lambda: call(jnp.zeros(512))).verdict == "proved"


# ---- values of fewer elements than a program has lanes: all load them, one lane stores each


def readback_of_few(x_ref, o_ref, t_ref):
    t_ref[pl.ds(0, 32)] = x_ref[pl.ds(0, 32)]
    o_ref[...] = x_ref[...] + jnp.sum(t_ref[pl.ds(0, 32)])


def few_by_two_expressions(x_ref, o_ref, t_ref):
    t_ref[pl.ds(0, 32)] = x_ref[pl.ds(0, 32)]
    v = t_ref[pl.ds(0, 32)]
    o_ref[...] = x_ref[...]
    t_ref[pl.ds(64, 32)] = v


def copy_of_few(x_ref, o_ref, t_ref):
    t_ref[pl.ds(0, 32)] = x_ref[pl.ds(0, 32)]
    o_ref[pl.ds(0, 32)] = t_ref[pl.ds(0, 32)]
    o_ref[pl.ds(32, 32)] = x_ref[pl.ds(0, 32)]
    o_ref[pl.ds(64, 64)] = x_ref[pl.ds(0, 64)]


def readback_of_one(x_ref, o_ref, t_ref):
    t_ref[0] = x_ref[0] + 1
    o_ref[...] = x_ref[...] + t_ref[0]


def readback_of_one_after_a_barrier(x_ref, o_ref, t_ref):
    t_ref[0] = x_ref[0] + 1
    plt.debug_barrier()
    o_ref[...] = x_ref[...] + t_ref[0]


def read_after_an_atomic(x_ref, o_ref, t_ref):
    plt.atomic_add(t_ref, (0,), 1.0)
    o_ref[...] = x_ref[...] + t_ref[0]


def in_place_of_one(x_ref, o_ref, t_ref):
    t_ref[0] = t_ref[0] + x_ref[0]
    o_ref[...] = x_ref[...]


def in_place_of_few(x_ref, o_ref, t_ref):
    t_ref[pl.ds(0, 32)] += jnp.where(x_ref[pl.ds(0, 32)] > 4, 1.0, 2.0)
    o_ref[...] = x_ref[...]


def stored_over_what_all_use(x_ref, o_ref, t_ref):
    v = t_ref[0]
    t_ref[0] = x_ref[0]
    o_ref[...] = x_ref[...] + v


def stored_over_a_condition(x_ref, o_ref, t_ref):
    v = t_ref[0]
    t_ref[0] = x_ref[0]
    o_ref[...] = x_ref[...]
    pl.when(v > 3)(lambda: t_ref.__setitem__(1, x_ref[1]))


def of_few(body, num_warps):
    call = pl.pallas_call(
        body,
        out_shape=(jax.ShapeDtypeStruct((128,), F32),) * 2,
        input_output_aliases={1: 1},
        compiler_params=plt.CompilerParams(num_warps=num_warps),
    )
    return checked(lambda: call(jnp.arange(128.0), jnp.zeros(128)))


def with_input(body):
    return lambda x_ref, _, o_ref, t_ref: body(x_ref, o_ref, t_ref)


@pytest.mark.parametrize(
    "body",
    [
        readback_of_few,
        few_by_two_expressions,
        readback_of_one,
        read_after_an_atomic,
        stored_over_what_all_use,
        stored_over_a_condition,
    ],
)
def test_what_several_lanes_hold_is_no_proof(body):
    report = of_few(with_input(body), 4)
    assert report.verdict == "clean"
    assert "several lanes of one program hold" in not_shown(report)


@pytest.mark.parametrize("body", [copy_of_few, readback_of_one_after_a_barrier, in_place_of_one, in_place_of_few])
def test_what_one_lane_loads_and_stores_is_proved(body):
    assert of_few(with_input(body), 4).verdict == "proved"


def test_as_many_elements_as_lanes():
    assert of_few(with_input(readback_of_few), 1).verdict == "proved"


# ---- what one lane publishes


def handed_over(with_barrier):
    """Program 0 hands a block over to program 1, which waits for it."""

    def body(x_ref, f0_ref, o_ref, d_ref, f_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            d_ref[...] = x_ref[...]
            if with_barrier:
                plt.debug_barrier()
            plt.atomic_xchg(f_ref, (0,), 1)

        @pl.when(pl.program_id(0) == 1)
        def _():
            jax.lax.while_loop(lambda flag: flag == 0, lambda _: plt.atomic_add(f_ref, (0,), 0), jnp.int32(0))
            o_ref[...] = d_ref[...]

    block = jax.ShapeDtypeStruct((128,), F32)
    return pl.pallas_call(
        body,
        out_shape=(block, block, jax.ShapeDtypeStruct((1,), jnp.int32)),
        grid=(2,),
        input_output_aliases={1: 2},
        **TRITON,
    )


@pytest.mark.parametrize(("with_barrier", "verdict"), [(True, "proved"), (False, "clean")])
def test_an_atomic_publishes_its_own_lane(with_barrier, verdict):
    args = (jnp.arange(128.0), jnp.zeros(1, jnp.int32))
    report = palladion.check(handed_over(with_barrier), *args, exhaustive=True, target="triton/h100")
    assert report.verdict == verdict, report
    assert ("the atomic at test_lane_proofs.py:" in " ".join(str(report).split())) == (not with_barrier)


def product(commits_smem):
    """Stores to shared memory, and a product that one lane issues and commits."""

    def body(x_ref, y_ref, o_ref, p_ref, a_ref, b_ref, s_ref, acc_ref, full_ref, done_ref):
        plgpu.copy_gmem_to_smem(x_ref, a_ref, full_ref)
        plgpu.copy_gmem_to_smem(y_ref, b_ref, full_ref)
        plgpu.barrier_wait(full_ref)
        s_ref[...] = jnp.full((128, 128), 2.0, F32)
        if commits_smem:
            plgpu.commit_smem()
        plgpu.tcgen05_mma(acc_ref, a_ref, b_ref, accumulate=False)
        plgpu.tcgen05_commit_arrive(done_ref)
        plgpu.barrier_wait(done_ref)
        for k in range(4):
            p_ref[pl.ds(k * 32, 32), :] = s_ref[pl.ds((3 - k) * 32, 32), :]
        o_ref[...] = plgpu.async_load_tmem(acc_ref)

    tiled = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        body,
        out_type=(jax.ShapeDtypeStruct((128, 64), F32), jax.ShapeDtypeStruct((128, 128), F32)),
        scratch_types=[
            plgpu.SMEM((128, 64), jnp.float16, transforms=tiled),
            plgpu.SMEM((64, 64), jnp.float16, transforms=tiled),
            plgpu.SMEM((128, 128), F32),
            plgpu.TMEM((128, 64), F32),
            plgpu.Barrier(num_arrivals=2),
            plgpu.Barrier(orders_tensor_core=True),
        ],
        compiler_params=plgpu.CompilerParams(unsafe_no_auto_barriers=True),
    )


@pytest.mark.parametrize(("commits_smem", "verdict"), [(True, "proved"), (False, "clean")])
def test_one_lane_commits(commits_smem, verdict):
    x, y = jnp.ones((128, 64), jnp.float16), jnp.ones((64, 64), jnp.float16)
    report = checked(lambda: product(commits_smem)(x, y), "b200")
    assert report.verdict == verdict, report
    says_so = "one lane of a thread commits to a barrier at test_lane_proofs.py:" in not_shown(report)
    assert says_so == (not commits_smem)
