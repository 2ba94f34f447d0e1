"""A wgmma that returns has completed the earlier ones, by its documentation; JAX's lowering waits for none. What is
right by that alone has the note WGMMA_ORDER, which `plgpu.wgmma_wait` mends; under `--proxy strict` it is a race."""

import pytest

import fix_edits

_HEAD = """pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: f16[3,64,64] space gmem;
  in %y: f16[64,64] space gmem;
  out %o: f32[64,64] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=THREADS};
  body @k (%xr: ref<gmem,f16[3,64,64]> as "x_ref", %yr: ref<gmem,f16[64,64]> as "y_ref", %or: ref<gmem,f32[64,64]> as "o_ref") {
    run_scoped{collective_axes=[AXES]}() (%a: ref<smem,f16[2,8,1,8,64]> as "a", %b: ref<smem,f16[8,1,8,64]> as "b", \
%full: ref<smem,barrier{arrivals=1}[3]> as "full", %free: ref<smem,barrier{arrivals=1}[1]> as "free") {
"""
_TAIL = """      return;
    };
    return;
  }
}
"""
_LOAD_Y = "copy_gmem_to_smem(src=%yr, dst=%b.unswizzle(128).untile[8,64], barrier=%full.at[2]);"


def _load(of: int, slot: int) -> str:
    return (
        f"copy_gmem_to_smem(src=%xr.at[{of}, *, *], dst=%a.unswizzle(128).untile[8,64].at[{slot}, *, *], "
        f"barrier=%full.at[{slot}]);"
    )


def _product(slot: int, acc: str = "acc") -> str:
    return (
        f"wgmma_ref(acc=%{acc}, a=%a.unswizzle(128).untile[8,64].at[{slot}, *, *], b=%b.unswizzle(128).untile[8,64]);"
    )


def _await(barrier: str) -> str:
    return f"barrier_wait(barrier=%{barrier});"


def _scope(*accumulators: str, body) -> list[str]:
    refs = ", ".join(f'%{name}: ref<regs,f32[64,64]> as "{name}"' for name in accumulators)
    return [
        f"%r = run_scoped{{collective_axes=[]}}() ({refs}) {{",
        *("  " + line for line in body),
        "  return %v;",
        "} : f32[64,64];",
        "_ = swap(%or, %r) : f32[64,64];",
    ]


def _ring(*after_second: str) -> str:
    """One thread fills a slot again that the product before the last one reads."""
    product = [
        _await("full.at[0]"),
        _product(0),
        _await("full.at[1]"),
        _product(1),
        *after_second,
        _load(2, 0),
        _await("full.at[0]"),
        _product(0),
        "%v = wgmma_accumulator_deref{wait_n=0}(%acc) : f32[64,64];",
    ]
    return _text(
        "none, thread_name=none",
        "",
        [_LOAD_Y, _load(0, 0), _load(1, 1), _await("full.at[2]"), *_scope("acc", body=product)],
    )


def _handed(*around_arrival: str) -> str:
    """Another thread fills it, once it knows that the slot is free."""
    product = [
        _await("full.at[2]"),
        _await("full.at[0]"),
        _product(0),
        _await("full.at[1]"),
        _product(1),
        *around_arrival,
        _await("full.at[0]"),
        _product(0),
        "%v = wgmma_accumulator_deref{wait_n=0}(%acc) : f32[64,64];",
    ]
    loads = [_LOAD_Y, _load(0, 0), _load(1, 1), _await("free"), _load(2, 0)]
    lines = [
        '%t = axis_index{axis="wg"}() : i32[];',
        "cond(%t) {",
        *("  " + line for line in loads),
        "  return;",
        "} {",
        *("  " + line for line in _scope("acc", body=product)),
        "  return;",
        "};",
    ]
    return _text('2, thread_name="wg"', '"wg"', lines)


def _read(deref: str, *before: str) -> str:
    """An accumulator is read while a product into another one is in flight."""
    product = [
        _await("full.at[0]"),
        _product(0),
        _await("full.at[1]"),
        _product(1, "other"),
        *before,
        f"%v = wgmma_accumulator_deref{deref}(%acc) : f32[64,64];",
        "%w = wgmma_accumulator_deref{wait_n=0}(%other) : f32[64,64];",
    ]
    return _text(
        "none, thread_name=none",
        "",
        [_LOAD_Y, _load(0, 0), _load(1, 1), _await("full.at[2]"), *_scope("acc", "other", body=product)],
    )


def _text(threads: str, axes: str, lines) -> str:
    return (
        _HEAD.replace("THREADS", threads).replace("AXES", axes) + "".join(f"      {line}\n" for line in lines) + _TAIL
    )


def _check(text: str, folder, proxy: str = "pallas") -> dict:
    return fix_edits.check(
        text,
        ["--seeds", "16", "--target", "h100", "--proxy", proxy, "--in", "x=full(1)", "--in", "y=full(0.5)"],
        folder,
    )


_WAIT, _ARRIVE = "wgmma_wait(1:i32);", "barrier_arrive(barrier=%free);"
_PROMISED = {
    "ring": _ring(),
    "handed": _handed(_ARRIVE),
    "waits too late": _handed(_ARRIVE, _WAIT),
    "read": _read(""),
    "waits for too few": _ring("wgmma_wait(2:i32);"),
}
_AWAITED = {
    "ring": _ring(_WAIT),
    "handed": _handed(_WAIT, _ARRIVE),
    "read": _read("{wait_n=1}"),
    "read after a wait": _read("", _WAIT),
    "waits for all": _ring("wgmma_wait(0:i32);"),
}


@pytest.mark.parametrize("text", _PROMISED.values(), ids=_PROMISED)
def test_a_promise_is_noted(text, tmp_path):
    report = _check(text, tmp_path)
    assert {f["code"] for f in report["findings"]} == {"WGMMA_ORDER"} and report["verdict"] == "proved", report
    assert report["argument"].endswith(
        "it assumes that a wgmma that returns has completed the earlier ones (WGMMA_ORDER)"
    )
    lines = text.split("\n")
    for note in report["findings"]:
        assert note["severity"] == "note" and note["confidence"] == "policy-dependent"
        assert "wgmma_ref" in lines[note["first"]["text_line"] - 1]
        later = int(note["fix"].removeprefix("plgpu.wgmma_wait(1) after the later plgpu.wgmma at line ").split()[0])
        assert "wgmma_ref" in lines[later - 1] and later > note["first"]["text_line"]
    assert "WGMMA_ORDER" not in {
        f["code"] for f in _check(fix_edits.Text(text).apply(note["edits"]), tmp_path)["findings"]
    }


@pytest.mark.parametrize("text", _AWAITED.values(), ids=_AWAITED)
def test_a_wait_is_no_promise(text, tmp_path):
    for proxy in ("pallas", "strict", "lax"):
        report = _check(text, tmp_path, proxy)
        assert report["findings"] == [] and report["verdict"] == "proved", (proxy, report)


@pytest.mark.parametrize("text", _PROMISED.values(), ids=_PROMISED)
def test_the_policies(text, tmp_path):
    strict = _check(text, tmp_path, "strict")
    assert strict["verdict"] == "defect" and any(f["code"].startswith("RACE_") for f in strict["findings"])
    assert _check(text, tmp_path, "lax")["findings"] == []
