"""Ctrl-C and SIGTERM while kernels run, in processes of their own with real signals; budgets, progress, and findings
beside errors.

No test measures time: a kernel that cannot be stopped runs into the timeout of its process.
"""

import os
import signal
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

import palladion

HANGS = 300  # seconds: far more than any of these takes

_KERNELS = """
    import os, signal, sys, threading, time
    import jax, jax.numpy as jnp
    from jax.experimental import pallas as pl
    import palladion

    def odd_for_ever(x_ref):
        start = 1 + 0 * x_ref[0].astype(jnp.int32)
        return jax.lax.while_loop(lambda c: c != 0, lambda c: c + 2, start).astype(jnp.float32)

    def counts(x_ref, o_ref):  # an element outside first, then arithmetic for ever
        o_ref[x_ref[1].astype(jnp.int32) + 8] = x_ref[0]
        o_ref[...] = x_ref[...] + odd_for_ever(x_ref)

    def spins(x_ref, o_ref):  # programs that see each other
        jax.lax.while_loop(lambda c: o_ref[0] < 5, lambda c: (o_ref.__setitem__(1, c), c + 1)[1], jnp.int32(0))

    def call(kernel, dtype=jnp.float32, **options):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8,), dtype), **options)

    zeros = jnp.zeros(8)

    def press(signum, seconds=0):
        # As soon as a kernel runs and has done something.
        from palladion import progress
        def wait():
            while not any((run.done > 0 or run.seconds > 1) and run.seconds > seconds for run in progress.under_way()):
                time.sleep(0.01)
            os.kill(os.getpid(), signum)
        threading.Thread(target=wait, daemon=True).start()
"""


def python(code, **environment):
    """Runs a script that starts with the kernels; SIGINT is as on a terminal, whatever the tests were started with."""

    def default_signals():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_KERNELS) + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=HANGS,
        env={**os.environ, **environment},
        check=False,
        preexec_fn=default_signals,
    )


def expect(code, *lines, **environment):
    done = python(code, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == list(lines), done.stdout + done.stderr


@pytest.mark.parametrize("transport", ["", "callback"])
@pytest.mark.parametrize("seeds", ["", ", seeds=4"])
def test_ctrl_c_in_emulate(transport, seeds):
    expect(
        f"""
        press(signal.SIGINT)
        try:
            with palladion.emulate("triton/h100"{seeds}) as session:
                jax.jit(call(counts))(zeros)
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
        for report in (session.report, palladion.last_report()):
            print(report.calls[0].interrupted, sorted({{finding.code for finding in report.findings}}))
        print(jax.jit(lambda v: v + 1)(1))
    """,
        "KeyboardInterrupt",
        "True ['OOB']",
        "True ['OOB']",
        "2",
        PALLADION_TRANSPORT=transport,
    )


def test_a_check_that_ends_before_its_first_schedule_is_no_pass():
    expect(
        """
        def forever(x_ref, o_ref):
            o_ref[...] = x_ref[...] + odd_for_ever(x_ref)

        press(signal.SIGINT)
        try:
            palladion.check(call(forever), zeros)
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
        report = palladion.last_report()
        first = report.calls[0]
        print(report.verdict, first.schedules, [part["what"] for part in first.never_ran], report.ok)
        print("clean" in str(report), "grid is empty" in str(report))
    """,
        "KeyboardInterrupt",
        "ran 0 [] False",
        "False False",
    )


@pytest.mark.parametrize(
    "what",
    [
        "run(call(counts), zeros, target='triton/h100')",
        "record(call(counts), zeros, target='triton/h100', out=sys.argv[0] + 'd')",
        "check(call(counts), zeros, target='triton/h100')",
    ],
)
def test_ctrl_c_in_run_record_and_check(what, tmp_path):
    expect(
        f"""
        sys.argv[0] = {str(tmp_path / "out")!r}
        press(signal.SIGINT)
        try:
            palladion.{what}
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
        report = palladion.last_report()
        print(report.calls[0].interrupted, sorted({{finding.code for finding in report.findings}}))
    """,
        "KeyboardInterrupt",
        "True ['OOB']",
    )


def test_ctrl_c_in_a_loop_that_changes_memory():
    expect(
        """
        press(signal.SIGINT)
        try:
            with palladion.emulate("triton/h100") as session:
                call(spins, jnp.int32)(jnp.zeros(8, jnp.int32))
        except KeyboardInterrupt:
            print("KeyboardInterrupt", session.report.calls[0].interrupted)
    """,
        "KeyboardInterrupt True",
    )


def test_calls_that_have_not_begun_are_not_run():
    expect(
        """
        press(signal.SIGINT)
        try:
            with palladion.emulate("triton/h100", on_defect="collect") as session:
                f = jax.jit(call(counts))
                for _ in range(50):
                    f(zeros)
        except KeyboardInterrupt:
            print("KeyboardInterrupt", session.report.count < 50)
        with palladion.emulate("triton/h100") as session:
            call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]))(zeros)
        print(session.report.ok)
    """,
        "KeyboardInterrupt True",
        "True",
    )


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_handler_of_the_users_gets_the_signal(name):
    expect(
        f"""
        handled = []
        mine = lambda *_: handled.append(1)
        signal.signal(signal.{name}, mine)
        press(signal.{name})
        try:
            with palladion.emulate("triton/h100", on_defect="collect") as session:
                call(counts)(zeros)
        except Exception as error:
            print("interrupted" in str(error))
        print(handled, signal.getsignal(signal.{name}) is mine, session.report.calls[0].interrupted)
        os.kill(os.getpid(), signal.{name})
        print(handled)
    """,
        "True",
        "[1] True True",
        "[1, 1]",
    )


def test_sigterm_without_a_handler_ends_the_process():
    done = python("""
        press(signal.SIGTERM)
        palladion.run(call(counts), zeros, target="triton/h100")
    """)
    assert done.returncode == -signal.SIGTERM, done.stdout + done.stderr


def odd_for_ever(x_ref):
    return jax.lax.while_loop(lambda c: c != 0, lambda c: c + 2, 1 + 0 * x_ref[0].astype(jnp.int32)).astype(jnp.float32)


def endless(x_ref, o_ref):
    o_ref[x_ref[1].astype(jnp.int32) + 8] = x_ref[0]
    o_ref[...] = x_ref[...] + odd_for_ever(x_ref)


def outside(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    o_ref[x_ref[0].astype(jnp.int32) + 8] = x_ref[0]


def call(kernel, **options):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8,), jnp.float32), **options)


