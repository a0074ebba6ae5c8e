"""A stand-in for `draftscope export` that never ends by itself: it writes a half file and waits.

With STAND_IN=deaf it does not hear that it is to end, as one that hangs.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__)


def main(out: Path) -> None:
    part = out.with_name(f".{out.name}.{os.getpid()}-0badf00d.part")

    def leave(number: int, frame: object) -> None:
        part.unlink()
        raise SystemExit(143)

    signal.signal(signal.SIGTERM, signal.SIG_IGN if os.environ["STAND_IN"] == "deaf" else leave)
    part.write_bytes(b"half")
    print("a library's own words", flush=True)
    print('{"done":1,"tot', end="", flush=True)
    time.sleep(0.02)
    print('al":4,"what":"Painting"}', flush=True)
    while True:
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[3]))  # export TRACE OUT ...
