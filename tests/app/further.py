"""Further settings as tests use them: every field away from its default."""

from __future__ import annotations

from app.viewmodels.more import More

FULL_MORE = More(
    min_p=0.05,
    repetition_penalty=1.1,
    presence_penalty=-0.5,
    frequency_penalty=0.25,
    logit_bias=((42, -5.0), (7, 2.5)),
    drafter_temperature=0.5,
    k_min=2,
    confidence=0.4,
)
