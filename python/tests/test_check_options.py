"""The options of a check have the same names, defaults and refusals wherever Python takes them."""

import dataclasses
import inspect

import jax.numpy as jnp
import pytest

import palladion
from palladion.base.check_options import DEFAULTS, OPTIONS, library_options
from palladion.bridge.params import Params


def test_every_signature_has_the_defaults_of_the_table():
    check = {name: parameter.default for name, parameter in inspect.signature(palladion.check).parameters.items()}
    fields = {field.name: field.default for field in dataclasses.fields(Params)}
    reduce = {name: parameter.default for name, parameter in inspect.signature(palladion.reduce).parameters.items()}
    for name, default in DEFAULTS.items():
        assert check[name] == default, name
        assert fields[name] == (None if name == "seeds" else default), name  # without seeds a kernel is only run
        assert reduce.get(name, default) == default, name


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.kind == "choice"])
def test_a_choice_that_is_none_is_refused_alike(name):
    *first, last = OPTIONS[name].choices
    said = rf"^{name} must be {', '.join(first)} or {last}; found 'none of them'$"
    for taker in (
        lambda **options: palladion.check(jnp.add, 1, 1, **options),
        lambda **options: Params(seeds=1, **options),
    ):
        with pytest.raises(ValueError, match=said):
            taker(**{name: "none of them"})


def test_library_options_are_what_the_library_reads():
    assert library_options({"races": 0, "legality": "compiler"})["races"] is False
    with pytest.raises(TypeError, match="a check has no option 'sedes'; it has seeds, exhaustive"):
        library_options({"sedes": 4})


def test_a_replay_names_every_option_it_needs():
    how = Params(seeds=2, bounds="padded", strict=True, races=False, fill="zero")
    assert set(OPTIONS) - {"seeds", "exhaustive", "replay", "all_seeds"} == {
        name for name in OPTIONS if OPTIONS[name].replays
    }
    before, after = how.replay_call()
    for word in ('bounds="padded"', "strict=True", "races=False", 'fill="zero"'):
        assert word in before + after
