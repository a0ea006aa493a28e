"""How Hearth stands, in one line for `systemctl status`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # they bring what is imported later, while frames are judged
    from assistant.app.build import App
    from assistant.sound.devices import SoundState


def status_of(app: "App", sound: "SoundState", trouble: str = "") -> str:
    """What it listens for, or why it hears nobody, and what else is wrong.

    `trouble`: of the settings, "" for none. Nothing that anybody said is in it.
    """
    home = app.bridge.home
    away = "" if home.connected else str(home.problem or "Home Assistant is not connected.")
    return " ".join(filter(None, [_hears(app, sound), *sound.problems, away, trouble]))


def _hears(app: "App", sound: "SoundState") -> str:
    if app.stay is not None and app.stay.mute.on:
        return "The microphone is muted."
    if sound.troubles.get("microphone"):
        return "Hears nobody."
    if app.settings.audio.input == "null":
        return "Has no microphone, and answers programs."
    words = ", ".join(word.model for word in app.settings.wake.words)
    return f"Listens for {words}."
