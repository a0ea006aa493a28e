"""What is done against our own voice in the microphone, by the settings and the devices."""

import asyncio
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from assistant.config.schema import Settings
from audio.devices import find_device
from audio.echo.choose import Plan, choose, echo_cancelled
from audio.errors import AudioError

if TYPE_CHECKING:
    from audio.echo.livekit import LivekitCleaner


@dataclass(frozen=True, slots=True)
class EchoPlan:
    """The plan, and who carries it out."""

    plan: Plan
    cleaner: "LivekitCleaner | None"  # between microphone and ear; hears what the speaker plays
    complaint: str  # where the settings want more than there is, a sentence; else ""


async def plan_echo(settings: Settings) -> EchoPlan:
    """The plan for the devices of these settings. Raises InputUnusable.

    No pair of devices is measured yet (`audio.echo.measure`), so `auto` takes nothing out.
    """
    audio = settings.audio
    extra = find_spec("livekit") is not None
    cancelled = await asyncio.to_thread(_is_cancelled, audio.input)
    plan = choose(audio.echo_cancellation, extra=extra, cancelled_source=cancelled, path=None)
    own = plan.kind == "own"
    wanted = audio.echo_cancellation in ("on", "system")
    complaint = plan.reason if wanted and plan.half_duplex else ""
    if not (own or audio.noise_suppression or audio.automatic_gain):
        return EchoPlan(plan, None, complaint)
    from audio.echo.livekit import LivekitCleaner  # late: an extra

    cleaner = await asyncio.to_thread(
        LivekitCleaner,
        echo=own,
        noise_suppression=audio.noise_suppression,
        automatic_gain=audio.automatic_gain,
    )
    return EchoPlan(plan, cleaner, complaint)


def _is_cancelled(name: str) -> bool:
    """Whether that microphone is a source of the sound server that is without echo."""
    if name == "null" or name.startswith("file:"):
        return False
    try:
        return echo_cancelled(find_device(name, "input").name, {})
    except AudioError:
        return False  # it is missing; what it is like is not known
