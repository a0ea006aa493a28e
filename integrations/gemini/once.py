"""Plain requests to Gemini: send a recording or text, and receive the answer as a stream.

Each round of tool calls is a new request that contains the whole conversation.
"""

import asyncio
import io
import json
import logging
import wave
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from integrations.errors import Blocked, IntegrationError
from integrations.gemini.access import Access, LazyClient
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import FunctionCall, TokensUsed, tokens_used
from integrations.gemini.faults import fault_of
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.models import ModelRow
from integrations.gemini.setup import INPUT_RATE, thinking_of, tools_of
from integrations.gemini.tokens import Amount, audio, completed, most, prompt_tokens, text

if TYPE_CHECKING:
    from google.genai import Client, types

_log = logging.getLogger(__name__)
_SETTING = "gemini.once_model"
PATIENCE_S = 10.0  # longest wait for the first chunk of an answer, and between chunks
_PICTURE_TOKENS = 1_120  # to estimate (Google's guide to Gemini 3, media resolution)
# `finishReason` values for an answer that Gemini stopped because of its content.
_DECLINED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ESCALATION"}
)


@dataclass(frozen=True, slots=True)
class Picture:
    data: bytes = field(repr=False)
    mime_type: str  # "image/jpeg", "image/png", "image/webp", "image/heic" or "image/heif"


@dataclass(frozen=True, slots=True)
class OnceSetup:
    """The settings of all requests in one conversation."""

    row: ModelRow
    instruction: str
    declarations: tuple[Declaration, ...] = ()
    thinking: str = ""  # a level, e.g. "low"; "" for the model's minimum


@dataclass(frozen=True, slots=True)
class OnceText:
    """The next part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class OnceCalls:
    """Function calls to run before the model continues. Answer each id exactly once."""

    calls: tuple[FunctionCall, ...]


@dataclass(frozen=True, slots=True)
class OnceEnd:
    """The model has finished its answer, so no further event follows."""

    reason: str | None  # as named by the service, e.g. "STOP", "MAX_TOKENS"


OnceEvent = OnceText | OnceCalls | TokensUsed | OnceEnd


class OnceClient:
    """Starts conversations that share one connection pool. Close it with `aclose`.

    `patience_s` is the longest wait for each part of an answer, in seconds.
    """

    def __init__(self, access: Access, patience_s: float = PATIENCE_S) -> None:
        self.access = access
        self._patience_s = patience_s
        self._sdk = LazyClient(access)
        self._owed: list[TokensUsed] = []  # of answers that nobody waited for

    async def aclose(self) -> None:
        await self._sdk.close()

    def converse(self, setup: OnceSetup) -> "OnceConversation":
        """Return a new conversation, without sending anything."""
        return OnceConversation(self, setup, self._patience_s)

    def owe(self, used: TokensUsed) -> None:
        """Keep the count of an answer that was cut off. The next request reports it."""
        self._owed.append(used)

    def take_owed(self) -> Sequence[TokensUsed]:
        owed, self._owed = self._owed, []
        return owed

    async def sdk(self) -> "Client":
        """Return google-genai's client, creating it if necessary. Raises IntegrationError."""
        return await self._sdk.get()


