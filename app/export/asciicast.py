r"""A run as a terminal recording (asciicast v2): the coloured text as it came.

Knows the recording's lines and what is written to the terminal. The colours are `draftscope run`'s,
the pace is the window's presentation clock. The text scrolls in its own region; below it one line
says the round and one shows the draft, token by token, until its verdicts have fallen. What a token
holds is never sent as a control, and lines are ended here: where a terminal's cursor stands after
the last column is known to no two of them alike.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from app.export.about import about, run_title
from app.export.figures import readings
from app.export.provenance import LEFT_OUT
from app.export.terminal_flow import Flow
from app.export.withholding import PROMPT
from app.export.words import round_words
from app.viewmodels.presentation import CLOSING_S, PENDING_S, REST_S, VERDICT_S
from app.viewmodels.terminal_marks import harmless, legend, on_one_line, styled
from engine.errors import DraftscopeError
from engine.trace.events import Fate
from engine.trace.markers import PHASES as _PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source
    from app.viewmodels.document import Document
    from engine.trace.events import DraftedToken, Round
    from engine.trace.markers import Marker

SIZE = 100, 30  # columns and rows
_LEAST = 20, 8
_MOST = 500, 200
_BELOW = 2  # rows under the text
_EVERY = 512  # rounds between two words of progress
_END_S = 3.0  # the figures stand before a player begins anew
_TOLD = ("target", "drafter", "settings", "seed", "machine", "recorded", "end")
_UNTESTED = (Fate.DISCARDED, Fate.CUT)
_SAVE, _BACK = "\x1b7", "\x1b8"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_ALL = f"{_SAVE}\x1b[r{_BACK}"  # who plays it in a terminal gets the whole of it back

Line = tuple[float, str, str]  # seconds, "o" or "m", what


def write_cast(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the recording of the chosen run.

    Raises
    ------
    DraftscopeError
        If no terminal has such a size.
    """
    size = options.size or SIZE
    if any(not least <= n <= most for n, least, most in zip(size, _LEAST, _MOST, strict=True)):
        raise DraftscopeError(
            f"{size[0]}x{size[1]} is no size of a terminal: say columns and rows, such as "
            f"--size {SIZE[0]}x{SIZE[1]}."
        )
    with out.open("xb") as file:
        file.write(msgspec.json.encode(_header(source, options, size)) + b"\n")
        for seconds, code, what in _Recording(source, options, size).lines(progress):
            at = msgspec.Raw(f"{seconds:.6f}".encode())
            file.write(msgspec.json.encode((at, code, what)) + b"\n")


def _header(source: Source, options: Options, size: tuple[int, int]) -> dict[str, Any]:
    title = options.title if options.title is not None else source.note.title
    header: dict[str, Any] = {"version": 2, "width": size[0], "height": size[1]}
    stamp = _timestamp(source.started.started_at)
    if stamp is not None:
        header["timestamp"] = stamp
    header["title"] = title or run_title(source.document)
    header["env"] = {"TERM": "xterm-256color"}
    # Players pass over what they do not know.
    header["draftscope"] = about(source, source.document)
    return header


