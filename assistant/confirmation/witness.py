"""Ways to hear a person's answer: their words, recognised on this machine, or their phone."""

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

# The verdict on a question, from the person's own words alone.


_ASSENT = frozenset({AnswerKind.YES, AnswerKind.ALWAYS})


def weigh(
    transcript: str | None,
    recognised: str | None,
    secure: bool,
    forms: Forms,
    things: Sequence[str],
    asked: str = "",
) -> tuple[Verdict, bool]:
    """Return the verdict on an answer, and True if it was "yes, always" (never if `secure`).

    `transcript` comes from the brain's service, or is the typed text; `recognised` comes from the
    device's own recogniser without a grammar. Each is None if that source does not exist or was
    late. Words of a model belong in neither. `things` and `asked` are as in `Forms.read`.

    If `secure`, every available source must hear a yes; otherwise the transcript decides if it has
    any words. A no in either is a no. Nothing heard at all is "unclear"; detecting silence is up to
    the caller.
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
RECOGNISE_S = 6.0  # a yes is short; a slower machine cannot recognise answers itself


class LocalEar(Protocol):
    """The device's own recogniser (`assistant.brains.offline.listen.Listener`)."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that it recognises."""
        ...

    async def transcribe(self, pcm: bytes) -> str:
        """Return the words in 16 kHz mono int16 sound. Raises AudioError."""
        ...

    async def spell(self, pcm: bytes) -> str:
        """Recognise digits only, as words. Raises AudioError."""
        ...


@dataclass(frozen=True, slots=True)
class Hears:
    """Codes of the languages with a recogniser, and of those recognised on this device itself."""

    words: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


class Witness:
    """Settles questions by the words of the answer. It knows no caller and asks no model."""

    def __init__(
        self,
        languages: Sequence[str],
        pin: PinGuard | None,
        ear: Callable[[], Awaitable[LocalEar | None]],
        hears: Hears,
        wake_words: Sequence[str] = (),
    ) -> None:
        """`ear` makes the recogniser when it is first needed, and `hears` lists its languages.

        `languages` are the configured ones. An answer may begin with one of `wake_words`.
        """
        self._languages = tuple(languages)
        self._forms = Forms(languages)
        self._pin = pin
        self._ear = ear
        self._hears = hears
        self._wake_words = tuple(word.casefold() for word in wake_words)

    def hears(self, language: str) -> bool:
        """Return True if the owner has a recogniser for the language, on this device or another."""
        return _is_among(language, self._hears.words)

    def hears_secrets(self, language: str) -> bool:
        """Return True if this device recognises the language itself. The sound of a PIN goes
        nowhere else."""
        return _is_among(language, self._hears.secrets)

    async def recognise(self, pcm: bytes, language: str) -> str | None:
        """Return the recognised words, or None if there is no recogniser or it was too slow."""
        ear = await self._ear() if self.hears(language) else None
        if ear is None:
            return None
        try:
            async with asyncio.timeout(RECOGNISE_S):
                return await ear.transcribe(pcm)
        except (AudioError, TimeoutError) as error:
            why = str(error) or "too slow"
            _log.warning("an answer could not be heard on this machine: %s", why)
            return None

    def weigh(
        self, question: Question, transcript: str | None, recognised: str | None, by: str
    ) -> Settlement:
        """Return the verdict on an answer. None marks a source that does not exist or was late."""
        told = None if transcript is None else self._bare(transcript)
        own = None if recognised is None else self._bare(recognised)
        secure = question.tier is Tier.SECURE
        verdict, always = weigh(
            told, own, secure, self._forms, question.object.split(", "), question.text
        )
        return Settlement(verdict, by if verdict == "yes" else "", always)

    async def enter(self, digits: str, by: str) -> Settlement:
        """Check a PIN and return the verdict."""
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
            _log.warning("a PIN could not be heard on this machine: %s", str(error) or "too slow")
            return ""

    def typed_digits(self, text: str) -> str:
        """Return the digits of a typed PIN."""
        return read_digits(text, self._languages)

    def _bare(self, text: str) -> str:
        """Remove a wake word from the start."""
        for word in self._wake_words:
            head, found, rest = text.casefold().partition(word)
            if found and not any(sign.isalnum() for sign in head):
                return rest.lstrip(" ,.!?")
        return text


