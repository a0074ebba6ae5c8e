"""What `articles` runs, in its order: the beginnings, the kinds of prompts, the models alone.

Knows a target and texts; figures are made by `articles_rows`, and put together by `articles`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.benchmarks.articles_alone import TARGET, Alone, Listener, Told
from engine.benchmarks.articles_rows import Cell, Row, Taken, make_rows
from engine.benchmarks.articles_runs import Bench, measure_cells
from engine.benchmarks.articles_texts import BEGINNINGS, repeated_texts, whole_beginnings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.benchmarks.articles_best import Best
    from engine.benchmarks.articles_model import CostModel
    from engine.benchmarks.articles_texts import Text
    from engine.benchmarks.measuring import Progress
    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel

    Found = tuple[tuple[Row, ...], tuple[CostModel, ...]]

ALL_KINDS = "all kinds"
HELD_OUT, OWN = "held-out", "the target's own"


@dataclass(frozen=True)
class Work:
    """What all parts of the experiment share."""

    target: LoadedModel
    tokens: int  # of each text, at most
    repeats: int
    progress: Progress

    def sweep(self, cells: Sequence[Cell], texts: Sequence[Text]) -> Found:
        """Go on with the beginnings: one drafter and temperature after another."""
        rows: list[Row] = []
        models: list[CostModel] = []
        for (drafter, heat), own in _by_way(cells).items() if texts else ():
            taken = self._decode(own, texts, f"{drafter}, temperature {heat:g}")
            model, made = make_rows(taken.get(BEGINNINGS, {}), BEGINNINGS)
            rows += made
            models += [model] if model is not None else []
        return tuple(rows), tuple(models)

    def kinds(self, cells: Sequence[Cell], texts: Sequence[Text]) -> Found:
        """Answer the prompts: all drafters of one temperature together."""
        rows: list[Row] = []
        models: list[CostModel] = []
        for heat in _in_order(cell.temperature for cell in cells) if texts else ():
            own = [cell for cell in cells if cell.temperature == heat]
            taken = self._decode(own, texts, f"kinds of prompts, temperature {heat:g}")
            for some in _by_way(own).values():
                whole: dict[Cell, list[Taken]] = {}
                for kind, by_cell in taken.items():
                    rows += make_rows({cell: by_cell[cell] for cell in some}, kind)[1]
                    for cell in some:
                        whole.setdefault(cell, []).extend(by_cell[cell])
                model, made = make_rows(whole, ALL_KINDS)
                rows += made
                models += [model] if model is not None else []
        return tuple(rows), tuple(models)

    def alone(
        self, drafters: dict[str, Drafter], best: Iterable[Best], texts: Sequence[Text]
    ) -> tuple[Alone, ...]:
        """Ask the models for the beginnings in full, and for what the target goes on with.

        Parameters
        ----------
        drafters
            Those that have a law, by name.
        best
            What says how many passes a token takes.
        """
        listener = Listener(self.target, drafters)
        held_out, own = ({name: Told() for name in (TARGET, *drafters)} for _ in (HELD_OUT, OWN))
        encode = self.target.tokenizer.encode
        full = whole_beginnings(len(texts))
        for index, (text, whole) in enumerate(zip(texts, full, strict=True)):
            self.progress(index, len(full), "the models alone")
            listener.hear(held_out, encode(whole, add_special=True))
            begun = encode(text.prompt, add_special=True)
            listener.hear(own, begun, own=self.tokens, seed=text.seed)
        greedy = {one.drafter: one for one in best if not (one.temperature or one.confidence)}
        passes = {TARGET: 1.0, **{name: 1.0 / one.tokens_per_pass for name, one in greedy.items()}}
        return tuple(
            one.figures(name, sort, passes.get(name))
            for sort, told in ((HELD_OUT, held_out), (OWN, own))
            for name, one in told.items()
            if one.ns
        )

    def _decode(
        self, cells: Sequence[Cell], texts: Sequence[Text], what: str
    ) -> dict[str, dict[Cell, list[Taken]]]:
        every = repeated_texts(texts, self.repeats)
        self.progress(0, len(every), what)
        return measure_cells(
            Bench(self.target, cells),
            every,
            self.tokens,
            lambda done: self.progress(done, len(every), what),
        )


def _by_way(cells: Iterable[Cell]) -> dict[tuple[str, float], list[Cell]]:
    """Gather cells by drafter and temperature, in their order."""
    found: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.drafter, cell.temperature), []).append(cell)
    return found


def _in_order(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(dict.fromkeys(values))
