"""`palladion time` of Triton kernels with large grids: one wave stands for equal ones, and the time is that of every
block timed, within the stated error (docs/explanation/time.md#equal-blocks).
"""

import functools
import json
import os
import pathlib
import re
import subprocess

import jax.numpy as jnp
import pytest
from jax.experimental.pallas.ops.gpu import attention, layer_norm, softmax

import palladion
from tuned_kernels import triton_product

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))
STATED = 0.06  # emu/timing/triton/equal_blocks.h


def timed(kernel, changes, *flags):
    command = [COMMAND, "time", str(kernel), "--target", "triton/h100"]
    for change in changes:
        command += ["--set", change]
    for name in re.findall(r"^ *in %(\w+)", kernel.read_text(), re.MULTILINE):
        command += ["--in", f"{name}=zeros"]
    ran = subprocess.run([*command, "--format", "json", *flags], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def both(f, args, folder, *changes):
    kernel = folder / "k.pkir"
    kernel.write_text(str(palladion.export(f, *args, target="triton/h100")))
    return timed(kernel, changes), timed(kernel, changes, "--every-wave")


def attend(q, k, v, causal=False):
    return attention.mha(q, k, v, None, causal=causal)


# With few cores a small grid has many waves. Keys and values of all heads are more than that L2 holds.
FEW, SMALL = "chip.cores=4", "l2.size=1MiB"
Q = jnp.ones((16, 512, 8, 64), jnp.float16)
EQUAL = {
    "softmax": (softmax.softmax, (jnp.ones((4096, 1000), jnp.float32),), [FEW]),
    "layer_norm": (
        lambda x, w, b: layer_norm.layer_norm(x, w, b),
        (jnp.ones((16, 256, 512)), jnp.ones((512,)), jnp.ones((512,))),
        [FEW],
    ),
    "matmul": (
        functools.partial(triton_product, num_warps=4, num_stages=3),
        (jnp.ones((8192, 256), jnp.float16), jnp.ones((256, 1024), jnp.float16)),
        [FEW],
    ),
    "attention": (attend, (Q, Q, Q), [FEW, SMALL]),
}


@pytest.mark.parametrize("name", EQUAL)
def test_the_time_is_that_of_every_block_within_the_stated_error(name, tmp_path):
    f, args, changes = EQUAL[name]
    few, every = both(f, args, tmp_path, *changes)
    assert few["placement"]["timed"] < every["placement"]["timed"] == every["placement"]["blocks"]
    assert few["cycles"] == pytest.approx(every["cycles"], rel=STATED)
    assert few["memory_bytes"] == pytest.approx(every["memory_bytes"], rel=STATED)
    assert few["flops"] == pytest.approx(every["flops"])
    for mine, theirs in zip(few["lines"], every["lines"], strict=True):
        assert mine["runs"] == pytest.approx(theirs["runs"])
        assert mine["busy_cycles"] == pytest.approx(theirs["busy_cycles"], rel=STATED)
    for one in (few, every):
        rows = sum(line["busy_cycles"] + line["waited_cycles"] for line in one["lines"])
        rows += sum(part["cycles"] for part in one["whole"]["rest"])
        assert rows == pytest.approx(one["whole"]["cycles"], rel=1e-6)
    assert "assumed error: 6 %" in few["left_out"][0] and "assumed error" not in every["left_out"][0]


def test_blocks_with_other_numbers_of_turns_are_timed_one_by_one(tmp_path):
    args = (Q[:4],) * 3
    few, every = both(functools.partial(attend, causal=True), args, tmp_path, FEW)
    assert few["placement"]["timed"] == few["placement"]["blocks"] and few == every
