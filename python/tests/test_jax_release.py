"""tools/jax_release.py on the installed JAX: everything that it has for kernels is known, or refused by name.

A failure here is the list of what a new JAX release brought; docs/reference/jax-versions.md says what to do with it.
Not here: what names mean.
"""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

from palladion.jax.exporter import kernel, views

PATH = pathlib.Path(__file__).parents[2] / "tools" / "jax_release.py"


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("jax_release", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def surface():
    """Of a process of its own: what other tests have loaded of JAX would be looked at, too."""
    done = subprocess.run([sys.executable, PATH, "--all"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines())


def test_everything_is_known_or_refused_by_name(release, surface):
    assert release.unlisted(surface) == []


def test_it_looks_at_what_kernels_are_made_of(surface):
    """Names that every supported JAX has: an empty list would be known, too."""
    for line in (
        "primitive copy_gmem_to_smem",
        "parameter copy_gmem_to_smem.collective_axes",
        "parameter masked_load.args_tree",
        "parameter sin.accuracy",
        "parameter dma_start.priority",
        "primitive sc.load",
        "effect SemaphoreEffect",
        "name pl.pallas_call",
        "field plgpu.CompilerParams.max_concurrent_steps = 1",
        "kernel gpu.attention",
    ):
        assert line in surface, line
    assert len(surface) > 800


def test_what_is_not_known_is_listed(release, surface, monkeypatch):
    monkeypatch.delitem(kernel.HANDLERS, "sin")
    monkeypatch.delitem(kernel.HANDLERS, "copy_gmem_to_smem")
    monkeypatch.delitem(views.VIEWS, "NDIndexer", raising=False)
    monkeypatch.setattr(kernel.HANDLERS["masked_load"], "parameters", frozenset(("args_tree",)))
    more = surface | {
        "field plgpu.CompilerParams.max_concurrent_steps = 2",
        "name pl.wholly_new",
        "effect NewEffect",
        "kernel gpu.new",
    }
    found = set(release.unlisted(more))
    assert {
        "primitive sin",
        "primitive copy_gmem_to_smem",
        "parameter masked_load.cache_modifier",
        "name pl.wholly_new",
        "effect NewEffect",
        "field plgpu.CompilerParams.max_concurrent_steps = 2",
        "kernel gpu.new",
    } <= found
    assert "parameter sin.accuracy" not in found  # its primitive is listed already


def test_a_row_that_is_refused_covers_its_parameters(release):
    assert (
        release.unlisted(
            {
                "primitive sc.gather",
                "parameter sc.gather.anything",
                "primitive matmul_pop_fifo",
                "parameter matmul_pop_fifo.anything",
            }
        )
        == []
    )
