"""One Hearth that people and two programs talk to, and everything that it sends to Gemini.

Every sentence contains a word that no other has, which shows in whose requests it appears.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from assistant.app.interfaces import open_interfaces
from assistant.interfaces.http_tokens import TokenFile
from assistant.sound.devices import SoundState
from audio.player import NullPlayer, OneOutput
from integrations.web.box import Scope
from tests.pipeline.gemini_rig import Scene, scene
from tests.ports import free_port
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, Done, Say, Step

ADMIN = "t" * 32
CALLS = {  # requests of people and programs -> calls of the model
    "what is remembered": Call("recall", {}),
    "say that again": Call("repeat", {}),
    "what did you do": Call("what_did_you_do", {}),
    "which timers are there": Call("list_timers", {}),
}


def answer_to(text: str) -> list[Step]:
    """Answer with the last word of the sentence reversed, so that it differs from the request."""
    called = next((call for asked, call in CALLS.items() if text.endswith(asked)), None)
    said = Say(f"I understand {text.split()[-1][::-1]}.")
    return [*([called] if called else []), said, Done()]


def answer_live(turn: HeardTurn) -> Sequence[Step]:
    return answer_to(turn.text)


def answer_once(request: OnceRequest) -> Sequence[Step]:
    """Answer as `answer_to` does; a request after a call goes on with its answer."""
    return answer_to(request.texts[-1]) if request.texts else [Say("All right."), Done()]


def gemini(**options: Any) -> GeminiSimulator:
    """Return the simulated service, which keeps every message."""
    given = {"respond": answer_live, "respond_once": answer_once, "keep_frames": True}
    return GeminiSimulator(**{**given, **options})


@dataclass
class Box:
    """A Hearth that serves programs."""

    on: Scene
    port: int

    def token(self, name: str, *scopes: Scope) -> str:
        """Create a further token of that name."""
        return self._file.make(name, scopes, datetime.now(UTC))

    def revoke(self, name: str) -> None:
        """Revoke the token of that name."""
        self._file.revoke(name)

    @property
    def _file(self) -> TokenFile:
        return TokenFile(self.on.app.settings.data_folder)

    async def http(self, token: str, text: str) -> dict[str, Any]:
        """Send a program's request with `POST /v1/ask` and return the turn."""
        async with httpx.AsyncClient(base_url=self._url, timeout=60) as client:
            headers = {"Authorization": f"Bearer {token}"}
            answer = await client.post("/v1/ask", json={"text": text}, headers=headers)
            assert answer.status_code == 200, answer.text
            turn: dict[str, Any] = answer.json()
            return turn

    async def mcp(self, token: str, text: str) -> str:
        """Send a program's request with the tool `ask` and return the answer."""
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{self._url}/mcp", http_client=http)
            async with Client(transport) as agent:
                told = await agent.call_tool("ask", {"text": text})
        return json.dumps(told.structured_content)

    async def person(self, text: str) -> str:
        """Type a request as a person and return the answer."""
        return (await self.on.ask(text)).record.answer or ""

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sent(self) -> list[str]:
        """Return everything sent to the service: one text per connection, then one per request."""
        service = self.on.service
        live = ["\n".join(one.frames) for one in service.connections]
        return [*live, *(json.dumps(one.raw) for one in service.once_requests)]

    def assert_apart(self, *words: Sequence[str]) -> None:
        """Check that all words were sent, and that each text contains the words of one owner
        only."""
        mixed = [
            held
            for sent in self.sent()
            if len(held := [own for own in words if any(word in sent for word in own)]) > 1
        ]
        assert not mixed, f"words of several in one conversation: {mixed}"
        everything = "\n".join(self.sent())
        missing = [word for own in words for word in own if word not in everything]
        assert not missing, f"never sent: {missing}"


@asynccontextmanager
async def box(folder: Path, service: GeminiSimulator, **sections: Any) -> AsyncIterator[Box]:
    """Yield a Hearth that serves while the block runs; `sections` override the settings."""
    http = {"port": free_port(), "token": ADMIN, **sections.pop("http", {})}
    sound = SoundState(None, OneOutput(NullPlayer(paced=False)))
    opened = scene(folder, service, resident=True, http=http, **sections)
    async with opened as on, open_interfaces(on.app, sound) as faces:
        yield Box(on, faces.port)
