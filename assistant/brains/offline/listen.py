"""Recognise speech and find commands in it, on a worker thread."""

import asyncio
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assistant.brains.offline.frames import Ask
from assistant.brains.offline.grammar import WAKE, is_talk, sayable
from assistant.brains.offline.names import Names, house_names, naming
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.phones import hopeless, weigh
from assistant.brains.offline.reading import Reader
from assistant.brains.offline.talk import Talk
from audio.errors import DeviceLost, InputUnusable, TookTooLong
from audio.frames import SAMPLES_PER_MS
from audio.recognize.folder import open_model_folder
from audio.recognize.protocol import (
    Decoding,
    DigitRecognizer,
    GrammarRecognizer,
    PunctualRecognizer,
    Recognizer,
    plain_words,
)
from audio.recognize.sphinx import SphinxRecognizer
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.house import House

if TYPE_CHECKING:
    from integrations.wyoming import WyomingRecognizer


_Result = TypeVar("_Result")
_NO_TALK = Talk()

# Maximum seconds to recognise one utterance. A command of 3 s takes 0.7 s of a server core, but
# noise and foreign speech have taken half a minute on a busy machine.
HEARING_S = 20.0
# Engines report a detection up to this long after the end of the word.
_BEFORE_DETECTION = 200 * SAMPLES_PER_MS
_TALK_FIT = -4.5  # a "don't" with a lower fit is really the end of the wake word
_WAKE_TAIL = 200 * SAMPLES_PER_MS  # the wake word can continue this long after the detection


@dataclass(frozen=True, slots=True)
class Understood:
    """A sentence, and the commands found in it."""

    text: str  # recognised text; "" for none
    language: str  # language of the text
    # Empty if there is none. An Ask is a command of which the person has to choose the target.
    commands: tuple[ParsedCommand | Ask, ...] = ()
    dropped: bool = False  # the person doesn't want what they were asked about


