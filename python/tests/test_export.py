"""What the exporter writes: one small kernel for each form of index, block, control flow, and each way to reach a
kernel.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu, triton as pltriton

import palladion

F32 = jnp.float32


def call(kernel, out, **options):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(*out), **options)


def lines_of(text: str) -> list:
    """The text's lines without places, indentation and declarations of files and places."""
    stripped = [re.sub(r" #l\d+;$", ";", line.strip()) for line in text.split("\n")]
    return [line for line in stripped if not line.startswith(("loc ", "file "))]


def exported(kernel, *args, out=((8, 128), F32), **options) -> list:
    return lines_of(palladion.export(call(kernel, out, **options), *args))


def instruction(lines, name) -> str:
    """The one instruction of this primitive, without its results."""
    found = [re.sub(r"^.* = ", "", line) for line in lines if re.match(rf"(.* = )?{re.escape(name)}[{{(]", line)]
    assert len(found) == 1, (name, found)
    return found[0]


X = np.zeros((8, 128), np.float32)
WIDE = np.zeros((16, 8, 128), np.float32)


def test_whole_text():
    def double_kernel(x_ref, y_ref):
        y_ref[...] = x_ref[...] * 2

    text = palladion.export(call(double_kernel, ((8, 128), F32)), X)
    assert text.startswith('pkir 1;\nproducer "jax ')
    assert lines_of(text)[2:] == [
        "kernel @double_kernel {",
        'in %x: f32[8,128] as "args[0]" space default;',
        'out %y: f32[8,128] as "outputs" space default;',
        "grid [];",
        'body @double_kernel (%x_ref: ref<default,f32[8,128]> as "x_ref", %y_ref: ref<default,f32[8,128]> as "y_ref") '
        "{",
        "%0 = get(%x_ref) : f32[8,128];",
        "%1 = mul(%0, 2.0:f32) : f32[8,128];",
        "_ = swap(%y_ref, %1) : f32[8,128];",
        "return;",
        "}",
        "}",
        "",
    ]


def test_places_name_this_file_with_the_whole_chain():
    def helper(value):
        return value + 1

    def kernel(x_ref, y_ref):
        y_ref[...] = helper(x_ref[...])

    def program(x):
        return call(kernel, ((8, 128), F32))(x)

    text = palladion.export(program, X)
    add = next(line for line in text.split("\n") if " = add(" in line)
    place = re.search(r"(#l\d+);", add).group(1)
    frames = []
    while place:
        file, line, function, via = re.search(
            rf'^loc {place} = (#f\d+):(\d+):\d+ fn "(.*?)"(?: via (#l\d+))?;$', text, re.M
        ).groups()
        frames.append((file, function.split(".")[-1]))
        place = via
    assert [function for _, function in frames] == ["helper", "kernel", "program"]
    assert re.search(rf'^file {frames[0][0]} = ".*test_export\.py";$', text, re.M)


@pytest.mark.parametrize(
    "index, view, shape",
    [
        (lambda r: r[...], "%x_ref", "[16,8,128]"),
        (lambda r: r[:], "%x_ref.at[*, *, *]", "[16,8,128]"),
        (lambda r: r[3], "%x_ref.at[3, *, *]", "[8,128]"),
        (lambda r: r[3, 4, 5], "%x_ref.at[3, 4, 5]", "[]"),
        (lambda r: r[2:6, 1], "%x_ref.at[2 +: 4, 1, *]", "[4,128]"),
        (lambda r: r[0:16:2], "%x_ref.at[0 +: 8 : 2, *, *]", "[8,8,128]"),
        (lambda r: r[pl.ds(4, 8)], "%x_ref.at[4 +: 8, *, *]", "[8,8,128]"),
        (lambda r: r[pl.ds(0, 4, 3)], "%x_ref.at[0 +: 4 : 3, *, *]", "[4,8,128]"),
        (lambda r: r[..., 0], "%x_ref.at[*, *, 0]", "[16,8]"),
        (lambda r: r.at[2:10].at[1:3][...], "%x_ref.at[2 +: 8, *, *].at[1 +: 2, *, *]", "[2,8,128]"),
        (lambda r: r.reshape(128, 128)[0:8], "%x_ref.reshape[128,128].at[0 +: 8, *]", "[8,128]"),
        (lambda r: r.at[0].transpose((1, 0))[...], "%x_ref.at[0, *, *].transpose[1,0]", "[128,8]"),
    ],
)
def test_static_indices(index, view, shape):
    def kernel(x_ref, y_ref):
        y_ref[...] = jnp.zeros_like(y_ref) + jnp.sum(index(x_ref))

    line = instruction(exported(kernel, WIDE), "get")
    assert line == f"get({view}) : f32{shape};"