def _timestamp(started_at: str) -> int | None:
    """Return when a run began as the seconds that the format counts, if it says so."""
    try:
        when = datetime.fromisoformat(started_at)
    except ValueError:
        return None
    return int((when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp())


class _Recording:
    """What is written to the terminal, and when."""

    def __init__(self, source: Source, options: Options, size: tuple[int, int]) -> None:
        self._source = source
        self._document: Document = source.document
        self._speed = options.speed
        self._drafts = options.drafts
        self._rows = size[1]
        self._now = 0.0
        self._flow = Flow(size[0])

    def lines(self, progress: Progress) -> Iterator[Line]:
        markers: dict[int, list[Marker]] = {}
        for marker in self._source.markers:
            markers.setdefault(marker.round, []).append(marker)
        yield self._out(self._beginning())
        yield from self._marks(markers.get(-1, ()), _PHASES)
        many = len(self._document.rounds)
        for index, one in enumerate(self._document.rounds):
            if index % _EVERY == 0:
                progress(index, many, "Writing rounds")
            yield from self._round(one, markers.get(index, ()))
        yield self._out(self._ending())
        self._pass(_END_S)
        yield self._out("")

    def _beginning(self) -> str:
        started = self._source.started
        prompt = f"(prompt: {LEFT_OUT})" if PROMPT in started.withheld else started.prompt
        said = [legend(drafts=self._drafts), ""]
        if prompt:
            said += [styled("prompt", self._flow.text(harmless(prompt))), ""]
        self._flow.begin_line()
        region = f"\x1b[2J\x1b[1;{self._rows - _BELOW}r\x1b[H"
        return region + _lines("\n".join([*said, ""])) + self._below("", "")

    def _round(self, one: Round, markers: Sequence[Marker]) -> Iterator[Line]:
        if one.index:
            self._pass(REST_S)
        title = f"round {one.index + 1}"
        shown: list[str] = []
        for token in one.drafted:
            self._pass(PENDING_S)
            shown.append(styled("pending", _alone(token)))
            yield self._out(self._below(title, "".join(shown)))
        if one.drafted:
            yield from self._marks(markers, ("draft",))
            yield from self._verdicts(one, title, shown)
            yield from self._marks(markers, ("verify",))
        self._pass(CLOSING_S)
        text = "" if one.closing is None else self._closing(one)
        yield self._out(text + self._below(f"{title}: {round_words(one)}", ""))
        yield from self._marks(markers, ("done",) if one.drafted else _PHASES)

    def _verdicts(self, one: Round, title: str, shown: list[str]) -> Iterator[Line]:
        """Let verdicts fall one by one; what was never tested follows at once."""
        slot = 0
        while slot < len(one.drafted):
            self._pass(VERDICT_S)
            text = ""
            first = slot
            while slot == first or (slot < len(one.drafted) and _untested(one, slot)):
                token = one.drafted[slot]
                plain = _alone(token)
                shown[slot] = styled(str(token.fate), plain)
                if token.fate is Fate.ACCEPTED:
                    text += self._written("accepted", one.texts[slot])
                elif self._drafts:
                    text += self._written(str(token.fate), plain)
                slot += 1
            yield self._out(text + self._below(title, "".join(shown)))

    def _closing(self, one: Round) -> str:
        assert one.closing is not None  # the caller looked
        return self._written(str(one.closing.kind), one.texts[-1])

    def _written(self, fate: str, text: str) -> str:
        """Return what is appended to the text."""
        return _lines(styled(fate, self._flow.text(harmless(text))))

    def _ending(self) -> str:
        """Return the rest of the text, then the figures and where they come from."""
        document = self._document
        tail = document.finished.tail if document.finished is not None else ""
        text = self._written("plain", tail)
        said = about(self._source, document)
        figures = [one.spoken for one in readings(document.figures_at(len(document.rounds)))]
        facts = [f"{name}: {text}" for name, text in said.items() if _is_told(name)]
        begin = "\n\n" if self._flow.column else "\n"
        told = self._flow.text(harmless(begin + "\n".join([*figures, "", *facts, ""])))
        return text + self._below("", "") + _lines(told) + _ALL

    def _below(self, title: str, draft: str) -> str:
        """Return what rewrites the two lines below the text; the text's own cursor stays."""
        first = self._rows - 1
        return (
            f"{_SAVE}{_NO_WRAP}\x1b[{first};1H\x1b[2K{styled('prompt', title)}"
            f"\x1b[{first + 1};1H\x1b[2K{draft}{_WRAP}{_BACK}"
        )

    def _marks(self, markers: Sequence[Marker], phases: tuple[str, ...]) -> Iterator[Line]:
        for marker in markers:
            if marker.phase in phases:
                yield self._now, "m", harmless(marker.title or marker.id)

    def _pass(self, seconds: float) -> None:
        self._now += seconds / self._speed

    def _out(self, text: str) -> Line:
        return self._now, "o", text


def _alone(token: DraftedToken) -> str:
    """Return a drafted token on one line, its tabs visible: no text stands before it."""
    return on_one_line(token.piece).replace("\t", "⇥")


def _untested(one: Round, slot: int) -> bool:
    return one.drafted[slot].fate in _UNTESTED


def _is_told(name: str) -> bool:
    """Whether a fact is written at the end; all of them stand in the header."""
    return name.startswith("notice") or name in _TOLD


def _lines(text: str) -> str:
    return text.replace("\n", "\r\n")
