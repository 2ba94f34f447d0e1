"""Cases of what a TPU's compiler may refuse behind JAX's lowering: for each rule a kernel that breaks it,
and one that keeps it.

The two differ in what the rule is about and in nothing else; why, says the rule's source
(emu/check/legality/refusals_*.cc). Texts name JAX as their producer, as only these are judged without being asked. Does
not catch: a compiler that takes what the rule forbids.
"""

import dataclasses
import re
import textwrap

import numpy as np
from case_writer import NUMPY_TYPES, expectation

PROSE = {
    "slice-start": "A copy takes 8 rows of an array in tiles of 8 rows; they begin within a tile, or at one.",
    "slice-proof": "A copy begins at a row that is loaded; nothing says that a tile begins there, or multiple_of does.",
    "slice-size": "A copy takes 4 rows. Rows of 32-bit arrays with more than 128 lanes come in tiles of 8; with 128, "
    "each is free.",
    "access-proof": "A load begins at a lane that is loaded; nothing says that a tile begins there, or multiple_of "
    "does.",
    "strided": "Every second row is loaded, of a ref with 256 lanes or with 128.",
    "scalar-arithmetic": "A scalar of 8 bits is added to itself, or converted to 32 bits before that.",
    "byte-sum": "Bytes are added as they are, or converted to i32 and back.",
    "narrow-compare": "bf16 numbers are compared as they are on a v5p, or as f32. Later releases of the compiler take "
    "it: a note.",
    "to-4-bits": "A conversion to 4 bits on a v6e, or on a v7x.",
    "product-mixed": "A product of 8-bit and 4-bit integers, or of 8-bit ones.",
    "product-types": "A product of 8-bit integers on a v7x, which has none, or on a v6e.",
    "new-last-dim": "The mask of 128 numbers gets a last dimension of 1, or the numbers do and are compared then.",
    "reshape": "Rows of 256 become rows of 64, or of 128. Later releases of the compiler take some of the first kind: "
    "a note.",
    "transpose": "The last dimension of four comes first, or stays where it is.",
    "roll": "16-bit rows are rolled, or 32-bit ones.",
    "gather": "A gather along 256 lanes, or along 128.",
    "block-rows": "Blocks of 8 rows of a bf16 array on a v7x, whose tiles have 16 rows, or of 16.",
    "block-bytes": "Blocks of 8 rows of an array of bytes, whose tiles have 32 rows, or of 32. No report is known of "
    "it: a note.",
}
NAMES = "tpu.compiler."
NOTES = ("narrow-compare", "reshape", "block-bytes")
TAKE = (
    "offset_dims=[], collapsed_slice_dims=[1], operand_batching_dims=[0], start_indices_batching_dims=[0], "
    "start_index_map=[1], slice_sizes=[1,1], mode=promise, fill_value=none"
)
DOT = "contract=[[1],[0]], batch=[[],[]], precision=none, preferred=i32"
CHIPS = {
    "narrow-compare": ("v5p", "v5p"),
    "to-4-bits": ("v6e", "v7x"),
    "product-types": ("v7x", "v6e"),
    "block-rows": ("v7x", "v7x"),
}


def kernel(operands, body, grid="[]"):
    """`operands` are (role, name, type, what follows it) with "any" or "smem" first where they are not in vmem."""
    lines, params = [], []
    for role, name, type_, *more in operands:
        space = next((word for word in more if word in ("any", "smem")), "vmem")
        block = next((word for word in more if word.startswith("block")), "")
        seen = type_ if not block else f"{type_.split('[')[0]}[{block.split('(')[1].split(')')[0]}]"
        if role == "scratch":
            lines.append(f"  scratch %{name}: {type_};")
            params.append(f'%{name}r: {type_} as "{name}"')
        else:
            lines.append(f"  {role} %{name}: {type_} space {space}{' ' + block if block else ''};")
            params.append(f'%{name}r: ref<{space},{seen}> as "{name}_ref"')
    signature = ",\n".join([*params[:1], *(f"    {param}" for param in params[1:])])
    return "\n".join(
        [
            "pkir 1;",
            'producer "jax 0.10.2";',
            "kernel @k {",
            "  backend mosaic_tpu;",
            f"  grid {grid};",
            *lines,
            f"  body @k ({signature}) {{",
            *(f"    {line}" for line in body),
            "    return;",
            "  }",
            "}",
        ]
    )


def elementwise(in_type, out_type, *body, more=()):
    """x is loaded as %a, what the body leaves in %z is stored."""
    return kernel(
        [*more, ("in", "x", in_type), ("out", "o", out_type)],
        [f"%a = get(%xr) : {in_type};", *body, f"_ = swap(%or, %z) : {out_type};"],
    )


