"""Opens the daemon's services: timers, watches, announcements, questions, media and recordings."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from assistant.announcements.service import (
    FOLDER,
    MEDIA_FOLDER,
    AnnouncementService,
    SoundFiles,
    WaitingSounds,
)
from assistant.announcements.speaking import Announcements
from assistant.app.conversation import BoxConversation
from assistant.app.home import DEMO, HomeContext
from assistant.app.log_line import log_turns
from assistant.app.tools import BackgroundWork
from assistant.config.schema import Settings
from assistant.conversation.expected_answers import SchemaMapper
from assistant.conversation.program_questions import ProgramQuestions, QuestionHouse, Talks
from assistant.conversation.record import TurnTelling
from assistant.conversation.request_queue import RequestQueue
from assistant.domain.records import TimerRecord, new_id
from assistant.interfaces.api.speech import BrowserSpeech, SpeechParts
from assistant.interfaces.live_settings import LiveSettings
from assistant.interfaces.status import TurnStats
from assistant.journal.retention import Care
from assistant.sound.media import RoomMedia
from assistant.sound.mute import MicrophoneTones, Mute
from assistant.sound.recordings import Recorder, Recordings
from assistant.speech.identify import identify
from assistant.speech.output import SpeechOutput
from assistant.timers.book import ProgramTimers
from assistant.timers.service import TimerService
from assistant.tools.builtin.box_settings import SwitchProfile
from assistant.tools.execution.movements import MovementWatch
from integrations.home_assistant.media import HomeSounds
from integrations.home_assistant.services import Services
from integrations.web.requests import LiveRequest


@dataclass(frozen=True, slots=True)
class DaemonServices:
    """Services that run only in the daemon."""

    mute: Mute
    announcements: Announcements
    desk: AnnouncementService
    questions: ProgramQuestions
    talks: Talks
    timers: ProgramTimers
    live: LiveSettings
    figures: TurnStats
    language_of: Callable[[str], str]  # returns the configured language that a text is in
    speech: BrowserSpeech


def make_announcements(conversation: BoxConversation, home: HomeContext) -> Announcements:
    """Create the announcement queue. It starts speaking when its context is entered."""
    settings = conversation.settings
    return Announcements(
        home.store,
        conversation.runner,
        partial(_language_of, settings),
        conversation.mouth,
        conversation.clock,
        sounds=WaitingSounds(settings.data_folder / FOLDER),
        bus=home.bus,
    )


@asynccontextmanager
async def open_daemon_services(
    conversation: BoxConversation,
    home: HomeContext,
    announcements: Announcements,
    work: BackgroundWork,
    live: LiveSettings,
) -> AsyncIterator[DaemonServices]:
    settings, clock, runner = conversation.settings, conversation.clock, conversation.runner
    mute, sound, log = conversation.mute, conversation.mouth.sound, conversation.log
    assert mute is not None  # always present in the daemon
    language_of = partial(_language_of, settings)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(Care(home.store, settings.journal, home.bus, clock))
        await stack.enter_async_context(announcements)
        _tell_of_missing_voices(conversation.mouth, home, announcements)
        desk = AnnouncementService(announcements, _sound_files(settings, home), clock)
        watch = MovementWatch(home.client, home.catalogue, announcements.say)
        home.tools.tell((await stack.enter_async_context(watch)).follow)
        telling = TurnTelling(home.bus)
        runner.follow(telling)
        stack.callback(log.follow(telling.finished))
        stack.callback(log_turns(log))
        keeper = await _open_timers(stack, conversation, home, work, announcements)
        timers = work.timers.desk(keeper, language_of)
        questions, talks = await _open_questions(stack, conversation, home, work)
        await _follow_media(stack, conversation, home)
        await _record_sound(stack, conversation, home)
        tones = MicrophoneTones(sound, clock, runner.standing)
        await stack.enter_async_context(tones)
        stack.callback(runner.observe(tones.stand))
        await live.begin(runner)
        home.tools.offer(_profile_switch(settings, live, home).tool())
        figures = await stack.enter_async_context(TurnStats(log, home.store, clock))
        speech = BrowserSpeech(_speech_parts(conversation, home, desk, keeper.heard))
        await stack.enter_async_context(speech)
        yield DaemonServices(
            *(mute, announcements, desk, questions, talks, timers, live, figures, language_of),
            speech=speech,
        )


def _speech_parts(
    conversation: BoxConversation,
    home: HomeContext,
    desk: AnnouncementService,
    silence: Callable[[], None],
) -> SpeechParts:
    return SpeechParts(
        conversation.settings,
        conversation.clock,
        conversation.catalogue,
        conversation.mouth,
        conversation.log,
        conversation.runner,
        conversation.services,
        home.bus,
        desk,
        lambda: home.client.house,
        silence,
    )


def _language_of(settings: Settings, text: str) -> str:
    codes = tuple(settings.assistant.languages)
    return identify(text, codes) or codes[0]


def _tell_of_missing_voices(
    mouth: SpeechOutput, home: HomeContext, announcements: Announcements
) -> None:
    def tell(language: str) -> None:
        line = home.catalogue.line("voice.fallback", language)
        announcements.say(line.text, line.language)

    mouth.on_fallback(tell)


def _sound_files(settings: Settings, home: HomeContext) -> SoundFiles:
    house = settings.home_assistant
    url = home.demo.url if home.demo is not None and house.url == DEMO else house.url
    sounds = HomeSounds(home.client, url, house.verify_tls, house.ca_file)
    return SoundFiles(settings.data_folder / MEDIA_FOLDER, sounds)


async def _open_timers(
    stack: AsyncExitStack,
    conversation: BoxConversation,
    home: HomeContext,
    work: BackgroundWork,
    announcements: Announcements,
) -> TimerService:
    runner = conversation.runner
    keeper = work.timers.keeper(runner, conversation.mouth, announcements.say)
    await stack.enter_async_context(keeper)
    runner.add_bell(lambda: keeper.ringing, keeper.heard)

    def tell(what: str, timer: TimerRecord) -> None:
        words = {"name": timer.name} if timer.name else {}
        home.bus.publish("timer", words=words, id=timer.id, what=what, kind=timer.kind)

    stack.callback(keeper.follow(tell))
    return keeper


async def _open_questions(
    stack: AsyncExitStack,
    conversation: BoxConversation,
    home: HomeContext,
    work: BackgroundWork,
) -> tuple[ProgramQuestions, Talks]:
    settings, clock, runner = conversation.settings, conversation.clock, conversation.runner
    language_of, queue = partial(_language_of, settings), RequestQueue(clock)
    house = QuestionHouse(
        home.catalogue,
        language_of,
        [word.model.replace("_", " ") for word in settings.wake.words],
        settings.assistant.languages,
        home.keeps_words,
    )
    thinking = work.thinking
    mapper = SchemaMapper(thinking, thinking.spent, lambda: new_id(clock.now()))
    maps = mapper.map if thinking.enabled else None
    questions = ProgramQuestions(runner, queue, house, home.bus, clock, maps)
    talks = Talks(runner, queue, language_of, clock)
    await stack.enter_async_context(questions)
    await stack.enter_async_context(talks)
    return questions, talks


async def _follow_media(
    stack: AsyncExitStack, conversation: BoxConversation, home: HomeContext
) -> None:
    settings, runner = conversation.settings, conversation.runner
    media = RoomMedia(
        home.client,
        Services(home.client),
        home.store,
        conversation.clock,
        settings.media,
        settings.assistant.area,
        home.own_device,
        runner.noisy,
    )
    await stack.enter_async_context(media)
    stack.callback(runner.observe(media.stand))


async def _record_sound(
    stack: AsyncExitStack, conversation: BoxConversation, home: HomeContext
) -> None:
    settings, runner = conversation.settings, conversation.runner
    recordings = Recordings(
        settings.data_folder, settings.recordings, conversation.clock, home.keeps_words
    )
    await stack.enter_async_context(recordings)
    stack.callback(runner.observe(recordings.stand))
    recorder = Recorder(recordings, runner.hearing.recent)
    stack.callback(runner.hearing.follow_near_misses(recorder.missed))
    runner.follow(recorder)


def _profile_switch(settings: Settings, live: LiveSettings, home: HomeContext) -> SwitchProfile:
    async def switch(name: str) -> None:
        await live.set(LiveRequest(profile=name))

    return SwitchProfile(tuple(settings.profiles), live.widens, switch, home.catalogue)
