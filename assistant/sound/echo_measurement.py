"""Measurement of the echo between new sound devices while the room is quiet."""

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec

from assistant.config.errors import ConfigError
from assistant.config.sound import Audio
from assistant.conversation.hearing import Reading
from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.sound.echo_plan import EchoPaths
from assistant.sound.echo_watch import EchoWatch
from audio.device_status import MicrophoneStatus
from audio.echo.measure import EchoPath, Pair
from audio.errors import AudioError
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone

LOOK_S = 1.0  # seconds between checks of the room
IDLE_S = 10.0  # seconds between checks of the devices while there is nothing to measure
QUIET_S = 10.0  # seconds of quiet before the tone is played
AGAIN_S = (60.0, 600.0, 3600.0)  # seconds to wait after each failed attempt; then it gives up
_ABOVE_DB = 6.0  # dB over the room's noise floor that still counts as quiet
_STEP_S = 0.1  # seconds between checks for a turn while measuring

_log = logging.getLogger(__name__)


def is_quiet(level: Reading) -> bool:
    if level.rms_db is None or level.noise_floor_db is None:
        return False
    return level.rms_db <= level.noise_floor_db + _ABOVE_DB


class EchoMeasurement:
    """Measures the echo of each new pair of microphone and loudspeaker.

    A measurement plays a short tone and takes about 3 s, during which Hearth cannot hear anyone. If
    a turn starts in that time, the measurement is aborted and repeated later.
    """

    def __init__(
        self,
        watch: EchoWatch,
        microphone: SteadyMicrophone,
        speaker: Speaker,
        paths: EchoPaths,
        audio: Audio,
        clock: Clock,
    ) -> None:
        self._watch = watch
        self._microphone = microphone
        self._speaker = speaker
        self._paths = paths
        self._audio = audio
        self._clock = clock
        self._failures: Counter[object] = Counter()  # failed attempts by pair
        self._put_off: dict[object, float] = {}  # pair -> monotonic time of the next attempt
        self._told: set[str] = set()  # reasons logged so far

    async def run(self, rests: Callable[[], bool], quiet: Callable[[], bool]) -> None:
        """Measure new pairs. Returns when a pair needs Hearth's own canceller and it is installed,
        because adding it requires a restart.

        `rests` returns True while nobody is talking, nothing is playing and the microphone is on.
        `quiet` returns True while the room is quiet.
        """
        while True:
            pair = await self._wait_for_quiet(lambda: rests() and quiet())
            path = await self._attempt(pair, rests)
            if path is None:
                continue
            if path.kind == "echo" and find_spec("livekit") is not None:
                return
            self._watch.look_again()

    async def _wait_for_quiet(self, quiet: Callable[[], bool]) -> Pair:
        since: float | None = None
        while True:
            now, pair = self._clock.monotonic(), self._watch.unmeasured
            due = pair is not None and now >= self._put_off.get(pair.names, 0.0)
            hears = self._microphone.status is MicrophoneStatus.LISTENING
            if not (due and hears and quiet()):
                since = None
            elif since is None:
                since = now
            elif pair is not None and now - since >= QUIET_S:
                return pair
            await self._clock.sleep(LOOK_S if due else IDLE_S)

    async def _attempt(self, pair: Pair, rests: Callable[[], bool]) -> EchoPath | None:
        result: asyncio.Future[EchoPath | None] = asyncio.get_running_loop().create_future()

        async def use() -> None:
            result.set_result(await self._measured(pair, rests))

        if pair.obstacle:
            self._failed(pair, pair.obstacle)
            return None
        if not await self._speaker.release():
            return None
        _log.info(
            "Measuring the echo of %s in %s with a short tone.", pair.output.name, pair.input.name
        )
        self._microphone.lend(use)
        return await result

    async def _measured(self, pair: Pair, rests: Callable[[], bool]) -> EchoPath | None:
        measuring = asyncio.create_task(self._paths.measured(pair, self._audio))
        try:
            while not measuring.done():
                if not rests():
                    return None
                await asyncio.wait({measuring}, timeout=_STEP_S)
            return measuring.result()
        except (AudioError, ConfigError, StoreError) as error:
            self._failed(pair, str(error))
        except Exception as error:  # last resort: no measurement error may stop Hearth
            _log.debug("the echo measurement failed", exc_info=True)
            self._failed(pair, str(error))
        finally:
            measuring.cancel()
            await asyncio.wait({measuring})
        return None

    def _failed(self, pair: Pair, why: str) -> None:
        before = self._failures[pair.names]
        self._failures[pair.names] += 1
        wait_s = AGAIN_S[before] if before < len(AGAIN_S) else math.inf
        self._put_off[pair.names] = self._clock.monotonic() + wait_s
        if why not in self._told:
            self._told.add(why)
            _log.warning("The echo is not known, so only the wake word interrupts: %s", why)
