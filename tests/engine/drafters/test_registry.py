"""The list of trained drafters, their names, and what is said where one is missing or misfits."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from engine import DraftscopeError, RunRequest, Session, Settings
from engine.drafters.names import BUNDLED
from engine.drafters.registry import drafters_folder, find_drafter, list_drafters, usual_drafter
from engine.loading import load_model, make_drafter
from engine.trace.events import RunStarted
from tests.engine.drafters.making import SHAPES, described, drafter_tensors, write_for, write_head
from tests.test_architecture import run_python
from tests.tiny_model import tiny_config, write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel


def test_bundled_and_own_drafters_are_listed(tiny_target: LoadedModel) -> None:
    folder = drafters_folder()
    own = write_for(folder / "mine.safetensors", tiny_target, SHAPES["small"])
    foreign = write_head(folder / "foreign.safetensors", tiny_config())
    (folder / "torn.safetensors").write_bytes(own.read_bytes()[:900])
    (folder / ".hidden.safetensors").write_bytes(b"")
    (folder / "notes.txt").write_text("no drafter")
    entries = {entry.spec: entry for entry in list_drafters()}
    assert [*entries] == [*BUNDLED, "trained:foreign", "trained:mine", "trained:torn"]
    head = entries["head"]
    assert (head.kind, head.target) == ("head", "SmolLM2-135M-Instruct.Q4_1")
    assert head.bundled
    assert head.size == head.path.stat().st_size < 20e6
    mine = entries["trained:mine"]
    tensors = drafter_tensors(SHAPES["small"], tiny_config())
    weights = [one.numel() for name, one in tensors.items() if name != "vocabulary"]
    assert (mine.kind, mine.parameters, mine.size) == ("small", sum(weights), own.stat().st_size)
    assert mine.held_out == described(SHAPES["small"]).held_out
    fits = {spec: entry.fits(tiny_target.fingerprint) for spec, entry in entries.items()}
    assert [spec for spec, fit in fits.items() if fit] == ["trained:mine"]
    assert entries["trained:foreign"].path == foreign
    torn = entries["trained:torn"]
    assert "torn.safetensors is" in torn.problem
    assert torn.kind == ""


def test_the_usual_drafter_is_the_head_behind_a_lookup_where_it_fits(
    tiny_target: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (head,) = (entry for entry in list_drafters() if entry.spec == "head")
    assert head.fingerprint is not None
    assert usual_drafter(head.fingerprint) == "ngram+head"
    assert usual_drafter(tiny_target.fingerprint) == "ngram"
    monkeypatch.setattr("engine.drafters.registry.ROOT", tmp_path)
    assert usual_drafter(head.fingerprint) == "ngram"  # the file is missing


def test_a_missing_bundled_file_is_listed_with_its_sentence_and_refused(
    tiny_target: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.drafters.registry.ROOT", tmp_path)
    monkeypatch.setattr("engine.assets.ROOT", tmp_path)
    assert all("is missing" in entry.problem for entry in list_drafters())
    for name in BUNDLED:
        with pytest.raises(DraftscopeError, match=rf"assets/drafters/{name}\.safetensors is miss"):
            make_drafter(name, tiny_target)


def test_listing_loads_no_torch() -> None:
    code = (
        "import sys, engine.drafters.registry as found; found.list_drafters(); "
        "print('torch' in sys.modules)"
    )
    assert run_python(code).strip() == "False"
    assert "torch" in sys.modules  # the question can be answered otherwise


def test_names_and_paths_find_files_and_traces_name_no_folder(
    tiny_target: LoadedModel, tmp_path: Path
) -> None:
    own = write_for(drafters_folder() / "mine.safetensors", tiny_target, SHAPES["head"])
    other = write_for(tmp_path / "secret" / "other.safetensors", tiny_target, SHAPES["small"])
    assert find_drafter("trained:mine") == own
    assert find_drafter(f"trained:{other}") == other
    session = Session(tiny_target)
    for spec, traced in (("trained:mine", "trained:mine"), (f"trained:{other}", "trained:other")):
        settings = Settings(drafter=spec, k=2, temperature=0.0)
        events = list(session.run(RunRequest(prompt="hello", settings=settings, max_new_tokens=6)))
        started = events[0]
        assert isinstance(started, RunStarted)
        assert started.settings.drafter == traced
        assert started.drafter is not None
        assert started.drafter.kind in ("head", "small")
        assert "50 % of 400 places" in started.drafter.notes[0]
        assert b"secret" not in b"".join(msgspec.json.encode(event) for event in events)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("trained:nobody", "No drafter called 'nobody' was trained here. There are: mine."),
        ("trained:", "No drafter called ''"),
        ("trained:/nowhere/x.safetensors", "no drafter's file /nowhere/x.safetensors"),
        ("trained:x.safetensors", "no drafter's file x.safetensors"),
        ("heed", "no drafter called 'heed'; choose ngram, head, small-2, small-4, trained:NAME"),
    ],
)
def test_an_unknown_name_is_told_what_there_is(
    tiny_target: LoadedModel, spec: str, words: str
) -> None:
    write_for(drafters_folder() / "mine.safetensors", tiny_target, SHAPES["head"])
    with pytest.raises(DraftscopeError) as caught:
        make_drafter(spec, tiny_target)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ("tokenizer", "whose tokenizer differs"),
        ("weights", "whose weights differ."),
        ("all", "whose tokenizer, configuration and weights differ"),
    ],
)
def test_another_target_is_refused_and_what_differs_is_named(
    tiny_target: LoadedModel, tmp_path: Path, change: str, parts: str
) -> None:
    path = write_for(tmp_path / "mine.safetensors", tiny_target, SHAPES["small"])
    other = load_model(write_tiny_folder(tmp_path / "other"), device="cpu", plan="eager")
    right = tiny_target.fingerprint
    assert other.fingerprint == right  # the same model elsewhere is no other target
    fields = ("tokenizer", "configuration", "weights") if change == "all" else (change,)
    # a cached property: what is set here is what it gives
    other.__dict__["fingerprint"] = msgspec.structs.replace(right, **dict.fromkeys(fields, "0"))
    with pytest.raises(DraftscopeError) as caught:
        make_drafter(f"trained:{path}", other)
    said = str(caught.value)
    assert f"mine.safetensors cannot draft for other: it was trained for tiny, {parts}" in said
    assert "draftscope train small --target other --out FILE" in said
