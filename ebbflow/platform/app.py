"""`tf.app.run`: read the flags, call main, exit with what it returns.

Knows flags; knows nothing else of the program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ebbflow.platform import flags, own_flags


class UsageError(Exception):
    """The arguments of a program make no sense; printed with the program's help."""

    def __init__(self, message: str, exitcode: int = 1) -> None:
        super().__init__(message)
        self.exitcode = exitcode


HELP = ("-h", "-help", "--help", "-helpshort", "--helpshort", "-helpfull", "--helpfull", "-?", "--?")


def run(main: Callable[..., Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Call `main(argv)` with the arguments that are not flags, and exit with its result.

    `main` is the `main` of the program's main module unless given.
    """
    called = main or sys.modules["__main__"].main
    words = list(sys.argv if argv is None else argv)
    if flags.source is own_flags and any(word in HELP and word.lstrip("-") not in flags.FLAGS for word in words[1:]):
        print_usage()
        sys.exit(1)
    try:
        rest = flags.FLAGS(words, known_only=True)
    except flags.source.Error as error:
        sys.stderr.write(f"FATAL Flags parsing error: {error}\nPass --helpshort or --helpfull to see help on flags.\n")
        sys.exit(1)
    try:
        sys.exit(called(rest))
    except UsageError as error:
        print_usage(sys.stderr)
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exitcode)


def print_usage(stream: Any = None) -> None:
    """Print the program's own words about itself and its flags."""
    doc = sys.modules["__main__"].__doc__ or f"USAGE: {sys.argv[0]} [flags]"
    print(f"\n{doc.strip()}\nflags:\n{flags.FLAGS.get_help()}\n", file=stream or sys.stdout)
