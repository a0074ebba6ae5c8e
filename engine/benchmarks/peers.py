"""Draftscope against Hugging Face transformers, and against llama.cpp where it is found.

Plain and speculative, greedy, in turn on the same prompts. With transformers the weights, k, the
type and the threads are the same too, and every pair of texts is compared. Knows both sides by
what they decode; neither library's own interface.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from engine.benchmarks.header import header, listed
from engine.benchmarks.measuring import Progress, interleaved, silent
from engine.benchmarks.peers_llama import PROGRAM, found, serving
from engine.benchmarks.peers_ours import decode
from engine.benchmarks.peers_pair import DRAFTERS, load_pair
from engine.benchmarks.peers_prompts import SETS
from engine.benchmarks.peers_report import Report, llama_row, row
from engine.benchmarks.peers_texts import first_difference
from engine.benchmarks.peers_transformers import LONGEST_NGRAM, library
from engine.loading import load_model
from engine.models.registry import resolve
from engine.prompting import prompt_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.benchmarks.header import Header
    from engine.benchmarks.peers_llama import LlamaServer
    from engine.benchmarks.peers_pair import Pair
    from engine.benchmarks.peers_report import Row
    from engine.benchmarks.peers_timing import Decoded

_WARM_UP = 8  # new tokens
_OURS, _THEIRS, _LLAMA = "Draftscope", "transformers", "llama.cpp"
_TIMING = (
    "Rates are of the tokens after the first arrival, over the wall time from there to the last "
    "one, on both sides: the prompt is in none of them. Whole calls stand beside them."
)
_LOOK_UP = (
    f"Both look-ups try n-grams of {LONGEST_NGRAM} tokens down to 1; of several matches "
    "transformers takes the earliest and Draftscope the latest."
)


class _Run(NamedTuple):
    """What is decoded again and again."""

    prompts: str  # name of the set
    prompt: int  # index in it
    drafter: str  # of `DRAFTERS`
    side: str


def measure(
    *,
    target: str,
    drafter: Sequence[str] = DRAFTERS,
    k: int = 4,
    layers: int | None = None,
    assistant: str | None = None,
    max_new_tokens: int = 64,
    repeats: int = 5,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> Report:
    """Load what is named on both sides, and compare: `draftscope bench peers`.

    Parameters
    ----------
    drafter
        Of `DRAFTERS`.
    layers, assistant
        The small model, as in `load_pair`.

    Raises
    ------
    DraftscopeError
        Without transformers, and for anything wrong with what is named.
    """
    library()  # before anything long
    loaded = load_model(target, device=device, plan=plan, progress=progress)
    named = tuple(dict.fromkeys(drafter))
    pair = load_pair(loaded, target, named, layers=layers, assistant=assistant, progress=progress)
    path, program = resolve(target), found()
    with ExitStack() as stack:
        server = None
        if program is not None and path.suffix.lower() == ".gguf" and "none" in named:
            longest = max(len(ids) for ids in _tokens(pair, SETS).values()) + max_new_tokens + 1
            gpu = loaded.transformer.plan.device.type != "cpu"
            server = stack.enter_context(serving(program, path, context=longest, gpu=gpu))
        return compare(
            pair, k=k, limit=max_new_tokens, repeats=repeats, llama=server, progress=progress
        )


def compare(
    pair: Pair,
    *,
    k: int = 4,
    limit: int = 64,
    repeats: int = 5,
    sets: Mapping[str, Sequence[str]] = SETS,
    llama: LlamaServer | None = None,
    progress: Progress = silent,
) -> Report:
    """Decode every prompt in every way on every side, in turn, and compare rates and texts.

    Parameters
    ----------
    k
        Tokens drafted a round.
    limit
        New tokens at most.
    sets
        Prompts by the name of their set.
    llama
        A server on the same file, if there is one.
    """
    build = None if llama is None else llama.build
    about = _header(pair, k=k, limit=limit, repeats=repeats, sets=sets, llama=build)
    sides = _Sides(pair, k, sets, llama)
    samples: dict[_Run, list[Decoded]] = {run: [] for run in sides.runs}

    def variant(run: _Run) -> int:
        samples[run].append(sides.decode(run, limit))
        return samples[run][-1].decode_ns

    for run in sides.runs:
        if run.prompt == 0:  # first calls are slow
            sides.decode(run, _WARM_UP)
    interleaved(
        {run: partial(variant, run) for run in sides.runs},
        repeats=repeats,
        warmups=0,
        progress=progress,
        what="Decoding on both sides",
    )
    llama_rows = []
    if llama is not None:
        ends = pair.session.target.end_tokens
        for name in sets:
            ours, theirs = (_of(samples, name, "none", side) for side in (_OURS, _LLAMA))
            llama_rows.append(llama_row(name, ours, theirs, ends))
    rows = (_row(sides, samples, name, drafter, k) for name in sets for drafter in pair.drafters)
    return Report(
        header=about,
        transformers=pair.peer.version,
        attention=pair.peer.attention,
        weights=str(pair.peer.kept).removeprefix("torch."),
        rows=tuple(rows),
        llama=build,
        llama_rows=tuple(llama_rows),
    )


class _Sides:
    """Decodes a prompt on a side."""

    def __init__(
        self, pair: Pair, k: int, sets: Mapping[str, Sequence[str]], llama: LlamaServer | None
    ) -> None:
        self.pair = pair
        self._k = k
        self._sets = sets
        self._llama = llama
        self._raw = pair.session.target.chat_template is None
        self.tokens = _tokens(pair, sets)
        self.runs = [
            _Run(name, prompt, drafter, side)
            for name, prompt in self.tokens
            for drafter in pair.drafters
            for side in (_OURS, _THEIRS, *([_LLAMA] if llama and drafter == "none" else []))
        ]

    def decode(self, run: _Run, limit: int) -> Decoded:
        """Decode one text greedily, with up to `limit` new tokens."""
        ids = self.tokens[run.prompts, run.prompt]
        if run.side == _THEIRS:
            return self.pair.peer.decode(ids, run.drafter, self._k, limit)
        if run.side == _LLAMA:
            assert self._llama is not None
            return self._llama.decode(ids, limit)
        text, spec = self._sets[run.prompts][run.prompt], self.pair.drafters[run.drafter]
        return decode(self.pair.session, text, spec, self._k, limit, raw=self._raw)


def _tokens(pair: Pair, sets: Mapping[str, Sequence[str]]) -> dict[tuple[str, int], list[int]]:
    """Return every prompt's ids, by its set and its index there."""
    target = pair.session.target
    raw = target.chat_template is None
    return {
        (name, index): prompt_tokens(target, text, raw=raw)
        for name, texts in sets.items()
        for index, text in enumerate(texts)
    }


