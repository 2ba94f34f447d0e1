"""The kernels of conformance/gpu_corpus that have a defect, run on hardware: how often does it show?

A check says what some order of the hardware would do; a run shows one order. So a kernel that gives the right values in
every run is no argument against its finding, and one wrong value is an argument for it. `races` end whatever happens;
`hangs` may wait for ever.
"""

import functools

import numpy as np
from from_corpus import SEVERAL_DEVICES, TARGET, clean, families, given
from recorded import Recorded

HANG = {"DEADLOCK", "COLL_MISMATCH", "BAR_DOUBLE", "BAR_PHASE_SKIP"}
REFUSED_OR_HARMFUL = {"OOB", "ILLEGAL", "CAPACITY", "SEM_LEAK", "PEER_LIFETIME"}


def expected(case, clean_cases):
    """What the kernel without the mistake gives: the outputs of the case whose name begins alike and whose results have
    the same shapes."""
    names = case.kernel.names[len(case.kernel.args) :]
    alike = [
        one
        for one in clean_cases
        if one.name[:4] == case.name[:4] and set(one.outputs) == set(names) and one.inputs == case.inputs
    ]
    if not alike:
        return None

    def common(one):
        return next((i for i, (a, b) in enumerate(zip(one.name, case.name)) if a != b), 0)

    best = max(alike, key=common)
    return best.name, [np.asarray(best.outputs[name]) for name in names]


def left_out(case):
    """Why a kernel with these findings is not run on a GPU; None where it is."""
    codes = {found.code for found in case.findings}
    harmful = sorted(codes & REFUSED_OR_HARMFUL)
    if harmful:
        return f"refused there, or a harm to other work: {', '.join(harmful)}"
    return "its only mistake is that elements of an output are missing" if codes == {"OUT_MISSING"} else None


def recorded():
    cases = [case for _, case in families.cases()]
    right = [case for case in cases if clean(case) and case.outputs]
    for case in cases:
        codes = {found.code for found in case.findings}
        if (
            clean(case)
            or not codes
            or case.edit
            or case.headers
            or case.target != TARGET
            or SEVERAL_DEVICES in case.name
            or left_out(case) is not None
        ):
            continue
        kind = "hangs" if codes & HANG else "races"
        make = functools.partial(lambda c: (c.kernel.function, given(c)), case)
        yield Recorded(f"{kind}/{case.name}", make, case.target, functools.partial(expected, case, right))
