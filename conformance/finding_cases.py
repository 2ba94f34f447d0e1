"""Cases of the finding codes: for each page of `palladion explain` its wrong kernel and the one that is mended.

The kernels are the kernel texts of emu/front/reports/explain/*.txt; why the first is wrong and the other is not says
the page, from the documentation of the hardware and of JAX. A table here says at which lines each finding is, both of
its accesses where it has two, and NumPy what the mended kernel computes. Not here, and written by hand: PEER_LIFETIME,
whose page's kernel is found beyond the end of its text, and WGMMA_ORDER, whose operands do not count up. Does not
catch: a page and a table that are wrong in the same way.
"""

import dataclasses
import pathlib
import re
import textwrap

import numpy as np
from case_writer import expectation, spec_lines

PAGES = pathlib.Path(__file__).resolve().parents[1] / "emu/front/reports/explain"

# Code: (exit code of the wrong kernel, {line: what is found there}).
WRONG = {
    "ALIAS": (1, {5: "ALIAS@a", 10: "ALIAS@a NONDET@b"}),
    "BAR_BYTES": (1, {13: "BAR_BYTES@a"}),
    "BAR_DOUBLE": (1, {11: "BAR_DOUBLE@a", 12: "BAR_DOUBLE@a"}),
    "BAR_PENDING": (1, {8: "BAR_PENDING@a", 11: "BAR_PENDING@a"}),
    "BAR_PHASE_SKIP": (0, {16: "BAR_PHASE_SKIP@a", 20: "BAR_PHASE_SKIP@a"}),
    "BAR_TC_ORDER": (1, {14: "BAR_TC_ORDER@a", 20: "BAR_TC_ORDER@a"}),
    "BAR_UNAWAITED": (1, {10: "BAR_UNAWAITED@a", 11: "BAR_UNAWAITED@a"}),
    "CAPACITY": (1, {2: "CAPACITY"}),
    "CHECK": (1, {10: "CHECK"}),
    "COMPILER": (0, {11: "COMPILER"}),
    "COLL_MISMATCH": (1, {14: "COLL_MISMATCH@a DEADLOCK"}),
    "DEADLOCK": (1, {13: "DEADLOCK"}),
    "DIV_ZERO": (0, {8: "DIV_ZERO"}),
    "F2I": (0, {9: "F2I"}),
    "GRID_ORDER": (1, {10: "GRID_ORDER@a", 14: "GRID_ORDER@a"}),
    "ILLEGAL": (1, {8: "ILLEGAL", 9: "ILLEGAL"}),
    "INDEX_TYPE": (1, {5: "INDEX_TYPE", 6: "ILLEGAL", 7: "ILLEGAL"}),
    "LAUNCH_CONTROL": (1, {5: "OUT_MISSING", 10: "LAUNCH_CONTROL", 13: "NONDET"}),
    "LIVELOCK": (1, {12: "LIVELOCK"}),
    "NONDET": (2, {13: "NONDET@a"}),
    "NOT_AWAITED": (1, {11: "NOT_AWAITED"}),
    "OOB": (1, {10: "OOB"}),
    "OOB_BLOCK": (1, {5: "OOB_BLOCK"}),
    "OUT_MISSING": (0, {6: "OUT_MISSING"}),
    "OUT_REVISIT": (1, {6: "OUT_REVISIT@a"}),
    "PAD_LEAK": (1, {9: "PAD_LEAK@a", 11: "PAD_LEAK@a"}),
    "PROMISE": (1, {10: "PROMISE"}),
    "PROXY": (1, {10: "PROXY@a", 11: "PROXY@a"}),
    "PROXY_WAR": (0, {13: "PROXY_WAR@a", 18: "PROXY_WAR@a"}),
    "RACE_ASYNC": (1, {10: "RACE_ASYNC@a", 11: "RACE_ASYNC@a UNINIT@b", 13: "NONDET@c UNINIT@b"}),
    "RACE_RW": (1, {10: "RACE_RW@a", 11: "RACE_RW@a NONDET@b"}),
    "RACE_WW": (1, {10: "RACE_WW@a NONDET@b"}),
    "RACE_XDEV": (1, {16: "RACE_WW@a RACE_XDEV@c", 19: "RACE_XDEV@b RACE_XDEV@c", 21: "RACE_WW@a RACE_XDEV@b"}),
    "SAME_VALUE": (0, {8: "SAME_VALUE@a"}),
    "SEM_LEAK": (1, {9: "SEM_LEAK"}),
    "SHIFT": (0, {9: "SHIFT"}),
    "START_ORDER": (0, {13: "START_ORDER"}),
    "UNINIT": (1, {10: "UNINIT@a", 13: "UNINIT@a"}),
    "USE_AFTER_SCOPE": (1, {9: "first:USE_AFTER_SCOPE", 10: "USE_AFTER_SCOPE UNINIT@a", 11: "UNINIT@a"}),
}

