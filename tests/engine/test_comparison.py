"""Texts compared: the first difference, and a tie of the kernels told from a fault of ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import torch

from engine import RunRequest, Session, Settings
from engine.cache import PagePool
from engine.comparison import Gap, compare, first_difference, first_gap
from engine.sampling import Sampling
from engine.trace.events import Round

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.cache import KVCache
    from engine.loading import LoadedModel


class Rounding:
    """A made-up model: fixed logits, to which a pass adds what its width rounds to."""

    whole = None

    def __init__(self, logits: Sequence[float], by_width: dict[int, Sequence[float]]) -> None:
        self._logits = torch.tensor(logits, dtype=torch.float64)
        self._by_width = by_width
        self.vocabulary = len(logits)
        self.config = SimpleNamespace(width=1)
        self.plan = SimpleNamespace(dtype=torch.float64, device=torch.device("cpu"))

    def forward(self, ids: Sequence[int], cache: KVCache, lower: object = None) -> Tensor:
        cache.append(len(ids))
        return torch.full((len(ids), 1), len(ids), dtype=torch.float64)

    def logits(self, hidden: Tensor) -> Tensor:
        moved = self._by_width.get(int(hidden[0, 0]), [0.0] * self.vocabulary)
        return (self._logits + torch.tensor(moved, dtype=torch.float64)).expand(len(hidden), -1)


def gap_of(
    model: Rounding,
    speculative: Sequence[int],
    plain: Sequence[int],
    sampling: Sampling = Sampling(),  # noqa: B008  # frozen
) -> Gap:
    pool, prompt = PagePool(1, 1, 1), [0] * 12
    gap = first_gap(model, pool, prompt, speculative, plain, sampling)  # type: ignore[arg-type]  # stands in for one
    assert gap is not None
    assert pool.pages_held == 0
    return gap


def test_first_difference_finds_the_position_or_the_end() -> None:
    assert first_difference([1, 2, 3], [1, 2, 3]) is None
    assert first_difference([1, 2, 3], [1, 5, 3]) == 1
    assert first_difference([1, 2], [1, 2, 3]) == 2


@pytest.mark.parametrize(("apart", "kind"), [(0.19, "tie"), (0.21, "fault")])
def test_a_tie_is_what_lies_within_twice_the_measured_rounding(apart: float, kind: str) -> None:
    model = Rounding([1.0, 5.0, 5.0 + apart], {5: [0.0, 0.1, 0.1]})
    gap = gap_of(model, [2, 1], [2, 2])
    assert gap.rounding == pytest.approx(0.1)
    found = gap.difference
    assert (found.position, found.speculative_id, found.plain_id) == (1, 1, 2)
    assert (found.speculative_logit, found.plain_logit) == (5.0, pytest.approx(5.0 + apart))
    assert found.kind == kind


def test_passes_that_decide_otherwise_are_a_tie() -> None:
    model = Rounding([0.0, 5.0, 5.01], {3: [0.0, 0.02, 0.0]})  # there token 1 is ahead
    assert gap_of(model, [1], [2]).difference.kind == "tie"
    exact = Rounding([0.0, 5.0, 5.01], {})  # rows round alike: nothing but a fault can choose 1
    assert gap_of(exact, [1], [2]).difference.kind == "fault"


@pytest.mark.case("A29")
def test_equal_logits_are_no_tie_of_the_kernels_since_the_lowest_id_wins() -> None:
    equal = Rounding([0.0, 5.0, 5.0], {3: [0.0, 0.5, 0.5]})  # both move alike
    gap = gap_of(equal, [2], [1])
    assert gap.difference.kind == "fault"
    assert gap.difference.speculative_logit == gap.difference.plain_logit == 5.0


def test_a_text_that_ends_earlier_is_a_fault() -> None:
    for speculative, plain, ids in (([1, 2], [1], (2, None)), ([1], [1, 2], (None, 2))):
        gap = gap_of(Rounding([5.0, 5.0, 5.0], {}), speculative, plain)
        found = gap.difference
        assert (found.position, found.kind, gap.rounding) == (1, "fault", None)
        assert (found.speculative_id, found.plain_id) == ids


def test_tokens_are_scored_as_their_texts_were_with_bias_and_penalties() -> None:
    # token 2 was emitted three times: 5 - 3 x 0.5 = 3.5, just above token 1
    model = Rounding([0.0, 3.45, 5.0], {2: [0.0, 0.1, 0.1]})
    assert gap_of(model, [2, 2, 2, 1], [2, 2, 2, 2]).difference.kind == "fault"
    penalised = Sampling(frequency_penalty=0.5)
    gap = gap_of(model, [2, 2, 2, 1], [2, 2, 2, 2], penalised)
    assert gap.difference.kind == "tie"
    assert gap.difference.plain_logit == pytest.approx(3.5)
    biased = Sampling(logit_bias=((1, 1.5),))
    assert gap_of(model, [1], [2], biased).difference.speculative_logit == pytest.approx(4.95)


def test_a_wrong_token_is_told_from_a_tie(tiny_target: LoadedModel) -> None:
    model = tiny_target.transformer
    session = Session(tiny_target)
    settings = Settings(drafter="none", k=0, temperature=0.0)
    request = RunRequest(prompt="hello hello", settings=settings, max_new_tokens=24)
    rounds = [event for event in session.run(request) if isinstance(event, Round)]
    plain = [token for one in rounds for token in one.emitted_ids]
    wrong = [*plain[:5], (plain[5] + 1) % 250, *plain[6:]]
    prompt = tiny_target.tokenizer.encode("user: hello hello\nassistant: ")
    verdict = compare(model, session.pool, prompt, wrong, plain, "run")
    assert not verdict.identical
    assert session.pool.pages_held == 0
    difference = verdict.first_difference
    assert difference is not None
    assert (difference.position, difference.kind) == (5, "fault")
    assert difference.plain_logit is not None
    assert difference.speculative_logit is not None
    assert difference.plain_logit > difference.speculative_logit
    assert compare(model, session.pool, prompt, plain, plain, "run").identical
