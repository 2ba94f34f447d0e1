"""Numbers that compiled code knows its session by,
and that outlive it: a session takes one that is free and gives it back.

The parameters of an `emulate` are part of jit's key, the number with them. Two sessions with equal parameters, one
after the other, have the same number, so that nothing is traced or compiled again; two that are open at once have two,
so that each gets its own reports. What calls leave at a number that no session has (a function compiled inside
`emulate` and called after it) is outside of any session.
"""

import dataclasses
import threading

from palladion import _library
from palladion.bridge import elsewhere
from palladion.bridge.params import Params

OUTSIDE = 0  # of kernels that were compiled outside of any session


class Channels:
    """The numbers of this process."""

    def __init__(self):
        self._lock = threading.Lock()
        self._free = {}  # parameters without a number: numbers, the one that was given back last is the last
        self._opened = set()
        self._outside = []  # what was left at a number while no session had it

    def take(self, asked: Params) -> Params:
        """The same parameters with a number that no open session has."""
        key = dataclasses.replace(asked, session=OUTSIDE)
        with self._lock:
            free = self._free.setdefault(key, [])
            number = free.pop() if free else _library.load().palladion_session_open()
            self._opened.add(number)
            self._outside += _left_at(number)
        return dataclasses.replace(key, session=number)

    def any_open(self) -> bool:
        """Some thread is inside an `emulate`."""
        return bool(self._opened)

    def give_back(self, params: Params):
        """After its session has taken its reports."""
        with self._lock:
            self._opened.discard(params.session)
            self._free[dataclasses.replace(params, session=OUTSIDE)].append(params.session)

    def drop(self, params: Params):
        """Like `give_back`, but no session gets the number again."""
        with self._lock:
            self._opened.discard(params.session)

    def outside(self) -> tuple:
        """The numbers that no session has."""
        with self._lock:
            return (OUTSIDE, *(number for free in self._free.values() for number in free))

    def take_outside(self) -> list:
        """What calls outside of any session left since the last time: pairs as `left_at` gives them,
        one for each number.
        """
        numbers = self.outside()
        with self._lock:
            taken, self._outside = self._outside, []
        return taken + [one for number in numbers for one in _left_at(number)]


channels = Channels()


def left_at(number: int) -> tuple:
    """What calls left there since the last time: (as `_library.take_session` gives it, as `elsewhere.take` does)."""
    return _library.take_session(number), elsewhere.take(number)


def _left_at(number: int) -> list:
    taken, notes = left_at(number)
    return [(taken, notes)] if taken["calls"] or taken["dropped"] or notes else []
