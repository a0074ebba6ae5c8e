"""Reads of tensors by the host are counted, once each, and only while watched."""

from __future__ import annotations

import torch

from engine.benchmarks.host_reads import HostReads


def test_every_way_of_reading_counts_once() -> None:
    one, many = torch.tensor(3), torch.tensor([1.5, 2.5])
    with HostReads() as reads:
        assert [one.item(), int(one), bool(one), float(many[0])] == [3, 3, True, 1.5]
        assert many.tolist() == [1.5, 2.5]
        assert list(range(5))[one] == 3  # as an index
        assert many.cpu().numpy().sum() == 4.0
    assert reads.count == 8
    assert reads.ns > 0


def test_computing_is_no_reading() -> None:
    with HostReads() as reads:
        torch.ones(4).sum() + torch.arange(3).max()
    assert (reads.count, reads.ns) == (0, 0)


def test_torch_is_as_before_afterwards() -> None:
    before = {name: getattr(torch.Tensor, name) for name in ("tolist", "item", "__int__")}
    with HostReads() as reads:
        pass
    int(torch.tensor(1))
    assert reads.count == 0
    assert {name: getattr(torch.Tensor, name) for name in before} == before
