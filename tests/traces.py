"""Small lawful traces for tests: a simulated run over a tiny vocabulary, exact to the rule.

Both laws of every position are known in full, verdicts and closing tokens are drawn by the rule,
and positions, texts and caches add up. Knows no model, no torch and no Qt; the same arguments give the
same events. `tests.lawful` says what "lawful" means.
"""

from __future__ import annotations

import codecs
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import msgspec

from engine.trace.events import (
    SCHEMA_VERSION,
    Baseline,
    CacheSpan,
    ClosingKind,
    ClosingToken,
    Comparison,
    Difference,
    DraftedToken,
    Event,
    Fate,
    FinishReason,
    Laws,
    Match,
    ModelInfo,
    PrefillFinished,
    Probe,
    Round,
    RoundTimes,
    RunFinished,
    RunStarted,
    Settings,
    SettingsChanged,
    TokenPiece,
)

PAGE_SIZE = 16
PLAIN_NS = 20_000_000
END_PIECE, STOP_PIECE = b"<|im_end|>", b" STOP"
_STOPPERS = (FinishReason.END_TOKEN, FinishReason.STOP_STRING)
_CUTTERS = (*_STOPPERS, FinishReason.LIMIT, FinishReason.CONTEXT)

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
_PROMPT = (b" the", b" quick", b" brown", b" fox", b".", b" the", b" quick", b" brown", b" fox")


def make_trace(
    rounds: int = 12,
    seed: int = 0,
    k: int = 4,
    temperature: float = 0.0,
    vocabulary: Sequence[bytes] = VOCABULARY,
    reason: FinishReason = FinishReason.LIMIT,
    *,
    drafter: str = "model:tiny-drafter",
    top_n: int = 8,
    baseline: bool = True,
    difference: str | None = None,
    probe_every: int = 3,
    settings_changes: bool = True,
    paced: bool = False,
) -> list[Event]:
    """Simulate a run of `rounds` rounds (at least 1) and return its events.

    From 3 rounds and k = 2 on there are a bonus (round 0) and a rejection (round 1; with k = 3
    also a discarded token); from 8 rounds on, if `settings_changes`, a plain round with k = 0
    between two changes. With reason "limit", "context", "end_token" or "stop_string" and k > 1 the
    last round is cut. `drafter` "ngram" looks proposals up in the text and finds nothing now and
    then. A baseline follows if asked; if greedy also a comparison, identical unless `difference` is
    "tie" or "fault". `top_n` 0 leaves the laws out.
    """
    run = _Run(tuple(vocabulary), seed, drafter, temperature, top_n)
    settings = Settings(drafter=drafter, k=k, temperature=temperature)
    body: list[Event] = [
        PrefillFinished(run=run.id, ns=9 * PLAIN_NS, tokens=len(run.prompt)),
    ]
    pause = rounds // 3 if settings_changes and rounds >= 8 else -1
    for index in range(rounds):
        asked = 0 if index == pause else k
        if index in (pause, pause + 1) and pause >= 0:
            changed = Settings(drafter=drafter, k=asked, temperature=temperature)
            body.append(SettingsChanged(run=run.id, before_round=index, settings=changed))
        ends_with = reason if index == rounds - 1 else None
        mood = {0: "agree", 1: "disagree"}.get(index, "") if ends_with is None else "agree"
        body.append(run.round(index, asked, mood, ends_with, paced=paced))
        if probe_every and index % probe_every == probe_every - 1 and ends_with is None:
            ns = round(PLAIN_NS * run.random.uniform(0.97, 1.03))
            body.append(Probe(run=run.id, after_round=index, context_length=len(run.tokens), ns=ns))
    message = "The model gave numbers that are not finite." if reason is FinishReason.ERROR else ""
    body.append(RunFinished(run=run.id, reason=reason, tail=run.tail(), message=message))
    if baseline:
        body.extend(run.plain_side(difference))
    ended_early = reason not in (FinishReason.LIMIT, FinishReason.CONTEXT)
    limit = len(run.emitted) + (64 if ended_early else 0)
    stops = (STOP_PIECE.decode(),) if reason is FinishReason.STOP_STRING else ()
    return [run.started(settings, limit, stops), *body]


