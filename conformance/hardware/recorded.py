"""What one kernel that is recorded on hardware is.

A name is a path: where the kernel is from, then what it is. `make` gives (function, arguments in NumPy) when its turn
comes.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Recorded:
    name: str
    make: object
    target: str  # what Palladion runs it on
    bound: object  # a Bound; of a defective kernel, what gives (name, outputs) of the right one

    @property
    def group(self):
        return self.name.partition("/")[0]
