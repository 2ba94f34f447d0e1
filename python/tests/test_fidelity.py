"""How faithful a run is to its target: what is exact, approximate or refused, and where an approximate value may decide
something.
"""

import json
import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import jsonschema
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))
X = jnp.arange(1024, dtype=jnp.float32).reshape(8, 128) / 1024


def f(kernel, **options):
    return lambda x: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


def copies(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


def softmax(x_ref, o_ref):
    e = jnp.exp(x_ref[...])
    o_ref[...] = e / jnp.sum(e, axis=1, keepdims=True)


def decides(x_ref, o_ref):
    o_ref[...] = x_ref[...]

    @pl.when(jnp.max(jnp.exp(x_ref[...])) > 1)
    def _():
        o_ref[...] = x_ref[...] + 1


def compares(x_ref, o_ref):
    """A selection by a comparison is no control flow."""
    o_ref[...] = jnp.where(jnp.exp(x_ref[...]) > 1, x_ref[...], 0)


def indexes(x_ref, o_ref):
    row = jnp.max(jnp.exp(x_ref[...])).astype(jnp.int32)
    o_ref[pl.ds(jnp.clip(row, 0, 0), 8)] = x_ref[...]


def signals(x_ref, o_ref, sem):
    count = jnp.clip(jnp.max(jnp.exp(x_ref[...])).astype(jnp.int32), 1, 1)
    pl.semaphore_signal(sem, count)
    pl.semaphore_wait(sem, 1)
    o_ref[...] = x_ref[...]


def of(kernel, target="v5e", **options):
    return palladion.check(f(kernel, **options), X, target=target, seeds=2).kernels[0].fidelity


def test_exact_operations_alone_are_not_mentioned():
    report = palladion.check(f(copies), X, target="v5e", seeds=2)
    fidelity = report.kernels[0].fidelity
    assert fidelity.approximate == fidelity.refused == 0 < fidelity.exact and not fidelity.reached
    assert "fidelity" not in str(report)


def test_functions_quotients_and_sums_are_approximate():
    report = palladion.check(f(softmax), X, target="v5e", seeds=2)
    rows = {row.name: row for row in report.kernels[0].fidelity.operations}
    assert {name for name, row in rows.items() if row.kind == "approximate"} == {"exp", "div", "reduce_sum"}
    assert all(row.why for row in rows.values() if row.kind == "approximate") and rows["get"].kind == "exact"
    assert "approximate (div, exp, reduce_sum)" in " ".join(str(report).split()) and "may reach" not in str(report)
    assert report.verdict == "proved"


@pytest.mark.parametrize(
    ("kernel", "what"), [(softmax, []), (compares, []), (decides, ["control flow"]), (indexes, ["an address"])]
)
def test_where_an_approximate_value_may_decide(kernel, what):
    assert [reach.what for reach in of(kernel).reached] == what


def test_it_says_the_lines_of_both():
    [reach] = of(decides).reached
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    decided = next(number for number, line in enumerate(lines, 1) if "@pl.when" in line and "exp" in line)
    assert (
        reach.words
        == f"cond at {pathlib.Path(__file__).name}:{decided}, from exp at {pathlib.Path(__file__).name}:{decided}"
    )
    words = " ".join(str(palladion.check(f(decides), X, target="v5e", seeds=2)).split())
    assert f"an approximate value may reach control flow: {reach.words}" in words


def test_an_amount_of_a_semaphore_is_a_synchronisation():
    fidelity = of(signals, scratch_shapes=[pltpu.SemaphoreType.REGULAR])
    assert [reach.what for reach in fidelity.reached] == ["a synchronisation"]


def test_what_the_target_refuses_is_counted():
    def kernel(x_ref, o_ref):
        o_ref[...] = jnp.cumsum(x_ref[...], axis=1)

    fidelity = of(kernel)
    assert (fidelity.refused, [row.name for row in fidelity.operations if row.kind == "refused"]) == (1, ["cumsum"])


def test_generic_is_no_chip():
    assert of(softmax, "generic") is None


def test_emulated_calls_have_it_too():
    with palladion.emulate("v5e", on_defect="collect") as session:
        jax.block_until_ready(jax.jit(f(decides))(X))
    assert session.report.calls[0].fidelity.approximate == 1
    assert "<b>fidelity</b>: " in session.report._repr_html_()


def test_the_command_has_a_table_and_json_that_is_as_the_schema_has_it(tmp_path):
    (tmp_path / "k.pkir").write_text(palladion.export(f(decides), X, target="v5e"), encoding="utf-8")

    def said(*options):
        words = [COMMAND, "check", str(tmp_path / "k.pkir"), "--in", "args[0]=zeros", "--seeds", "2", *options]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    schema = json.loads((ROOT / "docs/reference/report.schema.json").read_text(encoding="utf-8"))
    report = json.loads(said("--format", "json"))
    jsonschema.validate(report, schema)
    assert report["fidelity"]["approximate"] == 1
    table = said("--fidelity").partition("fidelity of @decides on mosaic_tpu/v5e:\n")[2].splitlines()
    assert table[0].split(maxsplit=3)[:3] == ["exp", "1", "approximate"] and "on the chip" in table[0]
    assert table[-1].startswith("  an approximate value may reach control flow: cond at ")
    assert "fidelity of" not in said()
