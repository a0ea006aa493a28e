"""Tests that the plan against our own voice follows the devices without measuring in between."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import create_autospec

import pytest

from assistant.config.sound import Audio
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError
from assistant.sound import echo_watch
from assistant.sound.echo_plan import Devices, EchoPlan
from assistant.sound.echo_watch import AGAIN_S, SETTLE_S, EchoWatch, plan_now
from audio.devices.portaudio import DeviceInfo
from audio.echo import PathKind, Plan, PlanKind
from audio.echo.livekit import CleanCounts, LivekitCleaner
from audio.echo.measure import EchoPath, Pair
from audio.errors import InputUnusable
from tests.fakes.sound import FakeWatch, InlineCalls

MICROPHONE = DeviceInfo("usb mic", "input", 1, 16_000, True, 4, backend="server")
PHONE = DeviceInfo("speakerphone", "output", 2, 48_000, True, 5, backend="server")
HDMI = replace(PHONE, name="hdmi")
FIRST = Pair(MICROPHONE, PHONE, None)
OTHER = Pair(MICROPHONE, HDMI, None)
ALSA = Pair(replace(MICROPHONE, backend="alsa"), replace(PHONE, backend="alsa"), None)
SOON = SETTLE_S + 0.1


def path(kind: PathKind) -> EchoPath:
    return EchoPath(kind, -30.0, 20.0, 12.0)


def planned(kind: PlanKind = "device", half_duplex: bool = False, **more: Any) -> EchoPlan:
    """Return the plan of the start, for a speakerphone that cancels by itself."""
    plan = Plan(kind, half_duplex, "By the first plan.")
    return EchoPlan(plan, None, "", **{"path": path("cancels"), "pair": FIRST, **more})


@pytest.fixture(autouse=True, params=[True], ids=[""])
def extra(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install our canceller, or not."""
    there = object() if request.param else None
    monkeypatch.setattr(echo_watch, "find_spec", lambda name: there)


