"""`palladion.time` and `emulate(..., time=True)`: how long kernels take on a chip, in Python."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion
from palladion import _library, machines

SIZE = 512


def _double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def double(x):
    block = pl.BlockSpec((128, 256), lambda i, j: (i, j))
    return pl.pallas_call(
        _double,
        grid=(x.shape[0] // 128, x.shape[1] // 256),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)


def ones(rows=SIZE):
    return jnp.ones((rows, SIZE), jnp.float32)


def test_each_kernel_has_its_time_and_the_results_are_there():
    report = palladion.time(lambda x: double(double(x)), ones(), target="v5e")
    assert len(report.kernels) == 2
    np.testing.assert_array_equal(report.results, np.full((SIZE, SIZE), 4, np.float32))
    (first, second) = report.kernels
    assert first.seconds == second.seconds > 0
    assert report.seconds == pytest.approx(2 * first.seconds)
    assert first.machine == "v5e" and 0 < first.uncertainty
    assert str(report).startswith(f"{first.kernel} on v5e at ")


def refuses(*_):
    raise AssertionError("values are computed")


def test_who_asks_for_times_alone_gets_the_same_without_values(monkeypatch):
    whole = palladion.time(double, ones(), target="v5e")
    monkeypatch.setattr(_library.Program, "run", refuses)
    times = palladion.time(double, ones(), target="v5e", results=False)
    assert times.results is None
    assert times.kernels == whole.kernels


def _chosen(which_ref, x_ref, o_ref):
    @pl.when(which_ref[0] > 0)
    def _():
        o_ref[...] = jnp.exp(x_ref[...])


def chosen(which, x):
    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(),
        in_specs=[pl.BlockSpec(memory_space=pltpu.VMEM)],
        out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
    )
    return pl.pallas_call(_chosen, grid_spec=grid, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(which, x)


def test_a_kernel_that_decides_by_what_another_gives_has_its_time_without_results():
    def both(which, x):
        first = double(x)
        return chosen(which + first[0, :1].astype(jnp.int32), x)

    whole = palladion.time(both, jnp.zeros(1, jnp.int32), ones(), target="v5e")
    times = palladion.time(both, jnp.zeros(1, jnp.int32), ones(), target="v5e", results=False)
    assert times.results is None and len(times.kernels) == 2
    assert times.kernels == whole.kernels
    unchosen = palladion.time(chosen, jnp.zeros(1, jnp.int32), ones(), target="v5e", results=False)
    assert unchosen.seconds < times.kernels[1].seconds


def test_a_copy_is_near_what_its_bytes_take():
    (kernel,) = palladion.time(double, ones(8192), target="v5e").kernels
    assert kernel.data["memory_bytes"] == 2 * 8192 * SIZE * 4
    least = max(kernel.roofline.values())
    assert least <= kernel.seconds <= 2 * least


def _fetch(x_ref, o_ref, x_smem, full):
    plgpu.copy_gmem_to_smem(x_ref, x_smem, full)
    plgpu.barrier_wait(full)
    plgpu.copy_smem_to_gmem(x_smem, o_ref)
    plgpu.wait_smem_to_gmem(0)


def fetch(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return plgpu.kernel(_fetch, out_type=shape, scratch_types=[plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier()])(x)


@pytest.fixture(scope="module")
def fetched():
    (kernel,) = palladion.time(fetch, jnp.ones((64, 32), jnp.float32), target="b200").kernels
    return kernel


def test_how_far_a_time_is_off_may_not_be_known(fetched):
    assert fetched.uncertainty is None and "and how far that is off is not known" in str(fetched)
    advice = palladion.advise(fetch, jnp.ones((64, 32), jnp.float32), target="b200")
    assert advice.uncertainty is None and "and how far that is off is not known" in str(advice)


def test_what_l2_had_of_each_operand(fetched):
    assert fetched.l2_hit_rates == {"x": 0, "o": None} and fetched.l2_hit_rate == 0
    assert palladion.time(double, ones(), target="v5e").kernels[0].l2_hit_rate is None


def test_waves_of_blocks_are_the_gpus(fetched):
    assert fetched.placement.waves == 1 and 0 < fetched.placement.last_wave < 0.01
    assert palladion.time(double, ones(), target="v5e").kernels[0].placement.waves is None


def test_what_threads_waited_for(fetched):
    assert set(fetched.stalls) == {"a copy into shared memory", "a copy to global memory"}
    assert sum(fetched.stalls.values()) == pytest.approx(sum(line.waited_cycles for line in fetched.lines))
    (wait,) = [line for line in fetched.lines if line.op == "barrier_wait"]
    assert wait.stalls == {"a copy into shared memory": wait.waited_cycles}
    (on_tpu,) = palladion.time(double, ones(), target="v5e").kernels
    assert set(on_tpu.stalls) == {"a block from main memory", "a block to main memory"}
    assert sum(on_tpu.stalls.values()) == pytest.approx(sum(line.waited_cycles for line in on_tpu.lines))


def test_the_critical_path_adds_up_to_the_cycles(fetched):
    assert sum(part.cycles for part in fetched.critical_path) == pytest.approx(fetched.cycles)
    longest = fetched.critical_path[0]
    assert (longest.op, longest.doing) == ("copy_gmem_to_smem", "under way")
    assert longest.frames[0][0] == __file__ and longest.frames[0][2] == "_fetch"
    (on_tpu,) = palladion.time(double, ones(), target="v5e").kernels
    assert sum(part.cycles for part in on_tpu.critical_path) == pytest.approx(on_tpu.cycles)


def test_what_if_memory_were_faster():
    twice = 2 * machines.show("v5e").numbers["dram.peak"].base_value
    slow = palladion.time(double, ones(8192), target="v5e").seconds
    assert palladion.time(double, ones(8192), target="v5e", changes={"dram.peak": f"{twice:.0f} B/s"}).seconds < slow


def test_lines_are_the_users():
    (kernel,) = palladion.time(double, ones(), target="v5e").kernels
    assert any(file == __file__ and function == "_double" for line in kernel.lines for file, _, function in line.frames)


def test_a_timeline_shows_a_core_as_a_page_and_for_perfetto():
    (kernel,) = palladion.time(double, ones(), target="v5e", timeline=0).kernels
    assert kernel.page.startswith("<!doctype html>") and "core 0" in kernel.page and "_double" in kernel.page
    events = json.loads(kernel.trace)["traceEvents"]
    named = [event["name"] for event in events if event["ph"] == "X"]
    assert any(name.startswith("wait for ") for name in named) and "step (3, 1)" in named
    (without,) = palladion.time(double, ones(), target="v5e").kernels
    assert without.page is None and without.trace is None and without.seconds == kernel.seconds


def test_a_page_has_another_run_beside_its_own():
    before = palladion.time(double, ones(), target="v5e", timeline=0).kernels[0].page
    assert '<script type="application/json" id="other">null</script>' in before
    page = palladion.time(double, ones(), target="v5e", timeline=(0, 0), compare=before).kernels[0].page
    data = before.split('id="data">')[1].split("</script>")[0]
    assert page.split('id="other">')[1].split("</script>")[0] == data
    with pytest.raises(_library.PalladionError, match="not a page of `palladion time --page`"):
        palladion.time(double, ones(), target="v5e", timeline=0, compare="<html>")
    with pytest.raises(_library.PalladionError, match="a timeline of device 1 is requested"):
        palladion.time(double, ones(), target="v5e", timeline=(1, 0))
    with pytest.raises(ValueError, match="say which SM or core: timeline=0"):
        palladion.time(double, ones(), target="v5e", compare=before)


def test_a_timeline_of_no_core_is_an_error():
    with pytest.raises(_library.PalladionError, match="a timeline of core 1 is requested; v5e has core 0 alone"):
        palladion.time(double, ones(), target="v5e", timeline=1)
    with pytest.raises(_library.PalladionError, match="a timeline of core 2 is requested; v5p has cores 0 to 1"):
        palladion.time(double, ones(), target="v5p", timeline=2)
    with pytest.raises(ValueError, match="timeline must be a whole number of at least 0, or None; found True"):
        palladion.time(double, ones(), target="v5e", timeline=True)


def test_no_chip_is_an_error_that_says_what_to_give():
    with pytest.raises(_library.PalladionError, match="no chip"):
        palladion.time(double, ones(), target="generic")


def test_a_number_that_is_not_there_is_an_error():
    with pytest.raises(_library.PalladionError, match="no.such"):
        palladion.time(double, ones(), target="v5e", changes={"no.such": 1})


def test_emulate_gives_times_beside_reports():
    with palladion.emulate("v5e", time=True) as session:
        jax.block_until_ready(double(ones()))
    (call,) = session.report.calls
    assert call.time.seconds == palladion.time(double, ones(), target="v5e").kernels[0].seconds
    assert call.time_refused == ""
    assert " on v5e at " in str(session.report)


def test_emulate_says_why_a_kernel_has_no_time():
    with palladion.emulate("generic", time=True) as session:
        jax.block_until_ready(double(ones()))
    (call,) = session.report.calls
    assert call.time is None and "no chip" in call.time_refused
    assert call.time_refused in str(session.report)


def test_without_it_nothing_is_timed():
    with palladion.emulate("v5e") as session:
        jax.block_until_ready(double(ones()))
    assert session.report.calls[0].time is None and session.report.calls[0].time_refused == ""
