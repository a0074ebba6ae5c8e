"""A trace as slides: native text, shapes and charts that can be edited wherever a deck is opened.

Knows the order of the slides, the first one, and those of markers. How each part looks is the other
files' whose names begin with `slide_`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.header import detail
from app.export.moments import moment_of
from app.export.provenance import LEFT_OUT
from app.export.slide_court import case_at, court_panel
from app.export.slide_deck import CONTENT, Box, Deck, Look
from app.export.slide_fates import legend, shown_chips, text_so_far
from app.export.slide_figures import figure_slides
from app.export.slide_file import describe, moment, save
from app.export.slide_summary import comparison, measured, summary
from app.export.slide_text import one_line, words
from app.export.slide_told import Told, told_round
from app.export.withholding import MACHINE, PROMPT
from app.theme import THEMES
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from app.viewmodels.settings_words import settings_words

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.slide_deck import Page
    from app.export.source import Source
    from app.viewmodels.document import Document
    from engine.trace.events import ModelInfo
    from engine.trace.markers import Marker

_PHASES = {"draft": "drafted", "verify": "judged", "done": "finished"}
_EXCERPT = 600  # letters of a prompt


def write_pptx(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write a deck: title, a slide a marker, one round told, figures, summary, provenance.

    Raises
    ------
    DraftscopeError
        If the round that is to be told is none of the run, or cannot be read any more.
    OSError
        If the file cannot be written.
    """
    document = source.document
    told = told_round(document, options)
    steps = len(source.markers) + 4
    title = one_line(options.title or "") or deck_title(source)
    foot = f"{title} · recorded with Draftscope"
    deck = Deck(THEMES[options.painted_theme], options.font_scale, foot)
    _opening(deck, source, title, captions=options.captions)
    for number, marker in enumerate(source.markers):
        progress(number, steps, "Making the slides of markers")
        _marked(deck, source, marker, number, captions=options.captions)
    progress(len(source.markers), steps, "Telling a round")
    if told is not None:
        Told(deck, document, told, options).add()
    progress(steps - 3, steps, "Making the slides of figures")
    if len(document.rounds):
        figure_slides(deck, document, captions=options.captions)
    if len(source.runs) > 1:
        comparison(deck, source)
    summary(deck, document)
    measured(deck, source, captions=options.captions)
    deck.end()
    progress(steps - 1, steps, "Writing the slides")
    when = moment(source.started.started_at)
    describe(deck.presentation, title, "One recorded run of speculative decoding", when)
    save(deck.presentation, out, when)


def deck_title(source: Source) -> str:
    """Return what a session is called: its own title, or who drafted for whom."""
    if source.note.title.strip():
        return one_line(source.note.title)
    started = source.started
    if started.drafter is None:
        return f"{one_line(started.target.name)}, alone"
    return f"{one_line(started.drafter.name)} drafts for {one_line(started.target.name)}"


def _opening(deck: Deck, source: Source, title: str, *, captions: bool) -> None:
    started, theme = source.started, deck.theme
    page = deck.opening(title)
    _mark(page)
    subtitle = page.slide.placeholders[1]
    note = source.note.note if captions else ""
    lines = [words(one_line(note) or "Speculative decoding: one recorded run", 18.0, theme.muted)]
    page.fill(subtitle, Box(CONTENT.left, 152.0, CONTENT.width, 50.0), lines)
    half = (CONTENT.width - 16.0) / 2
    _model(page, Box(CONTENT.left, 212.0, half, 92.0), "target", started.target, theme.target)
    right = Box(CONTENT.left + half + 16.0, 212.0, half, 92.0)
    _model(page, right, "drafter", started.drafter, theme.drafter)
    day = started.started_at.replace("T", " ").removesuffix("+00:00")
    facts = [
        ("settings", f"{settings_words(started.settings)}, seed {started.seed}"),
        ("recorded", f"{day} UTC" if day else ""),
        ("machine", LEFT_OUT if MACHINE in started.withheld else started.machine),
    ]
    said = [words(f"{name}: {value}", 16.0, after=3.0) for name, value in facts if value]
    page.text(Box(CONTENT.left, 320.0, CONTENT.width, 66.0), said, name="Facts")
    withheld = PROMPT in started.withheld
    prompt = started.prompt[:_EXCERPT] + ("…" if len(started.prompt) > _EXCERPT else "")
    if withheld or prompt:
        look = Look(fill=theme.raised, outline=theme.border, rounded=True, pad=12.0, anchor="ctr")
        head = words("The prompt", 14.0, theme.muted, after=2.0)
        shown = (
            words(LEFT_OUT, 14.0, theme.muted)
            if withheld
            else words(prompt.strip(), 16.0, code=True, bold=True)
        )
        page.text(
            Box(CONTENT.left, 394.0, CONTENT.width, 102.0), [head, shown], look, name="Prompt"
        )
    if source.note.note or note:
        page.note(source.note.note)


