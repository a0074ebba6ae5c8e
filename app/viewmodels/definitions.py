"""What each figure of a panel is, in one or two sentences for its tooltip. Knows words alone."""

from __future__ import annotations

ACCEPTANCE = (
    "Accepted / tested. A drafted token is tested if the target compared it: discarded and cut "
    "tokens never were. It estimates a in the cost model."
)
YIELD = "Accepted / drafted. Discarded tokens count as drafted here; cut tokens count nowhere."
TOKENS_PER_PASS = (
    "Emitted tokens / rounds. A round has one pass of the target and emits the accepted tokens "
    "and one more, fewer where a stop or the limit cuts it."
)
EXPECTED = (
    "(1 - a^(k+1)) / (1 - a): the tokens of a pass on k drafted tokens if each is accepted with "
    "probability a = acceptance, whatever the position. Averaged over the lengths really drafted."
)
SPEEDUP = (
    "Tokens per second of this run / tokens per second of the plain target, both measured on one "
    "machine. Above 1.0 the drafter pays. The interval is that of the plain target's rate."
)
RUN = (
    "Emitted tokens / summed round times: draft, verify, accept and commit. Prefill, observation, "
    "probes and waiting for the picture are outside."
)
PACED = " This run was paced: its rate comes from summed round times all the same."
PLAIN = (
    "Plain rounds / their summed times, with the 95 % interval of Student's t. Probes are whole "
    "plain rounds at this run's own contexts; the baseline is a plain run of the same prompt."
)
LATENCY = (
    "Time between arrivals: a round's tokens arrive as one burst, so this is a round's time from "
    "the second round on. p50, p95 and p99 are linear between the nearest two rounds."
)
C = "c: time per drafted token / time of a plain round."
PREDICTED = (
    "(1 - a^(k+1)) / ((1 - a)(c k + 1)), with a = acceptance: what the cost model says if a pass "
    "on k + 1 tokens costs the same as a plain one. Compare with the measured speed-up."
)
