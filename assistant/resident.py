"""What only a process that stays does: it rings, watches, is a device, and knows the room."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from assistant.announcements import Announcements
from assistant.bridge import Bridge
from assistant.clock import Clock
from assistant.config.schema import Settings
from assistant.device.sensors import DeviceSensors
from assistant.house_device import DeviceKeeper
from assistant.media import RoomMedia
from assistant.microphone_tones import MicrophoneTones
from assistant.mute import Mute
from assistant.recorder import Recorder
from assistant.recordings import Recordings
from assistant.speech.identify import identify
from assistant.speech.mouth import Mouth
from assistant.timers.ringer import Ringer
from assistant.tools.watch import Watch
from assistant.turn.runner import Runner
from assistant.works import Works
from integrations.home_assistant.services import Services


@dataclass(frozen=True, slots=True)
class Resident:
    """The process that stays."""

    settings: Settings
    bridge: Bridge
    runner: Runner
    mouth: Mouth
    clock: Clock
    works: Works

    async def stay(self, stack: AsyncExitStack) -> Mute:
        """Begin, until the stack is closed. Gives who mutes the microphone."""
        bridge, runner = self.bridge, self.runner
        codes = tuple(self.settings.assistant.languages)
        announcements = await stack.enter_async_context(
            Announcements(
                bridge.store,
                runner,
                lambda text: identify(text, codes) or codes[0],
                self.mouth,
                self.clock,
            )
        )
        self.works.announcements = announcements
        self.works.say = announcements.say
        self._tell_of_fallbacks(announcements)
        watch = Watch(bridge.home, bridge.catalogue, announcements.say)
        bridge.tools.tell((await stack.enter_async_context(watch)).follow)
        await self._ring(stack)
        await self._know_the_room(stack)
        await self._record(stack)
        tones = MicrophoneTones(self.mouth.sound, self.clock, runner.standing)
        await stack.enter_async_context(tones)
        stack.callback(runner.observe(tones.stand))
        if bridge.demo is None:
            await self._be_a_device(stack, announcements)
        mute = Mute(bridge.store, runner, self.mouth.sound)
        await mute.load()
        return mute

    def _tell_of_fallbacks(self, announcements: Announcements) -> None:
        """Once for each language whose own voice is missing or broken."""

        def tell(language: str) -> None:
            line = self.bridge.catalogue.line("voice.fallback", language)
            announcements.say(line.text, line.language)

        self.mouth.on_fallback(tell)

    async def _ring(self, stack: AsyncExitStack) -> None:
        mouth, runner = self.mouth, self.runner
        ringer = Ringer(
            self.bridge.store, runner, mouth.ring, mouth.hush, self.bridge.catalogue, self.clock
        )
        await stack.enter_async_context(ringer)
        runner.on_heard = ringer.heard
        runner.rings = lambda: ringer.ringing

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
        runner.hearing.on_near_miss = recorder.missed
        runner.follow(recorder.opened, recorder.ended)

    async def _be_a_device(self, stack: AsyncExitStack, announcements: Announcements) -> None:
        """Home Assistant has Hearth among its devices, and what it sends there is spoken."""
        bridge, runner = self.bridge, self.runner
        codes = tuple(self.settings.assistant.languages)
        sensors = await stack.enter_async_context(
            DeviceSensors(bridge.home, bridge.catalogue, codes[0], self.clock, runner.standing)
        )
        stack.callback(runner.observe(sensors.stand))
        keeper = DeviceKeeper(
            bridge.device,
            self.settings,
            bridge.home,
            announcements,
            bridge.catalogue,
            self.clock,
            lambda text: identify(text, codes),
            set_mode=bridge.moments.modes.set,
            registered=sensors.registered,
        )
        await stack.enter_async_context(keeper)
