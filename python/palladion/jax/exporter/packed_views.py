"""Loads and stores through a view that bitcasts to or from elements of less than a byte.

Memory here holds one such element in each byte. So the access is written as one of the memory's own elements, and the
value as a `tpu.bitcast`: row r * k + j of the narrow side is piece j of row r of the wide side. Copies have the view as
it is. Not covered, and refused by the library: such views on GPUs.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from palladion.base.errors import ExportError
from palladion.base.scalars import literal_text
from palladion.jax import jax_versions
from palladion.jax.exporter.tpu_ops import results_of
from palladion.jax.exporter.types import element_text
from palladion.jax.exporter.views import view_text

_BITCASTS = ("BitcastTransform", "RefBitcaster")


def _bits(dtype) -> int:
    if dtype == bool:  # noqa: E721  a dtype of NumPy is equal to its type
        return 8
    return (jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo)(dtype).bits


@dataclasses.dataclass(frozen=True)
class Packed:
    """The access `ref[before].bitcast(seen)[indexer]` of memory of type `memory`; without an indexer it is of all."""

    ref: object
    before: tuple
    memory: np.dtype
    seen: np.dtype
    indexer: object = None


def packed(writer, ref, transforms) -> Packed | None:
    """The access, or None where its elements are whole bytes, or are seen as they are stored."""
    if writer.file.backend not in ("", "mosaic_tpu"):
        return None
    transforms = list(transforms or ())
    while type(ref).__name__ == "TransformedRef":
        ref, transforms = ref.ref, [*ref.transforms, *transforms]
    if not any(type(one).__name__ in _BITCASTS for one in transforms):
        return None
    dtype = np.dtype(ref.aval.dtype)
    for n, transform in enumerate(transforms):
        if type(transform).__name__ not in _BITCASTS:
            continue
        seen, rest = np.dtype(transform.dtype), transforms[n + 1 :]
        if _bits(dtype) != _bits(seen) and min(_bits(dtype), _bits(seen)) < 8:
            if len(rest) > 1 or any(type(one).__name__ != "NDIndexer" for one in rest):
                raise ExportError(
                    f"a ref of {dtype} that is seen as {seen} is used through more than one index; "
                    "expected .bitcast and one index after it"
                )
            return Packed(ref, tuple(transforms[:n]), dtype, seen, *rest)
        dtype = seen
    return None


def _number(value):
    """A start that is known, or None."""
    if jax_versions.is_literal(value):
        value = value.val
    known = isinstance(value, (int, np.integer)) or (jax_versions.is_array(value) and np.ndim(value) == 0)
    return int(value) if known else None


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Which rows of the memory an access takes, and which of what they are seen as are the access's."""

    start: str
    count: int
    skipped: int
    wanted: int


class _Access:
    """A Packed as an equation has it; `shape` is that of its value."""

    def __init__(self, writer, env, access, shape):
        self.writer, self.read, self.access = writer, writer.reader(env), access
        bits = _bits(access.memory), _bits(access.seen)
        self.pieces, self.narrow_memory = max(bits) // min(bits), bits[0] < bits[1]
        whole = access.indexer is None
        indices = () if whole else access.indexer.indices
        entries = [(0, size, False) for size in shape] if whole else [self._entry(one) for one in indices]
        *leading, (row, count, _), (column, self.columns, _) = entries
        self.shape, self.rows = tuple(shape), self._rows(row, count)
        self.kept = [size for _, size, point in leading if not point]
        text = [self._start(start) if point else f"{self._start(start)} +: {size}" for start, size, point in leading]
        text += [f"{self.rows.start} +: {self.rows.count}", f"{self._start(column)} +: {self.columns}"]
        self.view = view_text(access.ref, access.before, self.read) + ("" if whole else f".at[{', '.join(text)}]")

    def _entry(self, index):
        """(start, size, is it a point) of one dimension."""
        if type(index).__name__ != "Slice":
            if np.shape(getattr(index, "aval", index)) != ():
                raise self._refused("has an array as an index; expected scalars and slices")
            return index, 1, True
        if index.stride != 1 or not isinstance(index.size, (int, np.integer)):
            raise self._refused("has a slice with a stride, or of a computed size; expected stride 1 and a number")
        return index.start, int(index.size), False

    def _refused(self, why):
        return ExportError(f"a ref of {self.access.memory} that is seen as {self.access.seen} {why}")

    def _start(self, value) -> str:
        known = _number(value)
        return str(known) if known is not None else self.read(value)

    def _rows(self, start, count) -> _Rows:
        known = _number(start)
        if self.narrow_memory:
            first = str(known * self.pieces) if known is not None else self._times(start)
            return _Rows(first, count * self.pieces, 0, count)
        if known is None:
            raise self._refused(
                "has a row as an index that is computed; expected a number, or the index before .bitcast"
            )
        first, last = known // self.pieces, -((-known - count) // self.pieces)
        return _Rows(str(first), last - first, known - first * self.pieces, count)

    def _times(self, start) -> str:
        product, dtype = self.writer.fresh(), start.aval.dtype
        self.writer.emit(
            "mul",
            args=[self.read(start), literal_text(self.pieces, dtype)],
            results=[product],
            types=[element_text(dtype, ())],
            loc=self.writer.location(self.writer.equation),
        )
        return product

    @property
    def stored(self) -> tuple:
        return (*self.kept, self.rows.count, self.columns)

    def seen(self, stored):
        """The access's value of the memory's elements, in JAX."""
        rows, first = _bitcast(stored, self.access.seen), self.rows.skipped
        return [jax.lax.slice_in_dim(rows, first, first + self.rows.wanted, axis=-2).reshape(self.shape)]

    def as_stored(self, value):
        """The memory's elements of the access's value, in JAX."""
        return [_bitcast(value.reshape((*self.kept, self.rows.wanted, self.columns)), self.access.memory)]


def _bitcast(value, dtype):
    from jax.experimental.pallas import tpu

    return tpu.bitcast(value, dtype)


def load(writer, eqn, env, access: Packed):
    one, loaded = _Access(writer, env, access, eqn.outvars[0].aval.shape), writer.fresh()
    writer.emit(
        "get",
        args=[one.view],
        results=[loaded],
        types=[element_text(access.memory, one.stored)],
        loc=writer.location(eqn),
    )
    [env[eqn.outvars[0]]] = results_of(writer, eqn, one.seen, (loaded, one.stored, access.memory))


def store(writer, eqn, env, access: Packed, value):
    """A swap."""
    one, before = _Access(writer, env, access, value.aval.shape), writer.fresh()
    if not one.narrow_memory and (one.rows.skipped or one.rows.count * one.pieces != one.rows.wanted):
        raise ExportError(
            f"a store to a ref of {access.memory} that is seen as {access.seen} is to a part of a row of "
            f"the memory; expected whole rows, each of which is {one.pieces} of those that are seen"
        )
    given = (writer.read(env, value), value.aval.shape, access.seen)
    [stored] = results_of(writer, eqn, one.as_stored, given)
    writer.emit(
        "swap",
        args=[one.view, stored],
        results=[before],
        types=[element_text(access.memory, one.stored)],
        loc=writer.location(eqn),
    )
    if eqn.outvars[0] in writer.used:
        [env[eqn.outvars[0]]] = results_of(writer, eqn, one.seen, (before, one.stored, access.memory))
