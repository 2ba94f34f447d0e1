"""Is what a GPU gave among what Palladion's schedules give? Element by element, for a race splits arrays where the
hardware likes."""

import numpy as np
import store
from palladion import _library
from palladion.api import running

POLICIES = ("program-order", "engines-late", "reverse", "pos", "sticky10", "pct2", "engines-first", "random-walk")
SEEDS = 12
# What is computed from data that was never written, or after threads disagreed about a collective operation, has no
# value that a GPU's could be compared with. What was copied from such data is this number here.
UNDEFINED, COPIED = {"UNINIT", "COLL_MISMATCH"}, {"OUT_MISSING", "PAD_LEAK"}
NEVER_WRITTEN = np.int32(-(2**31))


class Tried:
    """Stands for _library.Program in running.execute: checks the kernel, then runs it again under more schedules."""

    def __init__(self, text, target):
        self.program = _library.Program(text, None, target)
        self.codes, self.outputs = set(), []

    def run(self, arrays, outputs, *_):
        code, report = self.program.check(arrays, outputs, seeds=16)
        self.codes = {finding["code"] for finding in report["findings"]}
        self.outputs = [[np.array(o) for o in outputs]]
        replays = [finding["replay"] for finding in report["findings"] if finding.get("replay")]
        if replays:
            origin = ":".join(replays[0].split(":")[3:])  # s2:POLICY:SEED:ORIGIN
            for policy in POLICIES:
                for seed in range(SEEDS):
                    again = [np.zeros_like(o) for o in outputs]
                    self.program.check(arrays, again, replay=f"s2:{policy}:{seed}:{origin}")
                    self.outputs.append(again)
        return code, report


def tried(one):
    """The schedules of the one kernel of a defective entry."""
    function, args = one.make()
    found = []

    def program(text, target):
        found.append(Tried(text, target))
        return found[-1]

    running.execute(function, args, one.target, program=program)
    return found[0]


def strange(schedules, number, hardware):
    """How many elements of the different outputs of the hardware no schedule gives, and none could."""
    if schedules.codes & UNDEFINED:
        return 0
    given = np.stack([store.as_words(outputs[number]).ravel() for outputs in schedules.outputs])
    count = 0
    for output in hardware:
        found = (given == output.ravel()).any(axis=0)
        if schedules.codes & COPIED:
            found |= (given == NEVER_WRITTEN.astype(given.dtype)).any(axis=0)
        count += int((~found).sum())
    return count
