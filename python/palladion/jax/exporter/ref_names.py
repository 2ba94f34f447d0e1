"""The user's names of a kernel's refs where JAX calls the user's function through functions of its own.

plgpu.kernel calls it as `functools.partial(body, *refs)` inside a run_scoped, pl.kernel with refs that it has
flattened, core_map with refs that it closes over: what JAX remembers there is `refs[0]`. The names are those of the
function's parameters. Its code object is in the traceback of what it traced. Not found this way: the keys of a
pytree of inputs, whose leaves are numbered; closed-over refs where the function uses other variables from outside too.
"""

import dis
import functools
import gc
import inspect
import re
import types
from typing import NamedTuple

from palladion.jax import jax_versions
from palladion.jax.exporter.types import is_ref


def body_labels(jaxpr, num_inputs, num_outputs, aliases) -> list:
    """A name for each parameter of a kernel's body: inputs, outputs, scratch.

    `aliases` (output -> input): refs of the caller that the kernel writes, which the user's function has once.
    """
    names = list(jax_versions.argument_names(jaxpr))
    avals = [v.aval for v in jax_versions.open_jaxpr(jaxpr).invars]
    count, captured = len(avals), sum(not is_ref(aval) for aval in avals)  # scalars, which stand after the inputs
    names = names if len(names) == count else [""] * count
    if not _is_wrapped(names):
        return names
    own, inputs = num_outputs - len(aliases), num_inputs - captured
    given = _Given(inputs, own, count - num_inputs - num_outputs)
    scope = None if given.scratch else _scope_of(jaxpr)
    found = _before_scratch(scope, given) if scope else _parameters(jaxpr, given)
    if found is None and own == given.scratch == 0:
        found = _closed_over(jaxpr, inputs)
    if found is None:
        return names
    at = inputs + own
    found = found[:at] + [found[aliases[n]] for n in sorted(aliases)] + found[at:]
    return found[:inputs] + [""] * captured + found[inputs:]


class _Given(NamedTuple):
    """How many refs the user's function was given of each kind, flat."""

    inputs: int
    outputs: int
    scratch: int

    @property
    def count(self):
        return sum(self)


def parameter_names(jaxpr) -> list:
    """The names of the parameters of the user's function, of which JAX has forgotten them (run_state does)."""
    code = _code_of(jaxpr)
    return _signature(code)[0] if code else []


_SLOTS = re.compile(r"(?:flat_)?(in|out)_smem_refs\[(\d+)\]$")


def has_pipeline(jaxpr) -> bool:
    """The kernel has a pipeline of its own, by the names of JAX's slots."""
    return any(
        _SLOTS.match(name) for inner in jax_versions.all_jaxprs(jaxpr) for name in jax_versions.argument_names(inner)
    )


def pipeline_names(jaxpr, labels) -> dict:
    """JAX's name -> the user's, of the slots that a pipeline of JAX's keeps for each ref of the user's body."""
    slots = {label: match for label in labels if (match := _SLOTS.match(label))}
    if not slots:
        return {}
    number = {kind: 1 + max((int(m[2]) for m in slots.values() if m[1] == kind), default=-1) for kind in ("in", "out")}
    names = next((_signature(code)[0][1:] for code in _called_by_helpers(jaxpr)), [])  # the first are the indices
    if len(names) not in (sum(number.values()), sum(number.values()) + 1):  # one more: what it carries
        return {}
    return {label: names[int(m[2]) + (number["in"] if m[1] == "out" else 0)] for label, m in slots.items()}


def _called_by_helpers(jaxpr):
    """Code of the user's functions that use refs, where JAX's own kernel helpers call them."""
    for inner in jax_versions.all_jaxprs(jaxpr):
        for eqn in inner.eqns:
            if eqn.source_info.traceback is None or not any(is_ref(v.aval) for v in eqn.invars):
                continue
            codes = [
                code
                for code in reversed(eqn.source_info.traceback.raw_frames()[0])
                if jax_versions.is_helper_file(code.co_filename) or jax_versions.is_user_file(code.co_filename)
            ]
            for caller, called in zip(codes, codes[1:]):
                if jax_versions.is_helper_file(caller.co_filename) and jax_versions.is_user_file(called.co_filename):
                    yield called


def _is_wrapped(names) -> bool:
    """Has JAX only the number of each: `refs[0]`, or nothing?"""
    return any(not name or name.startswith(("refs[", "args[")) for name in names)


def _scope_of(jaxpr):
    """The jaxpr of the user's function, where the body is one run_scoped around a call of it; else None."""
    equations = jax_versions.open_jaxpr(jaxpr).eqns
    if [eqn.primitive.name for eqn in equations] != ["run_scoped"]:
        return None
    return equations[0].params["jaxpr"]


