"""What may be typed on the command line. Knows words and ranges; imports nothing that computes."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.arguments import (
    DEFAULT_TARGET,
    DRAFTERS,
    PLANS,
    Bias,
    Parser,
    add_pair,
    add_target,
    number,
    whole,
)
from app.cli.parser_bench import add_bench
from app.cli.parser_export import add_export, add_join, add_mark
from app.cli.parser_import import add_import
from app.cli.parser_train import add_train
from app.viewmodels.logit_bias import LARGEST
from engine.drafters.names import ANYWHERE, QUICKEST
from engine.version import VERSION

COMMANDS = (
    *("run", "models", "drafters", "warm-up", "train"),
    *("export", "join", "mark", "import", "schema", "check", "bench"),
)

_WINDOW_EPILOG = """\
commands:
  draftscope run       decode a prompt here in the terminal
  draftscope models    list the models, or fetch one
  draftscope drafters  list the trained drafters
  draftscope warm-up   build the fastest plan for this processor, once
  draftscope train     make a drafter for a target
  draftscope export    make something to take along from a session
  draftscope mark      mark moments of a session, to talk about them
  draftscope join      put several sessions into one, to compare their runs
  draftscope import    make a session of what another program counted
  draftscope schema    print what a line of a session may hold
  draftscope check     check that what is promised holds
  draftscope bench     measure what is claimed, on this machine
Each has its own --help.
"""


def window_parser() -> argparse.ArgumentParser:
    """Return the parser of what opens the window."""
    parser = Parser(
        prog="draftscope",
        description="See speculative decoding happen. Without a command the window opens.",
        epilog=_WINDOW_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"draftscope {VERSION}")
    parser.add_argument("--demo", action="store_true", help="play the recorded session at once")
    parser.add_argument(
        "trace", nargs="?", type=Path, metavar="FILE.jsonl", help="a saved session to open"
    )
    return parser


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of the commands that work without a window."""
    parser = Parser(prog="draftscope")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="decode a prompt here in the terminal"))
    _add_models(commands.add_parser("models", help="list the models, or fetch one"))
    _add_drafters(commands.add_parser("drafters", help="list the trained drafters"))
    _add_warm_up(commands.add_parser("warm-up", help="build the fastest plan for this processor"))
    add_train(commands.add_parser("train", help="make a drafter for a target"))
    add_export(commands.add_parser("export", help="make something to take along from a session"))
    add_join(commands.add_parser("join", help="put several sessions into one"))
    add_mark(commands.add_parser("mark", help="mark moments of a session, to talk about them"))
    add_import(commands.add_parser("import", help="make a session of what another program counted"))
    _add_schema(commands.add_parser("schema", help="print what a line of a session may hold"))
    _add_check(commands.add_parser("check", help="check that what is promised holds"))
    add_bench(commands.add_parser("bench", help="measure what is claimed, on this machine"))
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Decode a prompt and show the fate of each token. The text goes to standard output, "
        "figures to standard error."
    )
    add_target(parser)
    parser.add_argument(
        "--drafter",
        metavar=f"{DRAFTERS}|none",
        help="what proposes tokens; `draftscope drafters` lists the trained ones, and early:LAYERS "
        f"is the target's own first layers (default: {QUICKEST} where the bundled head fits the "
        f"target, else {ANYWHERE})",
    )
    parser.add_argument(
        "--k", type=whole(0), default=4, help="tokens drafted a round (default: %(default)s)"
    )
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT")
    prompt.add_argument(
        "--prompt-file", metavar="FILE", help="UTF-8 text, taken as it is; - reads standard input"
    )
    parser.add_argument("--raw", action="store_true", help="no chat template")
    _add_decoding(parser)
    _add_laws(parser)
    _add_draft(parser)
    _add_output(parser)


