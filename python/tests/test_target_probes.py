"""`palladion.target` and `emulate` answer what kernels ask about the chip while they are traced, in their thread alone,
and leave no trace.
"""

import sys
import threading
import types

import jax
import jax._src.lib
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.extend import backend

import palladion
from palladion import _library
from palladion.jax import probes

CHIPS = {chip["name"]: chip for chip in _library.chips()}


def asked() -> dict:
    """Everything that shipped kernels ask, as they ask it."""
    device = jax.devices()[0]
    abstract = jax.sharding.get_abstract_mesh().abstract_device
    return {
        "platform": device.platform,
        "backend": jax.default_backend(),
        "client": backend.get_backend().platform,
        "kind": device.device_kind,
        "local": jax.local_devices()[0].device_kind,
        "default": backend.get_default_device().device_kind,
        "core_count": getattr(device, "core_count", None),
        "num_cores": getattr(device, "num_cores", None),
        "capability": getattr(device, "compute_capability", None),
        "abstract": abstract and (abstract.device_kind, abstract.num_cores),
        "cuda": jax._src.lib.cuda_versions,
    }


BEFORE, COUNT = asked(), jax.device_count()


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert asked() == BEFORE
    assert not {"core_count", "num_cores", "compute_capability", "coords", "core_on_chip"} & set(vars(jax.Device))
    assert jax.extend.backend.get_backend is jax._src.xla_bridge.get_backend and hasattr(
        backend.get_backend, "cache_clear"
    )
    assert jax.devices()[0].memory_stats() is None and backend.get_backend().platform_version == "cpu"
    assert probes.current() is None


@pytest.mark.parametrize("name", ["h100", "h200", "b200", "mosaic_gpu/h100", "triton/b200"])
def test_gpus(name):
    chip = CHIPS[name.rpartition("/")[2]]
    with palladion.target(name) as answers:
        found = asked()
        cuda = found.pop("cuda")
        assert cuda.cuda_runtime_get_version() == 12091 and cuda.cuda_supports_multicast() is True
    kind = chip["device_kind"]
    assert found == {
        "platform": "gpu",
        "backend": "gpu",
        "client": "gpu",
        "kind": kind,
        "local": kind,
        "default": kind,
        "core_count": chip["cores"],
        "num_cores": None,
        "capability": f"{chip['generation']}.0",
        "abstract": (kind, chip["cores"]),
    }
    assert answers.name == chip["name"]


def test_the_numbers_of_the_boards():
    assert [(CHIPS[n]["cores"], CHIPS[n]["generation"]) for n in ("h100", "h200", "b200")] == [
        (132, 9),
        (132, 9),
        (148, 10),
    ]


@pytest.mark.parametrize("name", ["v4", "v5e", "v5p", "v6e", "v7x", "mosaic_tpu/v5e"])
def test_tpus(name):
    """JAX's own table of TPUs knows the device kind, and says the same number of cores and generation."""
    chip = CHIPS[name.rpartition("/")[2]]
    with palladion.target(name):
        info, found = pltpu.get_tpu_info(), asked()
        assert jax.devices()[0].memory_stats()["bytes_limit"] == info.hbm_capacity_bytes * info.num_cores
    assert (info.generation, info.num_cores) == (chip["generation"], chip["cores"])
    assert (found["platform"], found["backend"], found["client"]) == ("tpu", "tpu", "tpu")
    assert found["num_cores"] == chip["cores"] and found["core_count"] is None and found["capability"] is None


def test_targets_nest():
    with palladion.target("h100"):
        with palladion.target("v5e"):
            assert asked()["kind"] == CHIPS["v5e"]["device_kind"]
            with pytest.raises(palladion.ExportError, match=r"the target v5e \(a TPU\) does not have"):
                jax._src.lib.cuda_versions.cuda_runtime_get_version()
        assert asked()["kind"] == CHIPS["h100"]["device_kind"]


def test_what_is_traced_for_one_chip_is_not_taken_for_another():
    f = jax.jit(lambda x: x + jax.devices()[0].core_count)
    for chip in ("h100", "b200", "h100"):
        with palladion.target(chip):
            assert f(jnp.float32(0)) == CHIPS[chip]["cores"]


def test_it_ends_with_an_error():
    with pytest.raises(ZeroDivisionError):
        with palladion.target("h100"):
            raise ZeroDivisionError


def test_other_threads_are_not_answered():
    answers, inside, go_on = [], threading.Event(), threading.Event()

    def other():
        answers.append(asked()["kind"])
        with pytest.raises(AttributeError):
            jax.devices()[0].core_count  # noqa: B018
        with pytest.raises(palladion.ExportError, match="asks JAX for CUDA's version"):
            jax._src.lib.cuda_versions.cuda_runtime_get_version()
        with palladion.target("b200"):
            answers.append(asked()["kind"])
            inside.set()
            assert go_on.wait(60)
        answers.append("ended")

    with palladion.target("h100"):
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(60)
        assert asked()["core_count"] == 132
    assert (
        asked()["kind"] == BEFORE["kind"] and jax._src.lib.cuda_versions is not None
    )  # the other thread still holds it
    go_on.set()
    thread.join()
    assert answers == [BEFORE["kind"], CHIPS["b200"]["device_kind"], "ended"]


