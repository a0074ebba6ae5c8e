"""What goes wrong in a queued round is known after its one transfer, and told as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

import engine.decoder as decoder_module
from engine import DraftscopeError
from engine.drafters.protocol import Context, DraftRequest, Proposal
from engine.drafters.queued import QueuedDraft
from engine.loading import make_drafter
from engine.sampling import Sampling
from engine.trace.events import DraftEnd, Fate
from tests.engine.decoding import Scripted, decode

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.small import SmallModelDrafter
    from engine.loading import LoadedModel
    from engine.sequence import Sequence

LAWS = pytest.mark.parametrize("temperature", [0.0, 1.0])
BROKEN = pytest.mark.parametrize("broken", [float("nan"), float("inf")])


@pytest.fixture
def near(exact_target: LoadedModel, near_folder: Path) -> SmallModelDrafter:
    made = make_drafter(f"model:{near_folder}", exact_target)
    assert made is not None
    return made  # type: ignore[return-value]  # a small model


def spoil(patch: pytest.MonkeyPatch, model: object, broken: float, calls: range) -> None:
    """Let some of a model's scores hold what is no number."""
    logits = model.logits  # type: ignore[attr-defined]  # a transformer
    done = [0]

    def spoilt(hidden: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = logits(hidden)
        if done[0] in calls:
            found[-1, 5] = broken
        done[0] += 1
        return found

    patch.setattr(model, "logits", spoilt)


@LAWS
@BROKEN
@pytest.mark.parametrize("call", range(3))
def test_a_drafters_logits_that_are_no_numbers_name_it(
    exact_target: LoadedModel,
    near: SmallModelDrafter,
    monkeypatch: pytest.MonkeyPatch,
    temperature: float,
    broken: float,
    call: int,
) -> None:
    spoil(monkeypatch, near._model, broken, range(call, call + 1))
    if call == 2:  # and the drafter first, since it was first
        spoil(monkeypatch, exact_target.transformer, broken, range(9))
    with pytest.raises(DraftscopeError, match="drafter's logits are not finite"):
        decode(exact_target, near, k=3, sampling=Sampling(temperature), queued=True)


@LAWS
@BROKEN
@pytest.mark.parametrize("drafts", [True, False])
def test_a_targets_logits_that_are_no_numbers_name_it_and_spoil_no_later_text(
    exact_target: LoadedModel,
    near: SmallModelDrafter,
    monkeypatch: pytest.MonkeyPatch,
    temperature: float,
    broken: float,
    drafts: bool,
) -> None:
    with monkeypatch.context() as patch:
        spoil(patch, exact_target.transformer, broken, range(1, 2))
        with pytest.raises(DraftscopeError, match="target's logits are not finite"):
            decode(
                exact_target,
                near if drafts else None,
                k=3 if drafts else 0,
                sampling=Sampling(temperature),
                queued=True,
            )
    tokens = [
        decode(exact_target, near, sampling=Sampling(temperature), queued=queued)[0]
        for queued in (True, False)
    ]
    assert tokens[0] == tokens[1]


def test_no_numbers_past_the_end_of_a_proposal_end_no_run(
    exact_target: LoadedModel, near: SmallModelDrafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    # no draw was asked for there: a draft that stops would never have come so far
    sampling = Sampling(1.0)
    expected, rounds, _ = decode(
        exact_target, near, k=3, sampling=sampling, confidence=0.999, count=8, queued=False
    )
    assert {one.draft_end for one in rounds} >= {DraftEnd.UNSURE}
    extend = QueuedDraft.extend
    places: list[int] = []

    def spoilt(self: QueuedDraft, logits: torch.Tensor, best: object = None) -> torch.Tensor:
        unsure = any(not bool(one) for one in self._sure)
        places.append(unsure)
        return extend(self, logits * torch.nan if unsure else logits)

    monkeypatch.setattr(QueuedDraft, "extend", spoilt)
    found, _, _ = decode(
        exact_target, near, k=3, sampling=sampling, confidence=0.999, count=8, queued=True
    )
    assert found == expected
    assert sum(places) > 3


class Own(Scripted):
    """A drafter that knows nothing of devices, with laws that it may have got wrong."""

    def __init__(self, vocabulary: int, *, mass: float) -> None:
        super().__init__([])
        self._vocabulary = vocabulary
        self._mass = mass

    def propose(self, context: Context, request: DraftRequest) -> Proposal:
        law = torch.full((request.k, self._vocabulary), 1.0 / (self._vocabulary - 1))
        law[:, 101] = self._mass
        tokens = [101 if u < self._mass else 7 for u in request.uniforms]
        return Proposal(tuple(tokens), law / law.sum(dim=-1, keepdim=True))


@LAWS
def test_a_drafter_of_the_hosts_is_judged_on_the_device(
    exact_target: LoadedModel, temperature: float
) -> None:
    own = Own(exact_target.info.vocabulary, mass=0.5)
    both = [
        decode(
            exact_target, own, k=3, sampling=Sampling(temperature, logit_bias=((101, 30.0),)),
            drafter_sampling=Sampling(1.0), queued=queued, count=30,
        )[:2]
        for queued in (False, True)
    ]  # fmt: skip
    assert both[0][0] == both[1][0]
    verdicts = [[(t.fate, t.u, t.p_target, t.q_draft) for one in rounds for t in one.drafted]
                for _, rounds in both]  # fmt: skip
    assert verdicts[0] == verdicts[1]
    assert {Fate.ACCEPTED, Fate.REJECTED} <= {fate for fate, *_ in verdicts[0]}


@LAWS
@pytest.mark.parametrize("mass", [0.0, float("nan")])
def test_a_broken_law_of_a_drafter_is_told(
    exact_target: LoadedModel, temperature: float, mass: float
) -> None:
    own = Own(exact_target.info.vocabulary, mass=mass)
    own.propose = lambda context, request: Proposal(  # type: ignore[method-assign]  # draws what has no mass
        (101,) * request.k, Own.propose(own, context, request).q_draft
    )
    with pytest.raises(DraftscopeError, match=r"drafter's law is broken .* no mass"):
        decode(exact_target, own, k=2, sampling=Sampling(temperature), queued=True)


def test_a_queued_round_that_breaks_off_leaves_the_caches_right(
    exact_target: LoadedModel, near: SmallModelDrafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequences: list[Sequence] = []
    verify = decoder_module.Decoder._verify

    def broken(self: decoder_module.Decoder, *arguments: object) -> object:
        sequences.append(self.sequence)
        result = verify(self, *arguments)  # type: ignore[arg-type]  # passed on
        if len(sequences) == 3:
            raise RuntimeError("broken off")
        return result

    monkeypatch.setattr(decoder_module.Decoder, "_verify", broken)
    with pytest.raises(RuntimeError, match="broken off"):
        decode(exact_target, near, sampling=Sampling(1.0), queued=True)
    sequence = sequences[-1]
    assert sequence.cache.length == len(sequence.tokens) - 1
    assert sequence.cache.pages == -(-sequence.cache.length // 16)
    assert near.cache.length <= len(sequence.tokens) - 1


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_small_models_shorter_context_ends_a_queued_draft_as_it_ends_any(
    exact_target: LoadedModel, near_folder: Path, temperature: float
) -> None:
    # it reads 16 tokens; the prompt has 11
    import msgspec

    small = make_drafter(f"model:{near_folder}", exact_target)
    assert small is not None
    small.info = msgspec.structs.replace(small.info, context_length=16)
    ends = []
    for queued in (False, True):
        _, rounds, _ = decode(
            exact_target, small, sampling=Sampling(temperature), count=20, queued=queued
        )
        ends.append([(one.draft_end, len(one.drafted), one.emitted_ids) for one in rounds])
    assert ends[0] == ends[1]
    assert DraftEnd.CONTEXT in {end for end, *_ in ends[0]}