def copy(array, part, view, *before, more=()):
    sides = f"src=%xr.at[{view}], dst=%or, dst_sem=%sr, src_sem=none, device_id=none"
    return kernel(
        [*more, ("in", "x", array, "any"), ("out", "o", part), ("scratch", "s", "ref<semaphore,dma_sem[]>")],
        [
            *before,
            f"dma_start{{device_id_type=mesh, priority=0, add=false}}({sides});  //~ COMPILER",
            f"dma_wait{{device_id_type=mesh, insert_dummy_device=false}}({sides});",
        ],
    )


LOADED = ("prefetch", "i", "i32[1]", "smem")


def promised(of, use):
    """`use` is of the number that is loaded, as it is and as a multiple of `of`."""
    load = "%n = get(%ir.at[0]) : i32[];"
    return use("%n", load), use("%m", load, f"%m = multiple_of{{values=[{of}]}}(%n) : i32[];")


def load(array, part, view, *before, more=()):
    return kernel(
        [*more, ("in", "x", array), ("out", "o", part)],
        [*before, f"%a = get(%xr.at[{view}]) : {part};  //~ COMPILER", f"_ = swap(%or, %a) : {part};"],
    )


def spread(type_):
    convert = [f"%c = convert_element_type{{to={type_}}}(%n) : {type_}[];"] if type_ != "i8" else []
    of = "%c" if convert else "%n"
    return kernel(
        [("prefetch", "i", "i8[1]", "smem"), ("out", "o", f"{type_}[32,128]")],
        [
            "%n = get(%ir.at[0]) : i8[];",
            *convert,
            f"%s = add({of}, {of}) : {type_}[];  //~ COMPILER",
            f"%a = broadcast_in_dim{{shape=[32,128], dims=[]}}(%s) : {type_}[32,128];",
            f"_ = swap(%or, %a) : {type_}[32,128];",
        ],
    )


def blocks(array, block, steps):
    spec = f"block ({block}) map (%g: i32[]) {{ return %g, 0:i32; }}"
    part = f"{array.split('[')[0]}[{block}]"
    text = kernel(
        [("in", "x", array, spec), ("out", "o", array, spec)],
        [f"%a = get(%xr) : {part};", f"_ = swap(%or, %a) : {part};"],
        f"[{steps}]",
    )
    return text.replace(f"{spec};", f"{spec};  //~ COMPILER")


def one_operation(in_type, operation, out_type):
    return elementwise(in_type, out_type, f"%z = {operation}(%a) : {out_type};  //~ COMPILER")


def product(a, b):
    return kernel(
        [("in", "x", f"{a}[128,128]"), ("in", "y", f"{b}[128,128]"), ("out", "o", "i32[128,128]")],
        [
            f"%a = get(%xr) : {a}[128,128];",
            f"%b = get(%yr) : {b}[128,128];",
            f"%z = dot_general{{{DOT}}}(%a, %b) : i32[128,128];  //~ COMPILER",
            "_ = swap(%or, %z) : i32[128,128];",
        ],
    )


def take(lanes):
    array, indices = f"f32[8,{lanes}]", f"i32[8,{lanes},1]"
    return kernel(
        [("in", "x", array), ("out", "o", array)],
        [
            f"%a = get(%xr) : {array};",
            f"%i = iota{{dim=1}}() : {indices};",
            f"%z = gather{{{TAKE}}}(%a, %i) : {array};  //~ COMPILER",
            f"_ = swap(%or, %z) : {array};",
        ],
    )


def masks(in_type, compared, before):
    """Where x < x holds, of one type or another."""
    lines = [f"%c = convert_element_type{{to={compared.split('[')[0]}}}(%a) : {compared};"] if before else []
    of, shape = ("%c" if before else "%a"), compared[compared.index("[") :]
    return elementwise(
        in_type,
        f"i32{shape}",
        *lines,
        f"%m = lt({of}, {of}) : bool{shape};  //~ COMPILER",
        f"%z = convert_element_type{{to=i32}}(%m) : i32{shape};",
    )


def columns(first):
    """x[:, None] of a mask, or of the numbers that it is made of."""
    new, less = "broadcast_in_dim{shape=[128,1], dims=[0]}", "lt"
    steps = (
        (f"%b = {less}(%a, %a) : bool[128];", f"%m = {new}(%b) : bool[128,1];  //~ COMPILER")
        if first
        else (f"%b = {new}(%a) : i32[128,1];", f"%m = {less}(%b, %b) : bool[128,1];")
    )
    return elementwise("i32[128]", "i32[128,1]", *steps, "%z = convert_element_type{to=i32}(%m) : i32[128,1];")


