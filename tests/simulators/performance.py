"""Run what a test has scripted, step by step, on one socket."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Protocol

from assistant.domain.clock import Clock
from tests.simulators import frames, script
from tests.simulators.records import CallRecord, Ending, Frame, HeardTurn
from tests.simulators.sound import FRAME_S, tone
from tests.simulators.sound import frames as sound_frames
from tests.simulators.wire import Json

_SECONDS_A_WORD = 0.35
_WORDS_A_PIECE = 3


class Stage(Protocol):
    """Requirements of a performance on its socket."""

    clock: Clock
    hears_input: bool  # the client wants the person's transcript
    hears_output: bool  # the client wants the model's transcript

    def send(self, item: Frame | Ending) -> None:
        """Send something, in order."""
        ...

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run something in the background for as long as the socket lives."""
        ...

    def offer_handle(self, resumable: bool) -> None:
        """Send a point to resume from, or that there is none; nothing if none are wanted."""
        ...

    def counted(self, turn: HeardTurn | None) -> script.Tokens | None:
        """Count the reply of a turn that ends. Returns its usage if the service reports it."""
        ...

    def turn_ended(self, turn: HeardTurn | None) -> None:
        """Note that the model's turn is complete."""
        ...

    def make_call(self, call: script.Call, turn: HeardTurn | None) -> CallRecord:
        """Note a call as open."""
        ...

    def take_back(self, ids: Sequence[str]) -> None:
        """Cancel calls (all open ones without ids) and tell the client."""
        ...

    async def answered(self, ids: Sequence[str]) -> None:
        """Wait until these calls (all open ones without ids) are settled."""
        ...


class Performance:
    """The steps of one turn, or of none, in order."""

    def __init__(
        self,
        stage: Stage,
        turn: HeardTurn | None,
        script_: script.Turn | None,
        respond: Callable[[HeardTurn], Sequence[script.Step]] | None = None,
    ) -> None:
        """`respond` writes the steps after the end of the input if there is no script."""
        self._stage = stage
        self.turn = turn
        self.script = script_ or script.Turn("audio", cut=None)
        self._respond = respond if script_ is None else None
        self._before = list(self.script.during)
        self._after = list(self.script.steps)
        self._ended = asyncio.Event()  # the end of the input
        self._late: list[asyncio.Task[None]] = []  # transcripts that lag behind their sound
        self.finished = False
        self.generating = False  # new input interrupts it

    @property
    def left(self) -> tuple[str, ...]:
        """Return the remaining steps."""
        late = sum(not task.done() or task.cancelled() for task in self._late)
        return (*map(repr, self._before + self._after), *["a late transcript"] * late)

    def input_ended(self) -> None:
        """Note the end of the input, so that the model's turn begins."""
        self.generating = True
        self._ended.set()

    def stop(self) -> None:
        """Cancel late transcripts."""
        for task in self._late:
            task.cancel()

    async def run(self) -> None:
        """Run the steps. Cancelled if the turn is cut off."""
        await self._do_all(self._before)
        await self._ended.wait()
        if self._respond and self.turn:
            self._after += self._respond(self.turn)
        await self._do_all(self._after)
        self.finished = True

    async def _do_all(self, steps: list[script.Step]) -> None:
        while steps:
            if steps[0] == script.Stall():  # it never ends, so it counts as done once it has begun
                steps.pop(0)
                await asyncio.Event().wait()
            await self._do(steps[0])
            steps.pop(0)

    async def _do(self, step: script.Step) -> None:
        plain = _plain(step)
        if plain is not None:
            self._send(plain)
            if isinstance(plain, Frame) and _ends_the_turn(plain.message):
                self._end()
            return
        match step:
            case script.Wait(seconds):
                await self._stage.clock.sleep(seconds)
            case script.Think(seconds):
                await self._think(seconds)
            case script.Stall(seconds, gate):
                await (opened(gate) if gate else self._stage.clock.sleep(seconds or 0.0))
            case script.Hear():
                await self._hear(step)
            case script.Say():
                await self._say(step)
            case script.Phantom(text):
                await self._speak([(0.0, None, text)], 0.0)
            case script.Sound(seconds):
                await self._speak([(0.0, pcm, None) for pcm in sound_frames(tone(seconds))], 0.0)
            case script.Call():
                await self._call((step,))
            case script.CallTogether(calls):
                await self._call(calls)
            case script.AwaitAnswers():
                await self._stage.answered(())
            case script.Cancel(ids):
                self._stage.take_back(ids)
            case script.Handle(resumable):
                self._stage.offer_handle(resumable)
            case script.Done():
                await self._done(step)
            case _:
                raise AssertionError(f"{step!r} is no step of a Live session")

    def _send(self, item: Frame | Ending) -> None:
        if self.generating and self.turn and self.turn.replied_at is None:
            self.turn.replied_at = self._stage.clock.monotonic()
        self._stage.send(item)

    async def _think(self, seconds: float) -> None:
        assert self.turn is not None, "Think is counted from the end of a turn's input"
        ended, now = self.turn.ended_at, self._stage.clock.monotonic()
        assert ended is not None, "Think is counted from the end of a turn's input"
        await self._stage.clock.sleep(max(0.0, ended + seconds - now))

    async def _hear(self, step: script.Hear) -> None:
        for index, piece in enumerate(frames.split(step.text, step.pieces)):
            if index and step.every_s:
                await self._stage.clock.sleep(step.every_s)
            if self._stage.hears_input:
                self._send(Frame(frames.heard(step, piece)))

    async def _say(self, step: script.Say) -> None:
        events = schedule(step)
        last_sound = max((at for at, pcm, _ in events if pcm is not None), default=0.0)
        began = self._stage.clock.monotonic()
        inline = [event for event in events if event[0] <= last_sound]
        await self._speak(inline, began)
        late = self._speak(events[len(inline) :], began)
        self._late.append(self._stage.spawn(late, "simulator-late-transcript"))

    async def _speak(self, events: "Sequence[Spoken]", began: float) -> None:
        for at, pcm, text in events:
            ahead = began + at - self._stage.clock.monotonic()
            if ahead > 0:
                await self._stage.clock.sleep(ahead)
            if self.turn:
                self.turn.reply_pcm += pcm or b""
                self.turn.reply_text += text or ""
            said = text if self._stage.hears_output else None
            if pcm is not None or said is not None:
                self._send(Frame(frames.spoken(pcm, said)))

    async def _call(self, calls: Sequence[script.Call]) -> None:
        records = [self._stage.make_call(call, self.turn) for call in calls]
        made: list[Json] = [
            {
                "id": record.id,
                "name": record.name,
                "args": None if call.args is None else record.args,
            }
            for call, record in zip(calls, records, strict=True)
        ]
        self._send(Frame({"toolCall": {"functionCalls": made}}))
        waited = [record.id for call, record in zip(calls, records, strict=True) if call.wait]
        if waited:
            await self._stage.answered(waited)

    async def _done(self, step: script.Done) -> None:
        if step.waits_for_text and self._late:
            await asyncio.wait(self._late)
        if step.generation:
            self._send(Frame(frames.content(generationComplete=True)))
        if step.status != "IN_PROGRESS":
            step = replace(step, usage=step.usage or self._stage.counted(self.turn))
        self._send(Frame(frames.turn_complete(step)))
        if step.status != "IN_PROGRESS":
            self._end()

    def _end(self) -> None:
        self.generating = False
        self._stage.turn_ended(self.turn)


