"""What happened in a run, as frozen values: the only thing that crosses from engine to window.

Knows no torch, no Qt and no file: `codec` writes these, `statistics` computes from them.
The words are the glossary's (ARCHITECTURE.md). Times are nanoseconds of engine time, probabilities
are plain floats in [0, 1], token ids are the target's.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from engine.trace.frozen import Frozen
from engine.trace.imported import Imported
from engine.trace.markers import Marker, SessionNote

SCHEMA_VERSION = 1
"""Grows where a reader of the version before would misread a file: a field that is renamed or means
something else. A new kind of event and a new field with a default leave it as it is."""


class Fate(StrEnum):
    """What became of a drafted token."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DISCARDED = "discarded"  # after the rejected one: never tested
    CUT = "cut"  # past a stop or the limit: neither tested nor discarded, in no figure


class ClosingKind(StrEnum):
    """Where the last token of a round came from."""

    CORRECTION = "correction"  # drawn from the residual after a rejection
    BONUS = "bonus"  # drawn from the target after every drafted token was accepted
    PLAIN = "plain"  # a round with no draft


class DraftEnd(StrEnum):
    """Why fewer than k tokens were drafted."""

    LIMIT = "limit"  # the text may not grow so far
    UNSURE = "unsure"  # the drafter's largest probability fell below the confidence asked for
    NO_MATCH = "no_match"  # the look-up found nothing, or nothing further
    CONTEXT = "context"  # the text has reached the end of the drafter's own context
    TOO_SHORT = "too_short"  # the text has too few tokens for the drafter to read


class FinishReason(StrEnum):
    """Why a run ended."""

    END_TOKEN = "end_token"
    STOP_STRING = "stop_string"
    LIMIT = "limit"
    CONTEXT = "context"  # the model's own context length was reached
    CANCELLED = "cancelled"
    ERROR = "error"


class Settings(Frozen, frozen=True):
    """What may change between rounds. `temperature` 0 is greedy; the defaults of the rest are off.

    Applied in this order, for target and drafter alike: logit bias, repetition penalty (over
    prompt and output), frequency and presence penalty (over the output), temperature, top-k,
    top-p, min-p.
    """

    drafter: str  # "ngram", "head", "small-2", "trained:NAME", "model:NAME", "early:LAYERS", "none"
    k: int  # tokens drafted a round, at most
    temperature: float
    top_k: int = 0  # tokens kept, the most probable ones
    top_p: float = 1.0  # mass that the fewest most probable tokens kept must hold
    min_p: float = 0.0  # share of the largest probability below which tokens are left out
    repetition_penalty: float = 1.0  # divides positive logits, multiplies negative ones
    presence_penalty: float = 0.0  # subtracted once from tokens that the output holds
    frequency_penalty: float = 0.0  # subtracted for each time that the output holds the token
    logit_bias: tuple[tuple[int, float], ...] = ()  # (token id, what is added to its logit)
    drafter_temperature: float | None = None  # None: the same as `temperature`
    k_min: int = 0  # tokens drafted before `confidence` may end a draft
    confidence: float = 0.0  # a draft ends where the drafter's largest probability is below it


class ModelInfo(Frozen, frozen=True):
    """A model as it really computed: what was loaded and how it was run."""

    name: str  # as shown
    kind: str  # "target", "model", "head", "small", "early", "ngram"
    source: str = ""  # file or folder name, without its path
    parameters: int = 0  # weights; a tied head counts once
    vocabulary: int = 0  # V
    layers: int = 0  # L
    width: int = 0  # D
    context_length: int = 0  # tokens that it reads at most
    plan: str = ""  # "eager", "packed", "compiled"
    dtype: str = ""  # of the weights as multiplied, e.g. "float16 weights, float32 sums"
    device: str = ""  # "cpu", or the name of the GPU
    notes: tuple[str, ...] = ()  # what a user should know, in sentences


class TokenPiece(Frozen, frozen=True):
    """A token id with its own bytes, which can be a part of a character."""

    id: int
    piece: bytes


