"""Hazards between the lanes of one Triton program, and of one thread of Mosaic GPU without automatic barriers."""

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, triton as plt

import palladion

TRITON = {"compiler_params": plt.CompilerParams()}
F32 = jnp.float32


def checked(call, target="triton/h100"):
    with palladion.emulate(target, seeds=8, on_defect="collect") as session:
        call()
    return session.report


def codes(report):
    return sorted({finding.code for finding in report.findings})


def not_shown(report):
    return "".join(fact.words for fact in report.calls[0].facts if fact.name == "ordered-lanes" and not fact.shown)


# ---- stores into a small array, by indices


def dup_store(i_ref, v_ref, _, o_ref):
    plt.store(o_ref.at[i_ref[...]], v_ref[...])


def dup_add(i_ref, v_ref, _, o_ref):
    o_ref[i_ref[...]] += v_ref[...]


def one_cell(i_ref, v_ref, _, o_ref):
    plt.store(o_ref.at[jnp.zeros((4,), jnp.int32)], v_ref[...])


def by_indices(body, indices):
    call = pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((4,), F32), input_output_aliases={2: 0}, **TRITON)
    return checked(lambda: call(jnp.array(indices), jnp.arange(4.0) + 1, jnp.zeros(4)))


@pytest.mark.parametrize("body", [dup_store, dup_add, one_cell])
def test_lanes_that_store_into_one_element(body):
    report = by_indices(body, [0, 1, 1, 1])
    assert report.verdict == "defect"
    assert codes(report) == ["RACE_WW"]


@pytest.mark.parametrize("body", [dup_store, dup_add])
def test_a_permutation_is_proved(body):
    assert by_indices(body, [0, 3, 1, 2]).verdict == "proved"


# ---- a block that a program stores and reads


