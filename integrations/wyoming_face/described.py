"""What we tell of ourselves: the answer to `describe`.

By hand: `wyoming.info` imports audioop, which warns and is gone in Python 3.13.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from wyoming.event import Event

_ATTRIBUTION = {"name": "Hearth", "url": ""}


def satellite_info(name: str, area: str, version: str) -> Event:
    """Of a satellite, and of nothing else: Home Assistant takes no other service of its port."""
    satellite = {**_artifact(name, "The voice of this room", version), "area": area or None}
    return _info({"satellite": {**satellite, "has_vad": True, "supports_trigger": False}})


def speech_info(name: str, voices: Mapping[str, Sequence[str]], version: str) -> Event:
    """Of the voices: name -> codes of its languages."""
    rows = [
        {**_artifact(voice, voice, version), "languages": list(languages), "speakers": None}
        for voice, languages in voices.items()
    ]
    program = {**_artifact(name, "Hearth's own voice", version), "voices": rows}
    return _info({"tts": [{**program, "supports_synthesize_streaming": False}]})


def _info(told: Mapping[str, Any]) -> Event:
    nothing: dict[str, Any] = {
        kind: [] for kind in ("asr", "tts", "handle", "intent", "wake", "mic", "snd")
    }
    return Event("info", {**nothing, **told})


def _artifact(name: str, description: str, version: str) -> dict[str, Any]:
    return {
        "name": name,
        "attribution": _ATTRIBUTION,
        "installed": True,
        "description": description,
        "version": version,
    }
