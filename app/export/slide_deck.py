"""A deck under construction: slides with real titles, native text boxes, shapes and tables.

Knows points, runs and the theme; everything written is measured first and fits its box. Knows no
run, no figure and no chart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_LINE
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.enum.text import MSO_AUTO_SIZE
from pptx.util import Pt

from app.export.slide_design import MARGIN, TITLE, TITLE_SIZE, WIDTH, empty_deck
from app.export.slide_runs import write_paragraphs, write_slide_number
from app.export.slide_text import Paragraph, clean, fit, lines, one_line, scaled, words
from app.theme import rgb as split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.theme import Theme

BODY_TOP = 108.0
BODY_BOTTOM = 498.0
_SUBTITLE_TOP = 70.0
_ONE_LINE = 0.72  # a title is made so much smaller before it takes a second line


class Box(NamedTuple):
    """A place on a slide, in points."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


CONTENT = Box(MARGIN, BODY_TOP, WIDTH - 2 * MARGIN, BODY_BOTTOM - BODY_TOP)


@dataclass(frozen=True)
class Look:
    """How a box is drawn; colours as `#rrggbb`, "" for none."""

    fill: str = ""
    outline: str = ""
    dash: Literal["", "dash", "dot"] = ""
    weight: float = 1.0  # of the outline, points
    rounded: bool = False
    anchor: Literal["t", "ctr", "b"] = "t"
    pad: float = 0.0


PLAIN = Look()


class Deck:
    """The slides made so far.

    Attributes
    ----------
    theme
        Where all colours come from.
    scale
        Of all text.
    footer
        Small words at the foot of each slide but the first.
    """

    def __init__(self, theme: Theme, scale: float = 1.0, footer: str = "") -> None:
        self.theme, self.scale, self.footer = theme, scale, one_line(footer)
        self.presentation = empty_deck(theme)

    def opening(self, title: str) -> Page:
        """Add the first slide, with a large title."""
        slide = self.presentation.slides.add_slide(self._layout("Title Slide"))
        page = Page(self, slide)
        page.set_title(title, Box(MARGIN, 62.0, WIDTH - 2 * MARGIN, 84.0), 38.0)
        return page

    def page(self, title: str, subtitle: str = "", notes: str = "") -> Page:
        """Add a slide.

        Parameters
        ----------
        subtitle
            One line below the title.
        notes
            For the speaker.
        """
        slide = self.presentation.slides.add_slide(self._layout("Title Only"))
        page = Page(self, slide)
        page.set_title(title, Box(*TITLE), TITLE_SIZE)
        if subtitle:
            line = words(one_line(subtitle), 16.0, self.theme.muted)
            page.text(Box(MARGIN, _SUBTITLE_TOP, CONTENT.width, 24.0), [line], name="Subtitle")
        if notes:
            page.note(notes)
        return page

    def _layout(self, name: str) -> Any:
        found = self.presentation.slide_layouts.get_by_name(name)
        assert found is not None  # `empty_deck` keeps both
        return found

    def end(self) -> None:
        """Write the foot of each slide but the first: last, so that it is read out last."""
        for slide in list(self.presentation.slides)[1:]:
            page = Page(self, slide)
            foot = words(self.footer, 10.5, self.theme.muted)
            page.text(Box(MARGIN, 512.0, 760.0, 16.0), [foot], name="Footer", scale=False)
            place = Box(WIDTH - MARGIN - 80.0, 512.0, 80.0, 16.0)
            write_slide_number(page.shape(place, PLAIN, "Slide number"), self.theme.muted)


