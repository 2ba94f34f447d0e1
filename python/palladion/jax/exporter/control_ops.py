"""Control flow, scoped allocation, calls, and what a kernel says to its author (print, check).

Calls are inlined. Jaxprs are closed, so loop constants arrive as parameters;
they are written as the outer values they are.
"""

import dataclasses
import string

import jax

from palladion.base.errors import ExportError
from palladion.jax import jax_versions
from palladion.jax.exporter.parameters import knows, unflatten
from palladion.jax.exporter.ref_names import parameter_names, pipeline_names
from palladion.jax.exporter.types import is_ref, type_text
from palladion.jax.exporter.views import stored_view_text


@knows("branches", "linear", "branches_platforms")
def _cond(writer, eqn, env):
    index, *operands = eqn.invars
    texts = [writer.read(env, v) for v in operands]
    with writer.inside(eqn):
        branches = [writer.region(lambda w, b=branch: w.inline(b, texts)) for branch in eqn.params["branches"]]
    writer.emit_equation(eqn, env, "cond", args=[writer.read(env, index)], functions=branches)


@knows("cond_nconsts", "cond_jaxpr", "body_nconsts", "body_jaxpr")
def _while(writer, eqn, env):
    params = eqn.params
    texts = [writer.read(env, v) for v in eqn.invars]
    cond_n, body_n = params["cond_nconsts"], params["body_nconsts"]
    cond_consts, body_consts, init = texts[:cond_n], texts[cond_n : cond_n + body_n], texts[cond_n + body_n :]
    with writer.inside(eqn):
        functions = [
            writer.function(params["cond_jaxpr"], cond_consts),
            writer.function(params["body_jaxpr"], body_consts),
        ]
    writer.emit_equation(eqn, env, "while", args=[f"init={t}" for t in init], functions=functions)


@knows(
    "jaxpr", "length", "reverse", "unroll", "num_consts", "num_carry", "linear", "_split_transpose", "ft_in", "ft_out"
)
def _scan(writer, eqn, env):
    params = eqn.params
    texts = [writer.read(env, v) for v in eqn.invars]
    num_consts, num_carry = jax_versions.scan_groups(params)
    consts, init, xs = texts[:num_consts], texts[num_consts : num_consts + num_carry], texts[num_consts + num_carry :]
    attrs = {"length": params["length"], "reverse": bool(params["reverse"])}
    if int(params["unroll"]) > 1:  # a compiler refuses some loops that it does not unroll
        attrs["unroll"] = int(params["unroll"])
    args = [f"init={t}" for t in init] + [f"xs={t}" for t in xs]
    with writer.inside(eqn):
        function = writer.function(params["jaxpr"], consts)
    writer.emit_equation(eqn, env, "scan", attrs=attrs, args=args, functions=[function])


@knows("jaxpr", "collective_axes", "ref_transforms", "alloc_only_in_parallel")
def _run_scoped(writer, eqn, env):
    params = eqn.params
    inner = jax_versions.open_jaxpr(params["jaxpr"])
    outer = dict(zip(inner.constvars, (writer.read(env, v) for v in eqn.invars)))
    labels = labels_of(inner, len(inner.invars))
    users_names = {**pipeline_names(inner, labels), **writer.users_names}
    labels = [users_names.get(label, label) for label in labels]
    with writer.inside(eqn):
        function = closed_function(writer, inner, outer, labels)
    axes = params.get("collective_axes") or ()
    axes = [axes] if isinstance(axes, str) else [str(a) for a in axes if a is not None]
    writer.emit_equation(eqn, env, "run_scoped", attrs={"collective_axes": axes}, args=[], functions=[function])


def labels_of(jaxpr, count):
    """The user's names of the last `count` parameters, "" where they are not known.
    Constants stand before the named ones.
    """
    names = (jax_versions.argument_names(jaxpr) or parameter_names(jaxpr))[-count:] if count else ()
    return [""] * (count - len(names)) + list(names)