def test_bitcast_of_a_ref():
    def kernel(x_ref, y_ref):
        y_ref[...] = x_ref.bitcast(jnp.int32)[...]

    assert (
        instruction(exported(kernel, X, out=((8, 128), jnp.int32)), "get") == "get(%x_ref.bitcast(i32)) : i32[8,128];"
    )


def test_dynamic_and_array_indices():
    def kernel(x_ref, y_ref):
        i = pl.program_id(0)
        y_ref[...] = x_ref[i, pl.ds(i * 2, 4), :]

    lines = exported(kernel, WIDE, out=((4, 128), F32), grid=(2,))
    assert "%0 = program_id{axis=0}() : i32[];" in lines
    assert instruction(lines, "get") == "get(%x_ref.at[%0, %1 +: 4, *]) : f32[4,128];"

    def gather(x_ref, i_ref, y_ref):
        rows = i_ref[...]
        y_ref[...] = x_ref[rows, :, jnp.zeros_like(rows)]

    lines = lines_of(palladion.export(call(gather, ((4, 8), F32)), WIDE, np.zeros(4, np.int32)))
    assert "%2 = get(%x_ref.at[%0, *, %1]) : f32[4,8];" in lines


def test_stores_and_atomics():
    def kernel(x_ref, y_ref):
        y_ref[0] = x_ref[1]
        old = y_ref.swap(x_ref[2], 3)
        pl.ref_addupdate(y_ref, (4, slice(None)), old) if hasattr(pl, "ref_addupdate") else y_ref.addupdate(old, 4)
        mask = lax.iota(jnp.int32, 128) < 100
        row = pltriton.load(x_ref.at[5, :], mask=mask, other=1.0, eviction_policy="evict_last")
        pltriton.store(y_ref.at[5, :], row, mask=mask)
        pltriton.atomic_max(y_ref, (6, pl.ds(0, 128)), row, mask=mask)
        pltriton.atomic_add(y_ref, (7, 0), 1.0)

    lines = exported(kernel, X, compiler_params=pltriton.CompilerParams(num_warps=2))
    assert "_ = swap(%y_ref.at[0, *], %0) : f32[128];" in lines
    assert "%2 = swap(%y_ref.at[3, *], %1) : f32[128];" in lines
    assert "addupdate(%y_ref.at[4, *], %2);" in lines
    assert instruction(lines, "masked_load") == (
        'masked_load{eviction_policy="evict_last"}(%x_ref.at[5, *], mask=%4, other=1.0:f32) : f32[128];'
    )
    assert instruction(lines, "masked_swap") == "masked_swap(%y_ref.at[5, *], %5, mask=%4) : f32[128];"
    assert "_ = atomic_rmw{op=max}(%y_ref.at[6, *], %5, mask=%4) : f32[128];" in lines
    assert "_ = atomic_rmw{op=add}(%y_ref.at[7, 0], 1.0:~f32) : f32[];" in lines
    assert "backend triton;" in lines and "params {num_warps=2};" in lines


