"""How loud Hearth may be at which time of the day. Pure: settings and a moment in, a volume out."""

import math
from datetime import datetime, time

from assistant.config.sections import QuietHours

NO_LIMIT = math.inf
OFF = "off"


def shown(hours: QuietHours) -> str:
    """As people choose them while it runs: "22:30-07:00", or OFF."""
    return f"{hours.from_}-{hours.to}" if hours.from_ else OFF


def chosen(hours: QuietHours, text: str) -> QuietHours:
    """The same loudness at other hours. `text`: as `shown` gives it."""
    begins, _, ends = ("", "", "") if text == OFF else text.partition("-")
    return hours.model_copy(update={"from_": begins, "to": ends})


def is_quiet(hours: QuietHours, now: datetime) -> bool:
    """Whether `now`, in local time, lies in them. Their first minute does, their last does not.

    Only the time on the wall counts: an hour that the clocks skip has no moments, and one that they
    repeat is quiet both times.
    """
    if not hours.from_:
        return False
    begins, ends = time.fromisoformat(hours.from_), time.fromisoformat(hours.to)
    wall = now.time()
    if begins < ends:
        return begins <= wall < ends
    return wall >= begins or wall < ends


def loudest(hours: QuietHours, now: datetime) -> float:
    """The volume that nothing may pass at that moment; 1.0 is the voice's own loudness."""
    return hours.volume if is_quiet(hours, now) else NO_LIMIT
