"""A short conversation with Gemini Live, as part of `hearth doctor --cloud`. A synthetic voice asks
questions, and the model's tool calls are answered without being carried out."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from assistant.app.home import HomeContext
from assistant.app.model_access import access_of
from assistant.brains.gemini.calls import not_run_response
from assistant.brains.gemini.repair import NAME, SetupRepair, key_of, read_refused
from assistant.brains.gemini.turn import PIECE_BYTES
from assistant.brains.gemini.usage import UsageMeter, spent
from assistant.config.schema import Settings
from assistant.doctor import cloud_findings as judged
from assistant.doctor.cloud_findings import CloudAnswer, CloudFindings, SetupFacts
from assistant.doctor.finding import good, odd
from assistant.domain.brain import Usage
from assistant.domain.clock import Clock
from assistant.tools.builtin.date_and_weather import DATE_AND_TIME
from audio.errors import AudioError
from audio.frames import SAMPLE_RATE
from audio.resampling import resample
from audio.tts.espeak import EspeakVoice
from integrations.errors import IntegrationError
from integrations.gemini.events import (
    Closed,
    FunctionCall,
    FunctionCalls,
    InputText,
    LiveEvent,
    OutputAudio,
    OutputText,
    TokensUsed,
    TurnComplete,
)
from integrations.gemini.live import FunctionAnswer, LiveSession
from integrations.gemini.models import cost_usd
from integrations.gemini.setup import LiveSetup

SETUP_S = 15.0  # longer than a turn waits, to tell a slow service from a silent one
ANSWER_S = 10.0
MOST_ROUNDS = 3  # answers to calls in one question; each is billed as another turn
LATE_S = 2.0  # for late transcripts after the end of an answer
QUIET_S = 1.0  # in which a note must not be answered
HANDLE_S = 2.0
_ANSWER_TOKENS = 150  # of a usual answer
_PIECE_S = PIECE_BYTES / 2 / SAMPLE_RATE
_PAUSE = bytes(3 * PIECE_BYTES)  # silence after the speech

# Names that are the same in every language, so that answers can be checked for them.
_TEST_WORD, _NOTE_WORD = "Toronto", "Lima"
_TYPED = f"The test word is {_TEST_WORD}. What time is it? Call the tool {{tool}} for it, once."
_TYPED_ALONE = f"The test word is {_TEST_WORD}. Say only: understood."
_NOTE = f"(For your information: the word in the note is {_NOTE_WORD}. Do not answer this.)"
_LONG = "Count aloud from one to fifty, slowly, as numbers in words."
_RECALL = "What was the test word?"
_WITHOUT_HANDLE = (
    "nothing to do: Hearth then opens a new session and sends the last exchanges as text"
)

Send = Callable[[], Awaitable[object]]


class CloudConversation:
    """The conversation of one test, which may cost at most `limit_usd`."""

    def __init__(
        self,
        settings: Settings,
        home: HomeContext,
        clock: Clock,
        findings: CloudFindings,
        facts: SetupFacts,
        limit_usd: float,
    ) -> None:
        self.usage = Usage(0, 0)
        self._limit_usd = limit_usd
        self._settings = settings
        self._home = home
        self._clock = clock
        self._findings = findings
        self._report = findings.report
        self._facts = facts
        self._events: list[tuple[float, LiveEvent]] = []  # of the current question
        self._changed = asyncio.Event()
        self._meter = UsageMeter()

    def can_pay(self, setup: LiveSetup, turns: int = 1) -> bool:
        """Return True if this number of further turns would stay within the limit."""
        read = turns * int(self._report.figures.get("input_tokens", self._facts.tokens))
        said = turns * _ANSWER_TOKENS
        more = TokensUsed(read, said, {"input_text": read, "output_audio": said})
        return self._report.cost_usd + cost_usd(setup.row, more) <= self._limit_usd

    async def open(self, repair: SetupRepair, setup: LiveSetup) -> LiveSession | None:
        """Open a session, and report the parts of the setup that the service refused. Returns None
        if the session can't be opened."""
        connect_s = self._settings.gemini.connect_timeout_s
        began = self._clock.monotonic()
        try:
            session = await repair.connect(setup, self._take, SETUP_S)
        except IntegrationError as error:
            told = judged.failed(f"not opened with {self._facts.told}", error)
            self._findings.add("live session", told)
            return None
        self._meter.opened(setup)
        ms = (self._clock.monotonic() - began) * 1000
        stored = await self._home.store.kept(NAME)
        model = key_of(setup.row.name, access_of(self._settings).edition)
        refused = read_refused(stored, model, self._clock.now())
        found = judged.judge_setup(self._facts, ms, refused, connect_s)
        self._findings.add("live session", found, ms, "setup_ms")
        return session

    async def converse(self, repair: SetupRepair, setup: LiveSetup, session: LiveSession) -> None:
        """Ask everything that the limit allows, and then resume the session if possible."""
        for turns, step in ((1, self._speak), (2, self._type), (3, self._interrupt)):
            if session.closed:
                return
            if not self.can_pay(setup, turns):
                self._findings.add("cost", good("the rest is not tried, to stay within the limit"))
                return
            await step(session, setup)
        await self._until(lambda: session.handle is not None, HANDLE_S)
        handle = session.handle
        await session.close()
        if handle is None:
            self._findings.add("resumption", odd("the service gave no handle", _WITHOUT_HANDLE))
        elif self.can_pay(setup):
            await self._resume(repair, replace(setup, handle=handle))

    # --- the steps

    async def _speak(self, session: LiveSession, setup: LiveSetup) -> None:
        try:
            speech = await self._speech("cloud_test.question")
        except AudioError as error:
            self._findings.add("spoken question", odd("not tried", str(error)))
            return
        answer = await self._ask(session, setup, lambda: self._say(session, speech), late_s=LATE_S)
        gemini, native = self._settings.gemini, self._settings.voice.engine == "gemini"
        found = judged.judge_spoken(answer, self._facts, gemini.first_event_timeout_s)
        self._findings.add("spoken question", found, answer.first_ms(OutputAudio), "first_sound_ms")
        if not answer.has_answer:
            return
        found = judged.judge_transcript(answer)
        self._findings.add("transcript", found, answer.last_ms(InputText), "transcript_ms")
        found = judged.judge_text(answer, gemini.late_text_ms, native_voice=native)
        self._findings.add("answer's text", found, answer.first_ms(OutputText), "first_text_ms")
        self._report.figures["input_tokens"] = self.usage.input_tokens
        self._report.figures["output_tokens"] = self.usage.output_tokens
        self._findings.add("usage", judged.judge_usage(self._report))

    async def _type(self, session: LiveSession, setup: LiveSetup) -> None:
        names = [one.name for one in setup.declarations]
        tool = next((name for name in names if name.endswith(DATE_AND_TIME)), "")
        text = _TYPED.format(tool=tool) if tool else _TYPED_ALONE
        answer = await self._ask(session, setup, lambda: self._write(session, text), tool)
        found = judged.judge_typed(answer)
        self._findings.add(
            "typed question", found, answer.first_ms(OutputAudio), "typed_first_sound_ms"
        )
        if tool and answer.has_answer:
            ms = answer.first_ms(FunctionCalls)
            self._findings.add("tool call", judged.judge_call(answer.calls, tool), ms, "call_ms")

    async def _interrupt(self, session: LiveSession, setup: LiveSetup) -> None:
        try:
            speech = await self._speech("cloud_test.interruption")
        except AudioError:
            return  # reported by the spoken question
        answered_note = setup.row.client_content and await self._answers_note(session)
        speaks_s = 0.0

        async def send() -> None:
            nonlocal speaks_s
            await self._write(session, _LONG)
            await self._until(lambda: self._has(OutputAudio, Closed), ANSWER_S)
            self._meter.begin()  # two turns are paid for
            speaks_s = self._clock.monotonic()
            await self._say(session, speech)

        answer = await self._ask(session, setup, send, must_speak=True)
        ms = answer.interrupted_ms(speaks_s)
        found = judged.judge_interruption(answer, ms)
        self._findings.add("interruption", found, ms, "interruption_ms")
        if setup.row.client_content and answer.has_answer:
            found = judged.judge_note(answered_note, answer, _NOTE_WORD)
            self._findings.add("note", found)

    async def _answers_note(self, session: LiveSession) -> bool:
        self._events.clear()
        with suppress(IntegrationError):  # the next question reports it
            await self._write(session, _NOTE, complete=False)
        return await self._until(lambda: self._has(OutputAudio, TurnComplete), QUIET_S)

    async def _resume(self, repair: SetupRepair, setup: LiveSetup) -> None:
        began = self._clock.monotonic()
        try:
            session = await repair.connect(setup, self._take, SETUP_S)
        except IntegrationError as error:
            found = odd(f"refused{judged.reason_of(error)}", _WITHOUT_HANDLE)
            self._findings.add("resumption", found)
            return
        self._meter.opened(setup)
        ms = (self._clock.monotonic() - began) * 1000
        answer = await self._ask(session, setup, lambda: self._write(session, _RECALL))
        await session.close()
        found = judged.judge_resumption(answer, _TEST_WORD)
        self._findings.add("resumption", found, ms, "resumption_ms")

    # --- questions and answers

    async def _ask(
        self,
        session: LiveSession,
        setup: LiveSetup,
        send: Send,
        tool: str = "",
        *,
        must_speak: bool = False,
        late_s: float = 0.0,
    ) -> CloudAnswer:
        """Send a question and return the answer. Calls of `tool` are answered with the time, and
        other calls are declined. With `must_speak`, a turn that ends without an answer is ignored,
        because it belongs to an earlier question."""
        self._events.clear()
        self._meter.begin()
        asked_s = self._clock.monotonic()
        try:
            with suppress(IntegrationError):  # the connection has ended, which Closed reports
                await send()
            asked_s = self._clock.monotonic()
            await self._listen(session, tool, len(self._events), must_speak)
            await asyncio.sleep(late_s)
        finally:  # even if the time is over, because it costs the same
            answer = CloudAnswer(asked_s, tuple(self._events))
            self._report.live = self._report.live or answer.has_answer
            self._count(setup)
        return answer

    async def _listen(self, session: LiveSession, tool: str, start: int, must_speak: bool) -> None:
        answered: set[str] = set()

        def pending() -> list[FunctionCall]:
            found = CloudAnswer(0.0, self._events).calls
            return [call for call in found if call.id not in answered]

        def over() -> bool:
            new = [one for _, one in self._events[start:]]
            spoke = any(isinstance(one, OutputAudio | OutputText) for one in new)
            ended = any(isinstance(one, TurnComplete) and one.idle for one in new)
            return self._has(Closed) or (ended and (spoke or not must_speak))

        for _ in range(MOST_ROUNDS):
            ended = await self._until(lambda: over() or bool(pending()), ANSWER_S)
            calls = pending()
            if not ended or not calls:
                return
            answered |= {call.id for call in calls}
            start, must_speak = len(self._events), True
            answers = [self._result(call, tool) for call in calls]
            self._meter.wrote(*(json.dumps(one.response) for one in answers))
            self._meter.generates()
            with suppress(IntegrationError):
                await session.answer(answers)

    def _result(self, call: FunctionCall, tool: str) -> FunctionAnswer:
        response = not_run_response()
        if call.name == tool:
            now = self._clock.now().astimezone()
            sentence = f"It is {now:%H:%M}."
            response = {"status": "done", "retryable": False, "sentence": sentence}
        return FunctionAnswer(call.id, call.name, response)

    def _count(self, setup: LiveSetup) -> None:
        cost = spent(setup.row, *self._meter.take())
        self.usage = self.usage + cost.usage
        self._report.charge(cost)

    # --- input and output

    async def _speech(self, key: str) -> bytes:
        language = self._settings.assistant.languages[0]
        text = self._home.catalogue.say(key, language)

        def speak() -> bytes:
            voice = EspeakVoice(language)
            made = b"".join(chunk.pcm for chunk in voice.speak(text))
            return resample(made, voice.rate, SAMPLE_RATE) + _PAUSE

        return await asyncio.to_thread(speak)

    async def _say(self, session: LiveSession, speech: bytes) -> None:
        await session.begin_activity()
        for start in range(0, len(speech), PIECE_BYTES):
            piece = speech[start : start + PIECE_BYTES]
            await session.send_audio(piece)
            self._meter.heard(piece)
            await self._clock.sleep(_PIECE_S)
        self._meter.generates()
        await session.end_activity()

    async def _write(self, session: LiveSession, text: str, *, complete: bool = True) -> None:
        self._meter.wrote(text)
        if complete:
            self._meter.generates()
        await session.send_text(text, complete=complete)

    def _take(self, event: LiveEvent) -> None:
        self._events.append((self._clock.monotonic(), event))
        self._meter.note(event)
        self._changed.set()

    def _has(self, *kinds: type[LiveEvent]) -> bool:
        return any(isinstance(one, kinds) for _, one in self._events)

    async def _until(self, holds: Callable[[], bool], limit_s: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
        return holds()
