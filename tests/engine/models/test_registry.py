"""The list of models and what a name or a path leads to."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from engine.errors import DraftscopeError
from engine.models.registry import (
    DEFAULT_MODEL,
    KNOWN,
    OPENED,
    ModelEntry,
    data_folder,
    list_models,
    listed_name,
    models_folder,
    remember,
    resolve,
)
from tests.engine.models.formats.model_files import tensors, write_folder, write_gguf


@pytest.fixture
def models() -> Path:
    models_folder().mkdir(parents=True)
    return models_folder()


def others() -> list[ModelEntry]:
    return [entry for entry in list_models() if entry.kind != "known"]


def test_the_default_model_is_listed_before_it_is_here() -> None:
    (entry,) = list_models()
    assert (entry.name, entry.present, entry.licence) == (DEFAULT_MODEL, False, "Apache-2.0")
    assert entry.size == 98_362_432


def test_a_half_copied_default_model_is_not_present(models: Path) -> None:
    (models / KNOWN[DEFAULT_MODEL].file).write_bytes(b"GGUF")
    assert not list_models()[0].present
    assert others() == []


def test_files_and_folders_that_the_user_put_there_are_listed(models: Path) -> None:
    file = write_gguf(models / "mine.gguf", tensors())
    folder = write_folder(models / "folder", tensors())
    (models / "notes.txt").write_text("no model")
    (models / "empty").mkdir()
    (models / ".fetch-abc").mkdir()
    found = {entry.name: (entry.kind, entry.path, entry.size) for entry in others()}
    assert found == {
        "mine": ("gguf", file, file.stat().st_size),
        "folder": ("folder", folder, (folder / "model.safetensors").stat().st_size),
    }


def test_what_was_opened_elsewhere_is_remembered_while_it_is_there(tmp_path: Path) -> None:
    elsewhere = write_gguf(tmp_path / "elsewhere.gguf", tensors())
    remember(elsewhere)
    remember(str(elsewhere))
    assert [entry.path for entry in others()] == [elsewhere]
    assert resolve("elsewhere") == elsewhere
    elsewhere.unlink()
    assert others() == []


def test_a_torn_list_of_opened_models_counts_as_none(models: Path, tmp_path: Path) -> None:
    for torn in ("", "{", '["/a', "[1, null]", "{}"):
        (models / "opened.json").write_text(torn)
        assert others() == []
    remember(write_gguf(tmp_path / "a.gguf", tensors()))
    assert [entry.name for entry in others()] == ["a"]


def test_two_models_of_one_name_stay_apart(models: Path, tmp_path: Path) -> None:
    near = write_gguf(models / "same.gguf", tensors())
    far = write_gguf(tmp_path / "same.gguf", tensors())
    remember(far)
    assert [entry.name for entry in others()] == ["same", str(far)]
    assert [resolve(entry.name) for entry in others()] == [near, far]


def test_every_listed_model_resolves_to_its_path(models: Path) -> None:
    write_gguf(models / "mine.gguf", tensors())
    write_folder(models / "folder", tensors())
    (models / KNOWN[DEFAULT_MODEL].file).write_bytes(b"GGUF")
    for entry in list_models():
        assert resolve(entry.name) == entry.path
    assert resolve("mine.gguf") == models / "mine.gguf"


def test_paths_resolve_to_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_gguf(tmp_path / "a.gguf", tensors())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in (file, str(file), "a.gguf", "./a.gguf", "~/a.gguf"):
        assert resolve(given) == file


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (DEFAULT_MODEL, f"Run: draftscope models fetch {DEFAULT_MODEL}"),
        ("unheard-of", "Run `draftscope models`"),
        ("absent/model.gguf", "There is no file or folder"),
        ("", "No model is called"),
    ],
)
def test_what_is_not_here_says_what_to_do(name: str, said: str) -> None:
    with pytest.raises(DraftscopeError, match=said):
        resolve(name)


@pytest.mark.parametrize(
    "name",
    ["a" * 5000, "a" * 5000 + "/b.gguf", "a\0b", "~nobody-of-this-name/a.gguf", "\ud800", "/"],
)
def test_names_that_no_system_has_are_sentences(name: str) -> None:
    if name == "/":
        assert resolve(name) == Path("/")
        return
    with pytest.raises(DraftscopeError) as caught:
        resolve(name)
    assert len(str(caught.value)) < 240
    assert listed_name(name) == name
    remember(name)
    assert others() == []


def test_a_list_of_opened_models_may_hold_anything(models: Path) -> None:
    named = '["a\\u0000b", "' + "a" * 5000 + '", "\\ud800", "", "/", 7]'
    for torn in ("[" * 100_000, named, '"a"', "\x00"):
        (models / OPENED).write_text(torn)
        assert others() == []


def test_a_models_folder_that_cannot_be_read_offers_nothing(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gguf(models / "mine.gguf", tensors())

    def locked(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", locked)
    assert others() == []


def test_the_data_folder_is_the_users_own_unless_overridden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAFTSCOPE_DATA", str(tmp_path / "own"))
    assert data_folder() == tmp_path / "own"
    monkeypatch.delenv("DRAFTSCOPE_DATA")
    assert data_folder() == Path(platformdirs.user_data_dir("draftscope", False))


def test_a_list_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DRAFTSCOPE_DATA", str(tmp_path / "file"))
    with pytest.raises(DraftscopeError, match="cannot be written"):
        remember(write_gguf(tmp_path / "a.gguf", tensors()))


def test_what_is_no_model_is_neither_listed_nor_kept(models: Path, tmp_path: Path) -> None:
    (models / "page.gguf").write_text("<html>")
    elsewhere = tmp_path / "error.gguf"
    elsewhere.write_text("<html>")
    remember(elsewhere)
    assert [entry.kind for entry in list_models()] == ["known"]
    assert not (models / OPENED).exists()
    assert listed_name(elsewhere) == str(elsewhere)


def test_an_opened_model_goes_by_the_lists_name(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "mine.gguf", tensors())
    remember(file)
    assert listed_name(file) == "mine"
    assert resolve("mine") == file
