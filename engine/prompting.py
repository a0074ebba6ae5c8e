"""A typed prompt to the target's tokens: through the chat template, or raw. No model, no run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from engine.loading import LoadedModel


def prompt_tokens(target: LoadedModel, prompt: str, *, raw: bool) -> list[int]:
    """Return the ids that the target reads for a prompt; at least one, fewer than its context.

    Raises
    ------
    DraftscopeError
        If nothing was typed, the model has no chat template, or the prompt is too long.
    """
    if not prompt.strip() and not (raw and prompt):
        raise DraftscopeError("The prompt is empty; type something for the target to go on from.")
    if raw:
        tokens = target.tokenizer.encode(prompt, add_special=True)
    else:
        if target.chat_template is None:
            raise DraftscopeError(
                f"{target.info.name} has no chat template; choose a raw prompt (--raw)."
            )
        text = target.chat_template.render([{"role": "user", "content": prompt}])
        tokens = target.tokenizer.encode(text)
    longest = target.info.context_length - 1
    if len(tokens) > longest:
        raise DraftscopeError(
            f"The prompt has {len(tokens)} tokens and {target.info.name} reads at most {longest}; "
            "shorten the prompt."
        )
    beyond = max(tokens, default=0)
    if beyond >= target.transformer.config.vocabulary:
        raise DraftscopeError(
            f"The prompt has the token {target.tokenizer.entry(beyond)!r}, which "
            f"{target.info.name} has no weights for; leave it out, or take the tokenizer that "
            "belongs to the model."
        )
    if not tokens:
        raise DraftscopeError("The prompt gives no tokens; type another one.")
    return tokens
