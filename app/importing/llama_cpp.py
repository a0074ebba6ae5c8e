"""llama.cpp's timings: of its server's answers, and of its programs' and its server's logs.

An answer of /completion or /v1/chat/completions has `timings` (ggml-org/llama.cpp,
tools/server/server-task.cpp, result_timings::to_json): cache_n, prompt_n, prompt_ms, predicted_n,
predicted_ms, predicted_per_second, and draft_n with draft_n_accepted where something was drafted.
Streamed, each part carries those so far, so the last ones hold. Which drafted tokens were tested is
not told: draft_n_accepted / draft_n is the draft yield, not the acceptance. Knows no window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.importing.found import Found
from app.importing.llama_cpp_log import looks_like_log, read_log
from app.importing.reading import MOST_STEPS, added, created, nanoseconds, real, whole, word
from engine.errors import DraftscopeError
from engine.trace.events import FinishReason
from engine.trace.imported import Imported, ImportedStep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.importing.reading import Material, Object

PROGRAM = "llama.cpp"
EXPECTED = (
    "an answer of its server with 'timings', lines 'draft acceptance rate = ...' of its log, or "
    "the lines n_drafted and n_accept that llama-speculative prints"
)
_REASONS = {
    "eos": FinishReason.END_TOKEN,
    "word": FinishReason.STOP_STRING,
    "limit": FinishReason.LIMIT,
    "length": FinishReason.LIMIT,
}
_RANDOM_SEED = 0xFFFFFFFF  # LLAMA_DEFAULT_SEED: drawn anew for each run, and not told
_UNTOLD = (
    "llama.cpp tells how many drafted tokens were accepted, not which were tested: their share is "
    "the draft yield."
)


def looks_like(material: Material) -> bool:
    """Return whether a file holds llama.cpp's timings."""
    if material.objects:
        return any(_timings(one) is not None for one in material.objects)
    return looks_like_log(material)


def read(material: Material) -> Found:
    """Return the run that the timings tell of; several answers are added up.

    Raises
    ------
    DraftscopeError
        If there are none, or a number is none.
    """
    answers = [answer for answer in _answers(material.objects) if _last_timings(answer)]
    if answers:
        return _of_answers(answers)
    if looks_like_log(material):
        return read_log(material)
    raise DraftscopeError(
        f"{material.name} holds no timings of llama.cpp: expected are {EXPECTED}."
    )


def _answers(objects: Sequence[Object]) -> Iterator[list[Object]]:
    """Yield the parts of each answer: one, or those of a stream."""
    parts: list[Object] = []
    for one in objects:
        goes_on = _is_part(one)
        if parts and not _belongs(one, parts[-1]):
            yield parts
            parts = []
        parts.append(one)
        if not goes_on:
            yield parts
            parts = []
    if parts:
        yield parts


def _is_part(one: Object) -> bool:
    """Whether an object is a part of a stream after which more may come."""
    choices = one.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return "delta" in choices[0]
    return one.get("stop") is False or str(one.get("object", "")).endswith(".chunk")


def _belongs(one: Object, before: Object) -> bool:
    """Whether an object goes on with the stream that another is a part of."""
    if "stop" in one or "stop" in before:  # of /completion, which gives its answers no id
        return "stop" in one and before.get("stop") is False
    return _is_part(one) and one.get("id") == before.get("id")


def _timings(one: Object) -> Object | None:
    found = one.get("timings")
    if isinstance(found, dict) and "predicted_n" in found:
        return found
    return one if "predicted_n" in one and "predicted_ms" in one else None


def _last_timings(parts: Sequence[Object]) -> Object | None:
    told = [found for one in parts if (found := _timings(one)) is not None]
    return told[-1] if told else None


def _of_answers(answers: list[list[Object]]) -> Found:
    if len(answers) > MOST_STEPS:
        raise DraftscopeError(
            f"There are {len(answers):,} answers: cut them to {MOST_STEPS:,} at most."
        )
    told = [found for parts in answers if (found := _last_timings(parts)) is not None]
    drafted = added(whole(one, "draft_n") for one in told)
    accepted = added(whole(one, "draft_n_accepted") for one in told)
    steps = tuple(
        ImportedStep(
            drafted=whole(one, "draft_n") or 0,
            accepted=whole(one, "draft_n_accepted") or 0,
            emitted=whole(one, "predicted_n"),
            ns=nanoseconds(one, "predicted_ms", 1e6),
        )
        for one in told
    )
    single = answers[0] if len(answers) == 1 else None
    one = told[0]
    imported = Imported(
        run="",
        program=PROGRAM,
        form="an answer of its server"
        if single
        else f"{len(told):,} answers of its server, added up",
        drafted=drafted,
        accepted=accepted,
        emitted=added(whole(each, "predicted_n") for each in told),
        steps=steps if drafted is not None and accepted is not None else (),
        decode_ns=added(nanoseconds(each, "predicted_ms", 1e6) for each in told),
        prefill_ns=added(nanoseconds(each, "prompt_ms", 1e6) for each in told),
        tokens_per_second=real(one, "predicted_per_second") if single else None,
        prompt_tokens=added(whole(each, "prompt_n") for each in told),
        text="".join(_text(part) for part in single) if single else "",
        notes=(_UNTOLD,) if drafted is not None else (),
    )
    return _with_request(imported, answers, single)


def _with_request(
    imported: Imported, answers: list[list[Object]], single: list[Object] | None
) -> Found:
    """Add what the answers tell of models and settings, where they agree."""
    models = {word(part, "model") for parts in answers for part in parts} - {""}
    last = single[-1] if single else {}
    held = last.get("generation_settings")
    settings: Object = held if isinstance(held, dict) else {}
    seed = whole(settings, "seed")
    return Found(
        imported=imported,
        target=models.pop() if len(models) == 1 else "",
        k=whole(settings, "speculative.n_max"),
        temperature=real(settings, "temperature"),
        seed=None if seed == _RANDOM_SEED else seed,
        limit=_limit(settings),
        prompt=word(last, "prompt"),
        date=created(last),
        finish=_reason(last),
    )


def _limit(settings: Object) -> int | None:
    value = settings.get("n_predict", settings.get("max_tokens"))
    return whole({"n_predict": value}, "n_predict") if value != -1 else None


def _reason(last: Object) -> FinishReason | None:
    stop = word(last, "stop_type")
    if stop:
        return _REASONS.get(stop)
    reason = word(_choice(last), "finish_reason")  # "stop" is an end token or a stop string
    return FinishReason.LIMIT if reason == "length" else None


def _choice(one: Object) -> Object:
    choices = one.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(one: Object) -> str:
    choice = _choice(one)
    for key in ("message", "delta"):
        part = choice.get(key)
        if isinstance(part, dict):
            return word(part, "content")
    return word(choice, "text") or word(one, "content")
