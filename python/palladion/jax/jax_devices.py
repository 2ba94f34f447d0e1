"""Where JAX answers questions about devices, and how Palladion answers them: the part of `jax_versions` that
probes.py needs.

Callers outside of JAX get Palladion's answer, and so do Pallas, which writes kernels for the chip in the answer, and
the tools of its tests. All other callers in JAX get the machine's own answer, because they decide by it where
programs run. The caller is the module of the innermost Python frame outside of `xla_bridge`.
What it does not catch: a library outside of JAX that asks in order to place its own arrays.
"""

import functools
import sys

import jax
from jax._src import lib, mesh, xla_bridge

# Parts of JAX that get the answers: they write kernels, or choose among tests of kernels, and place nothing.
_WRITE_KERNELS = (
    "jax._src.test_util",
    "jax._src.pallas.",
    "jax._src.tpu_info",
    "jax.experimental.pallas.",
    "jax.experimental.mosaic.",
)


def chip_context():
    """`with context(value):` what JAX compiles meanwhile is not taken for another value, nor outside."""
    return jax.make_user_context(None)


def abstract_device(device_kind: str, num_cores: int, platform: str):
    fields = {"device_kind": device_kind, "num_cores": num_cores, "platform": platform}
    known = jax.sharding.AbstractDevice.__dataclass_fields__  # no platform at 0.8
    return jax.sharding.AbstractDevice(**{name: value for name, value in fields.items() if name in known})


def abstract_device_kind() -> str | None:
    """The kind of device that `jax.sharding.use_abstract_mesh` around has kernels believe in."""
    return getattr(getattr(mesh.get_abstract_mesh(), "abstract_device", None), "device_kind", None)


def _is_answered() -> bool:
    """Does the caller of the calling function get Palladion's answer?"""
    frame = sys._getframe(2)
    # its functions hand on the answers of others: jax.default_backend
    while frame is not None and frame.f_globals is vars(xla_bridge):
        frame = frame.f_back
    module = "" if frame is None else frame.f_globals.get("__name__") or ""
    return not (module == "jax" or module.startswith(("jax.", "jaxlib."))) or module.startswith(_WRITE_KERNELS)


class _Attribute:
    """An attribute of a class of JAX: `answer(one)`, or its own value where that is None or the caller gets none."""

    def __init__(self, owner, name, answer):
        self.owner, self.name, self.answer = owner, name, answer
        self.own = owner.__dict__.get(name)  # of the class; None where only instances have it
        setattr(owner, name, self)

    def __get__(self, one, owner=None):
        if one is None and self.own is not None:
            return self.own
        if _is_answered() and (value := self.answer(one)) is not None:
            return value
        if self.own is not None:
            return self.own.__get__(one, owner)
        try:
            return vars(one)[self.name]
        except (KeyError, TypeError):
            raise AttributeError(name=self.name, obj=one) from None  # Python then asks the class's own __getattr__

    def __set__(self, one, value):  # so that an instance's own value does not hide the answer
        if hasattr(self.own, "__set__"):
            self.own.__set__(one, value)
        else:
            vars(one)[self.name] = value

    def put_back(self):
        if self.own is None:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, self.own)


def answer_attributes(answers):
    """`answers` are (class, name, answer of an object); returns what puts back.
    The classes: `jax.Device` and those below.
    """
    placed = [_Attribute(owner, name, answer) for owner, name, answer in answers]

    def put_back():
        for one in reversed(placed):
            one.put_back()

    return put_back


def client_class():
    return xla_bridge.xla_client.Client


def abstract_mesh_class():
    return mesh.AbstractMesh


def answer_backends(stands_for_cpu):
    """`get_backend(name)`, and with it `jax.devices(name)`, is the CPU where `stands_for_cpu(name)`;
    returns what puts back.
    """
    own = xla_bridge.get_backend

    @functools.wraps(own)
    def get_backend(platform=None):
        return own("cpu" if isinstance(platform, str) and stands_for_cpu(platform) and _is_answered() else platform)

    for name in ("cache_clear", "cache_info"):
        setattr(get_backend, name, getattr(own, name))

    def public(name):
        return name == xla_bridge.__name__ or not name.startswith(("jax._src.", "jaxlib."))

    _replace("get_backend", own, get_backend, public)
    return lambda: _replace("get_backend", get_backend, own, lambda _: True)


def replace_missing_cuda_versions(stand_in):
    """`stand_in` for JAX's module `cuda_versions` where it has none, in modules outside of JAX that import it too;
    returns what puts back.
    """
    if lib.cuda_versions is not None:
        return lambda: None
    _replace(
        "cuda_versions",
        None,
        stand_in,
        lambda name: name == lib.__name__ or not name.startswith(("jax._src.", "jaxlib.")),
    )
    return lambda: _replace("cuda_versions", stand_in, None, lambda _: True)


def _replace(attribute, old, new, which):
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", {})
        if names.get(attribute, lib) is old and which(name):
            names[attribute] = new
