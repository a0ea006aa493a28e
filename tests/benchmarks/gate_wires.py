"""Ratios of the gate for work with a house and a service, each by plain messages to it.

The house is the embedded one, in this process; the simulated Gemini is in another. What a person
waits for is measured by the clock, and the quickest of many counts, which other work on the machine
delays least; the rest is CPU time of this process.
"""

import asyncio
import base64
import json
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from websockets.asyncio.client import ClientConnection, connect

from assistant.app.build import App
from assistant.conversation.turn_services import Moment
from audio.tts.espeak import EspeakVoice
from integrations.gemini.access import Access
from integrations.gemini.events import LiveEvent, TurnComplete
from integrations.gemini.live import LiveClient, LiveSession
from integrations.gemini.models import model_row
from integrations.gemini.setup import AUDIO_MIME, LiveSetup
from tests.benchmarks import notify, tool_call
from tests.benchmarks.gate_ratio import Pair, Round, in_turns, quickest
from tests.benchmarks.gate_store import stores_without_threads
from tests.benchmarks.service import Address, Always, GeminiProcess
from tests.benchmarks.sound import InstantVoice, NotingPlayer
from tests.benchmarks.stage import hearth, stamps
from tests.simulators.script import Done, Say

MODEL = "gemini-3.8-live"
SERVICE = "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
PIECE = bytes(3_200)  # 100 ms
PIECES, ACTIVITIES = 150, 5
TURNS, PLAIN_TURNS = 5, 50
FURTHER = 20  # times more for the clock: how well threads hand over differs from one to the next
ANNOUNCEMENTS = 45
ANSWER = Always((Say("The office lights are on.", audio_s=0.1), Done()))
QUESTION = "How are the lights?"


@asynccontextmanager
async def tool_calls(folder: Path) -> AsyncIterator[Round]:
    """Measure a call through the hub, and through policy, check and journal, by a plain POST."""
    async with AsyncExitStack() as stack:
        with stores_without_threads():
            ways = tool_call.ways(folder, tool_call.embedded)
            _, calls = await stack.enter_async_context(ways)

        async def one() -> Mapping[str, float]:
            taken = await tool_call.measure(calls, 120)
            ms = {kind: quickest(values, TURNS) for kind, values in taken.items()}
            plain = ms.pop("plain")
            return {f"tool call: {kind}": value / plain for kind, value in ms.items()}

        yield one


@asynccontextmanager
async def uploads(folder: Path) -> AsyncIterator[Round]:
    """Measure 75 s of sound to the service, by the same messages over a plain websocket."""
    with GeminiProcess(ANSWER) as service:
        async with plain_socket(service.address) as socket, session(service.address) as live:

            async def plain() -> None:
                for _ in range(ACTIVITIES):
                    await socket.send(_message(activityStart={}))
                    for _ in range(PIECES):
                        sound = {"data": base64.b64encode(PIECE).decode(), "mimeType": AUDIO_MIME}
                        await socket.send(_message(audio=sound))
                    await socket.send(_message(activityEnd={}))
                    await _until_complete(socket)

            yield in_turns(Pair("sending 75 s of audio to the service", live.say, plain))


@asynccontextmanager
async def typed_turns(folder: Path) -> AsyncIterator[Round]:
    """Measure typed questions to the whole assistant, by the same over a plain websocket.

    CPU time, and by the clock: until the answer's first text, and from there to its first sample.
    One turn follows the other at once, as the plain questions do: a processor that is shared with
    others loses our data from its caches within 0.3 s, and the same work then takes three to five
    times as long.
    """
    voice, player = InstantVoice(), NotingPlayer()
    with (
        GeminiProcess(ANSWER) as service,
        patch("assistant.app.conversation.voices_of", lambda *_, **__: lambda _: voice),
        stamps() as moments,
    ):
        async with (
            hearth(folder, service.address, player, late_text_ms=0) as app,
            plain_socket(service.address) as socket,
        ):
            ours, plain = Asked(app, player, moments), PlainAsked(socket)
            await ours.ask()  # opens the session, loads what the first turn needs

            async def one() -> Mapping[str, float]:
                ours.forget()
                plain.taken.clear()
                cpu = await in_turns(Pair("typed turn: CPU", ours.ask, plain.ask))()
                for _ in range(FURTHER):
                    await plain.ask()  # while the turn before is written down
                    await ours.ask()
                plain_s = quickest(plain.taken, TURNS)
                return {
                    **cpu,
                    "typed turn: to its first text": quickest(ours.text, TURNS) / plain_s,
                    "typed turn: text to audio": quickest(ours.sound, TURNS) / plain_s,
                }

            yield one


