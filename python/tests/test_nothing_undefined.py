"""What is undefined and gets to an output or a decision denies `proved`, whatever it comes from; and what does not,
does not.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion

F32 = jnp.float32
X = jnp.arange(32 * 128, dtype=F32).reshape(32, 128)
ANY = pl.BlockSpec(memory_space=pl.ANY)


def found(function, *args, target="v5e"):
    with palladion.emulate(target, seeds=4, on_defect="collect") as session:
        jax.block_until_ready(function(*args))
    return session.report.verdict, sorted({(finding.code, finding.severity) for finding in session.report.findings})


# ---- blocks wholly in the padding of pl.Element


def halo(kernel, rows, lanes, start):
    block = pl.BlockSpec((pl.Element(8, rows), pl.Element(128, lanes)), start)
    out = jax.ShapeDtypeStruct((32, 128), F32)
    return pl.pallas_call(
        kernel, grid=(4,), in_specs=[block], out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)), out_shape=out
    )


def copy(x, o):
    o[...] = x[...] + 1


def total(x, o):
    o[...] = jnp.broadcast_to(jnp.sum(x[...]), (8, 128))


def decides(x, o):
    o[...] = jnp.where(jnp.max(x[...]) > 0, 1.0, 2.0) * jnp.ones((8, 128))


def masked(x, o):
    o[...] = jnp.where(pl.program_id(0) == 0, 0.0, x[...])


def down(i):
    return i * 8, 0


@pytest.mark.parametrize("target", ["generic", "v5e", "v5p"])
@pytest.mark.parametrize(
    "kernel, rows, lanes, start",
    [
        (copy, (4, 0), (0, 0), down),
        (copy, (8, 0), (0, 0), down),
        (copy, (0, 8), (0, 0), lambda i: ((i + 1) * 8, 0)),
        (copy, (0, 0), (128, 128), lambda i: (0, i * 128)),
        (total, (8, 0), (0, 0), down),
        (decides, (8, 0), (0, 0), down),
    ],
    ids=["part", "front", "behind", "lanes", "summed", "decides"],
)
def test_padding_of_element_leaks(kernel, rows, lanes, start, target):
    assert found(halo(kernel, rows, lanes, start), jnp.ones((32, 256)), target=target) == (
        "defect",
        [("PAD_LEAK", "defect")],
    )


@pytest.mark.parametrize("target", ["generic", "v5e", "v5p"])
def test_padding_that_is_masked_is_none(target):
    assert found(halo(masked, (8, 0), (0, 0), down), X, target=target) == ("proved", [])


@pytest.mark.parametrize("target", ["generic", "v5e"])
def test_a_block_beyond_the_padding_is_one_finding(target):
    beyond = halo(copy, (8, 0), (0, 0), lambda i: (i * 8 + 16, 0))
    assert found(beyond, X, target=target) == ("defect", [("OOB_BLOCK", "defect")])


# ---- random bits


def draws(seed_in, order):
    def body(o):
        if seed_in is not None:
            pl.when(pl.program_id(0) == seed_in)(lambda: pltpu.prng_seed(7))
        o[...] = pltpu.prng_random_bits((8, 128))

    params = pltpu.CompilerParams(dimension_semantics=(order,))
    out = jax.ShapeDtypeStruct((16, 128), jnp.int32)
    return pl.pallas_call(
        body, grid=(2,), out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)), out_shape=out, compiler_params=params
    )


@pytest.mark.parametrize("target", ["v5e", "v5p"])
def test_random_bits_before_a_seed(target):
    assert found(draws(0, "arbitrary"), target=target) == ("proved", [])
    for seed_in in (1, None):
        assert found(draws(seed_in, "arbitrary"), target=target) == ("defect", [("UNINIT", "defect")])
    # The second program may be the first one of another core.
    verdict, findings = found(draws(0, "parallel"), target=target)
    assert verdict == "defect" and ("UNINIT", "defect") in findings


# ---- outputs and tables


def test_an_output_of_which_nothing_was_written():
    def one_of_two(x, o, p):
        o[...] = x[...]

    def part(x, o):
        o[0:8] = x[0:8]

    for target in ("generic", "v5e"):
        assert found(pl.pallas_call(one_of_two, out_shape=(X, X)), X, target=target) == (
            "defect",
            [("OUT_MISSING", "defect")],
        )
        assert found(pl.pallas_call(part, out_shape=X), X, target=target) == ("warning", [("OUT_MISSING", "warning")])


def table(fill, take):
    def body(x, o, s, sem):
        fill(x, s)
        take(s, o, sem)

    scratch = [pltpu.VMEM((32, 128), F32), pltpu.SemaphoreType.DMA]
    return pl.pallas_call(body, out_specs=ANY, out_shape=X, scratch_shapes=scratch)


def some(x, s):
    s[0:5] = x[0:5]


def whole(s, o, sem):
    pltpu.async_copy(s, o, sem).wait()


def rows(s, o, sem):
    for row in range(0, 32, 8):
        pltpu.async_copy(s.at[pl.ds(row, 8)], o.at[pl.ds(row, 8)], sem).wait()


def by_way_of_another(s, o, sem):
    def copies(t):
        pltpu.async_copy(s, t, sem).wait()
        pltpu.async_copy(t, o, sem).wait()

    pl.run_scoped(copies, pltpu.VMEM((32, 128), F32))


def computed(s, o, sem):
    s[...] = s[...] + 1
    whole(s, o, sem)


MISSING, UNINIT = ("OUT_MISSING", "warning"), ("UNINIT", "defect")


@pytest.mark.parametrize(
    "fill, take, findings",
    [
        (some, whole, [MISSING]),
        (some, by_way_of_another, [MISSING]),
        (some, rows, [MISSING, UNINIT]),
        (some, computed, [UNINIT]),
        (lambda x, s: None, whole, [UNINIT]),
        (lambda x, s: s.__setitem__(..., x[...]), whole, []),
    ],
    ids=["table", "twice", "rows", "computed", "nothing", "full"],
)
def test_tables_of_fixed_size(fill, take, findings):
    assert found(table(fill, take), X)[1] == findings


def test_a_table_in_shared_memory():
    def kernel(stop):
        def body(x, o, smem):
            smem[0:stop] = x[0:stop]
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o)
            plgpu.wait_smem_to_gmem(0)

        out = jax.ShapeDtypeStruct((256, 128), F32)
        return plgpu.kernel(
            body, out_type=out, scratch_types={"smem": plgpu.SMEM((256, 128), F32)}, grid=(1,), grid_names=("b",)
        )

    x = jnp.ones((256, 128), F32)
    assert found(kernel(128), x, target="h100") == ("warning", [MISSING])
    assert found(kernel(256), x, target="h100") == ("proved", [])


# ---- copies


def moved(source, destination):
    def body(x, o, s, sem):
        pltpu.async_copy(x, s, sem).wait()
        pltpu.async_copy(s.at[pl.ds(source, 8)], s.at[pl.ds(destination, 8)], sem).wait()
        pltpu.async_copy(s, o, sem).wait()

    scratch = [pltpu.VMEM((32, 128), F32), pltpu.SemaphoreType.DMA]
    return pl.pallas_call(body, in_specs=[ANY], out_specs=ANY, out_shape=X, scratch_shapes=scratch)


def test_a_copy_over_itself():
    for source, destination in ((0, 8), (8, 0), (8, 8)):
        assert found(moved(source, destination), X)[1] == []
    for source, destination in ((0, 4), (4, 0)):
        assert found(moved(source, destination), X) == ("defect", [("RACE_ASYNC", "defect")])


# ---- unions of refs with members narrower than a byte


def test_bytes_of_a_narrow_member_read_as_another():
    union = plgpu.RefUnion(plgpu.SMEM((8, 128), jnp.int4), plgpu.SMEM((128,), jnp.int32))

    def same(x, o, members):
        members[0][...] = x[...]
        plgpu.commit_smem()
        o[...] = members[0][...]

    def other(x, o, members):
        members[0][...] = x[...]
        plgpu.commit_smem()
        o[...] = members[1][...]

    def call(body, out):
        return plgpu.kernel(body, out_type=out, scratch_types={"members": union}, grid=(1,), grid_names=("b",))

    x = jnp.ones((8, 128), jnp.int4)
    with palladion.emulate("h100", seeds=4):
        assert (np.asarray(call(same, jax.ShapeDtypeStruct((8, 128), jnp.int4))(x)) == 1).all()
    with pytest.raises(Exception, match="not seen through a member of another width"):
        with palladion.emulate("h100", seeds=4):
            call(other, jax.ShapeDtypeStruct((128,), jnp.int32))(x)
