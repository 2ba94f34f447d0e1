"""The user's own words for a call of ours, so that a line to paste names what is there where it was called."""

import ast
import itertools
import linecache
import math
import sys
import types

from palladion.base.package import PACKAGE

_LONGEST = 120  # a longer call is better repeated by hand


def outermost() -> types.FrameType | None:
    """The frame that called into this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def call_words(function: object, arguments: tuple) -> tuple[str, list[str]] | None:
    """`palladion.check` and its positional arguments as the caller wrote them, or by the names of its variables.

    None where neither is known: the source is not there, or the call is made by a function of another name.
    """
    frame = outermost()
    if frame is None:
        return None
    words = _as_written(frame, function) or _by_names(frame, function, arguments)
    return words if words and len(words[0]) + sum(map(len, words[1])) <= _LONGEST else None


def _as_written(frame, function) -> tuple[str, list[str]] | None:
    call = _call_of(frame)
    if call is None or not call.args or _value_of(call.func, frame) is not function:
        return None
    return ast.unparse(call.func), [ast.unparse(argument) for argument in call.args]


def _call_of(frame) -> ast.Call | None:
    """The call that the frame is in."""
    positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,))
    if None in positions:
        return None
    first, last, begin, end = positions
    lines = [linecache.getline(frame.f_code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    try:
        call = ast.parse(f"({b''.join(lines).decode()})", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return call if isinstance(call, ast.Call) else None


def _value_of(node: ast.expr, frame):
    """Of a name, or of a name in modules."""
    if isinstance(node, ast.Name):
        return _variables(frame).get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(module := _value_of(node.value, frame), types.ModuleType):
        return vars(module).get(node.attr)
    return None


def _variables(frame) -> dict:
    return {**frame.f_globals, **frame.f_locals}


def _by_names(frame, function, arguments) -> tuple[str, list[str]] | None:
    variables = _variables(frame)
    name, *names = (_name_of(one, variables) for one in (function, *arguments))
    return None if name is None or None in names else (name, names)


def _name_of(value, variables) -> str | None:
    if value is None or type(value) in (bool, int, str) or type(value) is float and math.isfinite(value):
        return repr(value)
    own = (name for name, known in variables.items() if known is value and name != "_")
    modules = ((name, vars(module)) for name, module in variables.items() if isinstance(module, types.ModuleType))
    in_modules = (f"{module}.{name}" for module, known in modules for name, one in known.items() if one is value)
    return next(itertools.chain(own, in_modules), None)
