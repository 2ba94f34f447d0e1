"""The line of a report that replays a finding is pasted and run where the check was called."""

import functools

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

import palladion


def last_kernel(x_ref, o_ref):
    o_ref[0] = x_ref[pl.program_id(0)]


LAST = pl.pallas_call(  # a function of JAX's own making, whose name is none of this file's
    last_kernel,
    out_shape=jax.ShapeDtypeStruct((1,), jnp.float32),
    grid=(4,),
    in_specs=[pl.BlockSpec((4,), lambda i: (0,))],
    out_specs=pl.BlockSpec((1,), lambda i: (0,)),
)
X = jnp.arange(4, dtype=jnp.float32)


def lines_of(report) -> list[str]:
    lines = [line.strip() for line in str(report).splitlines()]  # of symptoms, too
    found = [line.removeprefix("replay: ") for line in lines if line.startswith("replay: ")]
    assert len(found) == sum(bool(finding.replay) for finding in report.findings) > 0
    return found


def expect_pasted(report, names: dict) -> None:
    for line, finding in zip(lines_of(report), report.findings):
        again = eval(line, names)
        shown = next(other for other in again.findings if other.code == finding.code)
        assert [shown.first.agent, shown.second.agent] == [finding.first.agent, finding.second.agent]


def test_arguments_as_they_are_written():
    expect_pasted(palladion.check(LAST, jnp.arange(4, dtype=jnp.float32), target="triton/h100", seeds=4), globals())


def test_a_call_over_several_lines_and_under_another_name():
    check = palladion.check
    found = check(
        lambda x: LAST(x * 2),  # é
        X,
        target="triton/h100",
        budget=100_000,
    )
    assert lines_of(found)[0].startswith(
        'check(lambda x: LAST(x * 2), X, target="triton/h100", budget=100000, replay="'
    )
    expect_pasted(found, globals() | locals())


def test_arguments_that_are_unpacked():
    given = [LAST, X]
    options = {"target": "triton/h100", "seeds": 4}
    expect_pasted(palladion.check(*given, **options), globals() | locals())


def test_by_the_names_of_variables_where_there_is_no_source():
    names = dict(globals())
    exec(compile('found = palladion.check(LAST, X, target="triton/h100")', "<no source>", "exec"), names)
    assert lines_of(names["found"])[0].startswith('palladion.check(LAST, X, target="triton/h100", replay="')
    expect_pasted(names["found"], names)


def test_by_the_names_of_variables_where_another_function_calls():
    check = functools.partial(palladion.check, LAST)
    found = check(X, target="triton/h100")
    assert lines_of(found)[0].startswith('palladion.check(LAST, X, target="triton/h100", replay="')


@pytest.mark.parametrize("x", [jnp.arange(4, dtype=jnp.float32) + 1])
def test_words_where_nothing_has_a_name(x):
    check = functools.partial(palladion.check, lambda x: LAST(x))
    found = check(x, target="triton/h100")
    assert lines_of(found)[0] == f'the same palladion.check with replay="{found.findings[0].replay}"'
