"""One kernel call in compiled code: a custom call into the library with XLA's own buffers, or else a Python callback.

The custom call (emu/front/ffi/handler.cc) is there where the library was built with XLA's FFI headers. Both ways end in
the same function of the library, and leave the same report.
PALLADION_TRANSPORT=callback takes the second where the first is there.
"""

import functools
import os
from collections.abc import Callable

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir

from palladion import _library
from palladion.jax import device_mesh, jax_programs, jax_versions
from palladion.jax.carriers import carried_name, carrier_dtype, from_carrier, storage, to_carrier

CUSTOM_CALL = "palladion_call"

# whose Ctrl-C came while a callback ran on the main thread: the session raises it at its end
interrupted_sessions = set()


class KernelCall:
    """What compiled code has to know of a call. `aliases` are pairs (operand, result) that share memory."""

    def __init__(self, text, target, options, session, avals, aliases, info):
        self.text, self.target, self.options, self.session = text, target, options, session
        self.in_avals, self.out_avals, self.aliases = tuple(avals[0]), tuple(avals[1]), dict(aliases)
        self.info, self.devices = info, info.devices
        self.meeting = device_mesh.Meeting(info.name, info.devices, self._run) if info.devices else None
        self.request = _library.call_request(text, target, options, session)

    def prepare(self):
        _library.prepare_call(self.request)

    def types_text(self) -> str:
        return ",".join(carried_name(aval.dtype) for aval in self.in_avals + self.out_avals)

    def __call__(self, *arrays):
        """The callback: NumPy arrays in and out; it never touches jax."""
        if self.meeting is not None:  # the first operand is the device's number
            return self.meeting(int(arrays[0]), arrays[1:])
        return self._run(arrays)

    def _run(self, arrays):
        inputs = [np.asarray(a).view(storage(aval)[1]) for a, aval in zip(arrays, self.in_avals)]
        parts = (self.devices,) if self.devices else ()
        outputs = [np.empty(parts + storage(aval)[0], storage(aval)[1]) for aval in self.out_avals]
        try:
            _library.call(self.request, inputs, outputs)
        except KeyboardInterrupt:  # on the main thread; JAX makes it an error of its own
            interrupted_sessions.add(self.session)
            raise
        return tuple(output.view(carrier_dtype(output.dtype)) for output in outputs)


_call_p = Primitive("palladion_call")
_call_p.multiple_results = True


@_call_p.def_abstract_eval
def _abstract_eval(*_, call):
    return [jax.core.ShapedArray(shape, carrier_dtype(dtype)) for shape, dtype in map(storage, call.out_avals)]


@functools.cache
def custom_call_is_there() -> bool:
    """Registers the handler, once."""
    handler = getattr(_library.load(), "PalladionCall", None)
    if handler is None:
        return False
    jax.ffi.register_ffi_target(CUSTOM_CALL, jax.ffi.pycapsule(handler), platform="cpu")
    return True


def uses_custom_call() -> bool:
    return os.environ.get("PALLADION_TRANSPORT") != "callback" and custom_call_is_there()


def _lowering(context, *operands, call):
    # Side effects keep XLA from merging equal calls and dropping unused ones: the report has every call that the
    # program makes.
    if call.devices or not uses_custom_call():
        return jax_versions.emit_python_callback(
            context, call, operands, context.avals_in, context.avals_out, has_side_effect=True
        )
    rule = jax.ffi.ffi_lowering(CUSTOM_CALL, has_side_effect=True, operand_output_aliases=call.aliases)
    return rule(
        context,
        *operands,
        text=call.text,
        kernel="",
        target=call.target,
        options=call.options,
        session=np.int64(call.session),
        types=call.types_text(),
    )


mlir.register_lowering(_call_p, _lowering, platform="cpu")


def lowered(context, nodes, call: KernelCall, silent: Callable[[], KernelCall]):
    """The call in a lowering. In a program that XLA partitions, each device runs the kernel on the whole arrays, the
    first one as `call` and the others as `silent()`, which leaves no report;
    in shard_map over all axes each device has a call of its own.
    """

    def run(which, *values):
        number = [jax_programs.device_number()] if which.devices else []
        results = _call_p.bind(*number, *[to_carrier(v) for v in values], call=which)
        return [from_carrier(r, aval) for r, aval in zip(results, which.out_avals)]

    return jax_programs.lower_once(
        context, nodes, functools.partial(run, call), lambda: functools.partial(run, silent())
    )
