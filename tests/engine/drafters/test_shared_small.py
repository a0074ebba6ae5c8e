"""A small model on its target's tables: its arithmetic, its context, and its being the target.

A small model can be made the target itself where the target's embeddings all have one size, since
it reads them normed. A head cannot: it tells the token after next, and no weights of a block or two
make of `h_i` and the next token what the whole target makes of them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from engine.cache import KVCache
from engine.drafters.file import read_drafter
from engine.drafters.metadata import SmallShape
from engine.drafters.shared_small import SharedSmallModel
from engine.drafters.trained import make_trained
from engine.loading import LoadedModel, load_model
from engine.models.plans.compiled import CompiledPlan
from engine.models.rotary import Rotary, turn
from engine.sampling import Sampling
from engine.trace.events import DraftEnd, Fate
from tests.engine.decoding import PROMPT, decode
from tests.engine.drafters.making import SHAPES, drafter_tensors, write_for
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import Tensor

    from engine.drafters.protocol import Drafter

EPSILON = 1.0 - 0.75**2  # so that embeddings of entries of size 3/4 are read as they are
PLANS = ["float64", "float32", "packed", pytest.param("compiled", marks=pytest.mark.compiler)]


def plain_logits(w: dict[str, Tensor], table: Tensor, tokens: list[int]) -> Tensor:
    """Logits [T, R] of the small shape, straight from the description of its file."""
    shape = SHAPES["small"]
    assert isinstance(shape, SmallShape)

    def rms(x: Tensor, name: str) -> Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w[name]

    count, size = len(tokens), shape.head_dim
    x = rms(table[tokens], "input_norm.weight") @ w["input.weight"].T
    cos, sin = Rotary(size, shape.rope_base, torch.float64, "cpu").rows(0, count)
    hidden = torch.ones(count, count, dtype=torch.bool).triu(1)
    for index in range(shape.layers):
        block = f"blocks.{index}"
        normed = rms(x, f"{block}.attention_norm.weight")
        rows = (normed @ w[f"{block}.attention.qkv.weight"].T).view(count, -1, size)
        queries = turn(rows[:, : shape.heads], cos, sin)
        keys = turn(rows[:, shape.heads : shape.heads + 1], cos, sin)[:, 0]
        scores = torch.einsum("ihd,jd->hij", queries, keys) * size**-0.5
        law = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        mixed = torch.einsum("hij,jd->ihd", law, rows[:, -1]).reshape(count, -1)
        x = x + mixed @ w[f"{block}.attention.output.weight"].T
        inner = rms(x, f"{block}.mlp_norm.weight") @ w[f"{block}.mlp.gate_up.weight"].T
        gate, up = inner.chunk(2, dim=-1)
        x = x + (functional.silu(gate) * up) @ w[f"{block}.mlp.down.weight"].T
    wide = rms(x, "output_norm.weight") @ w["output.weight"].T
    return wide @ table[w["vocabulary"].long()].T


@pytest.mark.parametrize("tied", [True, False])
def test_the_logits_are_those_of_the_description(tmp_path: Path, tied: bool) -> None:
    # of an untied target the head's rows score, and the table's are read
    folder = write_tiny_folder(tmp_path / "target", tied=tied)
    target = load_model(folder, device="cpu", plan="eager", dtype=torch.float64)
    path = write_for(tmp_path / "small.safetensors", target, SHAPES["small"])
    model = SharedSmallModel(read_drafter(path), target.transformer)
    with torch.inference_mode():
        cache = KVCache(model.new_pool())
        first = model.forward(PROMPT[:4], cache)
        found = model.logits(torch.cat((first, model.forward(PROMPT[4:], cache))))
    w = {name: tensor.double() for name, tensor in load_file(path).items()}
    stored = load_file(folder / "model.safetensors")
    table = stored["model.embed_tokens.weight"].double()
    expected = plain_logits(w, table, PROMPT)
    if tied:
        assert float((found - expected).abs().max()) < 1e-9
        return
    head = stored["lm_head.weight"].double()
    both = torch.cat((table, head))
    w["vocabulary"] = w["vocabulary"] + len(table)
    assert float((found - plain_logits(w, both, PROMPT)).abs().max()) < 1e-9
    assert float((found - expected).abs().max()) > 0.1


def even_folder(folder: Path) -> Path:
    """A target whose embeddings all have one size, in weights that float16 holds."""
    write_tiny_folder(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"rms_norm_eps": EPSILON}))
    weights = load_file(folder / "model.safetensors")
    for name, tensor in weights.items():
        weights[name] = tensor.half().float()
    table = weights["model.embed_tokens.weight"]
    weights["model.embed_tokens.weight"] = 0.75 * torch.where(table > 0, 1.0, -1.0)
    weights["model.norm.weight"] *= 0.25  # the sizes of logits are those of a language model
    save_file(weights, folder / "model.safetensors")
    return folder


def twin(target: LoadedModel, folder: Path, path: Path, ids: list[int]) -> Drafter:
    """A small model with its target's own layers, scoring some ids."""
    config = target.transformer.config
    stored = load_file(folder / "model.safetensors")
    shape = SmallShape(
        *(config.layers, config.width, config.heads, config.kv_heads, config.head_dim),
        *(config.mlp_width, config.rope_base, config.context_length),
    )
    tensors = drafter_tensors(shape, config, ids=torch.tensor(ids, dtype=torch.int32))
    tensors["input_norm.weight"] = torch.ones(config.width)
    tensors["input.weight"] = tensors["output.weight"] = torch.eye(config.width)
    tensors["output_norm.weight"] = stored["model.norm.weight"]
    for index in range(config.layers):
        block, layer = f"blocks.{index}", f"model.layers.{index}"
        joined = {
            "attention.qkv": [f"self_attn.{part}_proj" for part in "qkv"],
            "attention.output": ["self_attn.o_proj"],
            "mlp.gate_up": ["mlp.gate_proj", "mlp.up_proj"],
            "mlp.down": ["mlp.down_proj"],
            "attention_norm": ["input_layernorm"],
            "mlp_norm": ["post_attention_layernorm"],
        }
        for name, parts in joined.items():
            found = [stored[f"{layer}.{part}.weight"] for part in parts]
            tensors[f"{block}.{name}.weight"] = torch.cat(found)
    write_for(path, target, shape, tensors)
    return make_trained(f"trained:{path}", target)