def sums(wide):
    if not wide:
        return elementwise("i8[32,128]", "i8[32,128]", "%z = add(%a, %a) : i8[32,128];  //~ COMPILER")
    return elementwise(
        "i8[32,128]",
        "i8[32,128]",
        "%b = convert_element_type{to=i32}(%a) : i32[32,128];",
        "%c = add(%b, %b) : i32[32,128];",
        "%z = convert_element_type{to=i8}(%c) : i8[32,128];",
    )


def rolled(type_):
    array = f"{type_}[16,128]"
    return elementwise(
        array, array, f"%z = tpu.roll{{axis=1, stride=none, stride_axis=none}}(%a, 1:i32) : {array};  //~ COMPILER"
    )


KERNELS = {
    "slice-start": (copy("f32[16,256]", "f32[8,256]", "4 +: 8, *"), copy("f32[16,256]", "f32[8,256]", "8 +: 8, *")),
    "slice-proof": promised(
        8, lambda n, *before: copy("f32[16,256]", "f32[8,256]", f"{n} +: 8, *", *before, more=[LOADED])
    ),
    "slice-size": (copy("f32[16,256]", "f32[4,256]", "0 +: 4, *"), copy("f32[16,128]", "f32[4,128]", "0 +: 4, *")),
    "access-proof": promised(
        128, lambda n, *before: load("f32[8,256]", "f32[8,128]", f"*, {n} +: 128", *before, more=[LOADED])
    ),
    "strided": (load("f32[16,256]", "f32[8,256]", "0 +: 8 : 2, *"), load("f32[16,128]", "f32[8,128]", "0 +: 8 : 2, *")),
    "scalar-arithmetic": (spread("i8"), spread("i32")),
    "byte-sum": (sums(False), sums(True)),
    "narrow-compare": (masks("bf16[16,128]", "bf16[16,128]", False), masks("bf16[16,128]", "f32[16,128]", True)),
    "to-4-bits": (one_operation("i32[64,128]", "convert_element_type{to=i4}", "i4[64,128]"),) * 2,
    "product-mixed": (product("i8", "i4"), product("i8", "i8")),
    "product-types": (product("i8", "i8"),) * 2,
    "new-last-dim": (columns(True), columns(False)),
    "reshape": (
        one_operation("f32[8,256]", "reshape{shape=[32,64]}", "f32[32,64]"),
        one_operation("f32[8,256]", "reshape{shape=[16,128]}", "f32[16,128]"),
    ),
    "transpose": (
        one_operation("f32[2,4,8,128]", "transpose{perm=[3,0,1,2]}", "f32[128,2,4,8]"),
        one_operation("f32[2,4,8,128]", "transpose{perm=[1,0,2,3]}", "f32[4,2,8,128]"),
    ),
    "roll": (rolled("bf16"), rolled("f32")),
    "gather": (take(256), take(128)),
    "block-rows": (blocks("bf16[32,128]", "8,128", 4), blocks("bf16[32,128]", "16,128", 2)),
    "block-bytes": (blocks("i8[64,128]", "8,128", 8), blocks("i8[64,128]", "32,128", 2)),
}


@dataclasses.dataclass(frozen=True)
class CompilerCase:
    rule: str
    wrong: bool

    @property
    def path(self):
        return f"compiler_tpu/{self.rule.replace('-', '_')}_{'wrong' if self.wrong else 'right'}"

    def text(self):
        chip = CHIPS.get(self.rule, ("v5e", "v5e"))[not self.wrong]
        kernel_text = KERNELS[self.rule][not self.wrong]
        lines = [
            f"# spec: tpu-limits.md#{NAMES}{self.rule}",
            *["# spec: contracts.md#compiler.2"] * (self.rule in NOTES),
        ]
        lines += [
            f"# {line}"
            for line in textwrap.wrap(("" if self.wrong else "Kept. ") + PROSE[self.rule], 110, break_on_hyphens=False)
        ]
        lines += [
            f"# target: mosaic_tpu/{chip}",
            "# schedules: 1",
            *[f"# finding: COMPILER [{NAMES}{self.rule}]"] * self.wrong,
        ]
        lines += ["--- kernel", kernel_text if self.wrong else kernel_text.replace("  //~ COMPILER", "")]
        names = [
            line.split("%")[1].split(":")[0]
            for line in kernel_text.split("\n")
            if line.startswith(("  in %", "  prefetch %"))
        ]
        lines += ["--- inputs", *(f"{name} = zeros" for name in names)]
        if not self.wrong:
            dtype, sizes = re.search(r"out %o: (\w+)\[([\d,]+)\]", kernel_text).groups()
            zeros = np.zeros([int(size) for size in sizes.split(",")], NUMPY_TYPES[dtype])
            lines += ["--- expect", *expectation("o", zeros)]
        return "\n".join(lines) + "\n"


def rules():
    for rule in KERNELS:
        yield CompilerCase(rule, True)
        yield CompilerCase(rule, False)


FAMILIES = (rules,)
