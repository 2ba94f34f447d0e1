"""Random pipelines of TPU kernels: what is found is what the order of their copies allows, and where JAX's interpreter
has an answer it is ours."""

import contextlib
import os
import sys

import jax
import numpy as np
import pytest

import palladion

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "conformance", "differential"))
import random_pipelines  # noqa: E402
from random_pipelines import random_pipeline  # noqa: E402

PART = 50
FIRST = 100 if jax.__version_info__[:2] == (0, 10) else 0  # another sample for another release of JAX


@pytest.mark.parametrize("first", range(FIRST, FIRST + 100, PART))
def test_random_pipelines_are_judged_by_the_order_of_their_copies(first):
    wrong = {number: random_pipelines.judge(random_pipeline(number)) for number in range(first, first + PART)}
    assert not {number: found for number, found in wrong.items() if found}


def test_the_pipelines_are_of_many_kinds():
    pipelines = [random_pipeline(number) for number in range(300)]
    assert len(random_pipelines.shapes()) <= 100
    for judged in (random_pipelines.has_hazard, random_pipelines.revisits):
        assert 0.02 < sum(map(judged, pipelines)) / len(pipelines) < 0.9
    stores = [p for p in pipelines if p.shape.stores]
    assert 0.2 < sum(map(random_pipelines.has_hazard, stores)) / len(stores) < 0.9


# ---- the same pipeline made by pltpu.emit_pipeline, traced and as one primitive


def ways_to_emit():
    from jax._src import config
    from jax._src.pallas.mosaic import pipeline

    yield contextlib.nullcontext
    if hasattr(config, "use_emit_pipeline_primitive") and hasattr(pipeline, "emit_pipeline_to_jaxpr"):
        yield lambda: config.use_emit_pipeline_primitive(True)


def can_be_emitted(number):
    """Its index maps would be computed anew at each use, it has one core, and newer JAX refuses stores into input
    blocks there.
    """
    shape = random_pipeline(number).shape
    return not shape.stores and not shape.parallel and not (shape.marks and jax.__version_info__ >= (0, 11))


@pytest.mark.parametrize("number", list(filter(can_be_emitted, range(90))))
def test_an_emitted_pipeline_is_judged_alike(number):
    pipeline = random_pipeline(number)
    operands, hazard = random_pipelines.operands(pipeline), random_pipelines.has_hazard(pipeline)
    judged, numbers = [], []
    for way in ways_to_emit():
        with way():
            kernel = random_pipelines.kernel_of.__wrapped__(pipeline.shape, emitted=True)
            report = palladion.check(kernel, *operands, target="v5e", seeds=8)
        judged.append((report.verdict, random_pipelines.codes_of(report)))
        numbers.append(np.asarray(jax.tree.leaves(report.results)[0]))
        assert bool(judged[-1][1]) == hazard, str(report)
        assert judged[-1] == judged[0]
        np.testing.assert_array_equal(numbers[-1], numbers[0])
    if not hazard and not random_pipelines.revisits(pipeline):
        theirs = random_pipelines.kernel_of(pipeline.shape, interpret="eager")(*operands)
        where = np.repeat(random_pipelines.defined_rows(pipeline), random_pipelines.ROWS)
        np.testing.assert_array_equal(numbers[0][where], np.asarray(theirs)[where])
