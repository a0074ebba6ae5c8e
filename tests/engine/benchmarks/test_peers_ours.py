"""Our side of `peers`: what is timed, and the small model that is cut from the target."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch

from engine import observation
from engine.benchmarks.peers_ours import cut, decode, small_drafter, weights_of
from engine.benchmarks.peers_timing import Arrivals
from engine.benchmarks.peers_transformers import TransformersPeer
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.formats.weights import open_checkpoint
from engine.session import Session
from engine.trace.events import Round
from tests.engine.benchmarks.peer_models import PROMPT
from tests.engine.decoding import decode as run
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.request import RunRequest
    from engine.trace.events import Event


def test_a_rate_begins_with_the_first_arrival_and_ends_with_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([100, 1100, 1200, 1500, 2000])
    monkeypatch.setattr("time.perf_counter_ns", lambda: next(moments))
    arrivals = Arrivals()
    for burst in ([1, 2, 3], [4], [5, 6]):
        arrivals.put(burst)
    whole = arrivals.decoded(rounds_ns=350)
    assert whole.token_ids == (1, 2, 3, 4, 5, 6)
    assert (whole.tokens, whole.decode_ns) == (3, 400)
    assert (whole.call_ns, whole.passes, whole.rounds_ns) == (1900, 3, 350)


def test_a_text_of_one_burst_has_no_rate() -> None:
    arrivals = Arrivals()
    arrivals.put([1, 2])
    whole = arrivals.decoded()
    assert (whole.tokens, whole.decode_ns, whole.passes) == (0, 0, 1)


def test_our_side_is_timed_without_observation_probes_or_a_baseline(
    tiny_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing of this may be done while our side is timed")

    monkeypatch.setattr(observation.Observer, "observe", refuse)
    monkeypatch.setattr("engine.plain.Prober.probe", refuse)
    monkeypatch.setattr("engine.run.run_baseline", refuse)
    session = Session(tiny_target)
    plain = decode(session, "hello hello", "none", 4, 40)
    drafted = decode(session, "hello hello", "ngram", 4, 40)
    assert plain.token_ids == drafted.token_ids
    assert plain.passes == len(plain.token_ids) == plain.tokens + 1
    assert drafted.passes <= plain.passes
    for one in (plain, drafted):  # the rounds after the first, within the wall time of them
        assert one.rounds_ns is not None
        assert 0 < one.rounds_ns <= one.decode_ns < one.call_ns


def test_times_of_rounds_are_those_after_the_first_arrival(
    tiny_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Round] = []
    honest = Session.run

    def noting(self: Session, request: RunRequest) -> Iterator[Event]:
        for event in honest(self, request):
            if isinstance(event, Round):
                seen.append(event)
            yield event

    monkeypatch.setattr(Session, "run", noting)
    whole = decode(Session(tiny_target), "hello hello", "ngram", 4, 20)
    assert whole.rounds_ns == sum(one.times.round for one in seen[1:])
    assert whole.tokens == sum(one.emitted for one in seen[1:])
    assert whole.passes == len(seen)


def test_a_failing_run_is_told(tiny_target: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise DraftscopeError("Something broke; mend it.")

    monkeypatch.setattr("engine.decoder.Decoder._accept", broken)
    with pytest.raises(DraftscopeError, match="Something broke"):
        decode(Session(tiny_target), "hello", "none", 4, 8)


@pytest.fixture(scope="module")
def deep_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "deep", layers=3, endless=True)


def test_the_cut_model_is_the_first_layers_with_norm_and_head_on_both_sides(
    deep_folder: Path,
) -> None:
    target = load_model(deep_folder, device="cpu", plan="eager")
    with closing(open_checkpoint(deep_folder)) as checkpoint:
        weights = weights_of(checkpoint, target)
        small = cut(weights, 2)
        theirs = TransformersPeer(weights, (), small)
        alone = TransformersPeer(small, ()).decode(PROMPT, "none", 0, 20).token_ids
        drafter = small_drafter(small, target, "model:first 2 of 3 layers")
    assert (drafter.info.name, drafter.info.kind) == ("first 2 of 3 layers", "model")
    assert drafter.info.layers == 2
    assert drafter.info.parameters < target.info.parameters
    text, rounds, _ = run(target, drafter, k=3, prompt=PROMPT, count=40)
    assert text == run(target, None, prompt=PROMPT, count=40)[0]
    ours = [[token.id for token in one.drafted] for one in rounds]
    assert ours[0] == list(alone[:3])  # what the cut model alone would write
    other = theirs.decode(PROMPT, "model", 3, 40)
    assert list(other.token_ids) == text
    assert other.passes == len(rounds)  # the same drafts, the same verdicts


def test_layers_of_a_cut_model_keep_their_windows(deep_folder: Path) -> None:
    target = load_model(deep_folder, device="cpu", plan="eager", dtype=torch.float32)
    with closing(open_checkpoint(deep_folder)) as checkpoint:
        whole = weights_of(checkpoint, target)
    windowed = replace(whole, config=replace(whole.config, window=8, windowed=(1, 2)))
    small = cut(windowed, 2)
    assert (small.config.layers, small.config.window, small.config.windowed) == (2, 8, (1,))
    for layers in (0, 3, 4):
        with pytest.raises(DraftscopeError, match="choose 1 to 2"):
            cut(whole, layers)
