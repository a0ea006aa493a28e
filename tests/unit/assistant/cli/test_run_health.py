"""What one process serves: `/healthz` and `/v1/state` say the same, `/v1/announce` is said."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from assistant.app import App
from assistant.cli.run import _serving
from assistant.config.schema import Settings
from assistant.journal.records import AnnouncementRecord
from assistant.sound_state import SoundState
from assistant.tools.moment import Mode
from assistant.turn.standing import Standing
from assistant.turn.state import State
from audio.player import NullPlayer, OneOutput
from audio.steady import MicrophoneStatus
from tests.devices.daemon import free_port

TOKEN = "t" * 32


@pytest.mark.parametrize("state", [State.IDLE, State.FAULT])
async def test_a_process_that_hears_a_file_or_nothing(tmp_path: Path, state: State) -> None:
    settings = Settings.model_validate(
        {
            "assistant": {"data": str(tmp_path)},
            "audio": {"input": "null", "output": "null"},
            "http": {"port": free_port(), "token": TOKEN},
        }
    )
    standing = Standing(state, False, MicrophoneStatus.CLOSED)
    runner = SimpleNamespace(standing=standing, state=state, observe=lambda _: lambda: None)
    bridge = SimpleNamespace(
        moments=SimpleNamespace(modes=SimpleNamespace(current=Mode.NORMAL)),
    )
    mute = SimpleNamespace(set=None)
    parts = {"settings": settings, "runner": runner, "bridge": bridge, "mute": mute}
    held: list[str] = []

    def hold(record: AnnouncementRecord) -> bool:
        held.append(record.text)
        return True

    app = cast(App, SimpleNamespace(**parts, announcements=SimpleNamespace(hold=hold)))
    sound = SoundState(None, OneOutput(NullPlayer(paced=False)))
    base = f"http://127.0.0.1:{settings.http.port}"
    async with _serving(settings, app, sound), httpx.AsyncClient(base_url=base) as client:
        told = (await client.get("/healthz")).text
        headers = {"Authorization": f"Bearer {TOKEN}"}
        shown: dict[str, Any] = (await client.get("/v1/state", headers=headers)).json()
        asked = await client.post("/v1/announce", headers=headers, json={"text": "Dinner."})
    assert told == shown["health"]
    assert (asked.status_code, held) == (202, ["Dinner."]), "the process's own announcements"