def closed_function(writer, inner, outer, labels):
    """A function of all parameters of `inner`; its constants are the outer values `outer` (variable -> text)."""
    from palladion.jax.exporter.writer import own_name, parameter_text, parameters_text, ref_name

    names = [writer.fresh(ref_name(label) or own_name(v.aval)) for v, label in zip(inner.invars, labels)]
    params = parameters_text([parameter_text(n, v.aval, label) for n, v, label in zip(names, inner.invars, labels)])

    def build(body):
        env = {**outer, **dict(zip(inner.invars, names))}
        body.equations(inner, env)
        return [body.read(env, v) for v in inner.outvars]

    return writer.region(build, params)


@knows("jaxpr", "which_linear", "is_initialized")
def _run_state(writer, eqn, env):
    params = eqn.params
    inner = jax_versions.open_jaxpr(params["jaxpr"])
    operands = iter(eqn.invars)
    args, leading, own = [], [], []
    initialized = params.get("is_initialized") or (True,) * len(inner.invars)
    for variable, known in zip(inner.invars, initialized):
        operand = next(operands) if known else None
        if operand is not None and is_ref(operand.aval):
            leading.append((variable, writer.read(env, operand)))  # an outer ref is used as it is
        else:
            own.append(variable)
            args.append(writer.read(env, operand))
    labels = labels_of(inner, len(inner.invars))
    own_labels = [labels[inner.invars.index(v)] for v in own]
    outer = {variable for variable, _ in leading}
    kept = [result for result, variable in zip(eqn.outvars, inner.invars) if variable not in outer]
    eqn = eqn.replace(outvars=kept)
    if inner.outvars:
        _returning_state(writer, eqn, env, _State(inner, dict(leading), own, own_labels, args))
        return
    with writer.inside(eqn):
        function = _run_state_function(writer, _State(inner, dict(leading), own, own_labels, args))
    writer.emit_equation(eqn, env, "run_state", args=args, functions=[function])


@dataclasses.dataclass(frozen=True)
class _State:
    """A run_state: its jaxpr, the outer refs it uses (variable -> text), the refs it makes,
    their labels and first values.
    """

    inner: object
    outer: dict
    own: list
    labels: list
    firsts: list

    def region(self, writer, build):
        """`build(writer, names of own refs, environment)` writes the body and returns the results' texts."""
        from palladion.jax.exporter.writer import own_name, parameter_text, parameters_text, ref_name

        names = [writer.fresh(ref_name(label) or own_name(v.aval)) for v, label in zip(self.own, self.labels)]
        texts = [parameter_text(n, v.aval, label) for n, v, label in zip(names, self.own, self.labels)]
        environment = {**self.outer, **dict(zip(self.own, names))}
        return writer.region(lambda body: build(body, names, environment), parameters_text(texts))


def _run_state_function(writer, state):
    def build(body, _, environment):
        body.equations(state.inner, environment)
        return []

    return state.region(writer, build)


def _returning_state(writer, eqn, env, state):
    """A body that returns values: JAX's lowering for GPUs gives them as the results, in place of what the refs hold.

    That is a run_scoped whose accumulators are stored to first; it ends with the wait that a run_state ends with. JAX
    hands the values out in front of what the refs hold,
    so with another number of them each result would be something else's.
    """
    returned = state.inner.outvars
    if any(type(v.aval).__name__ != "WGMMAAbstractAccumulatorRef" for v in state.own) or len(returned) != len(
        state.own
    ):
        raise ExportError(
            f"its body returns {len(returned)} values over {len(state.own)} refs and closed-over arrays; expected "
            "none, or as many values as there are accumulators and no arrays closed over (JAX's lowering gives the "
            "values as the first results). Return nothing and store to the ref, or use pl.run_scoped, which returns "
            "what its body returns"
        )
    for value, result in zip(returned, eqn.outvars):
        if (value.aval.shape, value.aval.dtype) != (result.aval.shape, result.aval.dtype):
            raise ExportError(
                f"its body returns {value.aval.str_short()} in place of an accumulator of "
                f"{result.aval.str_short()}; expected the same type"
            )

    def build(body, names, environment):
        for name, first in zip(names, state.firsts):
            body.emit("wgmma_accumulator_store", args=[name, first], loc=writer.location(eqn))
        body.equations(state.inner, environment)
        body.emit("wgmma_wait", args=["0:i32"], loc=writer.location(eqn))
        return [body.read(environment, v) for v in returned]

    with writer.inside(eqn):
        function = state.region(writer, build)
    writer.emit_equation(eqn, env, "run_scoped", attrs={"collective_axes": []}, args=[], functions=[function])


