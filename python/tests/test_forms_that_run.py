"""Forms of kernels that JAX lowers: each runs, with NumPy's numbers, and its wrong twin is found."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu, triton as plt

import palladion

X = np.arange(8 * 128, dtype=np.float32).reshape(8, 128)
ANYWHERE, SMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SMEM)
SELECT = getattr(pl, "select_ref", None) or getattr(pltpu, "select_ref", None)


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def found(call, *args, target="v6e", **options):
    """(the result, the codes of what was found) under several schedules."""
    with palladion.emulate(target, seeds=8, on_defect="collect", **options) as session:
        result = jax.tree.map(np.asarray, jax.jit(call)(*args))
    return result, sorted({finding.code for finding in session.report.findings})


def over_a_core(body, x, **given):
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=1)
    given["out_type" if jax.__version_info__ >= (0, 10) else "out_shape"] = like(x)
    return pl.kernel(body, mesh=mesh, **given)(x)


@pytest.mark.parametrize("inside", [True, False])
def test_a_captured_scalar(inside):
    def plus(x, i, taken):
        def body(x_ref, o_ref, v, sem):
            pltpu.async_copy(x_ref, v, sem).wait()
            v[...] = jnp.where(taken, v[...] + i, 0)
            pltpu.async_copy(v, o_ref, sem).wait()

        scratch = (pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA)
        if inside:
            return over_a_core(lambda *refs: pl.run_scoped(lambda v, sem: body(*refs, v, sem), *scratch), x)
        name = "scratch_types" if jax.__version_info__ >= (0, 10) else "scratch_shapes"
        return over_a_core(body, x, **{name: scratch})

    for taken in (True, False):
        result, codes = found(plus, X, jnp.float32(3), taken, target="v5e")
        assert codes == []
        np.testing.assert_array_equal(result, X + 3 if taken else np.zeros_like(X))
    text = palladion.export(plus, X, jnp.float32(3), True, target="v5e")
    assert "in %captured: f32[] space smem" in text or inside, text


def test_a_captured_array_is_refused_by_jax():
    def call(x):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] + x

        return over_a_core(body, x + x)

    with pytest.raises(ValueError, match="captures"):
        palladion.export(call, X)


def test_a_scalar_that_a_kernel_for_a_gpu_captures():
    def plus(x, i):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] + i

        return plgpu.kernel(body, out_type=like(x))(x)

    message = r"captures a scalar from outside \(f32\[\]\).*pass it as an operand"
    with pytest.raises(palladion.ExportError, match=message):
        palladion.export(plus, X, jnp.float32(3), target="h100")


def taken_at(start):
    """A load from a computed start, which `start` makes of ids and the program's number."""

    def kernel(ids, x, o):
        o[...] = plt.load(x.at[pl.ds(start(ids, pl.program_id(0)), 1)])

    def call(ids, x, params=plt.CompilerParams()):
        return pl.pallas_call(
            kernel,
            grid=(4,),
            out_shape=jax.ShapeDtypeStruct((4,), jnp.float32),
            out_specs=pl.BlockSpec((1,), lambda i: (i,)),
            compiler_params=params,
        )(ids, x)

    return call


IDS, TENS = np.array([2, 0, 3, 1], np.int32), np.arange(4, dtype=np.float32) * 10


def test_a_slice_from_an_array_of_one_element():
    """A load of a slice of one gives i32[1]; JAX's lowering for Triton takes it for the start of the next slice."""
    of_one = taken_at(lambda ids, i: plt.load(ids.at[pl.ds(i, 1)]))
    result, codes = found(of_one, IDS, TENS, target="triton/h100")
    np.testing.assert_array_equal(result, TENS[IDS])
    assert codes == []
    _, codes = found(of_one, IDS + 1, TENS, target="triton/h100")
    assert "OOB" in codes  # the last id is 4


def gathered(at, shape):
    """A kernel that loads `at(starts)` of its array, with four starts."""

    def kernel(ids, x, o):
        o[...] = plt.load(x.at[at(plt.load(ids.at[...]))])

    out = jax.ShapeDtypeStruct(shape, jnp.float32)
    return pl.pallas_call(kernel, out_shape=out, compiler_params=plt.CompilerParams())


def test_a_slice_with_a_start_for_each_element():
    """JAX's lowering for Triton adds start and arange(size): place k is start[k] + k."""
    table = np.arange(8 * 8, dtype=np.float32).reshape(8, 8)
    rows = IDS + np.arange(4)
    for at, expected in (
        (lambda s: (pl.ds(s, 4), pl.ds(2, 4)), table[rows, 2:6]),
        (lambda s: (3, pl.ds(s, 4)), table[3, rows]),
        (lambda s: (pl.ds(2, 4), pl.ds(s, 4)), table[2:6][:, rows]),
    ):
        call = gathered(at, expected.shape)
        result, codes = found(call, IDS, table, target="triton/h100")
        np.testing.assert_array_equal(result, expected)
        assert codes == []
        with palladion.target("triton/h100"):
            assert jax.jit(call).trace(IDS, table).lower(lowering_platforms=("cuda",)).as_text()
    _, codes = found(gathered(lambda s: (pl.ds(s, 4), pl.ds(0, 4)), (4, 4)), IDS + 4, table, target="triton/h100")
    assert "OOB" in codes


