"""Random pipelines of TPU kernels: a shape is one compiled kernel, the tables that it prefetches say what its programs
do. What is written down of the order of fetches, flushes, bodies and index maps says which of them have a hazard; JAX's
TPU interpreter has the numbers (./dev differential --mode pipelines). It computes maps early, copies late and ignores
Buffered, so it knows of no hazard.
"""

import dataclasses
import functools
import itertools
import random

import jax
import jax.numpy as jnp
import numpy as np
import palladion
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

STEPS, BLOCKS, ROWS = 6, 6, 8
NOWHERE = STEPS + 2  # of a table: where no map reads


@dataclasses.dataclass(frozen=True)
class Shape:
    grid: tuple
    x_in: str  # "blocks", or "copies": by the body, out of an array in HBM
    out: str  # "blocks", or "copies"
    aliased: bool
    buffers: tuple  # of x, of the output
    late: bool  # a program's copy into the output is awaited in the next one
    accumulates: bool  # programs of one output block that follow one another add to it
    stores: str  # the table that bodies store into: "reads", "writes" or ""
    marks: bool = False  # bodies store into x's block, too, which stays until the index changes
    parallel: bool = False  # the first dimension of the grid
    semaphores: bool = True  # the kernel has some, whether it needs them or not

    @property
    def steps_of_task(self):
        return STEPS // self.grid[0] if self.parallel else STEPS


@dataclasses.dataclass(frozen=True)
class Pipeline:
    shape: Shape
    tables: dict


GRIDS = ((STEPS,), (2, 3), (3, 1, 2))


def shapes():
    """What differs to the eye: no more than a hundred."""
    found = []
    either = ("blocks", "copies")
    for x_in, out, aliased, stores in itertools.product(either, either, (True, False), ("", "reads", "writes")):
        if (stores == "reads" and x_in != "blocks") or (stores == "writes" and (out != "blocks" or not aliased)):
            continue
        for buffers in itertools.product(*((2, 1) if kind == "blocks" else (2,) for kind in (x_in, out))):
            number = len(found)
            shape = Shape(
                GRIDS[number % 3],
                x_in,
                out,
                aliased,
                buffers,
                late=out == "copies" and number % 2 == 0,
                accumulates=out == "blocks" and number % 2 == 1,
                stores=stores,
                marks=x_in == "blocks" and number % 5 < 2,
            )
            found.append(shape)
            if not stores:
                found.append(dataclasses.replace(shape, grid=GRIDS[1 + number % 2], parallel=True))
    found += [dataclasses.replace(shape, semaphores=False) for shape in found if shape.x_in == shape.out == "blocks"]
    return found


def random_pipeline(number):
    choose = random.Random(number)
    shape = choose.choice(shapes())
    near = choose.randrange(2)  # else no map near the store reads what is stored
    at = [choose.choice((NOWHERE, s + 2, s + 2, s - 2, *[s + 1, s, s - 1] * near)) for s in range(STEPS)]
    writes = [choose.randrange(BLOCKS) for _ in range(STEPS)]
    tables = {
        "reads": [choose.randrange(BLOCKS) for _ in range(STEPS)] + [0, 0, 0],
        "writes": (writes if choose.randrange(3) == 0 else sorted(writes)) + [0, 0, 0],
        "others": [choose.randrange(BLOCKS) for _ in range(STEPS)] + [0, 0, 0],
        "steps": [choose.randrange(3) for _ in range(STEPS)] + [0, 0, 0],
        "at": [s if 0 <= s < STEPS else NOWHERE for s in at] + [0, 0, 0],
        "value": [choose.randrange(BLOCKS) for _ in range(STEPS)] + [0, 0, 0],
    }
    if choose.randrange(3) > 0:  # what was written lately
        writes = tables["writes"]
        tables["reads"] = [choose.choice((*writes[max(0, s - 3) : s], writes[s])) for s in range(STEPS)] + [0, 0, 0]
    if not shape.stores:
        tables["at"] = [NOWHERE] * len(tables["at"])
    x_at, out_at = indices(shape, tables)
    if shape.parallel and choose.randrange(4) > 0:  # each task has blocks of its own
        each = shape.steps_of_task
        for s in range(STEPS):
            for name in ("reads", "writes"):
                tables[name][s] = s // each * each + tables[name][s] % each
        out_at = tables["writes"]
    begins = range(0, STEPS, shape.steps_of_task)
    tables["first"] = [int(s in begins or out_at[s] != out_at[s - 1]) for s in range(STEPS)] + [0, 0, 0]
    return Pipeline(shape, {name: np.array(table, np.int32) for name, table in tables.items()})


def indices(shape, tables):
    """The blocks of each step, by maps that are computed before the body of the step before."""
    stored = {name: list(tables[name]) for name in ("reads", "writes")}
    found = []
    for s in range(STEPS):
        found.append((int(stored["reads"][s]), int(stored["writes"][s])))
        if shape.stores and s > 0:
            stored[shape.stores][tables["at"][s - 1]] = tables["value"][s - 1]
    return [list(one) for one in zip(*found)]


