"""`palladion.reduce`: a smaller kernel with smaller inputs that still has a finding,
or of which a function still says yes.

The passes are C++ (emu/tools/reduce); here are only the C ABI's request and the way back of a function's answer.
docs/guides/reduce.md.
"""

import ctypes
import dataclasses
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from palladion import _library
from palladion.base.check_options import choice
from palladion.base.scalars import numpy_dtype
from palladion.report.short_errors import short_errors

_KEEPS = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_library._Array), ctypes.c_size_t
)


class _Request(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("kernel", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("keep", ctypes.c_char_p),
        ("keeps", _KEEPS),
        ("context", ctypes.c_void_p),
        ("check", ctypes.POINTER(ctypes.c_char_p)),
        ("candidates", ctypes.c_int64),
        ("seconds", ctypes.c_double),
    ]


@dataclasses.dataclass(frozen=True)
class Reduced:
    """The smallest kernel that was found.

    `inputs` are in the order of its operands, `names` their names; `words` make them on the command line (`zeros`), ""
    where nothing short does. `ended` is "smallest" (no pass can make it smaller), "budget" or "interrupted";
    `replay` the schedule that shows the finding.
    """

    text: str
    names: list[str]
    inputs: list[np.ndarray]
    words: list[str]
    tried: int
    ended: str
    replay: str


@short_errors
def reduce(
    text: str,
    inputs: Sequence[Any],
    keep: str | Callable[[str, list[np.ndarray]], bool],
    kernel: str | None = None,
    target: str | None = None,
    seeds: int = 64,
    candidates: int | None = None,
    seconds: float | None = None,
    fill: str = "nan",
    proxy: str = "pallas",
    links: str = "unordered",
    bounds: str = "logical",
) -> Reduced:
    """Makes the kernel of `text` (palladion.export) and its inputs smaller as long as what `keep` says stays.

    `keep` is a finding as the command's `--keep` has it ("RACE_RW", "RACE_RW@o", "RACE_RW@o:12"), or a function of a
    kernel text and its inputs; what it raises ends the reduction. `inputs`: arrays in the order of the kernel's
    operands. `kernel`: which of several. `candidates` and `seconds` bound how long it goes on; the smallest kernel so
    far is the result then. The others are as for palladion.check.
    PalladionError: what is to be kept is not there at the start.
    """
    given = {"seeds": seeds, "fill": fill, "proxy": proxy, "links": links, "bounds": choice("bounds", bounds)}
    library, check = _function(), _library.options_list(given)
    encoded, failed = text.encode(), []
    request = _Request(
        encoded,
        len(encoded),
        kernel and kernel.encode(),
        target and target.encode(),
        keep.encode() if isinstance(keep, str) else None,
        _KEEPS() if isinstance(keep, str) else _KEEPS(_asked(keep, failed)),
        None,
        ctypes.cast(check, ctypes.POINTER(ctypes.c_char_p)),
        candidates or 0,
        seconds or 0,
    )
    arrays, held, error = [np.asarray(one, order="C") for one in inputs], [], _library._Error()
    described = _library._listed(arrays, held)
    found = ctypes.c_void_p(
        library.palladion_reduce(ctypes.byref(request), described, len(arrays), ctypes.byref(error))
    )
    if failed:
        raise failed[0]
    _library._expect(error, found.value)
    return _reduced(json.loads(_library._take_text(library, found)))


@functools.cache
def _function():
    library = _library.load()
    library.palladion_reduce.restype = ctypes.c_void_p
    library.palladion_reduce.argtypes = [
        ctypes.POINTER(_Request),
        ctypes.POINTER(_library._Array),
        ctypes.c_size_t,
        ctypes.POINTER(_library._Error),
    ]
    return library


def _asked(keep, failed):
    def keeps(_, text, arrays, count):
        try:
            return int(bool(keep(text.decode(), [_array(arrays[i]) for i in range(count)])))
        except BaseException as error:  # nothing may be raised through C
            failed.append(error)
            return -1

    return keeps


def _array(described) -> np.ndarray:
    shape, dtype = [described.shape[i] for i in range(described.rank)], np.dtype(numpy_dtype(described.dtype.decode()))
    size = int(np.prod(shape)) * dtype.itemsize
    return _of_bytes(ctypes.string_at(described.data, size) if size else b"", dtype, shape)


def _of_bytes(data: bytes, dtype, shape) -> np.ndarray:
    return np.frombuffer(data, np.uint8).copy().view(dtype).reshape(shape)


def _reduced(found: dict) -> Reduced:
    inputs = found["inputs"]
    return Reduced(
        text=found["text"],
        names=[one["name"] for one in inputs],
        words=[one["words"] for one in inputs],
        inputs=[
            _of_bytes(bytes.fromhex(one["bytes"]), np.dtype(numpy_dtype(one["dtype"])), one["shape"]) for one in inputs
        ],
        tried=found["tried"],
        ended=found["ended"],
        replay=found["replay"],
    )
