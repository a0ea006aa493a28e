"""Question 5: Hearth speaks, the person says the wake word, and both are seen and heard."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.setup import typed
from assistant.setup.answers import Answers, SetupQuestions, SetupServices
from assistant.setup.draft import draft
from assistant.setup.sound_check import spoken, verdict
from assistant.sound.echo_plan import is_device
from audio.devices import DeviceInfo
from audio.errors import AudioError

_MOST = 9  # devices of a kind that are listed; a name in the settings does for the others


async def try_sound(
    questions: SetupQuestions, means: SetupServices, present: Settings, answers: Answers
) -> Answers:
    """The answers with microphone and speaker. Without both devices nothing is asked."""
    audio, person = present.audio, questions.person
    if not (is_device(audio.input) and is_device(audio.output)):
        return answers
    try:
        devices = await means.devices()
    except AudioError as error:
        person.tell(str(error), "yellow")
        return answers
    microphones = [one for one in devices if one.kind == "input"][:_MOST]
    speakers = [one for one in devices if one.kind == "output"][:_MOST]
    if not (microphones and speakers):
        lacks = "speaker" if microphones else "microphone"
        person.tell(
            f"This machine has no {lacks} now; plug it in and run hearth setup again to try the "
            "sound.",
            "yellow",
        )
        return answers
    questions.begin("Sound")
    tried = answers
    while True:
        settings = draft(present, tried)
        _list("m", microphones, settings.audio.input, questions)
        _list("s", speakers, settings.audio.output, questions)
        await _try(questions, means, settings)
        wish = await questions.ask(
            "Did you hear me? Enter: yes, these two. m2 or s2: another. r: again. n: later",
            lambda line: typed.sound_wish(line, len(microphones), len(speakers)),
        )
        if wish.later:
            return answers
        if wish.settled:
            return tried
        if wish.microphone is not None:
            tried = replace(tried, input=microphones[wish.microphone].name)
        if wish.speaker is not None:
            tried = replace(tried, output=speakers[wish.speaker].name)


def _list(sign: str, devices: Sequence[DeviceInfo], name: str, questions: SetupQuestions) -> None:
    said = [device.description or device.name for device in devices]
    for number, device in enumerate(devices, 1):
        used = name in (device.name, device.description) or (name == "default" and device.default)
        told = said[number - 1]
        if said.count(told) > 1:
            told = f"{told}  ({device.name})"
        muted = "  (muted)" if device.muted else ""
        questions.person.tell(f"   {sign}{number} {'*' if used else ' '} {told}{muted}")


async def _try(questions: SetupQuestions, means: SetupServices, settings: Settings) -> None:
    """Speak, then listen; whatever fails is told."""
    person = questions.person
    word = spoken(settings.wake.words[0].model)
    try:
        await means.greet(settings)
    except (AudioError, ConfigError) as error:
        person.tell(str(error), "red")
    person.tell(f'Now say "{word}".', "bold")
    try:
        with person.watch() as show:
            reading = await means.listen(settings, show)
    except (AudioError, ConfigError) as error:
        person.tell(str(error), "red")
        return
    well, sentence = verdict(reading.loudness)
    person.tell(sentence, "green" if well else "yellow")
    if reading.heard:
        person.tell(f'"{spoken(reading.heard)}" was heard, {reading.score:.2f} of 1.', "green")
    else:
        person.tell(
            f'"{word}" was not heard, {reading.score:.2f} of 1 at the most: r tries again.',
            "yellow",
        )
