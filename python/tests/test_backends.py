"""The Python side of the protocol, the adapters of JAX's interpreters, and what is recorded for the scoreboard."""

import json
import pathlib
import sys

import jax
import ml_dtypes
import numpy as np
import pytest

from palladion import _library
from palladion.backends import (
    accelerator,
    jax_gpu_interpret,
    jax_interpret,
    jax_kernels,
    jax_tpu_interpret,
    palladion_itself,
    protocol,
    triton_interpret,
    triton_source,
)
from test_conformance_command import ROOT, case_files, report

sys.path.insert(0, str(ROOT / "tools"))
import gen_docs  # noqa: E402
import scoreboard  # noqa: E402

COPY = """pkir 1;
kernel @k {
  grid [];
  in %x: DTYPE[4];
  out %o: DTYPE[4];
  body @k (%xr: ref<default,DTYPE[4]>, %or: ref<default,DTYPE[4]>) {
    %a = get(%xr) : DTYPE[4];
    _ = swap(%or, %a) : DTYPE[4];
    return;
  }
}
"""

OF_THE_RECORDS = jax.__version_info__[:2] == (0, 10)  # the interpreters that docs/explanation/scoreboard.md speaks of


def asked(folder: pathlib.Path, name: str, dtype) -> str:
    """The request for a copy of four numbers."""
    (folder / "kernel.pkir").write_text(COPY.replace("DTYPE", name), encoding="utf-8")
    np.save(folder / "x.npy", protocol.stored(np.array([0, 1, 1, 0]).astype(dtype)))
    described = {"dtype": name, "shape": [4]}
    return json.dumps(
        {
            "case": "a/copy",
            "folder": str(folder),
            "kernel": "kernel.pkir",
            "target": "generic",
            "inputs": {"x": {"file": "x.npy", **described}},
            "outputs": {"o": described},
        }
    )


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("f32", np.float32),
        ("bool", np.bool_),
        ("bf16", ml_dtypes.bfloat16),
        ("f8e4m3fn", ml_dtypes.float8_e4m3fn),
        ("i4", ml_dtypes.int4),
        ("f4e2m1fn", ml_dtypes.float4_e2m1fn),
    ],
)
@pytest.mark.parametrize("backend", [palladion_itself, jax_interpret])
def test_every_kind_of_type_comes_back(tmp_path, backend, name, dtype):
    answer = json.loads(protocol.reply(asked(tmp_path, name, dtype), backend.run))
    assert answer["status"] == "ran", answer
    found = np.load(tmp_path / answer["outputs"]["o"])
    np.testing.assert_array_equal(found.view(dtype), np.array([0, 1, 1, 0]).astype(dtype))


def test_what_a_backend_throws_is_its_answer(tmp_path):
    def throws(error):
        def run(question):
            raise error

        return json.loads(protocol.reply(asked(tmp_path, "f32", np.float32), run))

    assert throws(protocol.NotSupported("no copies")) == {
        "case": "a/copy",
        "status": "not_supported",
        "message": "no copies",
    }
    traced = "callback failed: Traceback\n  File x\nKeyError: 'n'"
    assert throws(RuntimeError(traced))["message"] == "RuntimeError: callback failed: Traceback ... KeyError: 'n'"
    assert throws(ValueError("odd")) == {"case": "a/copy", "status": "error", "message": "ValueError: odd"}


def outcomes(backend, *words) -> dict:
    answer = report(*words, "--exec", f"{sys.executable} -m {backend.__name__}", "--jobs", 1)
    return {case["case"]: case for case in answer["cases"]}


@pytest.mark.parametrize(
    "error, says",
    [
        (NotImplementedError("x"), True),
        (ValueError("Advanced indexers are not supported on TPU"), True),
        (ValueError("`atomic_add` does not support int16."), True),
        (ValueError("odd"), False),
        (KeyError("n"), False),
    ],
)
def test_jax_says_in_many_ways_what_it_does_not_do(tmp_path, error, says):
    def throws(*_):
        raise error

    answer = json.loads(
        protocol.reply(asked(tmp_path, "f32", np.float32), lambda question: jax_kernels.outputs_of(question, throws))
    )
    assert answer["status"] == ("not_supported" if says else "error"), answer


