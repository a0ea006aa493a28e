"""A whole Hearth with one brain alone, and dialogues held with it."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from assistant.app.build import App, open_app
from assistant.conversation.record import FinishedTurn
from assistant.evaluation.commands import Outcome, Seen, judge, unsafe
from assistant.evaluation.trial import Stage
from audio.frames import SAMPLE_RATE
from audio.player import NullPlayer
from audio.sound_files import WavSource, write_wav
from tests.dialogues.engine import Engine, engine_in
from tests.dialogues.model import SORRY, Model
from tests.dialogues.script import Dialogue
from tests.dialogues.sound import Recording, record
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE, LeapingClock, gemini_settings
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.threads import in_thread

HOME = "home-assistant"
RUNGS = (LIVE, ONCE, HOME, OFFLINE)
Way = Literal["spoken", "typed"]
WAYS: tuple[Way, ...] = ("spoken", "typed")
_BETWEEN_S = 700.0  # from one dialogue to the next: nothing can be undone or goes on any more
_ROOM = "Kitchen"
_UNLIMITED = {"comfort_per_minute": 10_000, "costly_per_hour": 10_000, "secure_per_hour": 10_000}


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one dialogue with one brain."""

    dialogue: str
    language: str
    sort: str
    safety: bool
    rung: str
    way: Way
    outcome: Outcome
    unsafe: tuple[str, ...]  # what stands open that nobody wished open
    heard: str
    answer: str
    what: str  # calls and changes, to find the reason
    seconds: float


class Keys:
    """Types the answers of a dialogue, one after the other."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def will_type(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        return self._lines.pop(0) if self._lines else None


class Talk:
    """Holds one dialogue after the other with an open Hearth."""

    def __init__(
        self, app: App, model: Model, clock: LeapingClock, keys: Keys, rung: str, folder: Path
    ) -> None:
        self._app = app
        self._model = model
        self._clock = clock
        self._keys = keys
        self._rung = rung
        self._stage = Stage(app)
        self._folder = folder
        self._turns: list[FinishedTurn] = []
        app.log.on_turn(self._turns.append)

    async def hold(self, dialogue: Dialogue, number: int, way: Way) -> Result:
        """Hold a dialogue; `number` is its place in the day."""
        began = time.monotonic()
        self._clock.leap(_BETWEEN_S)
        self._turns.clear()
        await self._stage.reset(dialogue.wish.given)
        if way == "spoken":
            for recording in record(dialogue, number):
                await self._hear(dialogue, recording)
        else:
            await self._type(dialogue)
        seen = await self._stage.look_at(self._turns)
        return self._result(dialogue, way, seen, time.monotonic() - began)

    async def _hear(self, dialogue: Dialogue, recording: Recording) -> None:
        self._model.listen_to(dialogue, recording)
        path = self._folder / "turn.wav"
        write_wav(path, recording.pcm, SAMPLE_RATE)
        await self._app.runner.listen(WavSource(path, realtime=False), turns=1)

    async def _type(self, dialogue: Dialogue) -> None:
        self._model.listen_to(dialogue, None)
        for turn in dialogue.turns:
            self._keys.will_type([reply.words for reply in turn.replies])
            await self._app.runner.ask(turn.line.words)

    def _result(self, dialogue: Dialogue, way: Way, seen: Seen, seconds: float) -> Result:
        now = self._stage.now()
        outcome = judge(dialogue.wish, seen, now, tuple(SORRY.values()))
        misses = self._model.misses
        if misses:
            outcome = Outcome.WRONG
        changed = [f"{key}={value}" for key, value in (seen.changes or {}).items()]
        return Result(
            dialogue.name,
            dialogue.language,
            dialogue.sort,
            dialogue.safety,
            self._rung,
            way,
            outcome,
            unsafe(dialogue.wish, now),
            seen.heard if way == "typed" else " | ".join(self._model.heard) or seen.heard,
            seen.answer,
            "; ".join((*seen.calls, *changed, *misses)),
            round(seconds, 2),
        )


@asynccontextmanager
async def talk(rung: str, language: str, folder: Path) -> AsyncIterator[Talk]:
    """Yield a Hearth with this brain alone, in a household of one language."""
    clock, keys = LeapingClock(), Keys()
    apps: list[App] = []

    def full_name(tool: str) -> str:
        entry = apps[0].home.tools.current_menu.find(tool)
        return entry.declaration.name if entry is not None else tool

    def house() -> Any:
        assert apps[0].home.demo is not None
        return apps[0].home.demo.house

    def sent(heard: HeardTurn) -> list[str]:
        setup = service.connections[heard.connection].setup
        assert setup is not None
        return [function.name for function in setup.tools.functions]

    model = Model(full_name, sent)
    service = GeminiSimulator(respond=model.live, respond_once=model.once, keep_turns=20)
    with ExitStack() as stack:
        stack.enter_context(in_thread(service))
        stack.enter_context(patch("assistant.app.conversation.SystemClock", lambda: clock))
        if rung == HOME:
            stack.enter_context(engine_in(Engine(house, model.transcript), language))
        settings = gemini_settings(
            service,
            folder,
            assistant={"data": str(folder / "data"), "languages": [language], "area": _ROOM},
            brain={"order": [rung]},
            limits=_UNLIMITED,
        )
        opened = open_app(settings, NullPlayer(paced=False), hears=True, prompter=keys)
        async with opened as app:
            apps.append(app)
            yield Talk(app, model, clock, keys, rung, folder)
