"""One simulated run: drafts, judges and draws by the rule. Knows no model and no trace file."""

from __future__ import annotations

import codecs
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

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
    Match,
    ModelInfo,
    Round,
    RoundTimes,
    RunStarted,
    Settings,
    TokenPiece,
)
from tests.tiny_laws import (
    END_PIECE,
    PROMPT,
    STOP_PIECE,
    Position,
    fits,
    laws_of,
    pending_bytes,
    position_laws,
)

PAGE_SIZE = 16
PLAIN_NS = 20_000_000
STOPPERS = (FinishReason.END_TOKEN, FinishReason.STOP_STRING)
CUTTERS = (*STOPPERS, FinishReason.LIMIT, FinishReason.CONTEXT)


@dataclass
class SimulatedRun:
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
        known = [self.vocabulary.index(piece) for piece in PROMPT if piece in self.vocabulary]
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
        if k == 0 or ending in STOPPERS or self.random.random() < 0.15:
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
        last = -1 if ending not in CUTTERS else min(1, max(0, length - 2))
        texts: list[str] = []
        drafted: list[DraftedToken] = []
        data = self._context()
        at_rejection: Position | None = None
        for slot in range(length):
            forced = self._end_id(ending) if slot == last and ending in STOPPERS else None
            token, at = self._propose(data, slot, mood, forced, copied[slot : slot + 1])
            ratio = min(1.0, at.p_target[token] / at.q_draft[token])
            u: float | None = self.random.random() * (ratio if ending in CUTTERS else 1.0)
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
            slot = len(texts)
            rows = (drafted[slot].id,)
            closing = self._closing(at_rejection, ClosingKind.CORRECTION, None, rows)
            drafted[slot] = msgspec.structs.replace(drafted[slot], laws=closing.laws)
        else:
            forced = self._end_id(ending) if ending in STOPPERS else None
            likes = -1 if forced is None else forced
            kind = ClosingKind.BONUS if length else ClosingKind.PLAIN
            closing = self._closing(self._at(data, likes, likes), kind, forced, ())
        texts.append(self._release(closing.id))
        return tuple(drafted), closing, tuple(texts)

    def _propose(
        self, data: bytes, slot: int, mood: str, forced: int | None, copied: tuple[int, ...]
    ) -> tuple[int, Position]:
        """Return a drafted token and the laws that it will be judged by."""
        pending = pending_bytes(data)
        fitting = [i for i, piece in enumerate(self.vocabulary) if fits(pending, piece)] or [0]
        liked = self.random.choice(fitting)
        if copied:
            token = copied[0]
            agrees = token in fitting and (mood == "agree" or self.random.random() < 0.65)
            at = self._at(data, token if agrees and mood != "disagree" else -1, -1)
            one_hot = tuple(float(i == token) for i in range(len(self.pieces)))
            return token, Position(at.p_target, at.p_raw, one_hot)
        if forced is not None:
            return forced, self._at(data, forced, forced)
        if not mood:
            at = self._at(data, -1, -1)
        elif mood == "disagree" and slot == 1:
            at = self._at(data, liked, fitting[fitting.index(liked) - 1])
        else:
            at = self._at(data, liked, liked)
        return self._draw(at.q_draft, None)[0], at

    def _at(self, data: bytes, target_likes: int, draft_likes: int) -> Position:
        world = self.random.randrange(16) + 16 * self.seed
        pending = pending_bytes(data)
        return position_laws(
            self.pieces, self.temperature, world, pending, target_likes, draft_likes
        )

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
        self, token: int, at: Position, fate: Fate, ratio: float, u: float | None
    ) -> DraftedToken:
        laws = laws_of(self.pieces, at, self.top_n, (token,), True, False) if self.top_n else None
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

    def _closing(
        self, at: Position, kind: ClosingKind, forced: int | None, rows: tuple[int, ...]
    ) -> ClosingToken:
        rejected = kind is ClosingKind.CORRECTION
        law = at.residual if rejected else at.p_target
        token, u = self._draw(law, forced)
        laws = None
        if self.top_n:
            laws = laws_of(self.pieces, at, self.top_n, (*rows, token), rejected, rejected)
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
