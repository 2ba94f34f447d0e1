"""What a TPU's compiler may refuse behind JAX's lowering: a warning at the user's line, a defect where that is asked
for, and nothing of right kernels.
"""

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

X = jnp.arange(64 * 256, dtype=jnp.float32).reshape(64, 256)


def copied(start, rows=8):
    def kernel(x_ref, o_ref, sem):
        pltpu.make_async_copy(x_ref.at[pl.ds(start, rows)], o_ref, sem).start()  # the copy
        pltpu.make_async_copy(x_ref.at[pl.ds(start, rows)], o_ref, sem).wait()

    def f(x):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((rows, x.shape[1]), x.dtype),
            in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
            scratch_shapes=[pltpu.SemaphoreType.DMA],
        )(x)

    return f


def stepped(index):
    """Rows from `index(program)` on are loaded from a resident array."""

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[pl.ds(index(pl.program_id(0)), 8), :]

    def f(x):
        return pl.pallas_call(
            kernel,
            grid=(4,),
            out_shape=jax.ShapeDtypeStruct((32, 256), x.dtype),
            in_specs=[pl.BlockSpec((64, 256), lambda i: (0, 0))],
            out_specs=pl.BlockSpec((8, 256), lambda i: (i, 0)),
        )(x)

    return f


def refusals(f, x=X, target="v5e", **options):
    report = palladion.check(f, x, target=target, seeds=2, **options)
    return report, [finding for call in report.kernels for finding in call.findings if finding.code == "COMPILER"]


def names(found):
    return [finding.message.rpartition("[")[2].rstrip("]") for finding in found]


def test_a_copy_that_cuts_tiles_is_a_warning_at_the_users_line():
    report, found = refusals(copied(4))
    assert names(found) == ["tpu.compiler.slice-start"]
    finding = found[0]
    assert report.ok and report.verdict == "warning" and finding.severity == "warning"
    assert report.kernels[0].argument == refusals(copied(8))[0].kernels[0].argument  # the proof of its schedules stays
    assert (
        "the compiler may refuse this" in finding.message
        and "found 4 in dimension 0 of 'x_ref', f32[64,256] in tiles of 8 x 128" in finding.message
    )
    assert "verifyOffsetAndSizeTileAlignment" in finding.why and "until November 2025" in finding.why and finding.fix
    with open(__file__, encoding="utf-8") as file:
        line = next(number for number, text in enumerate(file, 1) if text.rstrip().endswith("# the copy"))
    assert f"{__file__}:{line}" in finding.source
    assert names(refusals(copied(0, 4))[1]) == ["tpu.compiler.slice-size"]


@pytest.mark.parametrize(
    ("f", "x"),
    [(copied(8), X), (copied(0, 64), X), (copied(3, 5), X.reshape(128, 128))],
    ids=["tiles", "all of it", "rows of 128 lanes, which are free"],
)
def test_what_takes_whole_tiles_is_proved(f, x):
    report, found = refusals(f, x)
    assert not found and report.verdict == "proved"


def test_the_option_legality_makes_it_a_defect_or_leaves_it_out():
    report, found = refusals(copied(4), legality="compiler")
    assert not report.ok and [finding.severity for finding in found] == ["defect"]
    report, found = refusals(copied(4), legality="off")
    assert report.ok and not found
    with pytest.raises(ValueError, match="legality must be on, off or compiler; found 'maybe'"):
        refusals(copied(4), legality="maybe")


def test_plain_runs_and_emulated_programs_say_it_too():
    with pytest.warns(palladion.PalladionWarning, match=r"tpu\.compiler\.slice-start"):
        palladion.run(copied(4), X, target="v5e", legality="compiler")
    with palladion.emulate("v5e", on_defect="collect") as session:
        jax.block_until_ready(jax.jit(copied(4))(X))
    assert names([finding for call in session.report.calls for finding in call.findings]) == [
        "tpu.compiler.slice-start"
    ]
    with pytest.raises(Exception, match=r"tpu\.compiler\.slice-start"), palladion.emulate("v5e", legality="compiler"):
        jax.block_until_ready(jax.jit(copied(4))(X))


@pytest.mark.parametrize(
    ("index", "unproved"),
    [
        (lambda i: i * 8, False),
        (lambda i: (i + 1) * 4 * 2, False),
        (lambda i: pl.multiple_of(i * 4 + i * 4, 8), False),
        (lambda i: jax.lax.rem(i, 2) * 16 + 8, False),
        (lambda i: jax.lax.select(i > 1, 8, 16), False),
        (lambda i: i, True),
        (lambda i: i * 4, True),
        (lambda i: i * 8 + 1, True),
    ],
)
def test_an_index_is_provably_a_multiple_of_the_tile(index, unproved):
    report, found = refusals(stepped(index))
    assert names(found) == ["tpu.compiler.access-proof"] * unproved
    assert report.verdict == ("warning" if unproved else "proved")


def test_a_loop_that_is_written_out_has_constants():
    def kernel_of(unroll):
        def kernel(x_ref, o_ref):
            def body(k, _):
                o_ref[pl.ds(k * 4, 4), :] = x_ref[pl.ds(k * 4, 4), :]

            jax.lax.fori_loop(0, 4, body, None, unroll=unroll)

        return lambda x: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((16, 256), x.dtype))(x)

    assert not refusals(kernel_of(True), X[:16])[1]
    assert set(names(refusals(kernel_of(False), X[:16])[1])) == {"tpu.compiler.access-proof"}


def test_a_chip_has_what_another_one_lacks():
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = jax.lax.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.int32)

    def f(x):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((128, 128), jnp.int32))(x, x)

    x = jnp.ones((128, 128), jnp.int8)
    assert names(refusals(f, x, "v7x")[1]) == names(refusals(f, x, "v4")[1]) == ["tpu.compiler.product-types"]
    assert not refusals(f, x, "v6e")[1]


def test_a_mask_gets_a_last_dimension_as_numbers():
    def kernel_of(first):
        def kernel(x_ref, o_ref):
            mask = (x_ref[...] > 0)[:, None] if first else x_ref[...][:, None] > 0
            o_ref[...] = jnp.where(mask, 1, 0)

        return lambda x: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((128, 1), jnp.int32))(x)

    x = jnp.arange(128, dtype=jnp.int32)
    assert "tpu.compiler.new-last-dim" in names(refusals(kernel_of(True), x)[1])
    assert not refusals(kernel_of(False), x)[1]
