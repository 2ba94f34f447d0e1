"""Pictures from Python: palladion.draw, draw_time and draw_layout, on real kernels: what is in the SVG, what the page
shows in a browser.

What is not looked at: whether they are beautiful.
"""

import json
import linecache
import re
import xml.etree.ElementTree as ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion
from browser_pages import browser, colors
from palladion.api import drawing
from palladion.report.pictures.grid import GridLayout
from palladion.report.pictures.operands import short_number
from palladion.report.pictures.picture import Picture
from small_kernels import last, matmul

READ, FOCUS = (47, 111, 219), (29, 36, 51)


def add_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


def add(x, size=256):
    block = pl.BlockSpec((size,), lambda row: (row,))
    return pl.pallas_call(
        add_kernel,
        grid=(pl.cdiv(x.shape[0], size),),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)


def copy_kernel(x_ref, o_ref, smem, barrier):
    rows = pl.ds(jax.lax.axis_index("rows") * 64, 64)
    plgpu.copy_gmem_to_smem(x_ref.at[rows], smem, barrier)
    plgpu.barrier_wait(barrier)
    smem[...] = smem[...] * 2
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(smem, o_ref.at[rows])
    plgpu.wait_smem_to_gmem(0)


def doubled(x):
    return plgpu.kernel(
        copy_kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(4,),
        grid_names=("rows",),
        scratch_types=[plgpu.SMEM((64, 64), jnp.float32), plgpu.Barrier()],
    )(x)


def texts(picture: Picture) -> list[str]:
    """Of the SVG, which is XML without scripts or anything from elsewhere."""
    svg = picture.svg()
    assert "<script" not in svg and len(svg) < 60_000
    assert set(re.findall(r"https?://[^\"'<> ]+", svg)) == {"http://www.w3.org/2000/svg"}
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module")
def product() -> Picture:
    return palladion.draw(
        matmul, jnp.ones((256, 512)), jnp.ones((512, 384)), target="v5e", program=(1, 2, 3), values=True
    )


def test_a_picture_is_saved_by_the_ending_of_the_path(tmp_path):
    picture = Picture("<svg/>", "<html></html>", "a picture")
    picture.save(tmp_path / "one.svg")
    picture.save(str(tmp_path / "one.HTML"))
    assert (tmp_path / "one.svg").read_text() == "<svg/>"
    assert (tmp_path / "one.HTML").read_text() == "<html></html>"
    with pytest.raises(ValueError, match=r"\.svg or as a page, \.html.*one\.png"):
        picture.save(tmp_path / "one.png")
    assert "<svg/>" in picture._repr_html_() and repr(picture) == str(picture) == "a picture"


def test_a_program_of_a_grid_of_three_dimensions(product):
    assert repr(product) == "@matmul_kernel on mosaic_tpu/v5e: grid (i: 2, j: 3, k: 4), 24 programs, 4 operands"
    shown = texts(product)
    assert {"i = 0", "i = 1", "j", "k", "x_ref", "y_ref", "o_ref"} <= set(shown)
    assert "(i, j, k) → (i, k)" in shown and "block (128, 128)" in shown
    # x[i, k], y[k, j] and o[i, j] of (1, 2, 3), from the index maps by hand
    assert {"[128:256, 384:512]", "[384:512, 256:384]", "[128:256, 256:384]"} <= set(shown)
    assert {"dot_general", "acc_ref[0:128, 0:128]", "x_ref[128:256, 384:512]"} <= set(shown)
    flushed = shown.index("flush o_ref")
    assert shown[flushed + 1 : flushed + 3] == ["writes", "o_ref[128:256, 256:384]"]
    assert any("jnp.dot(x_ref[...]" in line for line in shown), "the source"
    assert "512" in shown, "the sum of 512 ones, a value that is written"