def test_jax_interpret_agrees_on_arithmetic():
    cases = outcomes(jax_interpret, "elementwise/add_wraps", "elementwise/and", "elementwise/mul")
    assert cases["elementwise/add_wraps"]["outcome"] == cases["elementwise/and"]["outcome"] == "passed", cases
    assert cases["elementwise/mul"]["messages"] == [
        "o: element [1]: expected 1e-40, found 0.0"
    ]  # XLA on CPU flushes subnormals


def test_the_tpu_interpreter_finds_a_race_and_none_where_there_is_none():
    racy, clean = "checks/050_gmem_block_ww_racy", "tpu/dma_start"
    cases = outcomes(jax_tpu_interpret, clean, "elementwise/add_wraps", racy)
    assert cases[clean]["outcome"] == cases["elementwise/add_wraps"]["outcome"] == "passed", cases
    assert cases[clean]["codes"] == {"found": [], "missed": [], "wrong": []}
    assert cases[racy]["outcome"] == "unsupported"  # a kernel for GPUs


if OF_THE_RECORDS:

    def test_the_gpu_interpreter_finds_a_race_and_none_where_there_is_none():
        cases = outcomes(
            jax_gpu_interpret,
            "gpu_corpus/001_smem_ww_two_threads_clean",
            "gpu_corpus/001_smem_ww_two_threads_racy",
            "tpu/dma_start",
        )
        assert cases["gpu_corpus/001_smem_ww_two_threads_clean"]["outcome"] == "passed", cases
        assert cases["gpu_corpus/001_smem_ww_two_threads_racy"]["codes"]["found"] == ["RACE_WW"], cases
        assert cases["tpu/dma_start"]["outcome"] == "unsupported"


def test_without_an_accelerator_nothing_is_supported():
    cases = outcomes(accelerator, "elementwise/add")
    assert cases["elementwise/add"]["outcome"] == "unsupported"
    assert "JAX has no GPU and no TPU here" in cases["elementwise/add"]["messages"][0]


def test_a_record_counts_each_case_once_on_each_page():
    answer = {
        "passed": 1,
        "failed": 1,
        "unsupported": 0,
        "cases": [
            {
                "case": "a/b",
                "specs": ["grid.md#order", "grid.md#blocks", "ref.md#get"],
                "outcome": "passed",
                "messages": [],
                "codes": {"found": ["OOB"], "missed": [], "wrong": []},
            },
            {
                "case": "a/c",
                "specs": ["ref.md#get"],
                "outcome": "failed",
                "messages": ["o: element [0]"],
                "codes": {"found": [], "missed": ["OOB"], "wrong": ["ALIAS"]},
            },
        ],
    }
    record = scoreboard.record_of(answer, "this tree")
    assert record["families"] == {
        "grid.md": {"passed": 1, "failed": 0, "unsupported": 0},
        "ref.md": {"passed": 1, "failed": 1, "unsupported": 0},
    }
    assert record["codes"] == {
        "ALIAS": {"found": 0, "missed": 0, "wrong": 1},
        "OOB": {"found": 1, "missed": 1, "wrong": 0},
    }
    assert record["failed"] == {"a/c": "o: element [0]"}
    assert "| [ref](spec/ref.md) | 1 / 1 / 0 |" in scoreboard.families_table({"x": record})
    assert "| OOB | 1 / 1 / 0 |" in scoreboard.codes_table({"x": record})
    assert "outputs that differ: 1." in scoreboard.failures_list({"x": record})


def test_the_page_is_that_of_the_records():
    page = (ROOT / "docs/explanation/scoreboard.md").read_text(encoding="utf-8")
    records = scoreboard.read_records()
    for part in (
        scoreboard.families_table(records),
        scoreboard.failures_list(records),
        scoreboard.codes_table(records),
    ):
        assert gen_docs.linked(part, "docs/explanation/scoreboard.md") in page, "run python3 tools/gen_docs.py --write"


