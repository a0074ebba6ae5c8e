"""A round can be derived again: its uniforms from seed and position, its phases in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import engine.decoder as decoder_module
import engine.run as run_module
import engine.sequence as sequence_module
from engine import RunRequest, Session, Settings
from engine.acceptance import Verdict, accept
from engine.drafters.small import SmallModelDrafter
from engine.loading import make_drafter
from engine.sampling import Sampling
from engine.trace.events import ClosingKind, Round
from engine.uniforms import Purpose, uniform
from tests.engine.decoding import Scripted, decode

if TYPE_CHECKING:
    from collections.abc import Sequence as Ids
    from pathlib import Path

    import torch

    from engine.drafters.protocol import Context, DraftRequest, Proposal
    from engine.laws import Lawmaker
    from engine.loading import LoadedModel

SEED = 11


@pytest.fixture
def near(exact_target: LoadedModel, near_folder: Path) -> SmallModelDrafter:
    made = make_drafter(f"model:{near_folder}", exact_target)
    assert isinstance(made, SmallModelDrafter)
    return made


def test_each_uniform_is_that_of_its_position_and_purpose(
    exact_target: LoadedModel, near: SmallModelDrafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    # invariant 9
    drafts: list[list[float]] = []
    verdicts: list[tuple[list[float], list[float]]] = []
    propose = near.propose

    def drafted(context: Context, request: DraftRequest) -> Proposal:
        drafts.append(list(request.uniforms))
        return propose(context, request)

    def judged(
        p_target: torch.Tensor,
        q_draft: torch.Tensor | None,
        tokens: Ids[int],
        tests: Ids[float],
        closings: Ids[float],
        laws: Lawmaker | None,
    ) -> Verdict:
        verdicts.append((list(tests), list(closings)))
        return accept(p_target, q_draft, tokens, tests, closings, laws)

    monkeypatch.setattr(near, "propose", drafted)
    monkeypatch.setattr(decoder_module, "accept", judged)
    _, rounds, _ = decode(exact_target, near, k=3, sampling=Sampling(1.0), count=50, seed=SEED)
    assert {one.accepted for one in rounds} >= {0, 1, 3}
    for one, (tests, closings) in zip(rounds, verdicts, strict=True):
        places = range(one.position, one.position + len(one.drafted))
        assert tests == [uniform(SEED, at, Purpose.TEST) for at in places]
        last = Purpose.BONUS if one.drafted else Purpose.PLAIN
        expected = [uniform(SEED, at, Purpose.CORRECTION) for at in places]
        assert closings == [*expected, uniform(SEED, places.stop, last)]
        if one.drafted:
            assert drafts.pop(0) == [uniform(SEED, at, Purpose.DRAFT) for at in places]
        # and the record holds those that decided
        tested = one.drafted[: one.accepted + one.rejected]
        assert [token.u for token in tested] == tests[: len(tested)]
        assert all(token.u is None for token in one.drafted[len(tested) :])
        assert one.closing is not None
        assert one.closing.u == closings[one.accepted]
        kinds = {0: ClosingKind.PLAIN, one.accepted: ClosingKind.BONUS}
        assert one.closing.kind is kinds.get(len(one.drafted), ClosingKind.CORRECTION)


@pytest.mark.parametrize("queued", [False, True])
def test_phases_are_timed_in_their_order_and_wait_for_the_device(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch, queued: bool
) -> None:
    # A clock that only the phases' own work moves: each by another amount.
    now = [0]
    work = {"_propose": 1, "_verify": 20, "_accept": 300, "_commit": 4_000, "_observe": 50_000}
    work["_look"] = 600_000  # observation too, before the commit that it need not wait for
    for name, ns in work.items():
        method = getattr(decoder_module.Decoder, name)

        def slowed(self: object, *arguments: object, method=method, ns=ns) -> object:  # type: ignore[no-untyped-def]  # defaults bind the loop's variables
            now[0] += ns
            return method(self, *arguments)

        monkeypatch.setattr(decoder_module.Decoder, name, slowed)
    monkeypatch.setattr(decoder_module.time, "perf_counter_ns", lambda: now[0])
    waits: list[int] = []
    monkeypatch.setattr(decoder_module, "settle", lambda _: waits.append(now[0]))
    _, rounds, _ = decode(exact_target, Scripted([]), count=5, queued=queued)
    for one in rounds:
        times = one.times
        parts = (times.draft, times.verify, times.accept, times.commit, times.observe)
        assert parts == (1, 20, 300, 4_000, 650_000)
        assert times.round == 4_321  # observation is outside the round's own time
    # once a round, within verify; a queued round waits for nothing but its one transfer
    assert [at % 654_321 for at in waits] == ([] if queued else [21] * len(rounds))


def test_prompts_are_read_to_the_end_before_the_first_round(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[str] = []
    monkeypatch.setattr(sequence_module, "settle", lambda _: waits.append("prefill"))
    monkeypatch.setattr(run_module, "settle", lambda _: waits.append("prepare"))
    monkeypatch.setattr(decoder_module, "settle", lambda _: waits.append("verify"))
    settings = Settings(drafter="ngram", k=2, temperature=0.0)
    request = RunRequest(prompt="hello", settings=settings, max_new_tokens=6, probes=False)
    events = list(Session(exact_target).run(request))
    rounds = sum(isinstance(event, Round) for event in events)
    assert waits == ["prefill", "prepare", *["verify"] * rounds]


def test_what_was_asked_and_matched_is_recorded(exact_target: LoadedModel) -> None:
    drafter = make_drafter("ngram", exact_target)
    _, rounds, _ = decode(exact_target, drafter, k=3, count=40)
    assert {one.k for one in rounds} == {3}
    for one in rounds:
        assert (one.match is None) == (not one.drafted)
    assert any(one.match for one in rounds)
    _, rounds, _ = decode(exact_target, None, k=3, count=4)
    assert {(one.k, one.drafter) for one in rounds} == {(0, "none")}
