"""The sample prompts that come with Draftscope. Knows their file, no widget."""

from __future__ import annotations

import msgspec

from app.assets import asset_path


class Sample(msgspec.Struct, frozen=True):
    """A prompt worth trying."""

    title: str
    prompt: str
    raw: bool


def samples() -> list[Sample]:
    """Return the sample prompts, in the order in which they are offered.

    Raises
    ------
    engine.errors.DraftscopeError
        If the installation lacks them.
    """
    return msgspec.json.decode(asset_path("prompts/samples.json").read_bytes(), type=list[Sample])