def test_confirmed_failures_are_failures_of_the_records():
    records, confirmed = scoreboard.read_records(), scoreboard.read_confirmed()
    named = [(one["backend"], case) for one in confirmed for case in one["cases"]]
    assert [(backend, case) for backend, case in named if case not in records[backend]["failed"]] == []
    assert len(named) == len(set(named)) >= 20 and all(one["argument"] and one["source"] for one in confirmed)


def test_every_backend_is_on_the_scoreboard():
    folder = ROOT / "python/palladion/backends"
    programs = {path.stem for path in folder.glob("*.py") if "sys.exit(serve(run))" in path.read_text(encoding="utf-8")}
    assert programs == {*scoreboard.BACKENDS, scoreboard.TEMPLATE[0]}


def test_palladion_itself_is_recorded_without_a_failure():
    totals = scoreboard.read_records()["palladion_itself"]["totals"]
    assert totals["failed"] == 0 and totals["unsupported"] < 30  # texts that cannot be prepared
    assert totals["passed"] <= len(case_files.all_texts())


def test_a_kernel_in_tritons_language():
    text = (
        COPY.replace("DTYPE", "f32")
        .replace("[4]", "[3]")
        .replace("%a = get(%xr) : f32[3];", "%v = get(%xr) : f32[3];\n    %a = max(%v, 1.5:f32) : f32[3];")
    )
    assert triton_source.triton_source(text).splitlines() == [
        "def kernel(p0, p1):",
        "    p0 = p0.to(tl.pointer_type(tl.float32), bitcast=True)",
        "    p1 = p1.to(tl.pointer_type(tl.float32), bitcast=True)",
        "    v0 = tl.load(p0 + tl.arange(0, 4), mask=tl.arange(0, 4) < 3, other=0)",
        "    v1 = tl.maximum(v0, tl.full((1,), float('1.5'), tl.float32), propagate_nan=tl.PropagateNan.ALL)",
        "    tl.store(p1 + tl.arange(0, 4), v1, mask=tl.arange(0, 4) < 3)",
    ]


@pytest.mark.parametrize(
    "name, why",
    [
        ("grid/dynamic_bound_rank1", "one program"),
        ("elementwise/tan", "tan is not written"),
        ("elementwise/select_n_integer", "more than two"),
        ("ref/get_slice_stride_zero", "view"),
        ("control/cond_index", "not written"),
    ],
)
def test_what_is_not_written_in_tritons_language(name, why):
    text = case_files.text_of(name).partition("--- kernel\n")[2].partition("\n---")[0]
    with pytest.raises(protocol.NotSupported, match=why):
        triton_source.triton_source(text)


def test_every_operation_in_tritons_language_is_one_of_ours():
    known = {operation["name"] for operation in _library.operations()}
    assert set(triton_source._OPERATIONS) | {"get", "swap", "div", "convert_element_type"} <= known


def test_without_triton_nothing_is_supported(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(protocol.NotSupported, match="Triton is not installed here"):
        triton_interpret.run(
            protocol.Question(
                "a/copy",
                COPY.replace("DTYPE", "f32"),
                "generic",
                {"x": np.zeros(4, np.float32)},
                {"o": protocol.Operand(np.dtype(np.float32), (4,))},
            )
        )


def test_a_record_of_nothing_does_not_replace_one(monkeypatch, capsys):
    nothing = {"passed": 0, "failed": 0, "unsupported": 9, "cases": []}
    monkeypatch.setattr(scoreboard, "ask", lambda *_: nothing)
    monkeypatch.setattr(sys, "argv", ["scoreboard.py", "palladion_itself"])
    before = (ROOT / "conformance/scoreboard/palladion_itself.json").read_bytes()
    assert scoreboard.main() == 0
    assert "its record stays as it is" in capsys.readouterr().out
    assert (ROOT / "conformance/scoreboard/palladion_itself.json").read_bytes() == before