def test_stretched_operands_and_the_type_of_other():
    def kernel(x_ref, y_ref):
        x = pltriton.load(x_ref, mask=lax.broadcasted_iota(jnp.int32, (8, 128), 0) < 5, other=-0.1)
        y_ref[...] = (x - jnp.max(x, axis=1, keepdims=True)) / jnp.sum(x, keepdims=True)

    lines = lines_of(palladion.export(call(kernel, ((8, 128), jnp.bfloat16)), X.astype(jnp.bfloat16)))
    assert ", other=-0.1:bf16) : bf16[8,128];" in instruction(lines, "masked_load")
    at = next(i for i, line in enumerate(lines) if " = sub(" in line)
    stretched = re.search(r"sub\(%\d+, (%\d+)\) : bf16\[8,128\];$", lines[at]).group(1)
    assert re.match(
        rf"{stretched} = broadcast_in_dim\{{shape=\[8,128\], dims=\[0,1\]\}}\(%\d+\) : bf16\[8,128\];$", lines[at - 1]
    )
    at = next(i for i, line in enumerate(lines) if " = div(" in line)
    one = re.search(r"div\(%\d+, (%\d+)\) : bf16\[8,128\];$", lines[at]).group(1)
    assert re.match(rf"{one} = reshape\{{shape=\[\]\}}\(%\d+\) : bf16\[\];$", lines[at - 1])


def test_cond_switch_and_when():
    def kernel(x_ref, y_ref):
        i = pl.program_id(0)

        @pl.when(i == 0)
        def _():
            y_ref[...] = x_ref[...]

        y_ref[...] += lax.switch(i, [lambda v: v, lambda v: v + 1, lambda v: v * i.astype(F32)], x_ref[...])

    lines = exported(kernel, X, grid=(4,))
    at = lines.index("cond(%2) {")
    assert lines[at : at + 7] == [
        "cond(%2) {",
        "return;",
        "} {",
        "%3 = get(%x_ref) : f32[8,128];",
        "_ = swap(%y_ref, %3) : f32[8,128];",
        "return;",
        "};",
    ]
    assert any(re.match(r"%\d+ = cond\(%\d+\) \{$", line) for line in lines)


def test_while_scan_and_fori_loops():
    def kernel(x_ref, y_ref):
        n = pl.program_id(0)
        y_ref[...] = lax.fori_loop(0, 4, lambda i, acc: acc + x_ref[i], jnp.zeros(128, F32)) + x_ref[...]
        y_ref[...] *= lax.while_loop(lambda s: s < n, lambda s: s + 1, 0).astype(F32)
        total, rows = lax.scan(
            lambda c, row: (c + row, c * n.astype(F32)), jnp.zeros(128, F32), x_ref[...], reverse=True
        )
        y_ref[0] = total + rows[1]

    lines = exported(kernel, X, grid=(4,))
    assert any(
        re.match(
            r"_, %\d+ = scan\{length=4, reverse=false\}\(init=0:~?i32, init=%\d+\) "
            r"\(%\d+: ~?i32\[\], %\d+: f32\[128\]\) \{$",
            line,
        )
        for line in lines
    )
    loop = next(i for i, line in enumerate(lines) if " = while(" in line)
    counter = re.search(r"while\(init=0:~?i32\) \((%\d+): ~?i32\[\]\) \{$", lines[loop]).group(1)
    assert lines[loop + 1].endswith(f"= convert_element_type{{to=i32}}({counter}) : i32[];")
    assert re.search(r"= lt\(%\d+, %0\) : bool\[\];$", lines[loop + 2])  # the loop's constant is the outer value
    assert any(re.match(r"%\d+, %\d+ = scan\{length=8, reverse=true\}\(init=%\d+, xs=%\d+\) ", line) for line in lines)


