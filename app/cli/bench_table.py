"""The benchmarks by name: what each tells, which options it takes and where it is measured.

Knows words and names of modules; imports none of them. To add one, add its row: `measure` names a
function that takes the options as keywords (all but `json`) and `progress`, and returns a frozen
msgspec Struct with a `header`; `text` names one that writes such a report for people, without the
header. Both as "module:function".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.arguments import DRAFTERS, add_pair, add_target, number, whole

if TYPE_CHECKING:
    import argparse

    Options = Callable[[argparse.ArgumentParser], None]

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16)  # tokens of a pass
CONTEXTS = (64, 512, 2048)  # positions cached before it
DRAFTED = tuple(range(1, 9))  # k of the articles' experiment
HEATS, STOPS = (0.0, 1.0), (0.3, 0.5, 0.7)  # its temperatures, and when its drafts may stop
DEFAULT = "decoding"  # what `draftscope bench --k 1 2 4` has always measured


@dataclass(frozen=True)
class Benchmark:
    """One row: a name on the command line and what stands behind it."""

    name: str
    says: str  # in one line
    options: Options
    measure: str
    text: str


def common(parser: argparse.ArgumentParser, *, repeats: int | None) -> None:
    """Add what nearly every benchmark takes; no `--repeats` where nothing is repeated."""
    add_target(parser)
    parser.add_argument("--device", help="cpu, cuda or mps (default: the best there is)")
    parser.add_argument("--plan", metavar="NAME", help="how products are computed")
    if repeats is not None:
        parser.add_argument(
            "--repeats",
            type=whole(1),
            default=repeats,
            metavar="N",
            help="samples of each thing that is compared; fewer are quicker (default: %(default)s)",
        )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def _decoding(parser: argparse.ArgumentParser) -> None:
    add_pair(parser, default=["ngram", "head"])
    parser.add_argument("--k", type=whole(1), nargs="+", default=[1, 2, 4], metavar="N")
    parser.add_argument(
        "--temperature", type=number(0.0), default=0.0, help="0 is greedy (default: 0)"
    )
    parser.add_argument(
        "--repeats", type=whole(1), default=1, metavar="N", help="of each prompt (default: 1)"
    )


def _pass_cost(parser: argparse.ArgumentParser) -> None:
    common(parser, repeats=11)
    for name, default in (("--widths", WIDTHS), ("--contexts", CONTEXTS)):
        parser.add_argument(name, type=whole(1), nargs="+", default=default, metavar="N")


def _peers(parser: argparse.ArgumentParser) -> None:
    common(parser, repeats=5)
    parser.add_argument(
        "--drafter",
        nargs="+",
        choices=("none", "ngram", "model"),
        default=("none", "ngram", "model"),
        help="ways of drafting that are compared (default: all)",
    )
    parser.add_argument("--k", type=whole(1), default=4, metavar="N", help="(default: 4)")
    small = parser.add_mutually_exclusive_group()
    small.add_argument(
        "--layers",
        type=whole(1),
        metavar="N",
        help="the small model is the target's own first layers (default: five sixths of them)",
    )
    small.add_argument("--assistant", metavar="PATH", help="a small model of the same vocabulary")
    parser.add_argument(
        "--max-new-tokens", type=whole(8), default=64, metavar="N", help="(default: 64)"
    )


def _rounds(parser: argparse.ArgumentParser, *, repeats: int, drafters: list[str]) -> None:
    """Add what benchmarks of whole rounds take."""
    common(parser, repeats=repeats)
    parser.add_argument(
        "--drafter",
        nargs="+",
        default=drafters,
        metavar=f"none|{DRAFTERS}",
        help=f"one or more (default: {' '.join(drafters)})",
    )
    parser.add_argument("--k", type=whole(1), default=4, help="(default: 4)")
    parser.add_argument(
        "--temperature", type=number(0.0), default=0.0, help="0 is greedy (default: 0)"
    )
    parser.add_argument("--max-new-tokens", type=whole(4), default=48, metavar="N")
    parser.add_argument("--prompt", metavar="TEXT", help="(default: a fixed one)")


def _round_anatomy(parser: argparse.ArgumentParser) -> None:
    _rounds(parser, repeats=5, drafters=["none", "ngram", "head"])


def _overhead(parser: argparse.ArgumentParser) -> None:
    _rounds(parser, repeats=9, drafters=["none", "ngram", "head"])
    parser.set_defaults(drafter=None)  # those, but no head where it was made for another target
    parser.add_argument(
        "--no-window", dest="window", action="store_false", help="measure the engine's half alone"
    )


def _gui(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tokens-per-second", type=number(1.0), default=2000.0, metavar="N", help="(default: 2000)"
    )
    parser.add_argument(
        "--seconds", type=number(1.0), default=10.0, metavar="N", help="(default: 10)"
    )
    parser.add_argument(
        "--rounds",
        type=whole(0),
        default=100_000,
        metavar="N",
        help="of the trace that is opened; 0 opens none (default: 100000, some 500 MB)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def _memory(parser: argparse.ArgumentParser) -> None:
    common(parser, repeats=None)
    parser.add_argument(
        "--context", type=whole(1), default=2048, metavar="N", help="tokens read (default: 2048)"
    )


def _growth(parser: argparse.ArgumentParser) -> None:
    common(parser, repeats=7)
    for name, default, said in (
        ("--contexts", (512, 1024, 2048, 4096, 8192), "cached before a pass"),
        ("--tokens", (1_000, 3_000, 10_000, 30_000, 100_000), "lengths of the session's text"),
    ):
        parser.add_argument(name, type=whole(1), nargs="+", default=default, metavar="N", help=said)
    parser.add_argument("--k", type=whole(1), default=4, help="(default: 4)")


def _articles(parser: argparse.ArgumentParser) -> None:
    common(parser, repeats=1)
    parser.add_argument(
        "--drafter",
        nargs="+",
        metavar="NAME",
        help="one or more (default: the look-up, early exit, the trained ones that are here, and "
        "the head behind a look-up)",
    )
    parser.add_argument("--k", type=whole(1), nargs="+", default=DRAFTED, metavar="N")
    parser.add_argument(
        "--temperature", type=number(0.0), nargs="+", default=HEATS, metavar="T", help="0 is greedy"
    )
    parser.add_argument(
        "--confidence",
        type=number(0.0, 1.0),
        nargs="*",
        default=STOPS,
        metavar="T",
        help="the largest k once more, with drafts that end where the drafter's largest "
        "probability is below T",
    )
    for name, default, said in (
        ("--tokens", 200, "of each text, at most"),
        ("--beginnings", 8, "texts gone on with; 0: prompts alone, with every k"),
        ("--prompts", 6, "of each kind; 0: none"),
    ):
        parser.add_argument(
            name,
            type=whole(0 if name != "--tokens" else 4),
            default=default,
            metavar="N",
            help=f"{said} (default: %(default)s)",
        )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write a table and figures there"
    )


def _exports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trace",
        type=Path,
        nargs="+",
        default=(),
        metavar="TRACE",
        help="(default: the sessions that come with Draftscope)",
    )
    parser.add_argument(
        "--format", nargs="+", default=(), metavar="FORMAT", help="(default: every one)"
    )
    parser.add_argument(
        "--rounds",
        type=whole(0),
        default=0,
        metavar="N",
        help="of a long trace that is exported as well (default: none)",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write a page of results there")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what is exported there")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


BENCHMARKS = (
    Benchmark(
        "decoding",
        "each drafter and k against plain runs of the same prompts, and what a pass costs",
        _decoding,
        measure="engine.benchmarks.decoding:measure",
        text="app.cli.bench_decoding:text",
    ),
    Benchmark(
        "articles",
        "the articles' experiment: every drafter, k and kind of text, predicted and measured",
        _articles,
        measure="app.cli.bench_articles:measure",
        text="app.cli.bench_articles:text",
    ),
    Benchmark(
        "pass-cost",
        "a pass on n tokens over a pass on one, for each plan, and both beside the machine's limit",
        _pass_cost,
        measure="engine.benchmarks.pass_cost:measure",
        text="app.cli.bench_pass_cost:text",
    ),
    Benchmark(
        "peers",
        "plain and speculative decoding against transformers on the same weights, and llama.cpp",
        _peers,
        measure="engine.benchmarks.peers:measure",
        text="app.cli.bench_peers:text",
    ),
    Benchmark(
        "round-anatomy",
        "where the time of a round goes, phase by phase, and where that of its pass goes",
        _round_anatomy,
        measure="engine.benchmarks.round_anatomy:measure",
        text="app.cli.bench_round_anatomy:text",
    ),
    Benchmark(
        "overhead",
        "what being watched costs: observation in the engine, and the window around it",
        _overhead,
        measure="app.cli.bench_overhead:measure",
        text="app.cli.bench_overhead:text",
    ),
    Benchmark(
        "gui",
        "how smooth the window stays while tokens stream in, and how soon a long trace is open",
        _gui,
        measure="app.benchmarks.gui:measure",
        text="app.cli.bench_gui:text",
    ),
    Benchmark(
        "exports",
        "how long each format takes to export and how large it is, for every recorded session",
        _exports,
        measure="app.cli.bench_exports:measure",
        text="app.cli.bench_exports:text",
    ),
    Benchmark(
        "memory",
        "memory while a model is loaded and a long text is read, over what is needed",
        _memory,
        measure="engine.benchmarks.memory:measure",
        text="app.cli.bench_memory:text",
    ),
    Benchmark(
        "growth",
        "what a token costs as its context grows to 8,192 tokens and its session to 100,000",
        _growth,
        measure="engine.benchmarks.growth:measure",
        text="app.cli.bench_growth:text",
    ),
)
