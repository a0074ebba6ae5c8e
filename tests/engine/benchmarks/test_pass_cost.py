"""`pass-cost` on a tiny model: what is measured, and the arithmetic of its shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import DraftscopeError, load_model
from engine.benchmarks import runnable
from engine.benchmarks.pass_cost import PassCost, measure, measure_passes
from tests.engine.benchmarks.test_limits_and_work import rates
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(write_tiny_folder(tmp_path / "tiny"))


def measured(folder: str, **changes: object) -> PassCost:
    options = {"device": "cpu", "repeats": 2, "widths": (1, 2, 5), "contexts": (8, 40, 2048)}
    return measure(target=folder, **options | changes)  # type: ignore[arg-type]  # of mixed types


def test_every_width_is_measured_at_every_context_that_fits(folder: str) -> None:
    report = measured(folder, plan="eager")
    (plan,) = report.plans
    assert [(one.context, one.tokens) for one in plan.passes] == [
        (context, tokens) for context in (8, 40) for tokens in (1, 2, 5)
    ]
    for one in plan.passes:
        assert one.time.samples == 2
        assert one.width == one.tokens  # the eager plan pads nothing
        assert 0 < one.read_share <= one.share
        if one.tokens == 1:
            assert (one.cost.low, one.cost.value, one.cost.high) == (1, 1, 1)


def test_every_plan_is_measured_or_said_to_be_left_out(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runnable, "PLANS", ("eager", "unheard-of"))  # a build would take long
    report = measured(folder, contexts=(8,))
    assert [plan.plan for plan in report.plans] == ["eager"]
    (line,) = report.left_out
    assert line.startswith("unheard-of: There is no plan called 'unheard-of'")
    assert report.header.plan is None
    assert report.header.settings["contexts"] == "8"


def test_shares_follow_from_work_and_limits(folder: str) -> None:
    model = load_model(folder, device="cpu", plan="eager").transformer
    limits = rates(1e9, 1e9)
    passes = measure_passes(model, limits, repeats=3, widths=(4,), contexts=(8,))
    assert [one.tokens for one in passes] == [1, 4]  # one token is always there to divide by
    for one in passes:
        assert one.read_share == pytest.approx(one.work.weight_bytes / one.time.median_ns)
        assert one.share == pytest.approx(
            max(one.work.weight_bytes + one.work.cache_bytes, one.work.operations)
            / one.time.median_ns
        )
    assert passes[1].cost.value == pytest.approx(
        passes[1].time.median_ns / passes[0].time.median_ns
    )


def test_passes_leave_nothing_behind(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(folder, device="cpu", plan="eager").transformer
    fed: list[tuple[int, int]] = []
    forward = model.forward
    monkeypatch.setattr(
        model,
        "forward",
        lambda ids, cache: (fed.append((cache.length, len(ids))), forward(ids, cache))[1],
    )
    measure_passes(model, rates(1, 1), repeats=2, widths=(1, 3), contexts=(8, 16))
    timed = fed[2:]  # after one prefill a context
    assert sorted(set(timed)) == [(8, 1), (8, 3), (16, 1), (16, 3)]
    assert all(timed.count(one) == 2 + 2 for one in set(timed))  # repeats and warm-ups


def test_a_model_too_short_for_every_context_is_said_so(folder: str) -> None:
    with pytest.raises(DraftscopeError, match=r"reads 512 tokens.*--contexts"):
        measured(folder, plan="eager", contexts=(2048,))


def test_an_unknown_plan_is_refused(folder: str) -> None:
    with pytest.raises(DraftscopeError, match="no plan called 'nothing'"):
        measured(folder, plan="nothing")
