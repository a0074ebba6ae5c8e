"""A toy target with a chat template, opened as training opens it; toy texts and batches."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file, save_file

from engine.models.attention_many import STEP
from engine.models.plans.batched import BatchedPlan
from engine.models.transformer import Transformer
from engine.training.batched import BatchCache, BatchedTransformer
from engine.training.conversations import Row
from engine.training.corpus import Corpus
from engine.training.prompts import Opening
from engine.training.states import States, compute_states
from tests.tiny_model import tiny_config, tiny_weights, write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from engine.models.config import ModelConfig
    from engine.training.opened import OpenedTarget

TURNS = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CPU = torch.device("cpu")


def write_toy(folder: Path, *, layers: int = 2, template: str | None = TURNS) -> Path:
    """Write a tiny target with a system turn in its chats; without a template: a base model."""
    write_tiny_folder(folder, layers=layers)
    described = {"eos_token": "<|im_end|>"}
    if template is not None:
        described["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(described), encoding="utf-8")
    return folder


def write_hard_toy(folder: Path) -> Path:
    """Write a target of two dozen letters, which seldom says one twice: there is much to learn."""
    write_tiny_folder(folder, layers=2, tied=False)
    weights = load_file(folder / "model.safetensors")
    letters = weights["lm_head.weight"][97:121] * 3.0
    weights["lm_head.weight"].zero_()[97:121] = letters
    save_file(weights, folder / "model.safetensors")
    return folder


def float32_plan() -> BatchedPlan:
    return BatchedPlan(CPU, factors=torch.float32)


def random_model(config: ModelConfig | None = None, seed: int = 0) -> BatchedTransformer:
    """Make a model in batches that has no file."""
    config = config or tiny_config()
    weights = tiny_weights(config, seed)
    return BatchedTransformer(
        Transformer(config, weights.__getitem__, float32_plan(), vocabulary=258),
        weights.__getitem__,
    )


def noise_rows(lengths: Sequence[int], seed: int = 0) -> list[Row]:
    """Texts of random letters, with some words that come again."""
    source = random.Random(seed)
    words = [[source.randrange(97, 123) for _ in range(4)] for _ in range(6)]
    rows = []
    for number, length in enumerate(lengths):
        ids = [token for _ in range(length) for token in source.choice(words)][:length]
        rows.append(Row(tuple(ids), float(number % 2), ("even", "odd")[number % 2]))
    return rows


def toy_corpus(lengths: Sequence[int], seed: int = 0, kept: Sequence[int] = (0,)) -> Corpus:
    made = Corpus.of(noise_rows(lengths, seed))
    return Corpus(made.tokens, made.starts, made.kinds, made.temperatures, frozenset(kept))


def empty_states(tokens: int, width: int) -> States:
    return States(
        torch.zeros(tokens, width, dtype=torch.bfloat16),
        torch.zeros(tokens),
        torch.zeros(tokens, dtype=torch.int32),
    )


def states_of(
    model: BatchedTransformer, corpus: Corpus, taps: Sequence[int] = (), *, exact: bool = False
) -> States:
    """Compute all states in memory; `exact` keeps them in float32, where files have bfloat16."""
    states = empty_states(len(corpus.tokens), model.config.width * (1 + len(taps)))
    for _ in compute_states(model, corpus, range(corpus.rows), taps, states):
        pass
    if not exact:
        return states
    rows = []
    for row in range(corpus.rows):
        found = model.read(corpus.row(row).long()[None], taps=taps)
        rows.append(torch.cat((found.hidden, *found.taps), dim=-1)[0])
    return States(torch.cat(rows).clone(), states.normalisers, states.choices)


def greedy_rows(target: OpenedTarget, count: int, length: int, seed: int = 0) -> list[Row]:
    """Texts that the target goes on with greedily, from a few letters each."""
    source = random.Random(seed)
    prompts = torch.tensor([[source.randrange(97, 123) for _ in range(3)] for _ in range(count)])
    while prompts.shape[1] < length:
        hidden = target.model.read(prompts).hidden[:, -1]
        prompts = torch.cat(
            (prompts, target.model.transformer.logits(hidden).argmax(-1)[:, None]), 1
        )
    return [Row(tuple(row), 0.0, "greedy") for row in prompts.tolist()]


def warm_corpus(target: OpenedTarget, count: int, length: int, seed: int = 0) -> Corpus:
    """Texts that the target draws at temperature 1 from a letter each; some are for measuring."""
    draw = torch.Generator().manual_seed(seed)
    texts = torch.randint(97, 123, (count, 1), generator=draw)
    cache = BatchCache(target.model, count, -(-length // STEP) * STEP)
    for place in range(length - 1):
        hidden = target.model.step(texts[:, -1], torch.full((count,), place), cache)
        law = target.model.transformer.logits(hidden).softmax(dim=-1)
        texts = torch.cat((texts, torch.multinomial(law, 1, generator=draw)), dim=1)
    rows = [Row(tuple(row), 1.0, "warm") for row in texts.tolist()]
    made = Corpus.of(rows)
    kept = frozenset(range(0, count, 9))
    return Corpus(made.tokens, made.starts, made.kinds, made.temperatures, kept)


def toy_openings(rng: random.Random, files: Sequence[Path] = ()) -> Iterator[Opening]:
    """Stand for the prompts that a corpus is written from, which read the whole installation."""
    while True:
        raw = rng.random() < 0.2
        yield Opening("toy", "".join(rng.choices("abcdefg ", k=rng.randrange(5, 20))), raw)


class FreeReins:
    """Nobody holds the training; `stop_after` events it is told to stop."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.asked = 0
        self.stop = False
        self._stop_after = stop_after

    def stopped(self) -> bool:
        return self.stop

    def wait(self) -> None:
        self.asked += 1
        if self._stop_after is not None and self.asked > self._stop_after:
            self.stop = True


def worst(one: Tensor, other: Tensor) -> float:
    """Largest difference, as a share of the size of the second."""
    return float((one - other).abs().max() / other.abs().mean().clamp(min=1e-9))