# ---- what is written down of the order


@dataclasses.dataclass(frozen=True)
class Copy:
    """From its start to its wait: a step's number, and the place in it (0: its start, 1: before the body, 2 and 3: in
    the body, 4: after it, 5: its end)."""

    begins: tuple
    ends: tuple
    block: int
    writes: bool
    task: int


def copies_of(pipeline):
    shape, tables = pipeline.shape, pipeline.tables
    x_at, out_at = indices(shape, tables)
    for s in range(STEPS):
        task, place = divmod(s, shape.steps_of_task)
        begins, ends = place == 0, place + 1 == shape.steps_of_task
        if shape.x_in == "copies":
            yield Copy((s, 2), (s, 2), tables["reads"][s], False, task)
        elif begins or x_at[s] != x_at[s - 1]:
            yield Copy((s - 1, 0) if shape.buffers[0] == 2 else (s, 0), (s, 1), x_at[s], False, task)
        if shape.out == "copies":
            yield Copy((s, 3), (s + 1, 2) if shape.late and not ends else (s, 3), tables["writes"][s], True, task)
        elif ends or out_at[s] != out_at[s + 1]:
            yield Copy((s, 4), (s + 1, 5) if shape.buffers[1] == 2 else (s, 4), out_at[s], True, task)


def revisits(pipeline):
    """Is a block of an output that shares no array left and visited again?"""
    shape = pipeline.shape
    if shape.aliased or shape.out != "blocks":
        return False
    flushed = [(copy.task, copy.block) for copy in copies_of(pipeline) if copy.writes]
    return len(set(flushed)) < len(flushed)


def hands_on(pipeline):
    """Does a task that begins with a block of x depend on whether one that ends with it is on the same core?"""
    shape, x_at = pipeline.shape, pipeline.tables["reads"]
    tasks = [range(first, first + shape.steps_of_task) for first in range(0, STEPS, shape.steps_of_task)]
    return shape.marks and any(x_at[one[-1]] == x_at[two[0]] for one, two in itertools.permutations(tasks, 2))


def has_hazard(pipeline):
    """Of the copies of one array, of index maps, or of what a core keeps."""
    shape, at = pipeline.shape, pipeline.tables["at"]
    if any(s - 1 <= at[s] <= min(s + 1, STEPS - 1) for s in range(STEPS)) or hands_on(pipeline):
        return True
    for one, two in itertools.combinations(copies_of(pipeline), 2):
        met = one.block == two.block and (one.writes and two.writes or shape.aliased and (one.writes or two.writes))
        if met and (one.task != two.task or one.begins <= two.ends and two.begins <= one.ends):
            return True
    return False


# ---- the kernel


def rows(k):
    return pl.ds(pl.multiple_of(k * ROWS, ROWS), ROWS)


TABLES = ("reads", "writes", "others", "steps", "at", "value", "first")
ANY = pl.BlockSpec(memory_space=pl.ANY)


def step_of(shape, ids):
    step = 0
    for size, at in zip(shape.grid, ids):
        step = step * size + at
    return step


def body_of(shape, table, x_ref, o_ref, scratch):
    """What a program does, by its number."""
    got, sent, x_sem, o_sem = scratch if scratch else [None] * 4

    def copy_out(t):
        return pltpu.make_async_copy(sent.at[t % 2], o_ref.at[rows(table["writes"][t])], o_sem.at[t % 2])

    def send(s, value):
        sent[s % 2] = value
        copy_out(s).start()
        if shape.late:
            pl.when(s % shape.steps_of_task == shape.steps_of_task - 1)(lambda: copy_out(s).wait())
        else:
            copy_out(s).wait()

    def body(s, x_block, w_block, o_block):
        if shape.stores:

            @pl.when(table["at"][s] < STEPS)
            def _():
                table[shape.stores][table["at"][s]] = table["value"][s]

        if shape.x_in == "copies":
            pltpu.async_copy(x_ref.at[rows(table["reads"][s])], got, x_sem).wait()
        if shape.late:
            pl.when(s % shape.steps_of_task > 0)(lambda: copy_out(jnp.maximum(s - 1, 0)).wait())
        value = (got if shape.x_in == "copies" else x_block)[...] + w_block[...] + table["steps"][s]
        if shape.marks:
            x_block[...] += 1000
        if shape.out == "copies":
            send(s, value)
        elif shape.accumulates:
            o_block[...] = jnp.where(table["first"][s] == 1, value, o_block[...] + value)
        else:
            o_block[...] = value

    return body


