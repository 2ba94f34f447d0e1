"""Cases of the random operations; the oracle is jax.random."""

import jax
import jax.extend
import numpy as np
from case_writer import Case, Operand


def key(words):
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def random():
    words = Operand("u32", (0, 42))
    wrap = "%k = random_wrap{impl=fry}(%xv) : key<fry>[];"

    def case(name, prose, inputs, instructions, oracle, suffix=""):
        return Case(f"random/{name}{suffix}", f"random.md#{name}", prose, inputs, instructions, oracle)

    yield case(
        "threefry2x32",
        "One block for each counter under the key (0, 42). Oracle: JAX.",
        {"c": Operand("u32", (0, 1, 2, 3)), "d": Operand("u32", (7, 7, "0xffffffff", 0))},
        ("%o0v, %o1v = threefry2x32(0:u32, 42:u32, %cv, %dv) : u32[4], u32[4];",),
        lambda c, d: jax.extend.random.threefry2x32_p.bind(np.zeros(4, np.uint32), np.full(4, 42, np.uint32), c, d),
    )
    yield case(
        "iota_2x32_shape",
        "High and low words of each element's position. Oracle: NumPy.",
        {},
        ("%o0v, %o1v = iota_2x32_shape{shape=[2,3]}() : u32[2,3], u32[2,3];",),
        lambda: (np.zeros((2, 3), np.uint32), np.arange(6, dtype=np.uint32).reshape(2, 3)),
    )
    yield case(
        "random_seed",
        "A 32-bit seed is the low word. Oracle: JAX.",
        {"x": Operand("i32", (0, 42, -1))},
        ("%k = random_seed{impl=fry}(%xv) : key<fry>[3];", "%ov = random_unwrap(%k) : u32[3,2];"),
        lambda x: np.stack([jax.random.key_data(jax.random.key(v, impl="threefry2x32")) for v in x]),
    )
    yield case(
        "random_wrap",
        "The words of keys become keys, and back, unchanged.",
        {"x": Operand("u32", (1, 2, 3, 4), (2, 2))},
        ("%k = random_wrap{impl=fry}(%xv) : key<fry>[2];", "%ov = random_unwrap(%k) : u32[2,2];"),
        lambda x: x,
    )
    yield case(
        "random_unwrap",
        "A key is its two words.",
        {"x": words},
        (wrap, "%ov = random_unwrap(%k) : u32[2];"),
        lambda x: x,
    )
    for width in (8, 16, 32, 64):
        yield case(
            "random_bits",
            f"{width} bits. Oracle: jax.random.bits.",
            {"x": words},
            (wrap, f"%ov = random_bits{{bits={width}, shape=[2,3]}}(%k) : u{width}[2,3];"),
            lambda x, w=width: np.asarray(jax.random.bits(key(x), (2, 3), f"uint{w}")),
            suffix=f"_{width}",
        )
    yield case(
        "random_fold_in",
        "A key for each datum. Oracle: jax.random.fold_in.",
        {"x": words, "d": Operand("i32", (0, 1, -1))},
        (wrap, "%f = random_fold_in(%k, %dv) : key<fry>[3];", "%ov = random_unwrap(%f) : u32[3,2];"),
        lambda x, d: np.stack(
            [jax.random.key_data(jax.random.fold_in(key(x), np.uint32(int(v) & 0xFFFFFFFF))) for v in d]
        ),
    )
    yield case(
        "random_split",
        "Three new keys. Oracle: jax.random.split.",
        {"x": words},
        (wrap, "%s = random_split{shape=[3]}(%k) : key<fry>[3];", "%ov = random_unwrap(%s) : u32[3,2];"),
        lambda x: np.asarray(jax.random.key_data(jax.random.split(key(x), 3))),
    )


FAMILIES = (random,)
