"""Kernel text as a function of Triton's language, for kernels of one program that read whole arrays,
compute element by element, and write them.

Arrays are flat: element by element, shapes do not matter. Lengths are rounded up to powers of two, which Triton asks
for, and masked. Operands are addresses, which the function makes pointers of, so that it needs no library of tensors.
What it does not write raises NotSupported: grids, blocks, control flow, shapes, and every operation that is not in the
tables below. Based on: how JAX's Triton backend lowers the same operations (jax/_src/pallas/triton/lowering.py).
"""

import math

from palladion.backends.protocol import NotSupported
from palladion.jax.jax_source import reading

_TYPES = {
    "bool": "int1",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f8e4m3fn": "float8e4nv",
    "f8e5m2": "float8e5",
}

# The operands are {0}, {1}, ...; every one is of the same type.
_ALL = "tl.PropagateNan.ALL"
_OPERATIONS = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "rem": "{0} % {1}", "neg": "-{0}", "abs": "tl.abs({0})",
    "and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}", "not": "~{0}", "shift_left": "{0} << {1}",
    "eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}",
    "gt": "{0} > {1}", "ge": "{0} >= {1}",
    "max": "tl.maximum({0}, {1}, propagate_nan=" + _ALL + ")",
    "min": "tl.minimum({0}, {1}, propagate_nan=" + _ALL + ")",
    "clamp": "tl.clamp({1}, {0}, {2}, propagate_nan=" + _ALL + ")", "select_n": "tl.where({0}, {2}, {1})",
    "ceil": "tl.ceil({0})", "floor": "tl.floor({0})", "square": "{0} * {0}", "cos": "tl.cos({0})", "sin": "tl.sin({0})",
    "erf": "tl.erf({0})", "exp": "tl.exp({0})", "exp2": "tl.exp2({0})", "log": "tl.log({0})", "log2": "tl.log2({0})",
    "logistic": "tl.sigmoid({0})", "rsqrt": "tl.rsqrt({0})", "sqrt": "tl.sqrt({0})",
}  # fmt: skip
_FLOAT_DIVISION, _INTEGER_DIVISION = "{0} / {1}", "{0} // {1}"


class _Kernel:
    def __init__(self, kernel: dict):
        self.lines, self.values, self.types, self.refs = [], {}, {}, {}
        if (
            kernel["mesh"]
            or kernel["grid"]
            or len(kernel["bodies"]) != 1
            or any(one["block"] for one in kernel["operands"])
        ):
            raise NotSupported("only kernels of one program, without blocks, are written in Triton's language")
        region = kernel["bodies"][0]["region"]
        for operand, param in zip(kernel["operands"], region["params"], strict=True):
            if operand["role"] not in ("in", "out") or operand["alias"] is not None:
                raise NotSupported(
                    f"an operand that is {operand['role']}, or is an alias, is not written in Triton's language"
                )
            self._pointer(param)
        for instr in region["body"]:
            self._instruction(instr)

    def _pointer(self, param):
        name, count = f"p{len(self.refs)}", math.prod(param["type"]["shape"])
        if count == 0:
            raise NotSupported("Triton has no empty arrays")
        self.refs[param["name"]] = (name, count)
        self.lines += [f"{name} = {name}.to(tl.pointer_type({_type(param['type'])}), bitcast=True)"]

    def _place(self, arg) -> tuple[str, str]:
        if arg.get("view"):
            raise NotSupported("a view of a ref is not written in Triton's language")
        name, count = self.refs[arg["value"]]
        length = 1 << (count - 1).bit_length()
        return f"{name} + tl.arange(0, {length})", f"mask=tl.arange(0, {length}) < {count}"

    def _instruction(self, instr):
        if instr["name"] == "get":
            place, mask = self._place(instr["args"][0])
            self._define(instr, f"tl.load({place}, {mask}, other=0)")
        elif instr["name"] == "swap" and instr["results"] == [None]:
            place, mask = self._place(instr["args"][0])
            self.lines.append(f"tl.store({place}, {self._value(instr['args'][1])}, {mask})")
        else:
            self._define(instr, self._expression(instr))

    def _expression(self, instr) -> str:
        name = instr["name"]
        if len(instr["types"]) != 1 or len(instr["results"]) != 1:
            raise NotSupported(
                f"line {instr['line']}: {name} has no single result, and is not written in Triton's language"
            )
        result = instr["types"][0]
        operands = [self._value(arg) for arg in instr["args"]]
        if name == "convert_element_type":
            return f"{operands[0]}.to({_type(result)})"
        if name == "div":
            return (_FLOAT_DIVISION if "f" in result["dtype"] else _INTEGER_DIVISION).format(*operands)
        if name == "select_n" and self.types.get(instr["args"][0].get("value")) != "bool":
            raise NotSupported(f"line {instr['line']}: select_n of more than two is not written in Triton's language")
        if name not in _OPERATIONS or instr["regions"] or instr["attrs"]:
            raise NotSupported(f"line {instr['line']}: {name} is not written in Triton's language")
        return _OPERATIONS[name].format(*operands)

    def _define(self, instr, expression):
        [result] = instr["results"]
        if result is not None:
            self.values[result], self.types[result] = f"v{len(self.values)}", instr["types"][0]["dtype"]
            self.lines.append(f"{self.values[result]} = {expression}")

    def _value(self, arg) -> str:
        if arg["kind"] == "literal":
            return f"tl.full((1,), {_number(reading.literal_value(arg).item())}, {_type(arg)})"
        if arg.get("view") or arg.get("value") not in self.values:
            raise NotSupported("a value of this kind is not written in Triton's language")
        return self.values[arg["value"]]


def _type(described: dict) -> str:
    if described["dtype"] not in _TYPES:
        raise NotSupported(f"Triton has no type {described['dtype']}")
    return f"tl.{_TYPES[described['dtype']]}"


def _number(value) -> str:
    return f"float('{value}')" if isinstance(value, float) else str(int(value))


def triton_source(text: str) -> str:
    """A function `kernel(p0, p1, ...)` of the addresses of the operands, in the kernel's order."""
    written = _Kernel(reading.read_kernel(text))
    head = f"def kernel({', '.join(name for name, _ in written.refs.values())}):\n"
    return head + "".join(f"    {line}\n" for line in written.lines)
