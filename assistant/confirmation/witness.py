"""Judgement of spoken and typed answers, PINs and taps on a phone, and pausing of media during the
question."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from assistant.confirmation.forms import AnswerKind, Forms
from assistant.confirmation.pin import PinGuard, read_digits
from assistant.domain.tool_call import Question, Settlement, Tier, Verdict
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.targets import domain_of, has_features
from audio.errors import AudioError
from integrations.errors import IntegrationError, Misconfigured
from integrations.home_assistant.house import Entity, House

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant
    from integrations.home_assistant.phones import Phones
    from integrations.home_assistant.services import Services

# The verdict on an answer, from the person's own words only.


_ASSENT = frozenset({AnswerKind.YES, AnswerKind.ALWAYS})


def weigh(
    transcript: str | None,
    recognised: str | None,
    secure: bool,
    forms: Forms,
    things: Sequence[str],
    asked: str = "",
) -> tuple[Verdict, bool]:
    """Return the verdict on an answer, and True for "yes, always" (never if `secure`).

    `transcript` is a service's transcript or the typed text, and `recognised` is what the
    configured recogniser heard; either can be None. Neither may contain a model's words. If
    `secure`, a yes requires a yes from every available source. A no from either source is a no.
    """
    heard = [text for text in (transcript, recognised) if text is not None]
    replies = [forms.read(text, things, asked) for text in heard]
    if AnswerKind.NO in replies:
        return "no", False
    if not replies:
        return "unclear", False
    spoken = [at for at, reply in enumerate(replies) if reply is not AnswerKind.NOTHING]
    leading = spoken[0] if spoken else 0
    if secure:
        if _ASSENT.issuperset(replies):
            return "yes", False
        if not _ASSENT.isdisjoint(replies):
            return "unclear", False
    elif replies[leading] in _ASSENT:
        return "yes", replies[leading] is AnswerKind.ALWAYS
    if replies[leading] is AnswerKind.OTHER and forms.is_command_like(
        heard[leading], things, asked
    ):
        return "new_command", False
    return "unclear", False


_log = logging.getLogger(__name__)
RECOGNISE_S = 6.0  # seconds; devices that need longer for a "yes" can't recognise answers


class LocalEar(Protocol):
    """The configured recogniser (implemented by `assistant.brains.offline.listen.Listener`)."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the recogniser supports."""
        ...

    async def transcribe(self, pcm: bytes) -> str:
        """Return the text recognised in 16 kHz mono int16 audio. Raises AudioError."""
        ...

    async def spell(self, pcm: bytes) -> str:
        """Return the number words recognised in 16 kHz mono int16 audio. Raises AudioError."""
        ...


@dataclass(frozen=True, slots=True)
class Hears:
    """The languages in which answers are recognised (`words`), and those in which a PIN is
    recognised, always on this device (`secrets`)."""

    words: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