def test_run_scoped_and_run_state():
    def kernel(x_ref, y_ref):
        def scope(scratch_ref, flag_ref):
            scratch_ref[...] = x_ref[...]
            flag_ref[0] = 1
            return scratch_ref[...] + flag_ref[0].astype(F32)

        y_ref[...] = pl.run_scoped(scope, pltpu.VMEM((8, 128), F32), pltpu.SMEM((1,), jnp.int32))

        def state(ref):
            ref[...] = ref[...] + y_ref[...]

        y_ref[...] = pl.run_state(state)(x_ref[...])

    lines = exported(kernel, X, grid=(4,))
    head = next(line for line in lines if "run_scoped" in line)
    assert re.match(
        r'%\d+ = run_scoped\{collective_axes=\[\]\}\(\) \(%scratch_ref: ref<vmem,f32\[8,128\]> as "scratch_ref", '
        r'%flag_ref: ref<smem,i32\[1\]> as "flag_ref"\) \{$',
        head,
    )
    state = next(line for line in lines if "run_state" in line)
    assert re.match(r'%\d+ = run_state\(%\d+\) \(%ref_ref: ref<default,f32\[8,128\]> as "ref"\) \{$', state), state
    assert "backend mosaic_tpu;" in lines  # it follows from the memory spaces


def test_print_and_check():
    def kernel(x_ref, y_ref):
        i = pl.program_id(0)
        jax.debug.print("at {i} of {}: {x:.2f} {{}}", "four", i=i, x=x_ref[0, 0])
        pl.debug_check(i < 4, "i is small")
        y_ref[...] = x_ref[...]

    with pl.enable_debug_checks(True):
        lines = exported(kernel, X, grid=(4,))
    assert instruction(lines, "debug_print") == 'debug_print{fmt="at {0} of four: {1:.2f} {{}}"}(%0, %1);'
    check = instruction(lines, "check")
    held = re.search(r'^check\{message="i is small"\}\((%\d+)\);$', check).group(1)
    assert any(line.startswith(f"{held} = not(") for line in lines)


def test_calls_are_inlined():
    @jax.custom_jvp
    def twice(v):
        return v * 2

    twice.defjvp(lambda primals, tangents: (twice(*primals), tangents[0]))

    def kernel(x_ref, y_ref):
        y_ref[...] = jax.jit(lambda v: jax.checkpoint(twice)(v) + jnp.array([1.0], F32))(x_ref[...])

    names = {
        re.match(r"(?:.* = )?(\w+)[({]", line).group(1)
        for line in exported(kernel, X, grid=(4,))
        if re.match(r"(.* = )?\w+[({]", line)
    }
    assert not names & {"jit", "pjit", "custom_jvp_call", "checkpoint", "remat2"} and "mul" in names


def test_attributes_of_value_operations():
    def kernel(x_ref, y_ref):
        x = x_ref[...]
        product = lax.dot_general(
            x, x, (((1,), (1,)), ((), ())), precision=lax.Precision.HIGHEST, preferred_element_type=F32
        )
        y = jnp.pad(product, ((0, 0), (1, 119)))
        y = lax.integer_pow(lax.round(y, lax.RoundingMethod.TO_NEAREST_EVEN), 3)
        y = lax.reduce_precision(y, 8, 7) + lax.broadcasted_iota(jnp.int32, (8, 128), 1).astype(F32)
        y = lax.cumsum(y, axis=1, reverse=True) + lax.argmax(y, 1, jnp.int32)[:, None].astype(F32)
        y_ref[...] = pltpu.roll(lax.rev(y, (0,)), 3, axis=1)

    lines = exported(kernel, X)
    assert instruction(lines, "dot_general").startswith(
        "dot_general{contract=[[1],[1]], batch=[[],[]], precision=[highest,highest], preferred=f32}("
    )
    assert instruction(lines, "pad").startswith("pad{config=[[0,0,0],[1,119,0]]}(")
    assert instruction(lines, "integer_pow").startswith("integer_pow{y=3}(")
    assert instruction(lines, "round").startswith("round{rounding_method=1}(")
    assert instruction(lines, "reduce_precision").startswith("reduce_precision{exponent_bits=8, mantissa_bits=7}(")
    assert instruction(lines, "iota") == "iota{dim=1}() : i32[8,128];"
    assert instruction(lines, "cumsum").startswith("cumsum{axis=1, reverse=true}(")
    assert instruction(lines, "argmax").startswith("argmax{axis=1}(")
    assert instruction(lines, "rev").startswith("rev{dims=[0]}(")
    assert instruction(lines, "tpu.roll").startswith("tpu.roll{axis=1, stride=none, stride_axis=none}(")


