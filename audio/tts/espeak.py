"""espeak-ng's voices, which are robotic, but always available and in many languages."""

import logging
import os
import select
import struct
import subprocess
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO

from audio.errors import InputUnusable
from audio.tts import Chunk, Speed, plain, speed_now, spelled

logger = logging.getLogger(__name__)

RATE = 22_050  # Hz, the rate of espeak-ng 1.51
WORDS_A_MINUTE = 175  # espeak-ng's default, which is speed 1.0 here
PIECE_BYTES = 8192  # about 190 ms
PATIENCE_SECONDS = 10.0  # longest wait for the next byte
HEADER_BYTES = 44  # the WAV header that espeak-ng writes in front of a stream
DEFAULT_VOICE = "en-us"

# Languages whose espeak-ng name differs from the code, or that have several voices.
_NAMED = {"en": "en-us", "zh": "cmn", "no": "nb", "fr": "fr-fr", "es-mx": "es-419", "iw": "he"}
# Names that are equal to the language code in espeak-ng 1.51 (`espeak-ng --voices`).
_CODES = (
    "af ar bg bn bs ca cs cy da de el en-gb en-us eo es es-419 et eu fa fi fr-be fr-ch ga gu he hi "
    "hr hu hy id is it ja ka kk kn ko ky lt lv mk ml mr ms mt nb ne nl or pa pl pt pt-br ro ru "
    "si sk sl sq sr sv sw ta te th tr uk ur uz vi"
)
_KNOWN = frozenset(_CODES.split())


def espeak_name(language: str) -> str:
    """Return espeak-ng's voice name for a language code such as "en", "pt-BR" or "es_MX", or
    "en-us" for an unknown language."""
    code = language.strip().lower().replace("_", "-")
    for candidate in (code, code.split("-")[0]):
        name = _NAMED.get(candidate, candidate)
        if name in _KNOWN or name in _NAMED.values():
            return name
    logger.warning(
        "espeak-ng has no voice for the language %r; %s is used instead.", language, DEFAULT_VOICE
    )
    return DEFAULT_VOICE


class EspeakVoice:
    """A voice that runs one espeak-ng process per clause and passes on its audio as it arrives.

    With `ahead`, the next clause's process is started in advance, for programs that keep running.
    `speak` raises InputUnusable if espeak-ng is missing or fails.
    """

    def __init__(
        self,
        language: str,
        speed: Speed = 1.0,
        program: str = "espeak-ng",
        *,
        ahead: bool = False,
    ) -> None:
        self._voice = espeak_name(language)
        self._speed = speed
        self._program = program
        self._spare = _Spare() if ahead else None

    @property
    def name(self) -> str:
        return f"espeak:{self._voice}"

    @property
    def rate(self) -> int:
        return RATE

    def speak(self, text: str) -> Iterator[Chunk]:
        line = spelled(plain(text), self._voice)
        if not line:
            return
        command = self._command
        waiting = None if self._spare is None else self._spare.take(command)
        process = waiting or self._start(command)
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with process.stdin:
                process.stdin.write(line.encode())
            _check_header(_read(process.stdout, HEADER_BYTES))
            rest = b""
            while piece := _wait_and_read(process.stdout):
                piece = rest + piece
                whole = len(piece) - len(piece) % 2
                rest = piece[whole:]
                yield Chunk(piece[:whole])
                self._start_ahead()
            self._check_end(process)
        except BrokenPipeError as error:
            raise InputUnusable("espeak-ng ended before it had read the whole text.") from error
        finally:
            _end(process)

    @property
    def _command(self) -> list[str]:
        # Pass the text through stdin. An argument could be mistaken for an option, and every user
        # of the machine could see it.
        command = [self._program, "--stdin", "--stdout", "-b", "1"]
        words_a_minute = min(450, max(80, round(WORDS_A_MINUTE * speed_now(self._speed))))
        return [*command, "-v", self._voice, "-s", str(words_a_minute)]

    def _start_ahead(self) -> None:
        if self._spare is None or self._spare.waits:
            return
        command = self._command
        with suppress(InputUnusable):  # don't interrupt the current clause
            self._spare.put(command, self._start(command))

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        except FileNotFoundError as error:
            raise InputUnusable(
                f"{self._program} is not installed; run: sudo apt install espeak-ng"
            ) from error
        except OSError as error:  # too many open files, no memory, no permission
            raise InputUnusable(f"{self._program} does not start: {error.strerror}.") from error

    def _check_end(self, process: subprocess.Popen[bytes]) -> None:
        try:
            code = process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise InputUnusable("espeak-ng did not end after its last sound.") from error
        if code:
            raise InputUnusable(f"espeak-ng failed with exit code {code} ({self.name}).")


class _Spare:
    """A process that was started in advance, has loaded its voice and waits for text. Starting a
    process only when it is needed would delay the first audio by 20 to 120 ms."""

    def __init__(self) -> None:
        self._command: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._forget: Callable[[], object] = _nothing  # cancels the end-of-life cleanup

    @property
    def waits(self) -> bool:
        return self._process is not None

    def put(self, command: list[str], process: subprocess.Popen[bytes]) -> None:
        self._command, self._process = command, process
        # End the process when this object is freed.
        self._forget = weakref.finalize(self, _end, process).detach

    def take(self, command: list[str]) -> subprocess.Popen[bytes] | None:
        process, self._process = self._process, None
        self._forget()
        if process is not None and (command != self._command or process.poll() is not None):
            _end(process)
            return None
        return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):  # text that was never read
                pipe.close()


def _nothing() -> None:
    return None


def _read(pipe: IO[bytes], size: int) -> bytes:
    data = b""
    while len(data) < size and (piece := _wait_and_read(pipe, size - len(data))):
        data += piece
    return data


def _wait_and_read(pipe: IO[bytes], size: int = PIECE_BYTES) -> bytes:
    ready, _, _ = select.select([pipe], [], [], PATIENCE_SECONDS)
    if not ready:
        raise InputUnusable(f"espeak-ng produced no audio for {PATIENCE_SECONDS:.0f} s.")
    return os.read(pipe.fileno(), size)


def _check_header(header: bytes) -> None:
    if len(header) < HEADER_BYTES or header[:4] != b"RIFF" or header[36:40] != b"data":
        raise InputUnusable("espeak-ng produced no audio; run `espeak-ng hello` to see why.")
    channels, rate = struct.unpack_from("<HI", header, 22)
    if (channels, rate) != (1, RATE):
        raise InputUnusable(f"espeak-ng speaks at {rate} Hz instead of {RATE} Hz.")
