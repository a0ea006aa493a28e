"""Work that outlasts its turn, wired together: jobs, thinking, and the tools that ask for them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from assistant.announcements.tool import Announcer
from assistant.app.brains import BrainSet, may_use_cloud
from assistant.app.home import DEMO, HomeContext
from assistant.app.lock import is_held
from assistant.app.timekeeping import Timekeeping
from assistant.brains.gemini_once import ThinkResult
from assistant.config.quiet_hours import loudest
from assistant.config.schema import Settings
from assistant.config.sections import QuietHours
from assistant.confirmation.phone import OwnersPhone
from assistant.confirmation.pin import PinGuard
from assistant.confirmation.witness import Hears, Witness
from assistant.conversation.confirmation_dialog import AskingServices, Prompter
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnLog
from assistant.domain.brain import PEOPLE, BrainFault, ConversationOwner, Spent
from assistant.domain.clock import Clock
from assistant.domain.records import TurnRecord
from assistant.interfaces.controls import Controls
from assistant.jobs.camera import Looking
from assistant.jobs.keeper import PATIENCE_S, Jobs, Patient
from assistant.jobs.long_work import LongWork
from assistant.jobs.tell import Teller
from assistant.jobs.think import Guidance, LongThinking, RunCall
from assistant.speech.output import SpeechOutput
from assistant.tools.builtin.box_settings import VoiceTools
from assistant.tools.builtin.fetch import fetch_page
from assistant.tools.builtin.send_to_phone import SendToPhone
from assistant.tools.builtin.talk import TalkTools
from assistant.tools.builtin.weather import Weather
from audio.clip import Clip, decoded
from audio.errors import AudioError
from integrations.cleaning import one_line
from integrations.errors import IntegrationError, Unavailable
from integrations.gemini.declarations import Declaration
from integrations.gemini.once import Picture
from integrations.home_assistant.phones import Phones
from integrations.home_assistant.sounds import MAX_BYTES, SCHEME, HomeSounds, SoundFile
from integrations.web.box import NotAnnounced, NotPossible
from integrations.web.fetch import Fetcher

# Who helps to ask a person before a gated call, put together by the settings.


def means_of(
    settings: Settings,
    bridge: HomeContext,
    minds: BrainSet,
    clock: Clock,
    prompter: Prompter | None,
) -> AskingServices:
    """Return the ways in which this process asks people. `prompter`: the keyboard, if any."""
    pin = settings.policy.pin
    guard = PinGuard(pin, bridge.store, clock) if pin.get_secret_value() else None
    wake = [word.model.replace("_", " ") for word in settings.wake.words]
    languages = settings.assistant.languages
    witness = Witness(languages, guard, minds.ear, _hears(settings, languages), wake)
    phone = None
    if settings.policy.phone:
        phones = Phones(bridge.home, bridge.own_device)
        name = settings.assistant.name
        phone = OwnersPhone(phones, settings.policy.phone, name, bridge.catalogue)
    return AskingServices(witness, prompter, phone, minds.learn)


def _hears(settings: Settings, languages: Sequence[str]) -> Hears:
    """Return what `offline.recognizer` may be told: a server elsewhere gets no secret."""
    recognizer = settings.offline.recognizer
    if not recognizer:
        return Hears(("en",), ("en",))
    return Hears(tuple(languages), () if "://" in recognizer else tuple(languages))


_THINKING = "medium"  # of a hard question, where neither settings nor profile say more
_WORKS_KEPT = 32  # whose cost is added up; only a few go on at once


class BackgroundWork:
    """Made with the tools, so that the menu is whole; `serve` then says who thinks and speaks."""

    def __init__(
        self,
        settings: Settings,
        bridge: HomeContext,
        clock: Clock,
        *,
        resident: bool = False,
        controls: Controls | None = None,
    ) -> None:
        """`resident`: this process stays, and timers ring in it. `controls`: made already."""
        tools, catalogue = bridge.tools, bridge.catalogue
        self._tools = tools
        self._catalogue = catalogue
        self._clock = clock
        # When nothing is loud; asked again and again.
        self.quiet_hours: Callable[[], QuietHours] = lambda: settings.quiet_hours
        self._minds: BrainSet | None = None
        self._runner: ConversationLoop | None = None
        self._log: TurnLog | None = None
        # Tells how a job ended; must not block.
        self.say: Callable[[str, str], None] = lambda text, language: None
        self._costs: dict[str, TurnRecord] = {}  # of the newest works, by id
        # Whether a larger model may be asked.
        self.thinks = "gemini-once" in settings.brain.order and may_use_cloud(settings)
        teller = Teller(catalogue, self if self.thinks else None, self.spent)
        self.jobs = Jobs(catalogue, clock, self._announce, teller.tell)
        tools.offer(*LongWork(self.jobs, catalogue).tools())
        home = bridge.home
        self.controls = controls or Controls(settings.voice, bridge.store, clock)
        own_voice = settings.voice.engine != "gemini"
        tools.offer(*VoiceTools(self.controls, catalogue, own_voice=own_voice).tools())
        tools.offer(*TalkTools(self.controls, catalogue).tools())
        self.announcer = Announcer(home, catalogue, settings.assistant.area, bridge.own_device)
        phones = Phones(home, bridge.own_device)
        tools.offer(self.announcer.tool())
        tools.offer(SendToPhone(phones, lambda: home.house, catalogue).tool())
        tools.offer(Weather(home, lambda: home.house, catalogue, clock).tool())
        runs = partial(is_held, settings.data_folder)
        self.timers = Timekeeping(
            bridge.store, tools, home, lambda: resident or runs(), catalogue, clock
        )
        tools.offer(*self.timers.tools())
        if settings.tools.web_fetch:
            tools.offer(fetch_page(Fetcher(), catalogue, bridge.memories.texts))
        if self.thinks:
            thinking = LongThinking(self, tools, self.jobs, self._guide, self.spent, catalogue)
            snap = bridge.cameras.snapshot
            looking = Looking(self, snap, lambda: home.house, self._guide, self.spent, catalogue)
            tools.offer(thinking.tool(), looking.tool())

    async def __aenter__(self) -> Self:
        await self.jobs.__aenter__()
        await self.announcer.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self.announcer.__aexit__(kind, error, traceback)
        finally:
            await self.jobs.__aexit__(kind, error, traceback)

    def runner_of_calls(self, *, resident: bool) -> Patient:
        """The way of every turn's calls. In a process that stays, long ones become jobs."""
        after_s = PATIENCE_S if resident else None
        return Patient(self._tools, self.jobs, self._catalogue, self._clock, after_s)

    def serve(
        self, minds: BrainSet, runner: ConversationLoop, log: TurnLog, mouth: SpeechOutput
    ) -> None:
        """Who thinks, who speaks and who writes down."""
        self._minds, self._runner, self._log = minds, runner, log
        self.say = runner.announce
        mouth.limit(lambda: loudest(self.quiet_hours(), self._clock.now()))
        self._tools.when_tainted(lambda: _each(minds.forgetting))
        self.controls.serve(mouth, log, minds.forgetting, runner.end_talk)
        log.after_writing = self.controls.written

    async def think(
        self,
        question: str,
        *,
        instruction: str,
        declarations: Sequence[Declaration],
        call: RunCall,
        rounds: int,
        thinking: str,
        spend: Callable[[Spent], Awaitable[None]],
        picture: Picture | None = None,
    ) -> ThinkResult:
        """Hand a question to `gemini.once_model`, unless the day's money is spent."""
        if self._minds is None or self._minds.thinker is None:
            return _no_thought("There is nobody to think about it.")
        if await self._minds.budget.reached():
            return _no_thought("Today's budget is spent.")
        return await self._minds.thinker.think(
            question,
            instruction=instruction,
            declarations=tuple(declarations),
            call=call,
            rounds=rounds,
            thinking=thinking,
            spend=spend,
            picture=picture,
        )

    def _announce(self, text: str, language: str) -> None:
        self.say(text, language)

    async def _guide(self, recalls: bool) -> Guidance:
        assert self._minds is not None
        profile = self._runner.profile if self._runner is not None else ""
        owner = PEOPLE if recalls else ConversationOwner("program", recalls=False)
        briefing = await self._minds.briefer.brief(profile, "", owner)
        return Guidance(briefing.instruction, briefing.thinking or _THINKING)

    async def spent(self, work_id: str, spent: Spent) -> None:
        """Count it at once, and keep the work's sum over a restart."""
        if self._minds is not None:
            self._minds.budget.spend(work_id, spent.cost_usd)
        record = self._costs.pop(work_id, None) or TurnRecord(
            work_id, self._clock.now(), "job", language="", brain="gemini-once"
        )
        usage = spent.usage if record.usage is None else record.usage + spent.usage
        cost_usd, model = record.cost_usd + spent.cost_usd, spent.model or record.model
        record = replace(record, usage=usage, cost_usd=cost_usd, model=model)
        self._costs[work_id] = record
        if len(self._costs) > _WORKS_KEPT:
            del self._costs[next(iter(self._costs))]
        if self._log is not None:
            await self._log.keep(record)


