"""The window closes while the plan is being built: the compiler and what it wrote are gone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.app.test_closing import close_while
from tests.app.waiting import wait_until
from tests.processes import is_gone

# Says that it began, and leaves what it writes to a program of its own, as compilers do.
COMPILER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo half > "$2"
sleep 300 &
echo $! $$ > "$DRAFTSCOPE_DATA/begun"
wait
"""


@pytest.mark.compiler
def test_close_ends_the_build_at_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "slow++"
    compiler.write_text(COMPILER)
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CXX", str(compiler))
    close_while("build", tmp_path, tmp_path, 500)
    data = Path(os.environ["DRAFTSCOPE_DATA"])
    numbers = [int(number) for number in (data / "begun").read_text().split()]
    assert len(numbers) == 2
    wait_until(lambda: all(is_gone(number) for number in numbers), "the compiler's end")
    assert list((data / "kernels").iterdir()) == []
