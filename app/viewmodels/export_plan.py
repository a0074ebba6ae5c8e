"""What is to be exported and how, as the dialog holds it, and as `draftscope export` is asked.

Knows the table of formats, which options each takes, and in which words a choice is refused. Knows
no widget and no process.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from app.export.formats import FORMATS, format_named
from app.export.moments import last_moment, parse_moment
from app.export.options import PANELS, SIZES, THEMES, Options
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.formats import Format
    from app.export.moments import Moment
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Cursor

Look = Literal["picture", "film", "page", "lines"]

SIDES = {"film": (120, 4096), "picture": (64, 7680)}  # least and most pixels
OWN_SIZES = {"gif": (960, 540), "pdf": (1400, 900)}  # where nothing was chosen
_SLIDE = SIZES["slide"]
_SESSIONS_OWN = {"title": "", "at": "", "begin": "", "end": "", "told": "", "run": 0}
_UNNAMEABLE = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60
_WRITTEN_SIZE = re.compile(r"\s*(\d{1,5})\s*[xX×]\s*(\d{1,5})\s*")


class ExportPlan(msgspec.Struct, frozen=True):
    """Everything that an export is asked with; what the format does not take is kept for others.

    Attributes
    ----------
    theme
        One of `THEMES`, or "" for the format's own: light, or a page's reader's.
    size
        A name of `SIZES`, "WIDTHxHEIGHT", or "" for the format's own.
    at, begin, end, told
        Moments, as `app.export.moments` reads them; "" is the format's own choice.
    frame_rate, most_rounds
        0: the format's own.
    title
        "" leaves the session's own.
    """

    format: str = "html"
    theme: str = ""
    size: str = ""
    font_scale: float = 1.0
    title: str = ""
    captions: bool = True
    panel: str = "all"
    at: str = ""
    begin: str = ""
    end: str = ""
    speed: float = 1.0
    frame_rate: float = 0.0
    title_card: bool = True
    drafts: bool = True
    told: str = ""
    svg_text: str = "fonts"
    most_rounds: int = 0
    run: int = 0
    withhold_prompt: bool = False
    withhold_machine: bool = False

    @property
    def made(self) -> Format:
        """The row of the table that was chosen."""
        return format_named(self.format)

    @property
    def look(self) -> Look:
        """What a preview shows: a painted moment, a moment of many, a page's, or lines."""
        takes = self.made.takes
        if "frame_rate" in takes:
            return "film"
        if "panel" in takes:
            return "picture"
        return "page" if "theme" in takes else "lines"

    @property
    def pixels(self) -> tuple[int, int] | None:
        """Width and height that were asked for, or None for the format's own."""
        if "size" not in self.made.takes or not self.size:
            return None
        if self.size in SIZES:
            return SIZES[self.size]
        found = _WRITTEN_SIZE.fullmatch(self.size)
        return (int(found[1]), int(found[2])) if found else None

    @property
    def _asked_size(self) -> str:
        """A size as the command reads it, however a user wrote it."""
        pixels = self.pixels
        if pixels is None or self.size in SIZES:
            return self.size
        return f"{pixels[0]}x{pixels[1]}"

    @property
    def frame(self) -> tuple[int, int]:
        """Width and height that a preview has."""
        return self.pixels or OWN_SIZES.get(self.format, _SLIDE)

    @property
    def options(self) -> Options:
        """What the command makes of the arguments."""
        values: dict[str, Any] = {
            name: getattr(self, name)
            for name in self.made.takes & set(self.__struct_fields__) - {"size"}
        }
        for name in ("frame_rate", "most_rounds", "theme", "title"):
            if name in values:
                values[name] = values[name] or None
        withheld = {"prompt": self.withhold_prompt, "machine": self.withhold_machine}
        values["withheld"] = frozenset(name for name, left_out in withheld.items() if left_out)
        return Options(size=self.pixels, **values)

    def arguments(self, trace: Path, out: Path) -> list[str]:
        """Return what `draftscope export` is called with."""
        words = [str(trace), str(out), f"--format={self.format}"]
        takes = self.made.takes
        typed = {
            "title": self.title,
            "theme": self.theme,
            "size": self._asked_size,
            "font_scale": _unless(self.font_scale, 1.0),
            "panel": "" if self.panel == "all" else self.panel,
            "at": self.at,
            "begin": self.begin,
            "end": self.end,
            "speed": _unless(self.speed, 1.0),
            "frame_rate": _unless(self.frame_rate, 0.0),
            "told": self.told,
            "svg_text": "" if self.svg_text == "fonts" else self.svg_text,
            "most_rounds": _unless(self.most_rounds, 0),
            "run": "" if self.run == 0 else str(self.run + 1),
        }
        # With "=": what a user typed may begin with a dash.
        words += [
            f"{_option(name)}={value}" for name, value in typed.items() if value and name in takes
        ]
        switches = {
            "captions": (self.captions, "--no-captions"),
            "drafts": (self.drafts, "--hide-drafts"),
            "title_card": (self.title_card, "--no-title-card"),
        }
        words += [word for name, (on, word) in switches.items() if not on and name in takes]
        if "withheld" in takes:
            words += ["--withhold=prompt"] * self.withhold_prompt
            words += ["--withhold=machine"] * self.withhold_machine
        return words

    def problem(self, document: Document) -> str:
        """Say in one sentence why this cannot be exported, or "".

        Parameters
        ----------
        document
            The run that is to be exported.
        """
        takes = self.made.takes
        try:
            moments = {
                name: parse_moment(text, document)
                for name, text in (("at", self.at), ("told", self.told), *self._ends())
                if name in takes and text
            }
        except DraftscopeError as fault:
            return str(fault)
        begin, end = moments.get("begin"), moments.get("end")
        if begin is not None and (end or last_moment(document)).round < begin.round:
            return "The film would end before it begins: choose a later end."
        return self._size_problem()

    def _ends(self) -> tuple[tuple[str, str], ...]:
        return (("begin", self.begin), ("end", self.end))

    def _size_problem(self) -> str:
        if "size" not in self.made.takes or not self.size:
            return ""
        pixels = self.pixels
        if pixels is None:
            return f"{self.size} is no size: write WIDTHxHEIGHT."
        if self.look in SIDES:
            least, most = SIDES[self.look]
            if not least <= min(pixels) <= max(pixels) <= most:
                return f"A {self.look} is {least} to {most:,} pixels wide and high."
        return ""

    def moment(self, name: str, document: Document) -> Moment:
        """Return the moment of a field; the end where it names none."""
        try:
            return parse_moment(getattr(self, name), document)
        except DraftscopeError:
            return last_moment(document)

    def file_name(self, called: str) -> str:
        """Propose a file's name for a session that is called so."""
        stem = _UNNAMEABLE.sub("-", called).strip("-. ").lower()[:_LONGEST_NAME].rstrip("-.")
        return f"{stem or 'session'}{self.made.suffixes[0]}"

    def with_suffix(self, path: Path) -> Path:
        """Return the path with the format's end, if its name has none of them."""
        name = path.name.lower()
        if any(name.endswith(suffix) for suffix in self.made.suffixes):
            return path
        return path.with_name(path.name + self.made.suffixes[0])

    def kept(self) -> str:
        """Write what is to be remembered: not what concerns one session alone."""
        return msgspec.json.encode(msgspec.structs.replace(self, **_SESSIONS_OWN)).decode()


