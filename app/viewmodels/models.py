"""Which models can be chosen, in words. Knows the registry; no torch, no Qt."""

from __future__ import annotations

from dataclasses import dataclass

from engine.models.registry import list_models


@dataclass(frozen=True)
class ModelChoice:
    """One row of the list."""

    name: str
    title: str
    detail: str
    present: bool


def known_models() -> list[ModelChoice]:
    """Return the models that Draftscope knows by name, those that are here first."""
    choices = [
        ModelChoice(entry.name, entry.title, _detail(entry.present, entry.size), entry.present)
        for entry in list_models()
    ]
    return sorted(choices, key=lambda choice: not choice.present)


def _detail(present: bool, size: int) -> str:
    megabytes = f"{size / 1e6:.0f} MB"
    return f"here, {megabytes}" if present else f"not here yet, {megabytes} to fetch"
