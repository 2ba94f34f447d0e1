"""The C ABI of the model of time: a request, and what the library answers. Needs no JAX, so that a worker of
`palladion.tune` starts in a moment.
"""

import ctypes
import functools
import json

import numpy as np

from palladion import _library


class Timeline(ctypes.Structure):
    """palladion_timeline."""

    _fields_ = [
        ("unit", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("compare", ctypes.c_char_p),
        ("page", ctypes.c_void_p),
        ("trace", ctypes.c_void_p),
    ]


class Request(ctypes.Structure):
    """palladion_time_request."""

    _fields_ = [
        ("text", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("kernel", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("changes", ctypes.POINTER(ctypes.c_char_p)),
        ("n_changes", ctypes.c_size_t),
        ("budget", ctypes.c_int64),
        ("timeline", ctypes.POINTER(Timeline)),
    ]


def request_of(text, target, changes, budget, timeline=None) -> Request:
    encoded = text.encode()
    listed = (ctypes.c_char_p * len(changes))(*(change.encode() for change in changes))
    drawn = None if timeline is None else ctypes.pointer(Timeline(timeline.unit, timeline.device, timeline.compare))
    return Request(encoded, len(encoded), None, target and target.encode(), listed, len(changes), budget or 0, drawn)


@functools.cache
def _function(name):
    library = _library.load()
    function, text_out, error = getattr(library, name), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_library._Error)
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.POINTER(_library._Array), ctypes.c_size_t, text_out, error]
    return library, function


def timed_call(name: str, request: ctypes.Structure, inputs) -> tuple[dict, str]:
    """The answer of a function of the C ABI that takes a request and arrays: its JSON, and its text for people."""
    (library, function), held = _function(name), []
    text, error = ctypes.c_void_p(), _library._Error()
    arrays = [np.asarray(one, order="C") for one in inputs]
    described = _library._listed(arrays, held)
    result = ctypes.c_void_p(
        function(ctypes.byref(request), described, len(arrays), ctypes.byref(text), ctypes.byref(error))
    )
    _library._expect(error, result.value)
    return json.loads(_library._take_text(library, result)), _library._take_text(library, text)
