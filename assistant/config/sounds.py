"""The section of the settings that says which short sounds are played."""

from pydantic import Field

from assistant.config.kinds import Flag, Section


class SoundChoice(Section):
    """Which short sounds are played."""

    wake: Flag = Field(
        default=True,
        description="After the wake word, where the sentence does not follow at once: I listen.",
    )
    end: Flag = Field(
        default=False, description="When the sentence is over: I have heard it, and listen no more."
    )
    open: Flag = Field(
        default=True,
        description="When the microphone stays open after an answer. Where a program opens it, by "
        "a question say, this sounds in any case.",
    )
    thinking: Flag = Field(
        default=True, description="A soft one every few seconds while an answer takes its time."
    )
    done: Flag = Field(
        default=True,
        description="In place of words where `voice.acknowledge` wants it; "
        "where it is off, words tell it after all.",
    )
    error: Flag = Field(
        default=True, description="In front of the words that tell that something went wrong."
    )
    unmeant: Flag = Field(
        default=True, description="What was heard was probably not meant for Hearth: no answer."
    )
    muted: Flag = Field(
        default=True, description="The microphone is closed, and when it is open again."
    )
    offline: Flag = Field(
        default=True,
        description="In front of the words that tell, once, that this device alone serves.",
    )
    announce: Flag = Field(
        default=True, description="In front of words that nobody asked for just now."
    )
    timer: Flag = Field(
        default=True,
        description="The ringing of a timer; where it is off, words alone tell that it is over, "
        "again and again until somebody hears them.",
    )

    @property
    def off(self) -> frozenset[str]:
        """The sounds of `audio.earcons` that are not played."""
        kept = {"mute": self.muted, "unmute": self.muted}
        kept |= {name: on for name, on in self.model_dump().items() if name != "muted"}
        return frozenset(name for name, on in kept.items() if not on)