class OnceConversation:
    """A conversation's history, and the requests that continue it.

    Add input and iterate over `stream`. If it yields OnceCalls, add their results with `answer` and
    iterate again.
    """

    def __init__(self, client: OnceClient, setup: OnceSetup, patience_s: float) -> None:
        self._client = client
        self._setup = setup
        self._patience_s = patience_s
        # Our own parts are plain dicts, because importing the SDK for its types would block the
        # event loop.
        self._contents: list[types.Content | types.ContentDict] = []
        self._nameless: set[str] = set()  # ids that Hearth created because the service sent none
        self._sent = False  # the current request may have reached the service
        # Estimate of what the next request sends.
        self._read = Amount(text=prompt_tokens(setup.instruction, setup.declarations))

    def hear(self, pcm: bytes) -> None:
        """Add the user's speech (16 kHz mono int16)."""
        self._add_user({"inline_data": {"data": wav_of(pcm), "mime_type": "audio/wav"}})
        self._read += audio(self._setup.row, pcm, INPUT_RATE)

    def read(self, typed: str) -> None:
        """Add the user's typed text."""
        self._add_user({"text": typed})
        self._read += text(typed)

    def see(self, picture: Picture, typed: str) -> None:
        """Add a picture and the text that goes with it."""
        blob: types.BlobDict = {"data": picture.data, "mime_type": picture.mime_type}
        self._add_user({"inline_data": blob}, {"text": typed})
        self._read += text(typed) + Amount(text=_PICTURE_TOKENS)

    def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        """Add the results of all calls in the latest OnceCalls."""
        parts: list[types.PartDict] = [
            {
                "function_response": {
                    "id": None if answer.id in self._nameless else answer.id,
                    "name": answer.name,
                    "response": answer.response,
                }
            }
            for answer in answers
        ]
        self._add_user(*parts)
        self._read += text(*(json.dumps(answer.response) for answer in answers))

    async def stream(self, *, may_call: bool = True) -> AsyncGenerator[OnceEvent]:
        """Send the request and yield the answer as it arrives.

        OnceCalls, TokensUsed and OnceEnd come after the text. With `may_call=False`, the model must
        answer in text. TokensUsed contains estimates for what the service doesn't report. Requests
        that the service fails before any answer aren't charged (Google's billing page), but those
        that Hearth gives up may be. Raises IntegrationError, in particular Blocked if the service
        declines the content.
        """
        self._sent = False
        for owed in self._client.take_owed():
            yield owed
        parts: list[types.Part] = []
        used: TokensUsed | None = None
        reason: str | None = None
        answered = False
        try:
            async with aclosing(self._chunks(may_call)) as chunks:
                async for chunk in chunks:
                    answered = True
                    used = most(used, tokens_of(chunk))
                    reason = _reason(chunk) or reason
                    _raise_if_declined(chunk)
                    for part in _parts(chunk):
                        parts.append(part)
                        if part.text and not part.thought:
                            yield OnceText(part.text)
        except (GeneratorExit, asyncio.CancelledError):
            if self._sent:
                self._client.owe(completed(used, self._read, _made(parts)))
            raise
        except IntegrationError as error:
            gave_up = self._sent and isinstance(error.__cause__, TimeoutError)
            if answered or gave_up:
                yield completed(used, self._read, _made(parts))
            raise
        counted = completed(used, self._read, _made(parts))
        self._echo(parts)
        calls = tuple(self._calls(parts))
        if calls:
            yield OnceCalls(calls)
        yield counted
        yield OnceEnd(reason)

    async def _chunks(self, may_call: bool) -> "AsyncGenerator[types.GenerateContentResponse]":
        model = self._setup.row.name
        try:
            sdk = await self._client.sdk()
            answer = await sdk.aio.models.generate_content_stream(
                model=model, contents=list(self._contents), config=self._config(may_call)
            )
            chunks = cast("AsyncGenerator[types.GenerateContentResponse]", answer)
            try:
                while True:
                    self._sent = True  # by the first call
                    async with asyncio.timeout(self._patience_s):
                        chunk = await anext(chunks, None)
                    if chunk is None:
                        return
                    yield chunk
            except GeneratorExit:
                await _hang_up(chunks)
                raise
        except IntegrationError:
            raise
        except Exception as error:
            access = self._client.access
            raise fault_of(error, model=model, setting=_SETTING, access=access) from error

    def _config(self, may_call: bool) -> "types.GenerateContentConfig":
        from google.genai import types

        setup = self._setup
        config = types.GenerateContentConfig(
            system_instruction=setup.instruction or None,
            # Plain requests are not known to support Google Search together with functions.
            tools=list(tools_of(setup.row, setup.declarations, google_search=False)) or None,
            thinking_config=thinking_of(setup.row, setup.thinking),
            # Hearth runs the calls and makes further requests itself.
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
        )
        if setup.declarations and not may_call:
            mode = types.FunctionCallingConfigMode.NONE
            config.tool_config = types.ToolConfig(
                function_calling_config=types.FunctionCallingConfig(mode=mode)
            )
        return config

    def _add_user(self, *parts: "types.PartDict") -> None:
        self._contents.append({"role": "user", "parts": list(parts)})

    def _echo(self, parts: "list[types.Part]") -> None:
        # Gemini 3 refuses a call without its thought signature, which can arrive in a part that has
        # no text (Google's page on thought signatures). The parts are therefore neither joined nor
        # changed.
        from google.genai import types

        self._read += _made(parts)
        kept = [part for part in parts if part.model_dump(exclude_none=True) != {"text": ""}]
        if kept:
            self._contents.append(types.Content(role="model", parts=kept))

    def _calls(self, parts: "list[types.Part]") -> Iterator[FunctionCall]:
        for part in parts:
            call = part.function_call
            if call is None or not call.name:
                continue
            call_id = call.id
            if not call_id:
                call_id = f"once-{len(self._nameless) + 1}"
                self._nameless.add(call_id)
            yield FunctionCall(call_id, call.name, dict(call.args or {}))


async def _hang_up(chunks: "AsyncGenerator[Any]") -> None:
    # Closing the SDK's generator is not enough: the HTTP response remains open until it is
    # garbage-collected, and the answer keeps arriving. Cancelling the generator while it waits
    # makes the HTTP client close the connection.
    try:
        async with asyncio.timeout(0):
            async for _ in chunks:
                pass
    except TimeoutError:
        pass  # expected
    except Exception as error:
        _log.debug(
            "an answer that was no longer needed ended with an error: %s", type(error).__name__
        )


def wav_of(pcm: bytes) -> bytes:
    """Return 16 kHz mono int16 audio as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(INPUT_RATE)
        writer.writeframes(pcm)
    return file.getvalue()


def tokens_of(chunk: "types.GenerateContentResponse") -> TokensUsed | None:
    """Return the token counts of the answer so far, or None if this chunk has none."""
    usage = chunk.usage_metadata
    if usage is None:
        return None
    return tokens_used(usage, usage.candidates_tokens_details, usage.candidates_token_count)


def _made(parts: "list[types.Part]") -> Amount:
    calls = [part.function_call for part in parts if part.function_call]
    told = [f"{call.name}{json.dumps(call.args)}" for call in calls]
    return text("".join(part.text or "" for part in parts), *told)


def _parts(chunk: "types.GenerateContentResponse") -> "list[types.Part]":
    content = chunk.candidates[0].content if chunk.candidates else None
    return list(content.parts or ()) if content else []


def _reason(chunk: "types.GenerateContentResponse") -> str | None:
    reason = chunk.candidates[0].finish_reason if chunk.candidates else None
    return reason.value if reason else None


def _raise_if_declined(chunk: "types.GenerateContentResponse") -> None:
    feedback = chunk.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        raise Blocked(f"Gemini declined the request ({feedback.block_reason.value}).")
    reason = _reason(chunk)
    if reason in _DECLINED:
        raise Blocked(f"Gemini stopped in the middle of its answer ({reason}).")
