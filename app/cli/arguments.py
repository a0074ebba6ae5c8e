"""Kinds of arguments that several commands take: texts, numbers, biases, a pair of models.

Knows words and ranges; knows no command and imports nothing that computes.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, NoReturn

from app.viewmodels.logit_bias import joined, parse_bias

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_TARGET = "smollm2-135m"
DRAFTERS = "ngram|head|small-2|small-4|trained:NAME|model:PATH|early:LAYERS"
PLANS = ("eager", "packed", "compiled")  # as `engine.models.plans.choice` names them


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, and where help is; its commands' parsers do too."""

    unnamed: str | None = None  # the command whose options may come without its name

    def parse_known_args(  # type: ignore[override]  # overloads for namespaces that nobody gives
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, with the name of the command put before options that lack it."""
        if self.unnamed is not None and args and args[0].startswith("-"):
            args = args if args[0] in ("-h", "--help") else [self.unnamed, *args]
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Leave with the code of wrong usage."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add which model is the target."""
    parser.add_argument(
        "--target", default=DEFAULT_TARGET, help="name, folder or .gguf file (default: %(default)s)"
    )


def add_pair(parser: argparse.ArgumentParser, *, default: list[str] | None) -> None:
    """Add a target, drafters and prompts; without a default, all drafters that need no file."""
    said = "all that need no file of their own" if default is None else " ".join(default)
    add_target(parser)
    parser.add_argument(
        "--drafter",
        nargs="+",
        default=default,
        metavar=DRAFTERS,
        help=f"one or more (default: {said})",
    )
    parser.add_argument(
        "--prompt", nargs="+", metavar="TEXT", help="one or more (default: a fixed set)"
    )
    parser.add_argument("--max-new-tokens", type=whole(1), default=32, metavar="N")
    parser.add_argument("--device", help="cpu, cuda or mps (default: the best there is)")
    parser.add_argument("--plan", choices=PLANS)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


class Bias(argparse.Action):
    """Gathers biases, each "ID=NUMBER", and refuses a second one of the same token."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Add one to those before it, or raise as argparse wants it."""
        before = getattr(namespace, self.dest)
        try:
            setattr(namespace, self.dest, joined([*before, parse_bias(str(values))]))
        except ValueError as error:
            raise argparse.ArgumentError(self, str(error)) from None


class _Number:
    """An argument type: a finite number in a range, named in the message when it is not."""

    def __init__(self, low: float, high: float = math.inf, *, whole: bool = False) -> None:
        self._low, self._high, self._whole = low, high, whole

    def __call__(self, text: str) -> float | int:
        """Return the number, or raise as argparse wants it."""
        try:
            value = int(text) if self._whole else float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and self._low <= value <= self._high:
            return value
        kind = "a whole number" if self._whole else "a number"
        upper = "" if math.isinf(self._high) else f" and at most {self._high:g}"
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind} of at least {self._low:g}{upper}")


def text(given: str) -> str:
    """Return an argument that is kept as text, or raise as argparse wants it.

    Bytes that are no text in the system's encoding come as lone surrogates, which no file holds.
    """
    try:
        given.encode()
    except UnicodeEncodeError:
        shown = given.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        raise argparse.ArgumentTypeError(f"{shown!r} is no text in UTF-8") from None
    return given


def number(low: float, high: float = math.inf) -> _Number:
    """Return the type of an argument that is a number from `low` to `high`."""
    return _Number(low, high)


def whole(low: int) -> _Number:
    """Return the type of an argument that is a whole number, at least `low`."""
    return _Number(low, whole=True)
