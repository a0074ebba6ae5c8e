"""Tool tips that show what a user named, literally: Qt takes what looks like markup for markup.

Knows Qt's rule of what looks like it. Knows no widget.
"""

from __future__ import annotations

import html

from PySide6.QtGui import Qt


def plain_tip(text: str) -> str:
    """Return what a tool tip must be given to show exactly this text."""
    if not Qt.mightBeRichText(text):
        return text
    return f"<p style='white-space:pre'>{html.escape(text)}</p>"
