"""What the tables of make_cases.py share: the shape of an elementwise case, and the oracles' wrappers."""

import jax
import numpy as np
from case_writer import Case, Operand, dtype_name

jax.config.update("jax_enable_x64", True)

INF, NAN = float("inf"), float("nan")


def elementwise(name, prose, operands, oracle, *, op=None, attrs="", suffix="", result=None):
    """One instruction on whole arrays. `result`: the output's type where it is not the oracle's array's."""
    op = op or name
    inputs = {n: Operand(*operand) for n, operand in zip(("x", "y", "z", "w"), operands)}
    outputs = oracle(*(o.array() for o in inputs.values()))
    ty = f"{dtype_name(outputs.dtype)}[{','.join(str(d) for d in outputs.shape)}]"
    loaded = ", ".join(f"%{n}v" for n in inputs)
    return Case(
        f"elementwise/{op}{suffix}",
        f"elementwise.md#{name}",
        prose,
        inputs,
        (f"%ov = {op}{attrs}({loaded}) : {ty};",),
        lambda *arrays: oracle(*arrays),
    )


def one_instruction(family, name, prose, operands, oracle, *, attrs="", suffix=""):
    """One instruction on whole arrays, with the types of its results taken from what the oracle gives."""
    inputs = {n: Operand(*operand) for n, operand in zip(("x", "y", "z", "w"), operands)}
    outputs = oracle(*(o.array() for o in inputs.values()))
    results = list(outputs) if isinstance(outputs, tuple) else [outputs]
    names = [f"%o{i}v" for i in range(len(results))] if isinstance(outputs, tuple) else ["%ov"]
    types = [f"{dtype_name(r.dtype)}[{','.join(map(str, r.shape))}]" for r in map(np.asarray, results)]
    loaded = ", ".join(f"%{n}v" for n in inputs)
    return Case(
        f"{family}/{name.removeprefix(family + '.')}{suffix}",
        f"{family}.md#{name}",
        prose,
        inputs,
        (f"{', '.join(names)} = {name}{attrs}({loaded}) : {', '.join(types)};",),
        oracle,
    )


def lax(name, **params):
    return lambda *arrays: np.asarray(getattr(jax.lax, name)(*arrays, **params))


def quiet(function):
    def run(*arrays):
        with np.errstate(all="ignore"):
            return function(*arrays)

    return run