def _mark(page: Page) -> None:
    """Add our sign: two tokens that were kept and one that was not."""
    fates = page.theme.fates
    with page.group("Draftscope", "Draftscope's sign"):
        for at, (top, high, fate) in enumerate(
            ((9.0, 23.0, "accepted"), (0.0, 32.0, "accepted"), (13.0, 19.0, "rejected"))
        ):
            box = Box(CONTENT.left + 12.0 * at, 24.0 + top, 9.0, high)
            page.shape(box, Look(fill=fates[fate].colour, rounded=True), "Token")


def _model(page: Page, box: Box, role: str, model: ModelInfo | None, colour: str) -> None:
    theme = page.theme
    look = Look(fill=theme.base, outline=colour, weight=2.25, rounded=True, pad=12.0, anchor="ctr")
    name = model.name if model is not None else "none: the target is alone"
    lines = [
        words(role, 14.0, colour, bold=True),
        words(one_line(name), 20.0, colour, bold=True, after=2.0),
    ]
    if model is not None and (more := detail(model).split(";")[0]):
        lines.append(words(one_line(more), 14.0, theme.muted))
    page.text(box, lines, look, name=role.capitalize())


def _marked(deck: Deck, source: Source, marker: Marker, number: int, *, captions: bool) -> None:
    document = source.document
    index = min(marker.round, len(document.rounds) - 1)
    where = "The prompt" if index < 0 else f"Round {index + 1}, {_PHASES[marker.phase]}"
    title = marker.title.strip() if captions else ""
    page = deck.page(title or where, where if title else "", marker.note or marker.title or where)
    shown = moment_of(marker)
    if shown.pinned is None and marker.phase == "draft":
        shown = shown._replace(pinned=TokenRef(index, 0))  # its own, not the round before's
    case = case_at(document, shown) if index >= 0 else None
    note = marker.note if captions else ""
    left = CONTENT._replace(width=CONTENT.width if case is None else 500.0)
    top = left.top
    if note:
        high = min(130.0, 22.0 + 20.0 * (1 + len(note) // (left.width / 7.5)))
        page.text(left._replace(height=high), [words(note, 16.0)], name="Note")
        top += high + 8.0
    _text(page, document, marker, left._replace(top=top, height=CONTENT.bottom - top))
    if case is not None:
        column = Box(
            left.right + 28.0, CONTENT.top, CONTENT.width - left.width - 28.0, CONTENT.height
        )
        court_panel(page, column, case, notes=captions)


def _text(page: Page, document: Document, marker: Marker, box: Box) -> None:
    presentation = Presentation(document)
    moment_of(marker).show(presentation)
    chips = shown_chips(document, presentation)
    key = 26.0
    place = box._replace(height=box.height - key)
    if not chips:
        line = words(f"The prompt is {LEFT_OUT}.", 16.0, page.theme.muted)
        page.text(place, [line], name="Text so far")
        return
    fates = text_so_far(page, place, chips, alt="The text so far, each token with its fate")
    legend(page, box._replace(top=place.bottom + 8.0, height=key - 8.0), fates)
