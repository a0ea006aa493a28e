"""What a profile of the settings changes about a turn: its voice, its language, its tools.

Its persona, thinking and model's voice are the briefing's, its brains the ladder's.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from assistant.config.schema import Settings
from assistant.config.sections import Profile, VoiceModel
from assistant.speech.synthesis import Voices

MakeVoices = Callable[[Settings], Voices]


class Mouth(Protocol):
    """Who speaks (`assistant.speech.output.SpeechOutput`)."""

    def use(self, voices: Voices | None) -> None:
        """Speak with these voices from the next clause on; None: with the settings' own."""
        ...


class Narrowing(Protocol):
    """Who runs the calls (`assistant.tools.toolbox.Toolbox`)."""

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        """This turn may use these tools alone; none of them: all."""
        ...


class Profiles:
    """Begins each turn as its profile has it. On the loop's thread; nothing is loaded here."""

    def __init__(
        self, settings: Settings, mouth: Mouth, tools: Narrowing, make_voices: MakeVoices
    ) -> None:
        """`make_voices`: the voices by settings (see `assistant.sound.devices.voices_of`)."""
        self._profiles = settings.profiles
        self._mouth = mouth
        self._tools = tools
        self._voices = {
            name: make_voices(_with_voice(settings, profile))
            for name, profile in settings.profiles.items()
            if profile.local_voice
        }

    def begin(self, turn_id: str, profile: str) -> str:
        """See `assistant.conversation.turn_services.Profiles`."""
        chosen = self._profiles.get(profile) or Profile()
        self._mouth.use(self._voices.get(profile))
        self._tools.narrow(turn_id, chosen.tools)
        return chosen.language


def widens(settings: Settings, present: str, wanted: str) -> bool:
    """Whether turns may use tools with `wanted`, or go to brains, that they may not with `present`,
    "" for none."""
    now = settings.profiles.get(present) or Profile()
    then = settings.profiles.get(wanted) or Profile()
    more_tools = bool(now.tools) and not (then.tools and set(then.tools) <= set(now.tools))
    return more_tools or not _elsewhere(settings, then) <= _elsewhere(settings, now)


def _elsewhere(settings: Settings, profile: Profile) -> frozenset[str]:
    """The brains that what is said goes to, but for the device's own, which everything may."""
    return frozenset(profile.brain or settings.brain.order) - {"offline"}


def _with_voice(settings: Settings, profile: Profile) -> Settings:
    language = profile.language or settings.assistant.languages[0]
    models = {**settings.voice.models, language: VoiceModel(model=profile.local_voice)}
    voice = settings.voice.model_copy(update={"models": models})
    return settings.model_copy(update={"voice": voice})
