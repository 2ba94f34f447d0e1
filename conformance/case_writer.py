"""A case as data, and its text: what the tables (*_cases.py) fill in and make_cases.py writes."""

import dataclasses
import textwrap

import ml_dtypes
import numpy as np
from rules_shown import RULES_SHOWN

NUMPY_TYPES = {
    "bool": np.bool_,
    "i4": ml_dtypes.int4,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u4": ml_dtypes.uint4,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
}


def array(dtype, values):
    """Values as NumPy's array of a type of kernel text; `0x…` strings are storage bits."""
    ty = np.dtype(NUMPY_TYPES[dtype])
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[ty.itemsize]
    out = [np.array(int(v, 16), bits).view(ty) if isinstance(v, str) else np.asarray(v).astype(ty) for v in values]
    return np.array(out, dtype=ty)


def number(value):
    """One element as a case spells it: the shortest decimal that reads back to the same bits."""
    if value.dtype == np.bool_:
        return "true" if value else "false"
    if np.issubdtype(value.dtype, np.integer) or value.dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        return str(int(value))
    if np.isnan(value):
        return "nan" if bits_of(np.abs(value)) == bits_of(np.array(np.nan, value.dtype)) else hex(bits_of(value))
    if value.dtype.kind == "V" or value.dtype.itemsize < 4:  # few bits: the exact decimal is short
        return repr(float(value))
    plain = value == 0 or 1e-4 <= abs(value) < 1e16
    return np.format_float_positional(value, trim="0") if plain else str(value)


def bits_of(value):
    return int.from_bytes(value.tobytes(), "little")


def numbers(values):
    return "[" + ", ".join(number(v) for v in np.asarray(values).ravel()) + "]"


def expectation(name, value):
    """A list, or where it would be long, the hash of what NumPy computed."""
    if value.size <= 256:
        return textwrap.wrap(f"{name} = {numbers(value)}", 120, subsequent_indent=" " * (len(name) + 4))
    digest = 0xCBF29CE484222325
    for byte in np.ascontiguousarray(value).tobytes():
        digest = ((digest ^ byte) * 0x100000001B3) % 2**64
    return [f"hash {name} = {digest:016x}"]


def spec_lines(path, specs):
    """`specs`: one anchor or several, separated by spaces; the rules of rules_shown.py come behind."""
    return [f"# spec: {spec}" for spec in [*specs.split(), *RULES_SHOWN.get(path, "").split()]]


@dataclasses.dataclass(frozen=True)
class Operand:
    dtype: str
    values: tuple
    shape: tuple | None = None  # None: one dimension

    def array(self):
        flat = array(self.dtype, self.values)
        return flat.reshape(self.shape) if self.shape is not None else flat

    def type(self):
        return f"{self.dtype}{dims(self.array().shape)}"


def wrapped(before, items, after):
    """One line, or one line for each item where it would be too long."""
    line = before + ", ".join(items) + after
    return [line] if len(line) <= 120 else (before + (",\n" + " " * len(before)).join(items) + after).split("\n")


def dims(shape):
    return "[" + ",".join(str(d) for d in shape) + "]"


def dtype_name(dtype):
    return next(name for name, ty in NUMPY_TYPES.items() if np.dtype(ty) == dtype)


@dataclasses.dataclass(frozen=True)
class Case:
    """`instructions`: kernel text from %xv, the value of input x, to %ov, that of output o."""

    path: str  # "elementwise/add"
    spec: str
    prose: str
    inputs: dict
    instructions: tuple
    oracle: object  # function of the inputs' arrays to one array or a tuple, for the outputs o, or o0, o1, …

    def outputs(self):
        results = self.oracle(*(operand.array() for operand in self.inputs.values()))
        if not isinstance(results, (tuple, list)):
            return {"o": np.asarray(results)}
        return {f"o{i}": np.asarray(r) for i, r in enumerate(results)}

    def text(self):
        outputs = self.outputs()
        in_types = {name: operand.type() for name, operand in self.inputs.items()}
        out_types = {name: f"{dtype_name(a.dtype)}{dims(a.shape)}" for name, a in outputs.items()}
        lines = spec_lines(self.path, self.spec)
        lines += [*(f"# {line}" for line in self.prose.split("\n")), "--- kernel", "pkir 1;"]
        lines.append(f"kernel @{self.path.split('/')[1]} {{")
        lines.append("  grid [];")
        lines += [f"  in %{name}: {ty};" for name, ty in in_types.items()]
        lines += [f"  out %{name}: {ty};" for name, ty in out_types.items()]
        params = [f"%{name}r: ref<default,{ty}>" for name, ty in {**in_types, **out_types}.items()]
        lines += wrapped("  body @body (", params, ") {")
        lines += [f"    %{name}v = get(%{name}r) : {ty};" for name, ty in in_types.items()]
        lines += [f"    {instruction}" for instruction in self.instructions]
        lines += [f"    _ = swap(%{name}r, %{name}v) : {ty};" for name, ty in out_types.items()]
        lines += ["    return;", "  }", "}"]
        if self.inputs:
            lines += ["--- inputs"] + [f"{name} = {self.listing(operand)}" for name, operand in self.inputs.items()]
        lines += ["--- expect"] + [f"{name} = {numbers(values)}" for name, values in outputs.items()]
        return "\n".join(lines) + "\n"

    @staticmethod
    def listing(operand):
        parts = [v if isinstance(v, str) else number(a) for v, a in zip(operand.values, operand.array().ravel())]
        return "[" + ", ".join(parts) + "]"
