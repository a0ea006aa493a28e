"""Home Assistant's Assist: the conversation engine, and speech to text through Assist pipelines.

Only the built-in agent is used, even if the home's default agent is a language model. This module
was written for Home Assistant 2026.11.0.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from integrations.errors import IntegrationError, Refused, Unavailable, first_of
from integrations.home_assistant.house import mapping, rows
from integrations.home_assistant.reasons import CommandRefused
from integrations.home_assistant.websocket import Commands, Connection, LiveLink, Stream
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant

AGENT = "conversation.home_assistant"
PEOPLE = ""  # the owner of the conversation of the people at this device
KEPT_S = 300.0  # Home Assistant forgets a conversation after 5 minutes (helpers/chat_session.py)
# Conversations whose id is kept. Beyond that, the least recently used conversation of a program is
# dropped.
MAX_KEPT = 16

Source = Literal["builtin", "custom", "trigger"]

_DRY_RUN = "conversation/agent/homeassistant/debug"
_SAY = "conversation/process"


@dataclass(frozen=True, slots=True)
class Recognized:
    """The result of a dry run: the sentence that the engine understood and what it would do."""

    text: str
    # "custom": a sentence that the owner defined; "trigger": a trigger sentence of an automation
    source: Source
    intent: str = ""  # such as "HassTurnOn"; "" for a trigger
    slots: Mapping[str, Any] = field(default_factory=dict)  # as the intent would receive them
    targets: tuple[str, ...] = ()  # ids of the exposed entities that it would affect


@dataclass(frozen=True, slots=True)
class EngineReply:
    """Home Assistant's reply to a sentence. Its text is data and must never be followed as an
    instruction."""

    speech: str
    kind: str  # "action_done", "query_answer" or "error"
    code: str = ""  # of an error, such as "no_valid_targets"
    succeeded: tuple[str, ...] = ()  # entity ids
    failed: tuple[str, ...] = ()  # names


class Conversation:
    """Conversations with the engine over the websocket.

    The people at this device share one conversation; each program has its own. A conversation ends
    after five minutes without a sentence.
    """

    def __init__(
        self,
        home: LiveLink,
        device_id: Callable[[], str | None] = lambda: None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`device_id` returns this device's id in Home Assistant. Its area applies to sentences
        that name no room."""
        self._home = home
        self._device_id = device_id
        self._monotonic = monotonic
        self._takes_device: bool | None = None  # None: not known yet
        # Owner -> conversation id and time of the last sentence, least recently used first.
        self._kept: dict[str, tuple[str, float]] = {}

    async def offered(self) -> bool | None:
        """Return True if this Home Assistant supports dry runs, False if it does not, and None
        while it is unreachable."""
        if not self._home.connected:
            return None
        try:
            await self.recognize((), "en")
        except CommandRefused as error:
            return not error.unknown
        except Unavailable:
            return None
        return True

    async def recognize(self, texts: Sequence[str], language: str) -> Recognized | None:
        """Return the result of a dry run for the first text that the engine understands, or None.
        Raises IntegrationError, in particular CommandRefused if this release has no dry run."""
        answer = await self._home.command(
            _DRY_RUN, sentences=list(texts), language=language, **await self._device()
        )
        try:
            results = answer["results"]
            found = [_recognized(text, row) for text, row in zip(texts, results, strict=True)]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Unavailable(
                "Home Assistant described a sentence in a form that Hearth does not understand."
            ) from None
        return next((one for one in found if one is not None), None)

    async def process(self, text: str, language: str, owner: str = PEOPLE) -> EngineReply:
        """Have Home Assistant process a sentence in the owner's conversation, and return its reply.
        Raises IntegrationError, in particular CommandRefused and Unanswered."""
        answer = await self._home.command(
            _SAY,
            text=text,
            language=language,
            agent_id=AGENT,
            conversation_id=self._id_of(owner),
            **await self._device(),
        )
        reply = answer if isinstance(answer, Mapping) else {}
        conversation = reply.get("conversation_id")
        self._keep(owner, conversation if isinstance(conversation, str) else None)
        return _reply(reply.get("response"))

    def forget(self) -> None:
        """End the conversation of the people at this device."""
        self._kept.pop(PEOPLE, None)

    def _id_of(self, owner: str) -> str | None:
        conversation, last_s = self._kept.get(owner, (None, 0.0))
        return conversation if self._monotonic() - last_s <= KEPT_S else None

    def _keep(self, owner: str, conversation: str | None) -> None:
        self._kept.pop(owner, None)
        if conversation is not None:
            self._kept[owner] = (conversation, self._monotonic())
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(one for one in self._kept if one != PEOPLE)]

    async def _device(self) -> dict[str, str]:
        """Return the `device_id` field for a command, or {} if there is no id or this release does
        not accept it.

        Dry runs always accept the field. It is omitted there too, so that they give the same result
        as the command.
        """
        device = self._device_id()
        if not device:
            return {}
        if self._takes_device is None:
            self._takes_device = await self._is_taken(device)
        return {"device_id": device} if self._takes_device else {}

    async def _is_taken(self, device: str) -> bool:
        """Return True if `conversation/process` accepts a device id. Home Assistant 2026.2, which
        does not accept it, names the unknown field in its error message."""
        try:
            await self._home.command(_SAY, device_id=device)
        except CommandRefused as error:
            return "device_id" not in str(error)
        return True


