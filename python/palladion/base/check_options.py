"""The options of a check as `palladion.check`, `palladion.emulate` and `palladion.Task` take them, and as the library
does.

The rows are those of emu/front/options/check_options.cc. Values that only the library can judge (a fill, a schedule) it
refuses itself.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Option:
    kind: str  # switch, number, choice or text
    default: object
    choices: tuple = ()
    replays: bool = False  # a schedule replays only with the value that it was found with


# generated:check-options
OPTIONS = {
    "seeds": Option("number", 64),
    "exhaustive": Option("switch", False),
    "replay": Option("text", None),
    "fill": Option("text", "nan", replays=True),
    "races": Option("switch", True, replays=True),
    "definedness": Option("switch", True, replays=True),
    "contracts": Option("switch", True, replays=True),
    "strict": Option("switch", False, replays=True),
    "proxy": Option("choice", "pallas", ("pallas", "strict", "lax"), replays=True),
    "links": Option("choice", "unordered", ("unordered", "ordered"), replays=True),
    "bounds": Option("choice", "logical", ("logical", "padded"), replays=True),
    "all_seeds": Option("switch", False),
    "budget": Option("number", None, replays=True),
    "legality": Option("choice", "on", ("on", "off", "compiler"), replays=True),
}
# /generated:check-options

DEFAULTS = {name: option.default for name, option in OPTIONS.items()}


def library_options(given: dict) -> dict:
    """What `_library.Program.check` takes; TypeError and ValueError say which option is wrong."""
    for name in given:
        if name not in OPTIONS:
            raise TypeError(f"a check has no option {name!r}; it has {', '.join(OPTIONS)}")
    options = DEFAULTS | given
    if isinstance(options["seeds"], bool) or not isinstance(options["seeds"], int):
        raise TypeError(f"seeds must be a whole number; found {options['seeds']!r}")
    options["budget"] = whole("budget", options["budget"])
    for name, option in OPTIONS.items():
        if option.kind == "choice":
            choice(name, options[name])
        elif option.kind == "switch":
            options[name] = bool(options[name])
    return {name: value for name, value in options.items() if value is not None}


def choice(name: str, value: object) -> str:
    """The value, which is one of the choices of that option."""
    choices = OPTIONS[name].choices
    if value not in choices:
        raise ValueError(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}; found {value!r}")
    return value


def whole(name: str, value: object, least: int = 1) -> int | None:
    """A whole number of at least that, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise ValueError(f"{name} must be a whole number of at least {least}, or None; found {value!r}")
    return value
