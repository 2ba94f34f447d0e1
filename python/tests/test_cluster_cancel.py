"""Cluster launch control in kernels as JAX's documentation writes them: by hand, and by plgpu.dynamic_scheduling_loop,
in every distribution of the work.
"""

import functools
import inspect
import warnings

import jax
import numpy as np
import pytest

import palladion

warnings.filterwarnings("ignore", category=DeprecationWarning)
plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")
if not hasattr(plgpu, "dynamic_scheduling_loop"):
    pytest.skip("this JAX has no dynamic_scheduling_loop", allow_module_level=True)

from jax.experimental import pallas as pl  # noqa: E402

ROWS, COLUMNS = 8, 256  # two threads share a row: 128 elements each, one for each lane
X = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
OUT, SCRATCH = (
    ("out_type", "scratch_types")
    if "out_type" in inspect.signature(plgpu.kernel).parameters
    else ("out_shape", "scratch_shapes")
)
kernel_of_rows = functools.partial(plgpu.kernel, grid_names=("row",), **{OUT: jax.ShapeDtypeStruct(X.shape, X.dtype)})


def check(call, seeds=16):
    with palladion.emulate(seeds=seeds, on_defect="collect") as session:
        result = call(X)
    return np.asarray(result), str(session.report)


def once(x_ref, o_ref, result_ref, barrier_ref):
    row = jax.lax.axis_index("row")
    plgpu.try_cluster_cancel(result_ref, barrier_ref)
    o_ref[row] = x_ref[row] * 2
    plgpu.barrier_wait(barrier_ref)
    (taken,), success = plgpu.query_cluster_cancel(result_ref, ("row",))

    @pl.when(success)
    def _():
        o_ref[taken] = x_ref[taken] * 2


def test_a_block_does_the_work_of_another():
    call = kernel_of_rows(
        once, grid=(ROWS,), **{SCRATCH: dict(result_ref=plgpu.TryClusterCancelResult(), barrier_ref=plgpu.Barrier())}
    )
    result, report = check(call)
    np.testing.assert_array_equal(result, 2 * X)
    assert (
        "verdict: clean" in report and "on mosaic_gpu/b200" in report
    ), "the kernel says itself that it is Blackwell's"
    assert "not proved: an operation's result depends on which agent came first" in " ".join(report.split())


def scheduled(threads=1, cluster=1, spoil=None):
    def kernel(x_ref, o_ref):
        @plgpu.dynamic_scheduling_loop(
            ("row",),
            thread_axis="t" if threads > 1 else None,
            cluster_axes=("c",) if cluster > 1 else (),
            init_carry=np.int32(0),
        )
        def loop(info, carry):
            (row,) = info.index
            if cluster > 1:
                row = row * cluster + jax.lax.axis_index("c")
            columns = COLUMNS // threads
            first = jax.lax.axis_index("t") * columns if threads > 1 else 0
            o_ref[row, pl.ds(first, columns)] = x_ref[row, pl.ds(first, columns)] * 2
            if spoil is not None:
                spoil(o_ref, row)
            return carry + 1

    mesh = dict(num_threads=threads, thread_name="t") if threads > 1 else {}
    mesh |= dict(cluster=(cluster,), cluster_names=("c",)) if cluster > 1 else {}
    return kernel_of_rows(kernel, grid=(ROWS // cluster,), **mesh)


@pytest.mark.parametrize("threads, cluster", [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_the_loop_does_all_rows_in_every_distribution(threads, cluster):
    result, report = check(scheduled(threads, cluster), seeds=64)
    np.testing.assert_array_equal(result, 2 * X)
    assert "verdict: clean" in report


def test_schedules_differ_in_who_does_the_work():
    def kernel(x_ref, o_ref):
        block = jax.lax.axis_index("row")

        @plgpu.dynamic_scheduling_loop(("row",))
        def loop(info):
            o_ref[info.index[0]] = x_ref[info.index[0]] * 0 + block

    result, report = check(kernel_of_rows(kernel, grid=(ROWS,)))
    assert set(result[:, 0]) == {0}, "in the first schedule the first block takes what no other has begun"
    assert "error[NONDET]" in report


def test_work_that_writes_what_other_work_writes_is_a_race():
    def spoil(o_ref, row):
        o_ref[0] = o_ref[0]

    _, report = check(scheduled(spoil=spoil))
    assert "RACE_" in report