def test_the_page_steps_through_instructions(product, tmp_path):
    product.save(tmp_path / "page.html")
    dom = browser(tmp_path / "page.html", "--dump-dom", at="#23").stdout
    assert 'data-ready="yes"' in dom and "program (1, 2, 3)" in dom and "24 of 24" in dom
    first = re.search(r'id="steps"[^>]*>(<li.*?</li>)', dom)[1]
    assert "fetch x_ref" in first and "reads" in first and "x_ref[128:256, 384:512]" in first
    assert "jnp.dot(x_ref[...], y_ref[...]" in dom and "(i, j, k) → (k, j)" in dom
    assert "<td" not in dom, "no instruction is chosen"
    data = json.loads(re.search(r'id="data">(.*?)</script>', product.html(), re.DOTALL)[1])
    names = [data["instrs"][step[0]][0] for step in data["programs"][23]["s"]]
    flushes = [
        number
        for number, one in enumerate(data["programs"])
        if any(data["instrs"][step[0]][0] == "flush o_ref" for step in one["s"])
    ]
    assert flushes == [3, 7, 11, 15, 19, 23], "by the program that leaves the block"
    at = names.index("dot_general")
    chosen = browser(tmp_path / "page.html", "--dump-dom", at=f"#23.{at}").stdout
    assert re.search(r'<li class="now".*?dot_general.*?</li>', chosen), "the instruction of the address"
    assert re.search(r'class="line now".*?jnp\.dot', chosen) and "<td" in chosen, "its line and its values"


def test_an_instruction_is_marked_on_its_operand(product, tmp_path):
    product.save(tmp_path / "page.html")
    browser(tmp_path / "page.html", f"--screenshot={tmp_path / 'page.png'}", at="#23.0")
    painted = colors((tmp_path / "page.png").read_bytes())
    assert READ in painted and FOCUS in painted


def test_thousands_of_programs_are_legible_and_small(tmp_path):
    picture = palladion.draw(add, jnp.zeros(4096 * 256), target="triton/h100", program=4000, check=False)
    shown = texts(picture)
    assert "64 programs in a row" in shown and "program (4000)" in " ".join(shown)
    assert f"[{4000 * 256}:{4001 * 256}]" in shown and len(picture.svg()) < 20_000
    picture.save(tmp_path / "page.html")
    dom = browser(tmp_path / "page.html", "--dump-dom", at="#4000").stdout
    assert 'data-ready="yes"' in dom and "4001 of 4096" in dom and "Not looked for." in dom


@pytest.mark.parametrize(
    "grid, words",
    [("65536, 1, 2", "1 x 2 programs"), ("300, 200", "300 x 200 programs"), ("0, 4", "it has no programs")],
)
def test_grids_of_any_size(grid, words, tmp_path):
    text = f"pkir 1;\nkernel @k {{ grid [{grid}]; out %o: f32[1]; body @b (%or: ref<default,f32[1]>) {{ return; }} }}\n"
    picture = palladion.draw(text, target="generic", check=False)
    shown = texts(picture)
    assert words in " ".join(shown) or grid.startswith("65536")
    picture.save(tmp_path / "page.html")
    assert 'data-ready="yes"' in browser(tmp_path / "page.html", "--dump-dom").stdout


@pytest.mark.parametrize(
    "grid, index, place, sheets, cells",
    [
        ((), (), ((), 0, 0), [()], [()]),
        ((3,), (2,), ((), 0, 2), [()], [(0,), (1,), (2,)]),
        ((2, 2, 2), (1, 0, 1), ((1,), 0, 1), [(0,), (1,)], [(1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)]),
        ((1, 40, 1), (0, 35, 0), ((), 2, 3), [()], [(0, i, 0) for i in range(40)]),  # rows of 16
        ((4096,), (4000,), ((), 62, 32), [()], [(i,) for i in range(4096)]),  # rows of 64
    ],
)
def test_where_a_program_stands_in_the_grid(grid, index, place, sheets, cells):
    layout = GridLayout.of(list(grid))
    assert layout.place(index) == place
    assert layout.sheets() == sheets and layout.cells(sheets[-1]) == cells


def test_threads_and_copies_of_a_gpu():
    picture = palladion.draw(doubled, jnp.ones((256, 64)), target="h100", program=2)
    shown = texts(picture)
    assert "grid (rows: 4)" in repr(picture) and "block (2)" in " ".join(shown)
    assert shown.count("[128:192, 0:64]") == 2, "read and written by copies"
    assert {"copy_gmem_to_smem", "x_ref[128:192, 0:64]", "smem[0:64, 0:64]"} <= set(shown)


