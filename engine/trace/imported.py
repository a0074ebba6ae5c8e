"""What another program counted while it decoded speculatively: a run without rounds.

Its program told counts, not tokens, laws or times of phases. What it did not tell is None and named
in `missing`. Knows which counts can stand together; knows no program, no file and no figure.
"""

from __future__ import annotations

from itertools import pairwise

from engine.trace.frozen import Frozen

MOST = 10**15  # of anything counted: beyond it floats no longer count
MOST_NS = 10**18  # thirty years


class Stated(Frozen, frozen=True):
    """A figure in the program's own words, which need not be the glossary's."""

    name: str  # e.g. "mean acceptance length"
    value: float
    unit: str = ""  # of the value, e.g. "s"
    meaning: str = ""  # what it divides or counts, in a sentence


class ImportedStep(Frozen, frozen=True):
    """A part of the run as the program tells it: a round, an interval of a log, a response."""

    drafted: int  # tokens; cut ones are left out
    accepted: int  # of them
    drafts: int | None = None  # rounds in which something was drafted: 1 where it is a round
    emitted: int | None = None  # tokens added to the text
    ns: int | None = None  # time of decoding


class Imported(Frozen, frozen=True, tag="imported"):
    """The counts of a run that another program made; what it did not tell is null, never 0."""

    run: str
    program: str  # as it is called: "vLLM", "llama.cpp", "LM Studio"
    form: str  # what was read, in words
    rounds: int | None = None  # passes of the target after the prompt's
    drafts: int | None = None  # those of them that had a draft
    drafted: int | None = None  # tokens; cut ones are left out of this and the next three
    accepted: int | None = None  # drafted tokens kept
    rejected: int | None = None  # the first of a round that was not
    discarded: int | None = None  # after a rejected one, never tested
    emitted: int | None = None  # tokens added to the text
    tested_by_position: tuple[int, ...] = ()  # draft position 0 first; empty if not told
    accepted_by_position: tuple[int, ...] = ()  # as long, or alone
    accepted_lengths: tuple[int, ...] = ()  # [n] = rounds with a draft of which n were accepted
    steps: tuple[ImportedStep, ...] = ()  # the parts that the program told, in order
    decode_ns: int | None = None  # of all rounds, as the program measured it
    prefill_ns: int | None = None  # of reading the prompt, as the program measured it
    first_token_ns: int | None = None  # from the request on, as the program measured it
    tokens_per_second: float | None = None  # as stated; null: emitted / decode_ns
    prompt_tokens: int | None = None  # how many were read
    stated: tuple[Stated, ...] = ()  # the program's own figures, in its own words
    text: str = ""  # the target's, where the program gave it
    missing: tuple[str, ...] = ()  # what is not told: of run_started, too, where it stands empty
    notes: tuple[str, ...] = ()  # what a viewer should know, in sentences

    @property
    def tested(self) -> int | None:
        """Accepted + rejected, where the program told the rejected ones apart."""
        if self.accepted is None or self.rejected is None:
            return None
        return self.accepted + self.rejected


def misfit(event: Imported) -> str | None:
    """Return what no reader could work with: a negative count, columns of different lengths."""
    counts = [event.rounds, event.drafts, event.drafted, event.accepted, event.rejected]
    counts += [event.discarded, event.emitted, event.prompt_tokens]
    counts += [*event.tested_by_position, *event.accepted_by_position, *event.accepted_lengths]
    for step in event.steps:
        counts += [step.drafted, step.accepted, step.drafts, step.emitted, step.ns]
    counts += [event.decode_ns, event.prefill_ns, event.first_token_ns]
    if any(count is not None and not 0 <= count <= MOST_NS for count in counts):
        return "a count out of range"
    if event.tokens_per_second is not None and event.tokens_per_second < 0:
        return "a negative rate"
    tested, accepted = event.tested_by_position, event.accepted_by_position
    if tested and len(tested) != len(accepted):
        return "columns of positions of different lengths"
    return None


def contradictions(event: Imported) -> list[tuple[str, int, int]]:
    """Return sums that do not come out: what, what is recorded, what follows instead."""
    found: list[tuple[str, int, int]] = []

    def at_most(what: str, value: int | None, most: int | None) -> None:
        if value is not None and most is not None and value > most:
            found.append((what, value, most))

    def equal(what: str, value: int | None, follows: int | None) -> None:
        if value is not None and follows is not None and value != follows:
            found.append((what, value, follows))

    at_most("accepted", event.accepted, event.drafted)
    at_most("drafts", event.drafts, event.rounds)
    at_most("drafts", event.drafts, event.drafted)
    at_most("rejected", event.rejected, event.drafts)
    if event.tested is not None and event.discarded is not None:
        equal("drafted", event.drafted, event.tested + event.discarded)
    if event.accepted_by_position:
        equal("accepted", event.accepted, sum(event.accepted_by_position))
        for before, after in pairwise(event.accepted_by_position):
            at_most("accepted at a later position", after, before)
    if event.tested_by_position:
        equal("tested", event.tested, sum(event.tested_by_position))
        for kept, of in zip(event.accepted_by_position, event.tested_by_position, strict=True):
            at_most("accepted at a position", kept, of)
    if event.accepted_lengths:
        at_most("drafts, by accepted length", sum(event.accepted_lengths), event.drafts)
    if event.steps:
        equal("drafted", event.drafted, sum(step.drafted for step in event.steps))
        equal("accepted", event.accepted, sum(step.accepted for step in event.steps))
        for step in event.steps:
            at_most("accepted in a step", step.accepted, step.drafted)
            at_most("drafts in a step", step.drafts, step.drafted)
    return found