class Witness:
    """Judges answers to confirmations by the person's own words, without a model."""

    def __init__(
        self,
        languages: Sequence[str],
        pin: PinGuard | None,
        ear: Callable[[], Awaitable[LocalEar | None]],
        hears: Hears,
        wake_words: Sequence[str] = (),
    ) -> None:
        """`ear` creates the recogniser when it is first needed, and `hears` lists its languages.

        `languages` are the configured languages. An answer can start with one of `wake_words`.
        """
        self._languages = tuple(languages)
        self._forms = Forms(languages)
        self._pin = pin
        self._ear = ear
        self._hears = hears
        self._wake_words = tuple(word.casefold() for word in wake_words)

    def hears(self, language: str) -> bool:
        """Return True if a recogniser, on this device or another, supports the language."""
        return _is_among(language, self._hears.words)

    def hears_secrets(self, language: str) -> bool:
        """Return True if the language is recognised on this device. The audio of a PIN is never
        sent anywhere else."""
        return _is_among(language, self._hears.secrets)

    async def recognise(self, pcm: bytes, language: str) -> str | None:
        """Return the recognised text, or None if no recogniser supports the language or recognition
        fails."""
        ear = await self._ear() if self.hears(language) else None
        if ear is None:
            return None
        try:
            async with asyncio.timeout(RECOGNISE_S):
                return await ear.transcribe(pcm)
        except (AudioError, TimeoutError) as error:
            why = str(error) or "too slow"
            _log.warning("an answer could not be recognised on this machine: %s", why)
            return None

    def weigh(
        self, question: Question, transcript: str | None, recognised: str | None, by: str
    ) -> Settlement:
        """Return the verdict on an answer. See the function `weigh` for the arguments."""
        told = None if transcript is None else self._bare(transcript)
        own = None if recognised is None else self._bare(recognised)
        secure = question.tier is Tier.SECURE
        verdict, always = weigh(
            told, own, secure, self._forms, question.object.split(", "), question.text
        )
        return Settlement(verdict, by if verdict == "yes" else "", always)

    async def enter(self, digits: str, by: str) -> Settlement:
        """Check a PIN. The verdict is "unclear" if `digits` is empty or no PIN is configured."""
        if self._pin is None or not digits:
            return Settlement("unclear")
        match await self._pin.check(digits):
            case "right":
                return Settlement("yes", f"pin {by}")
            case "wrong":
                return Settlement("no", why="asking.wrong_pin")
            case _:
                return Settlement("no", why="asking.locked_pin")

    async def spelled(self, pcm: bytes) -> str:
        """Return the spoken digits, or "" if none were recognised."""
        ear = await self._ear()
        if ear is None:
            return ""
        try:
            async with asyncio.timeout(RECOGNISE_S):
                return read_digits(await ear.spell(pcm), self._languages)
        except (AudioError, TimeoutError) as error:
            _log.warning(
                "a PIN could not be recognised on this machine: %s", str(error) or "too slow"
            )
            return ""

    def typed_digits(self, text: str) -> str:
        return read_digits(text, self._languages)

    def _bare(self, text: str) -> str:
        for word in self._wake_words:
            head, found, rest = text.casefold().partition(word)
            if found and not any(sign.isalnum() for sign in head):
                return rest.lstrip(" ,.!?")
        return text


def _is_among(language: str, codes: Sequence[str]) -> bool:
    return language.partition("-")[0] in {code.partition("-")[0] for code in codes}


# Media players are paused during a question, so that a film can't say yes.

HUSH_S = 1.5  # seconds for all players to stop
RESUME_S = 2.0  # seconds for Home Assistant to respond
WATCH_S = 180.0  # seconds; longer than Hearth waits for any answer
# Playback that was requested just before the question may start this many seconds later.
GRACE_S = 2.0
_DOMAIN = "media_player"
_PLAYING = ("playing", "buffering")
# Bits of `supported_features` (2026.11, `components/media_player/const.py`).
_PAUSE, _PLAY = 1, 16384


class Hush:
    """The media players that were paused for a question."""

    def __init__(
        self,
        home: "HomeAssistant",
        services: "Services",
        paused: Sequence[str],
        *,
        area_id: str,
        quiet: bool,
    ) -> None:
        """`paused` contains the entity ids of the players that Hearth paused. If `quiet`, the area
        is watched until `resume` is called."""
        self._home = home
        self._services = services
        self._paused = tuple(paused)
        self._area_id = area_id
        self._watching = asyncio.create_task(self._sounds(), name="quiet room") if quiet else None

    @property
    def quiet(self) -> bool:
        """True if nothing has played nearby, apart from what Hearth paused. False if Home Assistant
        is unreachable."""
        watching = self._watching
        if watching is None or not self._home.connected:
            return False
        has_sounded = watching.done() and not watching.cancelled() and watching.result()
        return not (has_sounded or playing(self._home.house, self._area_id))

    async def resume(self) -> None:
        """Resume the players that Hearth paused and that are still paused. Never raises."""
        if self._watching is not None:
            self._watching.cancel()
        paused, self._paused = self._paused, ()
        entities = self._home.house.entities
        still = [
            name
            for name in paused
            if name in entities
            and entities[name].state == "paused"
            and has_features(entities[name], _PLAY)
        ]
        if not still:
            return
        try:
            async with asyncio.timeout(RESUME_S):
                await self._services.call(_DOMAIN, "media_play", entities=still)
        except (IntegrationError, TimeoutError) as error:
            _log.warning(
                "What was paused could not be resumed: %s", str(error) or "no answer in time"
            )

    async def _sounds(self) -> bool:
        """Return True once a nearby player starts to play, because a film could say yes, or False
        if none does so within WATCH_S.

        Playback that starts within GRACE_S is paused, and counts only if it continues.
        """
        if await self._plays_within(GRACE_S):
            paused, _ = await _pause(self._home, self._services, self._area_id)
            self._paused = tuple(dict.fromkeys((*self._paused, *paused)))
        return await self._plays_within(WATCH_S)

    async def _plays_within(self, seconds: float) -> bool:
        players = [one for one in self._home.house.entities if domain_of(one) == _DOMAIN]
        return await self._home.wait_for(
            players, lambda house: bool(playing(house, self._area_id)), seconds
        )


