"""`palladion` and `python -m palladion`: the command of the library, with its arguments and exit codes;
`export`, `to-jax`, `tune` and `learn` need JAX.

The process becomes the command, so that signals and exit codes are its own.
PALLADION_COMMAND names another file to run.
"""

import os
import signal
import sys

_EXIT_INTERNAL = 5


def candidates() -> list[str]:
    """Where the command may be, best first: as the library (_abi.py)."""
    package = os.path.dirname(os.path.abspath(__file__))
    source = os.path.dirname(os.path.dirname(package))
    given = [os.environ["PALLADION_COMMAND"]] if os.environ.get("PALLADION_COMMAND") else []
    return given or [os.path.join(package, "palladion"), os.path.join(source, "build", "palladion")]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; comes back for `export`, `to-jax`, `tune` and `learn`, and where there is no command."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["export"]:
        from palladion.jax import export_command  # needs JAX, the command does not

        return export_command.main(arguments[1:], "palladion export")
    if arguments[:1] == ["to-jax"]:
        from palladion.jax import to_jax_command

        return to_jax_command.main(arguments[1:], "palladion to-jax")
    if arguments[:1] == ["tune"]:
        from palladion.api import tune_command

        return tune_command.main(arguments[1:], "palladion tune")
    if arguments[:1] == ["learn"]:
        from palladion.learn import command

        return command.main(arguments[1:], "palladion learn")
    for path in candidates():
        if os.path.isfile(path):
            # What Python has ignored for itself would stay so: `palladion ... | head` ends as any command does.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            try:
                os.execv(path, ["palladion", *arguments])
            except OSError as error:
                print(f"palladion: cannot run {path!r}: {error.strerror}", file=sys.stderr)
                return _EXIT_INTERNAL
    print(
        f"palladion: the command was not found; looked for {', '.join(candidates())}. Build it (cmake --build build) "
        "or set PALLADION_COMMAND to the file",
        file=sys.stderr,
    )
    return _EXIT_INTERNAL


if __name__ == "__main__":
    sys.exit(main())
