"""A headless Chromium, driven through its debugging pipe: no driver, no package, no port.

SIBYL_CHROMIUM names its program; else it is looked for in PATH. It is started without a network.
"""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
PATIENCE = 60.0  # seconds for one answer


def find_browser() -> str | None:
    """Its program, or None."""
    return os.environ.get("SIBYL_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page in a browser of its own.

    Attributes:
        problems: what the console and the network said: exceptions, errors, requests but for files.
    """

    def __init__(self, program: str) -> None:
        self.problems: list[str] = []
        self._numbers = itertools.count(1)
        self._rest = b""
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # The browser reads commands from 3 and writes answers to 4; the shell puts them there.
        line = f'exec "$@" 3<&{commands} 4>&{answers}'
        words = (
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *("--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND"),
            *(f"--user-data-dir={self._profile.name}", "about:blank"),
        )
        self._process = subprocess.Popen(
            ["bash", "-c", line, "browser", program, *words],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._session: str | None = None
        target = self.say("Target.createTarget", url="about:blank")["targetId"]
        attached = self.say("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.say(f"{domain}.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.say("Network.emulateNetworkConditions", **offline)

    def __enter__(self) -> "Page":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def say(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the DevTools protocol, and its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def open(self, file: Path) -> None:
        """Show a file, until it is loaded."""
        self.say("Page.navigate", url=file.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while self.value("location.href + document.readyState").startswith("about:") or (
            self.value("document.readyState") != "complete"
        ):
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What a script says."""
        found = self.say("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """One key, down and up."""
        for kind in ("rawKeyDown", "keyUp"):
            words = {"key": key, "code": key, "windowsVirtualKeyCode": code}
            self.say("Input.dispatchKeyEvent", type=kind, **words)

    def picture(self, file: Path, width: int, height: int) -> None:
        """Write what is seen, as PNG."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.say("Emulation.setDeviceMetricsOverride", **size)
        data = self.say("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], PATIENCE)
            assert ready, "the browser says nothing"
            more = os.read(self._read, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        answer = json.loads(text)
        self._note(answer.get("method", ""), answer.get("params", {}))
        return answer

    def _note(self, method: str, event: dict[str, Any]) -> None:
        entry = event.get("entry", event)
        wrong = method == "Runtime.exceptionThrown"
        wrong |= method == "Log.entryAdded" and entry.get("level") in ("warning", "error")
        wrong |= method == "Runtime.consoleAPICalled" and event.get("type") in ("warning", "error")
        if method == "Network.requestWillBeSent":
            wrong = not event["request"]["url"].startswith(("file:", "data:", "about:"))
        if wrong:
            self.problems.append(f"{method}: {event}")
