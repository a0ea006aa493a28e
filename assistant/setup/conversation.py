"""The questions of `hearth setup` in order: at most eight, each of which Enter can answer.

    1 Home Assistant   2 its token   3 the room   4 languages   5 sound   6 Gemini   7 its key
    8 the page for the home network

Questions answered by flags are not asked. If a line cannot be used, the person is told why and
asked again; it still counts as one question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.models.shelf import ModelEntry
from assistant.setup.answers import (
    EVERYWHERE,
    LOOPBACK,
    Answers,
    Person,
    SetupQuestions,
    Unclear,
    one_of_these,
    read_address,
    read_languages,
    read_room,
    sound_wish,
    yes_or_no,
)
from assistant.setup.cloud import ask_about_gemini
from assistant.setup.document import draft
from assistant.setup.services import HouseFacts, SetupServices
from assistant.setup.sound_check import lacking, spoken, verdict
from assistant.sound.echo_plan import is_device
from audio.devices.portaudio import DeviceInfo
from audio.errors import AudioError
from integrations.errors import IntegrationError, SignInAgain
from integrations.home_assistant.discovery import FoundHome

_LOCAL = (LOOPBACK, "::1", "localhost")


class SetupDialog:
    """One run through the questions."""

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
        """`present` are the settings before; `again`: they come from a file that a person made.

        `known` is the manifest of voices; `sound`: try the sound.
        """
        self.questions = SetupQuestions(person)
        self._person = person
        self._means = means
        self._present = present
        self._answers = given
        self._known = known
        self._again = again
        self._sound = sound
        self._homes: Sequence[FoundHome] | None = None  # None until they have been looked for

    async def hold(self) -> Answers:
        """Return all answers. Raises Gone, and ConfigError for an impossible answer."""
        facts = await self._house()
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

    # --- the house

    async def _house(self) -> HouseFacts:
        """Ask for address and token until both work."""
        given = self._answers
        url, token = given.url, given.token
        while True:
            if url is None:
                url = await self._address()
            if token is None:
                token = await self._token(url)
            try:
                facts = await self._means.visit(url, token)
                break
            except SignInAgain as error:
                self._say_or_raise(error, given.token)
                token = None
            except IntegrationError as error:
                self._say_or_raise(error, given.url)
                url = None
        self._person.tell(f"Home Assistant {facts.version} answers ({facts.name}).", "green")
        kept = url == self._present.home_assistant.url and token == self._kept_token
        if not (kept and self._again):
            self._answers = replace(self._answers, url=url, token=token)
        return facts

    def _say_or_raise(self, error: IntegrationError, given: str | None) -> None:
        """Raise the error if a flag gave the value, which cannot be asked again; else show it."""
        if given is not None:
            raise error
        self._person.tell(str(error), "red")

    async def _address(self) -> str:
        if self._homes is None:
            self.questions.begin("Home Assistant")
            self._person.tell("   Looking for it in this network ...", "dim")
            self._homes = await self._means.find_homes()
        homes = self._homes
        present = self._present.home_assistant.url
        urls = [home.url for home in homes]
        for number, home in enumerate(homes, 1):
            version = f"  {home.version}" if home.version else ""
            self._person.tell(f"   {number}  {home.name}  {home.url}{version}")
        if not homes:
            self._person.tell("   None was found by itself; its address does as well.", "dim")
        default = present if self._again or not urls else "1"

        def read(line: str) -> str:
            place = one_of_these(line, urls)
            return urls[place] if place is not None else read_address(line)

        return await self.questions.ask(
            "A number, or the address" if homes else "Its address", read, default
        )

    async def _token(self, url: str) -> str:
        title = "A token of Home Assistant"
        if title not in self.questions.asked:
            self.questions.begin(title)
            self._person.tell(
                "   Make one on your profile page there: Security > Long-lived access tokens."
            )
        kept = self._kept_token if url == self._present.home_assistant.url else ""

        def read(line: str) -> str:
            if line or kept:
                return line or kept
            raise Unclear("Paste the token; Home Assistant lets nobody in without.")

        hint = "Access token (not shown; Enter keeps the present one)"
        return await self.questions.ask(
            hint if kept else "Access token (not shown)", read, hidden=True
        )

    @property
    def _kept_token(self) -> str:
        return self._present.home_assistant.token.get_secret_value()

    async def _room(self, facts: HouseFacts) -> None:
        if self._answers.area is not None:
            return
        self.questions.begin("The room this box stands in")
        present = self._present.assistant.area
        if facts.rooms:
            rooms = (f"{number} {name}" for number, name in enumerate(facts.rooms, 1))
            self._person.tell("   " + "   ".join(rooms))
            room = await self.questions.ask(
                "A number or a name, - for none",
                lambda line: present if line == present else read_room(line, facts.rooms),
                present or "-",
            )
        else:
            self._person.tell("   Home Assistant told no rooms.", "dim")
            room = await self.questions.ask("Its name there, Enter for none", str, present)
        if room != present:
            self._answers = replace(self._answers, area=room)

    # --- languages and their voices

    async def _languages(self, facts: HouseFacts) -> None:
        if self._answers.languages is None:
            self.questions.begin("The languages you speak to it")
            present = self._present.assistant.languages
            default = present if self._again else _first(facts.language) or present
            told = await self.questions.ask(
                "Codes, the first one counts most", read_languages, ", ".join(default)
            )
            if told != present or not self._again:
                self._answers = replace(self._answers, languages=told)
        settings = draft(self._present, self._answers)
        if settings.voice.engine != "espeak":
            voices = lacking(settings, settings.assistant.languages, self._known.values())
            if voices:
                self._answers = replace(self._answers, voices=voices)
            problem = await self._means.fetch_voices(draft(self._present, self._answers))
            if problem:
                self._person.tell(f"{problem} Until then espeak-ng speaks.", "yellow")

    # --- the page

    async def _console(self) -> None:
        if self._answers.console_host is not None:
            return
        self.questions.begin("The page for your home network")
        self._person.tell(
            "   Hearth has a page: what it is doing, its last answers, costs, settings. Now only "
            "this box\n   sees it. Nobody gets in without signing in, but within the network it is "
            "not encrypted."
        )
        present = self._present.http.host
        was = present not in _LOCAL
        wanted = await self.questions.ask(
            "Open it to the home network?", lambda line: yes_or_no(line, was), _word(was)
        )
        if wanted != was:
            self._answers = replace(self._answers, console_host=EVERYWHERE if wanted else LOOPBACK)


def _first(language: str) -> tuple[str, ...]:
    """Return Home Assistant's language, if Hearth can use it."""
    try:
        return read_languages(language)
    except Unclear:
        return ()


def _word(yes: bool) -> str:
    return "yes" if yes else "no"


_MOST = 9  # devices listed of each kind; others can be named in the settings


async def try_sound(
    questions: SetupQuestions, means: SetupServices, present: Settings, answers: Answers
) -> Answers:
    """Return the answers with microphone and speaker. Asks nothing unless both are devices."""
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
    """Speak, then listen, and show any failure."""
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
