"""Every public name has a docstring and a type for each parameter and result; so have the methods of what public
functions return.
"""

import ast
import inspect
import pathlib
import typing

import pytest

import palladion

PACKAGE = pathlib.Path(palladion.__file__).parent


def own_members(kind):
    """(name, function) of the public methods and properties that are written in our classes, and of the constructor."""
    for base in kind.__mro__:
        if not base.__module__.startswith("palladion"):
            continue
        for name, member in vars(base).items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(function) and (not name.startswith("_") or name == "__init__"):
                yield f"{base.__name__}.{name}", function


def public_objects() -> dict:
    """__all__ and the classes that its functions return."""
    found, waiting = {}, [(name, getattr(palladion, name)) for name in palladion.__all__ if name != "__version__"]
    while waiting:
        name, value = waiting.pop()
        if name in found:
            continue
        found[name] = value
        functions = own_members(value) if inspect.isclass(value) else [(name, value)]
        for _, function in functions:
            kind = typing.get_type_hints(function).get("return") if not is_generated(function) else None
            for part in (kind, *typing.get_args(kind)):
                if inspect.isclass(part) and part.__module__.startswith("palladion"):
                    waiting.append((part.__name__, part))
    return found


def is_generated(function) -> bool:
    """By dataclasses, from annotated fields."""
    return function.__code__.co_filename == "<string>"


def gaps(name, function) -> list:
    if is_generated(function):
        return []
    signature, missing = inspect.signature(function), []
    for parameter in signature.parameters.values():
        if parameter.name != "self" and parameter.annotation is parameter.empty:
            missing.append(f"{name}: the parameter {parameter.name} has no type")
    if not name.endswith("__init__"):
        if signature.return_annotation is signature.empty:
            missing.append(f"{name}: the result has no type")
        if not inspect.getdoc(function):
            missing.append(f"{name}: no docstring")
    return missing


@pytest.mark.parametrize("name", sorted(public_objects()))
def test_has_types_and_a_docstring(name):
    value = public_objects()[name]
    assert value.__doc__, name
    if inspect.isclass(value):
        assert not (value.__doc__ or "").startswith(
            f"{value.__name__}("
        ), f"{name}: its docstring is the one dataclasses made"
        assert [gap for member, function in own_members(value) for gap in gaps(member, function)] == []
    else:
        assert gaps(name, value) == []


def test_what_functions_return_is_looked_at_too():
    assert {"Session", "SessionReport", "Report"} <= set(public_objects())


def test_type_checkers_see_the_names_that_are_imported_late():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert seen == {name: f"palladion.{module}" for name, module in palladion._NEEDS_JAX.items()}
    assert (PACKAGE / "py.typed").is_file()