class Box:
    """A machine whose devices are changed by the test, and the conversation on it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.calls = InlineCalls()
        self.news = FakeWatch()
        self.there: Pair | Exception = FIRST
        self.cancelled = False
        self.known: dict[str, EchoPath | Exception] = {}  # by the loudspeaker's name
        self.looks = 0
        self.told: list[bool] = []  # whether speech cuts the answer

    def look(self, audio: Audio) -> Devices:
        self.looks += 1
        if isinstance(self.there, Exception):
            raise self.there
        return Devices(self.there, self.cancelled)

    async def path(self, pair: Pair) -> EchoPath | None:
        found = self.known.get(pair.output.name)
        if isinstance(found, Exception):
            raise found
        return found

    async def becomes(self, there: Pair | Exception) -> None:
        self.there = there
        self.news.tell()
        await self.clock.run(SOON)


@asynccontextmanager
async def running(
    first: EchoPlan, box: Box, monkeypatch: pytest.MonkeyPatch, **audio: Any
) -> AsyncIterator[EchoWatch]:
    """Yield a watch that has looked once, as at every start."""
    monkeypatch.setattr(echo_watch, "devices_of", box.look)
    settings = Audio.model_validate(audio)
    watch = EchoWatch(settings, first, box.told.append, box.path, box.clock, box.calls)
    async with watch:
        watch.follow(box.news)
        await box.clock.run(SOON)
        yield watch
    assert box.news.calls == []
    assert box.clock.sleepers == 0


@pytest.fixture
def box() -> Box:
    return Box()


async def test_another_loudspeaker_ends_what_was_measured_with_the_first(
    box: Box, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with running(planned(), box, monkeypatch) as watch:
        assert box.told == [True]
        await box.becomes(OTHER)
        assert box.told == [True, False]
        told = watch.as_json()
        assert (told["cancellation"], told["half_duplex"], told["path"]) == ("none", True, None)
        assert "has not been measured" in told["reason"]
        await box.becomes(FIRST)
        assert box.told == [True, False, True]
        assert watch.as_json() == planned().as_json()
    gone, back = caplog.records
    assert (gone.levelname, back.levelname) == ("WARNING", "INFO")
    assert "hdmi" in gone.getMessage()
    assert "has not been measured" in gone.getMessage()
    assert "By the first plan." in back.getMessage()


async def test_another_microphone_or_jack_counts_too(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(planned(), box, monkeypatch):
        for other in (
            replace(FIRST, input=replace(MICROPHONE, name="built in")),
            replace(FIRST, output_port="headphones"),
            replace(FIRST, input_port="headset"),
        ):
            box.told.clear()
            await box.becomes(other)
            await box.becomes(FIRST)
            assert box.told == [False, True]


@pytest.mark.parametrize(
    ("found", "half_duplex"),
    [("apart", False), ("cancels", False), ("deaf", True), ("echo", True)],
)
async def test_what_is_known_of_the_new_pair_counts(
    box: Box, monkeypatch: pytest.MonkeyPatch, found: PathKind, half_duplex: bool
) -> None:
    box.known["hdmi"] = path(found)
    async with running(planned(), box, monkeypatch) as watch:
        await box.becomes(OTHER)
        told = watch.as_json()
        assert (told["half_duplex"], told["path"]) == (half_duplex, found)
        assert box.told[-1] is not half_duplex


async def test_an_echo_is_taken_out_from_the_next_start_on(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.known["hdmi"] = path("echo")
    async with running(planned(), box, monkeypatch) as watch:
        await box.becomes(OTHER)
        assert watch.as_json()["cancellation"] == "none"
        assert "start" in watch.as_json()["reason"]


@pytest.mark.parametrize("extra", [False], indirect=True)
async def test_without_the_extra_it_says_what_is_missing(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.known["hdmi"] = path("echo")
    async with running(planned(), box, monkeypatch) as watch:
        await box.becomes(OTHER)
        assert "pip install" in watch.as_json()["reason"]


async def test_the_servers_canceller_counts_as_long_as_it_is_used(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.cancelled = True
    first = planned("system", path=None)
    async with running(first, box, monkeypatch, echo_cancellation="system") as watch:
        box.cancelled = False
        await box.becomes(OTHER)
        assert box.told == [True, False]
        box.cancelled = True
        await box.becomes(replace(OTHER, output=replace(HDMI, name="hdmi without echo")))
        assert box.told == [True, False, True]
        assert watch.as_json()["cancellation"] == "system"


async def test_devices_that_were_missing_at_the_start_are_taken_up(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.there = InputUnusable("There is no microphone.")
    box.known["speakerphone"] = path("cancels")
    nothing = planned("none", True, path=None, pair=None)
    async with running(nothing, box, monkeypatch):
        assert box.told == [False]
        await box.becomes(FIRST)
        await box.clock.run(AGAIN_S)
        assert box.told == [False, True]


@pytest.mark.parametrize(
    ("first", "audio"),
    [
        (planned("own"), {}),
        (planned("own", path=None, pair=None), {"echo_cancellation": "on"}),
        (planned("none", True, path=None, pair=None), {"echo_cancellation": "on"}),
        (planned("none", True, path=None, pair=None), {"echo_cancellation": "off"}),
        (planned("none", True, path=None, pair=None), {"input": "file:/tmp/a.wav"}),
        (planned("system", path=None, pair=None), {"output": "null"}),
    ],
    ids=["own", "on", "on without extra", "off", "file", "no loudspeaker"],
)
async def test_what_no_device_changes_is_not_looked_after(
    box: Box, monkeypatch: pytest.MonkeyPatch, first: EchoPlan, audio: dict[str, Any]
) -> None:
    async with running(first, box, monkeypatch, **audio) as watch:
        await box.becomes(OTHER)
        await box.clock.run(60)
        assert (box.looks, box.news.calls) == (0, [])
        assert box.told == [not first.plan.half_duplex]
        assert watch.now == first


async def test_a_plug_gives_much_news_and_is_one_look(
    box: Box, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(planned(), box, monkeypatch):
        assert box.looks == 1, "what changed between the plan and now"
        for _ in range(20):
            box.news.tell()
            await box.clock.run(0.01)
        await box.becomes(OTHER)
        assert box.looks == 2
        for _ in range(5):  # each answer opens and closes the devices
            await box.becomes(OTHER)
        await box.clock.run(60)
        assert box.looks == 7, "without news nobody looks"
    assert len(caplog.records) == 1


async def test_news_that_never_end_do_not_put_off_the_look(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(planned(), box, monkeypatch):
        box.there = OTHER
        for _ in range(round(2 * SETTLE_S / 0.1)):
            box.news.tell()
            await box.clock.run(0.1)
        assert box.told == [True, False]


@pytest.mark.parametrize("trouble", [InputUnusable("gone"), RuntimeError("a defect"), "stuck"])
async def test_while_nobody_knows_only_the_wake_word_interrupts(
    box: Box,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    trouble: Exception | str,
) -> None:
    async with running(planned(), box, monkeypatch) as watch:
        box.calls.stuck_next = trouble == "stuck"
        await box.becomes(trouble if isinstance(trouble, Exception) else FIRST)
        assert box.told == [True], "one answer that is late tells nothing"
        await box.clock.run(SOON)
        assert box.told == [True, False]
        assert "not known" in watch.as_json()["reason"]
        await box.clock.run(10 * AGAIN_S)
        assert len(caplog.records) == 1, "said once"
        box.calls.stuck_next, box.there = False, FIRST
        await box.clock.run(AGAIN_S + 0.1)
        assert box.told == [True, False, True], "it takes no news"


async def test_one_look_that_fails_between_two_changes_nothing(
    box: Box, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(planned(), box, monkeypatch):
        for _ in range(3):
            await box.becomes(InputUnusable("gone"))
            box.there = FIRST
            await box.clock.run(SOON)
        assert (box.told, caplog.records) == ([True], [])


async def test_a_loudspeaker_that_was_turned_up_may_be_heard_now(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.known[PHONE.name] = path("apart")
    first = planned("none", path=path("apart"))
    async with running(first, box, monkeypatch) as watch:
        assert box.told == [True]
        del box.known[PHONE.name]  # as `EchoPaths` has it once the volume is 6 dB higher
        await box.becomes(FIRST)
        assert box.told == [True, False]
        assert "has not been measured" in watch.as_json()["reason"]
        box.known[PHONE.name] = path("apart")
        await box.becomes(FIRST)
        assert box.told == [True, False, True]


@pytest.mark.parametrize("trouble", [StoreError("the disk is gone"), RuntimeError("a defect")])
async def test_what_cannot_be_read_is_not_known(
    box: Box, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    box.known["hdmi"] = trouble
    async with running(planned(), box, monkeypatch):
        await box.becomes(OTHER)
        assert box.told == [True, False]
        box.known["hdmi"] = path("apart")
        await box.becomes(OTHER)
        assert box.told == [True, False, True]


async def test_a_server_that_hangs_is_no_other_pair(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All devices then have PortAudio's names, and no event reports the end of the hang."""
    async with running(planned(), box, monkeypatch) as watch:
        await box.becomes(ALSA)
        await box.clock.run(SOON)
        assert "not known" in watch.as_json()["reason"]
        box.there = FIRST
        await box.clock.run(AGAIN_S + 0.1)
        assert box.told == [True, False, True]


