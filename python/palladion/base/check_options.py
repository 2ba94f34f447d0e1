"""The options of a check as `palladion.check` and `palladion.Task` take them, and as the library does.

Values that only the library can judge (a fill, a policy of fences) it refuses itself.
"""

DEFAULTS = {
    "seeds": 64,
    "exhaustive": False,
    "replay": None,
    "fill": "nan",
    "races": True,
    "definedness": True,
    "contracts": True,
    "strict": False,
    "proxy": "pallas",
    "links": "unordered",
    "bounds": "logical",
    "all_seeds": False,
    "budget": None,
    "legality": "on",
}
_SWITCHES = [name for name, default in DEFAULTS.items() if isinstance(default, bool)]


def library_options(given: dict) -> dict:
    """What `_library.Program.check` takes; TypeError and ValueError say which option is wrong."""
    for name in given:
        if name not in DEFAULTS:
            raise TypeError(f"a check has no option {name!r}; it has {', '.join(DEFAULTS)}")
    options = DEFAULTS | given
    if isinstance(options["seeds"], bool) or not isinstance(options["seeds"], int):
        raise TypeError(f"seeds must be a whole number; found {options['seeds']!r}")
    bounds = options.pop("bounds")
    if bounds not in ("logical", "padded"):
        raise ValueError(f"bounds must be logical or padded; found {bounds!r}")
    options["legality"] = legality_mode(options["legality"])
    options["budget"] = whole("budget", options["budget"])
    options |= {name: bool(options[name]) for name in _SWITCHES} | {"padded_bounds": bounds == "padded"}
    return {name: value for name, value in options.items() if value is not None}


LEGALITY = ("off", "on", "compiler")


def legality_mode(value: object) -> int:
    """0, 1 or 2, as the library has it."""
    if value not in LEGALITY:
        raise ValueError(f"legality must be on, off or compiler; found {value!r}")
    return LEGALITY.index(value)


def whole(name: str, value: object, least: int = 1) -> int | None:
    """A whole number of at least that, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise ValueError(f"{name} must be a whole number of at least {least}, or None; found {value!r}")
    return value
