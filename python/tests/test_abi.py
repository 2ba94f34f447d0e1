"""What ctypes declares is what emu/c_api.h says: codes, forms, the fields of structures, the arguments of functions.
And what crosses: errors have codes, and a report is rendered from the library's own, which no JSON goes back for."""

import copy
import ctypes
import pathlib
import pickle
import re

import jax.numpy as jnp
import pytest

import palladion
from palladion import _abi, _library
from palladion.api import drawing, reducing, schedules, time_requests
from palladion.report.reports import KernelReport
from small_kernels import last

HEADER = (pathlib.Path(__file__).parents[2] / "emu/c_api.h").read_text()
PLAIN = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)

STRUCTURES = {
    "array": _abi._Array,
    "error": _abi._Error,
    "rendered_call": _abi._RenderedCall,
    "source_line": _abi._SourceLine,
    "render_request": _abi._RenderRequest,
    "sarif_test": _abi._SarifTest,
    "compare_request": _abi._CompareRequest,
    "call_request": _abi._CallRequest,
    "timeline": time_requests.Timeline,
    "time_request": time_requests.Request,
    "reduce_request": reducing._Request,
    "draw_request": drawing.Request,
    "layout_request": drawing._LayoutRequest,
    "schedule_request": schedules._Request,
}


def enumerators(name: str) -> dict:
    body = re.search(rf"typedef enum {name} {{(.*?)}}", PLAIN, re.DOTALL)[1]
    return {one: int(value) for one, value in re.findall(r"(\w+) = (\d+)", body)}


def texts_of(options: dict) -> list:
    listed = list(_abi.options_list(options))
    assert listed.pop() is None
    return listed


def test_options_are_texts_without_what_is_the_default_anyway():
    assert texts_of({"budget": None, "legality": "on", "seeds": 64, "races": True}) == []
    given = {"budget": 9, "legality": "off", "seeds": 8, "races": False, "fill": "zero", "seconds": 0.5}
    assert texts_of(given) == [b"budget=9", b"legality=off", b"seeds=8", b"races=0", b"fill=zero", b"seconds=0.5"]


def test_a_list_of_options_is_made_once_and_only_for_equal_options():
    assert _abi.options_list({"seeds": 8}) is _abi.options_list({"seeds": 8})
    for other in ({"seeds": 8.0}, {"seeds": 9}, {"budget": 8}, {"seeds": 8, "budget": 1}):
        assert texts_of(other) != texts_of({"seeds": 8})
    assert texts_of({"strict": True}) == [b"strict=1"] and texts_of({"strict": 1.0}) == [b"strict=1.0"]
    assert texts_of({"seeds": [8]}) == [b"seeds=[8]"]  # for the library to refuse


def test_codes_and_forms_are_those_of_the_header():
    codes = enumerators("palladion_code")
    assert codes == {
        f"PALLADION_{name}": getattr(_abi, name)
        for name in ("CLEAN", "DEFECT", "OUTPUTS_DIFFER", "UNSUPPORTED", "MALFORMED", "INTERNAL", "BUDGET")
    }
    assert enumerators("palladion_form") == {
        f"PALLADION_FORM_{name.upper()}": value for name, value in _abi.FORMS.items()
    }


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_have_the_fields_of_the_header(name):
    body = re.search(rf"typedef struct palladion_{name} {{(.*?)}}", PLAIN, re.DOTALL)[1]
    fields = [
        re.search(r"(\w+)$", part.strip())[1] for one in body.split(";") if one.strip() for part in one.split(",")
    ]
    assert [field for field, _ in STRUCTURES[name]._fields_] == fields
    of_type = {"int": ctypes.c_int, "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t, "double": ctypes.c_double}
    for type_name, names in re.findall(r"(int|int64_t|size_t|double) ([\w, ]+);", body):
        for field in names.split(", "):
            assert dict(STRUCTURES[name]._fields_)[field] is of_type[type_name], field


def test_functions_have_the_arguments_of_the_header():
    declared = {name: arguments for name, arguments in re.findall(r"(palladion_\w+)\(([^)]*)\);", PLAIN)}
    for name, (result, arguments) in _abi._signatures().items():
        given = [] if declared[name].strip() == "void" else declared[name].split(",")
        assert len(given) == len(arguments), name
        assert [("palladion_error" in one) for one in given] == [
            a == ctypes.POINTER(_abi._Error) for a in arguments
        ], name
        assert (result is None) == bool(re.search(rf"void {name}\(", PLAIN)), name


@pytest.mark.parametrize(
    "text, code",
    [
        ("pkir 1;\nnonsense", _library.MALFORMED),
        (
            "pkir 1;\nkernel @k { backend mosaic_tpu; grid []; body @k () { sc.barrier(); return; } }",
            _library.UNSUPPORTED,
        ),
    ],
)
def test_an_error_has_a_code_and_a_message_without_it(text, code):
    with pytest.raises(palladion.PalladionError) as caught:
        _library.Program(text)
    assert caught.value.code == code and not caught.value.interrupted
    assert not re.match("[A-Z_]{4,}: ", str(caught.value)), caught.value


def test_a_spent_limit_has_the_code_of_a_budget():
    body = "run_scoped() (%s: ref<vmem,f32[68719476736]>) { return; }; return;"
    text = f"pkir 1;\nkernel @m {{ grid [1]; body @b () {{ {body} }} }}"
    with pytest.raises(palladion.PalladionError) as caught:
        _library.Program(text).run((), ())
    assert caught.value.code == _library.BUDGET and caught.value.report is None


def test_a_mistake_of_ours_says_so():
    error = _abi._Error()
    error.code = _library.INTERNAL
    with pytest.raises(palladion.PalladionError, match="failed without a message") as caught:
        _library._expect(error, None)
    assert caught.value.code == _library.INTERNAL


@pytest.fixture
def no_json_goes_back(monkeypatch):
    def read(report):
        raise AssertionError("a report went to the library as JSON")

    monkeypatch.setattr(_library, "read_report", read)


def test_reports_are_rendered_from_their_handles(no_json_goes_back):
    x = jnp.arange(4, dtype=jnp.float32)
    found = palladion.check(last, x, target="triton/h100")
    with palladion.emulate("triton/h100", seeds=4, on_defect="collect") as session:
        last(x)
    for value in (found, found.kernels[0], session.report, session.report.calls[0], found.findings[0]):
        assert "error[RACE_WW]" in str(value) and "RACE_WW" in value._repr_html_()
    assert "looked at: " in found.details


def test_a_report_of_another_process_is_read_there():
    found = palladion.check(last, jnp.arange(4, dtype=jnp.float32), target="triton/h100").kernels[0]
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert other._handle is None
        assert str(other) == str(found) and str(other.findings[0]) == str(found.findings[0])
    with pytest.raises(palladion.PalladionError, match="not a report: 'no-such' is no code of a report") as caught:
        str(
            KernelReport(
                {
                    "kernel": "k",
                    "target": "",
                    "findings": [
                        {
                            "code": "no-such",
                            "severity": "defect",
                            "confidence": "proved",
                            "first": None,
                            "second": None,
                            "frames": [],
                        }
                    ],
                }
            )
        )
    assert caught.value.code == _library.MALFORMED
