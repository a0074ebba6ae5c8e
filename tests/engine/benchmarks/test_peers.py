"""`peers` on tiny models: every way on every side, in turn, on the same weights and prompts."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine.benchmarks import peers
from engine.benchmarks.peers import compare
from engine.benchmarks.peers_pair import load_pair
from engine.benchmarks.peers_prompts import COPYING
from engine.benchmarks.peers_timing import Decoded
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.plans.packed import PackedPlan
from engine.prompting import prompt_tokens
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.benchmarks.peers_pair import Pair

SETS = {"chat": ("what is it", "hello"), "copying": ("abcabcabcabcabc",)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "deep", layers=3, endless=True)


@pytest.fixture(scope="module")
def pair(folder: Path) -> Pair:
    return load_pair(load_model(folder, device="cpu", plan="eager"), str(folder), layers=2)


class Llama:
    """Stands for a server: it answers with a fixed text in a fixed time."""

    build = "b1"

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def decode(self, prompt: Sequence[int], limit: int) -> Decoded:
        self.asked.append(list(prompt))
        return Decoded((1,) * limit, limit - 1, 1000 * (limit - 1), 2000 * limit, limit)


def test_both_sides_write_the_same_texts_with_the_same_drafts(pair: Pair) -> None:
    report = compare(pair, sets=SETS, limit=24, repeats=2, k=3)
    ways = [(row.prompts, row.drafter, row.peer, row.k) for row in report.rows]
    small = "model:first 2 of 3 layers"
    assert ways == [
        (name, *way)
        for name in SETS
        for way in (
            ("none", "generate()", 0),
            ("ngram", "generate(prompt_lookup_num_tokens=3)", 3),
            (small, "generate(assistant_model=...)", 3),
        )
    ]
    for row in report.rows:
        assert (row.identical, row.ties, row.faults) == (row.texts, 0, 0), row.differences
        assert row.texts == len(SETS[row.prompts])
        assert row.tokens == 24 * row.texts
        assert row.ours.per_token.samples == row.theirs.per_token.samples == 2
        if row.drafter == small:
            assert row.ours.tokens_per_pass == row.theirs.tokens_per_pass > 1
        if row.drafter == "none":
            assert row.ours.tokens_per_pass == row.theirs.tokens_per_pass == 1
    assert (report.llama, report.llama_rows) == (None, ())
    assert any("llama.cpp is not measured" in note for note in report.header.notes)


def test_a_fault_of_one_side_is_counted(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = peers.decode

    def wrong(*given: object, **named: object) -> Decoded:
        whole = honest(*given, **named)  # type: ignore[arg-type]  # passed on as it came
        ids = (*whole.token_ids[:2], (whole.token_ids[2] + 1) % 256, *whole.token_ids[3:])
        return replace(whole, token_ids=ids)

    monkeypatch.setattr(peers, "decode", wrong)
    report = compare(pair, sets={"chat": SETS["chat"]}, limit=8, repeats=1)
    row = report.rows[0]
    assert (row.identical, row.ties, row.faults) == (0, 0, 2)
    assert [one.position for one in row.differences] == [2, 2]


def test_sides_take_turns_on_every_prompt(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[tuple[str, str]] = []
    honest = peers._Sides.decode

    def noting(self: peers._Sides, run: peers._Run, limit: int) -> Decoded:
        if limit == 12:
            order.append((f"{run.prompts} {run.prompt} {run.drafter}", run.side))
        return honest(self, run, limit)

    monkeypatch.setattr(peers._Sides, "decode", noting)
    calls: list[tuple[int, int]] = []
    compare(
        pair,
        sets=SETS,
        limit=12,
        repeats=1,
        progress=lambda done, total, _: calls.append((done, total)),
    )
    assert len(order) == 18  # 3 prompts, 3 ways, 2 sides
    for ours, theirs in zip(order[::2], order[1::2], strict=True):
        assert ours[0] == theirs[0]
        assert (ours[1], theirs[1]) == ("Draftscope", "transformers")
    assert calls[-1] == (18, 18)


def test_llama_cpp_gets_the_same_prompts_and_rows_of_its_own(pair: Pair) -> None:
    llama = Llama()
    report = compare(pair, sets=SETS, limit=12, repeats=2, llama=llama)  # type: ignore[arg-type]  # stands for one
    target = pair.session.target
    expected = {
        tuple(prompt_tokens(target, text, raw=False)) for one in SETS.values() for text in one
    }
    assert {tuple(prompt) for prompt in llama.asked} == expected
    assert report.llama == "b1"
    assert [row.prompts for row in report.llama_rows] == list(SETS)
    assert all(row.theirs.tokens_per_second == pytest.approx(1e6) for row in report.llama_rows)
    assert all(row.identical == 0 for row in report.llama_rows)
    assert len(report.rows) == 6
    assert any("another precision" in note for note in report.header.notes)


SERVER = """#!%s
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self._answer({"build_info": " ".join(sys.argv[1:])[-80:]})
    def do_POST(self):
        wish = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        count = wish["n_predict"]
        timings = {"predicted_n": count, "predicted_ms": count - 1}
        self._answer({"tokens": [1] * count, "timings": timings})
    def _answer(self, answer):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())
    def log_message(self, *_):
        pass
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.mark.parametrize(
    ("name", "drafters", "served"),
    [
        ("tiny.gguf", ("none", "ngram", "model"), True),
        ("tiny", ("none", "ngram", "model"), False),  # a folder is nothing for llama.cpp
        ("tiny.gguf", ("ngram",), False),  # and it is compared with plain rounds alone
    ],
)
def test_llama_cpp_is_measured_where_it_can_be(
    pair: Pair,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    drafters: tuple[str, ...],
    served: bool,
) -> None:
    program = tmp_path / "llama-server"
    program.write_text(SERVER % sys.executable)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(peers, "load_model", lambda *_, **__: pair.session.target)
    monkeypatch.setattr(peers, "resolve", lambda named: tmp_path / named)
    monkeypatch.setattr(
        peers,
        "load_pair",
        lambda *_, **__: replace(pair, drafters={one: pair.drafters[one] for one in drafters}),
    )
    report = peers.measure(target=name, drafter=drafters, repeats=1, max_new_tokens=8)
    if not served:
        assert (report.llama, report.llama_rows) == (None, ())
        return
    assert report.llama is not None
    longest = max(len(prompt_tokens(pair.session.target, text, raw=False)) for text in COPYING)
    assert f"--ctx-size {longest + 9} --parallel 1" in report.llama
    assert [row.theirs.tokens_per_second for row in report.llama_rows] == pytest.approx([1000] * 2)