# Where the rule stands, if not with the codes' table.
SPECS = {
    "ALIAS": "races.md#alias",
    "CAPACITY": "contracts.md#capacity.1",
    "COMPILER": "contracts.md#compiler.1",
    "DIV_ZERO": "contracts.md#values.1",
    "SHIFT": "contracts.md#values.2",
    "F2I": "contracts.md#values.3",
    "PROMISE": "contracts.md#promises.1",
    "GRID_ORDER": "races.md#findings",
    "SAME_VALUE": "races.md#findings",
    "RACE_WW": "memory-model.md#which-code-a-conflict-gets",
    "RACE_RW": "memory-model.md#which-code-a-conflict-gets",
    "RACE_ASYNC": "memory-model.md#asynchronous-operations",
    "NOT_AWAITED": "memory-model.md#asynchronous-operations",
    "RACE_XDEV": "tpu-copies.md#devices",
    "OUT_REVISIT": "races.md#output-revisit",
    "OUT_MISSING": "definedness.md#outputs",
    "UNINIT": "definedness.md#reported",
    "PAD_LEAK": "definedness.md#reported",
    "INDEX_TYPE": "grid.md#index-type",
    "OOB_BLOCK": "grid.md#out-of-bounds",
    "OOB": "ref.md#3",
    "ILLEGAL": "contracts.md#illegal",
    "CHECK": "program.md#check",
    "PROXY": "memory-model.md#the-fence-rule",
    "PROXY_WAR": "memory-model.md#the-fence-rule",
    "USE_AFTER_SCOPE": "ref.md#freeze",
    "NONDET": "grid.md#order.2",
    "LIVELOCK": "ref.md#atomic_rmw",
    "START_ORDER": "gpu-threads.md#threads",
    "COLL_MISMATCH": "gpu-threads.md#scopes",
    "LAUNCH_CONTROL": "gpu-cluster-cancel.md#try_cluster_cancel",
    "SEM_LEAK": "gpu-order.md#semaphores.2",
    "DEADLOCK": "gpu-order.md#waits",
    "BAR_BYTES": "gpu-order.md#barriers.4",
    "BAR_DOUBLE": "gpu-order.md#barriers.1",
    "BAR_PHASE_SKIP": "gpu-order.md#barriers.2",
    "BAR_TC_ORDER": "gpu-order.md#tmem.5",
    "BAR_UNAWAITED": "gpu-order.md#barriers.3",
    "BAR_PENDING": "gpu-order.md#barriers.3",
}


def smoothed(x):
    blocks = x.reshape(4, 8, 128)
    return 2 * blocks[[0, 0, 1, 2]].reshape(32, 128)


def prefix(x):
    return np.concatenate([x[:1], x[:4]])


def row_sums(x):
    return np.stack([x[:, :128].sum(1), x[:, 128:].sum(1)], 1)


