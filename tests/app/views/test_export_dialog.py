"""The dialog of exports: options by format, a painted preview, and why it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter

from app.export.exporting import export
from app.theme import THEMES
from app.viewmodels.document import Document
from app.viewmodels.export_plan import ExportPlan, formats_offered, moments_offered
from app.viewmodels.presentation import START
from app.views.export import ExportDialog
from app.views.export_picture import Shown, paint_shown
from engine.trace.markers import Marker
from tests.app.opened import write_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication, QWidget

NAMES = [made.name for made in formats_offered()]


@pytest.fixture
def document() -> Document:
    events = make_trace(rounds=9)
    return Document([*events, Marker(run=events[0].run, id="m1", round=3, title="Here")])


@pytest.fixture
def dialog(qapp: QApplication, document: Document) -> Iterator[ExportDialog]:
    made = ExportDialog()
    made.form.offer_runs(("one",), "A talk")
    made.form.offer_moments(moments_offered(document, START))

    def show(afresh: bool) -> None:
        made.say(made.plan.problem(document), running=False)
        made.preview.show_plan(document, made.plan, "A talk", "", afresh=afresh)

    made.edited.connect(show)
    yield made
    made.preview.stop()
    made.close()


def choose(dialog: ExportDialog, name: str) -> None:
    dialog.formats.setCurrentRow(NAMES.index(name))


def picture(dialog: ExportDialog) -> QImage:
    """Return the preview once it has been painted."""
    image = dialog.preview.picture.grab().toImage()
    assert not image.isNull()
    return image


@pytest.mark.parametrize("name", NAMES)
def test_a_format_shows_the_options_that_it_takes_and_no_other(
    dialog: ExportDialog, name: str
) -> None:
    choose(dialog, name)
    takes = dialog.plan.made.takes - {"withheld", "run"}  # one run: nothing to choose
    shown = {field for field, widget in dialog.form.fields.items() if not widget.isHidden()}
    shown |= {field for field, widget in dialog.form.switches.items() if not widget.isHidden()}
    assert shown == takes | {"withhold_prompt", "withhold_machine"}
    assert dialog.what.text() == dialog.plan.made.what


def test_the_preview_is_painted_in_the_chosen_colours_at_the_chosen_moment(
    dialog: ExportDialog,
) -> None:
    choose(dialog, "png")
    dialog.form.fields["theme"].setCurrentIndex(2)  # type: ignore[union-attr]  # a list
    dialog.form.fields["at"].setEditText("m1")  # type: ignore[union-attr]  # a list
    dialog.preview._paint()
    shown = dialog.preview.picture.shown
    assert shown is not None
    assert shown.plan.at == "m1"
    image = picture(dialog)  # laid out with it
    box = dialog.preview.picture.box()
    ratio = image.devicePixelRatio()
    corner = image.pixelColor(round((box.left() + 3) * ratio), round((box.top() + 3) * ratio))
    assert corner == QColor(THEMES["dark"].window)


def test_a_film_is_looked_at_with_a_scrubber_and_begins_with_its_card(dialog: ExportDialog) -> None:
    choose(dialog, "mp4")
    preview = dialog.preview
    assert (preview.scrubber.minimum(), preview.scrubber.maximum()) == (-2, 8)
    preview.scrubber.setValue(-2)
    preview._paint()
    assert preview.picture.shown is not None
    assert preview.picture.shown.card
    dialog.form.switches["title_card"].setChecked(False)
    dialog.form.fields["begin"].setEditText("3")  # type: ignore[union-attr]  # a list
    dialog.form.fields["end"].setEditText("6")  # type: ignore[union-attr]  # a list
    assert (preview.scrubber.minimum(), preview.scrubber.maximum()) == (2, 5)


def test_what_makes_no_sense_is_said_and_cannot_be_exported(dialog: ExportDialog) -> None:
    choose(dialog, "png")
    dialog.form.fields["at"].setEditText("400")  # type: ignore[union-attr]  # a list
    assert "Round 400 is not in this run" in dialog.problem.text()
    assert not dialog.start.isEnabled()
    dialog.form.fields["at"].setEditText("4")  # type: ignore[union-attr]  # a list
    assert dialog.problem.text() == ""
    assert dialog.start.isEnabled()


def test_a_plan_of_another_format_keeps_its_options(dialog: ExportDialog) -> None:
    choose(dialog, "mp4")
    dialog.form.fields["speed"].setValue(2.0)  # type: ignore[union-attr]  # a number
    choose(dialog, "csv")
    choose(dialog, "webm")
    assert dialog.plan == replace(ExportPlan(), format="webm", speed=2.0)


@pytest.mark.parametrize("panel", ["all", "court"])
def test_a_preview_is_the_exported_picture_pixel_by_pixel(
    qapp: QApplication, tmp_path: Path, panel: str
) -> None:
    events = make_trace(rounds=9)
    events.append(Marker(run=events[0].run, id="m1", round=3, title="Here", note="Look."))
    trace, out = write_trace(tmp_path / "t.jsonl", events), tmp_path / "t.png"
    plan = ExportPlan(
        format="png",
        at="m1",
        panel=panel,
        size="640x420",
        theme="dark",
        withhold_prompt=True,
        withhold_machine=True,
    )
    export(trace, out, plan.made, plan.options)
    seen = QImage(640, 420, QImage.Format.Format_RGB32)
    painter = QPainter(seen)
    paint_shown(painter, Shown(Document(events), plan), (640, 420))
    painter.end()
    assert QImage(str(out)).convertToFormat(seen.format()) == seen


def test_the_dialog_is_no_larger_than_its_screen(dialog: ExportDialog) -> None:
    room = dialog.screen().availableSize()
    assert room.width() < 980  # or else this says nothing
    assert dialog.width() <= room.width()
    assert dialog.height() <= room.height()


@pytest.mark.parametrize("first", ["html", "csv"])
def test_tab_goes_through_the_dialog_as_it_is_read(dialog: ExportDialog, first: str) -> None:
    choose(dialog, first)  # what was shown before does not matter
    choose(dialog, "mp4")
    dialog.show()
    names = ["begin", "end", "size", "theme", "font_scale", "title", "speed", "frame_rate"]
    switches = ["captions", "title_card", "drafts", "withhold_prompt", "withhold_machine"]
    met: list[QWidget] = [dialog.formats]
    at = dialog.formats.nextInFocusChain()
    while at is not dialog.formats:
        takes_tab = at.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
        if at.isVisible() and at.isEnabled() and takes_tab and at.focusProxy() is None:
            met.append(at)
        at = at.nextInFocusChain()
    assert met == [
        dialog.formats,
        *(dialog.form.fields[name] for name in names),
        *(dialog.form.switches[name] for name in switches),
        dialog.preview.scrubber,
        dialog.start,
        dialog.close_,
    ]