def test_prng_keys():
    def kernel(key_ref, y_ref):
        key = jax.random.fold_in(key_ref[...], 3)
        y_ref[...] = jax.random.bits(key, (8, 128))

    lines = lines_of(palladion.export(call(kernel, ((8, 128), jnp.uint32)), jax.random.key(0)))
    assert 'in %key: key<fry>[] as "args[0]" space default;' in lines
    assert any(re.match(r"%\d+ = random_fold_in\(%0, 3:u32\) : key<fry>\[\];", line) for line in lines)
    assert any(
        re.match(r"%\d+ = random_bits\{bits=32, shape=\[8,128\]\}\(%1\) : u32\[8,128\];", line) for line in lines
    )


def test_small_constant_arrays_keep_their_bits():
    table = np.asarray([1.5, -0.0, np.nan], np.float32)

    def kernel(x_ref, y_ref):
        y_ref[...] = jax.jit(lambda: jnp.asarray(1))() * x_ref[...]

    assert "kernel @kernel {" in exported(kernel, X)
    from palladion.base.scalars import dense_text

    assert dense_text(table) == f'dense<f32[3] hex "{table.tobytes().hex()}">'
    assert dense_text(np.asarray([[1, -2]], np.int8)) == "dense<i8[1,2] [1,-2]>"


def test_mosaic_gpu_kernel_over_a_mesh():
    def body(x_gmem, y_gmem, smem, barrier):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
            plgpu.barrier_wait(barrier)
            plgpu.copy_smem_to_gmem(smem, y_gmem)
            plgpu.wait_smem_to_gmem(0)

    kernel = plgpu.kernel(
        body,
        grid=(2,),
        grid_names=("m",),
        num_threads=2,
        thread_name="wg",
        **_types(jax.ShapeDtypeStruct((8, 128), F32), [plgpu.SMEM((8, 128), F32), plgpu.Barrier()]),
    )
    lines = lines_of(palladion.export(kernel, X))
    assert "backend mosaic_gpu;" in lines
    assert any(
        line.startswith('mesh gpu {grid=[2], grid_names=["m"], cluster=[], cluster_names=[], threads=2')
        for line in lines
    )
    assert any(line.startswith("copy_gmem_to_smem{") and "src=%" in line and "barrier=%" in line for line in lines)
    assert any(line.startswith("barrier_wait(barrier=%") for line in lines)


def _types(out, scratch):
    """plgpu.kernel's arguments were renamed in 0.10.2."""
    import inspect

    new = "scratch_types" in inspect.signature(plgpu.kernel).parameters
    return {"out_type": out, "scratch_types": scratch} if new else {"out_shape": out, "scratch_shapes": scratch}


def test_operands_have_the_place_of_their_index_map_or_of_the_call():
    def rows(i):
        return (i, 0)

    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    def call(x, y):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((32, 128), jnp.float32),
            grid=(4,),
            in_specs=[pl.BlockSpec((8, 128), rows), pl.BlockSpec((8, 128), rows)],
            out_specs=pl.BlockSpec((8, 128), rows),
        )(x, y)

    def whole(x, y):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((32, 128), jnp.float32))(x, y)

    def places(function):
        text = palladion.export(function, *[jax.ShapeDtypeStruct((32, 128), jnp.float32)] * 2)
        locations = dict(re.findall(r'^loc (#l\d+) = #f\d+:(.*) fn "[^"]*"', text, re.MULTILINE))
        functions = dict(re.findall(r'^loc (#l\d+) = .* fn "([^"]*)"', text, re.MULTILINE))
        found = re.findall(r"^  (?:in|out) %\w+: .*? (#l\d+);$", text, re.MULTILINE)
        return [(functions[name].split(".")[-1], int(locations[name].split(":")[0])) for name in found]

    assert places(call) == [("rows", rows.__code__.co_firstlineno)] * 3
    assert [name for name, _ in places(whole)] == ["whole"] * 3