@dataclass(frozen=True, slots=True)
class Quiet:
    """Pauses the media players around this device while a question is open."""

    home: "HomeAssistant"
    services: "Services"

    async def hush(self, area_id: str) -> Hush:
        """Pause the media players in the area, or in the whole house if `area_id` is "". Never
        raises.

        Players that can't pause keep playing. While Home Assistant is unreachable, nothing is
        paused and the area does not count as quiet.
        """
        if not self.home.connected:
            return Hush(self.home, self.services, (), area_id=area_id, quiet=False)
        paused, quiet = await _pause(self.home, self.services, area_id)
        return Hush(self.home, self.services, paused, area_id=area_id, quiet=quiet)


async def _pause(
    home: "HomeAssistant", services: "Services", area_id: str
) -> tuple[Sequence[str], bool]:
    """Pause the media players in the area. Returns the entity ids of the players that were asked to
    pause, and True if every player that was playing has stopped."""
    near = playing(home.house, area_id)
    names = [one.entity_id for one in near]
    able = [one.entity_id for one in near if has_features(one, _PAUSE)]
    try:
        async with asyncio.timeout(HUSH_S):
            if able:
                await services.call(_DOMAIN, "media_pause", entities=able)
                await home.wait_for(able, lambda house: _silent(house, able), HUSH_S)
    except (IntegrationError, TimeoutError) as error:
        _log.info(
            "What is playing nearby could not be paused: %s", str(error) or "no answer in time"
        )
    return able, _silent(home.house, names) and home.connected


def playing(house: House, area_id: str) -> list[Entity]:
    """Return the media players that are playing in the area, exposed or not, or in the whole house
    if `area_id` is ""."""
    return [
        entity
        for entity in house.entities.values()
        if entity.domain == _DOMAIN
        and entity.state in _PLAYING
        and (not area_id or entity.area_id == area_id)
    ]


def _silent(house: House, names: Sequence[str]) -> bool:
    found = (house.entities.get(name) for name in names)
    return not any(entity is not None and entity.state in _PLAYING for entity in found)


# Answers from the owner's phone, for actions whose confirmation is set to `phone`.


ANSWER_S = 60.0  # seconds to find the phone, unlock it and read the question


class OwnersPhone:
    """The phone from the setting `policy.phone`. Hearth never asks any other phone instead."""

    def __init__(
        self,
        phones: "Phones",
        service: str,
        title: str,
        catalogue: Catalogue,
        timeout_s: float = ANSWER_S,
    ) -> None:
        """`service` is the phone's notify action without its domain, and `title` is the
        notification's title."""
        self._phones = phones
        self._service = service
        self._title = title
        self._catalogue = catalogue
        self._timeout_s = timeout_s
        self._name = service.removeprefix("mobile_app_").replace("_", " ")

    @property
    def name(self) -> str:
        """The phone's name in Home Assistant or, until that is known, a name derived from
        `service`."""
        return self._name

    async def ask(self, question: Question) -> Literal["yes", "no"] | None:
        """Return the button that the person pressed, or None if they didn't press one in time.
        Raises IntegrationError."""
        known = await self._phones.all()
        phone = next((one for one in known if one.service == self._service), None)
        if phone is None:
            there = ", ".join(one.service for one in known) or "none"
            raise Misconfigured(
                f'policy.phone = "{self._service}" is not a phone in this home; its phones are: '
                f"{there}."
            )
        self._name = phone.name
        buttons = tuple(
            self._catalogue.say(key, question.language) for key in ("phone.yes", "phone.no")
        )
        return await self._phones.ask(
            phone, self._title, question.text, self._timeout_s, (buttons[0], buttons[1])
        )
