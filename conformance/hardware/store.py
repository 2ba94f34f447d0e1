"""Where recordings lie: conformance/hardware/CHIP/index.json and index.npz beside it.

The index says of each kernel what its inputs hash to, its outputs' types, shapes and hashes, and in how many runs it
gave the same bits; of the whole, the device, driver, versions and date. Of an output of more than KEPT elements the
file holds evenly spaced ones.
"""

import io
import json
import os
import zipfile

import inputs
import ml_dtypes
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = 2048


def kept(array):
    """At most KEPT elements of a flat array."""
    flat = np.ascontiguousarray(array).ravel()
    return flat if flat.size <= KEPT else flat[:: -(-flat.size // KEPT)]


def as_words(array):
    """Types that .npy does not know travel as their bits."""
    array = np.ascontiguousarray(array)
    return array.view(inputs.WORDS[array.dtype.itemsize]) if array.dtype.isbuiltin != 1 else array


def type_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def described(outputs):
    return [{"type": np.asarray(o).dtype.name, "shape": list(np.shape(o)), "hash": inputs.digest([o])} for o in outputs]


def write(folder, about, entries, arrays, index="index"):
    os.makedirs(folder, exist_ok=True)
    write_arrays(os.path.join(folder, f"{index}.npz"), arrays)
    write_index(folder, about, entries, index)


def write_index(folder, about, entries, index="index"):
    lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(entries.items())]
    with open(os.path.join(folder, f"{index}.json"), "w", encoding="utf-8") as out:
        head = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in about.items()]
        out.write("\n".join(["{", *head, ' "kernels": {', ",\n".join(lines), " }", "}"]) + "\n")


def write_arrays(path, arrays):
    """Same data, same bytes: members are sorted and have no date."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(arrays):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, as_words(arrays[name]), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(member, stream.getvalue(), compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)


def read(chip, index="index"):
    """(about, name -> entry, (name, semantics) -> kept elements of each output)."""
    folder = os.path.join(HERE, chip)
    with open(os.path.join(folder, f"{index}.json"), encoding="utf-8") as source:
        about = json.load(source)
    entries = about.pop("kernels")
    stored = np.load(os.path.join(folder, f"{index}.npz"))

    def outputs(name, semantics=""):
        if index == "defects":  # different outputs, as words
            members = sorted(
                key for key in stored.files if key.startswith(f"{name}/") and key.endswith(f"@{semantics}")
            )
            return [stored[key] for key in members]
        entry = entries[name]["other_bits_by"] if semantics else entries[name]
        return [
            stored[f"{name}/{i}@{semantics}".rstrip("@")].view(type_of(one["type"]))
            for i, one in enumerate(entry["outputs"])
        ]

    return about, entries, outputs