class Listener:
    """Owns the recogniser, its worker thread, and the reader and grammar for the house's names."""

    def __init__(
        self, recognizer: Recognizer, meant: Callable[[str], str] = lambda text: text
    ) -> None:
        """`meant` returns what the household means by a sentence of its own."""
        self._recognizer = recognizer
        self._meant = meant
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recogniser")
        self._names = Names((), (), ())
        self._known: object = None  # value of `naming` for which the reader was built
        # Value of `naming` and area for which the grammar was built.
        self._heard: tuple[object, str] = (None, "")
        self._warm = False  # templates and language model are loaded
        self._reader = Reader(Names((), (), ()))

    @property
    def languages(self) -> tuple[str, ...]:
        return self._recognizer.languages

    async def prepare(self, house: House, area_id: str = "") -> None:
        """Load the models and build the grammar for this house, so that the first turn is fast."""
        await self._run(self._prepare, house, area_id)

    async def read(
        self, text: str, language: str, house: House, area_id: str, talk: Talk = _NO_TALK
    ) -> Understood:
        """Find the commands in a typed sentence. `talk` is the conversation before it."""
        return await self._run(self._read, text, language, house, area_id, talk)

    async def hear(
        self,
        pcm: bytes,
        detection: int,
        language: str,
        house: House,
        area_id: str,
        talk: Talk = _NO_TALK,
    ) -> Understood:
        """Recognise a turn's audio and find the command in it.

        `detection` is the position of the wake word's detection, in samples. Raises AudioError, in
        particular TookTooLong after HEARING_S.
        """
        return await self._in_time(self._hear, pcm, detection, language, house, area_id, talk)

    async def transcribe(self, pcm: bytes) -> str:
        """Return a transcript of 16 kHz mono int16 audio. Raises the same errors as `hear`."""
        return await self._in_time(self._recognizer.transcribe, pcm)

    async def spell(self, pcm: bytes) -> str:
        """Return the number words in 16 kHz mono int16 audio, or "" if there are none.

        A recogniser that can't be limited to numbers returns a full transcript instead. Raises the
        same errors as `hear`.
        """
        recognizer = self._recognizer
        digits = recognizer.spell if isinstance(recognizer, DigitRecognizer) else None
        return await self._in_time(digits or recognizer.transcribe, pcm)

    def close(self) -> None:
        """Stop the worker thread after its current task, without waiting for it."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _in_time(self, work: Callable[..., _Result], *arguments: object) -> _Result:
        try:
            async with asyncio.timeout(HEARING_S):
                return await self._run(self._punctual, work, *arguments)
        except TimeoutError:  # this recogniser can't be stopped, so its thread finishes later
            raise TookTooLong("The recogniser took too long.") from None

    def _punctual(self, work: Callable[..., _Result], *arguments: object) -> _Result:
        recognizer = self._recognizer
        if not isinstance(recognizer, PunctualRecognizer):
            return work(*arguments)
        recognizer.finish_within(HEARING_S)
        try:
            return work(*arguments)
        finally:
            recognizer.finish_within(math.inf)  # building the grammar has no time limit

    async def _run(self, work: Callable[..., _Result], *arguments: object) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _prepare(self, house: House, area_id: str) -> None:
        self._listen_for(house, area_id)
        if self._warm:
            return
        for language in self._recognizer.languages:
            self._reader.parse("hello", language)  # loads the templates of that language
        if isinstance(self._recognizer, GrammarRecognizer):
            self._recognizer.decode_freely(bytes(2 * _WAKE_TAIL))
        self._warm = True

    def _use(self, house: House) -> None:
        known = naming(house)
        if known == self._known:
            return
        self._names = house_names(house)
        self._reader = Reader(self._names)
        self._known = known

    def _listen_for(self, house: House, area_id: str) -> None:
        # Typed text must not come here: it doesn't need the grammar, which takes much longer to
        # build than the parser.
        self._use(house)
        known, room = self._heard
        if (known is self._known and room == area_id) or not isinstance(
            self._recognizer, GrammarRecognizer
        ):
            return
        unknown = self._recognizer.unknown
        self._recognizer.prepare(sayable(self._names, house, area_id, unknown))
        self._heard = (self._known, area_id)

    def _read(self, text: str, language: str, house: House, area_id: str, talk: Talk) -> Understood:
        self._use(house)
        chosen = self._reader.answer(text, language, house, talk)
        if chosen is not None:
            return Understood(text, language, chosen, dropped=not chosen)
        commands = self._reader.read(self._meant(text), language, house, area_id, talk)
        return Understood(text, language, tuple(commands))

    def _hear(
        self,
        pcm: bytes,
        detection: int,
        language: str,
        house: House,
        area_id: str,
        talk: Talk,
    ) -> Understood:
        self._listen_for(house, area_id)
        spoken = language if self._hears(language) else self._recognizer.languages[0]
        if not isinstance(self._recognizer, GrammarRecognizer):
            text = self._recognizer.transcribe(pcm[2 * detection :])
            return self._read(text, spoken, house, area_id, talk)
        heard = self._hear_command(self._recognizer, pcm, detection, spoken, area_id)
        # The answer to a question isn't in the grammar.
        chosen = self._reader.answer(heard.text, spoken, house, talk)
        if heard.commands:
            return heard
        if chosen is None:  # neither are the household's own sentences
            own = self._meant(heard.text) != heard.text
            return self._read(heard.text, spoken, house, area_id, talk) if own else heard
        return Understood(heard.text, spoken, chosen, dropped=not chosen)

    def _hears(self, language: str) -> bool:
        codes = {code.partition("-")[0] for code in self._recognizer.languages}
        return language.partition("-")[0] in codes

    def _hear_command(
        self,
        recognizer: GrammarRecognizer,
        pcm: bytes,
        detection: int,
        language: str,
        area_id: str,
    ) -> Understood:
        # Wake word engines differ in when they report a detection, and a start within the wake word
        # can mislead recognition. Several start positions are therefore tried.
        free = Decoding(())
        for start in dict.fromkeys((max(0, detection - _BEFORE_DETECTION), detection, 0)):
            sound = pcm[2 * start :]
            said = [word for word in recognizer.decode(sound).words if word.text != WAKE]
            text = " ".join(word.text for word in said)
            command = self._reader.parse(text, language, area_id) if said else None
            if command is None and is_talk(text) and said[0].fit > _TALK_FIT:
                break
            if command is None or hopeless(said):
                continue
            free = recognizer.decode_freely(sound)
            wake_until = max(0, detection - start) + _WAKE_TAIL
            evidence = weigh(said, free, wake_until, recognizer.phones)
            if evidence.accepted:
                return Understood(text, language, (command,))
            if evidence.opposed:  # another start position could accept it by mistake
                break
        if not free.words:
            free = recognizer.decode_freely(pcm[2 * detection :])
        return Understood(free.text, language)


# Recognisers for `offline.recognizer`: built-in, on the network, or from a model folder.


class RemoteRecognizer:
    """A Wyoming server, as a blocking recogniser."""

    def __init__(self, server: "WyomingRecognizer", languages: tuple[str, ...]) -> None:
        self._server = server
        self._languages = languages

    @property
    def languages(self) -> tuple[str, ...]:
        return self._languages

    def transcribe(self, pcm: bytes) -> str:
        """Return a transcript of 16 kHz mono int16 audio.

        Raises DeviceLost if the server is unavailable, and InputUnusable for other errors of the
        server.
        """
        try:
            # The worker thread has no event loop, so create one for this request.
            return plain_words(asyncio.run(self._server.transcribe(pcm)))
        except Unavailable as error:
            raise DeviceLost(str(error)) from error
        except IntegrationError as error:
            raise InputUnusable(str(error)) from error


def make_recognizer(value: str, languages: Sequence[str]) -> Recognizer:
    """Return the recogniser for a value of `offline.recognizer`.

    "" means the built-in recogniser, an address with "://" a Wyoming server, and anything else the
    path of a model folder. `languages` are the configured languages. Loads models, so call it on a
    worker thread. Raises InputUnusable.
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
    # With a single language, the server doesn't have to guess.
    server = WyomingRecognizer(host, port, bases[0] if len(bases) == 1 else None)
    return RemoteRecognizer(server, bases)
