"""Speech to text by a Wyoming server on the local network."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from wyoming.asr import Transcribe, Transcript
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event

from integrations.errors import Misconfigured, Refused, Unavailable

DEFAULT_PORT = 10300  # used by Home Assistant's Whisper and Speech-to-Phrase add-ons
_RATE = 16_000  # Hz
_CHUNK_BYTES = _RATE // 10 * 2  # 100 ms
# The audio events are built by hand, because `wyoming.audio` imports audioop, which warns and was
# removed in Python 3.13.
_FORMAT = {"rate": _RATE, "width": 2, "channels": 1}


def parse_address(address: str) -> tuple[str, int]:
    """Return the host and port of an address such as "tcp://host:10300" or "wyoming://host". The
    default port is DEFAULT_PORT (10300). Raises Misconfigured."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("tcp", "wyoming"):
        raise Misconfigured(
            f'"{address}" is not the address of a Wyoming server; write it as "tcp://host:10300".'
        )
    return host, port or DEFAULT_PORT


class WyomingRecognizer:
    """A client of a Wyoming server."""

    def __init__(self, host: str, port: int, language: str | None, timeout_s: float = 15.0) -> None:
        """`language` is a code such as "en", or None to let the server decide. `timeout_s` is the
        time limit for a whole transcription, in seconds."""
        self._host = host
        self._port = port
        self._language = language
        self._timeout_s = timeout_s

    async def transcribe(self, pcm: bytes) -> str:
        """Return the server's transcript of 16 kHz mono int16 audio, unchanged.

        Raises Unavailable if the server cannot be reached or does not answer in time, Refused if it
        reports an error, and Misconfigured if the address belongs to a different service.
        """
        async with self._limits(), AsyncTcpClient(self._host, self._port) as client:
            await client.write_event(Transcribe(language=self._language).event())
            await client.write_event(Event("audio-start", dict(_FORMAT)))
            for start in range(0, len(pcm), _CHUNK_BYTES):
                chunk = pcm[start : start + _CHUNK_BYTES]
                await client.write_event(Event("audio-chunk", dict(_FORMAT), chunk))
            await client.write_event(Event("audio-stop"))
            return await self._transcript(client)

    async def _transcript(self, client: AsyncTcpClient) -> str:
        while (event := await client.read_event()) is not None:
            if Transcript.is_type(event.type):
                text = event.data.get("text")
                if not isinstance(text, str):
                    raise Misconfigured(f"{self._name} sent a transcript without text.")
                return text
            if Error.is_type(event.type):
                reason = str(event.data.get("text", "no reason given"))[:200]
                raise Refused(f"{self._name} could not transcribe: {reason}")
        raise Unavailable(f"{self._name} closed the connection without a transcript.")

    @property
    def _name(self) -> str:
        return f"The speech server {self._host}:{self._port}"

    @asynccontextmanager
    async def _limits(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._timeout_s):
                yield
        except TimeoutError:
            raise Unavailable(
                f"{self._name} did not answer within {self._timeout_s:g} seconds."
            ) from None
        # The wyoming package does not validate what it reads.
        except (KeyError, AttributeError, TypeError) as error:
            raise Misconfigured(f"{self._name} does not speak the Wyoming protocol.") from error
        except (OSError, EOFError) as error:
            raise Unavailable(f"{self._name} cannot be reached: {error}.") from error
