"""A program that is run to its end, or ended with all that it started."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from engine.models.native.process import BuildCancelled, run
from tests.processes import is_gone

if TYPE_CHECKING:
    from pathlib import Path


def test_what_it_says_and_how_it_ended_is_kept() -> None:
    code = "import sys; print('out'); print('why', file=sys.stderr); sys.exit(3)"
    ended = run([sys.executable, "-c", code], lambda: False)
    assert (ended.code, ended.output.strip(), ended.complaint.strip()) == (3, b"out", "why")


@pytest.mark.compiler  # where a library is built, processes are looked up as Linux has them
@pytest.mark.parametrize("signals", ["", "trap '' TERM;"], ids=["willing", "deaf"])
def test_a_cancelled_program_ends_with_what_it_started(tmp_path: Path, signals: str) -> None:
    begun = tmp_path / "begun"
    script = f"{signals} sleep 300 & echo $! $$ > {begun}.new; mv {begun}.new {begun}; wait"
    with pytest.raises(BuildCancelled):
        run(["/bin/sh", "-c", script], begun.is_file)
    numbers = [int(number) for number in begun.read_text().split()]
    assert len(numbers) == 2
    deadline = time.monotonic() + 20
    while not all(is_gone(number) for number in numbers):
        assert time.monotonic() < deadline
        time.sleep(0.01)