class Page:
    """One slide. Shapes are read out in the order in which they are added."""

    def __init__(self, deck: Deck, slide: Any) -> None:
        self.deck, self.theme, self.slide = deck, deck.theme, slide
        self._into: Any = None  # the group that shapes are added to

    def set_title(self, title: str, place: Box, size: float) -> None:
        """Fill in the title's own placeholder, which outlines and screen readers know."""
        shape = self.slide.shapes.title
        shape.left, shape.top, shape.width, shape.height = _emu(place)
        line = words(one_line(title) or "–", size * min(self.deck.scale, 1.25), bold=True)
        smaller = scaled(line, _ONE_LINE)
        if lines(line, place.width) > 1 and lines(smaller, place.width) == 1:
            line = fit([line], place.width, place.height, keep=True)[0]  # rather than two lines
        write_paragraphs(shape.text_frame, fit([line], place.width, place.height), self.theme)

    def note(self, text: str) -> None:
        """Give the speaker something to say."""
        self.slide.notes_slide.notes_text_frame.text = clean(text)

    def text(
        self,
        box: Box,
        paragraphs: Sequence[Paragraph],
        look: Look = PLAIN,
        *,
        name: str = "Text",
        alt: str = "",
        keep: bool = False,
        scale: bool = True,
    ) -> Any:
        """Add text that can be edited, made to fit its box.

        Parameters
        ----------
        alt
            What a screen reader says of it besides its text.
        keep
            Each paragraph stays on one line.
        scale
            Whether the deck's own scale changes its size.
        """
        shape = self.shape(box, look, name, alt)
        factor = self.deck.scale if scale else 1.0
        sized = [scaled(one, factor) for one in paragraphs]
        shown = fit(sized, box.width - 2 * look.pad, box.height - 2 * look.pad, keep=keep)
        write_paragraphs(shape.text_frame, shown, self.theme)
        return shape

    def fill(self, placeholder: Any, place: Box, paragraphs: Sequence[Paragraph]) -> None:
        """Write into a placeholder of the layout."""
        placeholder.left, placeholder.top, placeholder.width, placeholder.height = _emu(place)
        sized = [scaled(one, self.deck.scale) for one in paragraphs]
        shown = fit(sized, place.width, place.height)
        write_paragraphs(placeholder.text_frame, shown, self.theme)

    def shape(self, box: Box, look: Look, name: str, alt: str = "", form: Any = None) -> Any:
        """Add a rectangle, or another form, without words."""
        shapes = self._shapes()
        if form is None and look.fill == look.outline == "":
            shape = shapes.add_textbox(*_emu(box))
        else:
            form = form or (MSO_SHAPE.ROUNDED_RECTANGLE if look.rounded else MSO_SHAPE.RECTANGLE)
            shape = shapes.add_shape(form, *_emu(box))
            self._draw(shape, look)
            if look.rounded:
                shape.adjustments[0] = min(0.5, 6.0 / min(box.width, box.height))
        shape.name = name
        if alt:
            describe(shape, alt)
        frame = shape.text_frame
        frame.word_wrap, frame.auto_size = True, MSO_AUTO_SIZE.NONE
        frame.margin_left = frame.margin_right = Pt(look.pad)
        frame.margin_top = frame.margin_bottom = Pt(look.pad)
        frame._txBody.bodyPr.set("anchor", look.anchor)
        return shape

    def _draw(self, shape: Any, look: Look) -> None:
        _without_effects(shape)
        if look.fill:
            shape.fill.solid()
            shape.fill.fore_color.rgb = rgb(look.fill)
        else:
            shape.fill.background()
        if look.outline:
            shape.line.color.rgb = rgb(look.outline)
            shape.line.width = Pt(look.weight)
            if look.dash:
                shape.line.dash_style = MSO_LINE.DASH if look.dash == "dash" else MSO_LINE.ROUND_DOT
        else:
            shape.line.fill.background()

    def line(
        self, start: tuple[float, float], end: tuple[float, float], colour: str, weight: float
    ) -> None:
        """Add a straight line."""
        shapes = self._shapes()
        ends = (Pt(one) for one in (*start, *end))
        connector = shapes.add_connector(MSO_CONNECTOR.STRAIGHT, *ends)
        connector.line.color.rgb = rgb(colour)
        connector.line.width = Pt(weight)
        connector.name = "Line"
        _without_effects(connector)

    def group(self, name: str, alt: str) -> Grouped:
        """Put what is added inside `with` into one group, described in a sentence."""
        return Grouped(self, name, alt)

    def _shapes(self) -> Any:
        return self.slide.shapes if self._into is None else self._into.shapes


class Grouped:
    """Shapes that belong together."""

    def __init__(self, page: Page, name: str, alt: str) -> None:
        self._page, self._name, self._alt = page, name, alt

    def __enter__(self) -> None:
        group = self._page.slide.shapes.add_group_shape()
        group.name = self._name
        describe(group, self._alt)
        self._page._into = group

    def __exit__(self, *_: object) -> None:
        self._page._into = None


def _without_effects(shape: Any) -> None:
    """Take the theme's effects off a shape: a shadow that nobody asked for."""
    style = shape._element.find("{*}style")
    if style is not None:
        shape._element.remove(style)


def rgb(colour: str) -> RGBColor:
    """Return a colour of the theme as python-pptx writes it."""
    return RGBColor(*split(colour))  # type: ignore[no-untyped-call]  # python-pptx's own


def describe(shape: Any, alt: str) -> None:
    """Say what a shape shows, for screen readers."""
    shape._element.xpath(".//p:cNvPr")[0].set("descr", one_line(alt))


def _emu(box: Box) -> tuple[int, int, int, int]:
    left, top, width, height = (int(Pt(one)) for one in box)
    return left, top, width, height
