"""Two implementations' greedy texts: one, a tie or a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.benchmarks.peers_texts import WIDTHS, first_difference
from engine.session import Session
from tests.engine.benchmarks.peer_models import PROMPT, peer_of
from tests.engine.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.loading import LoadedModel

COUNT = 12


class Scored:
    """A peer whose logits are ours, moved at one id, and rounding so far apart."""

    def __init__(self, rows: torch.Tensor, rounding: float) -> None:
        noise = torch.zeros(len(WIDTHS), rows.shape[-1])
        noise[1:, 7] = rounding
        self._rows = rows + noise
        self.asked: list[list[int]] = []

    def rows(self, tokens: Sequence[int], widths: Sequence[int]) -> torch.Tensor:
        self.asked.append(list(tokens))
        return self._rows


@pytest.fixture(scope="module")
def session(tiny_target: LoadedModel) -> Session:
    return Session(tiny_target)


@pytest.fixture(scope="module")
def text(tiny_target: LoadedModel) -> list[int]:
    return decode(tiny_target, None, prompt=PROMPT, count=COUNT)[0]


def test_texts_of_two_implementations_are_one(
    session: Session, tiny_folder: Path, text: list[int]
) -> None:
    peer = peer_of(tiny_folder, session.target)
    theirs = peer.decode(PROMPT, "none", 0, COUNT).token_ids
    assert first_difference(session, peer, 0, PROMPT, text, theirs) is None


def test_another_token_is_a_fault_with_both_margins(
    session: Session, tiny_folder: Path, text: list[int]
) -> None:
    peer = peer_of(tiny_folder, session.target)
    wrong = (text[4] + 1) % 256
    theirs = [*text[:4], wrong, *text[5:]]
    found = first_difference(session, peer, 1, PROMPT, text, theirs)
    assert found is not None
    assert (found.prompt, found.position) == (1, 4)
    assert (found.our_id, found.their_id) == (text[4], wrong)
    assert found.our_margin is not None
    assert found.their_margin is not None
    assert found.our_margin > 0.01  # ours held its own token higher
    assert found.their_margin == pytest.approx(-found.our_margin, abs=1e-3)  # and so did theirs
    assert found.kind == "fault"


@pytest.mark.parametrize(
    ("margin", "rounding", "kind"),
    [(0.01, 0.006, "tie"), (0.01, 0.004, "fault"), (0.5, 0.006, "fault")],
)
def test_a_tie_is_what_widths_of_the_peer_could_turn(
    session: Session, text: list[int], margin: float, rounding: float, kind: str
) -> None:
    other = (text[3] + 1) % 256
    theirs = [*text[:3], other, *text[4:]]
    row = torch.zeros(258)
    row[other] = margin  # theirs holds the other token higher by so much
    peer = Scored(row.expand(len(WIDTHS), -1), rounding)
    found = first_difference(session, peer, 0, PROMPT, text, theirs)
    assert found is not None
    assert found.their_margin == pytest.approx(margin)
    assert found.rounding == pytest.approx(rounding, rel=0.01)
    assert found.kind == kind
    assert peer.asked == [[*PROMPT, *text[:3]]]


def test_a_text_that_had_ended_is_a_fault(session: Session, text: list[int]) -> None:
    peer = Scored(torch.zeros(len(WIDTHS), 258), 1.0)
    found = first_difference(session, peer, 0, PROMPT, text, text[:5])
    assert found is not None
    assert (found.position, found.our_id, found.their_id) == (5, text[5], None)
    assert (found.our_margin, found.their_margin, found.kind) == (None, None, "fault")
    assert peer.asked == []