class Laws(Frozen, frozen=True):
    """The laws at one position: the rows that matter, and the mass that the other rows hold.

    Rows are the union of the top-N of each law, the drafted token and the drawn token, in falling
    order of `p_target`, then of `p_raw`. Columns have one length.
    """

    ids: tuple[int, ...]
    pieces: tuple[bytes, ...]
    p_target: tuple[float, ...]  # processed, as in Settings; what is drawn from
    p_raw: tuple[float, ...]  # the target's softmax at temperature 1, nothing cut
    q_draft: tuple[float, ...] = ()  # empty where nothing was drafted (bonus, plain)
    residual: tuple[float, ...] = ()  # renormalised; only where a token was rejected
    rest_p_target: float = 0.0  # mass outside the rows
    rest_p_raw: float = 0.0
    rest_q_draft: float = 0.0
    rest_residual: float = 0.0
    entropy_target: float = 0.0  # nats, of p_target
    entropy_raw: float = 0.0  # nats, of p_raw
    entropy_draft: float = 0.0  # nats, of q_draft
    overlap: float | None = None  # sum(min(p_target, q_draft)); None where nothing was drafted


class DraftedToken(Frozen, frozen=True):
    """One token of a proposal and its verdict."""

    id: int
    piece: bytes
    q_draft: float  # of this token, in the law it was drawn from
    p_target: float | None  # of this token; None only where the pass did not reach it
    fate: Fate
    acceptance_probability: float | None = None  # min(1, p_target / q_draft)
    u: float | None = None  # the uniform of the test; None if greedy or never tested
    laws: Laws | None = None  # None with observation off


class ClosingToken(Frozen, frozen=True):
    """The token that ends a round: correction, bonus or plain."""

    id: int
    piece: bytes
    kind: ClosingKind
    probability: float  # in the law that it was drawn from
    u: float | None = None  # of the draw, by the inverse of the cumulative law; None if greedy
    laws: Laws | None = None  # a correction's laws are those of the rejected token's position


class CacheSpan(Frozen, frozen=True):
    """A cache over one round, in positions and pages."""

    before: int  # length when the round began
    peak: int  # length after the pass or the draft, before truncation
    after: int  # length when the round ended
    pages_before: int
    pages_peak: int
    pages_after: int
    page_size: int  # positions a page

    @property
    def pages_given_back(self) -> int:
        """Pages that the truncation returned to the pool."""
        return self.pages_peak - self.pages_after


class RoundTimes(Frozen, frozen=True):
    """Nanoseconds of one round's phases. Observation is outside the round's own time."""

    draft: int
    verify: int
    accept: int
    commit: int
    observe: int = 0

    @property
    def round(self) -> int:
        """The round's own time: draft + verify + accept + commit."""
        return self.draft + self.verify + self.accept + self.commit


class Match(Frozen, frozen=True):
    """Where in the context an n-gram drafter found its proposal."""

    start: int  # index, in prompt + emitted tokens, of the first token that was copied
    length: int  # tokens of the n-gram that matched, just before `start`


class RunStarted(Frozen, frozen=True, tag="run_started"):
    """First event of a trace: everything needed to say what was run."""

    schema: int
    run: str  # run id, a hex string
    version: str  # of draftscope
    started_at: str  # ISO 8601, UTC
    prompt: str  # as typed
    raw: bool  # True: no chat template
    prompt_tokens: tuple[TokenPiece, ...]
    settings: Settings
    seed: int
    max_new_tokens: int
    target: ModelInfo
    drafter: ModelInfo | None
    end_tokens: tuple[int, ...] = ()
    stop_strings: tuple[str, ...] = ()
    top_n: int = 8  # rows kept of each law; 0 = observation off
    machine: str = ""  # processor or GPU, threads, torch version
    withheld: tuple[str, ...] = ()  # what was taken out on purpose: "prompt", "machine"


class PrefillFinished(Frozen, frozen=True, tag="prefill_finished"):
    """The prompt is in the caches; `ns` is the target's prefill alone."""

    run: str
    ns: int
    tokens: int


