"""How far a GPU's numbers may be from the reference's, and why: what `compare.py` judges by.

`ulp`: steps between neighbouring values of the type. `relative`, `absolute`: |difference| <= absolute + relative
|reference|. Infinities and NaN must be met as such. `product`: from the operands, see products.py.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Bound:
    ulp: int = 0
    absolute: float = 0.0
    relative: float = 0.0
    why: str = ""
    flushes: bool = False  # subnormal results may be zeros, and subnormal operands count as zeros
    model: object = None  # arguments -> what the hardware gives, bit for bit, where that is known
    product: object = None  # arguments -> the largest difference at each element of each output


EXACT = Bound(why="the same bits: every step is exact, or rounded once and to nearest")
