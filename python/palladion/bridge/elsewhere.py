"""Kernels that Palladion cannot run, where `on_unsupported` says what becomes of them: they go to JAX's interpreter,
or are skipped.

A compiled program reports each such call when it makes it (a Python callback), so that a session has those of
functions that were compiled before it, too. What it does not catch: an operation that JAX's interpreter does not have
either; that is JAX's error.
"""

import collections
import dataclasses
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir

from palladion import _library
from palladion.base.errors import ExportError
from palladion.jax import jax_programs, jax_versions
from palladion.jax.carriers import from_carrier, is_key, storage
from palladion.jax.exporter.types import semaphore_name
from palladion.report.refusals import Refusal, refusal_of

JAX, SKIPPED, REFUSED = "jax", "skipped", "refused"


@dataclasses.dataclass(frozen=True)
class Elsewhere:
    """A kernel that Palladion did not run: `where` is "jax" (JAX's interpreter ran it) or "skipped" (its results are
    poison).

    refusal: what its target refuses, which is reported in any case; None where that is nothing.
    """

    kernel: str
    where: str
    reason: str
    count: int = 1
    refusal: Refusal | None = dataclasses.field(default=None, repr=False)

    def __str__(self) -> str:
        times = f" ({self.count} calls)" if self.count > 1 else ""
        did = (
            "JAX's interpreter ran it, nothing was checked" if self.where == JAX else "skipped, its results are poison"
        )
        return f"kernel {self.kernel}: {did}{times}: {self.reason}"


class _Notes:
    """What was noted and not yet taken, by the number of the session."""

    def __init__(self):
        self.lock = threading.Lock()
        self.noted = collections.defaultdict(collections.Counter)

    def add(self, session: int, note: Elsewhere):
        with self.lock:
            self.noted[session][note] += 1

    def take(self, session: int) -> list:
        with self.lock:
            noted = self.noted.pop(session, {})
        return [dataclasses.replace(note, count=count) for note, count in noted.items()]


_notes = _Notes()


def refused(session: int, kernel: str, error: Exception) -> None:
    """The kernel's call fails; what its target refuses of it is the session's all the same."""
    if refusal := refusal_of(error):
        _notes.add(session, Elsewhere(kernel, REFUSED, reason_of(error), refusal=refusal))


def reason_of(error: Exception) -> str:
    """Why a kernel does not run, without what its target refuses."""
    return getattr(error, "reason", str(error))


def take(session: int) -> list:
    """The Elsewhere of a session since the last time, equal calls counted."""
    return _notes.take(session)


def is_unsupported(error: Exception) -> bool:
    """The kernel has something that Palladion does not have, and nothing else is wrong."""
    return isinstance(error, ExportError) or (
        isinstance(error, _library.PalladionError) and error.code == _library.UNSUPPORTED
    )


_note_p = Primitive("palladion_note")


@_note_p.def_abstract_eval
def _note_abstract_eval(*, session, note):
    return jax.core.ShapedArray((), np.int32)


def _note_lowering(context, *, session, note):
    def note_call():
        _notes.add(session, note)
        return (np.int32(0),)

    return jax_versions.emit_python_callback(context, note_call, (), (), context.avals_out, has_side_effect=True)


mlir.register_lowering(_note_p, _note_lowering, platform="cpu")


def add_note(context, session: int, note: Elsewhere):
    """Makes the program that is lowered note this call whenever it runs."""

    def note_call():
        return [_note_p.bind(session=session, note=note)]

    plain = context.replace(avals_in=(), avals_out=[jax.core.ShapedArray((), np.int32)])
    jax_programs.lower_once(plain, (), note_call)


def skipped(context, nodes):
    """Results of a kernel that does not run: NaN, the number with all bits set, True."""
    return jax_versions.lower_function(lambda *_: [_poison(aval) for aval in context.avals_out])(context, *nodes)


def _poison(aval):
    if is_key(aval.dtype):
        words = jnp.full(aval.shape + aval.dtype._impl.key_shape, 0xFFFFFFFF, jnp.uint32)
        return jax.random.wrap_key_data(words, impl=aval.dtype._impl.name)
    if semaphore_name(aval.dtype):
        return from_carrier(jnp.full(storage(aval)[0], -1, storage(aval)[1]), aval)
    if jnp.issubdtype(aval.dtype, jnp.floating):
        return jnp.full(aval.shape, jnp.nan, aval.dtype)
    value = (
        True
        if aval.dtype == bool
        else -1
        if jnp.issubdtype(aval.dtype, jnp.signedinteger)
        else jnp.iinfo(aval.dtype).max
    )
    return jnp.full(aval.shape, value, aval.dtype)
