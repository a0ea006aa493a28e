"""How soon an announcement is heard: from an automation's message to its first sample."""

import asyncio

from tests.benchmarks import notify
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Part

TEXT = """\
By `POST /v1/announce` (held in memory, or kept on the disk before it is said), by the notify action
of our device in Home Assistant and by MQTT (both kept), into a running Hearth with espeak-ng: no
text comes twice, so all is synthesised. The time begins when the request is sent over loopback, or
when the connection hands the message over. With a tone the words' first sample counts. The last
lines are out of a loudspeaker, a PulseAudio null sink with a real one's buffer: until the first
sample has left it, where the device had been closed and where it was open.
"""


def part() -> Part:
    """15 announcements each way, 5 by the device; LONG=1: 200 and 40."""
    ways = asyncio.run(notify.measure(how_many(15, 200)))
    device = notify.with_a_device(how_many(5, 40))
    lines = [
        Line(
            f"message to first sample of words: {way}",
            Measured(tuple(one.words for one in told), "ms"),
            most=notify.BUDGET_MS,
        )
        for way, told in ways.items()
    ]
    lines += [
        Line(f"message to loudspeaker: {way}", Measured(tuple(taken), "ms"))
        for way, taken in device.items()
    ]
    return Part("Announcements", tuple(lines), text=TEXT)
