"""What may be typed after `draftscope export`, `mark` and `join`. Knows words and ranges."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from app.cli.arguments import number, text, whole
from app.export.formats import FORMATS, names
from app.export.moments import HELP
from app.export.options import (
    FONT_SCALES,
    FRAME_RATES,
    PANELS,
    SIZES,
    SPEEDS,
    THEMES,
    WITHHELD,
)


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add what an export is asked for. An option that is not given is None."""
    parser.description = (
        "Make something to take along from a saved session: no model, no network. What it is to be "
        "is told by the end of OUT's name."
    )
    kinds = "\n".join(f"  {one.suffixes[0]:<15} {one.what}" for one in FORMATS)
    parser.epilog = f"formats:\n{kinds}\n\na moment (AT) is {HELP}; rounds count from 1"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("trace", type=Path, metavar="TRACE", help=".jsonl or .jsonl.zst")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--format", metavar="FORMAT", help=f"one of {names()}")
    parser.add_argument(
        "--run",
        type=whole(1),
        metavar="N",
        help="of a trace with several runs, the Nth (default: 1); data hold all of them",
    )
    parser.add_argument(
        "--withhold",
        dest="withheld",
        action="append",
        choices=WITHHELD,
        help="leave out the prompt's text, or the machine; repeatable",
    )
    parser.add_argument("--title", type=text, metavar="TEXT", help="in place of the session's own")
    _add_pictures(parser)
    _add_films(parser)
    others = parser.add_argument_group("pages and slides")
    others.add_argument(
        "--most-rounds", type=whole(1), metavar="N", help="of a page (default: 5000)"
    )
    others.add_argument(
        "--told", metavar="AT", help="round that slides tell step by step (default: a telling one)"
    )
    parser.add_argument("--json", action="store_true", help="progress and result, a line each")


def _add_pictures(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pictures, films and slides")
    group.add_argument(
        "--theme", choices=THEMES, help="(default: light; a page follows its viewer's system)"
    )
    group.add_argument(
        "--size",
        type=_size,
        metavar="WIDTHxHEIGHT",
        help=f"pixels, or one of {', '.join(SIZES)}; columns and rows of a terminal",
    )
    group.add_argument("--font-scale", type=number(*FONT_SCALES), metavar="N", help="(default: 1)")
    group.add_argument(
        "--no-captions",
        dest="captions",
        action="store_const",
        const=False,
        help="pictures without words beside them",
    )
    group.add_argument(
        "--hide-drafts",
        dest="drafts",
        action="store_const",
        const=False,
        help="drafted tokens that were not kept are left out",
    )
    group.add_argument("--panel", choices=PANELS, help="of a picture (default: all)")
    group.add_argument("--at", metavar="AT", help="moment of a picture (default: the end)")
    group.add_argument(
        "--svg-text", choices=("fonts", "outlines"), help="of an SVG (default: fonts, embedded)"
    )


def _add_films(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("films")
    group.add_argument("--from", dest="begin", metavar="AT", help="(default: the start)")
    group.add_argument("--to", dest="end", metavar="AT", help="(default: the end)")
    group.add_argument("--speed", type=number(*SPEEDS), metavar="N", help="(default: 1)")
    group.add_argument(
        "--frame-rate", type=number(*FRAME_RATES), metavar="N", help="frames a second"
    )
    group.add_argument(
        "--no-title-card",
        dest="title_card",
        action="store_const",
        const=False,
        help="begin with the session itself",
    )


def add_mark(parser: argparse.ArgumentParser) -> None:
    """Add what can be done with markers."""
    parser.description = (
        "Mark moments of a saved session: replays pause there, slides and captions tell them. "
        "Without an option the markers are listed. A marker is appended to the file; of those with "
        "one id the last one holds."
    )
    parser.epilog = f"a moment (AT) is {HELP}; rounds count from 1"
    parser.add_argument("trace", type=Path, metavar="TRACE.jsonl")
    parser.add_argument("--run", type=whole(1), default=1, metavar="N", help="(default: 1)")
    parser.add_argument("--at", metavar="AT", help="add a marker here, or move the one of --id")
    parser.add_argument("--id", type=text, metavar="ID", help="of the marker (default: a new one)")
    parser.add_argument("--title", type=text, metavar="TEXT", help="of the marker")
    parser.add_argument("--note", type=text, metavar="TEXT", help="what is to be said there")
    parser.add_argument(
        "--no-pause", dest="pause", action="store_const", const=False, help="replays go on there"
    )
    parser.add_argument("--remove", metavar="ID", help="take a marker away")
    parser.add_argument("--name", type=text, metavar="TEXT", help="what the session is called")
    parser.add_argument(
        "--about", type=text, metavar="TEXT", help="what is to be said of the session"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def add_join(parser: argparse.ArgumentParser) -> None:
    """Add which sessions are put into one."""
    parser.description = (
        "Put several sessions into one trace: replays race their runs side by side, slides and "
        "summaries compare them."
    )
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="TRACE",
        help="two or more, and last the file to write",
    )


def _size(text: str) -> tuple[int, int]:
    if text in SIZES:
        return SIZES[text]
    found = re.fullmatch(r"(\d+)[x×](\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"{text} is no size: write WIDTHxHEIGHT, or one of {', '.join(SIZES)}"
        )
    return int(found[1]), int(found[2])
