"""The recogniser that `offline.recognizer` names: built in, on the network, or a model folder."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.domain.brain import BrainEvent, BrainFault, FaultKind, TurnRequest
from assistant.domain.outcome import ToolOutcome
from audio.errors import DeviceLost, InputUnusable
from audio.recognize.folder import open_model_folder
from audio.recognize.protocol import Recognizer, plain_words
from audio.recognize.sphinx import SphinxRecognizer
from integrations.errors import IntegrationError, Unavailable

if TYPE_CHECKING:
    from integrations.wyoming import WyomingRecognizer


# A rung that is set but cannot be there: it says why, so that the ladder can tell it and go on.


class AbsentBrain:
    """Stands for a brain that may not be asked, such as Gemini without `privacy.accept_cloud`."""

    def __init__(self, name: str, kind: FaultKind, message: str) -> None:
        """`message`: one sentence for the log and `--json`."""
        self._name = name
        self._fault = BrainFault(kind, message, retryable=False)

    @property
    def name(self) -> str:
        """Of the brain that it stands for."""
        return self._name

    def anticipate(self) -> None:
        """There is nothing to prepare."""

    def begin(self, request: TurnRequest) -> "AbsentTurn":
        """A turn that fails at once."""
        return AbsentTurn(self._fault)


class AbsentTurn:
    """Nothing but the fault."""

    def __init__(self, fault: BrainFault) -> None:
        self._fault = fault

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """The fault."""
        yield self._fault

    async def answer(self, outcome: ToolOutcome) -> None:
        """Nothing was asked for."""


class RemoteRecognizer:
    """A Wyoming server behind the blocking protocol of the other recognisers."""

    def __init__(self, server: "WyomingRecognizer", languages: tuple[str, ...]) -> None:
        self._server = server
        self._languages = languages

    @property
    def languages(self) -> tuple[str, ...]:
        """Language codes that the server is asked for."""
        return self._languages

    def transcribe(self, pcm: bytes) -> str:
        """Free text of 16 kHz mono int16. Raises DeviceLost (try again) and InputUnusable."""
        try:
            # Called from a worker thread, which has no event loop: this one lives for the request.
            return plain_words(asyncio.run(self._server.transcribe(pcm)))
        except Unavailable as error:
            raise DeviceLost(str(error)) from error
        except IntegrationError as error:
            raise InputUnusable(str(error)) from error


def make_recognizer(value: str, languages: Sequence[str]) -> Recognizer:
    """The recogniser for a value of `offline.recognizer`; `languages` are those configured.

    "" is the built-in one, "tcp://host:port" or "wyoming://host:port" a server, all else a folder.
    Loads models, so call it from a worker thread. Raises InputUnusable.
    """
    if not value:
        return SphinxRecognizer()
    if "://" not in value:
        return open_model_folder(Path(value).expanduser(), languages)
    from integrations.wyoming import WyomingRecognizer, parse_address

    bases = tuple(dict.fromkeys(language.split("-")[0] for language in languages))
    try:
        host, port = parse_address(value)
    except IntegrationError as error:
        raise InputUnusable(f"offline.recognizer: {error}") from None
    # Asked in one language the server need not guess; of several it must.
    server = WyomingRecognizer(host, port, bases[0] if len(bases) == 1 else None)
    return RemoteRecognizer(server, bases)
