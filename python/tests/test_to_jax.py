"""Kernel text in JAX and back: every case and every shipped kernel comes back as the text that it was, or there is a
reason why not (not_the_same_in_jax.py). What it does not catch: what neither the text nor JAX's jaxpr says.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
import round_trip
import to_jax_page
from not_the_same_in_jax import REASONS, reason_for
from palladion import _library
from palladion.jax.jax_source import reading
from palladion.real_kernels import table

FAMILIES = sorted({case.partition("/")[0] for case, _ in to_jax_page.cases()})
OF_THIS_JAX = jax.__version_info__[:2] == (0, 10)  # the one that the lists are of


def outcome(text: str, name: str) -> str:
    """ "same", "another text", or the error."""
    try:
        back = round_trip.again(text, name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    given, found = round_trip.normal(text, name), round_trip.normal(back)
    if not reading.read_kernel(text, name)["backend"]:
        given["backend"] = found["backend"] = ""  # a text may leave out what its memory spaces say
    return "same" if given == found else "another text"


def complaint(case: str, text: str, name: str) -> str:
    reason, found = reason_for(case, reading.read_kernel(text, name)), outcome(text, name)
    if reason is None:
        return "" if found == "same" else f"{case} @{name}: {found}"
    if reason.may_come_back:
        return (
            f"{case} @{name}: {found}"
            if found.startswith(("NameError", "SyntaxError", "KeyError", "IndexError"))
            else ""
        )
    if found == "same":
        return f"{case} @{name} comes back, but not_the_same_in_jax.py says: {reason.why}"
    return "" if reason.said in found else f"{case} @{name}: {found}; expected {reason.said!r}, for {reason.why}"


if OF_THIS_JAX:

    @pytest.mark.parametrize("family", FAMILIES)
    def test_every_case(family):
        wrong = []
        for case, text in to_jax_page.cases():
            if case.startswith(f"{family}/"):
                wrong += [complaint(case, text, name) for name in _library.kernel_names(text)]
        assert [one for one in wrong if one] == []

    @pytest.mark.parametrize("group", range(1, 17))
    def test_every_shipped_kernel(group):
        wrong, count = [], 0
        for case in table.all_cases():
            if case.group == group:
                problem = case.make()
                text = palladion.export(problem.function, *problem.args, target=case.target)
                wrong += [complaint(case.name, text, name) for name in _library.kernel_names(text)]
                count += 1
        assert count and [one for one in wrong if one] == []


def test_every_reason_has_a_case():
    applied = {reason for case, text in to_jax_page.cases() for reason in to_jax_page.reasons_of(case, text)}
    assert [reason.why for reason in REASONS if reason not in applied] == []


def test_the_counts_of_the_page_are_fresh():
    page = to_jax_page.PAGE.read_text(encoding="utf-8")
    assert to_jax_page.fresh(page) == page, "run PYTHONPATH=python .venv/bin/python python/tests/to_jax_page.py"


def _fields(value):
    """Every name of a field; names of attributes, places and compiler parameters are the text's own."""
    if isinstance(value, list):
        for one in value:
            yield from _fields(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            if name not in ("attrs", "params", "other", "mesh_attrs", "buffered", "locs") or isinstance(one, list):
                yield from _fields(one)


def test_the_page_has_every_field_of_the_json():
    page = to_jax_page.PAGE.read_text(encoding="utf-8").split("## The JSON of a text")[1]
    documented = set(re.findall(r"`(\w+)`", page))
    found = {name for _, text in to_jax_page.cases() for name in _fields(_library.text_json(text))}
    assert found <= documented
    assert {"kernels", "operands", "start", "bytes"} <= found


ADD = """pkir 1;
kernel @add {
  grid [];
  in %x: f32[4];
  in %y: f32[4];
  out %o: f32[4];
  body @add (%xr: ref<default,f32[4]>, %yr: ref<default,f32[4]>, %or: ref<default,f32[4]>) {
    %a = get(%xr) : f32[4];
    %b = get(%yr) : f32[4];
    %c = add(%a, %b) : f32[4];
    _ = swap(%or, %c) : f32[4];
    return;
  }
}
"""


def test_one_output_is_a_tuple_too():
    x = np.arange(4, dtype=np.float32)
    [out] = palladion.to_jax(ADD, interpret=True)(x, x)
    assert np.array_equal(out, x + x)


def test_a_change_of_the_text_is_seen():
    changed = ADD.replace("add(%a, %b)", "add(%b, %a)")
    assert round_trip.normal(round_trip.again(changed)) != round_trip.normal(ADD)
    assert round_trip.normal(ADD.replace("%c", "%sum")) == round_trip.normal(ADD)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("add(%a, %b)", "ring.hash(%a, %b)", "line 10: ring.hash: JAX has no such operation"),
        ("get(%yr)", "get(%yr.at[dense<i32[4] [0,1,2,3]>])", "line 9: get: an array constant"),
        ("  grid [];", "  devices {x=2};\n  grid [];", "devices: several devices"),
    ],
)
def test_what_jax_cannot_say_is_refused_by_line_and_operation(old, new, said):
    with pytest.raises(palladion.ToJaxError, match=said.replace("(", r"\(")):
        palladion.to_jax(ADD.replace(old, new))


def test_a_text_that_cannot_be_read_and_a_kernel_that_is_none():
    with pytest.raises(palladion.PalladionError, match="1:1"):
        palladion.to_jax("kernel")
    with pytest.raises(palladion.ToJaxError, match="no kernel 'sub'; it has add"):
        palladion.to_jax(ADD, kernel="sub")
    both = ADD + ADD.replace("pkir 1;\n", "").replace("@add", "@again")
    with pytest.raises(palladion.ToJaxError, match=r"2 kernels \(add, again\)"):
        palladion.to_jax(both)
    assert "name='again'" in palladion.to_jax_source(both, kernel="again")


if OF_THIS_JAX:

    def test_memory_of_another_device_which_no_case_has():
        def body(x_ref, o_ref):
            plgpu.remote_ref(o_ref, jnp.int32(1), pl.DeviceIdType.LOGICAL)[0] = x_ref[0]

        array = jax.ShapeDtypeStruct((128,), jnp.float32)
        text = palladion.export(plgpu.kernel(body, out_type=array), array)
        assert ".peer(1:i32, logical).at[0]" in text
        assert round_trip.normal(round_trip.again(text)) == round_trip.normal(text)


def test_the_source_is_what_runs():
    module = {}
    exec(palladion.to_jax_source(ADD), module)
    x = np.ones(4, np.float32)
    assert np.array_equal(module["kernel"](x, x, interpret=True)[0], x + x)
    assert palladion.to_jax(ADD).source == palladion.to_jax_source(ADD)
