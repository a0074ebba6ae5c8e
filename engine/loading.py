"""Models and drafters by name: from a file to something that runs, with progress and cancel.

Knows readers, plans and devices; no prompt and no rule.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.drafters.early import EarlyExitDrafter
from engine.drafters.lookup_first import LookupFirstDrafter
from engine.drafters.names import EARLY, LOOKUP_FIRST, MODEL, WAYS, is_trained, usual_exit
from engine.drafters.ngram import NgramDrafter
from engine.drafters.small import SmallModelDrafter
from engine.drafters.trained import make_trained
from engine.errors import DraftscopeError, out_of_memory, short
from engine.memory import given_back_at_once
from engine.models.fingerprint import (
    Fingerprint,
    configuration_hash,
    tokenizer_hash,
    weights_hash,
)
from engine.models.formats.weights import open_checkpoint
from engine.models.layout import count_parameters
from engine.models.native.process import BuildCancelled
from engine.models.plans.choice import choose_plan
from engine.models.registry import resolve
from engine.models.text.chat import ChatTemplate, open_chat_template
from engine.models.text.tokenizer import Tokenizer, open_tokenizer
from engine.models.transformer import Transformer
from engine.trace.events import ModelInfo

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.drafters.protocol import Drafter
    from engine.models.formats.weights import Checkpoint
    from engine.models.plans.protocol import Plan

    Progress = Callable[[int, int, str], None]

DEVICES = ("cpu", "cuda", "mps")


class LoadingCancelled(Exception):  # a wish that was granted, not an error
    """`cancelled()` became true while a model was being loaded; nothing is left of it."""


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to run, with its text side."""

    transformer: Transformer  # weights under a plan
    tokenizer: Tokenizer  # text to ids and back
    # None: a base model, raw prompts only
    chat_template: ChatTemplate | None
    info: ModelInfo  # what was loaded and how it computes, for the trace
    end_tokens: frozenset[int]  # ids that end a text, from all places that name any
    norms: str  # hash of the weights that no format rounds

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What tells it from other targets; drafters are trained for one."""
        config = self.transformer.config
        return Fingerprint(tokenizer_hash(self.tokenizer), configuration_hash(config), self.norms)


def choose_device(name: str | None = None) -> torch.device:
    """Return the named device, or the best there is: CUDA, then MPS, then CPU.

    Raises
    ------
    DraftscopeError
        If the device is not there.
    """
    if name is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        return torch.device("cpu")
    missing = DraftscopeError(
        f"The device {name!r} is not available here; choose cpu, or leave it to Draftscope."
    )
    if name.partition(":")[0] not in DEVICES:
        raise missing
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise missing from error
    return device


def load_model(
    name_or_path: str | os.PathLike[str],
    *,
    device: str | None = None,
    plan: str | None = None,
    dtype: torch.dtype | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> LoadedModel:
    """Load a target or a small model.

    Parameters
    ----------
    name_or_path
        A name of `draftscope models`, a Hugging Face folder or a .gguf file.
    device, plan
        Chosen automatically if None: see `choose_device` and `choose_plan`.
    dtype
        Of the eager plan; float32 on a CPU and bfloat16 on CUDA if None.
    progress
        Called with (layers done, layers in all, what is being done).
    cancelled
        Polled between layers.

    Raises
    ------
    DraftscopeError
        In one sentence, for anything wrong with the file or the choice.
    LoadingCancelled
        If `cancelled()` became true.
    """
    path = resolve(os.fspath(name_or_path))
    where = choose_device(device)
    try:
        chosen = choose_plan(
            plan, where, dtype, progress=progress, cancelled=cancelled or (lambda: False)
        )
    except BuildCancelled:
        raise LoadingCancelled from None
    checkpoint = open_checkpoint(path)

    def report(done: int, total: int) -> None:
        if cancelled is not None and cancelled():
            raise LoadingCancelled
        if progress is not None:
            progress(done, total, f"Loading {checkpoint.name}")

    try:
        report(0, checkpoint.config.layers)
        tokenizer = open_tokenizer(path)
        with given_back_at_once():
            transformer = _build(checkpoint, chosen, tokenizer.vocabulary, report)
        norms = weights_hash(checkpoint.config, checkpoint.tensor)
    finally:
        checkpoint.close()
    ends = frozenset(checkpoint.config.end_tokens) | frozenset(tokenizer.end_tokens)
    info = _describe(checkpoint, transformer)
    return LoadedModel(transformer, tokenizer, open_chat_template(path), info, ends, norms)


def _build(
    checkpoint: Checkpoint, plan: Plan, vocabulary: int, report: Callable[[int, int], None]
) -> Transformer:
    try:
        return Transformer(
            checkpoint.config, checkpoint.tensor, plan, vocabulary=vocabulary, progress=report
        )
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise DraftscopeError(
            f"{checkpoint.name} does not fit into the memory of {plan.device}; "
            "choose a smaller model or another device."
        ) from error


def _describe(checkpoint: Checkpoint, transformer: Transformer) -> ModelInfo:
    config, plan = checkpoint.config, transformer.plan
    notes = [*checkpoint.notes, *getattr(plan, "notes", ())]  # of plans that have any
    padding = config.vocabulary - transformer.vocabulary
    if padding:
        notes.append(f"The last {padding} rows of its table stand for no token; they never score.")
    return ModelInfo(
        name=checkpoint.name,
        kind="target",
        source=checkpoint.source,
        parameters=checkpoint.parameters,
        vocabulary=transformer.vocabulary,
        layers=config.layers,
        width=config.width,
        context_length=config.context_length,
        plan=plan.name,
        dtype=plan.description,
        device=_device_name(plan.device),
        notes=tuple(notes),
    )


def make_drafter(
    spec: str,
    target: LoadedModel,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Drafter | None:
    """Make the drafter that a setting names.

    Parameters
    ----------
    spec
        "ngram", "head", "small-2", "small-4" or "trained:NAME_OR_PATH" (trained for one target),
        "model:NAME_OR_PATH", "early:LAYERS" (the target's own first layers), "ngram+" before any of
        these (a look-up first, and the drafter where it finds nothing long), or "none" for plain
        rounds.
    target
        The drafter runs on its device and plan; a head reads its states.
    progress, cancelled
        As for `load_model`, where a small model has to be loaded.

    Raises
    ------
    DraftscopeError
        For an unknown name, or a drafter that does not fit the target.
    """
    if spec == "none":
        return None
    if spec == "ngram":
        return NgramDrafter(target.end_tokens)
    if spec.startswith(LOOKUP_FIRST):
        return _make_lookup_first(spec, target, progress, cancelled)
    if is_trained(spec):
        return make_trained(spec, target)
    if spec.startswith(MODEL):
        return _make_small(spec, target, progress, cancelled)
    if spec.startswith(EARLY):
        return _make_early(spec, target)
    raise DraftscopeError(
        f"There is no drafter called {short(spec)!r}; choose {WAYS}. "
        "`draftscope drafters` lists the trained ones."
    )


def _make_lookup_first(
    spec: str,
    target: LoadedModel,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> LookupFirstDrafter:
    written = spec.removeprefix(LOOKUP_FIRST)
    other = None
    if written != "ngram" and not written.startswith(LOOKUP_FIRST):
        other = make_drafter(written, target, progress=progress, cancelled=cancelled)
    if other is None:
        raise DraftscopeError(
            f"A look-up goes before a drafter of another kind, and {short(written)!r} is none; "
            f"choose for example {LOOKUP_FIRST}head."
        )
    return LookupFirstDrafter(other, target.end_tokens)


def _make_early(spec: str, target: LoadedModel) -> EarlyExitDrafter:
    written, most = spec.removeprefix(EARLY), target.transformer.config.layers - 1
    layers = int(written) if written.isascii() and written.isdecimal() else 0
    if not 1 <= layers <= most:
        raise DraftscopeError(
            f"Early exit after {written!r} layers is not possible: {target.info.name} can exit "
            f"after 1 to {most}, for example early:{usual_exit(most + 1)}."
        )
    info = msgspec.structs.replace(
        target.info,
        name=f"first {layers} of {most + 1} layers",
        kind="early",
        parameters=count_parameters(replace(target.transformer.config, layers=layers)),
        layers=layers,
        notes=("It is the target cut short: no weights of its own.",),
    )
    return EarlyExitDrafter(target.transformer, layers, info)


def _make_small(
    spec: str,
    target: LoadedModel,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> SmallModelDrafter:
    plan = target.transformer.plan
    loaded = load_model(
        spec.removeprefix(MODEL),
        device=str(plan.device),
        plan=plan.name,
        dtype=plan.dtype if plan.name == "eager" else None,
        progress=progress,
        cancelled=cancelled,
    )
    difference = target.tokenizer.identical_to(loaded.tokenizer)
    if difference is not None:
        raise DraftscopeError(
            f"{loaded.info.name} cannot draft for {target.info.name}: {difference} "
            "Choose a drafter with the same vocabulary."
        )
    notes = loaded.info.notes
    if loaded.info.context_length < target.info.context_length:
        notes += (
            f"It reads {loaded.info.context_length} tokens; past them nothing is drafted and "
            "rounds are plain.",
        )
    info = msgspec.structs.replace(loaded.info, kind="model", notes=notes)
    name = f"{MODEL}{info.name}"  # a trace goes to talks: it names the model, not its folder
    return SmallModelDrafter(loaded.transformer, info, name, target.info.vocabulary)


def machine(device: torch.device | None = None) -> str:
    """Describe what computes, for the trace: GPU if it is one, processor, threads, torch."""
    kernels = torch.backends.cpu.get_cpu_capability()
    name = platform.processor() or platform.machine()
    threads = torch.get_num_threads()
    counted = f"{threads} thread{'' if threads == 1 else 's'}"
    described = f"{name}, {kernels}, {counted}, torch {torch.__version__}"
    if device is not None and device.type == "cuda":
        return f"{_device_name(device)}, CUDA {torch.version.cuda}; {described}"
    return described


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
