"""Texts compared: the first difference, and a tie of the kernels told from a fault of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from safetensors.torch import load_file, save_file

from engine import RunRequest, Session, Settings
from engine.comparison import compare, first_difference
from engine.loading import load_model
from engine.trace.events import Round
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel


def test_first_difference_finds_the_position_or_the_end() -> None:
    assert first_difference([1, 2, 3], [1, 2, 3]) is None
    assert first_difference([1, 2, 3], [1, 5, 3]) == 1
    assert first_difference([1, 2], [1, 2, 3]) == 2


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


def test_tokens_that_score_alike_are_a_tie(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][41] = weights["model.embed_tokens.weight"][40]
    save_file(weights, folder / "model.safetensors")
    target = load_model(folder, device="cpu", plan="eager")
    model = target.transformer
    verdict = compare(model, model.new_pool(), [5, 6, 7], [9, 40, 3], [9, 41, 8], "run")
    assert verdict.first_difference is not None
    assert (verdict.first_difference.position, verdict.first_difference.kind) == (1, "tie")
