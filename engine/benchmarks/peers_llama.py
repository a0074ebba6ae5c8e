"""llama.cpp on the target's own GGUF file, over the HTTP interface of its `llama-server`.

It computes with the file's quantised weights: another precision, whose texts may differ. Knows a
process, its port and three of its endpoints (llama.cpp, tools/server/README.md: GET /health, GET
/props, POST /completion); nothing of our decoding.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any

import torch

from engine.benchmarks.peers_timing import Decoded
from engine.errors import DraftscopeError, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import IO

PROGRAM = "llama-server"
_HOST = "127.0.0.1"
_READY_S = 300.0  # for a large file on a slow disk
_ANSWER_S = 3600.0
_POLL_S = 0.1


class LlamaServer:
    """A server that is ready to answer."""

    def __init__(self, port: int) -> None:
        self._port = port

    @property
    def build(self) -> str:
        """Say which build it is, as far as it says so itself."""
        return short(self._asked("GET", "/props").get("build_info", "of an unknown build"))

    def ready(self) -> bool:
        """Return whether it has loaded the model; False as long as nobody answers."""
        try:
            status, _ = _request(self._port, "GET", "/health", None, 5.0)
        except (OSError, HTTPException):
            return False
        return status == 200

    def decode(self, prompt: Sequence[int], limit: int) -> Decoded:
        """Decode one text greedily.

        Its own clock counts from its first token to its last, as ours does.

        Raises
        ------
        DraftscopeError
            If the answer is not what the interface promises.
        """
        wish = {
            "prompt": list(prompt),
            "n_predict": limit,
            "temperature": 0.0,
            "samplers": ["temperature"],
            "repeat_penalty": 1.0,
            "cache_prompt": False,
            "return_tokens": True,
            "stream": False,
        }
        begin = time.perf_counter_ns()
        answer = self._asked("POST", "/completion", wish)
        call_ns = time.perf_counter_ns() - begin
        try:
            token_ids = tuple(int(token) for token in answer["tokens"])
            predicted = int(answer["timings"]["predicted_n"])
            decode_ns = round(1e6 * float(answer["timings"]["predicted_ms"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DraftscopeError(
                f"{PROGRAM} answered without its tokens and timings ({error!r}); update llama.cpp, "
                "or take it off the PATH to measure without it."
            ) from error
        return Decoded(
            token_ids=token_ids,
            tokens=max(0, predicted - 1),
            decode_ns=decode_ns,
            call_ns=call_ns,
            passes=predicted,
        )

    def _asked(self, method: str, path: str, wish: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            status, text = _request(self._port, method, path, wish, _ANSWER_S)
            answer = json.loads(text)
        except (OSError, HTTPException, ValueError) as error:
            raise DraftscopeError(
                f"{PROGRAM} did not answer {path} ({error}); take it off the PATH to measure "
                "without it."
            ) from error
        if status != 200 or not isinstance(answer, dict):
            raise DraftscopeError(
                f"{PROGRAM} refused {path}: {short(text, 200)}. Take it off the PATH to measure "
                "without it."
            )
        return answer


def found() -> str | None:
    """Return where the server's program is, if it is on the PATH."""
    return shutil.which(PROGRAM)


@contextmanager
def serving(program: str, model: Path, *, context: int, gpu: bool = False) -> Iterator[LlamaServer]:
    """Start the program on a file and a free port of this machine, and end it afterwards.

    It computes with as many threads as torch does.

    Parameters
    ----------
    context
        Tokens of the longest text.
    gpu
        Whether its layers may go to a GPU.

    Raises
    ------
    DraftscopeError
        If it ends, or is not ready in time; with the last thing that it said.
    """
    port, threads = _free_port(), torch.get_num_threads()
    command = [
        *(program, "--model", str(model), "--host", _HOST, "--port", str(port)),
        *("--threads", str(threads), "--threads-batch", str(threads)),
        *("--ctx-size", str(context), "--parallel", "1", "--n-gpu-layers", "999" if gpu else "0"),
    ]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            server = LlamaServer(port)
            _wait(server, process, log)
            yield server
        finally:
            _end(process)


def _wait(server: LlamaServer, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    deadline = time.monotonic() + _READY_S
    while not server.ready():
        if process.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            said = log.read().decode("utf-8", "replace").strip().splitlines()
            last = short(said[-1], 200) if said else "nothing"
            raise DraftscopeError(
                f"{PROGRAM} did not become ready; the last thing that it said is: {last}. Take it "
                "off the PATH to measure without it."
            )
        time.sleep(_POLL_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _request(
    port: int, method: str, path: str, wish: dict[str, Any] | None, timeout_s: float
) -> tuple[int, str]:
    """Ask this machine's own port; unlike urllib it knows no proxy."""
    connection = HTTPConnection(_HOST, port, timeout=timeout_s)
    try:
        body = None if wish is None else json.dumps(wish)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()