@dataclass(frozen=True)
class _Position:
    """Both laws at one position, over the whole vocabulary."""

    p_target: tuple[float, ...]
    p_raw: tuple[float, ...]
    q_draft: tuple[float, ...]

    @property
    def residual(self) -> tuple[float, ...]:
        """max(0, p_target - q_draft), renormalised; p_target where no mass is left."""
        rest = [max(0.0, p - q) for p, q in zip(self.p_target, self.q_draft, strict=True)]
        mass = sum(rest)
        return tuple(x / mass for x in rest) if mass > 0 else self.p_target


@cache
def _fits(pending: bytes, piece: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(pending + piece)
    except UnicodeDecodeError:
        return False
    return True


def _pending(data: bytes) -> bytes:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data[-4:])
    return decoder.getstate()[0]


def _law(logits: Sequence[float], temperature: float) -> tuple[float, ...]:
    top = max(logits)
    if temperature == 0:
        best = logits.index(top)
        return tuple(float(i == best) for i in range(len(logits)))
    weights = [math.exp((x - top) / temperature) for x in logits]
    total = sum(weights)
    return tuple(w / total for w in weights)


@cache
def _position(
    pieces: tuple[bytes, ...],
    temperature: float,
    world: int,
    pending: bytes,
    target_likes: int,
    draft_likes: int,
) -> _Position:
    """Return the laws of a context; `*_likes` is a favoured token id, -1 for none."""
    source = random.Random(f"{world} {pending!r}")
    fits = [_fits(pending, piece) for piece in pieces[:-2]] + [False, False]
    target = [source.gauss(0, 2.0) - (0 if ok else 60) for ok in fits]
    draft = [x + source.gauss(0, 0.7) for x in target]
    if target_likes >= 0:
        target[target_likes] = max(target) + 9
    if draft_likes >= 0:
        draft[draft_likes] = max(draft) + 9
    return _Position(_law(target, temperature), _law(target, 1.0), _law(draft, temperature))


def _entropy(law: Sequence[float]) -> float:
    return sum(-x * math.log(x) for x in law if x > 0)


@cache
def _laws(
    pieces: tuple[bytes, ...],
    at: _Position,
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
    overlap = sum(min(p, q) for p, q in zip(at.p_target, at.q_draft, strict=True))

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
        entropy_target=_entropy(at.p_target),
        entropy_raw=_entropy(at.p_raw),
        entropy_draft=_entropy(q_draft),
        overlap=overlap if drafted else None,
    )