def test_a_store_to_a_slice_with_a_start_for_each_element():
    def kernel(ids, x, o):
        plt.store(o.at[pl.ds(plt.load(ids.at[...]), 4)], x[...])

    def call(ids, x):
        return pl.pallas_call(kernel, out_shape=like(x), compiler_params=plt.CompilerParams())(ids, x)

    forward = np.array([0, 1, 0, -3], np.int32)  # places 0, 2, 2, 0
    _, codes = found(call, forward, TENS, target="triton/h100")
    assert "RACE_WW" in codes or "OUT_MISSING" in codes
    result, codes = found(call, np.array([3, 1, -1, -3], np.int32), TENS, target="triton/h100")
    np.testing.assert_array_equal(result, TENS[::-1])
    assert codes == []


def test_a_slice_from_an_array_where_jax_refuses_it():
    of_two = taken_at(lambda ids, i: plt.load(ids.at[pl.ds(i, 2)]))
    message = (
        r"test_forms_that_run.py:\d+: masked_load: a slice of 1 starts at an array of shape \(2,\), which JAX's "
        r"lowering for Triton cannot broadcast to \(1,\)"
    )
    with pytest.raises(palladion.ExportError, match=message):
        palladion.export(of_two, IDS, TENS)

    def kernel(ids, x, o):
        o[...] = x[pl.ds(ids[pl.ds(0, 1)], 1)]

    call = pl.pallas_call(
        kernel, out_shape=jax.ShapeDtypeStruct((1,), jnp.float32), compiler_params=pltpu.CompilerParams()
    )
    with pytest.raises(palladion.ExportError, match="the kernel is for mosaic_tpu. Read the scalar"):
        palladion.export(call, IDS, TENS)


@pytest.mark.parametrize("start", [-1, 1, 7])
def test_a_constant_slice_outside_is_found_as_a_computed_one(start):
    def constant(x, o):
        plt.store(o.at[pl.ds(jnp.int32(start), 4)], x[...])

    def computed(x, o):
        plt.store(o.at[pl.ds(pl.program_id(0) + start, 4)], x[...])

    reports = []
    for body in (computed, constant):
        call = pl.pallas_call(body, grid=(1,), out_shape=like(TENS), compiler_params=plt.CompilerParams())
        with palladion.emulate("triton/h100", seeds=4, on_defect="collect") as session:
            jax.jit(call)(TENS)
        reports.append([(finding.code, finding.message) for finding in session.report.findings])
    assert reports[0] == reports[1] and reports[0][0][0] == "OOB", reports


def through_a_slot(constant, rows=10):
    """Eight rows from the fourth on of a scratch of `rows`: in and out again."""

    def kernel(i_ref, x_ref, o_ref, slot):
        start = jnp.int32(4) if constant else i_ref[0]
        pltpu.sync_copy(x_ref, slot.at[pl.ds(start, 8)])
        o_ref[...] = slot[pl.ds(start, 8)]

    scratch = [pltpu.VMEM((rows, 128), jnp.float32)]
    return pl.pallas_call(
        kernel,
        out_shape=like(X),
        in_specs=[SMEM, ANYWHERE],
        out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
        scratch_shapes=scratch,
    )


@pytest.mark.parametrize("constant", [True, False])
def test_a_slice_that_stays_in_its_tiles(constant):
    """As in JAX's interpreter with buffer_bounds="padded": past the end is NaN, which must not reach an output."""
    at = np.array([4], np.int32)
    for bounds, expected in (("padded", ["PAD_LEAK"]), ("logical", ["OOB"])):
        result, codes = found(through_a_slot(constant), at, X, bounds=bounds)
        assert codes == expected
        np.testing.assert_array_equal(result[:6], X[:6])
        assert np.isnan(result[6:]).all()
    result, codes = found(through_a_slot(constant, rows=12), at, X)
    assert codes == []
    np.testing.assert_array_equal(result, X)


def copying(kernel, semaphore):
    return pl.pallas_call(
        kernel,
        out_shape=(like(X), jax.ShapeDtypeStruct((1,), jnp.int32)),
        in_specs=[SMEM, ANYWHERE],
        out_specs=(ANYWHERE, SMEM),
        scratch_shapes=[semaphore],
    )


def test_the_semaphore_of_a_copy_is_read():
    def kernel(i_ref, x_ref, o_ref, n_ref, sem):
        pltpu.async_copy(x_ref, o_ref, sem).wait()
        n_ref[0] = pl.semaphore_read(sem)

    (result, left), codes = found(copying(kernel, pltpu.SemaphoreType.DMA), np.zeros(1, np.int32), X)
    assert codes == [] and left == [0]
    np.testing.assert_array_equal(result, X)


