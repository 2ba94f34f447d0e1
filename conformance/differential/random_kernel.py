"""Random well-typed kernels, as kernel text with their inputs, for which every right implementation gives the same
numbers within a bound.

`random_kernel(seed)` is a grid of programs with blocks, control flow, accumulation over programs, and stores of a part,
with operations of operations.py. Each output comes with the largest error that two implementations may differ by
(values.py). The same seed gives the same kernel on every machine. Limits: one core, no machine of threads; shapes are
small; grids go in order.
"""

import dataclasses
import random

import ml_dtypes
import numpy as np
from operations import PURE, constant_text, fits
from values import INT_RANGE, UNIT, Value, rounded, type_text

NUMPY = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
}
MOST_ELEMENTS = 512


@dataclasses.dataclass
class RandomKernel:
    seed: int
    text: str
    inputs: dict  # of NumPy arrays, by operand
    errors: dict  # of each output: how far two right implementations may be apart; 0: not at all


@dataclasses.dataclass(frozen=True)
class Block:
    """An operand: its array, and what of it a program has."""

    name: str
    dtype: str
    shape: tuple
    block: tuple
    map: tuple  # of each dimension, the dimension of the grid that is its index; None: 0

    def line(self, direction: str, grid: tuple) -> str:
        ids = ", ".join(f"%i{d}: i32[]" for d in range(len(grid)))
        index = ", ".join("0:i32" if d is None else f"%i{d}" for d in self.map)
        sizes = ",".join(str(n) for n in self.block)
        where = f" block ({sizes}) map ({ids}) {{ return {index}; }}" if grid and self.shape else ""
        return f"  {direction} %{self.name}: {type_text(self.dtype, self.shape)}{where};"

    def ref(self) -> str:
        return f"%{self.name}_ref: ref<default,{type_text(self.dtype, self.block)}>"