def test_cuda_versions_in_modules_that_import_it():
    """Before, as a kernel's module does that is imported first, and meanwhile."""
    early, late = types.ModuleType("early_module"), types.ModuleType("late_module")
    sys.modules |= {"early_module": early, "late_module": late}
    try:
        code = "from jax._src.lib import cuda_versions"
        exec(code, vars(early))
        with palladion.target("h100"):
            exec(code, vars(late))
            assert (
                early.cuda_versions.cuda_runtime_get_version() == late.cuda_versions.cuda_runtime_get_version() == 12091
            )
            with pytest.raises(AttributeError, match="answers cuda_runtime_get_version and .*, not cudnn_get_version"):
                early.cuda_versions.cudnn_get_version()
            assert jax._src.lax.linalg.cuda_versions is None  # JAX's own modules do not get the answers
        assert early.cuda_versions is None and late.cuda_versions is None
    finally:
        del sys.modules["early_module"], sys.modules["late_module"]


def test_meshes_keep_the_devices_that_they_have():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("a_mesh_of_this_test",))
    with palladion.target("h100"):
        assert vars(mesh.abstract_mesh)["abstract_device"].device_kind == BEFORE["kind"]
        double = jax.jit(jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=jax.P(), out_specs=jax.P()))
        assert double(jnp.float32(2)) == 4
        with jax.set_mesh(mesh):
            assert double(jnp.float32(2)) == 4
    assert mesh.abstract_mesh.abstract_device.device_kind == BEFORE["kind"]
    with jax.set_mesh(mesh), palladion.target("h100"):
        assert double(jnp.float32(2)) == 4
        assert jax.devices()[0].core_count == 132


def test_programs_compute_as_before():
    with palladion.target("h100"):
        x = jnp.arange(6.0).reshape(2, 3)
        assert float(jax.jit(jax.grad(lambda x: jnp.sum(jnp.sin(x) @ x.T)))(x).sum()) != 0
        assert jax.vmap(lambda row: jax.lax.scan(lambda c, v: (c + v, c), 0.0, row)[0])(x).tolist() == [3.0, 12.0]
        assert jax.random.uniform(jax.random.key(0), (2,)).shape == (2,)
        lowered = jax.jit(jnp.sin).lower(x)
        assert (
            lowered.compile()(x).tolist() == jnp.sin(x).tolist()
            and "cpu" in str(lowered.compile().input_shardings).lower()
        )
        assert jax.device_put(x, jax.devices()[0]).tolist() == x.tolist()
        picked = jax.jit(lambda v: jax.lax.platform_dependent(v, cpu=lambda v: v + 1, default=lambda v: v + 2))(x)
        assert picked.tolist() == (x + 1).tolist()
        exported = jax.export.export(jax.jit(jnp.sin))(x)
        assert exported.platforms == ("cpu",)
        assert (jax.device_count(), jax.process_count(), jax.local_device_count()) == (COUNT, 1, COUNT)


@pytest.mark.parametrize("name", ["h300", "mosaic_gpu/v5e", "triton/", "x/h100"])
def test_unknown_chips(name):
    with pytest.raises(
        palladion.PalladionError, match=r"unknown target '.*'; give a chip \(h100, .*generic, triton/h100"
    ):
        palladion.target(name)


def test_generic_answers_nothing():
    with palladion.target("h100"):
        with palladion.target("generic") as chip:
            assert chip is None and asked()["kind"] == BEFORE["kind"] and jax.default_backend() == "cpu"
        assert jax.default_backend() == "gpu"


def add_the_cores(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + jax.devices()[0].core_count

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


X = np.zeros((8, 128), np.float32)


def test_emulate_answers_too():
    for chip in ("h100", "triton/b200"):
        with palladion.emulate(chip) as session:
            out = np.asarray(add_the_cores(X))
        assert (out == CHIPS[chip.rpartition("/")[2]]["cores"]).all() and session.report.count == 1


def test_run_and_check_answer_too():
    assert (np.asarray(palladion.run(add_the_cores, X, target="triton/b200")) == 148).all()
    assert palladion.check(add_the_cores, X, target="triton/h100").verdict in ("clean", "proved")


def test_without_a_target_the_error_says_what_to_do():
    def emulated():
        with palladion.emulate():
            add_the_cores(X)

    for ask in (lambda: palladion.run(add_the_cores, X), lambda: palladion.export(add_the_cores, X), emulated):
        with pytest.raises(
            palladion.ExportError, match=r'asks a device for its core_count.*palladion\.target\("h100"\)'
        ) as error:
            ask()
        assert error.value.where.startswith(__file__ + ":")


def test_a_gpu_s_question_to_a_tpu():
    with pytest.raises(palladion.ExportError, match=r"core_count, which the target v5e \(a TPU\) does not have"):
        with palladion.emulate("v5e"):
            add_the_cores(X)


def test_other_errors_stay_as_they_are():
    def f(x):
        return x.no_such_thing

    with pytest.raises(AttributeError, match="no_such_thing"):
        palladion.export(f, X)

    def g(x):
        assert x is None, "cuda_versions"

    with pytest.raises(AssertionError, match="cuda_versions"):
        palladion.export(g, X)