@pytest.fixture(scope="module")
def even(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return even_folder(tmp_path_factory.mktemp("models") / "even")


@pytest.fixture(params=PLANS)
def target(request: pytest.FixtureRequest, even: Path) -> LoadedModel:
    if request.param == "compiled":
        load: Callable[[Path], LoadedModel] = request.getfixturevalue("load_compiled")
        return load(even)
    plan = "packed" if request.param == "packed" else "eager"
    dtype = torch.float64 if request.param == "float64" else None
    return load_model(even, device="cpu", plan=plan, dtype=dtype)


@pytest.mark.case("A32")
@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.3])
def test_a_small_model_with_the_targets_weights_is_always_accepted(
    target: LoadedModel,
    even: Path,
    tmp_path: Path,
    temperature: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a twin in all but the bytes that a drafter's weights are rounded to
    monkeypatch.setattr(CompiledPlan, "draft_linear", CompiledPlan.linear)
    drafter = twin(target, even, tmp_path / "twin.safetensors", list(range(258)))
    for k in (1, 4):
        _, rounds, _ = decode(target, drafter, k=k, sampling=Sampling(temperature), count=40)
        drafted = [token for one in rounds for token in one.drafted]
        assert len(drafted) >= 40 * k // (k + 1) - 1
        assert all(token.fate is Fate.ACCEPTED for token in drafted)
        if target.transformer.plan.rounds_alike and temperature:  # to the last bit
            assert all(token.q_draft == token.p_target for token in drafted)
        overlaps = [token.laws.overlap for token in drafted if token.laws]
        assert min(one for one in overlaps if one is not None) > 1.0 - 1e-4
    assert len({token.id for token in drafted}) > 3 or temperature == 0.0


@pytest.mark.compiler
@pytest.mark.parametrize("temperature", [0.7, 1.3])
def test_weights_rounded_to_bytes_cost_next_to_no_acceptance(
    load_compiled: Callable[[Path], LoadedModel], even: Path, tmp_path: Path, temperature: float
) -> None:
    target = load_compiled(even)
    drafter = twin(target, even, tmp_path / "twin.safetensors", list(range(258)))
    _, rounds, _ = decode(target, drafter, k=4, sampling=Sampling(temperature), count=200)
    laws = [token.laws for one in rounds for token in one.drafted]
    overlaps = [one.overlap for one in laws if one is not None and one.overlap is not None]
    assert len(overlaps) >= 150
    assert 0.98 < sum(overlaps) / len(overlaps) < 1.0


def test_with_a_part_of_the_vocabulary_it_is_right_where_that_part_is(
    even: Path, tmp_path: Path
) -> None:
    target = load_model(even, device="cpu", plan="eager", dtype=torch.float64)
    ids = list(range(0, 258, 2))
    drafter = twin(target, even, tmp_path / "half.safetensors", ids)
    _, rounds, _ = decode(target, drafter, k=3, sampling=Sampling(1.0), count=60)
    places = [one.drafted[0] for one in rounds if one.drafted]
    shares = []
    for token in places:
        assert token.id % 2 == 0
        assert token.laws is not None
        # q_draft is p_target over the even ids, made whole: so the overlap is their mass
        assert token.q_draft == pytest.approx(token.p_target / (token.laws.overlap or 1.0))
        shares.append(token.laws.overlap)
    assert 0.1 < min(shares) < max(shares) < 0.9
    fates = {token.fate for token in places}
    assert {Fate.ACCEPTED, Fate.REJECTED} <= fates


def test_past_its_own_context_rounds_are_plain(exact_target: LoadedModel, tmp_path: Path) -> None:
    short = replace_context(20)
    path = write_for(tmp_path / "short.safetensors", exact_target, short)
    drafter = make_trained(f"trained:{path}", exact_target)
    assert drafter.info.context_length == 20
    assert "reads 20 tokens" in drafter.info.notes[-1]
    tokens, rounds, _ = decode(exact_target, drafter, k=4, count=24)
    assert tokens == decode(exact_target, None, k=0, count=24)[0]
    for one in rounds:
        room = max(0, 20 - one.position + 1)
        assert len(one.drafted) <= room
        if one.draft_end is DraftEnd.CONTEXT:
            assert len(one.drafted) == room
    assert rounds[0].draft_end is None
    assert DraftEnd.CONTEXT in {one.draft_end for one in rounds}
    assert drafter.cache is not None
    assert drafter.cache.length <= 20


def test_a_target_of_a_shorter_context_bounds_it(exact_target: LoadedModel, tmp_path: Path) -> None:
    path = write_for(tmp_path / "long.safetensors", exact_target, replace_context(4096))
    drafter = make_trained(f"trained:{path}", exact_target)
    assert drafter.info.context_length == exact_target.info.context_length == 512
    assert not any("past them" in note for note in drafter.info.notes)


def replace_context(context: int) -> SmallShape:
    shape = SHAPES["small"]
    assert isinstance(shape, SmallShape)
    values = {name: getattr(shape, name) for name in shape.__struct_fields__}
    return SmallShape(**values | {"context": context})
