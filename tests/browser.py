"""A headless Chromium, driven over its DevTools protocol; no driver program is needed."""

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

PROGRAM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
PATIENCE = 60.0
"""How long anything is waited for [s]."""


class Browser:
    """One page in a browser of its own; a context manager.

    Args:
        scripts: JavaScript that runs in the page before its own.
        size: Width and height of the window [px].
    """

    def __init__(self, *, scripts: tuple[str, ...] = (), size: tuple[int, int] = (1280, 860)) -> None:
        self._scripts, self._size = scripts, size
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        """Exceptions and errors that the page reported."""

    def __enter__(self) -> "Browser":
        from websockets.sync.client import connect

        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        width, height = self._size
        self._process = subprocess.Popen(
            [
                str(PROGRAM),
                "--headless=new",
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--disable-background-timer-throttling",
                "--ignore-certificate-errors",
                "--enable-unsafe-swiftshader",
                "--hide-scrollbars",
                f"--window-size={width},{height}",
                f"--user-data-dir={self._folder.name}",
                "--remote-debugging-port=0",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port_file = Path(self._folder.name) / "DevToolsActivePort"
        self.wait(lambda: port_file.is_file() and port_file.read_text().count("\n") >= 1, "the browser to start")
        port, path = port_file.read_text().split("\n")[:2]
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(connect(f"ws://127.0.0.1:{port}{path}", max_size=None))
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        for script in self._scripts:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        return self

    _session: str | None = None

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self._process.terminate()
        self._process.wait(10)
        self._folder.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        number = next(self._numbers)
        request = {"id": number, "method": method, "params": params}
        if self._session is not None:
            request["sessionId"] = self._session
        self._socket.send(json.dumps(request))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE))
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Runtime.exceptionThrown":
            details = event["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            entry = event["params"]["entry"]
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    def traced(self) -> float:
        """End a trace and return how many frames were drawn per second of it."""
        number = next(self._numbers)
        request = {"id": number, "method": "Tracing.end", "params": {}, "sessionId": self._session}
        self._socket.send(json.dumps(request))
        times: list[float] = []
        while True:
            event = json.loads(self._socket.recv(timeout=PATIENCE))
            if event.get("method") == "Tracing.dataCollected":
                times += [entry["ts"] for entry in event["params"]["value"] if entry.get("name") == "DrawFrame"]
            elif event.get("method") == "Tracing.tracingComplete":
                times.sort()
                return (len(times) - 1) / ((times[-1] - times[0]) * 1e-6) if len(times) > 1 else 0.0
            else:
                self._note(event)

    def open(self, address: str) -> None:
        """Go to a page."""
        self.call("Page.navigate", url=address)
        self.wait(lambda: self.run("document.readyState") == "complete", "the page to load")

    def run(self, code: str) -> Any:
        """Return the value of an expression of the page; promises are awaited."""
        found = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, holds: Any, what: str, *, seconds: float = PATIENCE) -> Any:
        """Wait until a function, or an expression of the page, gives something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(holds) if isinstance(holds, str) else holds()
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"waited for {what} for {seconds:.0f} s")

    def key(self, code: str, *, down: bool, key: str = "") -> None:
        """Press or release a key by its code, such as KeyW."""
        name = key or {"Space": " "}.get(code, code.removeprefix("Key").lower())
        self.call("Input.dispatchKeyEvent", type="keyDown" if down else "keyUp", code=code, key=name)

    def tap(self, code: str) -> None:
        """Press and release a key."""
        self.key(code, down=True)
        self.key(code, down=False)

    def picture(self, file: Path) -> None:
        """Write a screenshot."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
