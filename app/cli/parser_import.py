"""What may be typed after `draftscope import`. Knows words; reads no file."""

from __future__ import annotations

import argparse
from pathlib import Path

KEYS = ("vllm", "llama.cpp", "lmstudio", "plain")


def add_import(parser: argparse.ArgumentParser) -> None:
    """Add what an import is asked for."""
    parser.description = (
        "Make a session of what another program counted while it decoded speculatively. It holds "
        "what that program told and nothing else: what is missing is shown as missing."
    )
    parser.epilog = (
        "files:\n"
        "  vllm       log lines 'SpecDecoding metrics:', counters of /metrics, or steps' records\n"
        "  llama.cpp  an answer of its server with timings, its log, or what llama-speculative "
        "prints\n"
        "  lmstudio   statistics of the REST API or of an SDK\n"
        "  plain      JSON of any program, as assets/schema/plain-1.schema.json asks"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, metavar="FILE", help="JSON, JSON Lines or a log")
    parser.add_argument("out", type=Path, metavar="OUT.jsonl", help="the session")
    parser.add_argument(
        "--from",
        dest="program",
        choices=KEYS,
        help="whose file it is (default: told by what it holds)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