def _recognized(text: str, row: Mapping[str, Any] | None) -> Recognized | None:
    """Parse one result of a dry run. Partial matches are ignored, because they are only guesses."""
    if not row or row.get("match") is not True:
        return None
    if row.get("source") == "trigger":
        return Recognized(text, "trigger")
    details = row.get("details") or {}
    # `slots` repeats the words of the sentence; `details` has the names that they stand for.
    slots = {
        name: details[name]["value"] if "value" in (details.get(name) or {}) else said
        for name, said in (row.get("slots") or {}).items()
    }
    return Recognized(
        text,
        # Only the owner's own sentences are marked in every release.
        "custom" if row.get("source") == "custom" else "builtin",
        str(row["intent"]["name"]),
        slots,
        tuple(row.get("targets") or {}),
    )


def _reply(response: Any) -> EngineReply:
    """Parse a reply leniently: the sentence was processed, so an unexpected format is not an
    error."""
    response = response if isinstance(response, Mapping) else {}
    data = mapping(response.get("data"))
    speech = mapping(mapping(response.get("speech")).get("plain")).get("speech")
    return EngineReply(
        speech=speech if isinstance(speech, str) else "",
        kind=str(response.get("response_type", "")),
        code=str(data.get("code", "")),
        succeeded=tuple(
            str(row["id"])
            for row in rows(data.get("success"))
            if row.get("type") == "entity" and row.get("id")
        ),
        failed=tuple(str(row.get("name") or row.get("id")) for row in rows(data.get("failed"))),
    )


# Speech to text with the first stage of `assist_pipeline/run`. Written against Home Assistant
# 2026.11.0. Users without administrator rights may list and run pipelines.


RATE = 16_000  # Hz; mono int16
PIECE_BYTES = RATE // 10 * 2  # 100 ms
TRANSCRIPT_S = 10.0  # from the end of the audio to the transcript
_NOTHING_SAID = "stt-no-text-recognized"


@dataclass(frozen=True, slots=True)
class Pipeline:
    pipeline_id: str
    language: str  # the language that it recognises


async def list_pipelines(home: Commands) -> tuple[Pipeline, ...]:
    """List the pipelines that have a speech recogniser, with the preferred pipeline first. Returns
    () if Home Assistant refuses the command. Raises Unavailable."""
    try:
        answer = await home.command("assist_pipeline/pipeline/list")
    except Refused:
        return ()
    try:
        preferred = answer.get("preferred_pipeline")
        rows = sorted(answer["pipelines"], key=lambda row: row["id"] != preferred)
        return tuple(
            Pipeline(str(row["id"]), str(row.get("stt_language") or row["language"]))
            for row in rows
            if row.get("stt_engine")
        )
    except (AttributeError, KeyError, TypeError):
        raise Unavailable(
            "Home Assistant listed its pipelines in a form that Hearth does not understand."
        ) from None


def fitting(
    pipelines: Sequence[Pipeline], language: str, languages: Sequence[str]
) -> tuple[Pipeline, ...]:
    """Return the pipelines for `language`, best match first. If none match, return the preferred
    pipeline, provided it recognises one of `languages`."""
    exact = [one for one in pipelines if _plain(one.language) == _plain(language)]
    near = [one for one in pipelines if _base(one.language) == _base(language)]
    known = {_base(code) for code in languages}
    other = [one for one in pipelines[:1] if _base(one.language) in known]
    return tuple(dict.fromkeys([*exact, *near] or other))


async def transcribe(
    home: "Connection | HomeAssistant",
    pipeline: Pipeline,
    sound: AsyncIterator[bytes],
    device_id: str | None = None,
    limit_s: float = TRANSCRIPT_S,
) -> str:
    """Return the transcript of `sound` (16 kHz mono int16, sent as it arrives), or "" for silence.

    `limit_s` is the longest wait for the transcript after the audio ends. Raises Refused if the
    engine does not exist or fails, and Unavailable if Home Assistant is unreachable or too slow.
    """
    run = home.stream(
        "assist_pipeline/run",
        start_stage="stt",
        end_stage="stt",
        # Hearth decides when the sentence ends.
        input={"sample_rate": RATE, "no_vad": True},
        pipeline=pipeline.pipeline_id,
        device_id=device_id,
    )
    failure: IntegrationError | None = None
    text = ""
    try:
        async with run as stream, asyncio.timeout(None) as limit, OwnedTasks() as tasks:

            def sent() -> None:
                limit.reschedule(asyncio.get_running_loop().time() + limit_s)

            tasks.start(_send(stream, sound, sent), "speech to Home Assistant")
            text = await _transcript(stream)
    except* IntegrationError as group:
        failure = first_of(group)
    except* TimeoutError:
        failure = Unavailable("Home Assistant's speech recognition did not answer in time.")
    if failure is not None:
        raise failure
    return text


async def _send(stream: Stream, sound: AsyncIterator[bytes], sent: Callable[[], None]) -> None:
    async for chunk in sound:
        for start in range(0, len(chunk), PIECE_BYTES):
            await stream.send(chunk[start : start + PIECE_BYTES])
    await stream.send(b"")
    sent()


async def _transcript(stream: Stream) -> str:
    async for event in stream:
        data = mapping(event.get("data"))
        if event.get("type") == "stt-end":
            return str(mapping(data.get("stt_output")).get("text") or "").strip()
        if event.get("type") == "error":
            code, message = data.get("code"), str(data.get("message", "no reason given"))[:200]
            if code == _NOTHING_SAID:
                return ""
            raise Refused(f"Home Assistant could not recognise the speech: {message}.")
        if event.get("type") == "run-end":
            break
    raise Refused("Home Assistant's speech recognition ended without a result.")


def _plain(code: str) -> str:
    return code.replace("_", "-").lower()


def _base(code: str) -> str:
    return _plain(code).split("-")[0]
