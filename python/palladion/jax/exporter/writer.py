"""The jaxpr walker: runs a jaxpr over texts instead of values and writes one instruction for each equation.

Inlined calls and loop constants cost nothing: their parameters are the outer values' names. What each primitive looks
like is in the tables (value_ops.py, memory_ops.py, control_ops.py, async_ops.py); here is only what all of them share.
"""

import contextlib

import numpy as np

from palladion.base.errors import ExportError
from palladion.base.scalars import dense_text, literal_text
from palladion.jax import jax_versions
from palladion.jax.exporter.attributes import attrs_text
from palladion.jax.exporter.locations import Locations
from palladion.jax.exporter.names import Names, sanitized
from palladion.jax.exporter.parameters import check_parameters, refused
from palladion.jax.exporter.types import array_type, element_text, is_ref, ref_type, space_name, type_text

INDENT = "  "
LINE = 100  # a longer list of parameters is broken


class TextFile:
    """The parts of one text: declarations, constants, kernels."""

    def __init__(self, resolved_target=None):
        # (kernel, backend) -> the full name of what the text is for; None: what each kernel says
        self.resolved_target = resolved_target
        self.locations = Locations()
        self.kernels = []
        self.kernel_names = Names(separator=".")
        # of a kernel that names none: "mosaic_gpu" where JAX compiles it with that on the chip of the target
        self.bare_backend = ""
        self.devices = {}  # {axis: size} of those that run the kernel being written together; {}: each by itself
        self.partitioned = ()  # axes over which XLA would partition the kernel being written
        self.backend = ""  # of the kernel being written, where that is known
        self.axes = {}  # {name: size} of the dimensions with a name of the kernel being written
        self.thread_axis = None  # the name of the threads' axis in the kernel being written; None: it has one thread
        self.first_warps = {}  # {axis of a mesh of warps: what its indices begin with}, where that is not 0
        self._consts = {}  # dense text -> symbol
        self._axes = {}  # id of an axis without a name -> its name here, and the axis, so that it stays alive

    def axis(self, name) -> str:
        """The name of a mesh axis. vmap and warp_map make axes that are bare objects: they get names of their own."""
        if type(name) is not object:
            return str(name)
        return self._axes.setdefault(id(name), (f"axis{len(self._axes)}", name))[0]

    def const(self, array) -> str:
        text = dense_text(array)
        return self._consts.setdefault(text, f"@c{len(self._consts)}")

    def text(self) -> str:
        from palladion.version import VERSION

        head = ["pkir 1;", f'producer "jax {jax_versions.jax_version()}, palladion {VERSION}";']
        consts = [f"const {symbol} = {text};" for text, symbol in self._consts.items()]
        return "\n".join(head + self.locations.lines + consts + self.kernels) + "\n"


