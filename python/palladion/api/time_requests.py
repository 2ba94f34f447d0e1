"""The C ABI of the model of time: what its requests are. Needs no JAX, so that a worker of
`palladion.tune` starts in a moment.
"""

import ctypes


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
        ("replay", ctypes.c_char_p),
    ]


def request_of(text, target, changes, budget, timeline=None) -> Request:
    encoded = text.encode()
    listed = (ctypes.c_char_p * len(changes))(*(change.encode() for change in changes))
    drawn = None if timeline is None else ctypes.pointer(Timeline(timeline.unit, timeline.device, timeline.compare))
    return Request(encoded, len(encoded), None, target and target.encode(), listed, len(changes), budget or 0, drawn)
