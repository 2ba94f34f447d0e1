"""palladion.check: kernels that are right, racy, or wrong against a reference; options; the report's attributes."""

import functools
import json
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion
import small_kernels
from palladion.api import checking
from palladion.report import reports as report
from small_kernels import summed

X = jnp.arange(64, dtype=jnp.float32).reshape(8, 8)


def doubled(x, factor=2):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * factor

    block = pl.BlockSpec((1, 8), lambda i: (i, 0))
    return pl.pallas_call(
        kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(8,), in_specs=[block], out_specs=block
    )(x)


ROWS = jnp.ones((32, 128), jnp.float32)


def test_a_right_kernel():
    found = palladion.check(doubled, X, reference=lambda x: x * 2)
    assert found.ok and found.verdict in ("proved", "clean") and found.findings == []
    assert found.raise_if_defect() is found
    np.testing.assert_array_equal(found.results, X * 2)
    (kernel,) = found.kernels
    assert kernel.kernel and kernel.schedules >= 1 and found.schedules == kernel.schedules
    assert {check.name for check in kernel.checks} >= {"bounds"}


def test_wrong_against_the_reference():
    found = palladion.check(doubled, X, reference=lambda x: x * 3)
    assert found.kernels[0].exit_code == 0 and found.verdict == "defect" and not found.ok
    assert (found.difference.result, found.difference.index, found.difference.count) == (0, (0, 1), 63)
    assert (found.difference.found, found.difference.expected) == (2.0, 3.0)
    with pytest.raises(palladion.DefectError, match=r"result 0\[0, 1\] is 2.0 and the reference says 3.0") as raised:
        found.raise_if_defect()
    assert raised.value.report is found
    assert palladion.check(doubled, X, reference=lambda x: x * 2 + 1, atol=1).ok
    assert not palladion.check(doubled, X, reference=lambda x: x * 2 + 1, atol=0.5).ok


def test_a_reference_of_whole_numbers():
    """Beside a result of f32: they are compared as numbers."""
    assert palladion.check(doubled, X, reference=lambda x: (x * 2).astype(jnp.int32)).ok
    assert palladion.check(doubled, X, reference=lambda x: (x * 3).astype(jnp.int32)).difference.index == (0, 1)


def test_a_whole_number_without_dimensions():
    def call(x):
        def kernel(x_ref, o_ref):
            o_ref[...] = jnp.sum(x_ref[...])

        one = jax.ShapeDtypeStruct((), jnp.int32)
        return pl.pallas_call(kernel, out_shape=one)(x)

    x = np.arange(16, dtype=np.int32)
    assert palladion.check(call, x, reference=lambda x: x.sum(), target="triton/h100").ok
    wrong = palladion.check(call, x, reference=lambda x: x.sum() + 1, target="triton/h100").difference
    assert (wrong.index, wrong.found, wrong.expected) == ((), 120, 121)


def test_a_racy_kernel():
    assert palladion.check(functools.partial(summed, semantics="arbitrary"), ROWS, target="mosaic_tpu/v5p").ok
    found = palladion.check(summed, ROWS, target="mosaic_tpu/v5p")
    assert found.verdict == "defect" and not found.ok
    races = [finding for finding in found.findings if finding.code.startswith("RACE_")]
    assert races
    for finding in races:
        assert finding.severity == "defect" and finding.confidence in ("proved", "predicted")
        for access in (finding.first, finding.second):
            assert access.kind in ("read", "write") and access.agent and access.object
            assert os.path.basename(small_kernels.__file__) in access.source
        assert str(finding).startswith(f"error[{finding.code}]: ")
    with pytest.raises(palladion.DefectError, match="RACE_"):
        found.raise_if_defect()


def test_every_member_of_the_json_is_an_attribute():
    def names(schema):
        return schema["required"]

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, "docs", "report.schema.json"), encoding="utf-8") as stream:
        schema = json.load(stream)
    found = palladion.check(summed, ROWS, target="mosaic_tpu/v5p")
    kernel = found.kernels[0]
    assert set(names(schema)) <= set(vars(kernel))
    assert all(hasattr(finding, name) for finding in kernel.findings for name in names(schema["$defs"]["finding"]))


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"seeds": 0}, palladion.PalladionError, "seeds must be 1 or more"),
        ({"seeds": 1.5}, TypeError, "whole number"),
        ({"fill": "zeroes"}, palladion.PalladionError, "zeroes"),
        ({"replay": "nonsense"}, palladion.PalladionError, "nonsense"),
        ({"rtol": 1e-3}, ValueError, "needs a reference"),
        ({"target": "tpu/v99"}, palladion.PalladionError, "v99"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        palladion.check(doubled, X, **options)


def test_no_kernel_is_no_pass():
    with pytest.raises(palladion.ExportError, match="no kernel"):
        palladion.check(lambda x: x * 2, X)


def test_the_comparison():
    differs = checking.first_difference
    one = jnp.asarray([1.0, np.nan, np.inf], jnp.float32)
    assert differs(one, one) is None
    assert differs(one, jnp.asarray([1.0, 2.0, np.inf], jnp.float32)).index == (1,)
    assert differs(one, -one).count == 2
    assert differs(one, one.at[2].set(1), rtol=10, atol=10).index == (2,)
    big = np.array([2**32 - 1], np.uint32)
    assert differs(big, np.array([0], np.uint32)).worst == float("inf")
    assert differs((one, big), (one, big - np.uint32(1)), atol=1) is None
    assert differs(jnp.zeros((0, 3)), jnp.zeros((0, 3))) is None
    assert differs(jnp.asarray([True]), jnp.asarray([False])).found
    with pytest.raises(ValueError, match="1 results and the reference 2"):
        differs(one, (one, one))
    with pytest.raises(ValueError, match="has shape"):
        differs(one, one[:2])
    assert isinstance(differs(jnp.asarray([1 + 1j]), jnp.asarray([1 - 1j])), report.Difference)
