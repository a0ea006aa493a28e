"""One Live connection after its set-up: activity, turns, calls, interruption."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal

from tests.simulators import frames
from tests.simulators.book import Book
from tests.simulators.calls import Calls
from tests.simulators.handshake import Setup
from tests.simulators.models import ModelRules
from tests.simulators.performance import Performance
from tests.simulators.records import CallRecord, ConnectionRecord, Ending, Frame, HeardTurn, Session
from tests.simulators.schema import read_tools
from tests.simulators.script import Call, Done, Step, Tokens, Turn
from tests.simulators.sound import RATE_IN, RATE_OUT
from tests.simulators.wire import Json, Refusal, decoded, known_fields, text_of

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
_KEPT_CALLS = 100  # settled ones, kept for the wording of a refusal
_INPUTS = ("audio", "text", "activityStart", "activityEnd", "audioStreamEnd")


class Conversation:
    """Handle the client's messages and run the scripted turns (as their Stage)."""

    def __init__(
        self,
        book: Book,
        record: ConnectionRecord,
        setup: Setup,
        rules: ModelRules,
        session: Session,
        spawn: Spawn,
        update_refusal: tuple[int, str] | None = None,
    ) -> None:
        self.clock = book.clock
        self.hears_input = setup.hears_input
        self.hears_output = setup.hears_output
        self._book = book
        self._record = record
        self._setup = setup
        self._tools = setup.tools
        self._rules = rules
        self._session = session
        self._update_refusal = update_refusal
        self._calls = Calls(book, rules)
        self._activity: HeardTurn | None = None  # open while the person speaks
        self._current: Performance | None = None  # the newest turn's
        self._performances: dict[Performance, asyncio.Task[None]] = {}  # not yet settled
        self.spawn = spawn
        self._window = session.window
        raw = setup.raw
        self._told: Json = {key: raw.get(key) for key in ("systemInstruction", "tools")}
        self._window.fixed = len(json.dumps(self._told)) / 4

    def begin(self, then: Sequence[Step]) -> None:
        """Start after the set-up; `then` are the service's own steps."""
        self.offer_handle(True)
        idle = Performance(self, None, Turn("audio", during=then))
        idle.input_ended()
        idle.generating = False
        self._perform(idle)

    def closed(self) -> None:
        """End everything, because the connection is closed."""
        self._session.lost += self._calls.lost()
        for performance in list(self._performances):
            self._cut(performance, "by the end of the connection")

    # --- messages from the client

    def receive(self, message: Json) -> None:
        """Handle a message in camel case. Raises Refusal; AssertionError for an unscripted turn."""
        kinds = ("clientContent", "realtimeInput", "toolResponse", "contextUpdate")
        fields = known_fields(message, kinds, "message")
        if len(fields) != 1:
            raise Refusal("Exactly one of the message's fields must be set.")
        kind, value = next(iter(fields.items()))
        match kind:
            case "clientContent":
                self._client_content(value)
            case "realtimeInput":
                self._realtime(value)
            case "toolResponse":
                self._tool_response(value)
            case _:
                self._context_update(value)

    def _realtime(self, value: Any) -> None:
        # media_chunks is deprecated and video is not supported here: both are refused as unknown.
        fields = known_fields(value, _INPUTS, "realtime_input")
        if len(fields) != 1:
            raise Refusal("Exactly one of realtime_input's fields must be set.")
        kind, given = next(iter(fields.items()))
        if kind == "audio":
            self._audio(given)
        elif kind == "text":
            self._text(str(given))
        elif kind == "audioStreamEnd":
            if self._setup.manual:
                raise Refusal("audio_stream_end is for automatic activity detection only.")
        elif not self._setup.manual:
            raise Refusal("Explicit activity control needs automatic detection to be disabled.")
        elif kind == "activityStart":
            self._activity_start()
        else:
            self._activity_end()

    def _activity_start(self) -> None:
        if self._activity is not None:
            raise Refusal("activity_start while an activity is open.")
        self._interrupt()
        self._activity = self._begin("audio", "")

    def _activity_end(self) -> None:
        turn = self._activity
        if turn is None:
            raise Refusal("activity_end without activity_start.")
        self._activity = None
        self._session.remember("user", f"[sound, {len(turn.heard) / 2 / RATE_IN:.2f} s]")
        self._input_ended(turn)

    def _audio(self, blob: Any) -> None:
        fields = known_fields(blob, ("data", "mimeType"), "realtime_input.audio")
        if fields.get("mimeType") != f"audio/pcm;rate={RATE_IN}":
            # The service resamples other rates, but Hearth must not send them.
            raise Refusal(f"Unsupported audio: {fields.get('mimeType')}")
        pcm = decoded(fields.get("data"), "realtime_input.audio.data")
        if not pcm or len(pcm) % 2:
            raise Refusal(f"{len(pcm)} bytes are no 16-bit sound.")
        turn, now = self._activity, self.clock.monotonic()
        if turn is None:  # the service ignores it
            self._record.stray += pcm
            self._book.stray_bytes += len(pcm)
            return
        turn.first_audio_at = now if turn.first_audio_at is None else turn.first_audio_at
        turn.last_audio_at = now
        turn.chunks.append((now, len(pcm)))
        turn.heard += pcm
        self._window.add_audio(len(pcm) / 2 / RATE_IN)
        self._book.heard_samples += len(pcm) // 2
        self._book.changes.tell()

    def _client_content(self, value: Any) -> None:
        fields = known_fields(value, ("turns", "turnComplete"), "client_content")
        complete = fields.get("turnComplete") is True
        newest = ""
        for index, content in enumerate(fields.get("turns", [])):
            text = text_of(content, f"client_content.turns[{index}]")
            role = content.get("role", "user")
            if role not in ("user", "model"):
                raise Refusal("Please use a valid role: user, model.")
            self._record.contents.append((role, text, complete))
            self._session.remember(role, text)
            self._window.add_text(text)
            newest = text
        if complete:
            self._text(newest)

    def _text(self, text: str) -> None:
        if self._activity is not None:
            # Our own rule: the service's behaviour for both at once is not documented.
            raise Refusal("A typed turn while an activity is open.")
        self._interrupt()
        self._input_ended(self._begin("text", text))

    def _tool_response(self, value: Any) -> None:
        fields = known_fields(value, ("functionResponses",), "tool_response")
        responses = fields.get("functionResponses")
        if not isinstance(responses, list) or not responses:
            raise Refusal("tool_response.function_responses: should not be empty.")
        for response in responses:
            self._window.add_text(json.dumps(response.get("response")))
            self._record.answers.append(self._calls.answer(response))
        self._calls.forget(_KEPT_CALLS)

    def _context_update(self, value: Any) -> None:
        if self._update_refusal:
            code, reason = self._update_refusal
            raise Refusal(reason, code, scripted=True)
        if not self._rules.context_update:
            raise Refusal("Context update is not supported for this model")
        fields = known_fields(value, ("systemInstruction", "tools"), "context_update")
        if not fields:
            raise Refusal("context_update: at least one field must be set.")
        if "systemInstruction" in fields:
            text_of(fields["systemInstruction"], "context_update.system_instruction")
        if "tools" in fields:
            # The list is in a message of its own: an empty list removes all tools.
            tools = known_fields(fields["tools"], ("tools",), "context_update.tools").get("tools")
            behaviors = self._rules.behaviors or ()
            self._tools = read_tools(tools or [], behaviors, "context_update.tools.tools")
        self._told.update(fields)
        self._window.fixed = len(json.dumps(self._told)) / 4
        self._record.updates.append(fields)

    # --- turns

    def _begin(self, kind: Literal["audio", "text"], text: str) -> HeardTurn:
        turn = HeardTurn(
            index=self._book.next_index(),
            kind=kind,
            connection=self._record.index,
            session=self._session.name,
            started_at=self.clock.monotonic(),
            text=text,
        )
        self._record.turns.append(turn.index)
        self._window.begin()
        if self._session.lost:  # the input only ends the exchange of the lost calls
            self._session.lost.clear()
            self._book.add(turn)
            script: Turn | None = Turn(kind, [Done(generation=False)])
        else:
            script = self._book.take_turn(turn)
        self._current = Performance(self, turn, script, self._book.expected.respond)
        self._perform(self._current)
        return turn

    def _perform(self, performance: Performance) -> None:
        task = self.spawn(self._run(performance), "simulator-turn")
        self._performances[performance] = task

    async def _run(self, performance: Performance) -> None:
        await performance.run()
        turn = performance.turn
        if performance.script.cut is True and turn is not None:
            self._book.fail(f"turn {turn.index} was to be cut off, but ran to its end")
        if not performance.left:
            self._performances.pop(performance, None)
        self._book.changes.tell()

    def _input_ended(self, turn: HeardTurn) -> None:
        turn.ended_at = self.clock.monotonic()
        if self._book.window:
            self._window.input_ended(self._setup.raw, self._book.window)
        if self._book.withholds_handles:
            self.offer_handle(False)
        if self._current:
            self._current.input_ended()
        self._book.note(f"turn {turn.index} {turn.kind} {turn.text!r} is the model's")

    def _interrupt(self) -> None:
        """End the current reply for new input (START_OF_ACTIVITY_INTERRUPTS)."""
        current = self._current
        if current is None or not current.generating:
            return
        blocking = self._calls.open("BLOCKING")
        if blocking and not self._book.cancels_blocking:
            return
        self._cut(current, "by new input")
        if blocking:
            self.take_back(blocking)
        self.send(Frame(frames.content(interrupted=True)))
        self.send(Frame(frames.content(turnComplete=True)))
        self.turn_ended(current.turn)

    def _cut(
        self, performance: Performance, how: Literal["by new input", "by the end of the connection"]
    ) -> None:
        task = self._performances.pop(performance, None)
        if task:
            task.cancel()
        left, turn = performance.left, performance.turn
        performance.stop()
        performance.generating = False
        if turn is not None and not performance.finished:
            turn.cut = how
        if left and performance.script.cut is False:
            what = f"turn {turn.index}" if turn else "what follows the setup"
            self._book.fail(f"{what} was cut off {how} before {'; '.join(left)}")

    # --- for a performance

    def send(self, item: Frame | Ending) -> None:
        """Send something, in order."""
        self._record.send(item)

    def offer_handle(self, resumable: bool) -> None:
        """Send a point to resume from, or that there is none; nothing if none are wanted."""
        if self._setup.wants_handles and self._book.gives_handles:
            name = self._book.new_handle(self._session) if resumable else None
            self.send(Frame(frames.handle(name)))

    def counted(self, turn: HeardTurn | None) -> Tokens | None:
        """Count the reply of a turn that ends. Returns its usage if the service reports it."""
        rules = self._book.window
        if rules is None or turn is None:
            return None
        self._window.add_reply(len(turn.reply_pcm) / 2 / RATE_OUT)
        return self._window.usage if rules.tells else None

    def turn_ended(self, turn: HeardTurn | None) -> None:
        """Note that the model's turn is complete."""
        if turn:
            turn.done_at = self.clock.monotonic()
            self._session.remember("model", turn.reply_text)
            self._book.note(f"turn {turn.index} is complete")
        self.offer_handle(True)

    def make_call(self, call: Call, turn: HeardTurn | None) -> CallRecord:
        """Note a call as open."""
        return self._calls.make(call, self._tools, turn)

    def take_back(self, ids: Sequence[str]) -> None:
        """Cancel calls (all open ones without ids) and tell the client."""
        self.send(Frame(frames.cancellation(self._calls.cancel(ids))))

    async def answered(self, ids: Sequence[str]) -> None:
        """Wait until these calls (all open ones without ids) are settled."""
        await self._calls.settled(ids)