class Writer:
    """Writes the instructions of one body, and knows the values that the next instruction can use."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._depth = 2
        self._next = 0
        self.values: list[Value] = []

    # ---- choices

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)

    def choose(self, among):
        return self._random.choice(list(among))

    def shuffled(self, items) -> list:
        items = list(items)
        self._random.shuffle(items)
        return items

    def find(self, fits_here=lambda value: True):
        """A value at hand, rather a late one; None: none fits."""
        candidates = [value for value in self.values if fits_here(value)]
        if not candidates:
            return None
        return candidates[max(self.below(len(candidates)) for _ in range(3))]

    def pick(self, fits_here=lambda value: True) -> Value:
        value = self.find(fits_here)
        if value is None:
            raise LookupError("no value fits")
        return value

    def alike(self, value: Value) -> Value:
        """Another value of this type, or a splat."""
        other = self.find(lambda v: v.type == value.type and v.name != value.name)
        return self.splat(value, 1 + self.below(3)) if other is None else other

    # ---- instructions

    def line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def fresh(self) -> str:
        self._next += 1
        return f"%v{self._next}"

    def constant(self, dtype: str, number) -> Value:
        return Value(constant_text(dtype, number), dtype, (), abs(number))

    def emit(self, operation: str, operands: list, dtype: str, shape: tuple, bounds: tuple):
        """One instruction; None: its result would be too large, or of too little use."""
        shape = tuple(shape)
        result = Value(self.fresh(), dtype, shape, bounds[0], bounds[1] if dtype in UNIT else 0.0)
        if result.elements > MOST_ELEMENTS or not fits(dtype, result.size, result.error):
            raise LookupError("the result would not fit")
        self.line(f"{result.name} = {operation}({', '.join(v.name for v in operands)}) : {result.type};")
        self.values.append(result)
        return result

    def shaped(self, operation: str, operands: list, shape: tuple):
        """The same of an operation that only moves elements."""
        value = operands[0]
        return self.emit(operation, operands, value.dtype, shape, (value.size, value.error))

    def splat(self, like: Value, number) -> Value:
        scalar = self.constant(like.dtype, number)
        if not like.shape:
            return scalar
        shape = ",".join(str(n) for n in like.shape)
        return self.emit(
            f"broadcast_in_dim{{shape=[{shape}], dims=[]}}", [scalar], like.dtype, like.shape, (abs(number), 0.0)
        )

    def some(self, count: int) -> None:
        """So many random operations, control flow among them."""
        done = 0
        while done < count:
            operation = self.choose(PURE + ((self.branch, self.loop, self.wait_loop) if self._depth < 4 else ()))
            before, values = len(self._lines), len(self.values)
            try:
                done += (
                    (operation() if operation.__self__ is self else 0)
                    if hasattr(operation, "__self__")
                    else operation(self) is not None
                )
            except LookupError:
                del self._lines[before:], self.values[values:]

    def _inside(self, write) -> list[str]:
        """The lines that `write` writes into a region; its values are gone afterwards."""
        lines, values = self._lines, len(self.values)
        self._lines, self._depth = [], self._depth + 1
        try:
            write()
            return self._lines
        finally:
            self._lines, self._depth = lines, self._depth - 1
            del self.values[values:]

    def branch(self) -> int:
        predicate = self.find(lambda v: v.dtype == "bool" and v.shape == ()) or self._predicate()
        like = self.pick(lambda v: v.shape != ())
        results = []

        def side():
            self.some(1 + self.below(2))
            value = self.alike(like)
            results.append(value)
            self.line(f"return {value.name};")

        sides = [self._inside(side), self._inside(side)]
        result = Value(
            self.fresh(), like.dtype, like.shape, max(v.size for v in results), max(v.error for v in results)
        )
        self.line(f"{result.name} = cond({predicate.name}) {{")
        self._lines += sides[0]
        self.line("} {")
        self._lines += sides[1]
        self.line(f"}} : {result.type};")
        self.values.append(result)
        return 1

    def _predicate(self) -> Value:
        number = self.pick(lambda v: v.shape == () and v.dtype == "i32")
        return self.emit(
            self.choose(["lt", "eq", "gt"]), [number, self.constant("i32", self.below(2))], "bool", (), (1, 0.0)
        )

    def _carried(self, times: int):
        """What a loop carries, and what it becomes: half of it and something else, so that it stays small."""
        start = self.pick(lambda v: v.dtype in ("f32", "i32", "u8") and v.shape != ())
        carry = Value(self.fresh(), start.dtype, start.shape, 4 * max(start.size, 1.0), start.error + times * 2.0**-20)
        return start, carry

    def _step(self, carry: Value) -> Value:
        """One turn: the new value of what is carried."""
        self.some(1)
        other = self.find(lambda v: v.type == carry.type and v.size <= carry.size / 4 and v.error <= carry.error / 4)
        other = self.splat(carry, 1) if other is None else other
        half = carry
        if carry.float:
            half = self.emit(
                "mul", [carry, self.splat(carry, 0.5)], carry.dtype, carry.shape, (carry.size / 2, carry.error / 2)
            )
        return self.emit("add", [half, other], carry.dtype, carry.shape, (carry.size, carry.error))

    def _looped(self, head) -> int:
        """A loop over a counter and a value that is carried; `head` gives the lines before its body, of start, counter,
        carry and times."""
        times = 1 + self.below(4)
        start, carry = self._carried(times)
        counter, result = (
            Value(self.fresh(), "i32", (), times),
            Value(self.fresh(), carry.dtype, carry.shape, carry.size, carry.error),
        )

        def body():
            self.values += [counter, carry]
            new = self._step(carry)
            more = self.emit("add", [counter, self.constant("i32", 1)], "i32", (), (times, 0.0))
            self.line(f"return {more.name}, {new.name};")

        lines = self._inside(body)
        before, last = head(start, carry, times)
        self.line(f"_, {result.name} = {before}")
        for line in last:
            self.line(line)
        self.line(f"{'} ' if last else ''}({counter.name}: i32[], {carry.name}: {carry.type}) {{")
        self._lines += lines
        self.line(f"}} : i32[], {result.type};")
        self.values.append(result)
        return 1

    def loop(self) -> int:
        return self._looped(
            lambda start, carry, times: (f"scan{{length={times}, reverse=false}}(init=0:i32, init={start.name})", ())
        )

    def wait_loop(self) -> int:
        def head(start, carry, times):
            again, unused, asks = self.fresh(), self.fresh(), self.fresh()
            return (
                f"while(init=0:i32, init={start.name}) ({again}: i32[], {unused}: {carry.type}) {{",
                (f"  {asks} = lt({again}, {times}:i32) : bool[];", f"  return {asks};"),
            )

        return self._looped(head)

    def lines(self) -> list[str]:
        return self._lines


def _input(writer: Writer, number: int, grid: tuple) -> Block:
    dtype = writer.choose(["f32", "f32", "bf16", "f16", "i32", "u8", "i8", "u32"])
    block = tuple(writer.choose([1, 2, 3, 4, 8]) for _ in range(1 + writer.below(2)))
    index = tuple(writer.choose([None, *range(len(grid))]) for _ in block)
    shape = tuple(n * (1 if d is None else grid[d]) for n, d in zip(block, index))
    return Block(f"x{number}", dtype, shape, block, index)


def _array(block: Block, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if block.dtype in UNIT:
        return rng.uniform(-1, 1, block.shape).astype(NUMPY[block.dtype])
    low, high = INT_RANGE[block.dtype]
    return rng.integers(low, high, block.shape, dtype=np.int64, endpoint=True).astype(NUMPY[block.dtype])


def _load(writer: Writer, block: Block) -> None:
    size = 1.0 if block.dtype in UNIT else INT_RANGE[block.dtype][1]
    name, shape, at = writer.fresh(), block.block, ""
    if writer.below(3) == 0:  # a part, from a start that is computed
        dim = writer.below(len(shape))
        length = 1 + writer.below(shape[dim])
        start = writer.emit(
            "rem",
            [
                writer.pick(lambda v: v.dtype == "i32" and v.shape == () and not v.name.startswith("-")),
                writer.constant("i32", shape[dim] - length + 1),
            ],
            "i32",
            (),
            (8, 0.0),
        )
        shape = tuple(length if d == dim else n for d, n in enumerate(shape))
        at = ".at[" + ", ".join(f"{start.name} +: {length}" if d == dim else "*" for d in range(len(shape))) + "]"
    writer.line(f"{name} = get(%{block.name}_ref{at}) : {type_text(block.dtype, shape)};")
    writer.values.append(Value(name, block.dtype, shape, size))


def _output(writer: Writer, number: int, grid: tuple, in_turn: bool) -> tuple[Block, float]:
    value = writer.pick(lambda v: len(v.shape) >= 1 and v.dtype != "bool" and not v.name[0].isdigit())
    index = tuple(d if d < len(grid) and writer.below(4) else None for d in range(len(value.shape)))
    if in_turn and index[0] is None:
        index = (None,) * len(index)
    shape = tuple(n * (1 if d is None else grid[d]) for n, d in zip(value.shape, index))
    block = Block(f"o{number}", value.dtype, shape, value.shape, index)
    if writer.below(3) == 0 and value.dtype in ("f32", "i32"):
        return block, _accumulated(writer, block, value, grid, in_turn)
    writer.line(f"_ = swap(%{block.name}_ref, {value.name}) : {value.type};")
    error = value.error
    if writer.below(2) == 0:  # and then a part of it
        dim, part = writer.below(len(value.shape)), None
        row = tuple(n for d, n in enumerate(value.shape) if d != dim)
        part = writer.find(lambda v: v.dtype == value.dtype and v.shape == row)
        if part is not None:
            at = ", ".join(str(writer.below(n)) if d == dim else "*" for d, n in enumerate(value.shape))
            writer.line(f"_ = swap(%{block.name}_ref.at[{at}], {part.name}) : {part.type};")
            error = max(error, part.error)
    return block, error


def _accumulated(writer: Writer, block: Block, value: Value, grid: tuple, in_turn: bool) -> float:
    """The first program of all those that have the block begins with 0, and each adds; `addupdate` is none of a TPU's
    operations."""
    last = [d for d in range(len(grid)) if d not in block.map]
    first = None
    for d in last:
        here = writer.emit("eq", [Value(f"%id{d}", "i32", ()), writer.constant("i32", 0)], "bool", (), (1, 0.0))
        first = here if first is None else writer.emit("and", [first, here], "bool", (), (1, 0.0))
    zero = writer.splat(value, 0)
    store = f"_ = swap(%{block.name}_ref, {zero.name}) : {value.type};"
    if first is None:
        writer.line(store)
    else:
        which = writer.emit("convert_element_type{to=i32}", [first], "i32", (), (1, 0.0))
        writer.line(f"cond({which.name}) {{")
        writer.line("  return;")
        writer.line("} {")
        writer.line(f"  {store}")
        writer.line("  return;")
        writer.line("};")
    if in_turn:
        before, after = writer.fresh(), writer.fresh()
        writer.line(f"{before} = get(%{block.name}_ref) : {value.type};")
        writer.line(f"{after} = add({before}, {value.name}) : {value.type};")
        writer.line(f"_ = swap(%{block.name}_ref, {after}) : {value.type};")
    else:
        writer.line(f"addupdate(%{block.name}_ref, {value.name});")
    times = 1
    for d in last:
        times *= grid[d]
    return rounded(value.dtype, times * value.size, times * value.error, times)[1] if value.float else 0.0


def random_kernel(seed: int, in_turn: bool = False) -> RandomKernel:
    """`in_turn`: programs that have one block of an output follow each other, as a TPU demands."""
    writer = Writer(seed)
    grid = writer.choose([(), (2,), (3,), (2, 2), (2, 3)])
    inputs = [_input(writer, n, grid) for n in range(1 + writer.below(3))]
    for d in range(len(grid)):
        writer.line(f"%id{d} = program_id{{axis={d}}}() : i32[];")
        writer.values.append(Value(f"%id{d}", "i32", (), grid[d]))
    if not grid:
        writer.emit("add", [writer.constant("i32", 1), writer.constant("i32", 2)], "i32", (), (3, 0.0))
    for block in inputs:
        _load(writer, block)
    writer.some(4 + writer.below(20))
    outputs = [_output(writer, n, grid, in_turn) for n in range(1 + writer.below(2))]
    writer.line("return;")
    refs = ", ".join(block.ref() for block in [*inputs, *(block for block, _ in outputs)])
    head = ["pkir 1;", "kernel @random {", f"  grid [{','.join(str(n) for n in grid)}];"]
    head += [block.line("in", grid) for block in inputs] + [block.line("out", grid) for block, _ in outputs]
    text = "\n".join([*head, f"  body @random ({refs}) {{", *writer.lines(), "  }", "}"]) + "\n"
    arrays = {block.name: _array(block, seed + n) for n, block in enumerate(inputs)}
    return RandomKernel(seed, text, arrays, {block.name: error for block, error in outputs})
