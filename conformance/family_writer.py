"""What the families of family_cases.py share: values by type, and a case whose kernel is given line by line.

Values are drawn from a generator whose seed is the case's name, so that a new case changes no other.
"""

import dataclasses
import zlib

import ml_dtypes
import numpy as np
from case_writer import NUMPY_TYPES, dims, dtype_name, expectation, numbers, spec_lines, wrapped

FLOATS = ("f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2")
SIGNED = ("i4", "i8", "i16", "i32", "i64")
UNSIGNED = ("u4", "u8", "u16", "u32", "u64")
NUMBERS = FLOATS + SIGNED + UNSIGNED
ALL = NUMBERS + ("bool",)


def generator(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def values(name, dtype, shape):
    """Small numbers: whole ones from -8 to 7 (from 0 where there is no sign), halves for floats of 16 bits and more."""
    random = generator(name)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    low = 0 if dtype in UNSIGNED else -8
    drawn = random.integers(low, 8, shape)
    halves = drawn / 2 if dtype in FLOATS[:4] else drawn
    return halves.astype(np.float64).astype(NUMPY_TYPES[dtype])


def poison(dtype):
    """The value of memory that was never written (docs/spec/ref.md#6)."""
    ty = np.dtype(NUMPY_TYPES[dtype])
    if dtype == "bool":
        return np.True_
    if dtype in FLOATS:
        return np.array(np.nan, ty)
    limits = ml_dtypes.iinfo(ty)
    return np.array(limits.max if dtype in UNSIGNED else limits.min, ty)


def type_of(array):
    return f"{dtype_name(array.dtype)}{dims(array.shape)}"


@dataclasses.dataclass(frozen=True)
class FamilyCase:
    """`body`: kernel text over the refs %xr, …, %or of the inputs and of the output o; `blocks` name -> text of its
    block and the shape that the ref has then."""

    name: str
    spec: str
    prose: str
    inputs: dict
    output: np.ndarray
    body: tuple
    grid: tuple = ()
    blocks: dict = dataclasses.field(default_factory=dict)
    target: str = ""
    headers: tuple = ()
    given: bool = True  # the output; else only what is found

    @property
    def path(self):
        return f"families/{self.name}"

    def operand(self, role, name, array):
        block = self.blocks.get(name, ("", None))[0]
        return f"  {role} %{name}: {type_of(array)}{block};"

    def ref(self, name, array):
        shape = self.blocks.get(name, ("", None))[1]
        return f"%{name}r: ref<default,{dtype_name(array.dtype)}{dims(array.shape if shape is None else shape)}>"

    def text(self):
        lines = spec_lines(self.path, self.spec) + [f"# {line}" for line in self.prose.split("\n")]
        lines += [f"# target: {self.target}"] * bool(self.target) + [f"# {header}" for header in self.headers]
        lines += ["--- kernel", "pkir 1;", f"kernel @{self.name} {{"]
        if self.target:
            lines.append(f"  backend {self.target.split('/')[0]};")
        lines.append(f"  grid {dims(self.grid)};")
        lines += [self.operand("in", name, array) for name, array in self.inputs.items()]
        lines += [self.operand("out", "o", self.output)]
        refs = [self.ref(name, array) for name, array in {**self.inputs, "o": self.output}.items()]
        lines += wrapped("  body @body (", refs, ") {")
        lines += [f"    {line}" for line in (*self.body, "return;")] + ["  }", "}"]
        if self.inputs:
            lines += ["--- inputs"] + [f"{name} = {numbers(array)}" for name, array in self.inputs.items()]
        if self.given:
            lines += ["--- expect", *expectation("o", self.output)]
        return "\n".join(lines) + "\n"
