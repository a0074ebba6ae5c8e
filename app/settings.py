"""What the window remembers: each setting declared once, with its type, default and help.

Knows the settings file and its version. Knows no Qt: the window's arrangement is an opaque string
here. A file that makes no sense is kept as a backup and replaced by the defaults.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.files import write_atomically
from app.paths import config_folder
from app.viewmodels.logit_bias import written_bias
from app.viewmodels.more import LEAST_REPETITION, MOST_K, MOST_PENALTY, MOST_TEMPERATURE
from app.viewmodels.prompt import LARGEST_SEED, MOST_TOKENS, MOST_TOP_K, PromptState

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
MOST_RECENT = 10

Value = bool | int | float | str | list[str] | list[int]


@dataclass(frozen=True)
class Setting:
    """One declared setting.

    Attributes
    ----------
    name
        Group and name, as `decode.k`.
    default
        Its type is the setting's type; an int is taken where a float is declared.
    minimum, maximum
        Bounds of a number, both included.
    choices
        The only values allowed, if there are any.
    """

    name: str
    default: Value
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        """Return whether `value` may be stored under this setting."""
        if isinstance(self.default, bool) or isinstance(value, bool):
            return isinstance(self.default, bool) and isinstance(value, bool)
        if isinstance(self.default, list):
            if not isinstance(value, list):
                return False
            kind = int if self.name.endswith("geometry") else str
            return all(isinstance(item, kind) for item in value)
        if isinstance(self.default, float):
            if not isinstance(value, int | float) or value != value:
                return False
        elif not isinstance(value, type(self.default)):
            return False
        if isinstance(value, int | float):
            low = self.minimum is None or value >= self.minimum
            return low and (self.maximum is None or value <= self.maximum)
        return not self.choices or value in self.choices


_FIRST = PromptState()  # decides what a new user finds in the prompt panel
_MORE = _FIRST.more

DECLARED = (
    Setting("models.target", _FIRST.target, "Name or path of the target."),
    Setting(
        "models.drafter",
        _FIRST.drafter,
        "The drafter: ngram, head, none, model:NAME or early:LAYERS.",
    ),
    Setting("decode.raw", _FIRST.raw, "Give the prompt to the model with no chat template."),
    Setting("decode.k", _FIRST.k, "Tokens that the drafter proposes in a round.", 0, MOST_K),
    Setting("decode.temperature", _FIRST.temperature, "0 is greedy.", 0.0, MOST_TEMPERATURE),
    Setting("decode.top_k", _FIRST.top_k, "Keep the k likeliest tokens; 0 is off.", 0, MOST_TOP_K),
    Setting("decode.top_p", _FIRST.top_p, "Keep the fewest of this mass; 1 is off.", 0.0, 1.0),
    Setting("decode.seed", _FIRST.seed, "Of every uniform that is drawn.", 0, LARGEST_SEED),
    Setting("decode.limit", _FIRST.limit, "Most tokens that a run emits.", 1, MOST_TOKENS),
    Setting("decode.baseline", _FIRST.baseline, "Run the plain target to its end afterwards."),
    Setting("decode.min_p", _MORE.min_p, "Share of the largest that is kept; 0 is off.", 0.0, 1.0),
    Setting(
        "decode.repetition_penalty",
        _MORE.repetition_penalty,
        "On logits of tokens in prompt and output; 1 is off.",
        LEAST_REPETITION,
        MOST_PENALTY,
    ),
    Setting(
        "decode.presence_penalty",
        _MORE.presence_penalty,
        "Off a logit once if the output holds the token; 0 is off.",
        -MOST_PENALTY,
        MOST_PENALTY,
    ),
    Setting(
        "decode.frequency_penalty",
        _MORE.frequency_penalty,
        "Off a logit each time that the output holds the token; 0 is off.",
        -MOST_PENALTY,
        MOST_PENALTY,
    ),
    Setting("decode.logit_bias", written_bias(_MORE.logit_bias), "Biases: ID=NUMBER, ID=NUMBER."),
    Setting(
        "decode.drafter_temperature",
        -1.0,
        "The drafter's own; below 0 it is the target's.",
        -1.0,
        MOST_TEMPERATURE,
    ),
    Setting("decode.k_min", _MORE.k_min, "Drafted before a draft may end unsure.", 0, MOST_K),
    Setting("decode.confidence", _MORE.confidence, "Below it a draft ends; 0 is off.", 0.0, 1.0),
    Setting("decode.prompt", _FIRST.prompt, "The prompt as it was left."),
    Setting("view.theme", "system", "Colours.", choices=("system", "light", "dark")),
    Setting("view.speed", 1.0, "Presentation speed; 0 shows rounds as they come.", 0.0, 64.0),
    Setting("view.show_rejected", True, "Show rejected drafts in place."),
    Setting("view.pause_at_markers", True, "Let replays hold at markers that ask for it."),
    Setting("view.more", False, "Show all settings in the prompt panel."),
    Setting("window.geometry", [], "x, y, width, height and 1 if maximised."),
    Setting("window.arrangement", "", "Where the docks stand (base64)."),
    Setting("export.plan", "", "The last export's format and options (JSON)."),
    Setting("files.recent", [], "Sessions opened or saved, newest first."),
    Setting("files.folder", "", "Where the last file was opened or saved."),
)
_BY_NAME = {setting.name: setting for setting in DECLARED}


class Settings:
    """The values of the declared settings, read once and written on `save`.

    Attributes
    ----------
    notice
        One sentence for the user if the file made no sense, else empty.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else config_folder() / "settings.json"
        self.notice = ""
        self._values: dict[str, Value] = {}
        self._read()

    def __getitem__(self, name: str) -> Any:
        setting = _BY_NAME[name]
        value = self._values.get(name, setting.default)
        return list(value) if isinstance(value, list) else value

    def __setitem__(self, name: str, value: Value) -> None:
        if not _BY_NAME[name].accepts(value):
            raise ValueError(f"{name} cannot be {value!r}")
        self._values[name] = list(value) if isinstance(value, list) else value  # type: ignore[assignment]  # a copy keeps its item type

    def remember_file(self, path: Path) -> None:
        """Put a session file first among the recent ones."""
        name = str(path.resolve())
        others = [item for item in self["files.recent"] if item != name]
        self["files.recent"] = [name, *others][:MOST_RECENT]
        self["files.folder"] = str(path.resolve().parent)

    def forget_file(self, path: Path) -> None:
        """Drop a session file that is gone from the recent ones."""
        self["files.recent"] = [item for item in self["files.recent"] if item != str(path)]

    def save(self) -> None:
        """Write the file, whole or not at all.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        document = {"version": VERSION, "values": self._values}
        write_atomically(self.path, json.dumps(document, indent=1).encode() + b"\n")

    def _read(self) -> None:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            self.notice = f"The settings could not be read ({error.strerror}); defaults are used."
            return
        try:
            document = json.loads(content)
            if document["version"] != VERSION:
                raise ValueError(f"version {document['version']}")
            values = dict(document["values"])
        except (ValueError, KeyError, TypeError):
            self._set_aside(content)
            return
        for name, value in values.items():
            setting = _BY_NAME.get(name)
            if setting is not None and setting.accepts(value):
                self._values[name] = value

    def _set_aside(self, content: bytes) -> None:
        backup = self.path.with_suffix(".backup.json")
        try:
            write_atomically(backup, content)
            kept = f"the old file is kept as {backup.name}"
        except OSError:
            kept = "the old file could not be kept"
        self.notice = f"The settings file made no sense, so defaults are used; {kept}."
