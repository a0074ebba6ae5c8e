"""Logits to laws and laws to tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DraftscopeError
from engine.sampling import Sampling, draw, greedy_ids, probabilities

LOGITS = torch.tensor([[2.0, 1.0, 0.0, -1.0, 1.0]])
rows = st.lists(st.floats(-30, 30), min_size=2, max_size=12)


def test_temperature_one_is_the_softmax() -> None:
    assert torch.equal(probabilities(LOGITS, Sampling(1.0)), torch.softmax(LOGITS, dim=-1))


def test_greedy_is_one_hot_and_the_lowest_id_wins_a_tie() -> None:
    # A29: equal at ids 3 and 7
    logits = torch.zeros(1, 10)
    logits[0, 3] = logits[0, 7] = 5.0
    assert greedy_ids(logits).tolist() == [3]
    assert probabilities(logits, Sampling(0.0))[0].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_top_k_keeps_the_k_largest() -> None:
    law = probabilities(LOGITS, Sampling(1.0, top_k=1))
    assert law[0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    law = probabilities(LOGITS, Sampling(1.0, top_k=3))
    assert (law[0] > 0).tolist() == [True, True, False, False, True]


def test_top_p_keeps_the_fewest_tokens_that_hold_the_mass() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    for top_p, kept in ((0.4, 1), (0.5, 1), (0.51, 2), (0.8, 2), (0.81, 3), (1.0, 4)):
        law = probabilities(logits, Sampling(1.0, top_p=top_p))
        assert int((law > 0).sum()) == kept, top_p
        assert float(law.sum()) == pytest.approx(1.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_smallest_top_p_keeps_the_argmax(dtype: torch.dtype) -> None:
    for top_p in (1e-300, 1e-46, 1e-30):  # the first two are 0 in float32
        law = probabilities(LOGITS.to(dtype), Sampling(1.0, top_p=top_p))
        assert law[0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_top_p_of_a_flat_law_reaches_past_the_first_guess() -> None:
    law = probabilities(torch.zeros(2, 5_000), Sampling(1.0, top_p=0.9))
    assert (law > 0).sum(dim=-1).tolist() == pytest.approx([4_500, 4_500], abs=2)


@given(
    rows,
    st.sampled_from([1e-45, 1e-30, 1e-3, 0.1, 1.0, 3.0, 1e6]),
    st.integers(0, 5),
    st.sampled_from([1e-300, 1e-46, 1e-6, 0.3, 0.9, 1.0]),
)
def test_every_setting_gives_a_law(
    logits: list[float], temperature: float, top_k: int, top_p: float
) -> None:
    law = probabilities(torch.tensor([logits]), Sampling(temperature, top_k, top_p))
    assert bool(torch.isfinite(law).all())
    assert float(law.sum()) == pytest.approx(1.0, abs=1e-5)
    best = int(probabilities(torch.tensor([logits]), Sampling(temperature)).argmax())
    assert float(law[0, best]) > 0.0  # never cut


@given(rows, st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.7, 1.0]))
def test_rows_do_not_depend_on_each_other(
    logits: list[float], temperature: float, top_p: float
) -> None:
    pair = torch.tensor([logits, logits[::-1]])
    sampling = Sampling(temperature, top_p=top_p)
    alone = probabilities(pair[:1], sampling)
    assert torch.equal(probabilities(pair, sampling)[:1], alone)


def test_bfloat16_logits_are_widened_before_anything_else() -> None:
    # A09: the tensor that is drawn from is the tensor that is scored
    assert probabilities(LOGITS.bfloat16(), Sampling(0.7)).dtype == torch.float32
    assert probabilities(LOGITS.double(), Sampling(0.7)).dtype == torch.float64


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda m: sum(m) > 1e-3),
    st.floats(0, 1, exclude_max=True),
)
def test_a_draw_inverts_the_cumulative_law(masses: list[float], u: float) -> None:
    law = torch.tensor(masses, dtype=torch.float64)
    token = draw(law, u)
    cumulative = np.cumsum(masses)
    assert masses[token] > 0.0
    below = cumulative[token - 1] if token else 0.0
    assert below <= u * cumulative[-1] + 1e-12
    assert u * cumulative[-1] <= cumulative[token] + 1e-12


def test_draws_follow_the_law() -> None:
    # A10: all three appear, in their shares
    law = torch.tensor([0.5, 0.3, 0.2])
    tokens = [draw(law, (i + 0.5) / 1000) for i in range(1000)]
    assert np.bincount(tokens).tolist() == pytest.approx([500, 300, 200], abs=1)


def test_a_draw_never_takes_an_id_without_mass() -> None:
    # A46: no filler id 0
    law = torch.tensor([0.0, 1e-12, 0.0, 1.0, 0.0])
    assert draw(law, 0.0) == 1
    assert draw(law, float(np.nextafter(1.0, 0.0))) == 3


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ((-0.1, 0, 1.0), "temperature"),
        ((float("nan"), 0, 1.0), "temperature"),
        ((1.0, -1, 1.0), "top-k"),
        ((1.0, 0, 0.0), "top-p"),
        ((1.0, 0, 1.1), "top-p"),
    ],
)
def test_settings_out_of_range_are_refused_in_a_sentence(
    values: tuple[float, int, float], word: str
) -> None:
    with pytest.raises(DraftscopeError, match=word):
        Sampling(*values)
