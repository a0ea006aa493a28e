"""Tests of what leaves the house over a day: the sentences that were meant for Hearth, no more.

The room is never silent and never repeats, so every sample that the service got has one place in
the day.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assistant.app.build import App
from assistant.app.model_access import NO_CONSENT
from assistant.cli.main import main
from assistant.config.schema import Settings
from assistant.demo.scenes import SpokenCommand, make_clip
from audio.frames import FRAME_SAMPLES, SAMPLES_PER_MS, Frame, Framer
from audio.sound_files import WavSource, read_wav
from audio.wake.micro import LEAD_MS
from tests.benchmarks.sound import voiced
from tests.pipeline.gemini_hearing import (
    TOKENS,
    assert_bit_for_bit,
    clip_of,
    office_lights,
    one_value,
    room,
    serving,
    surroundings,
)
from tests.pipeline.gemini_rig import LeapingClock, gemini_settings
from tests.pipeline.rig import pipeline
from tests.ports import free_port
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import Heard, HeardTurn
from tests.simulators.script import Done, Hear, Say, Step, Think, Turn
from tests.simulators.sound import find

Deed = Callable[[], Awaitable[None]]
WORD_ENDS_MS = 1_540  # of okay_nabu.wav, where its detection comes
WORD_BEGINS_MS = 800


@dataclass
class Day:
    """A microphone from morning to night: what it hears, and what is done in between."""

    pulled: bool = True
    pcm: bytes = b""
    places: dict[str, tuple[int, int]] = field(default_factory=dict)  # samples, end excluded
    deeds: list[tuple[int, Deed]] = field(default_factory=list)  # sample, what is done there

    def hears(self, name: str, sound: bytes, quiet_s: float = 0.0) -> None:
        """Add a sound, and then a quiet room for `quiet_s`."""
        sound += bytes(-len(sound) % (2 * FRAME_SAMPLES))
        start = len(self.pcm) // 2
        self.pcm += sound + room(quiet_s, seed=start)
        self.places[name] = (start, start + len(sound) // 2)

    def then(self, deed: Deed) -> None:
        """Add an action at this point of the day."""
        self.deeds.append((len(self.pcm) // 2, deed))

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield the day, 20 ms at a time."""
        deeds = list(self.deeds)
        for frame in Framer().push(self.pcm):
            while deeds and deeds[0][0] <= frame.start:
                await deeds.pop(0)[1]()
            yield frame
        for _, deed in deeds:
            await deed()


def _asking() -> list[Step]:
    return [
        Think(0.05),
        Hear("turn on the lights"),
        Say("In which room?"),
        Done(usage=TOKENS),
    ]


def _day_of(speech: Path, app: App, service: GeminiSimulator) -> Day:
    """Return a day of nine scenes, five of which contain something for Hearth."""
    wake, talk = read_wav(speech / "okay_nabu.wav"), read_wav(speech / "negative_reference.wav")
    commands = [read_wav(speech / f"turn_on_the_office_lights_{take}.wav") for take in _TAKES]
    half = commands[2][: 16_000 * 2]

    async def mute() -> None:
        app.runner.mute(True)

    async def unmute() -> None:
        app.runner.mute(False)

    async def nothing_was_opened() -> None:
        assert service.total_sockets == 0

    async def it_is_warm() -> None:
        assert service.open_sockets == 1

    async def typed() -> None:
        await app.runner.ask("what is it that you hear")

    day = Day(pcm=room(1.0))
    day.hears("talk in the morning", talk, 1.0)
    day.then(nothing_was_opened)
    day.hears("wake word of nothing", wake, 7.0)
    day.hears("wake word", wake)
    day.hears("command", commands[0], 0.5)
    day.hears("talk after it", talk[: 60_000 * 2], 1.0)
    day.then(it_is_warm)
    day.hears("talk beside a warm session", _conversation(speech), 3.0)
    day.then(it_is_warm)
    day.then(mute)
    day.hears("talk while muted", talk, 0.5)
    day.hears("wake word while muted", wake)
    day.hears("command while muted", commands[1], 1.5)
    day.then(unmute)
    day.hears("quiet after it", room(3.0, seed=9))
    day.hears("wake word before it was muted", wake)
    day.hears("half a command", half)
    day.then(mute)
    day.hears("the other half", commands[2][len(half) :], 1.0)
    day.hears("talk while muted again", talk, 1.0)
    day.then(unmute)
    day.hears("quiet after that", room(3.0, seed=10))
    day.hears("wake word of a question", wake)
    day.hears("vague command", commands[3], 0.5)
    day.hears("quiet before the answer", room(0.6, seed=11))
    day.hears("answer to our question", commands[4], 0.5)
    day.hears("talk in the evening", talk, 1.0)
    day.then(typed)
    day.hears("talk at night", talk, 1.0)
    return day


