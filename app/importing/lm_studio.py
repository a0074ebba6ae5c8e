"""LM Studio's prediction statistics: of its SDKs and of its REST API, in either spelling.

`LLMPredictionStats` (lmstudio-ai/lmstudio-js, packages/lms-shared-types/src/llm/
LLMPredictionStats.ts): stopReason, tokensPerSecond, timeToFirstTokenSec, totalTimeSec,
promptTokensCount, predictedTokensCount, usedDraftModelKey, totalDraftTokensCount and its parts:
"totalDraftTokensCount = rejectedDraftTokensCount + acceptedDraftTokensCount +
ignoredDraftTokensCount", the ignored ones being "not sent to the main model". The REST API
(lmstudio.ai/docs/developer/api-changelog, 0.3.10; docs/api/rest-api) has them in `stats` with
underscores, draft_model, time_to_first_token and generation_time in seconds, and `usage`.

A pass reads the whole draft, so the tokens behind the first rejected one were sent, too, and must
be among the rejected: which were tested is not told, and there is no acceptance. Knows no window.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.importing.found import Found
from app.importing.reading import MOST_STEPS, added, created, inner, nanoseconds, real, whole, word
from engine.errors import DraftscopeError
from engine.trace.events import FinishReason
from engine.trace.imported import Imported, ImportedStep, Stated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.importing.reading import Material, Object

PROGRAM = "LM Studio"
EXPECTED = "an answer of its REST API with 'stats', or the statistics of its SDK"
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SAME = {  # of REST and SDK; the first spelling is the one that is read
    "used_draft_model_key": "draft_model",
    "time_to_first_token": "time_to_first_token_sec",
    "time_to_first_token_seconds": "time_to_first_token_sec",
    "input_tokens": "prompt_tokens_count",
    "total_output_tokens": "predicted_tokens_count",
    "prompt_tokens": "prompt_tokens_count",
    "completion_tokens": "predicted_tokens_count",
}
_TELLING = (  # one of them makes an object LM Studio's statistics
    "total_draft_tokens_count",
    "accepted_draft_tokens_count",
    "time_to_first_token_sec",
    "predicted_tokens_count",
)
_REASONS = {
    "eosFound": FinishReason.END_TOKEN,
    "stopStringFound": FinishReason.STOP_STRING,
    "maxPredictedTokensReached": FinishReason.LIMIT,
    "contextLengthReached": FinishReason.CONTEXT,
    "userStopped": FinishReason.CANCELLED,
    "modelUnloaded": FinishReason.ERROR,
    "failed": FinishReason.ERROR,
}
_MESSAGES = {
    "modelUnloaded": "The model was unloaded in LM Studio during the prediction.",
    "failed": "The prediction failed in LM Studio.",
}
_UNTOLD = (
    "LM Studio splits the draft into accepted, rejected and unsent tokens, so its rejected ones "
    "hold those behind the first one, too, which were never tested: there is no acceptance."
)
_STATED = {
    "rejected_draft_tokens_count": ("rejected", "drafted tokens that a pass read and did not keep"),
    "ignored_draft_tokens_count": ("ignored", "drafted tokens that no pass read"),
}


def looks_like(material: Material) -> bool:
    """Return whether a file holds LM Studio's statistics."""
    return bool(_found(material))


def read(material: Material) -> Found:
    """Return the run that the statistics tell of; several predictions are added up.

    Raises
    ------
    DraftscopeError
        If there are none, or a number is none.
    """
    found = _found(material)
    if not found:
        raise DraftscopeError(
            f"{material.name} holds no statistics of LM Studio: expected are {EXPECTED}."
        )
    if len(found) > MOST_STEPS:
        raise DraftscopeError(
            f"There are {len(found):,} predictions: cut them to {MOST_STEPS:,} at most."
        )
    return _of(found, material)


def _found(material: Material) -> list[Object]:
    """Return the statistics of each prediction, with one spelling."""
    return [told for one in material.objects if (told := _statistics(one))]


