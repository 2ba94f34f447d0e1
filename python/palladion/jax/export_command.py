"""`palladion-export FILE.py:NAME`: the kernels of a Python file as kernel text.

NAME is a function in FILE.py that takes nothing and returns (f, args); what is exported is f(*args).
"""

import argparse
import importlib.util
import os
import sys

from palladion import _library
from palladion.base.errors import ExportError
from palladion.base.whole_file import check_is_no_input, write_whole
from palladion.jax import probes
from palladion.jax.interception import export

EXIT_USAGE = 4  # usage or malformed input, as for the command `palladion`
EXIT_UNSUPPORTED = 3


class UsageError(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


def load_entry(target: str):
    """What NAME() of `FILE.py:NAME` returns."""
    path, separator, name = target.rpartition(":")
    if not separator or not path or not name:
        raise UsageError(f"expected FILE.py:NAME, found {target!r}")
    if not os.path.isfile(path):
        raise UsageError(f"there is no file {path!r}")
    spec = importlib.util.spec_from_file_location("palladion_user_module", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path!r} is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    entry = getattr(module, name, None)
    if entry is None:
        raise UsageError(f"{path!r} defines no {name!r}")
    result = entry()
    if not (isinstance(result, tuple) and len(result) == 2 and callable(result[0])):
        raise UsageError(f"{name}() of {path!r} must return (f, args), found {type(result).__name__}")
    function, args = result
    return function, tuple(args) if isinstance(args, (tuple, list)) else (args,)


def main(arguments: list[str] | None = None, program: str = "palladion-export") -> int:
    """The exit code; `program` is the name that messages start with."""
    parser = Parser(prog=program, description=__doc__.splitlines()[0])
    parser.add_argument("target", metavar="FILE.py:NAME", help="NAME() returns (f, args)")
    parser.add_argument("-o", "--output", metavar="K.pkir", help="write to this file instead of standard output")
    parser.add_argument(
        "--target", dest="chip", metavar="CHIP", help="answer what kernels ask about the chip (h100, v5p) as this one"
    )
    options = parser.parse_args(arguments)
    try:
        with probes.of_target(probes.given(options.chip)):
            function, args = load_entry(options.target)
            text = export(function, *args)
        if options.output:
            check_is_no_input(options.output, [options.target.rpartition(":")[0]])
            write_whole(options.output, text)
        else:
            sys.stdout.write(text)
    except (UsageError, _library.PalladionError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except ExportError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_UNSUPPORTED
    except OSError as error:
        print(f"{program}: cannot write {options.output!r}: {error.strerror}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