def _add_decoding(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("decoding")
    group.add_argument(
        "--temperature", type=number(0.0), default=0.0, help="0 is greedy (default: 0)"
    )
    group.add_argument("--top-k", type=whole(0), default=0, help="0 is off (default: 0)")
    group.add_argument("--top-p", type=number(0.0, 1.0), default=1.0, help="1 is off (default: 1)")
    group.add_argument("--seed", type=whole(0), default=0, help="(default: 0)")
    group.add_argument(
        "--max-new-tokens", type=whole(1), default=64, metavar="N", help="(default: 64)"
    )
    group.add_argument(
        "--stop", action="append", default=[], metavar="TEXT", help="end before this; repeatable"
    )
    group.add_argument("--device", help="cpu, cuda or mps (default: the best there is)")
    group.add_argument("--plan", choices=PLANS, help="how products are computed")
    group.add_argument(
        "--baseline", action="store_true", help="run the plain target too, and compare"
    )
    group.add_argument(
        "--no-probes", action="store_true", help="measure no plain rounds during the run"
    )


def _add_laws(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "laws", "of target and drafter alike; bias, then penalties, come before the temperature"
    )
    group.add_argument(
        "--logit-bias",
        action=Bias,
        default=(),
        metavar="ID=NUMBER",
        help="add NUMBER to a token's logit; repeatable",
    )
    group.add_argument(
        "--repetition-penalty",
        type=number(1 / LARGEST, LARGEST),
        default=1.0,
        metavar="N",
        help="of tokens in prompt and output: divides positive logits, multiplies negative ones; "
        "1 is off (default: 1)",
    )
    for name, when in (("frequency", "each time that"), ("presence", "once if")):
        group.add_argument(
            f"--{name}-penalty",
            type=number(-LARGEST, LARGEST),
            default=0.0,
            metavar="N",
            help=f"subtracted from a token's logit {when} the output, not the prompt, holds it; "
            "0 is off (default: 0)",
        )
    group.add_argument(
        "--min-p",
        type=number(0.0, 1.0),
        default=0.0,
        help="after top-p: leave out tokens below this share of the largest probability; "
        "0 is off (default: 0)",
    )


def _add_draft(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("draft")
    group.add_argument(
        "--drafter-temperature",
        type=number(0.0),
        metavar="N",
        help="the drafter's own (default: the target's)",
    )
    group.add_argument(
        "--confidence",
        type=number(0.0, 1.0),
        default=0.0,
        metavar="N",
        help="a draft ends where the drafter's largest probability is below this; "
        "0 is off (default: 0)",
    )
    group.add_argument(
        "--k-min",
        type=whole(0),
        default=0,
        help="tokens drafted before --confidence may end a draft (default: 0)",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--trace", type=Path, metavar="OUT.jsonl", help="write the session down")
    group.add_argument(
        "--show-drafts",
        action="store_true",
        help="on a terminal: rejected, discarded and cut tokens too",
    )
    group.add_argument("--json", action="store_true", help="one JSON object instead of text")


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.description = "List the models that Draftscope knows, where they are, or fetch one."
    actions = parser.add_subparsers(dest="action", metavar="fetch")
    fetch = actions.add_parser("fetch", help="bring a model to this machine")
    fetch.add_argument("name", help=f"for example {DEFAULT_TARGET}")


def _add_drafters(parser: argparse.ArgumentParser) -> None:
    parser.description = "List the trained drafters, those that come with Draftscope and your own."
    parser.add_argument(
        "--target", default=DEFAULT_TARGET, help="whether they fit it (default: %(default)s)"
    )
    parser.add_argument(
        "--measure",
        nargs="+",
        default=[],
        metavar="DRAFTER",
        help="measure what a token drafted by these costs here, and keep it in their files; best "
        "with nothing else running",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def _add_warm_up(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compile a model's pass for this processor with g++ or clang++, try it beside the packed "
        "plan, and keep it. Done once a machine, in a few seconds; models loaded afterwards use it "
        "if it is at least a tenth faster."
    )
    parser.add_argument("--again", action="store_true", help="build even if it was built before")
    parser.add_argument("--json", action="store_true", help="the record as JSON")


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print the JSON Schema (draft 2020-12) of one line of a saved session, for programs that "
        "read sessions. Kinds and fields that it does not name may come without a new version."
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.description = "Check that what speculation promises holds for a pair of models."
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="WHAT")
    greedy = kinds.add_parser("greedy", help="greedy text equals the plain target's, everywhere")
    greedy.description = (
        "Decode every prompt with every drafter and every k, greedily, with penalties and without, "
        "and compare each text with the plain target's. A tie is told from a fault; only faults "
        "give the exit code 1."
    )
    add_pair(greedy, default=None)
    greedy.add_argument("--k", type=whole(1), nargs="+", default=[1, 4, 8], metavar="N")
    _add_check_law(kinds.add_parser("law", help="sampled text follows the target's law"))
    trace = kinds.add_parser("trace", help="a saved session follows from its own numbers")
    trace.description = (
        "Derive every verdict of a saved session again from its p_target, q_draft and u, every u "
        "from the seed, and texts, lengths and figures from one another. Needs no model. What "
        "does not follow is named and gives the exit code 1."
    )
    trace.add_argument("trace", type=Path, metavar="TRACE.jsonl")
    trace.add_argument("--json", action="store_true", help="one JSON object on standard output")


def _add_check_law(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Draw many times and count: toy laws through the rule, then rounds of one real context. "
        "Chi-square against the target's law, small cells pooled, and the share accepted against "
        "sum(min(p_target, q_draft)). What does not follow gives the exit code 1. With the default "
        "numbers, 5 to 10 minutes on two cores for the default model; --draws sets most of it."
    )
    add_target(parser)
    parser.add_argument(
        "--drafter",
        nargs="+",
        metavar=DRAFTERS,
        help="one or more (default: all that need no file of their own)",
    )
    parser.add_argument("--k", type=whole(1), default=4, help="(default: %(default)s)")
    parser.add_argument("--prompt", metavar="TEXT", help="the context (default: a raw text)")
    parser.add_argument("--raw", action="store_true", help="no chat template for --prompt")
    parser.add_argument(
        "--draws", type=whole(50), default=2_000, metavar="N", help="rounds (default: 2000)"
    )
    parser.add_argument(
        "--toy-draws", type=whole(50), default=200_000, metavar="N", help="(default: 200000)"
    )
    parser.add_argument("--temperature", type=number(0.0), default=1.0, help="(default: 1)")
    parser.add_argument("--top-k", type=whole(0), default=0, help="0 is off (default: 0)")
    parser.add_argument("--top-p", type=number(0.0, 1.0), default=1.0, help="1 is off (default: 1)")
    parser.add_argument("--device", help="cpu, cuda or mps (default: the best there is)")
    parser.add_argument("--plan", choices=PLANS)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    _add_laws(parser)
    _add_draft(parser)
