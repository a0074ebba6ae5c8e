"""Small lawful traces for tests: a simulated run over a tiny vocabulary, exact to the rule.

Both laws of every position are known in full, verdicts and closing tokens are drawn by the rule,
and positions, texts and caches add up. Knows no model, no torch and no Qt; the same arguments give
the same events. `tests.lawful` says what "lawful" means.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.trace.events import (
    Event,
    FinishReason,
    PrefillFinished,
    Probe,
    RunFinished,
    Settings,
    SettingsChanged,
)
from tests.tiny_laws import STOP_PIECE, VOCABULARY
from tests.tiny_run import PLAIN_NS, SimulatedRun


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
    run = SimulatedRun(tuple(vocabulary), seed, drafter, temperature, top_n)
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