# What the mended kernel computes: outputs from the input x, which counts up. Those not named copy it.
RIGHT = {
    "ALIAS": smoothed,
    "BAR_BYTES": lambda x: np.stack([x, x]),
    "COMPILER": lambda x: x[8:],
    "DIV_ZERO": lambda x: 12 // np.maximum(x, 1),
    "F2I": lambda x: np.clip(100 * x, -128, 127).astype(np.int8),
    "GRID_ORDER": lambda x: x.sum(keepdims=True),
    "LAUNCH_CONTROL": lambda x: 2 * x,
    "LIVELOCK": lambda x: np.ones(1, np.int32),
    "NONDET": lambda x: {"o": x, "m": np.array([x.size], np.int32)},
    "OOB": lambda x: x[np.minimum(np.arange(4) + 1, 3)],
    "OOB_BLOCK": lambda x: x.reshape(2, 8, 128)[::-1],
    "OUT_REVISIT": lambda x: x.reshape(4, 8, 128)[1::2],
    "PAD_LEAK": row_sums,
    "PROMISE": lambda x: x[:8],
    "RACE_RW": prefix,
    "RACE_XDEV": lambda _: np.tile(np.arange(128, dtype=np.int32), (2, 2, 1)),
    "SAME_VALUE": lambda _: np.ones(1, np.int32),
    "SHIFT": lambda x: np.left_shift(1, 8 * x),
    "START_ORDER": lambda x: np.tile(x, (134, 1)),
    "UNINIT": lambda x: x.reshape(4, 8, 128).sum(0),
}
CHIPS = {"triton": "triton/h100", "mosaic_tpu": "mosaic_tpu/v5e", "mosaic_gpu": "mosaic_gpu/h100"}
TYPES = {"f32": np.float32, "i32": np.int32}


def prose_lines(prose):
    """Lines of which none begins with a word and a colon: a case would take it for a header."""
    for width in range(114, 90, -1):
        lines = textwrap.wrap(prose, width, break_on_hyphens=False)
        if not any(re.match(r"\w+:", line) for line in lines):
            return lines
    raise ValueError(f"a line of this begins like a header of a case: {prose}")


@dataclasses.dataclass(frozen=True)
class FindingCase:
    code: str
    wrong: bool

    @property
    def path(self):
        return f"findings/{self.code.lower()}_{'wrong' if self.wrong else 'right'}"

    def text(self):
        page = (PAGES / f"{self.code}.txt").read_text(encoding="utf-8")
        head, _, _, wrong, right = re.split(r"^--- (?:python )?(?:wrong|right)\n", page, flags=re.MULTILINE)
        keys = dict(re.findall(r"^# (\w+): (.*)$", head, re.MULTILINE))
        prose = re.sub(r"^# .*\n", "", head, flags=re.MULTILINE).strip().split("\n\n")
        kernel = wrong if self.wrong else right
        lines = spec_lines(self.path, SPECS[self.code])
        sentence = prose[0] if self.wrong else f"Mended. {prose[-1]}"
        lines += [f"# {line}" for line in prose_lines(sentence.replace("\n", " "))]
        lines += self.headers(kernel, keys.get("options", "").split())
        lines += ["--- kernel", *self.marked(kernel)]
        if "inputs" in keys:
            lines += ["--- inputs", *(word.replace("=", " = ") for word in keys["inputs"].split())]
        if not self.wrong:
            lines += ["--- expect", *self.expected(kernel)]
        return "\n".join(lines) + "\n"

    def headers(self, kernel, options):
        if backend := re.search(r"^  backend (\w+);", kernel, re.MULTILINE):
            usual = "b200" if "<tmem," in kernel else CHIPS[backend[1]]
            chip = options[options.index("--target") + 1] if "--target" in options else usual
            yield f"# target: {chip if '/' in chip else f'{backend[1]}/{chip}'}"
        if self.wrong and WRONG[self.code][0]:
            yield f"# exit: {WRONG[self.code][0]}"
        yield f"# schedules: {options[options.index('--seeds') + 1] if '--seeds' in options else 16}"
        if "--budget" in options:
            yield f"# budget: {options[options.index('--budget') + 1]}"

    def marked(self, kernel):
        marks = WRONG[self.code][1] if self.wrong else {}
        for number, line in enumerate(kernel.rstrip("\n").split("\n"), 1):
            yield f"{line}  //~ {marks[number]}" if number in marks else line

    def expected(self, kernel):
        typed = re.search(r"^  in %x: (\w+)\[([\d,]*)\]", kernel, re.MULTILINE)
        x = None
        if typed:
            shape = [int(size) for size in typed[2].split(",")]
            x = np.arange(np.prod(shape), dtype=TYPES[typed[1]]).reshape(shape)
        outputs = RIGHT.get(self.code, lambda x: x)(x)
        for name, value in (outputs if isinstance(outputs, dict) else {"o": outputs}).items():
            yield from expectation(name, np.asarray(value))


def codes():
    for code in WRONG:
        yield FindingCase(code, True)
        yield FindingCase(code, False)


FAMILIES = (codes,)