def _bind_results(env, eqn, texts):
    for variable, text in zip(eqn.outvars, texts):
        if not jax_versions.is_dropped(variable):
            env[variable] = text


def _call(parameter, known, primitive="", has_it=()):
    """Calls are inlined. `primitive` is named before what is called where another backend than those in `has_it` may be
    meant, as those have no lowering for it."""

    @knows(*known)
    def handler(writer, eqn, env):
        texts = [writer.read(env, v) for v in eqn.invars]
        if primitive and writer.file.backend not in has_it:
            writer.emit("call", attrs={"primitive": primitive}, loc=writer.location(eqn))
        with writer.inside(eqn):
            results = writer.inline(eqn.params[parameter], texts)
        _bind_results(env, eqn, results)

    return handler


@knows("jaxpr", "call_jaxpr")
def _eval_jaxpr(writer, eqn, env):
    """From JAX 0.11 it is what closed_call was, and its parameter has that one's name."""
    [parameter] = eqn.params
    _call(parameter, (parameter,))(writer, eqn, env)


@knows("jaxpr", "ref_treedefs", "program_ids_treedef")
def _jaxpr_call(writer, eqn, env):
    """A traced function called with views of refs and with program ids of its own."""
    params = eqn.params
    leaves, args = list(eqn.invars), []
    for tree in params["ref_treedefs"]:
        ref = unflatten(tree, leaves[: tree.num_leaves])
        del leaves[: tree.num_leaves]
        ref, transforms = ref if isinstance(ref, tuple) else (ref, ())
        args.append(stored_view_text(ref, transforms, writer.reader(env)))
    program_ids = unflatten(params["program_ids_treedef"], leaves)
    outside = writer.program_ids
    around = iter(outside or ())  # a dimension without an index of its own is the next one of the grid around
    writer.program_ids = [next(around, None) if p is None else writer.read(env, p) for p in program_ids]
    with writer.inside(eqn):
        results = writer.inline(params["jaxpr"], args)
    writer.program_ids = outside
    _bind_results(env, eqn, results)


@knows("axis")
def _program_id(writer, eqn, env):
    axis = eqn.params["axis"]
    known = (writer.program_ids if eqn.primitive.name == "program_id" else writer.program_counts) or []
    if axis < len(known) and known[axis] is not None:
        _bind_results(env, eqn, [known[axis]])
        return
    writer.emit_equation(eqn, env, attrs={"axis": int(axis) if axis < len(known) else int(axis) - len(known)})


def _contents(writer, eqn, env, atom):
    """What is printed of a ref is what it holds."""
    text = writer.read(env, atom)
    if not is_ref(getattr(atom, "aval", None)):
        return text
    value = writer.fresh()
    writer.emit("get", args=[text], results=[value], types=[type_text(atom.aval.inner_aval)], loc=writer.location(eqn))
    return value


@knows(
    "fmt",
    "ordered",
    "partitioned",
    "in_tree",
    "static_args",
    "np_printoptions",
    "has_placeholders",
    "logging_record",
    "skip_format_check",
)
def _debug_print(writer, eqn, env):
    params = eqn.params
    args = [_contents(writer, eqn, env, v) for v in eqn.invars]
    fmt = params["fmt"]
    if params.get("has_placeholders", True) and "in_tree" in params:
        fmt = _positional_format(params, len(args))
    writer.emit_equation(eqn, env, "debug_print", attrs={"fmt": fmt}, args=args)


