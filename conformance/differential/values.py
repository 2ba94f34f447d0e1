"""Values of a random kernel: what is known of each while it is written, so that two right machines give the same
numbers.

A value has a bound of its size and a bound of its error: how far two implementations may be apart that both keep to the
documentation (another order of summation, fused multiply-adds, narrow intermediates kept wide, library functions within
8 units in the last place). The error of a value that every implementation computes bit by bit is 0, and only such
values decide: predicates, indices, integers, roundings. Based on: forward error analysis, N. Higham, Accuracy and
Stability of Numerical Algorithms, 2002, chapters 2 and 3. Limits: subnormals are taken for 0, which stays within the
bounds; NaN and infinities do not occur.
"""

import dataclasses
import math

UNIT = {"f32": 2.0**-24, "bf16": 2.0**-8, "f16": 2.0**-11}  # unit roundoff
INT_RANGE = {
    "i8": (-128, 127),
    "i16": (-(2**15), 2**15 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "u8": (0, 255),
    "u16": (0, 2**16 - 1),
    "u32": (0, 2**32 - 1),
}
FUNCTION_ULPS = 8  # of exp and its like, in units in the last place
LARGEST = 2.0**12  # of any float: f16 ends at 65504, and products of two have to fit below 2^24


@dataclasses.dataclass(frozen=True)
class Value:
    name: str  # as in the text: "%v3"
    dtype: str
    shape: tuple
    size: float = 1.0  # no element is larger
    error: float = 0.0

    @property
    def float(self) -> bool:
        return self.dtype in UNIT

    @property
    def exact(self) -> bool:
        return self.error == 0.0

    @property
    def type(self) -> str:
        return type_text(self.dtype, self.shape)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


def type_text(dtype: str, shape: tuple) -> str:
    return f"{dtype}[{','.join(str(n) for n in shape)}]"


def rounded(dtype: str, size: float, error: float, operations: float = 1) -> tuple[float, float]:
    """Size and error of a result that was rounded that often, each time within one unit roundoff."""
    unit = UNIT.get(dtype, 0.0)
    return size, error + 2 * operations * unit * (size + error)  # the two implementations err one unit each


def sum_of(value: Value, terms: int) -> tuple[float, float]:
    """Of a sum in any order, of terms like this value."""
    return rounded(value.dtype, terms * value.size, terms * value.error, max(1, terms - 1))
