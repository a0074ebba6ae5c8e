"""One moment of a run: its events, how much of them is shown, and what was chosen.

Knows no painter: it is all that a picture is made from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.viewmodels.presentation import Presentation

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Phase
    from app.viewmodels.refs import TokenRef


@dataclass
class Moment:
    """What a window would show: moved by moving its presentation.

    Attributes
    ----------
    document
        The run's events.
    presentation
        Its cursor decides how much is shown.
    pinned
        The token before the court; None: the latest that was judged.
    show_drafts
        Whether rejected, discarded and cut tokens of finished rounds stay in place.
    """

    document: Document
    presentation: Presentation
    pinned: TokenRef | None = None
    show_drafts: bool = True

    @classmethod
    def at(
        cls,
        document: Document,
        round_index: int | None = None,
        phase: Phase = "done",
        *,
        pinned: TokenRef | None = None,
        show_drafts: bool = True,
    ) -> Moment:
        """Return the moment at the end of a phase of a round; None: the run's end."""
        presentation = Presentation(document)
        last = len(document.rounds) - 1
        presentation.seek(last if round_index is None else round_index, phase)
        return cls(document, presentation, pinned, show_drafts)

    @property
    def round(self) -> int:
        """The round being shown, or the first one while only the prompt is."""
        return max(0, min(self.presentation.cursor.round, len(self.document.rounds) - 1))
