"""A target with its cache store and its drafters, kept between runs. No window and no file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from engine.control import Control
from engine.errors import DraftscopeError
from engine.loading import make_drafter
from engine.request import Observation, RunRequest
from engine.run import Run
from engine.trace.events import FinishReason, Round, RunFinished, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel, Progress
    from engine.trace.events import Event


class Session:
    """Runs prompts on one target."""

    def __init__(self, target: LoadedModel) -> None:
        self.target = target
        self.pool = target.transformer.new_pool()
        self._drafters: dict[str, Drafter | None] = {}

    def add_drafter(self, spec: str, drafter: Drafter | None) -> None:
        """Use this drafter wherever settings name `spec`; others are made when first asked for."""
        self._drafters[spec] = drafter

    def drafter(
        self,
        spec: str,
        cancelled: Callable[[], bool] | None = None,
        *,
        progress: Progress | None = None,
    ) -> Drafter | None:
        """Return the drafter of this name, made if need be; None for "none".

        Raises
        ------
        LoadingCancelled
            If `cancelled()` became true while it was being loaded.
        """
        if spec not in self._drafters:
            self._drafters[spec] = make_drafter(
                spec, self.target, progress=progress, cancelled=cancelled
            )
        return self._drafters[spec]

    def run(
        self,
        request: RunRequest,
        control: Control | None = None,
        *,
        progress: Progress | None = None,
    ) -> Generator[Event, None, None]:
        """Decode a prompt and yield what happens, as it happens.

        The order is RunStarted, PrefillFinished, then Rounds with Probes and SettingsChanged
        between them, RunFinished, and with `request.baseline` a Baseline and, for greedy text, a
        Comparison. A stop gives a RunFinished with the reason "cancelled", a fault one with the
        reason "error" and a sentence. Closing the iterator stops as well; caches are left right.

        A long prompt is read in chunks; `progress` is called between them with (tokens read, tokens
        in all, what is being done).

        Raises
        ------
        DraftscopeError
            For a request that cannot be run, before the first event.
        LoadingCancelled
            For a stop while the first drafter was being loaded, before the first event.
        """
        run = Run(self.target, self.pool, self.drafter, request, control or Control(), progress)
        return run.events()


def raise_failure(last: Event | None) -> None:
    """Raise the sentence of a run whose last event is a fault, for those who watch rounds alone."""
    if isinstance(last, RunFinished) and last.reason is FinishReason.ERROR:
        raise DraftscopeError(last.message)


def generate(
    target: LoadedModel,
    drafter: Drafter | str | None,
    prompt: str,
    *,
    k: int = 4,
    temperature: float = 0.0,
    seed: int = 0,
    max_new_tokens: int = 128,
    raw: bool = False,
    settings: Settings | None = None,
    top_n: int = Observation.usual,
) -> Iterator[Round]:
    """Decode a prompt and yield its rounds: the engine in one call.

    Parameters
    ----------
    target, drafter
        From `engine.load_model` and `engine.make_drafter`, or its name; None gives plain rounds.
    prompt
        What a user says, or with `raw` the text to go on from.
    k, temperature
        Tokens drafted a round, at most; 0 is greedy.
    seed
        The same seed gives the same tokens on one machine and plan.
    max_new_tokens
        Where the text ends at the latest.
    settings
        Top-k, penalties and the rest, in place of `k` and `temperature`; their drafter is ignored.
    top_n
        Rows kept of each law; `Observation.off` for those who only want the text.

    Yields
    ------
    Round
        `"".join(round.texts)` is the text that the round added.

    Raises
    ------
    DraftscopeError
        For a request that cannot be run, and for a fault in the middle of one.
    """
    session = Session(target)
    spec = _known(session, drafter)
    settings = settings or Settings(drafter=spec, k=k, temperature=temperature)
    request = RunRequest(
        prompt=prompt,
        settings=structs.replace(settings, drafter=spec),
        raw=raw,
        seed=seed,
        max_new_tokens=max_new_tokens,
        probes=False,
        top_n=top_n,
    )
    last: Event | None = None
    for last in session.run(request):
        if isinstance(last, Round):
            yield last
    raise_failure(last)


def _known(session: Session, drafter: Drafter | str | None) -> str:
    """Return the name by which the session knows a drafter, made or only named."""
    if drafter is None or isinstance(drafter, str):
        return "none" if drafter is None else drafter
    session.add_drafter(drafter.spec, drafter)
    return drafter.spec
