"""What may be typed after `draftscope train`. Knows words and ranges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.arguments import add_target, number, whole
from engine.training.request import USUAL_MINUTES, USUAL_TEXT, VOCABULARY

if TYPE_CHECKING:
    import argparse


def add_train(parser: argparse.ArgumentParser) -> None:
    """Fill in the parser of the command."""
    parser.description = (
        "Make a drafter for a target: the target writes text, and the drafter is fitted to its "
        "laws along that text. Ctrl+C keeps the best so far; --resume goes on from there."
    )
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="head|small")
    head = kinds.add_parser("head", help="a head that reads the target's states")
    head.add_argument(
        "--blocks", type=whole(1), default=1, metavar="N", help="layers (default: %(default)s)"
    )
    head.add_argument(
        "--taps",
        type=whole(1),
        nargs="*",
        metavar="LAYER",
        help="layers of the target, from 1, whose states it reads beside the last one's; without "
        "numbers none (default: after a third and two thirds)",
    )
    small = kinds.add_parser("small", help="a small model that shares the target's tables")
    small.add_argument(
        "--layers", type=whole(1), default=2, metavar="N", help="(default: %(default)s)"
    )
    small.add_argument(
        "--width", type=whole(8), default=384, metavar="N", help="(default: %(default)s)"
    )
    for each in (head, small):
        _add_common(each)


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="text, or ids as .safetensors, to train on",
    )
    parser.add_argument(
        "--self",
        dest="own_tokens",
        type=whole(0),
        metavar="TOKENS",
        help=f"how much text the target writes itself (default: {USUAL_TEXT}, or none with "
        "--corpus)",
    )
    parser.add_argument(
        "--vocabulary",
        type=whole(2),
        default=VOCABULARY,
        metavar="N",
        help="how many ids are scored, the commonest ones (default: %(default)s)",
    )
    parser.add_argument(
        "--from",
        dest="begin",
        metavar="DRAFTER",
        help="a trained drafter of the same sizes to go on from: head, small-2, small-4, "
        "trained:NAME or a file; held-out figures flatter if it has seen the text that is kept",
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--minutes",
        type=number(0.0),
        default=USUAL_MINUTES,
        help="how long it is fitted, text not included (default: %(default)s)",
    )
    ends.add_argument("--steps", type=whole(1), metavar="N", help="or how many steps")
    parser.add_argument(
        "--seed", type=whole(0), default=0, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument("--device", help="cpu, cuda or mps (default: the best there is)")
    parser.add_argument("--resume", action="store_true", help="go on with one that was stopped")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.safetensors")
    parser.add_argument(
        "--json",
        action="store_true",
        help="an event a line on standard output; the words pause, go and stop, one a line, are "
        "read from standard input",
    )
