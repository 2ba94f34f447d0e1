"""`palladion tune FILE.py:NAME --space block=64,128`: the fastest right candidate of a space, as `palladion.tune`.

NAME is a function in FILE.py that takes nothing and returns (f, args); the candidates are f(*args, block=64), ...
"""

import ast
import sys
from typing import Any

from palladion import _library
from palladion.base.errors import ExportError
from palladion.base.whole_file import check_is_no_input, write_whole
from palladion.jax import probes
from palladion.jax.export_command import EXIT_UNSUPPORTED, EXIT_USAGE, Parser, UsageError, load_entry

_EXIT_NONE_RIGHT = 1


def space_of(texts: list[str]) -> dict[str, list]:
    """{"block": [64, 128]} of ["block=64,128"]; values are Python's literals, and any other word is a string."""
    space: dict[str, list] = {}
    for text in texts:
        name, separator, values = text.partition("=")
        if not separator or not name.isidentifier() or not values:
            raise UsageError(f"--space takes NAME=VALUE,VALUE; found {text!r}")
        if name in space:
            raise UsageError(f"--space has {name!r} twice")
        space[name] = _values_of(values)
    return space


def _values_of(text: str) -> list[Any]:
    try:
        return list(ast.literal_eval(f"[{text}]"))
    except (ValueError, SyntaxError):
        return [_value_of(word) for word in text.split(",")]


def _value_of(word: str) -> Any:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


def _parser(program: str) -> Parser:
    parser = Parser(prog=program, description=__doc__.splitlines()[0])
    parser.add_argument("function", metavar="FILE.py:NAME", help="NAME() returns (f, args)")
    parser.add_argument(
        "--space", metavar="NAME=VALUES", nargs="+", action="extend", required=True, help="block=64,128 stages=2,3"
    )
    parser.add_argument("--target", metavar="CHIP", help="the chip, h100 or v6e, or a full name")
    parser.add_argument("--oracle", metavar="NAME", help="a function of FILE.py whose values of the args are right")
    parser.add_argument("--seeds", metavar="N", type=int, default=16, help="schedules of each check (16)")
    parser.add_argument("--checks", metavar="N", type=int, default=3, help="how many candidates to find right (3)")
    parser.add_argument("--resume", metavar="FILE", help="results of earlier runs, which is read and added to")
    parser.add_argument("--budget", metavar="SECONDS", type=float, help="the best until then")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or for programs")
    parser.add_argument("--plot", metavar="FILE.svg", help="the times as a picture")
    return parser


def main(arguments: list[str], program: str) -> int:
    """The exit code; `program` is the name that messages start with."""
    options = _parser(program).parse_args(arguments)
    try:
        found = _tuned(options)
        if options.plot:
            check_is_no_input(options.plot, [options.function.rpartition(":")[0]])
            write_whole(options.plot, found.plot())
    except ExportError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_UNSUPPORTED
    except _library.PalladionError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_UNSUPPORTED if error.code == _library.UNSUPPORTED else EXIT_USAGE
    except (UsageError, TypeError, ValueError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except OSError as error:
        print(f"{program}: {error.filename!r}: {error.strerror}", file=sys.stderr)
        return EXIT_USAGE
    print(found.to_json() if options.format == "json" else found.table())
    return 0 if found.best is not None else _EXIT_NONE_RIGHT


def _tuned(options):
    from palladion.api.tuning import tune

    space = space_of(options.space)
    with probes.of_target(probes.given(options.target)):
        f, args = load_entry(options.function)
    oracle = None
    if options.oracle is not None:
        oracle = getattr(sys.modules["palladion_user_module"], options.oracle, None)
        if oracle is None:
            raise UsageError(f"{options.function.rpartition(':')[0]!r} defines no {options.oracle!r}")
    return tune(
        f,
        args,
        space=space,
        target=options.target,
        oracle=oracle,
        seeds=options.seeds,
        checks=options.checks,
        resume=options.resume,
        budget_s=options.budget,
    )
