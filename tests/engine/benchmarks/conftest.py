"""Small limits, so that measuring the machine takes no time."""

from __future__ import annotations

import pytest

from engine.benchmarks import limits


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_READ_BYTES", {"cpu": 2**16})
    monkeypatch.setattr(limits, "_SIDE", {"cpu": 32})
