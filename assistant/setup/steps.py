"""Steps of setup, for the terminal and for the page in the browser. They return what they found as
data; asking and showing is left to the caller."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assistant.config.schema import Settings
from assistant.models.shelf import ModelEntry
from assistant.setup.answers import Answers
from assistant.setup.document import draft
from assistant.setup.services import SetupServices
from assistant.setup.sound_check import Reading, lacking, spoken, verdict
from audio.devices.portaudio import DeviceInfo
from integrations.errors import IntegrationError, SignInAgain
from integrations.gemini.key import doubtful

MOST_DEVICES = 9  # microphones or speakers listed; others can be set in the configuration


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about what a step found."""

    tone: Literal["good", "warn", "bad"]  # bad: the answer can't be kept
    text: str


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    name: str  # as `hearth devices` names it
    label: str  # different for each device
    used: bool  # the settings name this device
    muted: bool


def device_choices(devices: Sequence[DeviceInfo], kind: str, used: str) -> list[DeviceChoice]:
    """Return the devices of a kind, "input" or "output". `used` is the setting's value."""
    these = [one for one in devices if one.kind == kind][:MOST_DEVICES]
    labels = [one.description or one.name for one in these]
    return [
        DeviceChoice(
            one.name,
            label if labels.count(label) == 1 else f"{label}  ({one.name})",
            used in (one.name, one.description) or (used == "default" and one.default),
            bool(one.muted),
        )
        for one, label in zip(these, labels, strict=True)
    ]


def findings_of(reading: Reading, word: str) -> tuple[Finding, Finding]:
    """Judge the level and the wake word of a sound check. `word` is the model's name."""
    well, sentence = verdict(reading.loudness)
    level = Finding("good" if well else "warn", sentence)
    if reading.heard:
        told = f'I heard "{spoken(reading.heard)}", with a score of {reading.score:.2f} out of 1.'
        return level, Finding("good", told)
    told = f'I didn\'t hear "{spoken(word)}": the best score was {reading.score:.2f} out of 1.'
    return level, Finding("warn", told)


def with_voices(present: Settings, answers: Answers, known: Mapping[str, ModelEntry]) -> Answers:
    """Add a voice to the answers for each language that has none."""
    settings = draft(present, answers)
    if settings.voice.engine == "espeak":
        return answers
    found = lacking(settings, settings.assistant.languages, known.values())
    return replace(answers, voices={**(answers.voices or {}), **found}) if found else answers


async def try_gemini(means: SetupServices, settings: Settings) -> AsyncIterator[Finding]:
    """Try the key with Google, then Gemini Live, and yield what was found. The tone is "bad" only
    if Google rejects the key, not if Google is unreachable. Call it only with the user's
    consent."""
    vertex = bool(settings.gemini.vertex_project)
    doubt = "" if vertex else doubtful(settings.gemini.api_key.get_secret_value())
    if doubt:
        yield Finding("warn", doubt)
    try:
        await means.try_key(settings)
    except SignInAgain as error:
        yield Finding("bad", str(error))
        return
    except IntegrationError as error:
        yield Finding("warn", f"Could not test the key: {error}")
        return
    what = "your Vertex AI credentials" if vertex else "the key"
    yield Finding("good", f"Google accepts {what} for {' or '.join(settings.gemini.model)}.")
    problems = await means.try_live(settings)
    for problem in problems:
        yield Finding("warn", problem)
    if not problems:
        told = "Gemini Live works. For a test with speech, run hearth doctor --cloud."
        yield Finding("good", told)