_TAKES = ("04", "06", "08", "12", "14")
_FORBIDDEN = (
    *("talk in the morning", "wake word of nothing", "talk after it"),
    "talk beside a warm session",
    *("talk while muted", "wake word while muted", "command while muted", "quiet after it"),
    *("the other half", "talk while muted again", "quiet after that"),
    *("talk in the evening", "talk at night"),
)
# A turn may have heard only what lies between the first one's beginning and the last one's end.
_MEANT = (
    ("wake word", "command"),
    ("wake word before it was muted", "half a command"),
    ("wake word of a question", "vague command"),
    ("quiet before the answer", "answer to our question"),
)


def _conversation(speech: Path) -> bytes:
    return read_wav(speech / "conversation_with_turn_on_the_office_lights.wav")


async def test_a_day(speech: Path, tmp_path: Path) -> None:
    script = [
        Turn("audio", office_lights()),
        Turn("audio", cut=True),  # muted in the middle
        Turn("audio", _asking()),
        Turn("audio", office_lights()),
        Turn("text", [Say("Only what you tell me."), Done(usage=TOKENS)]),
    ]
    async with (
        GeminiSimulator(script) as service,
        pipeline(_only_gemini(tmp_path, service)) as app,
    ):
        day = _day_of(speech, app, service)
        await app.runner.listen(day)
        records = [turn.record for turn in app.log.turns]
        turns = list(service.turns)
    assert [record.error and record.error.kind for record in records] == [
        *("no_speech", None, "muted", None, None, None)
    ]
    spoken = [turn for turn in turns if turn.kind == "audio"]
    places = [_place(turn, day.pcm) for turn in spoken]
    for name in _FORBIDDEN:
        assert [_shared(place, day.places[name]) for place in places] == [0] * 4, name
    for place, (first, last) in zip(places, _MEANT, strict=True):
        begin, end = day.places[first][0], day.places[last][1]
        if first.startswith("wake word"):
            mark = begin + (WORD_ENDS_MS - LEAD_MS) * SAMPLES_PER_MS
            assert begin + WORD_BEGINS_MS * SAMPLES_PER_MS < place.start, "inside the word itself"
            assert abs(place.start - mark) < 100 * SAMPLES_PER_MS
        assert begin <= place.start
        assert place.end <= end + 500 * SAMPLES_PER_MS  # the hang-over may go beyond the recording
    for record, place in ((records[1], places[0]), (records[3], places[2])):
        at = record.timeline
        length = (at["end_of_turn"] - at["wake"] + LEAD_MS) * SAMPLES_PER_MS
        assert 0 <= place.end - place.start - length < FRAME_SAMPLES
    assert places[1].end <= day.places["half a command"][1]
    # One for the conversation that was cut off, and one that stays warm; the talk beside it opened
    # none.
    assert [socket.close_code for socket in service.connections] == [1000] * 2
    assert service.heard_samples == sum(place.end - place.start for place in places)
    assert service.stray_bytes == 0


