"""A token's numbers in a few plain lines: for the pointer, the screen reader and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.characters import decode_piece, hex_bytes, written
from app.viewmodels.chips import SHOWN_CHARACTERS
from app.viewmodels.copied import copied
from app.viewmodels.draft_ends import short_sentence, why_short
from app.viewmodels.meanings import MEANINGS
from app.viewmodels.numbers import count, probability, quoted
from engine.trace.events import ClosingToken, DraftedToken, Fate

if TYPE_CHECKING:
    from app.viewmodels.chips import Chip
    from app.viewmodels.document import Document

_FULL_TEXT = 400  # characters of an elided token


def token_note(document: Document, chip: Chip) -> str:
    """Describe the token of a chip as it is shown now. Plain text: never markup."""
    token = document.token(chip.ref)
    if token is None:
        return ""
    lines = [f"{quoted(token.piece)}   id {token.id}"]
    if chip.ref.in_prompt:
        lines.append(f"prompt, token {chip.ref.slot + 1}")
    else:
        one = document.rounds[chip.ref.round]
        place = "closing token" if chip.ref.is_closing else f"drafted token {chip.ref.slot + 1}"
        lines.append(f"{chip.fate} · round {one.index + 1}, {place} of {len(one.drafted)}")
        if chip.ref.is_closing:
            lines[-1] = f"{chip.fate} · round {one.index + 1}, closing token"
    lines += _numbers(token, chip) if not chip.ref.in_prompt else []
    lines += _copied_line(document, chip)
    lines.append(MEANINGS[chip.fate])
    lines += _short_line(document, chip)
    if chip.shares_before or chip.shares_after:
        lines.append(f"Its bytes {hex_bytes(token.piece)} hold a part of a character.")
    lines += _cut_line(chip)
    if chip.elided:
        full = decode_piece(b"", token.piece).text
        more = "…" if len(full) > _FULL_TEXT else ""
        lines.append(f"{len(full):,} characters: {written(full[:_FULL_TEXT])}{more}")
        lines.append("Shift+Enter or Shift+click shows all of them in the text.")
    elif len(chip.text) > SHOWN_CHARACTERS:
        lines.append("Shift+Enter or Shift+click shows only its ends again.")
    return "\n".join(lines)


def _copied_line(document: Document, chip: Chip) -> list[str]:
    """Say which token of the context a drafted one was copied from, and after what."""
    copy = None if chip.ref.is_closing else copied(document, chip.ref)
    if copy is None or chip.ref.slot >= len(copy.sources):
        return []
    place = copy.start + chip.ref.slot + 1
    return [
        f"Copied from token {place} of the context, after {count(copy.matched, 'token')} alike."
    ]


def _short_line(document: Document, chip: Chip) -> list[str]:
    """Say why a draft was short, at its last token and at the one that closes the round."""
    if chip.ref.in_prompt:
        return []
    one = document.rounds[chip.ref.round]
    why = why_short(document, one)
    if not why or not (chip.ref.is_closing or chip.ref.slot == len(one.drafted) - 1):
        return []
    return [short_sentence(one, why) or f"Nothing was drafted, since {why}."]


def _cut_line(chip: Chip) -> list[str]:
    """Say how much of a token a stop string cut from the text."""
    if chip.cut is None:
        return []
    kept = chip.cut.kept
    if not kept:
        return ["A stop string cut all of it from the text."]
    return [f"A stop string cut the text after {kept} of its {len(chip.text)} characters."]


def _numbers(token: object, chip: Chip) -> list[str]:
    lines: list[str] = []
    if isinstance(token, DraftedToken):
        known = chip.fate != "pending"
        own = f"q_draft {probability(token.q_draft)}"
        if known and token.p_target is not None:
            own = f"p_target {probability(token.p_target)} · {own}"
        lines.append(own)
        if known and token.fate in (Fate.ACCEPTED, Fate.REJECTED) and token.u is not None:
            lines.append(
                f"u {probability(token.u)} against min(1, p_target / q_draft) = "
                f"{probability(token.acceptance_probability)}"
            )
    elif isinstance(token, ClosingToken):
        drawn = "" if token.u is None else f" · u {probability(token.u)}"
        law = "the residual" if chip.fate == "correction" else "p_target"
        lines.append(f"probability {probability(token.probability)} in {law}{drawn}")
    return lines
