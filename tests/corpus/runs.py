"""Runs made speech through the offline brain and counts what it would have done."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.brains.offline import OfflineBrain
from assistant.domain.brain import Heard, ReplyText, TurnDone, TurnRequest
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Decision, Status, Tier, ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu, build_menu
from audio.recognize.protocol import Recognizer
from integrations.home_assistant.house import House
from integrations.mcp.servers import McpTool, home_assistant_server
from tests.corpus.house import corpus_house
from tests.corpus.speech import Spoken

FOLDER = Path(__file__).parent
_TARGET = ("name", "area", "floor", "domain", "device_class")
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "intent__HassTurnOn": _TARGET,
    "intent__HassTurnOff": _TARGET,
    "intent__HassSetPosition": (*_TARGET, "position"),
    "light__HassLightSet": (*_TARGET[:4], "color", "temperature", "brightness"),
    "climate__HassClimateSetTemperature": ("temperature", "area", "name", "floor"),
    "fan__HassFanSetSpeed": (*_TARGET[:4], "percentage"),
    "media_player__HassMediaPause": _TARGET,
    "media_player__HassMediaUnpause": _TARGET,
    "media_player__HassMediaNext": _TARGET,
    "media_player__HassMediaPrevious": _TARGET,
    "media_player__HassSetVolume": (*_TARGET, "volume_level"),
    "media_player__HassSetVolumeRelative": ("volume_step", "name", "area", "floor"),
    "todo__HassListAddItem": ("item", "name"),
    "vacuum__HassVacuumStart": _TARGET[:4],
    "vacuum__HassVacuumReturnToBase": _TARGET[:4],
}


@dataclass(slots=True)
class Turn:
    """The result of one sentence."""

    heard: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    answer: str = ""
    understood: bool = True

    @property
    def done(self) -> str:
        """The calls as one comparable line, else the answer of a question, else ""."""
        if self.calls:
            return "; ".join(
                f"{call.name.rpartition('__')[2]} {json.dumps(call.arguments, sort_keys=True)}"
                for call in self.calls
            )
        return f"says {self.answer}" if self.understood else ""


def corpus_menu() -> Menu:
    """Home Assistant 2026.11's tools that commands lead to, with the arguments that they take."""
    tools = [
        McpTool(
            server="home_assistant",
            name=name,
            title=name,
            description="",
            input_schema={"type": "object", "properties": {key: {} for key in arguments}},
            read_only=False,
        )
        for name, arguments in _ARGUMENTS.items()
    ]
    return build_menu(tools, {"home_assistant": home_assistant_server("http://127.0.0.1:1", "")})


def corpus_brain(
    recognizer: Recognizer, house: House | None = None, area: str = ""
) -> OfflineBrain:
    """The brain on the corpus's house."""
    house = house or corpus_house()

    async def menu() -> Menu:
        return corpus_menu()

    return OfflineBrain(lambda: house, menu, recognizer, Catalogue(), VirtualClock(), area=area)


async def hear(brain: OfflineBrain, spoken: Spoken, language: str = "en") -> Turn:
    """One spoken turn; every call is answered as done."""
    audio = TurnAudio(spoken.detection)
    audio.append(spoken.pcm)
    audio.finish()
    return await run(brain, TurnRequest("t", language, "voice", None, audio))


async def read(brain: OfflineBrain, text: str, language: str = "en") -> Turn:
    """One typed turn; every call is answered as done."""
    return await run(brain, TurnRequest("t", language, "text", text, None))


async def run(brain: OfflineBrain, request: TurnRequest, **outcome: Any) -> Turn:
    """All events of one turn. `outcome` changes the answer that every call gets."""
    turn = Turn()
    events = brain.begin(request)
    async for event in events.events():
        match event:
            case Heard(text=text):
                turn.heard = text
            case ToolCall():
                turn.calls.append(event)
                await events.answer(_outcome(event, **outcome))
            case ReplyText(delta=delta):
                turn.answer += delta
            case TurnDone(understood=understood):
                turn.understood = understood
            case _:
                raise AssertionError(event)
    return turn


def _outcome(call: ToolCall, **changes: Any) -> ToolOutcome:
    values: dict[str, Any] = {
        "id": call.id,
        "server": "home_assistant",
        "name": call.name,
        "arguments": call.arguments,
        "decision": Decision.ALLOWED,
        "tier": Tier.COMFORT,
        "status": Status.DONE,
        "observed": (),
        "ms": 1.0,
        "sentence": "",
    }
    return ToolOutcome(**(values | changes))


def commands() -> list[tuple[str, str]]:
    """Sentence and what it must lead to, from the table."""
    rows = (line.split("\t") for line in _lines("commands.tsv"))
    return [(sentence, done) for sentence, done in rows]


def not_commands() -> list[str]:
    """Sentences after the wake word that must lead to nothing."""
    return _lines("not_commands.txt")


def _lines(name: str) -> list[str]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
