"""The kernels that are recorded on hardware."""

import functools

import defects
import from_corpus
import from_wheel
import mosaic_probes
import products
import shown
import triton_probes


@functools.cache
def kernels():
    """All whose outputs are kept, by name."""
    return _named(triton_probes, mosaic_probes, products, from_corpus, from_wheel)


@functools.cache
def defective():
    """Those of which only is kept how often they are wrong, by name."""
    return _named(defects, shown)


def _named(*modules):
    found = {}
    for module in modules:
        for one in module.recorded():
            if one.name in found:
                raise ValueError(f"two kernels have the name {one.name}")
            found[one.name] = one
    return found