class Writer:
    """Writes the instructions of one function into `lines`. `env` maps a jaxpr's variables to texts."""

    def __init__(self, file: TextFile, names: Names, handlers: dict, caller=None):
        self.file = file
        self.names = names
        self.handlers = handlers
        self.caller = caller  # of every equation written here, see Locations
        self.lines = []
        self.used = frozenset()  # variables of the jaxpr being written that something reads
        self.equation = None  # the one being written
        self.program_ids = None  # what program_id means inside a jaxpr_call or a pipeline: texts, then the kernel's own
        self.program_counts = None  # what num_programs means inside a pipeline
        self.users_names = {}  # of refs that JAX's Python calls otherwise

    # Values.

    def read(self, env, atom) -> str:
        """The text of an operand."""
        if atom is None:
            return "none"
        if jax_versions.is_literal(atom):
            return self.constant(atom.val, atom.aval)
        if jax_versions.is_array(atom):
            return self.constant(np.asarray(atom), np.asarray(atom))
        if isinstance(atom, (bool, int, float)):
            kind = np.bool_ if isinstance(atom, bool) else np.int32 if isinstance(atom, int) else np.float32
            return self.constant(atom, np.asarray(atom, kind))
        return env[atom]

    def constant(self, value, aval) -> str:
        if np.shape(value) == ():
            return literal_text(value, aval.dtype, getattr(aval, "weak_type", False))
        return self.file.const(np.asarray(value, aval.dtype))

    def reader(self, env):
        def read(atom):
            return self.read(env, atom)

        def element(atom):
            """The one element of an array of shape (1,)."""
            scalar = self.fresh()
            self.emit(
                "squeeze",
                attrs={"dims": [0]},
                args=[self.read(env, atom)],
                results=[scalar],
                types=[element_text(atom.aval.dtype, ())],
                loc=self.location(self.equation),
            )
            return scalar

        def places(starts, stride):
            """start[k] + stride * k, of an array of one dimension."""
            steps, summed = dense_text(stride * np.arange(starts.aval.shape[0], dtype=starts.aval.dtype)), self.fresh()
            self.emit(
                "add",
                args=[self.read(env, starts), steps],
                results=[summed],
                types=[element_text(starts.aval.dtype, starts.aval.shape)],
                loc=self.location(self.equation),
            )
            return summed

        read.mesh = tuple(self.file.devices)  # views name devices along its axes
        read.element, read.places, read.backend = element, places, self.file.backend
        return read

    def fresh(self, hint: str = "") -> str:
        return "%" + (self.names.named(hint) if hint else self.names.numbered())

    # Instructions.

    def emit(self, name, *, attrs=None, args=(), results=(), types=(), functions=(), loc=""):
        """`functions` are already written regions, each a list of lines."""
        head = (", ".join(results) + " = ") if results else ""
        text = f"{head}{name}{attrs_text(attrs or {})}({', '.join(args)})"
        tail = (" : " + ", ".join(types)) if types else ""
        tail += f" {loc}" if loc else ""
        for function in functions:
            self.lines.append(text + " " + function[0])
            self.lines.extend(function[1:-1])
            text = function[-1]
        self.lines.append(text + tail + ";")

    def emit_equation(self, eqn, env, name=None, *, attrs=None, args=None, functions=(), types=None, hint=""):
        """The instruction of an equation: its results are bound in `env`.
        `hint` is what a result may be called in reports.
        """
        if args is None:
            args = [self.read(env, v) for v in eqn.invars]
        results, result_types = [], []
        for position, variable in enumerate(eqn.outvars):
            if jax_versions.is_dropped(variable) or variable not in self.used:
                results.append("_")
            else:
                results.append(self.fresh(hint))
            result_types.append(types[position] if types else self.type_of(variable.aval, env))
        self.emit(
            name or jax_versions.primitive_name(eqn.primitive),
            attrs=attrs,
            args=args,
            results=results,
            types=result_types,
            functions=functions,
            loc=self.location(eqn),
        )
        for variable, text in zip(eqn.outvars, results):
            if text != "_":
                env[variable] = text

    def location(self, eqn) -> str:
        return self.file.locations.name(eqn.source_info, self.caller)

    def type_of(self, aval, env) -> str:
        shape = getattr(aval, "shape", ())
        if not is_ref(aval) and any(not isinstance(d, (int, np.integer)) for d in shape):
            return array_type(aval, [d if isinstance(d, (int, np.integer)) else self.read(env, d) for d in shape])
        return type_text(aval)

    # Functions and regions.

    @contextlib.contextmanager
    def inside(self, eqn):
        """Equations written meanwhile are inside the call `eqn`."""
        outside = self.caller
        self.caller = self.file.locations.as_caller(eqn.source_info.traceback, outside)
        try:
            yield
        finally:
            self.caller = outside

    def inline(self, jaxpr, args) -> list:
        """Writes the equations of `jaxpr` here; returns the texts of its results."""
        inner = jax_versions.open_jaxpr(jaxpr)
        env = dict(zip(inner.invars, args))
        for variable, value in zip(inner.constvars, jax_versions.jaxpr_consts(jaxpr)):
            env[variable] = self.constant(value, variable.aval)
        self.equations(inner, env)
        return [self.read(env, v) for v in inner.outvars]

    def equations(self, jaxpr, env):
        outside, self.used = self.used, _used_variables(jaxpr)
        for eqn in jaxpr.eqns:
            self._equation(eqn, env)
        self.used = outside

    def _equation(self, eqn, env):
        name = jax_versions.primitive_name(eqn.primitive)
        handler = self.handlers.get(name)
        self.equation = eqn
        try:
            if handler is None:
                raise refused(name)
            check_parameters(eqn.params, handler)
            handler(self, eqn, env)
        except ExportError as error:
            if error.where:
                raise
            raise ExportError(
                f"{eqn.primitive.name}: {error}" if handler else str(error),
                self.file.locations.place(eqn.source_info, self.caller),
            ) from None

    def region(self, build, params="") -> list:
        """Lines of `(params) { ... return ...; }`; `build(writer)` writes the body and returns the results' texts."""
        inner = Writer(self.file, self.names, self.handlers, self.caller)
        inner.program_ids, inner.program_counts = self.program_ids, self.program_counts
        inner.users_names = self.users_names
        results = build(inner)
        inner.lines.append(f"return {', '.join(results)};" if results else "return;")
        head = f"{params} {{" if params else "{"
        return [head] + [INDENT + line for line in inner.lines] + ["}"]

    def function(self, jaxpr, leading=(), labels=None, space="default") -> list:
        """A function whose first parameters are the outer values `leading`; the others become its parameters.

        `space` is that of refs without one."""
        inner = jax_versions.open_jaxpr(jaxpr)
        own = inner.invars[len(leading) :]
        labels = labels if labels is not None else ("",) * len(own)
        params = [
            self.fresh(ref_name(label) or own_name(v.aval) if is_ref(v.aval) else "") for v, label in zip(own, labels)
        ]
        texts = [
            parameter_text(name, v.aval, label if is_ref(v.aval) else "", space)
            for name, v, label in zip(params, own, labels)
        ]
        return self.region(lambda w: w.inline(jaxpr, list(leading) + params), parameters_text(texts))


def _used_variables(jaxpr) -> frozenset:
    read = [atom for eqn in jaxpr.eqns for atom in eqn.invars] + list(jaxpr.outvars)
    return frozenset(atom for atom in read if not jax_versions.is_literal(atom))


def ref_name(label: str) -> str:
    """The name of the ref that the user calls `label`: it ends in `_ref`, which the operand's own name does not."""
    name = sanitized(label)
    return name if not name or name.endswith("_ref") else name + "_ref"


def own_name(aval) -> str:
    """The name of a ref that has none: `smem_ref`, after its memory."""
    return f"{space_name(aval.memory_space)}_ref" if is_ref(aval) else ""


def parameters_text(texts) -> str:
    line = ", ".join(texts)
    return f"({line})" if len(line) <= LINE else "(" + f",\n{INDENT * 2}".join(texts) + ")"


def parameter_text(name, aval, label="", space="default") -> str:
    return f"{name}: {ref_type(aval, space) if is_ref(aval) else type_text(aval)}" + (f' as "{label}"' if label else "")