def readback(x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    o_ref[...] = t_ref[127 - jnp.arange(128)]


def fill_and_scatter(x_ref, o_ref, t_ref):
    t_ref[...] = jnp.zeros_like(t_ref)
    t_ref[(jnp.arange(128) * 37) % 128] = x_ref[...]
    o_ref[...] = x_ref[...]


def shift(x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    t_ref[pl.ds(4, 64)] = x_ref[pl.ds(0, 64)]
    o_ref[...] = x_ref[...]


def readback_after_a_barrier(x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    plt.debug_barrier()
    o_ref[...] = t_ref[127 - jnp.arange(128)]


def same_elements_by_indices(x_ref, o_ref, t_ref):
    t_ref[...] = x_ref[...]
    o_ref[...] = t_ref[jnp.arange(128)] + plt.load(t_ref.at[pl.ds(0, 128)], mask=jnp.arange(128) < 100, other=0.0)


def rows_of_a_loop(x_ref, o_ref, t_ref):
    def body(k, _):
        t_ref[pl.ds(k * 32, 32)] = x_ref[pl.ds(k * 32, 32)] + k
        o_ref[pl.ds(k * 32, 32)] = t_ref[pl.ds(k * 32, 32)]

    jax.lax.fori_loop(0, 4, body, None)


def two_blocks(body):
    call = pl.pallas_call(body, out_shape=(jax.ShapeDtypeStruct((128,), F32),) * 2, **TRITON)
    return checked(lambda: call(jnp.arange(128.0)))


@pytest.mark.parametrize(("body", "code"), [(readback, "RACE_RW"), (fill_and_scatter, "RACE_WW"), (shift, "RACE_WW")])
def test_a_block_in_another_order(body, code):
    report = two_blocks(body)
    assert report.verdict == "defect"
    assert codes(report) == [code]
    assert "debug_barrier" in report.findings[0].fix


@pytest.mark.parametrize("body", [readback_after_a_barrier, same_elements_by_indices, rows_of_a_loop])
def test_the_same_lane_and_barriers_are_proved(body):
    report = two_blocks(body)
    assert report.verdict == "proved"
    assert any(fact.name == "ordered-lanes" and fact.shown for fact in report.calls[0].facts)


def after_atomics(x_ref, c0_ref, o_ref, c_ref):
    plt.atomic_add(c_ref, (x_ref[...] % 8,), jnp.ones((128,), jnp.int32))
    o_ref[...] = c_ref[...]


def test_a_read_after_atomics():
    call = pl.pallas_call(
        after_atomics, out_shape=(jax.ShapeDtypeStruct((8,), jnp.int32),) * 2, input_output_aliases={1: 1}, **TRITON
    )
    assert codes(checked(lambda: call(jnp.arange(128), jnp.zeros(8, jnp.int32)))) == ["RACE_RW"]


# ---- several lanes update one element: in which order, nothing says


def histogram(x_ref, c0_ref, o_ref, c_ref):
    plt.atomic_add(c_ref, (x_ref[...] % 8,), jnp.ones((128,), c_ref.dtype))
    o_ref[...] = x_ref[...]


def slots(x_ref, c0_ref, o_ref, c_ref):
    o_ref[...] = plt.atomic_add(c_ref, (x_ref[...] % 8,), jnp.ones((128,), jnp.int32)).astype(jnp.int32)


def slots_of_their_own(x_ref, c0_ref, o_ref, c_ref):
    o_ref[...] = plt.atomic_add(c_ref, (x_ref[...],), jnp.ones((128,), jnp.int32))


def last_one(x_ref, c0_ref, o_ref, c_ref):
    plt.atomic_xchg(c_ref, (x_ref[...] % 8,), x_ref[...])
    o_ref[...] = x_ref[...]


def sum_and_greatest(x_ref, c0_ref, o_ref, c_ref):
    plt.atomic_add(c_ref, (x_ref[...],), x_ref[...])
    plt.atomic_max(c_ref, (127 - x_ref[...],), x_ref[...])
    o_ref[...] = x_ref[...]


def sum_then_greatest(x_ref, c0_ref, o_ref, c_ref):
    plt.atomic_add(c_ref, (x_ref[...],), x_ref[...])
    plt.debug_barrier()
    plt.atomic_max(c_ref, (127 - x_ref[...],), x_ref[...])
    o_ref[...] = x_ref[...]


@pytest.mark.parametrize(
    ("body", "dtype", "verdict"),
    [
        (histogram, jnp.int32, "proved"),
        (histogram, F32, "clean"),  # sums are rounded in some order
        (slots, jnp.int32, "clean"),
        (slots_of_their_own, jnp.int32, "proved"),
        (last_one, jnp.int32, "clean"),
        (sum_and_greatest, jnp.int32, "clean"),
        (sum_then_greatest, jnp.int32, "proved"),
    ],
)
def test_updates_of_several_lanes(body, dtype, verdict):
    x, c = jnp.arange(128), jnp.zeros(128, dtype)
    shapes = (jax.ShapeDtypeStruct((128,), jnp.int32), jax.ShapeDtypeStruct((128,), dtype))
    call = pl.pallas_call(body, out_shape=shapes, input_output_aliases={1: 1}, **TRITON)
    report = checked(lambda: call(x, c))
    assert report.verdict == verdict
    assert ("shows which came first" in not_shown(report)) == (verdict == "clean")


@pytest.mark.parametrize("grid", [(), (1,), (1, 1)])
def test_a_grid_of_one_program_is_no_other_kernel(grid):
    x, shape = jnp.arange(128), jax.ShapeDtypeStruct((128,), jnp.int32)
    call = pl.pallas_call(
        slots_of_their_own, grid=grid, out_shape=(shape, shape), input_output_aliases={1: 1}, **TRITON
    )
    report = checked(lambda: call(x, x))
    assert report.verdict == "proved"
    assert "1 schedule tried" in str(report)


def in_place(x_ref, o_ref):
    o_ref[...] = x_ref[127 - jnp.arange(128)]


def test_an_input_that_is_the_output():
    call = pl.pallas_call(in_place, out_shape=jax.ShapeDtypeStruct((128,), F32), input_output_aliases={0: 0}, **TRITON)
    assert codes(checked(lambda: call(jnp.arange(128.0)))) == ["RACE_RW"]


# ---- threads without automatic barriers


def read_halves(x_ref, o_ref, s_ref, b_ref):
    s_ref[...] = x_ref[...]
    for k in range(4):
        o_ref[pl.ds(k * 32, 32), :] = s_ref[pl.ds((3 - k) * 32, 32), :]


def read_then_copy_over(x_ref, o_ref, s_ref, b_ref):
    s_ref[...] = x_ref[...]
    plgpu.commit_smem()
    v = s_ref[...]
    plgpu.copy_gmem_to_smem(x_ref, s_ref, b_ref)
    plgpu.barrier_wait(b_ref)
    o_ref[...] = v + s_ref[...]


def read_all(x_ref, o_ref, s_ref, b_ref):
    s_ref[...] = x_ref[...]
    o_ref[...] = s_ref[...]


NO_INDEX = ((),) if "idx" in plgpu.load.__code__.co_varnames else ()  # until JAX 0.11


def other_layout(x_ref, o_ref, s_ref, b_ref):
    s_ref[...] = plgpu.load(x_ref, *NO_INDEX, layout=plgpu.Layout.WGMMA, optimized=False)
    o_ref[...] = plgpu.load(s_ref, *NO_INDEX, layout=plgpu.Layout.WG_STRIDED((128, 128), 2))


def tiled_layout(x_ref, o_ref, s_ref, b_ref):
    s_ref[...] = plgpu.load(x_ref, *NO_INDEX, layout=plgpu.Layout.WGMMA, optimized=False)
    o_ref[...] = plgpu.load(s_ref, *NO_INDEX, layout=plgpu.Layout.WGMMA, optimized=False)


def rows_of_a_layout(x_ref, o_ref, s_ref, b_ref):
    rows = plgpu.Layout.WGMMA.reduce(1)
    s_ref[0, :] = plgpu.load(x_ref.at[0], *NO_INDEX, layout=rows, optimized=False)
    row = plgpu.load(s_ref.at[0], *NO_INDEX, layout=rows, optimized=False)
    o_ref[...] = jax.lax.broadcast_in_dim(row, (128, 128), (0,))


def commit_between(x_ref, o_ref, s_ref, b_ref):
    s_ref[...] = x_ref[...]
    plgpu.commit_smem()
    for k in range(4):
        o_ref[pl.ds(k * 32, 32), :] = s_ref[pl.ds((3 - k) * 32, 32), :]


def of_threads(body, unsafe):
    x = jnp.zeros((128, 128), F32)
    call = plgpu.kernel(
        body,
        out_type=x,
        scratch_types=[plgpu.SMEM((128, 128), F32), plgpu.Barrier()],
        compiler_params=plgpu.CompilerParams(unsafe_no_auto_barriers=unsafe),
    )
    return checked(lambda: call(x), "h100")


def test_threads_without_automatic_barriers():
    assert codes(of_threads(read_halves, unsafe=True)) == ["RACE_RW"]
    assert of_threads(read_halves, unsafe=False).verdict == "proved"
    assert of_threads(commit_between, unsafe=True).verdict == "proved"
    assert of_threads(read_all, unsafe=True).verdict == "proved"  # both have one layout
    assert of_threads(read_all, unsafe=False).verdict == "proved"
    assert of_threads(tiled_layout, unsafe=True).verdict == "proved"
    report = of_threads(other_layout, unsafe=True)
    assert report.verdict == "clean"
    assert "in layouts of registers that may give an element to two lanes" in not_shown(report)
    assert of_threads(rows_of_a_layout, unsafe=True).verdict == "clean"  # several lanes hold each of them
    assert codes(of_threads(read_then_copy_over, unsafe=True)) == ["PROXY"]
    assert of_threads(read_then_copy_over, unsafe=False).verdict == "proved"


# ---- what a thread reads, and then has an engine overwrite


def two_slots(x_ref, o_ref, s_ref, b_ref):
    def load(k):
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(k * 16, 16)], s_ref.at[k % 2], b_ref.at[k % 2])

    def add(k, total):
        plgpu.barrier_wait(b_ref.at[k % 2])
        total += s_ref[k % 2]
        pl.when(k + 2 < 8)(lambda: load(k + 2))
        return total

    load(0)
    load(1)
    o_ref[...] = jax.lax.fori_loop(0, 8, add, x_ref[pl.ds(0, 16)])  # a layout that a sum with loads keeps


def sums_of_blocks(x_ref, o_ref):
    def add(_, block_ref, total):
        return total + block_ref[...]

    pipeline = plgpu.emit_pipeline(
        add,
        grid=(8,),
        in_specs=[plgpu.BlockSpec((16, 128), lambda i: (i, 0))],
        max_concurrent_steps=2,
        init_carry=x_ref[pl.ds(0, 16)],
    )
    o_ref[...] = pipeline(x_ref)


SLOTS = [plgpu.SMEM((2, 16, 128), F32), plgpu.Barrier(num_barriers=2)]


@pytest.mark.parametrize(
    "body, scratch", [(two_slots, SLOTS), (sums_of_blocks, [])], ids=["two slots", "emit_pipeline"]
)
@pytest.mark.parametrize("unsafe", [False, True])
def test_a_thread_that_reads_a_slot_and_loads_it_again(body, scratch, unsafe):
    x = jnp.arange(128 * 128, dtype=F32).reshape(128, 128)
    params = plgpu.CompilerParams(unsafe_no_auto_barriers=unsafe)
    call = plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((16, 128), F32), scratch_types=scratch, compiler_params=params
    )
    report = palladion.check(call, x, target="h100", seeds=4)
    assert codes(report) == (["PROXY"] if unsafe else [])
    assert unsafe or report.verdict == "proved"
    strict = palladion.check(call, x, target="h100", seeds=4, proxy="strict")
    assert codes(strict) == ["PROXY"]