ZEROS = jnp.zeros(8)


def test_a_budget_is_an_argument_and_its_error_has_what_was_found(tmp_path):
    for run in (
        lambda **how: palladion.run(call(endless), ZEROS, **how),
        lambda **how: palladion.record(call(endless), ZEROS, out=tmp_path / "record", **how),
    ):
        with pytest.raises(palladion.PalladionError) as caught:
            run(target="triton/h100", budget=10_000)
        assert "the budget of 10000 loop iterations is spent; raise the argument budget if" in str(caught.value)
        assert "error[OOB]: " in str(caught.value) and caught.value.code == 1
        assert [f.code for f in palladion.last_report().findings] == ["OOB"]
    report = palladion.check(call(endless), ZEROS, target="triton/h100", budget=10_000)
    assert "raise the argument budget" in report.kernels[0].error.message and report.findings[0].code == "OOB"
    with pytest.raises(palladion.DefectError) as caught:
        with palladion.emulate("triton/h100", budget=10_000) as session:
            call(endless)(ZEROS)
    assert (
        session.report.findings[0].code == "OOB"
        and "raise the argument budget" in session.report.calls[0].error.message
    )
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="budget must be a whole number"):
            palladion.run(call(outside), ZEROS, budget=wrong)


def test_an_error_of_a_later_kernel_has_the_findings_of_earlier_ones():
    def both(x):
        return call(endless)(call(outside)(x) * 0)

    with pytest.raises(palladion.PalladionError) as caught:
        palladion.run(both, ZEROS, target="triton/h100", budget=1000)
    assert "found before that:\nerror[OOB]: " in str(caught.value) and "kernel @outside " in str(caught.value), str(
        caught.value
    )
    assert len(palladion.last_report().calls) == 2


@pytest.mark.parametrize(
    "run",
    [
        "palladion.run(call(counts), zeros, target='triton/h100', progress=observe)",
        "palladion.check(call(counts), zeros, target='triton/h100', progress=observe)",
    ],
)
def test_progress_is_given_to_a_function(run):
    expect(
        f"""
        seen = []
        def observe(one):
            seen.append(one)
            if len(seen) == 1:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            {run}
        except KeyboardInterrupt:
            one = seen[0]
            print(one.kernel, one.unit, 0 < one.done < one.total, one.rate > 0, one.seconds_left > 0,
                  one.text.startswith("@counts: "))
        try:
            seen.clear()
            with palladion.emulate("triton/h100", progress=observe):
                call(counts)(zeros)
        except KeyboardInterrupt:
            print(seen[0].unit)
        from palladion import progress
        print(progress.under_way())
    """,
        "counts budget True True True True",
        "budget",
        "[]",
    )


@pytest.mark.parametrize("progress, drawn", [("None", False), ("False", False), ("True", True)])
def test_a_pipe_sees_no_progress_unless_it_is_asked_for(progress, drawn):
    done = python(f"""
        press(signal.SIGINT, seconds=2)
        try:
            # The budget is not used up before the signal.
            palladion.run(call(counts), zeros, target="triton/h100", progress={progress}, budget=1 << 40)
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
    """)
    assert done.stdout == "KeyboardInterrupt\n", done.stdout + done.stderr
    assert ("@counts: " in done.stderr) is drawn, done.stderr
    assert drawn or done.stderr == "", done.stderr


def test_progress_must_be_something_that_shows():
    with pytest.raises(TypeError, match="progress must be"):
        palladion.run(call(outside), ZEROS, progress=3)
    with pytest.raises(TypeError, match="progress must be"):
        palladion.emulate("triton/h100", progress="yes")
