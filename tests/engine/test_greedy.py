"""Greedy text on the default model is the plain target's, token for token."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from engine.check.greedy import PROMPTS, check_greedy
from engine.drafters.small import SmallModelDrafter
from engine.models.formats.weights import open_checkpoint
from engine.models.transformer import Transformer
from engine.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel

# The matrix is minutes of work on two busy cores; the limit only guards against hanging.
pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def session(smollm2: LoadedModel, default_model_path: Path) -> Session:
    """Return a session with a small model as third drafter: the target's first 20 layers of 30."""
    session = Session(smollm2)
    checkpoint = open_checkpoint(default_model_path)
    config = replace(checkpoint.config, layers=20)
    model = Transformer(config, checkpoint.tensor, smollm2.transformer.plan)
    checkpoint.close()
    info = msgspec.structs.replace(smollm2.info, name="first 20 layers", kind="model")
    drafter = SmallModelDrafter(model, info, "model:short", smollm2.info.vocabulary)
    session.add_drafter("model:short", drafter)
    return session


def test_greedy_texts_are_the_plain_targets(session: Session) -> None:
    report = check_greedy(session, ("ngram", "head", "model:short"))
    assert len(report.cells) == 3 * 3 * 3
    assert {cell.prompt for cell in report.cells} == set(PROMPTS)
    assert report.faults == 0
    if report.plan == "packed":  # rows round alike: not even ties
        assert report.identical == len(report.cells)
    for cell in report.cells:
        assert cell.identical or cell.first_difference is not None
    accepted = dict.fromkeys(("ngram", "head", "model:short"), 0)
    for cell in report.cells:
        accepted[cell.drafter] += cell.accepted
    assert accepted["ngram"] > 0  # the matrix exercised acceptance ...
    assert accepted["head"] > 0
    rounds = sum(cell.rounds for cell in report.cells if cell.drafter == "model:short")
    assert rounds > 0  # ... and rejection, which a poor drafter meets in every round
    assert accepted["model:short"] < rounds * 4


def test_the_targets_own_weights_are_always_accepted(smollm2: LoadedModel) -> None:
    # invariant 3 on the real model, and exactly, where rows round alike
    session = Session(smollm2)
    session.add_drafter(
        "model:self",
        SmallModelDrafter(smollm2.transformer, smollm2.info, "model:self", smollm2.info.vocabulary),
    )
    report = check_greedy(session, ("model:self",), drafted=(4,), prompts=PROMPTS[:1])
    (cell,) = report.cells
    assert cell.identical
    if report.plan == "packed":
        assert cell.accepted == cell.tokens - cell.rounds
