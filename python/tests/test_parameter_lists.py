"""What tools/limits.py takes for a parameter list: functions, constructors, lambdas and pointers, and never a call."""

import importlib.util
import os

import pytest

_PATH = os.path.join(os.path.dirname(__file__), "../../tools/parameter_lists.py")
_SPEC = importlib.util.spec_from_file_location("parameter_lists", _PATH)
parameter_lists = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(parameter_lists)


def found(text: str) -> list[tuple[str, int, int]]:
    return list(parameter_lists.longer_than(5, text))


@pytest.mark.parametrize(
    "text, name, count",
    [
        (
            'void F(int a, const T& b, std::string c = "x, y", T* d,\n       std::map<int, int> e, bool f = false) {\n',
            "F",
            6,
        ),
        ("class A {\n  explicit A(int a, int b, int c, int d, int e, int f);\n};", "A", 6),
        ("auto f = [](int a, int b, int c, int d, int e, std::vector<int> f) { return 0; };", "a lambda", 6),
        ("void (*convert)(DType, const void* from, std::size_t, std::size_t rows, T*, std::size_t);", "(*convert)", 6),
        ("int Sum(int, int, int, int, int, double);", "Sum", 6),
        ("void F(const double* HWY_RESTRICT a, int b, int c, int d, int e, double* HWY_RESTRICT f);", "F", 6),
    ],
)
def test_declarations_are_counted(text: str, name: str, count: int):
    assert [(n, c) for n, _, c in found(text)] == [(name, count)]


@pytest.mark.parametrize(
    "text",
    [
        "void F(int a, int b, int c, int d, std::pair<int, int> e);",
        "  F(a, b, c, d, e, f);",
        "  return F(a, b + 1, {c, d}, e, f, g, h);",
        "  const int x = F(a, b, c, d, e.f, g[0]);",
        '  Cat("int a, ", b, " int c, int d, int e, int f", g, h, i);',
        "// F(int a, int b, int c, int d, int e, int f)",
    ],
)
def test_calls_and_short_lists_are_not(text: str):
    assert found(text) == []


def test_a_list_has_its_line():
    assert found("\n\nvoid F(int a, int b, int c,\n       int d, int e, int f);")[0][1] == 3
