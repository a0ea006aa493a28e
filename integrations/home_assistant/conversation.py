"""Home Assistant's own conversation engine: what it would make of a sentence, and saying it.

Only the built-in agent is ever asked, also where the home's default agent is a language model.
Seen of Home Assistant 2026.11.0; the commands have been there since 2023.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from integrations.errors import Unavailable
from integrations.home_assistant.commands import LiveLink
from integrations.home_assistant.refusals import CommandRefused
from integrations.home_assistant.shapes import mapping, rows

AGENT = "conversation.home_assistant"
PEOPLE = ""  # the owner of the conversation of those who live with the box
KEPT_S = 300.0  # Home Assistant forgets a conversation after 5 minutes (helpers/chat_session.py)
MAX_KEPT = 16  # conversations whose id is kept; beyond, the program's that spoke longest ago goes

Source = Literal["builtin", "custom", "trigger"]

_DRY_RUN = "conversation/agent/homeassistant/debug"
_SAY = "conversation/process"


@dataclass(frozen=True, slots=True)
class Recognized:
    """What a sentence would do; nothing has been done."""

    text: str  # as it was given
    source: Source  # "custom": a sentence of the home's own; "trigger": an automation waits for it
    intent: str = ""  # such as "HassTurnOn"; "" for a trigger
    slots: Mapping[str, Any] = field(default_factory=dict)  # as the intent would get them
    targets: tuple[str, ...] = ()  # ids of the exposed entities that it would reach


@dataclass(frozen=True, slots=True)
class EngineReply:
    """What Home Assistant answered to a sentence. All text is data, never instructions."""

    speech: str
    kind: str  # "action_done", "query_answer" or "error"
    code: str = ""  # of an error, such as "no_valid_targets"
    succeeded: tuple[str, ...] = ()  # entity ids
    failed: tuple[str, ...] = ()  # names


class Conversation:
    """Talks to the engine over the live connection. A conversation goes on for five minutes.

    The people of the box have one, and each program one of its own.
    """

    def __init__(
        self,
        home: LiveLink,
        device_id: Callable[[], str | None] = lambda: None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`device_id`: this box in the home's registry: its area is then the room that is meant."""
        self._home = home
        self._device_id = device_id
        self._monotonic = monotonic
        self._takes_device: bool | None = None  # None: not known yet
        # Owner -> id and the moment of the last sentence; who spoke longest ago comes first.
        self._kept: dict[str, tuple[str, float]] = {}

    async def offered(self) -> bool | None:
        """Whether this home can be asked what a sentence would do; None: it is away just now."""
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
        """The first of `texts` that the engine knows; None: none, so saying one does nothing known.

        Raises CommandRefused, `unknown` where the release has no dry run, and Unavailable.
        """
        answer = await self._home.command(
            _DRY_RUN, sentences=list(texts), language=language, **await self._device()
        )
        try:
            results = answer["results"]
            found = [_recognized(text, row) for text, row in zip(texts, results, strict=True)]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Unavailable("Home Assistant tells of a sentence in an unknown form.") from None
        return next((one for one in found if one is not None), None)

    async def process(self, text: str, language: str, owner: str = PEOPLE) -> EngineReply:
        """Say it: it is carried out. Raises CommandRefused, Unanswered and Unavailable.

        `owner`: whose conversation it belongs to.
        """
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
        """What people say next begins a new conversation."""
        self._kept.pop(PEOPLE, None)

    def _id_of(self, owner: str) -> str | None:
        """The id of the conversation that goes on; None begins one."""
        conversation, last_s = self._kept.get(owner, (None, 0.0))
        return conversation if self._monotonic() - last_s <= KEPT_S else None

    def _keep(self, owner: str, conversation: str | None) -> None:
        self._kept.pop(owner, None)
        if conversation is not None:
            self._kept[owner] = (conversation, self._monotonic())
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(one for one in self._kept if one != PEOPLE)]

    async def _device(self) -> dict[str, str]:
        """This box as a field of a command; nothing where the release refuses sentences with one.

        The dry run would take it there too, but what it tells must hold for what is then said.
        """
        device = self._device_id()
        if not device:
            return {}
        if self._takes_device is None:
            self._takes_device = await self._is_taken(device)
        return {"device_id": device} if self._takes_device else {}

    async def _is_taken(self, device: str) -> bool:
        """Whether a sentence may come with a device: asked without a sentence, so nothing is done.

        Home Assistant 2026.2 has no such field, and its refusal names it.
        """
        try:
            await self._home.command(_SAY, device_id=device)
        except CommandRefused as error:
            return "device_id" not in str(error)
        return True


def _recognized(text: str, row: Mapping[str, Any] | None) -> Recognized | None:
    """One row of the dry run. An incomplete match is none: it holds the engine's best guess."""
    if not row or row.get("match") is not True:
        return None
    if row.get("source") == "trigger":
        return Recognized(text, "trigger")
    details = row.get("details") or {}
    # `slots` repeats the words that were heard; `details` knows the name that they stand for.
    slots = {
        name: details[name]["value"] if "value" in (details.get(name) or {}) else said
        for name, said in (row.get("slots") or {}).items()
    }
    return Recognized(
        text,
        # Only what the home's owner wrote is marked in every release.
        "custom" if row.get("source") == "custom" else "builtin",
        str(row["intent"]["name"]),
        slots,
        tuple(row.get("targets") or {}),
    )


def _reply(response: Any) -> EngineReply:
    """The reply, read with patience: the sentence was said, so an odd form is no failure."""
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
