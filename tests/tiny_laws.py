"""A tiny vocabulary and both laws at a position over it, in full. Knows no run and no file."""

from __future__ import annotations

import codecs
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from engine.trace.events import (
    Laws,
)

END_PIECE, STOP_PIECE = b"<|im_end|>", b" STOP"
# "é" (c3 a9), "日" (e6 97 a5) and "🙂" (f0 9f 99 82) come in parts; markup must stay text.
VOCABULARY: tuple[bytes, ...] = (
    *(b" the", b" of", b" and", b" a", b" quick", b" brown", b" fox", b" lazy", b" dog", b" jumps"),
    *(
        b" over",
        b" model",
        b" token",
        b" draft",
        b"ing",
        b"ed",
        b"s",
        b".",
        b",",
        b"\n",
        b"  ",
        b"\t",
    ),
    *(b"\xc3", b"\xa9", b"\xe6\x97", b"\xa5", b"\xf0\x9f", b"\x99\x82", " naïve".encode()),
    *("漢字".encode(), "שלום".encode(), "e\u0301".encode(), "👩‍💻".encode()),
    *(
        b"<b>",
        b"</script>",
        b"<!--",
        b"&amp;",
        b'"',
        b"'",
        b"\\",
        b"%s",
        b"=1+1",
        b"{{title}}",
        b"1",
    ),
)
PROMPT = (b" the", b" quick", b" brown", b" fox", b".", b" the", b" quick", b" brown", b" fox")


@dataclass(frozen=True)
class Position:
    """Both laws at one position, over the whole vocabulary."""

    p_target: tuple[float, ...]
    p_raw: tuple[float, ...]
    q_draft: tuple[float, ...]

    @property
    def residual(self) -> tuple[float, ...]:
        """max(0, p_target - q_draft), renormalised; p_target where no mass is left."""
        pairs = zip(self.p_target, self.q_draft, strict=True)
        rest = [max(0.0, target - draft) for target, draft in pairs]
        mass = sum(rest)
        return tuple(x / mass for x in rest) if mass > 0 else self.p_target


@cache
def fits(pending: bytes, piece: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(pending + piece)
    except UnicodeDecodeError:
        return False
    return True


def pending_bytes(data: bytes) -> bytes:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data[-4:])
    return decoder.getstate()[0]


def law_of(logits: Sequence[float], temperature: float) -> tuple[float, ...]:
    top = max(logits)
    if temperature == 0:
        best = logits.index(top)
        return tuple(float(i == best) for i in range(len(logits)))
    weights = [math.exp((x - top) / temperature) for x in logits]
    total = sum(weights)
    return tuple(w / total for w in weights)


@cache
def position_laws(
    pieces: tuple[bytes, ...],
    temperature: float,
    world: int,
    pending: bytes,
    target_likes: int,
    draft_likes: int,
) -> Position:
    """Return the laws of a context; `*_likes` is a favoured token id, -1 for none."""
    source = random.Random(f"{world} {pending!r}")
    allowed = [fits(pending, piece) for piece in pieces[:-2]] + [False, False]
    target = [source.gauss(0, 2.0) - (0 if ok else 60) for ok in allowed]
    draft = [x + source.gauss(0, 0.7) for x in target]
    if target_likes >= 0:
        target[target_likes] = max(target) + 9
    if draft_likes >= 0:
        draft[draft_likes] = max(draft) + 9
    return Position(law_of(target, temperature), law_of(target, 1.0), law_of(draft, temperature))


def entropy(law: Sequence[float]) -> float:
    return sum(-x * math.log(x) for x in law if x > 0)


@cache
def laws_of(
    pieces: tuple[bytes, ...],
    at: Position,
    top_n: int,
    extra: tuple[int, ...],
    drafted: bool,
    rejected: bool,
) -> Laws:
    residual = at.residual if rejected else ()
    shown = [
        at.p_target,
        at.p_raw,
        *([at.q_draft] if drafted else []),
        *([residual] if rejected else []),
    ]
    rows = set(extra)
    for law in shown:
        best = sorted(range(len(law)), key=lambda i: (-law[i], i))[:top_n]
        rows.update(i for i in best if law[i] > 0)
    ids = sorted(rows, key=lambda i: (-at.p_target[i], -at.p_raw[i], i))
    overlap = sum(map(min, at.p_target, at.q_draft))

    def column(law: Sequence[float]) -> tuple[float, ...]:
        return tuple(law[i] for i in ids) if law else ()

    def rest(law: Sequence[float]) -> float:
        return max(0.0, 1.0 - sum(law[i] for i in ids)) if law else 0.0

    q_draft = at.q_draft if drafted else ()
    return Laws(
        ids=tuple(ids),
        pieces=tuple(pieces[i] for i in ids),
        p_target=column(at.p_target),
        p_raw=column(at.p_raw),
        q_draft=column(q_draft),
        residual=column(residual),
        rest_p_target=rest(at.p_target),
        rest_p_raw=rest(at.p_raw),
        rest_q_draft=rest(q_draft),
        rest_residual=rest(residual),
        entropy_target=entropy(at.p_target),
        entropy_raw=entropy(at.p_raw),
        entropy_draft=entropy(q_draft),
        overlap=overlap if drafted else None,
    )
