"""What only a process that stays does: it rings, watches, announces, asks, and knows the room."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from assistant.announcements.desk import AnnounceDesk
from assistant.announcements.queue_speaker import Announcements
from assistant.announcements.waiting_sounds import FOLDER, WaitingSounds
from assistant.app.background import BackgroundWork, sound_files
from assistant.app.home import HomeContext
from assistant.app.log_line import log_turns
from assistant.config.schema import Settings
from assistant.conversation.expected_answers import SchemaMapper
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.program_questions import ProgramQuestions, QuestionHouse, Talks
from assistant.conversation.program_turns import Line
from assistant.conversation.record import TurnLog, TurnTelling
from assistant.domain.clock import Clock
from assistant.domain.records import TimerRecord, new_id
from assistant.interfaces.live_settings import LiveSettings
from assistant.interfaces.turn_stats import TurnStats
from assistant.journal.care import Care
from assistant.sound.media import RoomMedia
from assistant.sound.mute import MicrophoneTones, Mute
from assistant.sound.recordings import Recorder, Recordings
from assistant.speech.identify import identify
from assistant.speech.output import SpeechOutput
from assistant.timers.desk import TimerDesk
from assistant.tools.builtin.box_settings import SwitchProfile
from assistant.tools.execution.outcomes import MovementWatch
from integrations.home_assistant.services import Services
from integrations.web.requests import LiveRequest


@dataclass(frozen=True, slots=True)
class Stay:
    """What a process that stays has, for programs above all."""

    mute: Mute
    announcements: Announcements
    desk: AnnounceDesk
    questions: ProgramQuestions
    talks: Talks
    timers: TimerDesk
    live: LiveSettings
    figures: TurnStats
    language_of: Callable[[str], str]  # of a text, among the configured ones


@dataclass(frozen=True, slots=True)
class DaemonServices:
    """The process that stays."""

    settings: Settings
    bridge: HomeContext
    runner: ConversationLoop
    mouth: SpeechOutput
    log: TurnLog
    clock: Clock
    works: BackgroundWork
    mute: Mute

    async def stay(self, stack: AsyncExitStack) -> Stay:
        """Begin, until the stack is closed."""
        bridge, runner = self.bridge, self.runner
        await stack.enter_async_context(
            Care(bridge.store, self.settings.journal, bridge.happenings, self.clock)
        )
        announcements = await self._announce(stack)
        desk = AnnounceDesk(announcements, sound_files(self.settings, bridge), self.clock)
        watch = MovementWatch(bridge.home, bridge.catalogue, announcements.say)
        bridge.tools.tell((await stack.enter_async_context(watch)).follow)
        self._tell_of_turns(stack)
        timers = await self._keep_time(stack, announcements)
        questions, talks = await self._ask(stack)
        await self._know_the_room(stack)
        await self._record(stack)
        tones = MicrophoneTones(self.mouth.sound, self.clock, runner.standing)
        await stack.enter_async_context(tones)
        stack.callback(runner.observe(tones.stand))
        live = LiveSettings(self.settings, bridge.store, self.works.controls)
        await live.begin(runner)
        self.works.quiet_hours = lambda: live.quiet
        bridge.tools.offer(self._switching(live).tool())
        figures = await stack.enter_async_context(TurnStats(self.log, bridge.store, self.clock))
        return Stay(
            self.mute,
            announcements,
            desk,
            questions,
            talks,
            timers,
            live,
            figures,
            self._language_of,
        )

    def _language_of(self, text: str) -> str:
        codes = tuple(self.settings.assistant.languages)
        return identify(text, codes) or codes[0]

    def _switching(self, live: LiveSettings) -> SwitchProfile:
        """Another profile, by voice."""

        async def switch(name: str) -> None:
            await live.set(LiveRequest(profile=name))

        return SwitchProfile(
            tuple(self.settings.profiles),
            live.widens,
            switch,
            self.bridge.catalogue,
        )

    async def _announce(self, stack: AsyncExitStack) -> Announcements:
        """One queue for whatever is said although nobody asked."""
        bridge = self.bridge
        announcements = await stack.enter_async_context(
            Announcements(
                bridge.store,
                self.runner,
                self._language_of,
                self.mouth,
                self.clock,
                sounds=WaitingSounds(self.settings.data_folder / FOLDER),
                happenings=bridge.happenings,
            )
        )
        self.works.say = announcements.say

        def tell(language: str) -> None:
            line = bridge.catalogue.line("voice.fallback", language)
            announcements.say(line.text, line.language)

        self.mouth.on_fallback(tell)  # once for each language whose voice is missing or broken
        return announcements

    def _tell_of_turns(self, stack: AsyncExitStack) -> None:
        """Automations follow what happens."""
        telling = TurnTelling(self.bridge.happenings)
        self.runner.follow(telling)
        stack.callback(self.log.follow(telling.finished))
        stack.callback(log_turns(self.log))

    async def _keep_time(self, stack: AsyncExitStack, announcements: Announcements) -> TimerDesk:
        """Timers ring, and what was to be done later is done."""
        keeper = self.works.timers.keeper(self.runner, self.mouth, announcements.say)
        await stack.enter_async_context(keeper)
        self.runner.on_heard = keeper.heard
        self.runner.rings = lambda: keeper.ringing
        bridge = self.bridge

        def tell(what: str, timer: TimerRecord) -> None:
            words = {"name": timer.name} if timer.name else {}
            bridge.happenings.tell("timer", words=words, id=timer.id, what=what, kind=timer.kind)

        stack.callback(keeper.follow(tell))
        return self.works.timers.desk(keeper, self._language_of)

    async def _ask(self, stack: AsyncExitStack) -> tuple[ProgramQuestions, Talks]:
        """Programs ask people, and begin talks with them; one at a time."""
        bridge, clock, line = self.bridge, self.clock, Line(self.clock)
        house = QuestionHouse(
            bridge.catalogue,
            self._language_of,
            [word.model.replace("_", " ") for word in self.settings.wake.words],
            self.settings.assistant.languages,
            bridge.keeps_words,
        )
        mapper = SchemaMapper(self.works, self.works.spent, lambda: new_id(clock.now()))
        asks = mapper if self.works.thinks else None
        questions = ProgramQuestions(self.runner, line, house, bridge.happenings, clock, asks)
        talks = Talks(self.runner, line, self._language_of, clock)
        await stack.enter_async_context(questions)
        await stack.enter_async_context(talks)
        return questions, talks

    async def _know_the_room(self, stack: AsyncExitStack) -> None:
        """Its media players are lowered while somebody speaks."""
        settings, bridge = self.settings, self.bridge
        media = RoomMedia(
            bridge.home,
            Services(bridge.home),
            bridge.store,
            self.clock,
            settings.media,
            settings.assistant.area,
            bridge.own_device,
        )
        media.on_plays = self.runner.noisy
        await stack.enter_async_context(media)
        stack.callback(self.runner.observe(media.stand))

    async def _record(self, stack: AsyncExitStack) -> None:
        """Sound is kept, where that is wanted."""
        runner = self.runner
        recordings = Recordings(
            self.settings.data_folder,
            self.settings.recordings,
            self.clock,
            self.bridge.keeps_words,
        )
        await stack.enter_async_context(recordings)
        stack.callback(runner.observe(recordings.stand))
        recorder = Recorder(recordings, runner.hearing)
        stack.callback(runner.hearing.follow_near_misses(recorder.missed))
        runner.follow(recorder)
