"""Tokens on a slide: the text so far with each token's fate, the legend, and tokens in boxes.

Knows chips and fates. How a fate looks is the theme's and `slide_runs`'. Knows no law.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.export.slide_deck import Look
from app.export.slide_text import Paragraph, Run, clean, height, largest, scaled
from app.export.withholding import PROMPT
from app.viewmodels.strip import StripModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.export.slide_deck import Box, Page
    from app.theme import FateStyle, Theme
    from app.viewmodels.chips import Chip
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation

MOST_CHIPS = 600  # looked at, however many there are
_SIZES = (22.0, 20.0, 18.0, 16.0)  # of the text, points
_LEGEND = ("accepted", "rejected", "discarded", "cut", "correction", "bonus", "plain", "pending")


def shown_chips(
    document: Document, presentation: Presentation, *, drafts: bool = True
) -> list[Chip]:
    """Return the last tokens that are shown at a moment.

    The prompt's are shown before the first round alone, and not where it is withheld.

    Parameters
    ----------
    drafts
        Whether drafted tokens that were not kept are among them.
    """
    strip = StripModel(document, presentation)
    strip.show_drafts = drafts
    strip.refresh()
    chips = strip.chips[max(0, len(strip.chips) - MOST_CHIPS) :]
    started = document.started
    if presentation.cursor.round < 0 and not (started and PROMPT in started.withheld):
        return chips
    return [chip for chip in chips if chip.fate != "prompt"]


def token_runs(chip: Chip, size: float) -> list[Run]:
    """Return a token as it stands in the text; line ends are runs of their own."""
    return [
        Run(
            "\n" if one.kind == "newline" else clean(one.text),
            size,
            bold=True,
            code=True,
            fate=chip.fate if one.kind != "beyond" else "cut",
        )
        for one in chip.fragments
    ]


def paragraphs_of(chips: Iterable[Chip], size: float, *, begun: bool) -> list[Paragraph]:
    """Return tokens as paragraphs, one a line of the text.

    Parameters
    ----------
    begun
        Whether text before them is left out.
    """
    rows: list[list[Run]] = [[Run("… ", size, code=True, fate="prompt")] if begun else []]
    for chip in chips:
        for run in token_runs(chip, size):
            if run.text == "\n":
                rows[-1].append(replace(run, text="↵"))
                rows.append([])
            else:
                rows[-1].append(run)
    if not rows[-1] and len(rows) > 1:
        rows.pop()
    return [Paragraph(tuple(row) or (Run(" ", size, code=True),)) for row in rows]


def text_so_far(page: Page, box: Box, chips: Sequence[Chip], *, alt: str = "") -> tuple[str, ...]:
    """Add the end of the text, as much as fits, and return the fates that are in it.

    A short text is larger.
    """
    theme = page.theme
    look = Look(fill=theme.base, outline=theme.border, pad=12.0, rounded=True)
    width, room = box.width - 2 * look.pad, box.height - 2 * look.pad
    last = chips[-MOST_CHIPS:]

    def made(count: int, size: float) -> list[Paragraph]:
        begun = count < len(last) or len(last) == MOST_CHIPS
        return paragraphs_of(last[len(last) - count :], size, begun=begun)

    def fits(count: int, size: float) -> bool:
        sized = (scaled(one, page.deck.scale) for one in made(count, size))
        return height(sized, width) <= room

    size = next((one for one in _SIZES if fits(len(last), one)), _SIZES[-1])
    count = max(1, largest(lambda n: fits(n, size), len(last))) if last else 0
    page.text(box, made(count, size) if last else [], look, name="Text so far", alt=alt)
    return tuple(dict.fromkeys(chip.fate for chip in last[len(last) - count :]))


def legend(page: Page, box: Box, fates: Iterable[str]) -> None:
    """Add one line that shows how each of these fates looks."""
    present = set(fates)
    runs: list[Run] = []
    for fate in _LEGEND:
        if fate in present:
            label = page.theme.fates[fate].label
            runs += [Run("   ", 12.0)] if runs else []
            runs.append(Run(label, 12.0, bold=True, code=True, fate=fate))
    if runs:
        page.text(box, [Paragraph(tuple(runs))], name="Legend", alt="How each fate is shown")


def box_look(theme: Theme, fate: str) -> Look:
    """Return how a token's own box is drawn."""
    style: FateStyle = theme.fates[fate]
    dash = {"dotted_box": "dot", "dashed_underline": "dash", "dotted_underline": "dot"}
    kind = dash.get(style.mark, "")
    return Look(
        fill=style.fill,
        outline=style.colour,
        dash="dot" if kind == "dot" else "dash" if kind == "dash" else "",
        weight=1.75,
        rounded=True,
        anchor="ctr",
        pad=3.0,
    )


def token_box(page: Page, box: Box, label: str, fate: str, *, size: float = 18.0) -> None:
    """Add a token in a box of its own, with its fate's colour and mark."""
    run = Run(clean(label), size, bold=True, code=True, fate=fate)
    line = Paragraph((run,), align="centre")
    page.text(box, [line], box_look(page.theme, fate), name=f"Token {clean(label)}", keep=True)
