"""Stands for `draftscope train`: the same lines, the same words, no model. Run as a program.

What it does is told by the environment variable STAND_IN; it writes which words it was given, and
what it was called with, into a file beside the drafter's: that is how tests look into it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from engine.training.events import Evaluated, Failed, Preparing, Saved, Stepped, to_line

PROGRAM = Path(__file__)
GREEDY, OVERLAP = (0.62, 0.4, 0.25), (0.6, 0.5)
STEPS = 2000


def say(event: object) -> None:
    print(to_line(event), flush=True)  # type: ignore[arg-type]  # one of them


def main() -> int:
    arguments = sys.argv[1:]
    out = Path(arguments[arguments.index("--out") + 1])
    heard = out.with_suffix(".heard.json")
    how = os.environ["STAND_IN"]
    heard.write_text(json.dumps([arguments]))
    if how == "silent":
        return 3
    if how == "stumble":
        print("Traceback: of no use\ndraftscope: The target cannot be read.", file=sys.stderr)
        return 1
    if how == "refuse":
        say(Failed("There is no target called nobody."))
        return 1
    checkpoint = out.with_suffix(".checkpoint")
    checkpoint.mkdir(exist_ok=True)
    (checkpoint / "asked.json").write_text("{}")
    say(Preparing("writing text", 500, 1000, 250.0))
    print("a library says something", flush=True)
    say(Stepped(100, STEPS, 3.5, 1e-3, 2000.0, 600.0))
    say(Evaluated(100, GREEDY, OVERLAP, 3.4, True))
    words = []
    while how == "wait":
        words.append(sys.stdin.readline().strip())
        if not words[-1]:
            return 1
        heard.write_text(json.dumps([arguments, words]))
        if words[-1] == "stop":
            break
        if words[-1] == "go" and "pause" in words:
            say(Stepped(200, STEPS, 3.0, 1e-3, 2000.0, 500.0))
    out.write_text("a drafter")
    if how != "wait":  # one that was stopped can go on
        shutil.rmtree(checkpoint)
    heard.unlink()
    say(Saved(str(out), 100, GREEDY, OVERLAP))
    return 0


if __name__ == "__main__":
    sys.exit(main())