async def test_without_a_server_the_list_may_be_old_at_the_news(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PortAudio restarts a moment later, when the microphone is opened again."""
    box.there = ALSA
    async with running(planned(pair=ALSA), box, monkeypatch):
        await box.clock.run(60)
        looks = box.looks
        await box.becomes(ALSA)
        box.there = replace(ALSA, output=replace(ALSA.output, name="hdmi"))
        await box.clock.run(AGAIN_S)
        assert box.told == [True, False]
        await box.clock.run(60)
        assert box.looks == looks + 2


async def test_a_look_that_is_under_way_at_the_end_is_given_up(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def hang(pair: Pair) -> EchoPath | None:
        asked.set()
        await asyncio.Event().wait()
        return None

    monkeypatch.setattr(box, "path", hang)
    async with running(planned(), box, monkeypatch):
        await box.becomes(OTHER)
        assert asked.is_set()
    assert box.told == [True]


async def test_what_only_tidies_goes_on_being_counted(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaner = create_autospec(LivekitCleaner, instance=True)
    cleaner.counts = CleanCounts(processed=7)
    async with running(replace(planned(), cleaner=cleaner), box, monkeypatch) as watch:
        await box.becomes(OTHER)
        assert watch.as_json()["frames"]["processed"] == 7


def test_the_decision_is_pure() -> None:
    first = planned()
    devices = Devices(OTHER, False)
    assert plan_now(first, "auto", Devices(FIRST, False), None, extra=True) is first
    assert plan_now(first, "auto", None, None, extra=True).plan.half_duplex
    now = plan_now(first, "auto", devices, path("apart"), extra=True)
    assert (now.plan.half_duplex, now.pair) == (False, OTHER)


async def test_a_pair_that_is_measured_meanwhile_counts_at_once(
    box: Box, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with running(planned("none", True, path=None), box, monkeypatch) as watch:
        assert watch.unmeasured == FIRST
        box.known["speakerphone"] = path("apart")
        watch.look_again()
        await box.clock.run(SOON)
        assert box.told == [False, True]
        assert watch.unmeasured is None
    assert [record.getMessage() for record in caplog.records] == [
        "The microphone does not hear the loudspeaker: there is no echo."
    ]


@pytest.mark.parametrize(
    ("first", "audio"),
    [
        (planned("none", True, path=path("deaf")), {}),
        (planned("device"), {}),
        (planned("system", path=None), {}),
        (planned("none", True, path=None), {"echo_cancellation": "system"}),
        (planned("none", True, path=None), {"echo_cancellation": "off"}),
        (planned("none", True, path=None, pair=None), {"output": "null"}),
    ],
)
async def test_nothing_is_measured_that_would_change_nothing(
    box: Box, monkeypatch: pytest.MonkeyPatch, first: EchoPlan, audio: dict[str, Any]
) -> None:
    box.cancelled = first.plan.kind == "system"
    box.known["speakerphone"] = first.path or InputUnusable("unread")
    monkeypatch.setattr(echo_watch, "devices_of", box.look)
    watch = EchoWatch(
        Audio.model_validate(audio), first, box.told.append, box.path, box.clock, box.calls
    )
    async with watch:
        watch.follow(box.news)
        await box.clock.run(SOON)
        assert watch.unmeasured is None
