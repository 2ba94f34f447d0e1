"""palladion.emulate where a process of its own is needed: 8 devices, Ctrl-C, no JAX, a JAX that is not known."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


def python(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize("transport", ["", "callback"])
def test_shard_map_over_8_devices(transport):
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, "emulated_devices.py")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | {"PALLADION_TRANSPORT": transport},
    )
    assert done.returncode == 0 and done.stdout.endswith("all is well\n"), done.stdout + done.stderr


_LONG_CHECK = """
    import jax, jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton as pltriton
    import palladion

    def kernel(x_ref, o_ref, zero_ref):
        for _ in range(3):  # programs see each other through what the atomics return
            zero_ref[pl.program_id(0)] = pltriton.atomic_add(o_ref, (0,), jnp.float32(1)) * 0

    def f(x):
        shapes = (jax.ShapeDtypeStruct((1,), x.dtype), jax.ShapeDtypeStruct((4,), x.dtype))
        return pl.pallas_call(kernel, out_shape=shapes, grid=(4,), input_output_aliases={0: 0})(x)[0]

    session = palladion.emulate("triton/h100", seeds=100_000_000, on_defect="collect")  # a day or so
    try:
        with session:
            print("started", flush=True)
            f(jnp.ones(1)).block_until_ready()
        print("was not interrupted")
    except KeyboardInterrupt:
        print("interrupted", session.report.calls[0].interrupted)
    with palladion.emulate("triton/h100", seeds=2) as session:
        assert f(jnp.ones(1)) == 13
    assert session.report.ok and jax.jit(lambda v: v + 1)(1) == 2
    print("usable")
"""


def test_ctrl_c_leaves_jax_usable():
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_LONG_CHECK)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "started\n", process.stderr.read()
        time.sleep(5)  # it has to be compiled; too early an interrupt would stop that
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
    finally:
        process.kill()
    assert out == "interrupted True\nusable\n", out + err


def test_the_package_without_jax():
    done = python("""
        import sys
        sys.modules["jax"] = None
        import palladion
        print(palladion.__version__, palladion.PalladionError.__name__, "emulate" in dir(palladion))
        try:
            palladion.emulate
        except ImportError as error:
            print(error)
    """)
    assert done.returncode == 0, done.stderr
    assert (
        "PalladionError True" in done.stdout
        and "palladion.emulate needs JAX" in done.stdout
        and "pip install" in done.stdout
    )


def pretending(version) -> str:
    text = ".".join(map(str, version))
    return f"import jax, jax.experimental.pallas; jax.__version_info__, jax.__version__ = {version}, '{text}'\n"


def test_a_jax_that_is_too_old():
    done = python(pretending((0, 7, 2)) + "import palladion; palladion.emulate")
    assert done.returncode == 1
    assert "needs JAX 0.8 or later, found 0.7.2" in done.stderr and "pip install 'jax>=0.8'" in done.stderr


def test_a_jax_newer_than_palladion_knows_is_tried():
    """With one warning; what it has changed is refused by its name and line, with the reason."""
    done = python(
        pretending((0, 99, 1))
        + textwrap.dedent("""
        import jax.numpy as jnp
        from jax.experimental import pallas as pl
        import palladion
        from palladion.jax.exporter import kernel

        def double(x_ref, o_ref):
            o_ref[...] = jnp.sin(x_ref[...])

        x = jnp.arange(8.0)
        call = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct((8,), jnp.float32))
        with palladion.emulate():
            assert jnp.allclose(call(x), jnp.sin(x))
        for change in (lambda: kernel.HANDLERS.update(sin=kernel.HANDLERS["copy"]), lambda: kernel.HANDLERS.pop("sin")):
            change()
            try:
                palladion.export(call, x)
            except palladion.ExportError as error:
                print(error)
    """)
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("JAX 0.99.1 is newer than the newest that this Palladion knows, 0.12") == 1
    newer = "; this JAX \\(0.99.1\\) is newer than Palladion knows \\(0.12\\)$"
    parameter, primitive = done.stdout.splitlines()
    assert re.search(
        r"<string>:\d+: sin: its parameter 'accuracy' .* is not known to Palladion's exporter" + newer, parameter
    )
    assert re.search(r"<string>:\d+: the primitive 'sin' is not known.*" + newer, primitive)


def test_importing_the_package_does_not_start_jax():
    done = python("import palladion, sys; print('jax' in sys.modules)")
    assert done.stdout == "False\n", done.stdout + done.stderr
