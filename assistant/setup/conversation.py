"""The questions of `hearth setup` in order. There are at most eight, all with a default. Questions
that an option answers are not asked.

    1 Home Assistant   2 access token   3 room   4 languages   5 sound   6 Gemini   7 Gemini key
    8 console
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.models.shelf import ModelEntry
from assistant.setup.answers import (
    EVERYWHERE,
    LOOPBACK,
    STYLES,
    Answers,
    Person,
    SetupQuestions,
    Unclear,
    read_languages,
    read_room,
    sound_wish,
    yes_or_no,
)
from assistant.setup.cloud import ask_about_gemini
from assistant.setup.document import draft
from assistant.setup.house import HouseQuestions
from assistant.setup.services import HouseFacts, SetupServices
from assistant.setup.sound_check import spoken
from assistant.setup.steps import DeviceChoice, device_choices, findings_of, with_voices
from assistant.sound.echo_plan import is_device
from audio.errors import AudioError

_LOCAL = (LOOPBACK, "::1", "localhost")


class SetupDialog:
    def __init__(
        self,
        person: Person,
        means: SetupServices,
        present: Settings,
        given: Answers,
        known: Mapping[str, ModelEntry],
        *,
        again: bool,
        sound: bool = True,
    ) -> None:
        """`present` contains the current settings; `again` is True if they come from a file.
        `known` is the manifest of voices. With `sound` False, the sound check is skipped."""
        self.questions = SetupQuestions(person)
        self._person = person
        self._means = means
        self._present = present
        self._answers = given
        self._known = known
        self._again = again
        self._sound = sound

    async def hold(self) -> Answers:
        """Ask the questions and return all answers. Raises Gone, ConfigError and
        IntegrationError."""
        house = HouseQuestions(
            self.questions, self._means, self._present, self._answers, again=self._again
        )
        self._answers, facts = await house.ask()
        await self._room(facts)
        await self._languages(facts)
        if self._sound and self._answers.input is None and self._answers.output is None:
            self._answers = await try_sound(
                self.questions, self._means, self._present, self._answers
            )
        self._answers = await ask_about_gemini(
            self.questions, self._means, self._present, self._answers
        )
        await self._console()
        return self._answers

    async def _room(self, facts: HouseFacts) -> None:
        if self._answers.area is not None:
            return
        self.questions.begin("Room")
        self._person.tell("   Which room is this box in?")
        present = self._present.assistant.area
        if facts.rooms:
            rooms = (f"{number} {name}" for number, name in enumerate(facts.rooms, 1))
            self._person.tell("   " + "   ".join(rooms))
            room = await self.questions.ask(
                "Number or name; - for none",
                lambda line: present if line == present else read_room(line, facts.rooms),
                present or "-",
            )
        else:
            why = f"The rooms in Home Assistant couldn't be read: {facts.unread}"
            told = why if facts.unread else "Home Assistant has listed no rooms."
            self._person.tell(f"   {told}", "yellow" if facts.unread else "dim")
            room = await self.questions.ask(
                "The room's name in Home Assistant; - for none",
                lambda line: "" if line == "-" else line,
                present or "-",
            )
        if room != present:
            self._answers = replace(self._answers, area=room)

    async def _languages(self, facts: HouseFacts) -> None:
        if self._answers.languages is None:
            self.questions.begin("Languages")
            self._person.tell(
                "   Which languages do you speak to Hearth? The first is the default."
            )
            present = self._present.assistant.languages
            default = present if self._again else _first(facts.language) or present
            told = await self.questions.ask(
                "Codes, separated by commas", read_languages, ", ".join(default)
            )
            if told != present or not self._again:
                self._answers = replace(self._answers, languages=told)
        if draft(self._present, self._answers).voice.engine != "espeak":
            self._answers = with_voices(self._present, self._answers, self._known)
            problem = await self._means.fetch_voices(draft(self._present, self._answers))
            if problem:
                self._person.tell(f"{problem} Until then, Hearth speaks with espeak-ng.", "yellow")

    async def _console(self) -> None:
        if self._answers.console_host is not None:
            return
        self.questions.begin("Console")
        self._person.tell(
            "   The console shows what Hearth is doing, its last answers, costs and settings.\n"
            "   Only this box can open it now. On your network, everyone has to sign in, but the\n"
            "   connection isn't encrypted."
        )
        present = self._present.http.host
        was = present not in _LOCAL
        wanted = await self.questions.ask(
            "Open it to your home network?", lambda line: yes_or_no(line, was), _word(was)
        )
        if wanted != was:
            self._answers = replace(self._answers, console_host=EVERYWHERE if wanted else LOOPBACK)


def _first(language: str) -> tuple[str, ...]:
    try:
        return read_languages(language)
    except Unclear:
        return ()


def _word(yes: bool) -> str:
    return "yes" if yes else "no"


async def try_sound(
    questions: SetupQuestions, means: SetupServices, present: Settings, answers: Answers
) -> Answers:
    """Let the user test and choose the microphone and speaker, and add them to the answers. No
    question is asked if a device is set to a file or `null`, or is missing."""
    audio, person = present.audio, questions.person
    if not (is_device(audio.input) and is_device(audio.output)):
        return answers
    try:
        devices = await means.devices()
    except AudioError as error:
        person.tell(str(error), "yellow")
        return answers
    microphones = device_choices(devices, "input", audio.input)
    speakers = device_choices(devices, "output", audio.output)
    if not (microphones and speakers):
        lacks = "speaker" if microphones else "microphone"
        person.tell(
            f"This machine has no {lacks}. Plug one in and run hearth setup again to try the "
            "sound.",
            "yellow",
        )
        return answers
    questions.begin("Sound")
    tried = answers
    while True:
        settings = draft(present, tried)
        _list("m", device_choices(devices, "input", settings.audio.input), questions)
        _list("s", device_choices(devices, "output", settings.audio.output), questions)
        await _try(questions, means, settings)
        wish = await questions.ask(
            "Did you hear me? Enter keeps these two; m2 or s2 tries another; r tries again; or "
            "skip",
            lambda line: sound_wish(line, len(microphones), len(speakers)),
        )
        if wish.later:
            return answers
        if wish.settled:
            return tried
        if wish.microphone is not None:
            tried = replace(tried, input=microphones[wish.microphone].name)
        if wish.speaker is not None:
            tried = replace(tried, output=speakers[wish.speaker].name)


def _list(sign: str, devices: Sequence[DeviceChoice], questions: SetupQuestions) -> None:
    for number, device in enumerate(devices, 1):
        muted = "  (muted)" if device.muted else ""
        used = "*" if device.used else " "
        questions.person.tell(f"   {sign}{number} {used} {device.label}{muted}")


async def _try(questions: SetupQuestions, means: SetupServices, settings: Settings) -> None:
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
    for found in findings_of(reading, settings.wake.words[0].model):
        person.tell(found.text, STYLES[found.tone])
