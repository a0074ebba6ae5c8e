"""Targets and drafters that do not quite fit: refused in words, or right all the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from engine import DraftscopeError, RunRequest, Session, Settings, load_model, make_drafter
from engine.trace.events import Comparison, DraftEnd, Round
from tests.lawful import assert_lawful
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine import LoadedModel
    from engine.trace.events import Event

TOKENS = 100
ALPHABET = [chr(code) for code in range(33, 127)]  # 94 of them; byte-level, so each is its byte


def write_pair_member(
    folder: Path, rows: int, *, seed: int = 0, context: int = 256, swapped: tuple[int, int] = (0, 0)
) -> Path:
    """Write a tiny model with 100 tokens and a table of `rows`; it has no end token."""
    write_tiny_folder(folder, seed=seed, noise=0.3 * (rows != 128))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["eos_token_id"]
    config |= {"vocab_size": rows, "max_position_embeddings": context}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    weights = load_file(folder / "model.safetensors")
    table = weights["model.embed_tokens.weight"][:rows].clone()
    table[TOKENS:] *= 50.0  # the padding would score highest
    weights["model.embed_tokens.weight"] = table
    save_file(weights, folder / "model.safetensors")
    names = [*ALPHABET, *(f"<more{index}>" for index in range(TOKENS - len(ALPHABET)))]
    one, other = swapped
    names[one], names[other] = names[other], names[one]
    backend = Tokenizer(models.BPE({name: index for index, name in enumerate(names)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.save(str(folder / "tokenizer.json"))
    return folder


def load(folder: Path) -> LoadedModel:
    return load_model(folder, device="cpu", plan="eager", dtype=torch.float64)


def events_of(target: LoadedModel, spec: str, temperature: float, count: int) -> list[Event]:
    settings = Settings(drafter=spec, k=4, temperature=temperature)
    request = RunRequest(
        prompt="abcabc", settings=settings, raw=True, max_new_tokens=count, baseline=True, seed=1
    )
    events = list(Session(target).run(request))
    assert_lawful(events)
    return events


@pytest.mark.case("A39")
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_tables_padded_to_different_sizes_are_one_vocabulary(
    tmp_path: Path, temperature: float
) -> None:
    target = load(write_pair_member(tmp_path / "target", 128))
    small = write_pair_member(tmp_path / "small", 112)
    assert target.info.vocabulary == TOKENS
    assert "last 28 rows" in target.info.notes[-1]
    drafter = make_drafter(f"model:{small}", target)
    assert drafter is not None
    assert "last 12 rows" in drafter.info.notes[0]
    rounds = [
        event
        for event in events_of(target, f"model:{small}", temperature, 60)
        if isinstance(event, Round)
    ]
    drafted = [token for one in rounds for token in one.drafted]
    assert len(drafted) > 60
    emitted = [token for one in rounds for token in one.emitted_ids]
    assert max([*emitted, *(token.id for token in drafted)]) < TOKENS
    shown = [row for token in drafted if token.laws for row in token.laws.ids]
    assert max(shown) < TOKENS  # no law has mass on padding, q_draft's neither


@pytest.mark.case("A42")
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_drafter_with_a_shorter_context_falls_silent_and_the_text_goes_on(
    tmp_path: Path, temperature: float
) -> None:
    target = load(write_pair_member(tmp_path / "target", 128))
    small = write_pair_member(tmp_path / "small", 112, context=64)
    drafter = make_drafter(f"model:{small}", target)
    assert drafter is not None
    assert "reads 64 tokens" in drafter.info.notes[-1]
    events = events_of(target, f"model:{small}", temperature, 128)
    rounds = [event for event in events if isinstance(event, Round)]
    assert sum(one.emitted for one in rounds) == 128
    for one in rounds:
        room = 64 - one.position + 1  # the last token drafted is not fed
        limit = 6 + 128 - one.position - 1
        assert len(one.drafted) == min(4, max(0, room), limit)
        if max(0, room) < min(4, limit):
            assert one.draft_end is DraftEnd.CONTEXT
    silent = [one for one in rounds if not one.drafted and one.draft_end is DraftEnd.CONTEXT]
    assert len(silent) > 40
    if temperature == 0.0:
        (verdict,) = [event for event in events if isinstance(event, Comparison)]
        assert verdict.identical


def test_a_change_of_drafter_past_its_context_is_no_fault(tmp_path: Path) -> None:
    from engine import Control

    target = load(write_pair_member(tmp_path / "target", 128))
    small = write_pair_member(tmp_path / "small", 112, context=16)
    control = Control()
    settings = Settings(drafter="ngram", k=4, temperature=0.0)
    request = RunRequest(prompt="abcabc", settings=settings, raw=True, max_new_tokens=60)
    rounds = []
    for event in Session(target).run(request, control):
        if isinstance(event, Round):
            rounds.append(event)
            if event.index == 8:
                control.change_settings(Settings(drafter=f"model:{small}", k=4, temperature=0.0))
    late = [one for one in rounds if one.index > 8]
    assert late
    assert all(one.draft_end is DraftEnd.CONTEXT and not one.drafted for one in late[:-1])


def test_other_vocabularies_are_refused_with_the_first_entries_that_differ(tmp_path: Path) -> None:
    target = load(write_pair_member(tmp_path / "target", 128))
    other = write_pair_member(tmp_path / "other", 112, swapped=(7, 31))
    with pytest.raises(DraftscopeError) as refusal:
        make_drafter(f"model:{other}", target)
    message = str(refusal.value)
    assert "cannot draft for target" in message
    assert f"token 7 ({ALPHABET[7]!r} and {ALPHABET[31]!r})" in message
    assert f"token 31 ({ALPHABET[31]!r} and {ALPHABET[7]!r})" in message
    assert "Choose a drafter with the same vocabulary" in message
    assert "\n" not in message
