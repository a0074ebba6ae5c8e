"""Texts decoded by several cells and by the plain target at once, all at one place of the text.

So what is compared lies a round or two apart, whatever else the machine does, and has contexts of
one length. Knows sessions and requests; no figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.articles_rows import Cell, Taken, emitted_ids
from engine.benchmarks.measuring import in_turn
from engine.comparison import compare
from engine.prompting import prompt_tokens
from engine.request import Observation, RunRequest
from engine.session import Session, raise_failure
from engine.trace.events import Round, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.benchmarks.articles_rows import Verdict
    from engine.benchmarks.articles_texts import Text
    from engine.loading import LoadedModel

_WARM_UP = 8  # tokens of a text that is thrown away
_ROWS = 1  # of each law, where sampling: enough for the overlap
TOGETHER = {"cpu": 16}  # cells beside one plain run
TOGETHER_ELSEWHERE = 3  # recorded passes of many texts would drive one another out


class Bench:
    """Cells of one drafter or several, each with a session of its own, beside a plain one."""

    def __init__(self, target: LoadedModel, cells: Sequence[Cell]) -> None:
        """Load each cell's drafter: a drafter follows one text at a time."""
        self._target = target
        self._plain = Session(target)
        self._sessions = {cell: Session(target) for cell in cells}
        for cell, session in self._sessions.items():
            session.drafter(cell.drafter)

    def warm_up(self, text: Text) -> None:
        """Let every cell decode a few tokens that nobody counts."""
        self.decode(text, _WARM_UP)

    def decode(self, text: Text, tokens: int) -> dict[Cell, Taken]:
        """Decode a text by every cell, so many cells at a time beside a plain run.

        Parameters
        ----------
        tokens
            At most; an end token ends the text.
        """
        cells = list(self._sessions)
        kind = self._target.transformer.plan.device.type
        some = TOGETHER.get(kind, TOGETHER_ELSEWHERE)
        found: dict[Cell, Taken] = {}
        for begin in range(0, len(cells), some):
            found |= self._together(cells[begin : begin + some], text, tokens)
        return found

    def _together(self, cells: Sequence[Cell], text: Text, tokens: int) -> dict[Cell, Taken]:
        temperature = cells[0].temperature
        plain = Cell("none", 0, temperature)
        runs = [(self._plain, _request(plain, text, tokens))]
        runs += [(self._sessions[cell], _request(cell, text, tokens)) for cell in cells]
        whole, *others = in_step(runs)
        return {
            cell: Taken(
                own,
                whole[: len(emitted_ids(own))],  # a sampled text may end elsewhere
                self._verdict(text, own, whole, temperature),
            )
            for cell, own in zip(cells, others, strict=True)
        }

    def _verdict(
        self, text: Text, own: Sequence[Round], plain: Sequence[Round], temperature: float
    ) -> Verdict | None:
        """Compare greedy texts; None for sampled ones."""
        if temperature > 0.0:
            return None
        ours, theirs = emitted_ids(own), emitted_ids(plain)
        if ours == theirs:
            return "identical"
        prompt = prompt_tokens(self._target, text.prompt, raw=text.raw)
        model = self._target.transformer
        found = compare(model, self._plain.pool, prompt, ours, theirs, run="")
        return "fault" if found.first_difference is None else found.first_difference.kind


def in_step(runs: Sequence[tuple[Session, RunRequest]]) -> list[list[Round]]:
    """Decode several requests at once: the one that has emitted least goes on, in turn if several.

    Each needs a session of its own: a drafter follows one text at a time.
    """
    found: list[list[Round]] = [[] for _ in runs]
    emitted = [0] * len(runs)
    going = {index: session.run(request) for index, (session, request) in enumerate(runs)}
    turn = 0
    while going:
        index = min(in_turn(tuple(going), turn), key=emitted.__getitem__)
        event = next(going[index], None)
        raise_failure(event)
        if event is None:
            del going[index]
        elif isinstance(event, Round):
            found[index].append(event)
            emitted[index] += event.emitted
        turn += 1
    return found


def measure_cells(
    bench: Bench,
    texts: Iterable[Text],
    tokens: int,
    advance: Callable[[int], None],
) -> dict[str, dict[Cell, list[Taken]]]:
    """Decode texts one after another; runs of each cell, by kind of text, in their order."""
    found: dict[str, dict[Cell, list[Taken]]] = {}
    for index, text in enumerate(texts):
        if index == 0:
            bench.warm_up(text)
        for cell, taken in bench.decode(text, tokens).items():
            found.setdefault(text.kind, {}).setdefault(cell, []).append(taken)
        advance(index + 1)
    return found


def _request(cell: Cell, text: Text, tokens: int) -> RunRequest:
    settings = Settings(
        drafter=cell.drafter,
        k=cell.k,
        temperature=cell.temperature,
        confidence=cell.confidence,
    )
    return RunRequest(
        prompt=text.prompt,
        raw=text.raw,
        settings=settings,
        seed=text.seed,
        max_new_tokens=tokens,
        probes=False,
        top_n=_ROWS if cell.temperature > 0.0 and cell.k else Observation.off,
    )
