"""What `offline.recognizer` may say, and what a worker thread gets of it."""

import asyncio
from pathlib import Path

import pytest
from wyoming.event import Event, async_read_event, async_write_event

from assistant.brains.offline.listen import RemoteRecognizer, make_recognizer
from audio.errors import DeviceLost, InputUnusable
from audio.recognize.sphinx import SphinxRecognizer
from tests.ports import closed_port


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