class Round(Frozen, frozen=True, tag="round"):
    """One round: a proposal, one pass of the target, the verdicts, and the closing token.

    Emitted tokens are the accepted ones in order, then the closing token if there is one.
    """

    run: str  # run id
    index: int  # 0, 1, 2, ...
    position: int  # tokens (prompt + emitted) before the round; drafted[i] stood for position + i
    drafter: str  # as in Settings
    k: int  # asked; fewer may have been drafted
    drafted: tuple[DraftedToken, ...]  # in order, each with its verdict
    closing: ClosingToken | None  # None where a stop or the limit cut the round
    texts: tuple[str, ...]  # text that each emitted token released to the stream, in order
    times: RoundTimes  # nanoseconds of each phase
    target_cache: CacheSpan  # lengths and pages over the round
    drafter_cache: CacheSpan | None = None  # None: it has none of its own
    match: Match | None = None  # n-gram: where the proposal was copied from
    draft_end: DraftEnd | None = None  # None: k tokens were drafted (and in older traces)
    paced: bool = False  # the engine waited for the picture before this round
    disturbed: bool = False  # a training computed on the machine as well: the times are too long

    @property
    def accepted(self) -> int:
        """Drafted tokens kept."""
        return sum(token.fate is Fate.ACCEPTED for token in self.drafted)

    @property
    def rejected(self) -> int:
        """1 if the round ended in a rejection, else 0."""
        return sum(token.fate is Fate.REJECTED for token in self.drafted)

    @property
    def discarded(self) -> int:
        """Drafted tokens after the rejected one."""
        return sum(token.fate is Fate.DISCARDED for token in self.drafted)

    @property
    def emitted(self) -> int:
        """Tokens added to the text."""
        return self.accepted + (self.closing is not None)

    @property
    def emitted_ids(self) -> tuple[int, ...]:
        """Ids added to the text, in order."""
        ids = [token.id for token in self.drafted if token.fate is Fate.ACCEPTED]
        return (*ids, self.closing.id) if self.closing is not None else tuple(ids)


class Probe(Frozen, frozen=True, tag="probe"):
    """A whole plain round at the run's own context, measured and not committed."""

    run: str
    after_round: int  # index of the round that ended just before
    context_length: int
    ns: int


class SettingsChanged(Frozen, frozen=True, tag="settings_changed"):
    """From round `before_round` on, these settings hold."""

    run: str
    before_round: int
    settings: Settings
    drafter: ModelInfo | None = None  # where the drafter changed


class Baseline(Frozen, frozen=True, tag="baseline"):
    """The plain target on the same prompt, seed and limit, run to its end."""

    run: str
    token_ids: tuple[int, ...]
    text: str
    round_ns: tuple[int, ...]  # one plain round a token
    prefill_ns: int
    complete: bool = True  # False if cancelled
    texts: tuple[str, ...] = ()  # that each token released; empty in older traces


class Difference(Frozen, frozen=True):
    """The first position at which greedy speculative text leaves the plain target's."""

    position: int  # index among the emitted tokens
    speculative_id: int | None  # None: that text had ended
    plain_id: int | None
    speculative_logit: float | None = None  # of speculative_id, in a one-token pass of the plan
    plain_logit: float | None = None
    kind: Literal["tie", "fault"] = "fault"  # tie: within the kernels' measured difference


class Comparison(Frozen, frozen=True, tag="comparison"):
    """Speculative against plain text; only greedy texts are comparable token for token."""

    run: str
    identical: bool
    first_difference: Difference | None = None


class RunFinished(Frozen, frozen=True, tag="run_finished"):
    """Last event of the speculative run (a baseline and a comparison may follow)."""

    run: str
    reason: FinishReason
    tail: str = ""  # text still withheld when the run ended
    message: str = ""  # one sentence, where reason is "error"


Event = (
    RunStarted
    | PrefillFinished
    | Round
    | Probe
    | SettingsChanged
    | Baseline
    | Comparison
    | RunFinished
    | Imported
    | Marker
    | SessionNote
)
