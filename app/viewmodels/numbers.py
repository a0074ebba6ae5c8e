"""How numbers and tokens are written in panels and sentences. Knows no event and no Qt."""

from __future__ import annotations

from app.viewmodels.characters import decode_piece, hex_bytes, is_mark, written

_LABEL_CHARACTERS = 32


def probability(value: float | None) -> str:
    """Write a probability, threshold or uniform to three digits; never "-0" or "nan"."""
    if value is None or value != value:
        return "not measured"
    if value <= 0.0:
        return "0"
    if value >= 0.9995:
        return "1" if value >= 0.999995 else f"{value:.5f}"
    if value >= 0.0995:
        return f"{value:.3f}"
    return f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"


def count(value: int, singular: str, plural: str = "") -> str:
    """Write a number with its noun: "1 token", "2 tokens"."""
    return f"{value} {singular if value == 1 else plural or singular + 's'}"


def token_label(piece: bytes, limit: int = _LABEL_CHARACTERS) -> str:
    """Write a token on one line with its white space visible, bytes that are no text as hex."""
    decoded = decode_piece(b"", piece)
    shown = written(decoded.text.replace("\r\n", "\n")) + (
        hex_bytes(decoded.carry) if decoded.carry else ""
    )
    if not shown:
        return "⟨⟩"
    edge = len(shown) - len(shown.lstrip(" ")), len(shown) - len(shown.rstrip(" "))
    if edge[0] == len(shown):
        shown = "␣" * len(shown)
    else:
        shown = "␣" * edge[0] + shown.strip(" ") + "␣" * edge[1]
    shown = shown.replace("\n", "↵").replace("\t", "⇥")
    if is_mark(shown[0]):
        shown = "◌" + shown
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def quoted(piece: bytes) -> str:
    """Write a token inside a sentence."""
    return f"“{token_label(piece)}”"
