"""The settings of the profiles, manners in which turns are held, and whether they fit the rest."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from assistant.config.gemini import Thinking
from assistant.config.kinds import BrainName, NameOrPath, OptionalLanguage, Section, no_repeats
from assistant.config.suggest import nearest


class Profile(Section):
    """A manner, chosen by a wake word or while it runs, by NAME; an empty key: as without one.

    It can take away from what the settings allow and never adds to it.
    """

    persona: str = Field(
        default="", description="How it should speak, instead of `assistant.persona`."
    )
    language: OptionalLanguage = Field(
        default="",
        description="Which of `assistant.languages` counts where nothing else tells.",
    )
    thinking: Thinking = Field(default="", description="Instead of `gemini.thinking`.")
    voice: str = Field(default="", description="Instead of `gemini.voice`.")
    local_voice: NameOrPath = Field(
        default="",
        description="Instead of the local voice of its language (of the first one, where it names "
        "none): a voice's name or the path of a voice file.",
    )
    tools: tuple[str, ...] = Field(
        default=(),
        description="The tools that may be used, by name, `*` and `?` allowed; empty: all. The "
        "policy decides about each call as ever.",
    )
    brain: Annotated[tuple[BrainName, ...], AfterValidator(no_repeats)] = Field(
        default=(),
        description="The brains of `brain.order` that are asked, in this order; empty: all.",
    )


Complaint = tuple[tuple[str, ...], str]  # the place in the file, and the end of a sentence


def misfits(
    profiles: Mapping[str, Profile], languages: Collection[str], brains: Collection[str]
) -> Iterator[Complaint]:
    """What the profiles ask for that the rest of the settings does not have."""
    for name, profile in profiles.items():
        if profile.language and profile.language not in languages:
            known = ", ".join(languages)
            yield ("profiles", name, "language"), f"must be one of assistant.languages: {known}"
        for brain in profile.brain:
            if brain not in brains:
                hint = ", ".join(brains)
                yield ("profiles", name, "brain"), f"must name brains of brain.order alone: {hint}"


def no_profile(name: str, known: Collection[str]) -> str:
    """The end of a sentence about a profile that is not there."""
    near = nearest(name, known)
    hint = f'; did you mean "{near}"?' if near else f"; add a table [profiles.{name}]"
    return f'must name a profile, and there is no "{name}"{hint}'