@pytest.mark.parametrize("waited, codes", [(True, []), (False, ["NOT_AWAITED", "SEM_LEAK"])])
def test_a_copy_that_signals_a_regular_semaphore(waited, codes):
    def kernel(i_ref, x_ref, o_ref, n_ref, sem):
        pltpu.async_copy(x_ref, o_ref, sem)
        if waited:
            pl.semaphore_wait(sem)
        n_ref[0] = 0

    (result, _), said = found(copying(kernel, pltpu.SemaphoreType.REGULAR), np.zeros(1, np.int32), X)
    assert set(said) <= set(codes) and bool(said) == bool(codes), said
    if waited:
        np.testing.assert_array_equal(result, X)


def test_the_fix_of_a_copy_that_signals_a_regular_semaphore():
    """No descriptor of a copy waits on one: JAX's dma_wait takes DMA semaphores."""

    def kernel(i_ref, x_ref, o_ref, n_ref, sem):
        pltpu.async_copy(x_ref, o_ref, sem)
        n_ref[0] = 0

    call = copying(kernel, pltpu.SemaphoreType.REGULAR)
    report = palladion.check(call, np.zeros(1, np.int32), X, target="v6e", seeds=4)
    fixes = " ".join(finding.fix for finding in report.findings if finding.code == "NOT_AWAITED")
    assert "pl.semaphore_wait(sem" in fixes and "copy.wait()" not in fixes, report


@pytest.mark.skipif(SELECT is None, reason="this JAX has no select_ref")
@pytest.mark.parametrize("nested", [False, True])
def test_a_choice_among_semaphores(nested):
    def kernel(i_ref, x_ref, o_ref, n_ref, sems):
        last = SELECT(i_ref[0], sems.at[1], sems.at[2]) if nested else sems.at[1]

        @pl.loop(0, 2)
        def _(i):
            half = pl.ds(4 * i, 4)
            pltpu.async_copy(x_ref.at[half], o_ref.at[half], SELECT(i, sems.at[0], last)).wait()

        n_ref[0] = 0

    for which in (0, 1):
        (result, _), codes = found(copying(kernel, pltpu.SemaphoreType.DMA((3,))), np.full(1, which, np.int32), X)
        assert codes == []
        np.testing.assert_array_equal(result, X)


@pytest.mark.skipif(SELECT is None, reason="this JAX has no select_ref")
def test_a_wait_on_a_semaphore_that_was_not_chosen():
    def kernel(i_ref, x_ref, o_ref, n_ref, sems):
        pltpu.make_async_copy(x_ref, o_ref, SELECT(i_ref[0], sems.at[0], sems.at[1])).start()
        pltpu.make_async_copy(x_ref, o_ref, sems.at[0]).wait()
        n_ref[0] = 0

    with palladion.emulate("v6e", seeds=2, on_defect="collect") as session:
        jax.jit(copying(kernel, pltpu.SemaphoreType.DMA((2,))))(np.ones(1, np.int32), X)
    assert "DEADLOCK" in [finding.code for finding in session.report.findings]


def pinned(to):
    """Two kernels that work in place on one pinned buffer, and one that fills a new one."""
    state = pytest.importorskip("jax._src.state.primitives")
    if not hasattr(state, "create_linear"):
        pytest.skip("this JAX has no pinned buffers")

    def plus(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    def doubled(x_ref, _, o_ref):
        o_ref[...] = x_ref[...] * 2

    def f(x):
        y = state.pin(x, to=to)
        for _ in range(2):
            y = pl.pallas_call(plus, out_shape=y, input_output_aliases={0: 0})(y)
        new = state.create_linear(jax.typeof(x))
        new = pl.pallas_call(doubled, out_shape=new, input_output_aliases={1: 0})(x, new)
        return state.unpin(y) + state.unpin(new)

    return f


@pytest.mark.parametrize("to", [None, "hbm", "vmem"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.int8])
def test_pinned_buffers(to, dtype):
    x = jnp.asarray(X % 16, dtype)
    result, codes = found(pinned(to), x, target="v5e")
    assert codes == (["COMPILER"] if dtype == jnp.int8 else [])  # a TPU's compiler may refuse sums of 8 bits
    np.testing.assert_array_equal(result, 3 * x + 2)
    np.testing.assert_array_equal(palladion.run(pinned(to), x, target="v5e"), 3 * x + 2)


@pytest.mark.parametrize("types", ["Auto", "Explicit"])
def test_record_and_check_under_a_mesh(types, tmp_path):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    call = pl.pallas_call(kernel, out_shape=like(X))
    mesh = jax.make_mesh((1,), ("x",), axis_types=(getattr(jax.sharding.AxisType, types),), devices=jax.devices()[:1])
    with jax.set_mesh(mesh):
        np.testing.assert_array_equal(palladion.record(call, X, out=tmp_path / "bundle", target="v5e"), X * 2)
        assert palladion.check(call, X, target="v5e", reference=lambda x: x * 2).verdict == "proved"