def _positional_format(params, operand_count):
    """The format with every field as the number of its operand, and static arguments printed into it."""
    static = dict(params.get("static_args") or ())
    leaves, operands = [], iter(range(operand_count))
    for position in range(params["in_tree"].num_leaves):
        leaves.append(("static", static[position]) if position in static else ("operand", next(operands)))
    args, kwargs = jax.tree_util.tree_unflatten(params["in_tree"], leaves)
    text, automatic = "", 0
    for literal, field, spec, conversion in string.Formatter().parse(params["fmt"]):
        text += literal.replace("{", "{{").replace("}", "}}")
        if field is None:
            continue
        head = field.split(".")[0].split("[")[0]
        rest = field[len(head) :]
        if head == "":
            head, automatic = str(automatic), automatic + 1
        chosen = args[int(head)] if head.isdigit() else kwargs[head]
        if not (isinstance(chosen, tuple) and len(chosen) == 2 and chosen[0] in ("static", "operand")):
            raise ExportError(f"the field {{{field}}} of the format is a tree of values; print its leaves one by one")
        kind, value = chosen
        marks = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
        text += f"{{{value}{rest}{marks}}}" if kind == "operand" else ("{" + marks + "}").format(value)
    return text


@knows("err_tree", "debug")
def _check(writer, eqn, env):
    """JAX's operand is the error flag (true: the check failed); kernel text has the condition that must hold."""
    error = unflatten(eqn.params["err_tree"], eqn.invars)
    messages = []
    for tree in error._metadata.values():
        exception = unflatten(tree, [f"<{i}>" for i in range(tree.num_leaves)])
        messages.append(getattr(exception, "fmt_string", str(exception)))
    flags = list(error._pred.values())
    if len(flags) != 1:
        raise ExportError(f"a check with {len(flags)} error flags cannot be written; expected one")
    holds = writer.fresh()
    writer.emit("not", args=[writer.read(env, flags[0])], results=[holds], types=["bool[]"], loc=writer.location(eqn))
    writer.emit_equation(eqn, env, "check", attrs={"message": "; ".join(messages)}, args=[holds])


_JIT_PARAMETERS = (
    "jaxpr",
    "in_shardings",
    "out_shardings",
    "in_layouts",
    "out_layouts",
    "donated_invars",
    "ctx_mesh",
    "name",
    "keep_unused",
    "inline",
    "compiler_options_kvs",
)

CONTROL_OPS = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "run_scoped": _run_scoped,
    "run_state": _run_state,
    "jit": _call("jaxpr", _JIT_PARAMETERS),
    "pjit": _call("jaxpr", _JIT_PARAMETERS),
    "closed_call": _call("call_jaxpr", ("call_jaxpr", "name"), "closed_call", ("triton",)),
    "core_call": _call("call_jaxpr", ("call_jaxpr", "name")),
    "eval_jaxpr": _eval_jaxpr,
    "custom_jvp_call": _call(
        "call_jaxpr",
        ("call_jaxpr", "jvp_jaxpr_fun", "jvp_jaxpr_thunk", "num_consts", "symbolic_zeros"),
        "custom_jvp_call",
        ("mosaic_tpu", "triton"),
    ),
    "custom_vjp_call": _call(
        "call_jaxpr",
        ("call_jaxpr", "fwd_jaxpr_thunk", "bwd", "num_consts", "out_trees", "symbolic_zeros"),
        "custom_vjp_call",
        ("mosaic_tpu",),
    ),
    "custom_vjp_call_jaxpr": _call(
        "fun_jaxpr", ("fun_jaxpr", "fwd_jaxpr_thunk", "bwd", "num_consts", "out_trees", "symbolic_zeros")
    ),
    "checkpoint": _call(
        "jaxpr", ("jaxpr", "prevent_cse", "differentiated", "policy", "name"), "checkpoint", ("triton",)
    ),
    "remat": _call("jaxpr", ("jaxpr", "prevent_cse", "differentiated", "policy", "name"), "checkpoint", ("triton",)),
    "remat2": _call("jaxpr", ("jaxpr", "prevent_cse", "differentiated", "policy", "name"), "checkpoint", ("triton",)),
    "jaxpr_call": _jaxpr_call,
    "program_id": _program_id,
    "num_programs": _program_id,
    "debug_print": _debug_print,
    "check": _check,
}
