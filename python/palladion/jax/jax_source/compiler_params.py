"""What a kernel says to its compiler, as arguments of the call: compiler parameters, cost, metadata, its name."""

from palladion.base.errors import ToJaxError
from palladion.jax.exporter.attributes import Word
from palladion.jax.jax_source import reading
from palladion.jax.jax_source.spelling import attribute_text

_MODULES = {"mosaic_tpu": "pltpu", "mosaic_gpu": "plgpu", "triton": "pltriton"}
_ENUMS = {"lowering_semantics": "plgpu.LoweringSemantics", "has_side_effects": "pltpu.SideEffectType"}


def call_options(context) -> list:
    kernel = context.kernel
    other = {
        name: reading.attributes(value["map"] if "map" in value else value) for name, value in kernel["other"].items()
    }
    if "devices" in other:
        raise ToJaxError(
            "several devices that run a kernel together need jax.shard_map around it, which is not written",
            "devices",
            kernel["line"],
        )
    options = [f"name={kernel['name']!r}"]
    given = reading.attributes(kernel["params"])
    given.pop("partitioned", None)  # not of the compiler, but of what is around the call
    params = _params(context, given)
    if params:
        options.append(f"compiler_params={params}")
    if "cost" in other:
        options.append(f"cost_estimate=pl.CostEstimate({_keywords(other['cost'])})")
    if "meta" in other:
        meta = dict(other["meta"].get("entries", ())) or other["meta"]
        options.append(f"metadata={attribute_text(meta)}")
    return options


def _keywords(attrs) -> str:
    return ", ".join(f"{name}={_value(name, value)}" for name, value in attrs.items())


def _value(name, value) -> str:
    if isinstance(value, Word) and name in _ENUMS:
        return f"{_ENUMS[name]}.{value.text.upper() if name != 'lowering_semantics' else value.text.capitalize()}"
    return attribute_text(value)


def _params(context, attrs) -> str:
    module = _MODULES.get(context.backend)
    if not attrs and (module is None or not context.kernel["backend"]):
        return ""
    if module is None:
        raise ToJaxError(
            f"compiler parameters of the backend {context.backend or 'that the text does not name'}",
            "params",
            context.kernel["line"],
        )
    if context.backend == "mosaic_gpu":
        attrs = {"lowering_semantics": Word("lane"), **attrs}  # what kernel text means where it says nothing
    return f"{module}.CompilerParams({_keywords(attrs)})"
