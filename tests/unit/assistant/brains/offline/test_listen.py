"""Tests of the way from sound to command, with a scripted recogniser."""

import asyncio
import math
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from wyoming.event import Event, async_read_event, async_write_event

from assistant.brains.offline import listen
from assistant.brains.offline.listen import HEARING_S, Listener, RemoteRecognizer, make_recognizer
from assistant.brains.offline.parse import ParsedCommand
from audio.errors import DeviceLost, InputUnusable, TookTooLong
from audio.recognize.protocol import Decoding, Grammar, HeardWord
from audio.recognize.sphinx import SphinxRecognizer
from tests.corpus.house import corpus_house
from tests.corpus.runs import corpus_brain, hear
from tests.corpus.speech import Spoken
from tests.ports import closed_port

SOUND = Spoken(bytes(64_000), 4_800)
_STEP = 4_000  # samples a word
PHONES = {
    "lock": "L AA K", "look": "L UH K", "unlock": "AH N L AA K", "and": "AH N D", "the": "DH AH",
    "front": "F R AH N T", "door": "D AO R",
}  # fmt: skip


def words(text: str) -> Decoding:
    first = 6_400
    return Decoding(
        tuple(
            HeardWord(word, first + number * _STEP, first + (number + 1) * _STEP, -1.5)
            for number, word in enumerate(text.split())
        )
    )


class ToldRecognizer:
    """Hears `command` by grammar, and one of `free` after the other without; the last one
    repeats."""

    languages = ("en",)

    def __init__(self, command: str, free: Sequence[str]) -> None:
        self._command = command
        self._free = list(free)

    def unknown(self, words: Sequence[str]) -> list[str]:
        return []

    def phones(self, word: str) -> tuple[str, ...]:
        return tuple(PHONES[word].split())

    def prepare(self, grammar: Grammar) -> None:
        assert grammar.jsgf

    def decode(self, pcm: bytes) -> Decoding:
        return words(self._command)

    def decode_freely(self, pcm: bytes) -> Decoding:
        if len(pcm) < 20_000:  # loading the model
            return Decoding(())
        return words(self._free.pop(0) if len(self._free) > 1 else self._free[0])

    def transcribe(self, pcm: bytes) -> str:
        return self.decode_freely(pcm).text


class Counting(ToldRecognizer):
    """A recogniser that counts its grammars."""

    grammars = 0

    def prepare(self, grammar: Grammar) -> None:
        super().prepare(grammar)
        self.grammars += 1


@pytest.mark.parametrize(
    ("free", "calls"),
    [
        (["look the front door"], 1),
        (["the the the the the the", "look the front door"], 1),  # another start hears better
        (["and look the front door", "look the front door"], 0),  # "unlock": nothing may mend that
    ],
)
async def test_a_command_that_may_mean_another_is_not_tried_again(
    free: list[str], calls: int
) -> None:
    brain = corpus_brain(ToldRecognizer("lock the front door", free))
    turn = await hear(brain, SOUND)
    brain.close()
    assert len(turn.calls) == calls


async def test_what_is_typed_needs_no_grammar_and_what_is_said_gets_one_for_each_room() -> None:
    recognizer = Counting("turn on the kitchen light", ["turn on the kitchen light"])
    listener, house = Listener(recognizer), corpus_house()
    try:
        typed = await listener.read("turn on the kitchen light", "en", house, "kitchen")
        assert [
            command.intent for command in typed.commands if isinstance(command, ParsedCommand)
        ] == ["HassTurnOn"]
        assert recognizer.grammars == 0
        await listener.prepare(house, "kitchen")
        await listener.prepare(house, "kitchen")
        assert recognizer.grammars == 1
        await listener.prepare(house, "office")
        assert recognizer.grammars == 2
    finally:
        listener.close()


class Endless(ToldRecognizer):
    """A recogniser that never finishes, and looks at the time as it is asked to."""

    def __init__(self) -> None:
        super().__init__("", [""])
        self.limits: list[float] = []

    def finish_within(self, seconds: float) -> None:
        self.limits.append(seconds)

    def decode(self, pcm: bytes) -> Decoding:
        raise TookTooLong("too long")

    decode_freely = decode


class Blocking(ToldRecognizer):
    """A recogniser that cannot be stopped before the test ends."""

    def __init__(self) -> None:
        super().__init__("", [""])
        self.over = threading.Event()

    def transcribe(self, pcm: bytes) -> str:
        self.over.wait()
        return "too late"


async def test_a_recogniser_that_can_is_told_how_long_it_may_take_and_only_for_a_sound() -> None:
    recognizer = Endless()
    listener, house = Listener(recognizer), corpus_house()
    try:
        with pytest.raises(TookTooLong):
            await listener.hear(SOUND.pcm, SOUND.detection, "en", house, "")
        assert recognizer.limits == [HEARING_S, math.inf]
    finally:
        listener.close()


async def test_one_that_cannot_be_stopped_is_waited_for_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listen, "HEARING_S", 0.05)
    recognizer = Blocking()
    listener = Listener(recognizer)
    try:
        with pytest.raises(TookTooLong):
            await listener.transcribe(bytes(3200))
    finally:
        recognizer.over.set()
        listener.close()


# --- What `offline.recognizer` may say, and what a worker thread gets of it.


async def test_a_server_is_asked_from_a_worker_thread() -> None:
    asked: list[str | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (event := await async_read_event(reader)) and event.type != "audio-stop":
            if event.type == "transcribe":
                asked.append(event.data.get("language"))
        await async_write_event(Event("transcript", {"text": "¡Enciende la Luz!"}), writer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        for languages, expected in ((["es-MX"], "es"), (["es", "en"], None)):
            recognizer = make_recognizer(f"tcp://127.0.0.1:{port}", languages)
            text = await asyncio.to_thread(recognizer.transcribe, bytes(3200))
            assert text == "enciende la luz"
            assert asked.pop() == expected
    assert recognizer.languages == ("es", "en")


def test_a_server_that_is_away_may_be_tried_again() -> None:
    with closed_port() as port:
        recognizer = make_recognizer(f"wyoming://127.0.0.1:{port}", ["en"])
        assert isinstance(recognizer, RemoteRecognizer)
        with pytest.raises(DeviceLost, match="cannot be reached"):
            recognizer.transcribe(b"")


def test_the_built_in_one_hears_english() -> None:
    recognizer = make_recognizer("", ["es"])
    assert isinstance(recognizer, SphinxRecognizer)
    assert recognizer.languages == ("en",)


@pytest.mark.parametrize("value", ["http://box:80", "tcp://"])
def test_an_address_that_is_none_names_the_setting(value: str) -> None:
    with pytest.raises(InputUnusable, match=r"offline\.recognizer: .* write it as"):
        make_recognizer(value, ["en"])


def test_all_else_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match="does not exist"):
        make_recognizer(str(tmp_path / "vosk"), ["en"])
    with pytest.raises(InputUnusable, match="neither a vosk nor a sherpa-onnx model"):
        make_recognizer(str(tmp_path), ["en"])
