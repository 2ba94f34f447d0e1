"""What an exercise is: the task, what an answer is compared with, on which arrays, on which chip, and how fast.

Each folder of exercises/ has `exercise.py` (what the learner edits, with the task as its docstring), `statement.py`
(EXERCISE, one of these), `solution.py`, and at least three `wrong_*.py`, whose docstrings begin with the code that the
judge must give them.
"""

import ast
import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

KINDS = {
    "write": "write it",
    "mend": "mend it",
    "find": "find the race",
    "faster": "make it faster",
    "fit": "make it fit",
}
EXERCISE, SOLUTION = "exercise.py", "solution.py"


@dataclasses.dataclass(frozen=True)
class Statement:
    """`inputs()` are the arguments of each call that an answer is judged on; they are not shown to the learner.
    `reference` computes the right values of them by NumPy.

    `faster`: how many times faster than the file that the learner begins with the answer has to be, by palladion.time
    on `timed()`, or on the first of `inputs()`; `chip` has other numbers of the chip for that, as palladion.time's
    `changes`, so that small arrays are large for its L2. `fewer_bytes`: instead, how many times fewer bytes its kernels
    ask L2 for.

    Of the kind "find" the answer is a function without arguments; it returns the letters of the lines that end in
    `# A`, `# B`, ..., and `kernel` names the function that is checked.

    `vmem`: how many bytes of VMEM a kernel may hold, where the compiler could be given more.

    `ring`: an answer is what each of several devices runs on its part of the arrays, along the axis "ring" of a mesh;
    arrays and results then have a dimension of devices in front.

    `needs`: operations of kernels that an answer may not do without, as its jaxpr (or work.py) and as the learner
    calls them. `multiplies`: the type that the operands of all products of arrays have to have.
    """

    title: str
    kind: str
    target: str
    function: str
    inputs: Callable[[], Sequence[tuple]]
    hints: tuple[str, ...]
    reference: Callable | None = None
    faster: float | None = None
    fewer_bytes: float | None = None
    timed: Callable[[], tuple] | None = None
    chip: Mapping[str, str] = dataclasses.field(default_factory=dict)
    vmem: int | None = None
    kernel: str = ""
    seeds: int = 16
    exhaustive: bool = False
    launches: int = 1
    ring: bool = False
    needs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    multiplies: str = ""
    rtol: float | None = None
    atol: float | None = None

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"{self.title}: the kind of an exercise is one of {', '.join(KINDS)}; found {self.kind!r}")
        if (self.kind == "find") != bool(self.kernel) or (self.kind == "find") == bool(self.reference):
            raise ValueError(f"{self.title}: an exercise has a reference, one to find a race has a kernel")


@dataclasses.dataclass(frozen=True)
class Exercise:
    """One folder of exercises/."""

    name: str
    folder: pathlib.Path
    statement: Statement

    @property
    def begin(self) -> str:
        """The file that the learner begins with."""
        return (self.folder / EXERCISE).read_text(encoding="utf-8")

    @property
    def task(self) -> str:
        """What is to be done, as the learner's file says it."""
        return task_of(self.begin)

    @property
    def wrong(self) -> dict[pathlib.Path, str]:
        """The wrong answers, and the code that each must get."""
        return {path: task_of(path.read_text("utf-8")).split(":")[0] for path in sorted(self.folder.glob("wrong_*.py"))}


def task_of(text: str) -> str:
    return ast.get_docstring(ast.parse(text)) or ""


def random(shape: tuple[int, ...], seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    """Numbers of a normal distribution; small whole numbers of an integer type."""
    numbers = np.random.default_rng(seed)
    if np.issubdtype(np.dtype(dtype), np.integer):
        return numbers.integers(-9, 10, shape).astype(dtype)
    return numbers.standard_normal(shape).astype(dtype)
