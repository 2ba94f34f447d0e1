"""Writes the instructions of one region as statements of a Python function.

Values keep their names as far as Python lets them. Regions inside become functions that use the values around them, as
kernel text says they do. What each operation looks like is in the tables (value_ops.py, ref_ops.py, control_ops.py,
tpu_ops.py, gpu_ops.py).
"""

import dataclasses

from palladion.base.errors import ToJaxError
from palladion.jax.jax_source import reading, spelling
from palladion.jax.jax_source.views import view_text

INDENT = "    "
LINE = 110
_WIDE = ("i64", "u64", "f64")


@dataclasses.dataclass(frozen=True)
class Many:
    """An expression whose value is a tuple or list, one for each result."""

    text: str


class Context:
    """What all functions of one kernel share: names, the types of values, the backend, the table of operations."""

    def __init__(self, kernel: dict, backend: str, handlers: dict, taken=()):
        self.kernel, self.backend, self.handlers = kernel, backend, handlers
        self.names = spelling.PythonNames(taken)
        self.types = {}
        # then Python's own numbers have 64 bits in JAX
        self.wide = any(t.get("dtype") in _WIDE for t in reading.all_types(kernel))


class Block:
    """The statements of one function."""

    def __init__(self, context: Context):
        self.context = context
        self.lines = []

    # Values.

    def name(self, value: str) -> str:
        return self.context.names.of(value)

    def define(self, value: str, value_type: dict) -> str:
        self.context.types[value] = value_type
        return self.name(value)

    def type_of(self, arg: dict) -> dict:
        """The type of an operand without its view."""
        if arg["kind"] == "value":
            return self.context.types[arg["value"]]
        if arg["kind"] == "dense":
            return arg["dense"]
        return {"dtype": arg["dtype"], "shape": []}

    def arg(self, arg: dict) -> str:
        """The text of an operand that is no view of a ref."""
        kind = arg["kind"]
        if kind == "none":
            return "None"
        if kind == "literal":
            return spelling.literal_text(reading.literal_value(arg), arg["dtype"], arg["weak"])
        if kind == "dense":
            if not self.context.kernel["mesh"]:
                raise ToJaxError("an array constant; pl.pallas_call takes none, pass it as an operand")
            return spelling.dense_text(reading.dense_array(arg["dense"]), arg["dense"]["dtype"])

        return view_text(self, arg)

    # Statements.

    def write(self, instr: dict):
        handler = self.context.handlers.get(instr["name"])
        try:
            if handler is None:
                raise ToJaxError("JAX has no such operation, or it is not known how it is written there")
            self.bind(instr, handler(self, instr))
        except ToJaxError as error:
            if error.operation:
                raise
            raise ToJaxError(error.why, instr["name"], instr["line"]) from None

    def bind(self, instr: dict, expression):
        """`results = expression`; an expression without results is a statement of its own."""
        if expression is None:
            return
        for result, result_type in zip(instr["results"], instr["types"]):
            if result is not None:
                self.define(result, result_type)
        names = [self.name(result) if result is not None else "_" for result in instr["results"]]
        many = isinstance(expression, Many)
        text = expression.text if many else expression
        if all(name == "_" for name in names):
            self.lines.append(text)
        elif many:
            self.lines.append(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}")
        else:
            self.lines.append(f"{names[0]} = {text}")

    def function(self, hint: str, region: dict, params=None) -> str:
        """Writes `def hint_N(...)` of the region here and returns its name;
        it gives back a tuple of the region's results.
        """
        name = self.context.names.fresh(hint)
        params = region["params"] or () if params is None else params
        names = [self.define(param["name"], param["type"]) for param in params]
        self.lines += define_lines(name, names, self.body(region))
        return name

    def body(self, region: dict, returned=None) -> list:
        """The lines of a function's body; `returned(texts)` is what it returns, by default a tuple."""
        inner = Block(self.context)
        for instr in region["body"]:
            inner.write(instr)
        results = [inner.arg(arg) for arg in region["results"]]
        if returned is not None:
            inner.lines.append(returned(results))
        elif results:
            inner.lines.append(f"return {spelling.tuple_text(results)}")
        return inner.lines or ["pass"]


def define_lines(name: str, params, body) -> list:
    head = f"def {name}({', '.join(params)}):"
    if len(head) > LINE:
        head = f"def {name}(\n" + "".join(f"{INDENT * 2}{param},\n" for param in params) + "):"
    return [*head.split("\n"), *(INDENT + line for line in body)]
