"""`palladion to-jax K.pkir`: a kernel as the source of a Python module, whose function
`kernel(*arrays, interpret=False)` calls it in JAX.
"""

import sys

from palladion import _library
from palladion.base.errors import ToJaxError
from palladion.base.whole_file import check_is_no_input, write_whole
from palladion.jax.export_command import EXIT_UNSUPPORTED, EXIT_USAGE, Parser
from palladion.jax.jax_source import to_jax_source


def _read(path: str) -> str:
    """The text of the file; OSError, and UnicodeDecodeError for what is no text."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(arguments: list[str], program: str) -> int:
    """The exit code; `program` is the name that messages start with."""
    parser = Parser(prog=program, description=__doc__.splitlines()[0])
    parser.add_argument("file", metavar="K.pkir", help="kernel text")
    parser.add_argument("--kernel", metavar="NAME", help="which kernel, of a text with several")
    parser.add_argument("-o", "--output", metavar="FILE.py", help="write to this file instead of standard output")
    options = parser.parse_args(arguments)
    try:
        text = _read(options.file)
    except (OSError, UnicodeDecodeError) as error:
        print(
            f"{program}: cannot read {options.file!r}: {getattr(error, 'strerror', None) or 'it is no text'}",
            file=sys.stderr,
        )
        return EXIT_USAGE
    try:
        source = to_jax_source(text, kernel=options.kernel)
        if options.output:
            check_is_no_input(options.output, [options.file])
            write_whole(options.output, source)
        else:
            sys.stdout.write(source)
    except ToJaxError as error:
        print(f"{program}: {options.file}: {error}", file=sys.stderr)
        return EXIT_UNSUPPORTED
    except _library.PalladionError as error:
        print(f"{program}: {options.file}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except OSError as error:
        print(f"{program}: cannot write {options.output!r}: {error.strerror}", file=sys.stderr)
        return EXIT_USAGE
    return 0
