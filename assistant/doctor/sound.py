"""Checks of the microphone and the loudspeaker, and of the echo between them."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.conversation.hearing import Level
from assistant.doctor.daemon import Daemon, Scene
from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.domain.clock import SystemClock
from assistant.domain.records import StoreError
from assistant.journal.store import Store
from assistant.sound.echo_plan import EchoPaths, is_device, plan_echo
from assistant.sound.mute import NAME as MUTED
from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.devices import find_device, server_out_of_reach
from audio.devices.portaudio import DeviceInfo, Kind
from audio.echo.measure import EchoPath, find_pair, measure_pair
from audio.errors import AudioError, DeviceLost
from audio.frames import SAMPLE_RATE
from audio.microphone import DeviceInput
from audio.steady import SteadyMicrophone
from audio.timing import BoundedCalls
from integrations.owner import OwnedTasks

_LISTEN_S = 2.0
_LISTEN_LIMIT_S = 9.0  # seconds; an idle sound server takes 2 s for the first block
_CALL_S = 2.0  # seconds for each call into the sound system
_SILENT_DB = -90.0  # one step of 16 bits; every real microphone is louder
_NOISY_DB = -38.0  # noise level above which speech from across the room is hard to detect
_CLIPPED = 16  # clipped samples per second; 1 ms of audio
# Longer delays are typical of Bluetooth and network speakers, and make every answer start later.
# A sound server alone was measured at 300 to 500 ms.
_LATE_MS = 600.0
_HELD = "`hearth run` is using the devices"


async def _microphone(scene: Scene) -> Found:
    return await _device(scene.settings.audio.input, "input", scene.daemon)


async def _speaker(scene: Scene) -> Found:
    return await _device(scene.settings.audio.output, "output", scene.daemon)


async def _device(name: str, kind: Kind, daemon: Daemon | None) -> Found:
    if not is_device(name):
        return good(f"audio.{kind} = {name}")
    try:
        out_of_reach = await asyncio.to_thread(server_out_of_reach)
        device = await asyncio.to_thread(find_device, name, kind)
    except AudioError as error:
        return bad(f"cannot find audio.{kind} = {name}", str(error))
    if out_of_reach:
        return odd(
            f"{device.name}, but Hearth cannot reach the sound server that runs here",
            "install the ALSA plugin for it: sudo apt install libasound2-plugins",
        )
    return _closed(device) or _troubled(device, daemon) or good(f"{device.name}, {device.rate} Hz")


def _closed(device: DeviceInfo) -> Found | None:
    if device.monitor:
        return bad(
            f"{device.name} is not a microphone: it records what a loudspeaker plays",
            "set audio.input to a microphone that `hearth devices` lists",
        )
    thing = {"input": "source", "output": "sink"}[device.kind]
    if device.muted:
        return bad(
            f"{device.name} is muted in the sound server",
            f"unmute it: pactl set-{thing}-mute {device.name} 0",
        )
    if device.volume == 0:
        return bad(
            f"{device.name} is at volume 0 in the sound server",
            f"turn it up: pactl set-{thing}-volume {device.name} 80%",
        )
    return None


def _troubled(device: DeviceInfo, daemon: Daemon | None) -> Found | None:
    told = (daemon.state or {}).get("troubles") if daemon is not None else None
    what = {"input": "microphone", "output": "loudspeaker"}[device.kind]
    problem = told.get(what) if isinstance(told, dict) else None
    return bad(f"{device.name} was found, but does not work", str(problem)) if problem else None


async def _level(scene: Scene) -> Found:
    audio = scene.settings.audio
    if not is_device(audio.input):
        return good(f"audio.input = {audio.input}")
    if scene.daemon is not None:
        return judge_told(scene.daemon)
    if not scene.may.listen:
        return good("not measured")
    try:
        await asyncio.to_thread(find_device, audio.input, "input")
    except AudioError:
        return odd("not measured", "fix the check above first")
    try:
        if await _muted(scene.settings):
            return good("not measured: the microphone is muted")
        figures = await _listen(audio.input, audio.channel)
    except (AudioError, ConfigError, StoreError) as error:
        return bad("no sound from the microphone", str(error))
    return judge_level(figures, f"listened for {_LISTEN_S:g} s")


def judge_told(daemon: Daemon) -> Found:
    if not daemon.lets_us_in or daemon.level is None:
        return good(f"not measured: {_HELD}")
    if (daemon.state or {}).get("muted"):
        return good("not measured: the microphone is muted")
    return judge_level(daemon.level, "measured by the running Hearth")


def judge_level(figures: Mapping[str, Any], how: str) -> Found:
    """Check the microphone level. `figures` are in the format of `GET /v1/level`. `how` describes
    how they were measured."""
    rms, peak = figures.get("rms_db"), figures.get("peak_db")
    clipped, floor = figures.get("clipped"), figures.get("noise_floor_db")
    if rms is None or peak is None or floor is None or clipped is None:
        return bad(
            "the microphone gives no sound", "check its cable, or set audio.input to another one"
        )
    told = f"{rms:.0f} dB, peak {peak:.0f}, room {floor:.0f}, {clipped} clipped samples ({how})"
    if peak <= _SILENT_DB:
        return bad(
            f"digital silence ({how})", "unmute it, on the device itself and in the sound server"
        )
    if clipped > _CLIPPED:
        return odd(told, "lower the microphone's level, or move it away from the loud source")
    if floor > _NOISY_DB:
        return odd(
            told,
            "the room is loud: move the microphone away from fans and music, or set "
            "audio.noise_suppression = true",
        )
    return good(told)


async def _muted(settings: Settings) -> bool:
    async with Store(settings.database, SystemClock()) as store:
        return await store.kept(MUTED) not in (None, False)


async def _listen(name: str, channel: int | None) -> Mapping[str, Any]:
    gone: list[str] = []
    microphone = SteadyMicrophone(DeviceInput(name, channel), calls=BoundedCalls(_CALL_S))
    async with OwnedTasks() as tasks:
        measuring = tasks.start(_measure(microphone), "microphone check")

        def changed(change: MicrophoneChange) -> None:
            if change.status is MicrophoneStatus.MISSING:
                gone.append(microphone.sentence)
                measuring.cancel()  # otherwise it would wait for the microphone forever

        microphone.on_change = changed
        await asyncio.wait({measuring}, timeout=_LISTEN_LIMIT_S)
        if measuring.done() and not measuring.cancelled():
            figures = measuring.result()
            if isinstance(figures, AudioError):
                raise figures
            return figures
    late = f"The microphone gave no sound in {_LISTEN_LIMIT_S:g} s: check its cable."
    raise DeviceLost(gone[0] if gone else late)


async def _measure(microphone: SteadyMicrophone) -> Mapping[str, Any] | AudioError:
    """Return the levels or the AudioError; raising it would also cancel the caller."""
    level, ends = Level(), round(_LISTEN_S * SAMPLE_RATE)
    try:
        async with aclosing(microphone.frames()) as frames:
            async for frame in frames:
                level.take(frame)
                if frame.end >= ends:
                    break
    except AudioError as error:
        return error
    return asdict(level.read())


async def _round_trip(scene: Scene) -> Found:
    audio = scene.settings.audio
    if not (is_device(audio.input) and is_device(audio.output)):
        return good("not measured: needs a microphone and a loudspeaker")
    try:
        pair = await asyncio.to_thread(find_pair, audio.input, audio.output, audio.channel)
        async with Store(scene.settings.database, SystemClock()) as store:
            paths = EchoPaths(store, measure_pair)
            known = await paths.known(pair)
            if not (scene.free and scene.may.play and scene.may.listen):
                return _judge_known(known, free=scene.free)
            if known is None:
                return judge_path(await paths.measured(pair, audio), "measured now and saved")
            if await store.kept(MUTED) not in (None, False):
                return _judge_known(known, free=True)
        return judge_again(await measure_pair(pair, audio.lead_in_ms), known)
    except (AudioError, ConfigError, StoreError) as error:
        return odd("not measured", str(error))


def _judge_known(known: EchoPath | None, *, free: bool) -> Found:
    if known is None:
        return good(f"not measured: {'no test sound was allowed' if free else _HELD}")
    return judge_path(known, "measured earlier")


def judge_again(now: EchoPath, known: EchoPath) -> Found:
    """Compare a new echo measurement with the stored one, which is kept, because the new one might
    have been disturbed."""
    if now.kind == known.kind:
        return judge_path(now, "measured now")
    return odd(
        f"measured now: {now.kind}; Hearth uses {known.kind}, measured earlier",
        "if you moved a device, measure again when it is quiet: hearth devices --measure",
    )


def judge_path(path: EchoPath, how: str) -> Found:
    """Check how much of the loudspeaker's sound the microphone picks up."""
    if path.kind == "echo":
        told = f"{path.delay_ms:.0f} ms, an echo of {round(path.level_db)} dB ({how})"
        if path.delay_ms > _LATE_MS:
            return odd(told, "the loudspeaker lags: use a cable instead of Bluetooth")
        return good(told)
    if path.kind == "cancels":
        return good(f"the devices cancel their own echo ({how})")
    if path.kind == "deaf":
        return odd(
            f"the microphone is off while the loudspeaker plays ({how})",
            "people can interrupt only in pauses; use a microphone that stays on",
        )
    return odd(
        f"the microphone does not hear the loudspeaker ({how})",
        "if you heard a tone or use headphones, this is fine; otherwise turn the loudspeaker up",
    )


async def _echo(scene: Scene) -> Found:
    try:
        echo = await plan_echo(scene.settings)
    except AudioError as error:
        return bad("cannot use echo cancellation", str(error))
    if echo.complaint:
        return odd("only the wake word and stop words interrupt an answer", echo.complaint)
    return good(echo.plan.reason)


CHECKS: tuple[Check[Scene], ...] = (
    Check("microphone", _microphone),
    Check("microphone level", _level),
    Check("speaker", _speaker),
    Check("round trip", _round_trip),
    Check("echo", _echo),
)