def test_talk_while_it_thinks_and_speaks(
    speech: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In real time: the microphone stays open, but its sound does not leave the house."""
    surroundings(tmp_path, monkeypatch)
    wake, talk = speech / "okay_nabu.wav", speech / "negative_reference.wav"
    command = speech / "turn_on_the_office_lights_06.wav"
    clip = clip_of(tmp_path / "clip.wav", 0.5, wake, command, 0.5, talk)
    steps = [Think(0.6), *office_lights()[1:]]
    with serving(GeminiSimulator([Turn("audio", steps)]), monkeypatch) as service:
        assert main(["hear", str(clip.path), "--json"]) == 0
        [turn] = service.turns
        assert service.heard_samples == len(turn.pcm) // 2
    told = one_value(capsys.readouterr().out)
    begin, end = clip.places[2]
    first, last = voiced(clip.pcm[2 * begin : 2 * end])
    heard = assert_bit_for_bit(turn, told, clip.pcm, (begin + first, begin + last))
    assert told["timeline"]["answer_done"] * 16 > clip.places[4][0] + 16_000, "it talked on"
    assert heard.end <= clip.places[4][0] + 300 * SAMPLES_PER_MS  # within the hang-over


async def test_a_score_that_rises_for_nothing(
    speech: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs a connection, at most one in 30 s, closed after 10 s, and no sample is sent."""
    clock, service = LeapingClock(), GeminiSimulator()
    monkeypatch.setattr("assistant.app.conversation.SystemClock", lambda: clock)
    rise = clip_of(tmp_path / "rise.wav", _conversation(speech)[23 * 32_000 : 27 * 32_000])
    async with service, pipeline(_only_gemini(tmp_path, service)) as app:

        async def rises() -> None:
            await app.runner.listen(WavSource(rise.path, realtime=False))

        await rises()
        await service.until(lambda: service.open_sockets == 1)
        clock.leap(9.0)
        await rises()  # the open one is still there, and waits on
        assert (service.total_sockets, service.open_sockets) == (1, 1)
        clock.leap(10.5)
        await service.until(lambda: service.open_sockets == 0)
        await rises()
        assert "gemini-live connect" not in {task.get_name() for task in asyncio.all_tasks()}
        assert service.total_sockets == 1
        clock.leap(12.0)
        await rises()
        await service.until(lambda: service.open_sockets == 1)
        assert app.log.count == 0
    assert service.total_sockets == 2
    assert (service.heard_samples, service.stray_bytes, service.once_requests) == (0, 0, [])


@pytest.fixture
def untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Set up Gemini except for the consent, and check that no connection was made."""
    surroundings(tmp_path, monkeypatch)
    monkeypatch.setenv("HEARTH_PRIVACY__ACCEPT_CLOUD", "false")
    monkeypatch.setenv("GEMINI_API_KEY", "a-key-that-would-do")
    with socket.create_server(("127.0.0.1", 0)) as google:
        monkeypatch.setenv(
            "HEARTH_GEMINI__BASE_URL", f"https://127.0.0.1:{google.getsockname()[1]}"
        )
        yield monkeypatch
        google.setblocking(False)
        with pytest.raises(BlockingIOError):
            google.accept()


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("command", ["hear", "ask"])
def test_without_consent_not_a_byte(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = make_clip(SpokenCommand("clip", "turn off the dining room light", "rms"), tmp_path)
    given = [str(clip), "--fast"] if command == "hear" else ["turn off the dining room light"]
    assert main([command, *given, "--json"]) == 0
    captured = capsys.readouterr()
    told = one_value(captured.out)
    assert told["brain"] == "offline"
    assert [call["status"] for call in told["tool_calls"]] == ["done"]
    assert captured.err.count(f"hearth: {NO_CONSENT}\n") == 1


@pytest.mark.parametrize(("key", "times"), [("a-key-that-would-do", 1), ("", 0)])
def test_without_consent_a_process_that_stays_says_so_once_if_it_has_a_key(
    untouched: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    key: str,
    times: int,
) -> None:
    untouched.setenv("GEMINI_API_KEY", key)
    clip = make_clip(SpokenCommand("clip", "turn off the dining room light", "rms"), tmp_path)
    twice = clip_of(tmp_path / "twice.wav", clip, 4.0, clip, 0.5)
    # The second time waits for the end of the first turn, however long that takes here.
    untouched.setattr(
        "assistant.app.daemon.WavSource", lambda path, realtime: WavSource(path, realtime=False)
    )
    for name, value in {
        "AUDIO__INPUT": f"file:{twice.path}",
        "AUDIO__OUTPUT": "null",
        "HTTP__PORT": str(free_port()),
    }.items():
        untouched.setenv(f"HEARTH_{name}", value)
    assert main(["run"]) == 0
    captured = capsys.readouterr()
    assert captured.err.count(f"hearth: {NO_CONSENT}\n") == 1
    assert captured.out.count("my privacy settings don't allow the cloud") == times
    assert captured.out.count("dining room") == 2  # both turns were served


def _only_gemini(folder: Path, service: GeminiSimulator) -> Settings:
    return gemini_settings(service, folder, brain={"order": ["gemini-live"]})


def _place(turn: HeardTurn, day: bytes) -> Heard:
    """Return the only place in the day at which the service's sound lies."""
    places = find(turn.pcm, day)
    assert len(places) == 1, f"turn {turn.index} is no part of the day, or not one part only"
    return Heard(places[0], places[0] + len(turn.pcm) // 2)


def _shared(place: Heard, other: tuple[int, int]) -> int:
    """Return the number of samples that lie in both."""
    return max(0, min(place.end, other[1]) - max(place.start, other[0]))
