"""The command `draftscope`: which deed was asked for, and what a failure looks like.

Knows exit codes: 0 done, 1 a fault that a sentence explains, 2 wrong usage, 130 interrupted.
Imports a command's own module only when it is called, so that the window is there at once.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from app.cli.parser import COMMANDS, command_parser, window_parser
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

INTERRUPTED = 130
DEEDS = {
    "run": "run:run",
    "models": "models:models",
    "drafters": "drafters:drafters",
    "warm-up": "warm_up:warm_up",
    "train": "train:train",
    "export": "export:export",
    "join": "join:join",
    "mark": "mark:mark",
    "import": "import_:import_",
    "schema": "schema:schema",
    "check": "check:check",
    "bench": "bench:bench",
}
"""By command, "module:function" in `app.cli`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the arguments say and return the exit code.

    Parameters
    ----------
    argv
        Without the program's name; those of the process if None.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _use_utf8()
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except DraftscopeError as fault:
        print(f"draftscope: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _say_nothing_more()
        return 1
    except OSError as fault:
        if fault.errno != errno.ENOSPC or fault.filename is not None:
            raise
        _say_nothing_more()
        print(f"draftscope: standard output is full ({fault.strerror}).", file=sys.stderr)
        return 1


def _say_nothing_more() -> None:
    """Let the interpreter flush into nothing: whoever read the output has gone, or has no room."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    try:
        if not arguments or arguments[0] not in COMMANDS:
            return _open_window(_window_options(arguments))
        options = command_parser().parse_args(arguments)
    except SystemExit as done:  # argparse has printed help or what is wrong
        return done.code if isinstance(done.code, int) else 1
    return _command(options)


def _command(options: argparse.Namespace) -> int:
    module, _, name = DEEDS[options.command].partition(":")
    deed: Callable[[argparse.Namespace], int] = getattr(import_module(f"app.cli.{module}"), name)
    return deed(options)


def _window_options(arguments: list[str]) -> argparse.Namespace:
    parser = window_parser()
    options = parser.parse_args(arguments)
    if options.trace is not None and not options.trace.exists():
        parser.error(f"there is no command and no file {str(options.trace)!r}")
    return options


def _open_window(options: argparse.Namespace) -> int:
    from app.compose import Options, run

    return run(Options(demo=options.demo, open_path=options.trace))


def _use_utf8() -> None:
    """Write UTF-8 into pipes and files whatever the locale; never fail on a character.

    Where a stream was closed before the start, what is said goes nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, io.TextIOWrapper(io.FileIO(nowhere, "w"), encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
