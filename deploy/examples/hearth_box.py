"""A small client of Hearth's HTTP interface, with nothing but Python's own library.

box = HearthBox()                       # token from HEARTH_TOKEN, or a file in HEARTH_TOKEN_FILE
box.press("listen")                     # "listen", "stop", "mute", "unmute"
for state in box.states():              # never ends, also across restarts of Hearth
    print(state["state"], state["muted"])
"""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

AWAY = {"state": "away", "muted": False}  # Hearth does not answer
SILENCE_S = 40.0  # Hearth says something every 15 s
PAUSE_S = 2.0  # before it is tried again


def token() -> str:
    """The token, from the environment."""
    if file := os.environ.get("HEARTH_TOKEN_FILE"):
        return Path(file).read_text(encoding="ascii").strip()
    return os.environ["HEARTH_TOKEN"]


class HearthBox:
    """One box, by default the one on this machine."""

    def __init__(self, url: str = "http://127.0.0.1:8765", secret: str | None = None) -> None:
        self._url = os.environ.get("HEARTH_URL", url).rstrip("/")
        self._headers = {"Authorization": f"Bearer {secret or token()}"}

    def press(self, button: str) -> bool:
        """Do what that button means. False where Hearth does not answer or cannot do it now."""
        muted = {"mute": True, "unmute": False}.get(button)
        path = "listen" if button == "listen" else "stop" if button == "stop" else "mute"
        body = b"" if muted is None else json.dumps({"muted": muted}).encode()
        headers = {**self._headers, "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self._url}/v1/{path}", data=body, headers=headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=5):
                return True
        except OSError:
            return False

    def states(self) -> Iterator[dict[str, Any]]:
        """Yield the current state, then each change; AWAY while it does not answer."""
        last_id = ""
        while True:
            try:
                for event in self._events(last_id):
                    last_id = event["id"]
                    if event["event"] == "state":
                        yield json.loads(event["data"])
            except urllib.error.HTTPError as error:
                if error.code == 401:
                    raise SystemExit("Hearth does not accept this token.") from None
            except (OSError, ValueError):
                pass
            yield dict(AWAY)
            time.sleep(PAUSE_S)

    def _events(self, last_id: str) -> Iterator[dict[str, str]]:
        headers = {**self._headers, **({"Last-Event-ID": last_id} if last_id else {})}
        request = urllib.request.Request(f"{self._url}/v1/events", headers=headers)
        with urllib.request.urlopen(request, timeout=SILENCE_S) as answer:
            event: dict[str, str] = {}
            for line in answer:
                text = line.decode().rstrip("\n")
                if text and not text.startswith(":"):
                    name, _, value = text.partition(": ")
                    event[name] = value
                elif not text and event:
                    yield event
                    event = {}
