"""The file of results of `palladion.tune`: a line of JSON for each, so that a run that was stopped goes on.

A line is found again by what it depends on: the candidate, the kernels' text, the arguments' bytes, the target, and the
version of Palladion with a digest of its library; of a check also how it was made. A line that a killed program left in
parts is passed over. Several runs may write to one file.
"""

import functools
import hashlib
import json
import os
from typing import Any

import jax
import numpy as np

from palladion import _library
from palladion.version import VERSION


def digest(*parts: bytes | str) -> str:
    """A name for bytes: the same for the same."""
    made = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        made.update(len(raw).to_bytes(8, "little"))
        made.update(raw)
    return made.hexdigest()[:32]


def digest_of_arrays(values: Any) -> str:
    """Of the arrays in a tree, with their shapes and types."""
    parts: list[bytes | str] = []
    for leaf in jax.tree.leaves(values):
        if hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        array = np.asarray(leaf)
        parts += [f"{array.shape} {array.dtype}", array.tobytes()]
    return digest(*parts)


@functools.cache
def version() -> str:
    """Of the package and of the library, whose machines and laws decide a time."""
    with open(_library.load()._name, "rb") as stream:
        return f"{VERSION} {digest(stream.read())}"


class Results:
    """Of one file, or of none (`path` None): then nothing is known and nothing is kept."""

    def __init__(self, path: str | os.PathLike | None):
        self._path = None if path is None else os.fspath(path)
        self._known: dict[str, dict] = {}
        self.passed_over = 0  # lines that are no result
        if self._path is not None and os.path.exists(self._path):
            self._read()

    def _read(self) -> None:
        with open(self._path, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        for line in lines:
            try:
                one = json.loads(line)
                self._known[self._key(one["of"])] = one["result"]
            except (ValueError, LookupError, TypeError):
                self.passed_over += 1
        if lines and self.passed_over == len(lines) and len(lines) > 1:
            raise ValueError(f"resume: {self._path!r} is not a file of palladion.tune: no line of it is a result")

    @staticmethod
    def _key(of: dict) -> str:
        return json.dumps(of, sort_keys=True)

    def get(self, of: dict) -> dict | None:
        """The result of this, from an earlier run."""
        return self._known.get(self._key(of | {"version": version()}))

    def put(self, of: dict, result: dict) -> None:
        """Keeps it, at once."""
        of = of | {"version": version()}
        self._known[self._key(of)] = result
        if self._path is None:
            return
        line = json.dumps({"of": of, "result": result}) + "\n"
        with open(self._path, "a+b") as stream:
            if stream.tell() and not self._ends_in_newline(stream):
                line = "\n" + line
            stream.write(line.encode())

    @staticmethod
    def _ends_in_newline(stream) -> bool:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"
