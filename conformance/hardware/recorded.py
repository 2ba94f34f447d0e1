"""The list of kernels that are recorded on hardware, and what one entry is.

A name is a path: where the kernel is from, then what it is. `make` gives (function, arguments in NumPy) when its turn comes.
"""

import dataclasses
import functools


@dataclasses.dataclass(frozen=True)
class Recorded:
    name: str
    make: object
    target: str  # what Palladion runs it on
    bound: object  # a Bound; of a defective kernel, what gives (name, outputs) of the right one

    @property
    def group(self):
        return self.name.partition("/")[0]


@functools.cache
def kernels():
    """All whose outputs are kept, by name."""
    import from_corpus
    import from_wheel
    import mosaic_probes
    import products
    import triton_probes
    return _named(triton_probes, mosaic_probes, products, from_corpus, from_wheel)


@functools.cache
def defective():
    """Those of which only is kept how often they are wrong, by name."""
    import defects
    import shown
    return _named(defects, shown)


def _named(*modules):
    found = {}
    for module in modules:
        for one in module.recorded():
            if one.name in found:
                raise ValueError(f"two kernels have the name {one.name}")
            found[one.name] = one
    return found
