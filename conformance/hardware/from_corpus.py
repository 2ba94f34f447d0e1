"""The kernels of conformance/gpu_corpus that have no defect, with the inputs of their cases."""

import functools
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [
    folder for folder in (os.path.join(HERE, "..", "gpu_corpus"), os.path.join(HERE, "..")) if folder not in sys.path
]
import families  # noqa: E402
import inputs  # noqa: E402
from bounds import EXACT  # noqa: E402
from corpus import NOTES  # noqa: E402
from recorded import Recorded  # noqa: E402

# Their values cannot be compared: they read memory that was never written.
UNDEFINED = (
    "069_never_written_copy_noted",
    "069_never_written_store_noted",
    "065_out_missing_racy",
    "065_out_missing_moved_racy",
    "065_out_missing_copied_racy",
)

# Younger than the recordings.
NOT_RECORDED = ("062_illegal_smem_clean", "088_scope_reuse_read_automatic_clean")
TARGET = "mosaic_gpu/h100"  # whose recordings there are
SEVERAL_DEVICES = "_xdev_"  # in the name of a case: no kernel for the one GPU that records


def given(case):
    """The arguments of a case's kernel. What has no input in the case is zeros."""
    args = []
    for name, shape in zip(case.kernel.names, case.kernel.args):
        args.append(inputs.called(case.inputs.get(name, "zeros"), shape.shape, np.dtype(shape.dtype)))
    return tuple(args)


def left_out(case):
    """Why its kernel is not run on this chip, whatever a check finds; None where it is."""
    reasons = {
        "its text is changed after JAX has traced it": case.edit,
        "its check has options that a run on a GPU has not": case.headers,
        "it reads memory that was never written": case.name in UNDEFINED,
        "younger than the recordings": case.name in NOT_RECORDED,
        "it runs on several devices": SEVERAL_DEVICES in case.name,
        f"for another target, {case.target}": case.target != TARGET,
        "it has no outputs: its check ends with an error": case.exit,
    }
    return next((why for why, holds in reasons.items() if holds), None)


def clean(case):
    """Its kernel is what JAX traces, it is for this chip, and a check finds nothing but notes."""
    return left_out(case) is None and all(found.code in NOTES for found in case.findings)


def recorded():
    for _, case in families.cases():
        if clean(case):
            make = functools.partial(lambda c: (c.kernel.function, given(c)), case)
            yield Recorded(f"corpus/{case.name}", make, case.target, EXACT)
