"""Random kernels here and in JAX's interpreters (conformance/differential), and that a difference would be seen."""

import dataclasses
import os
import sys

import jax
import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "conformance", "differential"))
import differential  # noqa: E402
from random_kernel import RandomKernel, random_kernel  # noqa: E402

# A sample, another one for another release of JAX: `./dev test-long differential` runs three thousand.
KERNELS = 100
FIRST = KERNELS if jax.__version_info__[:2] == (0, 10) else 0


def test_random_kernels_compute_what_jax_computes():
    for seed in range(FIRST, FIRST + KERNELS):
        found = differential.judge(seed, "interpret")
        assert found is None, f"kernel {seed}: {found.found}\n{found.text}"
    jax.clear_caches()  # hundreds of compiled programs are gigabytes


def test_random_kernels_compute_what_jaxs_tpu_interpreter_computes():
    for seed in range(40):
        found = differential.judge(seed, "tpu")
        assert found is None, f"kernel {seed}: {found.found}\n{found.text}"


if jax.__version_info__[:2] == (0, 10):  # the interpreter of another release takes other kernels

    @pytest.mark.parametrize("seed", (35, 37, 39, 56, 67, 95, 106, 114, 158, 197, 218, 228, 246, 292))
    def test_random_kernels_of_threads_compute_what_jaxs_gpu_interpreter_computes(seed):
        """Barriers, copies and shared memory: of the hunt's first 300 kernels those that give one result in every
        order.
        """
        assert differential.made(seed, "gpu") is not None
        assert differential.judge(seed, "gpu") is None


def test_a_seed_is_a_kernel():
    one, other, next_one = random_kernel(5), random_kernel(5), random_kernel(6)
    assert one.text == other.text and one.errors == other.errors and one.text != next_one.text
    assert all(np.array_equal(one.inputs[name], other.inputs[name]) for name in one.inputs)


def test_the_kernels_are_of_many_kinds():
    texts = "\n".join(random_kernel(seed).text for seed in range(300))
    for operation in (
        "dot_general",
        "cond",
        "scan",
        "while",
        "addupdate",
        "reduce_sum",
        "cumsum",
        "sort",
        "pad",
        "tanh",
        "shift_left",
        " +: ",
    ):
        assert operation in texts, operation
    errors = [error for seed in range(300) for error in random_kernel(seed).errors.values()]
    assert 0.1 < sum(error > 0 for error in errors) / len(errors) < 0.9


KERNEL = """pkir 1;
kernel @random {
  grid [];
  in %x0: f32[4];
  out %o0: f32[4];
  body @random (%x0_ref: ref<default,f32[4]>, %o0_ref: ref<default,f32[4]>) {
    %v1 = get(%x0_ref) : f32[4];
    %v2 = add(%v1, %v1) : f32[4];
    _ = swap(%o0_ref, %v2) : f32[4];
    return;
  }
}
"""


@pytest.mark.parametrize(
    "error, changed, differs",
    [
        (0.0, "mul(%v1, %v1)", True),
        (0.0, "add(%v1, %v1)", False),
        (10.0, "mul(%v1, %v1)", False),
        (1e-6, "mul(%v1, %v1)", True),
    ],
)
def test_a_difference_is_seen_where_it_is_larger_than_the_bound(monkeypatch, error, changed, differs):
    kernel = RandomKernel(1, KERNEL, {"x0": np.array([1, 2, 3, 4], np.float32)}, {"o0": error})
    changed_kernel = dataclasses.replace(kernel, text=KERNEL.replace("add(%v1, %v1)", changed))
    theirs = differential.theirs
    monkeypatch.setattr(differential, "theirs", lambda _, mode: theirs(changed_kernel, mode))
    found = differential.difference(kernel, "interpret")
    assert (found is not None) == differs
    if differs:
        assert found.output == "o0" and found.found.startswith("o0[0] is 2.0 here and 1.0 in JAX, of 3 such elements")


def test_what_jax_raises_is_a_difference(monkeypatch):
    def fails(kernel, mode):
        raise NotImplementedError("no such rule")

    monkeypatch.setattr(differential, "theirs", fails)
    found = differential.judge(3, "interpret")
    assert found is not None and found.found == "NotImplementedError: no such rule"


def test_what_differs_is_reduced(monkeypatch):
    def wrong_maxima(kernel, mode):
        outputs = differential.ours(kernel)
        return {name: value + ("reduce_max" in kernel.text) for name, value in outputs.items()}

    monkeypatch.setattr(differential, "theirs", wrong_maxima)
    seed = next(
        seed
        for seed in range(100)
        if "reduce_max" in random_kernel(seed).text and differential.judge(seed, "interpret")
    )
    small = differential.reduced(differential.judge(seed, "interpret"), "interpret")
    assert "reduce_max" in small and small.count("\n") < random_kernel(seed).text.count("\n") / 2
