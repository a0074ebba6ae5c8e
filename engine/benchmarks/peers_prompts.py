"""What `peers` asks: ordinary questions, and requests to copy, which look-up is made for.

Each answer should go on for the length that is measured: short ones end early and weigh less.
"""

from __future__ import annotations

CHAT = (
    "Why is the sky blue?",
    "Write a short story about a lighthouse keeper who finds a letter.",
)

_PASSAGE = (
    "The lighthouse stood on a low spit of rock where the river met the sea. Every evening its "
    "keeper climbed one hundred and twelve steps, trimmed the wick, wound the clockwork and lit "
    "the lamp. Ships bound for the harbour counted its flashes: three short, one long, then "
    "darkness. On foggy nights he also rang the bronze bell, twice a minute, until the morning "
    "wind carried the fog away."
)
_PROGRAM = """\
def area(shape):
    if shape.kind == "circle":
        return math.pi * shape.radius ** 2
    if shape.kind == "rectangle":
        return shape.width * shape.height
    if shape.kind == "triangle":
        return shape.base * shape.height / 2
    raise ValueError(f"unknown shape: {shape.kind}")
"""
COPYING = (
    f"Repeat the following text word for word, and nothing else.\n\n{_PASSAGE}",
    f"Repeat the following program exactly, and nothing else.\n\n```python\n{_PROGRAM}```",
)

SETS = {"chat": CHAT, "copying": COPYING}
