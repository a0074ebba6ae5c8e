"""Where work is put beside other work of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.models import settling
from engine.models.settling import side_stream

if TYPE_CHECKING:
    import pytest


def test_a_device_has_one_side_stream_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: made.append(device) or len(made))
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: stream)
    settling._side.cache_clear()
    first, second = torch.device("cuda:0"), torch.device("cuda:1")
    try:
        found = [side_stream(device)() for device in (first, first, second, first)]
    finally:
        settling._side.cache_clear()
    assert found == [1, 1, 2, 1]
    assert made == [first, second]


def test_on_a_cpu_nothing_changes() -> None:
    with side_stream(torch.device("cpu"))() as entered:
        assert entered is None
