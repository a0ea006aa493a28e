"""Delay of an announcement: from an automation's message to its first sample."""

import asyncio

from tests.benchmarks import notify
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Part

TEXT = """\
Announcements to a running Hearth with espeak-ng, through `POST /v1/announce` (in memory, or saved
to disk first with `persist`), through the notify action of Hearth's device in Home Assistant, and
through MQTT (both saved first). Each text is new, so none comes from the cache. The time starts
when the request is sent over the loopback interface, or when the connection delivers the message.
With a tone, the time ends at the first sample of the speech. The last rows are measured at a
loudspeaker (a PulseAudio null sink with a real one's buffer): they end when the first sample has
left it, with the device closed or open before.
"""


def part() -> Part:
    """Measure 15 announcements each way, 5 by the device; LONG=1: 200 and 40."""
    ways = asyncio.run(notify.measure(how_many(15, 200)))
    device = notify.with_a_device(how_many(5, 40))
    lines = [
        Line(
            f"from a message to the first sample of speech: {way}",
            Measured(tuple(one.words for one in told), "ms"),
            most=notify.BUDGET_MS,
        )
        for way, told in ways.items()
    ]
    lines += [
        Line(f"from a message to the loudspeaker: {way}", Measured(tuple(taken), "ms"))
        for way, taken in device.items()
    ]
    return Part("Announcements", tuple(lines), text=TEXT)