def test_blocks_that_prefetched_scalars_choose():
    def scale_kernel(rows_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    grid_spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(3,),
        in_specs=[pl.BlockSpec((8, 128), lambda i, rows_ref: (rows_ref[i], 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i, rows_ref: (i, 0)),
    )

    def scale(rows, x):
        return pl.pallas_call(scale_kernel, grid_spec=grid_spec, out_shape=jax.ShapeDtypeStruct((24, 128), x.dtype))(
            rows, x
        )

    rows = jnp.array([5, 5, 1])
    shown = texts(palladion.draw(scale, rows, jnp.ones((64, 128)), target="v5e", program=2))
    assert "[2]" in shown, "the scalar that its index map reads"
    assert "[8:16, 0:128]" in shown and "  → (rows_ref[i], 0)" in shown
    shown = texts(palladion.draw(scale, rows, jnp.ones((64, 128)), target="v5e", program=1))
    assert "stays here: " in shown and "[40:48, 0:128]" in shown, "the block is not fetched again"


def test_each_kernel_has_a_picture_or_the_one_that_is_named():
    def both(x):
        return doubled_rows(add(add(x, 128), 128))

    def twice_kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def doubled_rows(x):
        return pl.pallas_call(twice_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    x = jnp.zeros(512)
    picture = palladion.draw(both, x)
    first, *_, last = repr(picture).splitlines()
    assert first.startswith("@add_kernel") and last.startswith("@twice_kernel")
    assert picture.html().count("<iframe") == len(repr(picture).splitlines())
    assert "twice_kernel" in picture.svg() and texts(picture)
    only = palladion.draw(both, x, kernel="twice_kernel")
    assert repr(only) == "@twice_kernel on generic: grid (), 1 program, 2 operands"
    with pytest.raises(ValueError, match="one of the kernels that ran: add_kernel, twice_kernel"):
        palladion.draw(both, x, kernel="none")
    with pytest.raises(ValueError, match=r"one of the grid \(4,\).*found 4"):
        palladion.draw(lambda x: add(x, 128), x, program=4)


def test_of_equal_calls_the_first_is_drawn():
    def three_times(x):
        for _ in range(3):
            x = add(x, 128)
        return x

    assert repr(palladion.draw(three_times, jnp.zeros(512))).endswith("2 operands; called 3 times, the first is drawn")


def test_padding_is_outside_of_the_array():
    shown = texts(palladion.draw(lambda x: add(x, 256), jnp.zeros(700), program=2))
    assert "[512:768]" in shown, "the last block reaches past the end"


def test_what_a_check_finds_is_named():
    picture = palladion.draw(last, jnp.arange(4.0), target="triton/h100")
    assert "\nRACE_WW: " in repr(picture) and any(line.startswith("RACE_WW: ") for line in texts(picture))
    without = palladion.draw(last, jnp.arange(4.0), target="triton/h100", check=False)
    assert "RACE_WW" not in repr(without) + without.svg()


def test_a_kernel_text_is_drawn_as_a_function_is():
    x = jnp.zeros(512)
    text = palladion.export(add, x)
    assert palladion.draw(text, x).svg() == palladion.draw(add, x).svg()


def test_the_source_of_a_notebook_is_shown():
    name = "<ipython-input-7-of-a-test>"
    cell = "def cell_kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...] * 3\n"
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    names = {}
    exec(compile(cell, name, "exec"), names)
    shown = texts(
        palladion.draw(
            lambda x: pl.pallas_call(names["cell_kernel"], out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x),
            jnp.zeros(8),
        )
    )
    assert "o_ref[...] = x_ref[...] * 3" in " ".join(shown) and "def cell_kernel(x_ref, o_ref):" in shown


def test_a_kernel_that_cannot_run_says_so():
    with pytest.raises(palladion.PalladionError, match="nonsense"):
        palladion.draw("pkir 1;\nnonsense\n")


@pytest.mark.parametrize(
    "text, short", [("1.0", "1"), ("11520.0", "11520"), ("265297920.0", "2.65e8"), ("true", "true")]
)
def test_numbers_are_short(text, short):
    assert short_number(text) == short


def test_time_has_lanes_and_limits():
    picture = palladion.draw_time(matmul, jnp.ones((256, 512)), jnp.ones((512, 384)), target="v5e")
    shown = texts(picture)
    assert {"CORE 0", "program", "steps of the grid", "matrix units (MXU)", "all of it"} <= set(shown)
    assert re.fullmatch(r"matmul_kernel on v5e: [\d.]+ us, give or take \d+%", repr(picture))
    assert 'id="data"' in picture.html()
    with pytest.raises(ValueError, match="one of the kernels that ran: copy_kernel"):
        palladion.draw_time(doubled, jnp.ones((256, 64)), target="h100", kernel="none")


def test_spans_that_are_too_short_to_see_are_one():
    picture = palladion.draw_time(halves, jnp.ones((2000 * 8, 128)), target="v5e")
    assert len(picture.svg()) < 20_000, "2,000 steps"


def test_reports_are_pictures_in_a_notebook(tmp_path):
    x = jnp.arange(512.0)
    report = palladion.time(lambda x: add(x, 256), x, target="v5e")
    assert report._repr_html_().startswith("<div") and "<svg" in report._repr_html_() and "roofline" in str(report)
    advice = palladion.advise(add, x, target="v5e", tries={"size": [128]}, seeds=1)
    assert "<table>" in advice._repr_html_() and "size=128" in advice._repr_html_()
    palladion.golden(add, x, out=tmp_path / "bundle")
    right = palladion.compare(tmp_path / "bundle", [np.asarray(x + 1)])._repr_html_()
    wrong = palladion.compare(tmp_path / "bundle", [np.asarray(x + 2)])._repr_html_()
    assert "within tolerance" in right and "differs" in wrong


def test_registers_of_wgmma_are_those_of_ptx():
    """PTX, "Register Fragments for wgmma.mma_async.m64nNk": the accumulator."""
    table = drawing.layout_table("WGMMA", (64, 16), "f32")
    for row in range(64):
        for column in range(16):
            lane = row // 16 * 32 + row % 8 * 4 + column % 8 // 2
            place = column // 8 * 4 + row % 16 // 8 * 2 + column % 2
            at = row * 16 + column
            assert (table["lane"][at], table["slot"][at]) == (lane, place), (row, column)
    shown = texts(palladion.draw_layout(plgpu.Layout.WGMMA, (64, 16), jnp.float32))
    assert "f32[64,16] in registers, WGMMA" in shown and "5:1" in shown


def test_every_element_has_a_place():
    strided = drawing.layout_table("WG_STRIDED", (16, 64), "f32")
    assert sorted(zip(strided["lane"], strided["slot"])) == [(lane, place) for lane in range(128) for place in range(8)]
    row = drawing.layout_table(plgpu.Layout.WGMMA.reduce(1), (64,), "f32")
    assert row["name"] == "WGMMA.reduce(1)" and row["copies"] == 4
    cells = drawing.layout_table("tmem", (128, 64), "f16", packed=True)
    assert cells["lane"] == [at // 64 for at in range(128 * 64)]
    assert cells["column"] == [at % 64 // 2 for at in range(128 * 64)] and cells["columns"] == 32


def test_a_swizzle_moves_pieces_of_16_bytes_and_ends_bank_conflicts():
    """CUDA, "Shared Memory", swizzle modes of the tensor map: piece c of row r is at c ^ r % 8."""
    table = drawing.layout_table("smem", (64, 64), "f16", tile=(8, 64), swizzle=128, access="WGMMA")
    for row in range(64):
        for column in range(64):
            byte = row * 128 + (column // 8 ^ row % 8) * 16 + column % 8 * 2
            assert table["byte"][row * 64 + column] == byte, (row, column)
    assert table["turns"] == table["least"] == 64 and not table["refused"]
    plain = drawing.layout_table("smem", (64, 64), "f16", access="WGMMA")
    assert plain["byte"] == [2 * at for at in range(4096)] and plain["turns"] == 8 * plain["least"]
    assert "8 at most" in " ".join(texts(palladion.draw_layout("smem", (64, 64), "f16", access="WGMMA")))


def test_tiles_have_padding():
    table = drawing.layout_table("vmem", (20, 300), jnp.bfloat16, target="mosaic_tpu/v5e")
    assert table["tile"] == [8, 128] and table["packing"] == 2
    assert table["bytes"] == 24 * 384 * 2 and table["dense"] == 20 * 300 * 2
    shown = texts(palladion.draw_layout("vmem", (20, 300), jnp.bfloat16, target="v5e"))
    assert {"16:20, 0:128", "row 7", "sublane 3"} <= set(shown)


@pytest.mark.parametrize(
    "layout, shape, why",
    [
        ("WGMMA", (63, 16), "does not have the layout WGMMA"),
        (
            "NONE",
            (64, 16),
            "no layout of registers is called 'NONE'; there are WGMMA, TCGEN05, .*, and the memories smem",
        ),
        ("vmem", (8, 128), "tiles of vector memory are a TPU's"),
        ("tmem", (8, 8), "not divisible into tiles"),
        ("smem", (8, 0), "one or two dimensions with 1 to 65536 elements"),
        ("smem", (4, 4, 4), "one or two dimensions"),
    ],
)
def test_what_has_no_layout_says_why(layout, shape, why):
    with pytest.raises(palladion.PalladionError, match=why):
        palladion.draw_layout(layout, shape, "f32")


def test_a_swizzle_and_tiles_must_fit():
    with pytest.raises(palladion.PalladionError, match="a swizzle is of 128, 64, 32 or 16 bytes; found 48"):
        palladion.draw_layout("smem", (8, 64), "f16", swizzle=48)
    with pytest.raises(palladion.PalladionError, match="tile divides shape"):
        palladion.draw_layout("smem", (8, 64), "f16", tile=(3, 64))
    with pytest.raises(ValueError, match="tile has a size for each dimension"):
        palladion.draw_layout("smem", (8, 64), "f16", tile=(8,))


def halves(x, rows=8):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] / 2

    block = pl.BlockSpec((rows, 128), lambda i: (i, 0))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // rows,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)


def test_a_grid_without_programs_is_drawn():
    picture = palladion.draw(lambda x: halves(x, 64), np.ones((32, 128), np.float32), target="v5e")
    assert "no program" in picture.svg() and "0 programs" in repr(picture)


def test_a_grid_of_more_programs_than_a_page_has():
    picture = palladion.draw(halves, np.ones((5000 * 8, 128), np.float32), target="v5e", check=False)
    assert "grid (i: 5000), 4096 of 5000 programs" in repr(picture)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"program": 1.5}, ValueError, r"one of the grid \(4,\), .* found 1.5"),
        ({"program": np.int64(4)}, ValueError, r"one of the grid \(4,\), .* found 4"),
        ({"kernel": "other"}, ValueError, "one of the kernels that ran: kernel; found 'other'"),
        ({"target": 5}, TypeError, 'target is the name of a chip, such as "h100"; found 5'),
    ],
)
def test_what_draw_is_given_by_mistake(options, error, said):
    with pytest.raises(error, match=said):
        palladion.draw(halves, np.ones((32, 128), np.float32), **{"target": "v5e"} | options)


def test_a_number_of_numpy_names_a_program():
    x = np.ones((32, 128), np.float32)
    pictures = [palladion.draw(halves, x, target="v5e", program=number) for number in (np.int64(3), 3)]
    assert pictures[0].svg() == pictures[1].svg()


def test_what_is_no_function_or_has_no_kernel(tmp_path):
    with pytest.raises(TypeError, match="f is a function, a kernel text or the path of one; found int"):
        palladion.draw(3)
    with pytest.raises(palladion.ExportError, match="it has to call pl.pallas_call"):
        palladion.draw(lambda x: x + 1, np.ones(8, np.float32))
    with pytest.raises(FileNotFoundError) as raised:
        palladion.draw(halves, np.ones((8, 128), np.float32)).save(str(tmp_path / "missing" / "a.svg"))
    assert raised.value.filename == str(tmp_path / "missing" / "a.svg")


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (("vmem", (8, 128)), {}, 'target="v5e"'),
        (("WGMMA", 64), {}, "a size for each dimension, .*found 64"),
        (("smem", (8, 64)), {"tile": 8}, "a size for each dimension, .*found .* and 8"),
    ],
)
def test_layouts_of_too_few_words(words, options, said):
    with pytest.raises((TypeError, palladion.PalladionError), match=said):
        palladion.draw_layout(*words, jnp.float16, **options)
