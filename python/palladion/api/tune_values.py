"""Whether candidates of `palladion.tune` compute the same values: other block sizes sum in another order, which is no
mistake, and everything else is.

Where the reference's result is the output of one of its kernels, the bound of each element is that of its golden
bundle: running error analysis (docs/reference/compare.md); an element that the reference leaves undefined is not
compared. Any other result is compared with the tolerance of its type in JAX's own tests, relative to the largest
element of the result, because a sum that cancels has the error of its terms. What this does not catch: a mistake that
is smaller.
"""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from palladion import _library
from palladion.api import checking
from palladion.api.golden_bundle import golden
from palladion.base.errors import ExportError


class Judge:
    """Compares results with `expected`. rtol, atol: as for palladion.check; None: bounds as above."""

    def __init__(self, expected: Any, rtol: float | None, atol: float | None):
        self.expected = jax.tree.leaves(expected)
        self._rtol, self._atol = rtol, atol
        self._bounds: list[tuple[np.ndarray, np.ndarray] | None] = [None] * len(self.expected)

    def take_bounds(self, f: Callable, args: Sequence, target: str | None, results: Any) -> None:
        """The bounds of the reference `f`, whose results are given; nothing where they are given by the user."""
        if self._rtol is not None or self._atol is not None:
            return
        with tempfile.TemporaryDirectory() as folder:
            try:
                bundles = golden(f, *args, out=os.path.join(folder, "bundles"), target=target)
            except (_library.PalladionError, ExportError):
                return  # a kernel whose calls cannot be recorded: the types' tolerances stand
            outputs = [one for bundle in bundles for one in _outputs_of(bundle)]
        leaves = jax.tree.leaves(results)
        self._bounds = (
            [_bound_of(leaf, outputs) for leaf in leaves] if len(leaves) == len(self.expected) else self._bounds
        )

    def difference(self, results: Any) -> str:
        """Where the results differ, and by how much; "" where they do not."""
        leaves = jax.tree.leaves(results)
        if len(leaves) != len(self.expected):
            return f"it has {len(leaves)} results and the reference {len(self.expected)}"
        for number, (found, expected) in enumerate(zip(leaves, self.expected)):
            if found.shape != expected.shape or found.dtype != expected.dtype:
                return (
                    f"result {number} is {found.dtype}{list(found.shape)} and the reference's "
                    f"{expected.dtype}{list(expected.shape)}"
                )
            if (one := self._difference(number, found, expected)) is not None:
                return str(one)
        return ""

    def _difference(self, number, found, expected):
        a, b = checking.numbers_of(found), checking.numbers_of(expected)
        rtol, atol = checking.tolerance_of(found.dtype, self._rtol, self._atol)
        if self._rtol is None and self._atol is None and b.dtype != object and b.size:
            finite = np.abs(b[np.isfinite(b)])
            atol = rtol * float(finite.max(initial=0.0))
            if (bound := self._bounds[number]) is not None:
                tolerance, undefined = bound
                known = np.isfinite(tolerance)
                rtol, atol = np.where(known, 0.0, rtol), np.where(known, tolerance, atol)
                a = np.where(undefined, b, a)
        return checking.difference_of(number, a, b, rtol, atol)


def _outputs_of(bundle: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(values, bounds, undefined) of each output that has bounds."""
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as stream:
        listed = json.load(stream)["outputs"]
    found = []
    for one in listed:
        if not one["tolerance"]:
            continue
        values, tolerance = (
            np.load(os.path.join(bundle, part, f"{one['name']}.npy")) for part in ("outputs", "tolerance")
        )
        path = os.path.join(bundle, "undefined", f"{one['name']}.npy")
        undefined = np.load(path) if one["undefined"] else np.zeros(values.shape, bool)
        found.append((values, tolerance, undefined))
    return found


def _bound_of(result, outputs) -> tuple[np.ndarray, np.ndarray] | None:
    """Those of the output that this result is."""
    raw = np.asarray(result).tobytes()
    for values, tolerance, undefined in outputs:
        if values.size == np.size(result) and values.tobytes() == raw:
            return tolerance.reshape(np.shape(result)), undefined.reshape(np.shape(result))
    return None