def recalled(text: str) -> ExportPlan:
    """Return the plan that was written by `kept`; the first one for what makes no sense."""
    try:
        plan = msgspec.json.decode(text, type=ExportPlan)
        format_named(plan.format)
    except (msgspec.DecodeError, DraftscopeError):
        return ExportPlan()
    known = plan.theme in ("", *THEMES) and plan.panel in PANELS
    sound = known and all(map(math.isfinite, (plan.font_scale, plan.speed, plan.frame_rate)))
    return plan if sound else ExportPlan(format=plan.format)


def moments_offered(document: Document, here: Cursor) -> list[tuple[str, str]]:
    """Return what a moment may be chosen from: titles, and what the command calls them.

    Parameters
    ----------
    here
        Where the window's own picture stands.
    """
    offered = [("The end", "end"), ("The start", "start")]
    if 0 <= here.round < len(document.rounds):
        phase = "" if here.phase == "done" else f":{here.phase}"
        offered.insert(0, (f"Here: round {here.round + 1}", f"{here.round + 1}{phase}"))
    for marker in document.markers:
        where = "start" if marker.round < 0 else f"round {marker.round + 1}"
        offered.append((f"{marker.title or marker.id} ({where})", marker.id))
    return offered


def formats_offered() -> tuple[Format, ...]:
    """Return the table of formats."""
    return FORMATS


def _option(name: str) -> str:
    return {"begin": "--from", "end": "--to"}.get(name, "--" + name.replace("_", "-"))


def _unless(value: float, usual: float) -> str:
    return "" if value == usual else f"{value:g}"
