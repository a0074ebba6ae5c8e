"""`growth` on a tiny model: which passes are timed, and that a long session is a real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine import Session, Settings, load_model
from engine.benchmarks import long_session
from engine.benchmarks.chain_model import ChainModel, chain_target
from engine.benchmarks.growth import measure, measure_contexts
from engine.benchmarks.long_session import PARTS, run_long_session
from engine.benchmarks.rounds import timed_rounds
from engine.prompting import prompt_tokens
from engine.request import RunRequest
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel


@pytest.fixture
def tiny(tmp_path: Path) -> LoadedModel:
    return load_model(write_tiny_folder(tmp_path / "tiny"), device="cpu", plan="eager")


def test_a_chain_goes_on_three_quarters_of_the_time() -> None:
    model = ChainModel(2_000)
    law = torch.softmax(model.logits(torch.tensor([[3.0], [511.0], [1_999.0]])), dim=-1)
    assert law.argmax(dim=-1).tolist() == [10, 6, (1_999 % 512 + 7) % 512]
    assert (law.amax(dim=-1) > 0.6).all()
    assert (law.amax(dim=-1) < 0.9).all()
    assert law[:, 512:].sum() < 1e-20  # ids that no round is to write


def test_a_chain_runs_under_the_real_session(tiny: LoadedModel) -> None:
    request = RunRequest(
        prompt="a",
        raw=True,
        settings=Settings(drafter="ngram", k=3, temperature=0.0),
        max_new_tokens=600,
        probes=False,
    )
    (first,) = prompt_tokens(tiny, "a", raw=True)
    found = timed_rounds(Session(chain_target(tiny, 700, [first])), request)
    ids = [token for one in found for token in one.record.emitted_ids]
    size = tiny.info.vocabulary
    assert ids == [(first + 7 * (i + 1)) % size for i in range(600)]
    assert len(found) < 600  # what has been there once is copied from then on


def test_a_session_is_timed_before_each_mark(tiny: LoadedModel) -> None:
    said: list[tuple[int, int, str]] = []
    found = run_long_session(tiny, (60, 400), lambda *where: said.append(where), window=10)
    assert found.tokens >= 400
    assert 400 / 5 <= found.rounds <= 400
    first, last = found.marks
    assert (first.tokens, last.tokens) == (60, 400)
    assert last.rounds == 10
    assert first.over_first.value == 1
    assert last.over_first.value > 0
    assert last.journal_bytes > 3 * first.journal_bytes  # it is written, and grows with the text
    assert tuple(last.parts) == PARTS
    assert all(taken > 0 for taken in last.parts.values())
    assert said[-1][1] == 400


def test_only_rounds_of_one_kind_are_compared(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: list[int] = []
    consume = long_session._consume
    monkeypatch.setattr(
        long_session,
        "_mark",
        lambda tokens, samples, written, first: kinds.append(len(samples)),
    )
    drafted: list[int] = []

    def watched(event: object, *rest: object) -> tuple[int, ...]:
        if hasattr(event, "drafted"):
            drafted.append(len(event.drafted))
        return consume(event, *rest)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(long_session, "_consume", watched)
    run_long_session(tiny, (200,), window=10_000)
    assert kinds == [drafted.count(4)]
    assert len(drafted) > kinds[0]


def test_passes_are_timed_after_each_length_of_one_text(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, fed = tiny.transformer, []
    forward = model.forward
    monkeypatch.setattr(
        model,
        "forward",
        lambda ids, cache: (fed.append((cache.length, len(ids))), forward(ids, cache))[1],
    )
    costs, prefill = measure_contexts(model, (64, 100, 300), k=2, repeats=2)
    assert [(one.begin, one.end) for one in prefill] == [(0, 64), (64, 100), (100, 300)]
    assert fed[:4] == [(0, 64), (64, 36), (100, 128), (228, 72)]
    timed = fed[4:]
    assert sorted(set(timed)) == [(64, 1), (64, 3), (100, 1), (100, 3), (300, 1), (300, 3)]
    assert all(timed.count(one) == 3 for one in set(timed))  # repeats and a warm-up
    assert [one.context for one in costs] == [64, 100, 300]
    assert costs[0].one_over_first.value == costs[0].several_over_first.value == 1
    for one in costs:
        assert one.cost.value == pytest.approx(one.several.median_ns / one.one.median_ns)


def test_contexts_are_cut_to_the_models_own_length(tmp_path: Path) -> None:
    folder = str(write_tiny_folder(tmp_path / "tiny"))
    report = measure(
        target=folder,
        contexts=(100, 8192),
        tokens=(150, 90),
        k=2,
        repeats=1,
        device="cpu",
        plan="eager",
    )
    assert [one.context for one in report.contexts] == [64, 100, 512 - 3]
    assert [one.tokens for one in report.session.marks] == [90, 150]
    assert report.header.plan == "eager"