def _statistics(one: Object) -> Object:
    """Return the statistics of one object; empty where it has none."""
    held = next(inner([one], "stats"), one)
    told = _spelled(held)
    if not any(name in told for name in _TELLING):
        return {}
    return _spelled(next(inner([one], "usage"), {})) | told


def _spelled(held: Object) -> Object:
    plain = {_CAPITAL.sub("_", name).lower(): value for name, value in held.items()}
    return {_SAME.get(name, name): value for name, value in plain.items()}


def _of(found: Sequence[Object], material: Material) -> Found:
    single = found[0] if len(found) == 1 else None
    drafted = added(whole(one, "total_draft_tokens_count") for one in found)
    accepted = added(whole(one, "accepted_draft_tokens_count") for one in found)
    steps = tuple(_step(one) for one in found)
    imported = Imported(
        run="",
        program=PROGRAM,
        form="statistics of a prediction" if single else f"{len(found):,} predictions, added up",
        drafted=drafted,
        accepted=accepted,
        emitted=added(whole(one, "predicted_tokens_count") for one in found),
        steps=steps if drafted is not None and accepted is not None else (),
        first_token_ns=nanoseconds(single, "time_to_first_token_sec", 1e9) if single else None,
        tokens_per_second=real(single, "tokens_per_second") if single else None,
        prompt_tokens=added(whole(one, "prompt_tokens_count") for one in found),
        stated=(*_stated(found, drafted, accepted), *_times(single)),
        text=_text(material.objects[0]) if single else "",
        notes=(_UNTOLD,) if drafted is not None else (),
    )
    reason = word(single, "stop_reason") if single else ""
    return Found(
        imported=imported,
        target=_agreed(word(one, "model") for one in material.objects),
        drafter=_agreed(word(one, "draft_model") for one in found),
        date=created(material.objects[0]) if single else "",
        finish=_REASONS.get(reason),
        message=_MESSAGES.get(reason, ""),
    )


def _step(one: Object) -> ImportedStep:
    return ImportedStep(
        drafted=whole(one, "total_draft_tokens_count") or 0,
        accepted=whole(one, "accepted_draft_tokens_count") or 0,
        emitted=whole(one, "predicted_tokens_count"),
    )


def _stated(
    found: Sequence[Object], drafted: int | None, accepted: int | None
) -> tuple[Stated, ...]:
    """Return the parts of the drafted tokens in LM Studio's words.

    Raises
    ------
    DraftscopeError
        If they do not add up, as LM Studio says that they do.
    """
    told = {name: added(whole(one, name) for one in found) for name in _STATED}
    parts = [part for part in told.values() if part is not None]
    if drafted is not None and accepted is not None and len(parts) == len(_STATED):
        total = accepted + sum(parts)
        if total != drafted:
            raise DraftscopeError(
                f"LM Studio's parts of the draft come to {total:,} of {drafted:,} tokens: import "
                "the statistics as it gave them."
            )
    return tuple(
        Stated(name=_STATED[name][0], value=float(value), meaning=_STATED[name][1])
        for name, value in told.items()
        if value is not None
    )


def _times(single: Object | None) -> tuple[Stated, ...]:
    told = (
        ("total_time_sec", "total time", "from the request to its end"),
        ("generation_time", "generation time", "as LM Studio measured it"),
    )
    return tuple(
        Stated(name=words, value=value, unit="s", meaning=meaning)
        for name, words, meaning in told
        if single is not None and (value := real(single, name)) is not None
    )


def _agreed(names: Iterable[str]) -> str:
    known = set(names) - {""}
    return known.pop() if len(known) == 1 else ""


def _text(one: Object) -> str:
    choices = one.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else one
    if not isinstance(choice, dict):
        return ""
    message = choice.get("message")
    if isinstance(message, dict):
        return word(message, "content")
    return word(choice, "text") or word(choice, "content")
