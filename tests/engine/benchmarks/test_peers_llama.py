"""llama.cpp over its HTTP interface, played by a server in a thread and by a small program."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import torch

from engine.benchmarks import peers_llama
from engine.benchmarks.peers_llama import LlamaServer, found, serving
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ANSWER = {
    "content": " a b",
    "tokens": [5, 6, 7],
    "stop_type": "limit",
    "timings": {
        **{"prompt_n": 4, "prompt_ms": 20.0, "prompt_per_second": 200.0},
        **{"predicted_n": 3, "predicted_ms": 50.0, "predicted_per_second": 60.0},
    },
}


class Fake:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {
            "/health": (200, {"status": "ok"}),
            "/props": (200, {"build_info": "b1234-abc"}),
            "/completion": (200, ANSWER),
        }
        self.asked: list[tuple[str, str, Any]] = []


@pytest.fixture
def fake() -> Iterator[tuple[Fake, LlamaServer]]:
    played = Fake()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET", None)

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            self._answer("POST", json.loads(self.rfile.read(length)))

        def _answer(self, method: str, body: Any) -> None:
            played.asked.append((method, self.path, body))
            status, answer = played.answers[self.path]
            text = answer if isinstance(answer, str) else json.dumps(answer)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield played, LlamaServer(server.server_port)
    server.shutdown()
    thread.join()
    server.server_close()


def test_timings_are_the_servers_own_from_its_first_token_on(
    fake: tuple[Fake, LlamaServer],
) -> None:
    played, server = fake
    whole = server.decode([1, 2, 3, 4], 3)
    assert whole.token_ids == (5, 6, 7)
    assert (whole.tokens, whole.decode_ns, whole.passes) == (2, 50_000_000, 3)
    assert whole.call_ns > 0
    ((method, path, wish),) = played.asked
    assert (method, path) == ("POST", "/completion")
    assert wish["prompt"] == [1, 2, 3, 4]
    assert (wish["n_predict"], wish["temperature"]) == (3, 0.0)
    assert wish["cache_prompt"] is False  # the next repeat would read no prompt
    assert wish["return_tokens"] is True
    assert wish["repeat_penalty"] == 1.0


def test_the_build_is_what_the_server_says(fake: tuple[Fake, LlamaServer]) -> None:
    played, server = fake
    assert server.build == "b1234-abc"
    played.answers["/props"] = (200, {})
    assert server.build == "of an unknown build"


def test_it_is_ready_when_the_model_is_loaded(fake: tuple[Fake, LlamaServer]) -> None:
    played, server = fake
    assert server.ready()
    played.answers["/health"] = (503, {"error": {"message": "Loading model"}})
    assert not server.ready()


def test_nobody_there_is_not_ready() -> None:
    assert not LlamaServer(peers_llama._free_port()).ready()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, {"content": "x"}), "without its tokens and timings"),
        ((200, {**ANSWER, "timings": {"predicted_n": 3}}), "without its tokens and timings"),
        ((400, {"error": {"message": "too long"}}), "too long"),
        ((200, "no json"), "did not answer /completion"),
        ((200, [1]), "refused /completion"),
    ],
)
def test_an_answer_that_is_none_is_told_in_a_sentence(
    fake: tuple[Fake, LlamaServer], answer: tuple[int, Any], said: str
) -> None:
    played, server = fake
    played.answers["/completion"] = answer
    with pytest.raises(DraftscopeError, match=said):
        server.decode([1], 3)


def program(folder: Path, code: str) -> str:
    """Write a program called llama-server that runs some Python."""
    path = folder / "llama-server"
    path.write_text(f"#!{sys.executable}\nimport sys\n{code}")
    path.chmod(0o755)
    return str(path)


SERVER = """
import http.server, json
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"build_info": " ".join(sys.argv[1:])}).encode())
    def log_message(self, *_):
        pass
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def test_the_program_serves_the_file_with_our_threads_and_is_ended(tmp_path: Path) -> None:
    path = program(tmp_path, SERVER)
    with serving(path, tmp_path / "model.gguf", context=300) as server:
        assert server.ready()
        words = server._asked("GET", "/props")["build_info"].split()
    assert not server.ready()
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert (given["--model"], given["--host"]) == (str(tmp_path / "model.gguf"), "127.0.0.1")
    threads = str(torch.get_num_threads())
    assert (given["--threads"], given["--threads-batch"]) == (threads, threads)
    assert (given["--ctx-size"], given["--n-gpu-layers"]) == ("300", "0")


def test_a_program_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    path = program(tmp_path, "print('loading'); print('unknown model format'); sys.exit(1)")
    with (
        pytest.raises(DraftscopeError, match="unknown model format"),
        serving(path, tmp_path / "model.gguf", context=300),
    ):
        pytest.fail("it never was ready")


def test_a_program_that_is_never_ready_is_given_up_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers_llama, "_READY_S", 0.0)
    path = program(tmp_path, "import time; time.sleep(60)")
    with (
        pytest.raises(DraftscopeError, match="the last thing that it said is: nothing"),
        serving(path, tmp_path / "model.gguf", context=300),
    ):
        pytest.fail("it never was ready")


def test_the_program_is_looked_for_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found() is None
    path = program(tmp_path, "")
    assert found() == path