def _codes(jaxpr):
    """The user's code objects that each equation was traced in, the outermost first."""
    inner = jax_versions.open_jaxpr(jaxpr)
    for eqn in inner.eqns:
        if eqn.source_info.traceback is not None:
            codes = eqn.source_info.traceback.raw_frames()[0]
            yield [code for code in reversed(codes) if jax_versions.is_user_file(code.co_filename)]


def _code_of(jaxpr):
    """The code of the user's function that the jaxpr was traced from, or None."""
    place = jax_versions.traced_function(jaxpr)
    for codes in _codes(jaxpr):
        for code in codes:
            if place and (place[0], place[2]) == (code.co_filename, code.co_firstlineno):
                return code
    if not jax_versions.TRACEBACKS_END_AT_THE_TRACED_FUNCTION or (
        place is not None and jax_versions.is_user_file(place[0])
    ):
        return None
    # An object with __call__, or a function of JAX's own around the user's.
    return next((codes[0] for codes in _codes(jaxpr) if codes), None)


def _signature(code):
    """(names of the positional parameters, of those by keyword alone, of the starred one or "")."""
    names, ends = code.co_varnames, code.co_argcount + code.co_kwonlyargcount
    positional = list(names[: code.co_argcount])
    if positional[:1] in (["self"], ["cls"]):
        del positional[0]
    return positional, list(names[code.co_argcount : ends]), names[ends] if code.co_flags & inspect.CO_VARARGS else ""


def _parameters(jaxpr, given):
    """The names of what the user's function was given, or None where that is not known."""
    code = _code_of(jaxpr)
    if code is None:
        return None
    positional, keywords, starred = _signature(code)
    if keywords and len(positional) + len(keywords) == given.count:
        return positional + sorted(keywords)  # a dict of scratch is flattened by its sorted keys
    return _fitted(_unbound(code, positional, given.count), starred, given)


def _before_scratch(jaxpr, given):
    """The same of a function that JAX gave the refs first and then the scratch of `jaxpr`, whose names it knows."""
    code = _code_of(jaxpr)
    if code is None:
        return None
    positional, _, starred = _signature(code)
    scratch = {name.split("[")[0].split(".")[0] for name in jax_versions.argument_names(jaxpr)}
    first = next((n for n, name in enumerate(positional) if name in scratch), None)
    if first is None:
        return _fitted(_unbound(code, positional, given.count), starred, given)
    return _fitted(positional[:first][-given.count :], starred, given)


def _fitted(names, starred, given):
    """As many names as refs were given, where parameters are trees of them or starred;
    None where it is not known how.
    """
    if names is None or len(names) == given.count:
        return names
    if starred:
        return names + [f"{starred}[{n}]" for n in range(given.count - len(names))]
    if len(names) == given.count - given.inputs + 1 and given.inputs > 1:  # one tree of inputs
        return [f"{names[0]}[{n}]" for n in range(given.inputs)] + names[1:]
    return None


def _unbound(code, positional, count):
    """`positional` without what a partial or a default gives, or None where those are not known."""
    if len(positional) <= count:
        return positional
    functions = [f for f in gc.get_referrers(code) if isinstance(f, types.FunctionType) and f.__code__ is code]
    partials = [p for f in functions for p in gc.get_referrers(f) if isinstance(p, functools.partial) and p.func is f]
    # JAX's own partial has the refs.
    own = {
        (len(p.args), tuple(sorted(p.keywords)))
        for p in partials
        if not any(hasattr(a, "aval") or hasattr(a, "ref") for a in p.args)
    }
    bound = {tuple(n for n in positional[number:] if n not in keywords) for number, keywords in own}
    names = list(bound.pop()) if len(bound) == 1 else positional if not bound else None
    if names is not None and len(names) > count:
        defaults = {len(f.__defaults__ or ()) for f in functions}
        names = names[:count] if len(defaults) == 1 and len(names) - defaults.pop() <= count else None
    return names


def _closed_over(jaxpr, count):
    """The variables from outside that the function reads, in the order of its code; None where they are not as many."""
    code = _code_of(jaxpr)
    if code is None or code.co_argcount:
        return None
    names = list(dict.fromkeys(_outer_names(code, code.co_freevars)))
    if len(names) > count:  # constants are among them: refs often say that they are
        names = [name for name in names if name.endswith("ref")]
    return names if len(names) == count else None


def _outer_names(code, free):
    for instruction in dis.get_instructions(code):
        if isinstance(instruction.argval, types.CodeType):
            yield from _outer_names(instruction.argval, free)
        elif instruction.opname == "LOAD_DEREF" and instruction.argval in free:
            yield instruction.argval
