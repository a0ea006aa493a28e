"""Sound files made of pieces, and the whole pipeline on the embedded house."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from assistant.app.build import App, open_app
from assistant.config.schema import Settings
from assistant.conversation.record import FinishedTurn
from audio.frames import SAMPLE_RATE
from audio.player import NullPlayer, Outputs, Player
from audio.sound_files import WavSource, read_wav, write_wav
from integrations.home_assistant.services import is_snapshot


def silence(seconds: float) -> bytes:
    """Return silence, mono int16 at 16 kHz."""
    return bytes(round(seconds * SAMPLE_RATE) * 2)


def splice(path: Path, *pieces: Path | float) -> Path:
    """Write recordings and silences (in seconds) one after the other."""
    parts = [silence(piece) if isinstance(piece, float) else read_wav(piece) for piece in pieces]
    write_wav(path, b"".join(parts), SAMPLE_RATE)
    return path


def offline_settings(folder: Path, **sections: dict[str, Any]) -> Settings:
    """Return settings with the embedded house, the brain on the device and a separate data
    folder."""
    given: dict[str, dict[str, Any]] = {
        "assistant": {"data": str(folder / "data")},
        "home_assistant": {"url": "demo"},
        "brain": {"order": ["offline"]},
        "voice": {"engine": "espeak"},
        "limits": {"comfort_per_minute": 10_000},  # no real wait between two sentences
    }
    return Settings.model_validate({**given, **sections})


@asynccontextmanager
async def pipeline(
    settings: Settings, player: Outputs | Player | None = None
) -> AsyncIterator[App]:
    """Yield a whole Hearth without devices."""
    async with open_app(settings, player or NullPlayer(paced=False), hears=True) as app:
        yield app


async def hear(app: App, path: Path) -> FinishedTurn | None:
    """Use a file as the microphone, as fast as possible; return None if no turn was opened."""
    before = app.log.count
    await app.runner.listen(WavSource(path, realtime=False), turns=1)
    return app.log.turns[-1] if app.log.count > before else None


async def asked(app: App, text: str) -> str:
    """Type a sentence and return the answer."""
    answers: list[str] = []
    app.log.on_turn(lambda turn: answers.append(turn.record.answer or ""))
    await app.runner.ask(text)
    return answers[-1]


def states(app: App) -> dict[str, str]:
    """Return the states of the embedded house."""
    assert app.home.demo is not None
    shown = app.home.demo.states
    return {key: state for key, state in shown.items() if not is_snapshot(key)}