def _each(tell: Iterable[Callable[[], None]]) -> None:
    for one in tell:
        one()


def _no_thought(message: str) -> ThinkResult:
    return ThinkResult("", BrainFault("budget", message, retryable=False))


# Finds the sound files that programs name: in a folder of the owner's, or in Home Assistant.


FOLDER = "media"  # in the data folder; it may be a link to another one
_FROM_HOME = ("http:", "https:", f"{SCHEME}:", "/local/", "/media/", "/api/")
_WHERE = (
    "Put the file into /config/www of Home Assistant and name it /local/NAME, or into the folder "
    f"{FOLDER} of Hearth's data folder and name it NAME."
)


class FromHome(Protocol):
    """Fetcher of sounds from Home Assistant (`integrations.home_assistant.sounds.HomeSounds`)."""

    async def fetch(self, media: str) -> SoundFile:
        """The file of that name. Raises IntegrationError."""
        ...


class SoundFiles:
    """A name without a scheme is a file of the folder; all else is Home Assistant's."""

    def __init__(self, folder: Path, home: FromHome) -> None:
        """`folder`: it need not be there."""
        self._folder = folder
        self._home = home

    async def fetch(self, media: str) -> Clip:
        """The sound, as loud as our voice.

        Raises NotPossible where it may not be had or cannot be played, NotAnnounced where Home
        Assistant is away.
        """
        if media.startswith(_FROM_HOME):
            file = await self._fetch(media)
        else:
            file = await asyncio.to_thread(_read, self._folder, media)
        try:
            return await asyncio.to_thread(decoded, file.data, file.name)
        except AudioError as error:
            raise NotPossible(str(error)) from error

    async def _fetch(self, media: str) -> SoundFile:
        try:
            return await self._home.fetch(media)
        except Unavailable as error:
            raise NotAnnounced(f"It is not announced: {error}") from error
        except IntegrationError as error:
            raise NotPossible(f"{error} {_WHERE}") from error


def sound_files(settings: Settings, bridge: HomeContext) -> SoundFiles:
    """As the settings say."""
    house = settings.home_assistant
    url = bridge.demo.url if bridge.demo is not None and house.url == DEMO else house.url
    home = HomeSounds(bridge.home, url, house.verify_tls, house.ca_file)
    return SoundFiles(settings.data_folder / FOLDER, home)


def _read(folder: Path, media: str) -> SoundFile:
    """A file in the folder, wherever that leads; nothing that lies beyond it."""
    try:
        root = folder.resolve()
        file = (root / media).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            raise NotPossible(f"There is no such sound. {_WHERE}")
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as error:  # also a null byte, or links in a ring
        raise NotPossible(f"The sound cannot be read. {_WHERE}") from error
    if len(data) > MAX_BYTES:
        raise NotPossible(f"The sound is larger than {MAX_BYTES // 1_000_000} MB.")
    return SoundFile(one_line(file.name, 100) or "sound", data)