def _is_among(language: str, codes: Sequence[str]) -> bool:
    return language.partition("-")[0] in {code.partition("-")[0] for code in codes}


# Silence in the room during a question, so that a film can't say yes.

HUSH_S = 1.5  # time for all players to stop
RESUME_S = 2.0  # time for Home Assistant to answer
WATCH_S = 180.0  # longer than Hearth waits for any answer
# Playback that was requested just before the question may start only now, while it is being spoken.
GRACE_S = 2.0
_DOMAIN = "media_player"
_PLAYING = ("playing", "buffering")
# Bits of `supported_features` (2026.11, `components/media_player/const.py`).
_PAUSE, _PLAY = 1, 16384


class Hush:
    """Players that were paused for one question."""

    def __init__(
        self,
        home: "HomeAssistant",
        services: "Services",
        paused: Sequence[str],
        *,
        area_id: str,
        quiet: bool,
    ) -> None:
        """`paused` are the ids of the players that Hearth asked to pause.

        If `quiet`, they did pause, and the room is watched until `resume`.
        """
        self._home = home
        self._services = services
        self._paused = tuple(paused)
        self._area_id = area_id
        self._watching = asyncio.create_task(self._sounds(), name="quiet room") if quiet else None

    @property
    def quiet(self) -> bool:
        """True if the house shows no nearby player that is playing or has played since."""
        watching = self._watching
        if watching is None or not self._home.connected:
            return False
        has_sounded = watching.done() and not watching.cancelled() and watching.result()
        return not (has_sounded or playing(self._home.house, self._area_id))

    async def resume(self) -> None:
        """Resume the players that Hearth paused and that are still paused. Works once;
        never raises."""
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
        """Return once something nearby plays, because a film that starts during the question could
        say yes."""
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
    """Pauses the media players around this device."""

    home: "HomeAssistant"
    services: "Services"

    async def hush(self, area_id: str) -> Hush:
        """Pause everything that plays in this area, within HUSH_S. Never raises.

        Without an area every player counts as near. A player that cannot pause keeps playing. While
        the connection to Home Assistant is down nothing is paused, and the room does not count as
        quiet.
        """
        if not self.home.connected:
            return Hush(self.home, self.services, (), area_id=area_id, quiet=False)
        paused, quiet = await _pause(self.home, self.services, area_id)
        return Hush(self.home, self.services, paused, area_id=area_id, quiet=quiet)


async def _pause(
    home: "HomeAssistant", services: "Services", area_id: str
) -> tuple[Sequence[str], bool]:
    """Return the ids that were asked to pause, and True if everything that played is silent now."""
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
    """Return the players that are playing in this area, or in the whole house for "",
    exposed or not."""
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


# A yes or no from the owner's phone, for actions that the settings confirm by `phone`.


ANSWER_S = 60.0  # time to find the phone, unlock it and read


class OwnersPhone:
    """The phone that `policy.phone` names. No other phone is ever asked instead."""

    def __init__(
        self,
        phones: "Phones",
        service: str,
        title: str,
        catalogue: Catalogue,
        timeout_s: float = ANSWER_S,
    ) -> None:
        """`service` is a notify action without its domain; `title` is the title of the
        notification."""
        self._phones = phones
        self._service = service
        self._title = title
        self._catalogue = catalogue
        self._timeout_s = timeout_s
        self._name = service.removeprefix("mobile_app_").replace("_", " ")

    @property
    def name(self) -> str:
        """Name that people call it by, or one made from the service until the phone is known."""
        return self._name

    async def ask(self, question: Question) -> Literal["yes", "no"] | None:
        """Return the button that was pressed, or None if there was no answer in time.

        Raises IntegrationError.
        """
        known = await self._phones.all()
        phone = next((one for one in known if one.service == self._service), None)
        if phone is None:
            there = ", ".join(one.service for one in known) or "none"
            raise Misconfigured(
                f'policy.phone = "{self._service}" is no phone of this home; there is: {there}.'
            )
        self._name = phone.name
        buttons = tuple(
            self._catalogue.say(key, question.language) for key in ("phone.yes", "phone.no")
        )
        return await self._phones.ask(
            phone, self._title, question.text, self._timeout_s, (buttons[0], buttons[1])
        )
