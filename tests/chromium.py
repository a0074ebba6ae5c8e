"""A headless Chromium, driven over its DevTools pipe with the standard library alone.

Knows how to start and end the browser, open a page, click, type, emulate media and take pictures.
Collects what must not happen: exceptions, console errors, and requests that leave the page's file.
Knows nothing of Draftscope.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

# The browser speaks on descriptors 3 and 4, which this process may be using for something else.
TAKE_THREE_AND_FOUR = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
GUARD_S = 60.0  # against hanging only


class Chromium:
    """A browser process; pages share it."""

    def __init__(self, command: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="draftscope-chromium-")
        to_browser, self._out = _high_pipe()
        self._in, from_browser = _high_pipe()
        descriptors = (to_browser, from_browser)
        own = (sys.executable, "-IS", "-c", TAKE_THREE_AND_FOUR)
        profile = f"--user-data-dir={self._profile}"
        self._process = subprocess.Popen(
            [*own, *map(str, descriptors), command, *FLAGS, profile, "about:blank"],
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self.pages: dict[str, Page] = {}

    def open(self, path: Path, *, prelude: str = "", address: str = "", **size: Any) -> Page:
        """Open a file in a page of its own.

        `prelude` is a script that runs before the page's own; `address` stands behind the file's
        name, as "?autoplay#round=3"; `size` goes to `Page.resize`.
        """
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        page = self.attach(target)
        if prelude:
            page.send("Page.addScriptToEvaluateOnNewDocument", source=prelude)
        page.resize(**size)
        page.go(path, address)
        return page

    def attach(self, target: str) -> Page:
        """Return the page of a target, with what it has to say from now on."""
        attach = {"targetId": target, "flatten": True}
        session = self.send("Target.attachToTarget", attach)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        return page

    def send(
        self, method: str, parameters: dict[str, Any] | None = None, session: str | None = None
    ) -> dict[str, Any]:
        """Send a command and return its result; events that come before it are kept."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        end = time.monotonic() + GUARD_S
        while True:
            answer = self._receive(end)
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._keep(answer)

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise AssertionError("Chromium does not answer")
            data = os.read(self._in, 1 << 16)
            if not data:
                raise AssertionError("Chromium has ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _keep(self, event: dict[str, Any]) -> None:
        page = self.pages.get(event.get("sessionId", ""))
        if page is not None:
            page.keep(event["method"], event["params"])

    def close(self) -> None:
        """End the browser and remove its profile."""
        try:
            self.send("Browser.close")
            self._process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@dataclass
class Page:
    """One page, with what went wrong in it."""

    browser: Chromium
    session: str
    target: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _loaded: bool = False

    def inner(self) -> Page:
        """Return the only sandboxed frame of all pages, which has a process of its own."""
        found: list[str] = []

        def there() -> bool:
            infos = self.browser.send("Target.getTargets")["targetInfos"]
            found[:] = [info["targetId"] for info in infos if info["type"] == "iframe"]
            return bool(found)

        self.wait(there)
        return self.browser.attach(found[0])

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to this page."""
        return self.browser.send(method, parameters, self.session)

    def keep(self, method: str, event: dict[str, Any]) -> None:
        """Note an event of this page."""
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(event["exceptionDetails"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.errors.append(json.dumps(event["entry"]))
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(json.dumps(event["args"]))
        elif method == "Network.requestWillBeSent":
            url = event["request"]["url"]
            if not url.startswith("data:"):
                self.requests.append(url)

    def go(self, path: Path, address: str = "") -> None:
        """Load a file and wait until it is there."""
        self._loaded = False
        self.send("Page.navigate", url=path.as_uri() + address)
        self.wait(lambda: self._loaded and bool(self.evaluate("document.readyState=='complete'")))

    def wait(self, happened: str | Callable[[], object]) -> None:
        """Wait until a function returns true, or an expression is true in the page."""
        end = time.monotonic() + GUARD_S
        while not (self.evaluate(happened) if isinstance(happened, str) else happened()):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {happened}")
            self.evaluate("0")  # takes in the events that are waiting
            time.sleep(0.01)

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; promises are awaited."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def resize(self, width: int = 1280, height: int = 720, scale: float = 1.0) -> None:
        """Give the page a size in CSS pixels and a device scale."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def media(self, **features: str) -> None:
        """Emulate media features: `prefers_color_scheme="dark"`; `media="print"`."""
        kind = features.pop("media", "")
        listed = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.send("Emulation.setEmulatedMedia", media=kind, features=listed)

    def centre(self, selector: str) -> tuple[float, float]:
        """Return the middle of the first line of an element, once nothing moves any more."""
        self.evaluate("Promise.allSettled(document.getAnimations().map((a) => a.finished))")
        place = self.evaluate(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)})"
            ".getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        return place[0], place[1]

    def hover(self, selector: str) -> None:
        """Move the pointer onto an element."""
        x, y = self.centre(selector)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click the middle of an element with the pointer."""
        x, y = self.centre(selector)
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        """Click a point."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key: str, *, code: str = "", shift: bool = False) -> None:
        """Press and release a key, named as in `KeyboardEvent.key`."""
        text = key if len(key) == 1 else ""
        common = {"key": key, "code": code or key, "modifiers": 8 if shift else 0}
        if key == "Tab":
            common["windowsVirtualKeyCode"] = 9
        elif key == "Enter":
            common["windowsVirtualKeyCode"], text = 13, "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def screenshot(self, path: Path) -> None:
        """Write a picture of what is seen as PNG."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self) -> bytes:
        """Return the page as it prints, as PDF."""
        data: str = self.send("Page.printToPDF", printBackground=True)["data"]
        return base64.b64decode(data)

    def close(self) -> None:
        """Close the page."""
        self.browser.send("Target.closeTarget", {"targetId": self.target})
        self.browser.pages.pop(self.session, None)


def _high_pipe() -> tuple[int, int]:
    """Return a pipe's ends, to read and to write, both above the 3 and 4 that the browser gets."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]
