"""Requests that programs send to the HTTP interface."""

from typing import Any

import httpx

from integrations.web.api import api_paths
from integrations.web.paths import Path
from tests.unit.integrations.web.doubles import PIN, TOKEN, FakeBox, patient_guard

ROWS = api_paths(FakeBox(), patient_guard(), "")
BODIES = {
    "/v1/mute": {"muted": True},
    "/v1/mode": {"mode": "normal"},
    "/v1/settings": {"volume": 0.5},
    "/v1/announce": {"text": "Dinner is ready."},
    "/v1/question": {"question": "Close the blinds?"},
    "/v1/converse": {"text": "Good morning."},
    "/v1/ask": {"text": "is the light on"},
    "/v1/timers": {"seconds": 600, "name": "pasta"},
    "/v1/timers/{id}/snooze": {"minutes": 5},
    "/v1/confirmations/{id}": {"yes": True, "pin": PIN},
    "/v1/openers/{id}": {"tier": "secure"},
    "/v1/house/{id}": {"action": "on"},
    "/v1/sentences": {"said": "movie time", "means": "close the blinds"},
    "/v1/house/{id}/rating": {"tier": "never"},
    "/v1/memory/{id}": {"text": "The key is there."},
    "/v1/turns/{id}/mark": {"mark": "wrong"},
    "/v1/session": {"token": TOKEN},
    "/v1/links": {"role": "family", "name": "Ana"},
}
NAMES = {
    "timers": "t1",
    "confirmations": "c1",
    "turns": "20261122-3",
    "memory": "m1",
    "sentences": "o1",
    "openers": "switch.gate",
    "house": "light.hall",
    "sessions": "s1",
}


def program(port: int, **more: Any) -> httpx.AsyncClient:
    """Make a client for this machine that does not load the system's certificates, which is
    slow."""
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", verify=False, **more)


async def send(client: httpx.AsyncClient, row: Path, **more: Any) -> httpx.Response:
    """Send a valid request, changed by `more`."""
    path = row.path.replace("{id}", NAMES.get(row.path.split("/")[2], ""))
    if row.body is not None and "content" not in more:
        more = {"json": BODIES[row.path], **more}
    return await client.request(row.method, path, **more)


def row_of(method: str, path: str) -> Path:
    return next(row for row in ROWS if (row.method, row.path) == (method, path))
