"""A head's law against a plain reading of its description: blocks, taps, its own output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file

from engine.drafters.metadata import HeadShape
from engine.drafters.protocol import Context, DraftRequest
from engine.drafters.trained import make_trained
from engine.loading import load_model
from engine.sampling import Sampling
from engine.sequence import Sequence
from tests.engine.decoding import PROMPT
from tests.engine.drafters.making import write_for
from tests.engine.drafters.plain_head import Plain
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("taps", [(), (2,), (1, 3)])
@pytest.mark.parametrize("count", [1, 2])
def test_the_law_is_that_of_the_description(
    tmp_path: Path, taps: tuple[int, ...], count: int
) -> None:
    folder = write_tiny_folder(tmp_path / "target", layers=4)
    target = load_model(folder, device="cpu", plan="eager", dtype=torch.float64)
    path = write_for(tmp_path / "head.safetensors", target, HeadShape(count, 40, taps))
    drafter, model = make_trained(f"trained:{path}", target), target.transformer
    sequence = Sequence(model, model.new_pool(), PROMPT)
    sequence.prefill()
    with torch.inference_mode():
        context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
        proposal = drafter.propose(context, DraftRequest(4, Sampling(1.0), [0.1, 0.5, 0.9, 0.4]))
        states = sequence.states(taps).view(len(PROMPT) - 1, 1 + len(taps), -1)
    w = {name: tensor.double() for name, tensor in load_file(path).items()}
    table = load_file(folder / "model.safetensors")["model.embed_tokens.weight"].double()
    plain = Plain(w, table, model.config)
    slots = [plain.slot(*pair, own=False) for pair in zip(states, PROMPT[1:], strict=True)]
    assert proposal.q_draft is not None
    assert len(proposal.tokens) == 4
    ids = w["vocabulary"].long()
    for row, token in zip(proposal.q_draft, proposal.tokens, strict=True):
        x = plain.blocks(torch.stack(slots), count)[-1]
        assert float((row[ids] - plain.law(x)).abs().max()) < 1e-9
        slots.append(plain.slot(x[None], token, own=True))
    assert drafter.cache is not None
    assert drafter.cache.length == len(PROMPT) - 1 + 3