Spoken = tuple[float, bytes | None, str | None]  # seconds from the beginning, sound, transcript


def schedule(step: script.Say) -> list[Spoken]:
    """Return the time for each piece of sound and transcript."""
    words = len(step.text.split())
    seconds = words * _SECONDS_A_WORD if step.audio_s is None else step.audio_s
    pace = 1 / step.speed if step.speed else 0.0
    # The position in the speech orders what is sent at the same time.
    placed: list[tuple[float, float, bytes | None, str | None]] = [
        (index * FRAME_S * pace, index * FRAME_S, pcm, None)
        for index, pcm in enumerate(sound_frames(tone(seconds)))
    ]
    sounds = len(placed)
    pieces = frames.split(step.text, step.pieces or -(-words // _WORDS_A_PIECE)) if words else []
    for index, text in enumerate(pieces):
        share = index / len(pieces)
        if step.together and sounds:
            at, place, pcm, earlier = placed[int(share * sounds)]
            placed[int(share * sounds)] = (at, place, pcm, (earlier or "") + text)
        else:
            at = share * seconds * pace + step.lag_s
            placed.append((at, share * seconds, None, text))
    placed.sort(key=lambda one: one[:2])
    early = min(0.0, placed[0][0]) if placed else 0.0
    return [(at - early, pcm, text) for at, _, pcm, text in placed]


def _plain(step: script.Step) -> Frame | Ending | None:
    """Send a step that is one message."""
    match step:
        case script.Inner():
            return Frame(frames.inner(step))
        case script.Interrupt():
            return Frame(frames.content(interrupted=True))
        case script.GenerationDone():
            return Frame(frames.content(generationComplete=True))
        case script.Used(tokens):
            return Frame(frames.usage(tokens))
        case script.GoAway(left_s):
            return Frame({"goAway": {"timeLeft": f"{left_s:g}s"}})
        case script.Garbage():
            return Frame({}, '{"serverContent": {')
        case script.Raw(frame):
            return Frame(dict(frame))
        case script.Drop():
            return Ending(None)
        case script.Close(code, reason):
            return Ending(code, reason)
    return None


def _ends_the_turn(message: Json) -> bool:
    content = message.get("serverContent") or {}
    return bool(content.get("turnComplete")) and content.get("interactionStatus") != "IN_PROGRESS"


async def opened(gate: script.Gate) -> None:
    """Wait for a gate, which may be opened from any thread."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    def release() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(event.set)

    gate.when_open(release)
    await event.wait()