@dataclass
class _Run:
    """The state of one simulated run."""

    vocabulary: tuple[bytes, ...]
    seed: int
    drafter: str
    temperature: float
    top_n: int
    emitted: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.id = f"{self.seed:08x}{0xD5:02x}"
        self.random = random.Random(f"draftscope {self.seed}")
        self.pieces = (*self.vocabulary, END_PIECE, STOP_PIECE)
        known = [self.vocabulary.index(p) for p in _PROMPT if p in self.vocabulary]
        self.prompt = known or list(range(len(self.vocabulary)))
        self.tokens = list(self.prompt)
        self.drafter_length = len(self.tokens) - 1
        self.stream = codecs.getincrementaldecoder("utf-8")("replace")
        self.stopped = False

    def tail(self) -> str:
        """Text that the stream still withheld."""
        return "" if self.stopped else self.stream.decode(b"", final=True)

    def started(self, settings: Settings, limit: int, stops: tuple[str, ...]) -> RunStarted:
        """Return the first event."""
        name = self.drafter.partition(":")[2] or self.drafter
        kind = self.drafter.partition(":")[0]
        info = ModelInfo(name=name, kind=kind, vocabulary=len(self.pieces), device="cpu")
        return RunStarted(
            schema=SCHEMA_VERSION,
            run=self.id,
            version="0.1.0",
            started_at="2025-01-01T12:00:00+00:00",
            prompt=b"".join(self.pieces[i] for i in self.prompt).decode("utf-8", "replace"),
            raw=True,
            prompt_tokens=tuple(TokenPiece(id=i, piece=self.pieces[i]) for i in self.prompt),
            settings=settings,
            seed=self.seed,
            max_new_tokens=limit,
            target=ModelInfo(
                name="tiny-target",
                kind="target",
                parameters=1_234_567,
                vocabulary=len(self.pieces),
                layers=2,
                width=64,
                context_length=8192,
                plan="eager",
                dtype="float32",
                device="cpu",
            ),
            drafter=None if self.drafter == "none" else info,
            end_tokens=(len(self.vocabulary),),
            stop_strings=stops,
            top_n=self.top_n,
            machine="simulated, 2 threads",
        )

    def round(
        self, index: int, k: int, mood: str, ending: FinishReason | None, *, paced: bool
    ) -> Round:
        """Simulate one round and return it."""
        position, drafter_before = len(self.tokens), self.drafter_length
        match = self._match(k, ending) if self.drafter == "ngram" else None
        copied = () if match is None else tuple(self.tokens[match.start : match.start + k])
        length = {"none": 0, "ngram": len(copied)}.get(self.drafter, k)
        drafted, closing, texts = self._decide(length, mood, ending, copied)
        emitted = [t.id for t in drafted if t.fate is Fate.ACCEPTED]
        emitted += [closing.id] if closing is not None else []
        self.tokens += emitted
        self.emitted += emitted
        after = len(self.tokens) - 1
        own_cache = None
        if self.drafter.startswith("model:"):
            peak = position + length - 1 if length else drafter_before
            self.drafter_length = min(peak, after)
            own_cache = _span(drafter_before, peak, self.drafter_length)
        return Round(
            run=self.id,
            index=index,
            position=position,
            drafter=self.drafter,
            k=k,
            drafted=drafted,
            closing=closing,
            texts=texts,
            times=self._times(k, length),
            target_cache=_span(position - 1, position + length, after),
            drafter_cache=own_cache,
            match=match,
            paced=paced,
        )

    def plain_side(self, difference: str | None) -> list[Event]:
        """Return the baseline and, if greedy, the comparison; `difference` spoils token 5."""
        ids, place = list(self.emitted), min(5, len(self.emitted) - 1)
        found = None
        if difference is not None:
            ids[place] = (ids[place] + 1) % len(self.vocabulary)
            found = Difference(
                position=place,
                speculative_id=self.emitted[place],
                plain_id=ids[place],
                speculative_logit=17.25,
                plain_logit=17.25 if difference == "tie" else 19.5,
                kind="tie" if difference == "tie" else "fault",
            )
        shown = [self.pieces[i] for i in ids if i < len(self.vocabulary)]
        plain = Baseline(
            run=self.id,
            token_ids=tuple(ids),
            text=b"".join(shown).decode("utf-8", "replace"),
            round_ns=tuple(round(PLAIN_NS * self.random.uniform(0.97, 1.03)) for _ in ids),
            prefill_ns=9 * PLAIN_NS,
        )
        if self.temperature > 0:
            return [plain]
        return [
            plain,
            Comparison(run=self.id, identical=found is None, first_difference=found),
        ]

    def _times(self, k: int, length: int) -> RoundTimes:
        jitter = self.random.uniform(0.95, 1.05)
        look_up = 40_000 if k else 0
        return RoundTimes(
            draft=look_up if self.drafter == "ngram" else round(3_000_000 * length * jitter),
            verify=round(PLAIN_NS * (1 + 0.04 * length) * jitter),
            accept=300_000,
            commit=100_000,
            observe=400_000 if self.top_n else 0,
        )

    def _match(self, k: int, ending: FinishReason | None) -> Match | None:
        """Look the last two tokens, then the last, up in the text; now and then find nothing."""
        if k == 0 or ending in _STOPPERS or self.random.random() < 0.15:
            return None
        for length in (2, 1):
            end = self.tokens[-length:]
            for start in range(len(self.tokens) - 1, max(length, len(self.tokens) - 400) - 1, -1):
                if self.tokens[start - length : start] == end:
                    return Match(start=start, length=length)
        return None

    def _decide(
        self, length: int, mood: str, ending: FinishReason | None, copied: tuple[int, ...]
    ) -> tuple[tuple[DraftedToken, ...], ClosingToken | None, tuple[str, ...]]:
        """Draft `length` tokens and judge them; `ending` cuts after the second at the latest."""
        last = -1 if ending not in _CUTTERS else min(1, max(0, length - 2))
        texts: list[str] = []
        drafted: list[DraftedToken] = []
        data = self._context()
        at_rejection: _Position | None = None
        for slot in range(length):
            forced = self._end_id(ending) if slot == last and ending in _STOPPERS else None
            token, at = self._propose(data, slot, mood, forced, copied[slot : slot + 1])
            ratio = min(1.0, at.p_target[token] / at.q_draft[token])
            u: float | None = self.random.random() * (ratio if ending in _CUTTERS else 1.0)
            if at_rejection is not None:
                fate, u = Fate.DISCARDED, None
            elif 0 <= last < slot:
                fate, u = Fate.CUT, None
            elif u is not None and u < ratio:
                fate = Fate.ACCEPTED
                texts.append(self._release(token))
            else:
                fate, at_rejection, last = Fate.REJECTED, at, -1
            drafted.append(self._drafted(token, at, fate, ratio, u))
            data = (data + self.pieces[token])[-16:]
        if length and last >= 0:
            return tuple(drafted), None, tuple(texts)
        if at_rejection is not None:
            closing = self._closing(at_rejection, ClosingKind.CORRECTION, None)
            slot = len(texts)
            drafted[slot] = msgspec.structs.replace(drafted[slot], laws=closing.laws)
        else:
            forced = self._end_id(ending) if ending in _STOPPERS else None
            likes = -1 if forced is None else forced
            kind = ClosingKind.BONUS if length else ClosingKind.PLAIN
            closing = self._closing(self._at(data, likes, likes), kind, forced)
        texts.append(self._release(closing.id))
        return tuple(drafted), closing, tuple(texts)

    def _propose(
        self, data: bytes, slot: int, mood: str, forced: int | None, copied: tuple[int, ...]
    ) -> tuple[int, _Position]:
        """Return a drafted token and the laws that it will be judged by."""
        fitting = [i for i, p in enumerate(self.vocabulary) if _fits(_pending(data), p)] or [0]
        liked = self.random.choice(fitting)
        if copied:
            token = copied[0]
            agrees = token in fitting and (mood == "agree" or self.random.random() < 0.65)
            at = self._at(data, token if agrees and mood != "disagree" else -1, -1)
            one_hot = tuple(float(i == token) for i in range(len(self.pieces)))
            return token, _Position(at.p_target, at.p_raw, one_hot)
        if forced is not None:
            return forced, self._at(data, forced, forced)
        if not mood:
            at = self._at(data, -1, -1)
        elif mood == "disagree" and slot == 1:
            at = self._at(data, liked, fitting[fitting.index(liked) - 1])
        else:
            at = self._at(data, liked, liked)
        return self._draw(at.q_draft, None)[0], at

    def _at(self, data: bytes, target_likes: int, draft_likes: int) -> _Position:
        world = self.random.randrange(16) + 16 * self.seed
        pending = _pending(data)
        return _position(self.pieces, self.temperature, world, pending, target_likes, draft_likes)

    def _draw(self, law: Sequence[float], forced: int | None) -> tuple[int, float | None]:
        """Draw by the inverse of the cumulative law; a forced id gets a `u` that draws it."""
        if self.temperature == 0:
            return law.index(max(law)), None
        u = self.random.random()
        if forced is not None:
            return forced, sum(law[:forced]) + u * law[forced]
        total = 0.0
        for i, mass in enumerate(law):
            total += mass
            if u < total:
                return i, u
        return max(i for i, mass in enumerate(law) if mass > 0), u

    def _drafted(
        self, token: int, at: _Position, fate: Fate, ratio: float, u: float | None
    ) -> DraftedToken:
        laws = _laws(self.pieces, at, self.top_n, (token,), True, False) if self.top_n else None
        return DraftedToken(
            id=token,
            piece=self.pieces[token],
            q_draft=at.q_draft[token],
            p_target=at.p_target[token],
            fate=fate,
            acceptance_probability=ratio,
            u=None if self.temperature == 0 else u,
            laws=laws,
        )

    def _closing(self, at: _Position, kind: ClosingKind, forced: int | None) -> ClosingToken:
        rejected = kind is ClosingKind.CORRECTION
        law = at.residual if rejected else at.p_target
        token, u = self._draw(law, forced)
        laws = None
        if self.top_n:
            laws = _laws(self.pieces, at, self.top_n, (token,), rejected, rejected)
        return ClosingToken(
            id=token, piece=self.pieces[token], kind=kind, probability=law[token], u=u, laws=laws
        )

    def _context(self) -> bytes:
        return b"".join(self.pieces[i] for i in self.tokens[-4:])

    def _end_id(self, ending: FinishReason | None) -> int:
        return len(self.vocabulary) + (ending is FinishReason.STOP_STRING)

    def _release(self, token: int) -> str:
        if token >= len(self.vocabulary):
            self.stopped = True
            return ""
        return self.stream.decode(self.pieces[token])


def _span(before: int, peak: int, after: int) -> CacheSpan:
    pages = [-(-length // PAGE_SIZE) for length in (before, peak, after)]
    return CacheSpan(
        before=before,
        peak=peak,
        after=after,
        pages_before=pages[0],
        pages_peak=pages[1],
        pages_after=pages[2],
        page_size=PAGE_SIZE,
    )