def _of(
    samples: Mapping[_Run, list[Decoded]], name: str, drafter: str, side: str
) -> list[list[Decoded]]:
    """Return the runs of one way on one side, by prompt."""
    return [
        taken
        for run, taken in samples.items()
        if (run.prompts, run.drafter, run.side) == (name, drafter, side)
    ]


def _row(
    sides: _Sides, samples: Mapping[_Run, list[Decoded]], name: str, drafter: str, k: int
) -> Row:
    pair = sides.pair
    ours, theirs = (_of(samples, name, drafter, side) for side in (_OURS, _THEIRS))
    differences = []
    for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        texts = one[0].token_ids, other[0].token_ids
        prompt = sides.tokens[name, index]
        difference = first_difference(pair.session, pair.peer, index, prompt, *texts)
        if difference is not None:
            differences.append(difference)
    call, drafted = pair.peer.call(drafter, k), 0 if drafter == "none" else k
    return row(pair.drafters[drafter], call, name, drafted, ours, theirs, differences)


def _header(
    pair: Pair,
    *,
    k: int,
    limit: int,
    repeats: int,
    sets: Mapping[str, Sequence[str]],
    llama: str | None,
) -> Header:
    about = header(
        "peers",
        target=pair.session.target,
        settings={
            "drafters": listed(tuple(pair.drafters.values())),
            "k": k,
            "prompts": listed(tuple(f"{len(texts)} {name}" for name, texts in sets.items())),
            "max_new_tokens": limit,
            "repeats": repeats,
            "transformers": pair.peer.version,
            "attention": pair.peer.attention,
            "llama.cpp": llama,
        },
    )
    notes = [*about.notes, *pair.notes, _TIMING]
    if "ngram" in pair.drafters:
        notes.append(_LOOK_UP)
    notes.append(
        f"llama.cpp is not measured: there is no {PROGRAM} on the PATH, or the target is no GGUF "
        "file."
        if llama is None
        else "llama.cpp computes with the file's own quantised weights: another precision, whose "
        "texts may differ."
    )
    return structs.replace(about, notes=tuple(notes))