def test_a_small_model_of_its_own_drafts_on_both_sides(folder: Path, tmp_path: Path) -> None:
    near = write_tiny_folder(tmp_path / "near", noise=0.1, layers=3, endless=True)
    target = load_model(folder, device="cpu", plan="eager")
    pair = load_pair(target, str(folder), ("model",), assistant=str(near))
    (row,) = compare(pair, sets={"chat": SETS["chat"]}, limit=24, repeats=1).rows
    assert row.identical == 2
    assert row.ours.tokens_per_pass == row.theirs.tokens_per_pass > 1
    assert not any("first" in note for note in pair.notes)


def test_the_notes_say_what_the_weights_were_rounded_to(folder: Path) -> None:
    exact = load_pair(load_model(folder, device="cpu", plan="eager"), str(folder), ("none",))
    assert exact.notes == ("Both sides compute in float32 with the same weights, bit for bit.",)
    assert exact.drafters == {"none": "none"}
    if PackedPlan.available():
        packed = load_pair(load_model(folder, device="cpu", plan="packed"), str(folder), ("none",))
        assert "rounded to float16 first, as the packed plan" in packed.notes[0]
        (row,) = compare(packed, sets={"chat": SETS["chat"]}, limit=16, repeats=1).rows
        assert (row.identical, row.faults) == (2, 0)


def test_without_the_library_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(DraftscopeError, match="pip install"):
        peers.measure(target="there is no such model")
