"""Scenes and findings for the doctor's tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assistant.config.schema import Settings
from assistant.doctor.daemon import Daemon, May, Scene
from assistant.doctor.finding import Check, Finding, examine

RUNS = Daemon("http://127.0.0.1:8765", "ok", state={"state": "idle", "troubles": {}}, console=True)


def settings(data: Path, **sections: dict[str, Any]) -> Settings:
    """Return settings without devices, and with espeak-ng as the voice."""
    given = {
        "audio": {"input": "null", "output": "null"},
        "voice": {"engine": "espeak"},
        **sections,
    }
    own = {"data": str(data), **given.pop("assistant", {})}
    return Settings.model_validate({**given, "assistant": own})


def scene(settings: Settings, may: May | None = None, daemon: Daemon | None = None) -> Scene:
    """Return the scene of a box on which no Hearth runs, unless `daemon` is given."""
    return Scene(settings, may or May(), daemon)


async def look(checks: Sequence[Check[Scene]], name: str, at: Scene) -> Finding:
    """Return the finding of the check of that name."""
    (check,) = (check for check in checks if check.name == name)
    (found,) = await examine([check], at)
    return found