@functools.cache
def kernel_of(shape, *, interpret=None, emitted=False):
    """`interpret`: when JAX's interpreter carries copies out. `emitted`: by pltpu.emit_pipeline."""

    def step():
        return step_of(shape, [pl.program_id(d) for d in range(len(shape.grid))])

    def kernel(*refs):
        table = dict(zip(TABLES, refs))
        x_ref, w_ref, o_ref, *scratch = refs[len(TABLES) :]
        body = body_of(shape, table, x_ref, o_ref, scratch)
        if not emitted:
            return body(step(), x_ref, w_ref, o_ref)
        x_blocks, o_blocks = shape.x_in == "blocks", shape.out == "blocks"

        def at(name, buffers=2):
            index_map = lambda *ids: (table[name][step_of(shape, ids)], 0)
            return pl.BlockSpec((ROWS, 128), index_map, pipeline_mode=pl.Buffered(buffers))

        def run(w_block, *blocks):
            x_block, o_block = blocks[0] if x_blocks else None, blocks[-1] if o_blocks else None
            body(step(), x_block, w_block, o_block)

        in_specs = [at("others"), *[at("reads", shape.buffers[0])] * x_blocks]
        out_specs = [at("writes", shape.buffers[1])] * o_blocks
        pipeline = pltpu.emit_pipeline(run, grid=shape.grid, in_specs=in_specs, out_specs=out_specs)
        pipeline(w_ref, *[x_ref] * x_blocks, *[o_ref] * o_blocks)

    def block(name, buffers=2):
        def index_map(*args):
            table = dict(zip(TABLES, args[len(shape.grid) :]))
            return table[name][step_of(shape, args[: len(shape.grid)])], 0

        return pl.BlockSpec((ROWS, 128), index_map, pipeline_mode=pl.Buffered(buffers))

    in_specs = [block("reads", shape.buffers[0]) if shape.x_in == "blocks" else ANY, block("others")]
    out_spec = block("writes", shape.buffers[1]) if shape.out == "blocks" else ANY
    grid = shape.grid
    if emitted:
        grid, in_specs, out_spec = (), [ANY, ANY], ANY
    words = ("parallel" if shape.parallel else "arbitrary",) + ("arbitrary",) * (len(shape.grid) - 1)
    scratch = [
        pltpu.VMEM((ROWS, 128), jnp.int32),
        pltpu.VMEM((2, ROWS, 128), jnp.int32),
        pltpu.SemaphoreType.DMA,
        pltpu.SemaphoreType.DMA((2,)),
    ]
    call = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((BLOCKS * ROWS, 128), jnp.int32),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=len(TABLES),
            grid=grid,
            in_specs=in_specs,
            out_specs=out_spec,
            scratch_shapes=scratch if shape.semaphores else [],
        ),
        input_output_aliases={len(TABLES): 0} if shape.aliased else {},
        compiler_params=pltpu.CompilerParams(dimension_semantics=words) if grid else pltpu.CompilerParams(),
        interpret=pltpu.InterpretParams(dma_execution_mode=interpret) if interpret else False,
    )
    return jax.jit(call) if interpret else call


X = np.repeat(np.arange(BLOCKS, dtype=np.int32) * 100, ROWS * 128).reshape(BLOCKS * ROWS, 128)
W = np.repeat(10 + np.arange(BLOCKS, dtype=np.int32), ROWS * 128).reshape(BLOCKS * ROWS, 128)


def operands(pipeline):
    return [*(pipeline.tables[name] for name in TABLES), X, W]


def defined_rows(pipeline):
    """Of an output that shares no array, what some program wrote."""
    if pipeline.shape.aliased:
        return np.ones(BLOCKS, bool)
    written = np.zeros(BLOCKS, bool)
    _, out_at = indices(pipeline.shape, pipeline.tables)
    written[out_at if pipeline.shape.out == "blocks" else pipeline.tables["writes"][:STEPS]] = True
    return written


def codes_of(report):
    return sorted({finding.code for finding in report.findings} - {"OUT_MISSING"})


def found_in(codes, pipeline):
    """Is what is found what is wrong? "" or why not."""
    hazard, again = has_hazard(pipeline), revisits(pipeline)
    if ("OUT_REVISIT" in codes) != again or bool(set(codes) - {"OUT_REVISIT"}) != hazard:
        words = f"{'a' if hazard else 'no'} hazard and {'a' if again else 'no'} block that is visited again"
        return f"{codes or 'nothing'} is found, and there is {words}"
    return ""


def judge(pipeline, seeds=2, target="v5e"):
    """What is wrong with what is found here, in words; "" where nothing is."""
    shape = pipeline.shape
    report = palladion.check(kernel_of(shape), *operands(pipeline), target=target, seeds=seeds)
    codes = codes_of(report)
    wrong = found_in(codes, pipeline)
    if wrong or revisits(pipeline) or (codes and shape.parallel):  # the interpreter raises, or takes another order
        return wrong
    ours = np.asarray(jax.tree.leaves(report.results)[0])[::ROWS, 0]
    # Of what depends on when a copy is carried out, one answer is that of copies that are prompt.
    mode = "eager" if codes or not shape.late else "on_wait"
    theirs = np.asarray(kernel_of(shape, interpret=mode)(*operands(pipeline)))[::ROWS, 0]
    where = defined_rows(pipeline)
    if not np.array_equal(ours[where], theirs[where]):
        return f"{codes or 'nothing'} is found, and the numbers are {ours} here and {theirs} in JAX"
    return ""


def described(pipeline):
    return f"{pipeline.shape}\n" + "\n".join(f"{name}={table.tolist()}" for name, table in pipeline.tables.items())
