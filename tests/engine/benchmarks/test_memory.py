"""`memory`: what is read from the system, what is subtracted and what is divided."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from engine import DraftscopeError, load_model
from engine.benchmarks import runnable
from engine.benchmarks.memory import in_a_process, measure, plan_memory
from engine.benchmarks.memory_probe import Ask, Reading, Stages, high_water, read_status
from engine.benchmarks.work import kept_bytes
from engine.models.layout import count_parameters
from engine.models.plans.packed import PackedPlan
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

STATUS = """Name:\tpython
State:\tR (running)
VmHWM:\t    3000 kB
VmRSS:\t    2500 kB
RssAnon:\t    1500 kB
RssFile:\t     900 kB
RssShmem:\t     100 kB
Threads:\t3
"""


def reading(resident: int, file: int = 0, at: str = "") -> Reading:
    return Reading(resident=resident, anonymous=resident - file, file=file, at=at)


STAGES = Stages(
    imported=reading(100, 30),
    loading_peak=reading(290, 70, "3 of 4 layers loaded"),
    loading_peak_resident=300,
    loaded=reading(250),
    decoding_peak_resident=340,
    decoded=reading(260),
    context=10,
    weight_bytes=100,
    cache_bytes=60,
    store_bytes=128,
)


def test_a_status_is_read_in_bytes() -> None:
    found = read_status(STATUS, "here")
    assert found == Reading(
        resident=2500 * 1024, anonymous=1500 * 1024, file=1000 * 1024, at="here"
    )
    assert high_water(STATUS) == 3000 * 1024


def test_ratios_by_hand() -> None:
    found = plan_memory("eager", STAGES)
    assert (found.base_bytes, found.loaded_bytes, found.decoded_bytes) == (100, 150, 160)
    assert (found.loading_peak_bytes, found.decoding_peak_bytes) == (200, 240)
    assert found.mapped_bytes == 40
    assert found.peak_at == "3 of 4 layers loaded"
    assert found.loading_ratio == 2.0
    assert found.ratio == 240 / 160


def test_ratios_are_of_the_gpus_memory_where_the_weights_are_there() -> None:
    on_gpu = {"device_peak_bytes": 180, "device_decoding_peak_bytes": 200}
    found = plan_memory("eager", msgspec.structs.replace(STAGES, **on_gpu))
    assert (found.loading_ratio, found.ratio) == (1.8, 200 / 160)
    assert found.loading_peak_bytes == 200  # main memory's own


def test_each_plan_is_probed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runnable, "PLANS", ("eager", "unheard-of"))
    asked: list[Ask] = []
    report = measure(
        target="some", device="cpu", context=7, run=lambda ask: (asked.append(ask), STAGES)[1]
    )
    assert asked == [Ask(target="some", device="cpu", plan="eager", context=7)]
    assert [one.plan for one in report.plans] == ["eager"]
    assert report.left_out[0].startswith("unheard-of: ")
    assert report.target_ratio == 1.3


@pytest.mark.parametrize("tied", [True, False])
def test_kept_weights_are_counted_once_where_they_are_shared(tmp_path: Path, tied: bool) -> None:
    folder = write_tiny_folder(tmp_path / "tiny", tied=tied)
    eager = load_model(folder, device="cpu", plan="eager").transformer
    config = eager.config
    table = config.vocabulary * config.width
    unscored = (config.vocabulary - eager.vocabulary) * config.width  # rows that no head has
    parameters = count_parameters(config)
    assert kept_bytes(eager) == 4 * (parameters - (0 if tied else unscored))
    if PackedPlan.available():
        packed = load_model(folder, device="cpu", plan="packed").transformer
        vectors = (2 * config.layers + 1) * config.width
        twice = table if tied else 0  # the head is packed beside the table
        assert kept_bytes(packed) == 2 * (parameters - vectors + twice - unscored) + 4 * vectors


def test_a_process_of_its_own_is_measured(tmp_path: Path) -> None:
    folder = str(write_tiny_folder(tmp_path / "tiny"))
    found = in_a_process(Ask(target=folder, device="cpu", plan="eager", context=100))
    assert found.context == 116  # and the passes after it
    assert found.cache_bytes == 116 * (2 * 2 * 2 * 16) * 4
    assert found.store_bytes >= found.cache_bytes
    assert found.imported.resident <= found.loading_peak_resident
    assert found.imported.resident == found.imported.anonymous + found.imported.file
    assert found.loading_peak.resident <= found.loading_peak_resident + 2**20
    assert found.device_peak_bytes is None  # on a CPU


def test_what_went_wrong_in_the_process_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said = b"Traceback (most recent call last):\nengine.errors.DraftscopeError: There is no x: y.\n"
    failed = subprocess.CompletedProcess([], 1, b"", said)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(DraftscopeError, match=r"process failed: There is no x: y\.$"):
        in_a_process(Ask(target="x"))


def test_elsewhere_a_sentence_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(DraftscopeError, match="only Linux has"):
        in_a_process(Ask(target="some"))