@asynccontextmanager
async def announcements(folder: Path) -> AsyncIterator[Round]:
    """Measure from a program's POST to its first word's sample, by the voice's own time.

    Nothing is said twice, so that no sound is kept.
    """
    player, voice = NotingPlayer(), EspeakVoice("en", ahead=True)
    texts = map(notify.text_of, count())

    def plain() -> float:
        began = time.monotonic()
        speaking = voice.speak(next(texts))
        next(speaking)
        taken = time.monotonic() - began
        deque(speaking, maxlen=0)  # to its end, unheard
        return taken

    with stores_without_threads():
        async with notify.ways(folder, player) as doors:
            send = doors.by_name["POST"]

            async def ours() -> float:
                player.clear()
                began = time.monotonic()
                await send(next(texts), False)
                await doors.rest()
                return player.pieces[0].at - began

            await ours()  # loads what all others find loaded

            async def one() -> Mapping[str, float]:
                both = [(await ours(), plain()) for _ in range(ANNOUNCEMENTS)]
                taken, voices = (quickest(each, TURNS) for each in zip(*both, strict=True))
                return {"from an announcement to its first sample": taken / voices}

            yield one


@dataclass(slots=True)
class Asked:
    """Questions to the assistant, and the seconds that each took."""

    app: App
    player: NotingPlayer
    moments: dict[Moment, float]
    text: list[float] = field(default_factory=list)  # from the question to the first text
    sound: list[float] = field(default_factory=list)  # from there to the first sample

    async def ask(self) -> None:
        for _ in range(TURNS):
            self.player.clear()
            self.moments.clear()
            began = time.monotonic()
            await self.app.runner.ask(QUESTION)
            text = self.moments["first_reply_text"]
            self.text.append(text - began)
            self.sound.append(self.player.pieces[0].at - text)

    def forget(self) -> None:
        """Forget the times of the questions so far."""
        self.text.clear()
        self.sound.clear()


@dataclass(slots=True)
class PlainAsked:
    """The same questions over a plain websocket."""

    socket: ClientConnection
    taken: list[float] = field(default_factory=list)  # s, from the question to the turn's end

    async def ask(self) -> None:
        turns = [{"role": "user", "parts": [{"text": QUESTION}]}]
        question = json.dumps({"clientContent": {"turns": turns, "turnComplete": True}})
        for _ in range(PLAIN_TURNS):
            began = time.monotonic()
            await self.socket.send(question)
            await _until_complete(self.socket)
            self.taken.append(time.monotonic() - began)


@asynccontextmanager
async def plain_socket(address: Address) -> AsyncIterator[ClientConnection]:
    """Open a session as a program without any library does."""
    url = f"{address.url.replace('https://', 'wss://')}/ws/{SERVICE}"
    context = ssl.create_default_context(cafile=address.ca_file)
    headers = {"x-goog-api-key": address.key}
    setup = {
        "model": f"models/{MODEL}",
        "generationConfig": {"responseModalities": ["AUDIO"]},
        "outputAudioTranscription": {},
        "realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}},
    }
    async with connect(url, additional_headers=headers, ssl=context, proxy=None) as socket:
        await socket.send(json.dumps({"setup": setup}))
        assert "setupComplete" in json.loads(await socket.recv())
        yield socket


@dataclass(slots=True)
class Speaker:
    """Sends pieces of sound into a session of ours and waits for the end of the turn."""

    live: LiveSession
    complete: asyncio.Event  # the turn has ended

    async def say(self) -> None:
        for _ in range(ACTIVITIES):
            self.complete.clear()
            await self.live.begin_activity()
            for _ in range(PIECES):
                await self.live.send_audio(PIECE)
            await self.live.end_activity()
            await self.complete.wait()


@asynccontextmanager
async def session(address: Address) -> AsyncIterator[Speaker]:
    """Yield a speaker on a session of our own client."""
    complete = asyncio.Event()

    def take(event: LiveEvent) -> None:
        if isinstance(event, TurnComplete):
            complete.set()

    setup = LiveSetup(model_row(MODEL)[0], "Be brief.", ())
    async with LiveClient(Access(address.key, address.url, address.ca_file)) as client:
        live = await client.connect(setup, take)
        yield Speaker(live, complete)
        await live.close()


def _message(**what: Any) -> str:
    return json.dumps({"realtimeInput": what})


async def _until_complete(socket: ClientConnection) -> None:
    while True:
        content = json.loads(await socket.recv()).get("serverContent", {})
        if content.get("turnComplete"):
            return
