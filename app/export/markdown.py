"""Markdown in which nothing that a model or a user wrote is markup, in any CommonMark renderer.

Knows what a renderer takes for markup. Knows no run and no figure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.viewmodels.characters import written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

# What is markup anywhere in a line; of a host: mentions, references, formulas and short names of
# pictures; of an address as it stands: its colon, and the full stop of www.
_MARKS = re.compile(r"[\\`*_{}\[\]~|@#$]|:(?=[a-z_/+-])|(?<=www)\.", re.IGNORECASE)
_TAGS = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BEGIN = re.compile(r"\A([-+=])|\A(\d+)([.)])")  # of a list, of what underlines a heading
_SPACES = re.compile(r"(?<=[ \n]) ")


def escaped(text: str) -> str:
    """Return text that reads as it is, on one line: line breaks are <br>."""
    shown = written(text.replace("\r\n", "\n"))
    shown = _MARKS.sub(r"\\\g<0>", shown)
    for character, entity in _TAGS.items():
        shown = shown.replace(character, entity)
    shown = _SPACES.sub("&nbsp;", shown).replace("\t", "&nbsp;" * 4)
    return shown.replace("\n", "<br>")


def paragraph(text: str) -> str:
    """Return text that may stand at the beginning of a line: no list and no heading begins there.

    White space around it goes, since it would make code of it.
    """
    return _BEGIN.sub(_not_begun, escaped(text.strip()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()) -> str:
    """Return a table of texts, which are escaped.

    Parameters
    ----------
    numbers
        Columns that stand at the right.
    """
    sides = ["--:" if place in numbers else "---" for place in range(len(head))]
    lines = [_row(map(escaped, head)), _row(sides), *(_row(map(escaped, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _not_begun(found: re.Match[str]) -> str:
    return f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
