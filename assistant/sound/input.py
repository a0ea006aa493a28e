"""Where Hearth listens, by the settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assistant.config.schema import Settings
from assistant.sound.echo_plan import is_device
from assistant.sound.echo_watch import EchoWatch
from audio.devices.watch import DeviceWatch
from audio.echo.choose import Cleaner
from audio.player import Outputs
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from audio.steady_parts import DeviceInput


@asynccontextmanager
async def open_microphone(
    settings: Settings,
    outputs: Outputs,
    cleaner: Cleaner | None = None,
    echo: EchoWatch | None = None,
) -> AsyncIterator[SteadyMicrophone | None]:
    """The microphone that `audio.input` names, None where that is a file or nothing.

    The device itself is opened when somebody takes its frames.

    `outputs` let go of the loudspeaker, where they rest, so that new devices can be looked for, and
    the microphone does where the loudspeaker is looked for; `outputs` and `echo` are told of what
    changes among the devices.
    """
    audio = settings.audio
    speaker = outputs if isinstance(outputs, Speaker) else None
    hears = is_device(audio.input)
    if not hears and speaker is None:
        yield None
        return
    async with DeviceWatch() as watch:
        if speaker is not None:
            speaker.presence.follow(watch)
        if echo is not None:
            echo.follow(watch)
        if not hears:
            yield None
            return
        microphone = SteadyMicrophone(
            # A canceller must have each frame when it comes, beside what is played.
            DeviceInput(audio.input, audio.channel, patient=cleaner is None),
            watch=watch,
            cleaner=cleaner,
            before_refresh=speaker.release if speaker is not None else None,
        )
        if speaker is not None:
            speaker.presence.on_unlisted = microphone.make_way
        yield microphone
