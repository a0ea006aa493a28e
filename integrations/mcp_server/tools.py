"""Tools by the Model Context Protocol, each with the scope that it needs."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, Field

from integrations.web.box import Box, Caller, Scope
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    QuestionRequest,
    TimerRequest,
    Wish,
)

_DEFINITIONS = "$defs"
_REFERENCE = "#/$defs/"
_LEFT_OUT = frozenset({"title", "description", "pattern"})  # of each value; a field is described


def tool_schema(model: type[BaseModel], told: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of the model's fields, each described by `told`, in the plainest form.

    pydantic writes references, titles and `null` for what may be left out; models call a tool less
    well with them, and some clients refuse the tool. Patterns are in the manner of JavaScript, of
    which Home Assistant, in Python, does not understand all.

    Raises KeyError for a field of which nothing is told: a new one is not offered by accident.
    """
    whole = model.model_json_schema()
    definitions = whole.get(_DEFINITIONS, {})
    properties = {
        name: {**_plain(field, definitions), "description": told[name]}
        for name, field in whole["properties"].items()
    }
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = whole.get("required")
    return {**schema, "required": required} if required else schema


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Drop references, null, what is in `_LEFT_OUT`, and what is told twice."""
    if isinstance(schema, list):
        return [_plain(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].removeprefix(_REFERENCE)], definitions)
    if "anyOf" in schema:
        kinds = [one for one in schema["anyOf"] if one != {"type": "null"}]
        if len(kinds) == 1:
            return _plain(kinds[0], definitions)
    plain = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(one, definitions) for name, one in value.items()}
        elif key not in _LEFT_OUT and not (key == "default" and value is None):
            plain[key] = _plain(value, definitions)
    return plain


_SPOKEN = {
    "preannounce": "Whether a short tone goes before it.",
    "volume": "Of the voice's own loudness, 0 to 1; left out: as it is set.",
    "priority": "high is said before what waits, low after it.",
    "expire_s": "Seconds after which it is no news any more and is not said.",
    "language": 'Such as "en"; left out: told from the text.',
}

# Of what the journal has of a turn; an agent pays for every word.
_OF_A_TURN = ("turn_id", "started_at", "source", "caller", "language", "heard", "answer", "error")


@dataclass(frozen=True, slots=True)
class ToolReply:
    """Result of a tool: words for a model, and the same for a program."""

    text: str
    data: dict[str, Any]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool."""

    name: str
    title: str
    description: str
    scope: Scope
    takes: type[BaseModel]
    schema: dict[str, Any]
    run: Callable[
        [Any, Caller], Awaitable[ToolReply]
    ]  # gets what `takes` has made of the arguments
    reads_only: bool = False


class LastTurnsRequest(Wish):
    """Arguments of `get_last_turns`."""

    limit: Annotated[int, Field(ge=1, le=50)] = 5


class _Doing:
    """Work of each tool with the box."""

    def __init__(self, box: Box) -> None:
        self._box = box

    async def ask(self, wanted: AskRequest, caller: Caller) -> ToolReply:
        turn = await self._box.ask(wanted, caller)
        error: Mapping[str, Any] | None = turn.get("error")
        keys = ("turn_id", "answer", "tool_calls", "not_done", "error")
        data = {key: turn.get(key) for key in keys}
        text = turn.get("answer") or (error or {}).get("message") or "There is no answer."
        return ToolReply(str(text), data, failed=error is not None)

    async def announce(self, wanted: AnnounceRequest, caller: Caller) -> ToolReply:
        name = await self._box.announce(wanted, caller)
        return ToolReply("It is said as soon as the conversation rests.", {"id": name})

    async def question(self, wanted: QuestionRequest, caller: Caller) -> ToolReply:
        answer = await self._box.question(wanted, caller)
        return _told(answer.model_dump(mode="json"))

    async def timer(self, wanted: TimerRequest, caller: Caller) -> ToolReply:
        return _told(dict(await self._box.set_timer(wanted, caller)))

    async def turns(self, wanted: LastTurnsRequest, caller: Caller) -> ToolReply:
        turns = await self._box.turns(wanted.limit)
        return _told({"turns": [{key: turn.get(key) for key in _OF_A_TURN} for turn in turns]})


def _told(data: dict[str, Any]) -> ToolReply:
    return ToolReply(json.dumps(data, ensure_ascii=False), data)


@dataclass(frozen=True, slots=True)
class _Tool:
    """One tool as it is described to a model."""

    name: str
    title: str
    description: str
    scope: Scope
    takes: type[BaseModel]
    words: Mapping[str, str]  # on what it takes
    run: Callable[[_Doing, Any, Caller], Awaitable[ToolReply]]
    reads_only: bool = False


_TOOLS = (
    _Tool(
        "ask",
        "Ask Hearth",
        "Puts one request in plain words to Hearth, the voice assistant of this home, as if "
        "somebody typed it, and gives its answer; nothing is spoken in the room. It can tell "
        "about the home and do everyday things there. What would need a person's yes is not "
        "done, and nobody is asked for one.",
        "ask",
        AskRequest,
        {"text": "The request, as a person would say it."},
        _Doing.ask,
    ),
    _Tool(
        "announce",
        "Announce",
        "Has the voice assistant say a text aloud in its room, or play a sound, as soon as "
        "nobody is talking with it. It does not wait for that.",
        "speak",
        AnnounceRequest,
        {
            **_SPOKEN,
            "text": "What is said, word for word. Give this or media.",
            "media": "A sound in its place: a file's name, or Home Assistant's media.",
            "persist": "Whether it is still said after a restart.",
        },
        _Doing.announce,
    ),
    _Tool(
        "ask_question",
        "Ask a person",
        "Has the voice assistant ask a question aloud in its room, listens for the answer and "
        "gives it. The result is answered, no_answer, unclear, or busy; answered names the id "
        "of the expected answer, what was said, and its values. A tone tells people that the "
        "microphone is open. It takes as long as it takes them to answer.",
        "speak",
        QuestionRequest,
        {
            **_SPOKEN,
            "question": "What is asked, word for word.",
            "answers": "The answers that are expected, each with an id and sentences such "
            'as "yes [please]" or "play {song}". Left out: any words are taken.',
            "schema": "JSON Schema of an object that is to be made of a free answer.",
            "timeout_s": "Seconds that the microphone is open.",
        },
        _Doing.question,
    ),
    _Tool(
        "set_timer",
        "Set a timer",
        "Sets a timer, an alarm or a reminder on the voice assistant, or a request that it "
        "puts to itself at a time and answers aloud. It rings there, also after a restart.",
        "speak",
        TimerRequest,
        {
            "kind": "What it is. A timer runs for so many seconds, the others are at a "
            "time; a reminder says its text, a request is a sentence to be answered.",
            "seconds": "How long from now.",
            "at": 'At what time: "07:30", or a date and time as 2026-12-24T18:00.',
            "sun": "At sunrise or sunset, in place of a time.",
            "offset_min": "Minutes after the sun's time; negative: before it.",
            "name": "What people call it: pasta.",
            "text": "Of a reminder what is said, of a request what is asked.",
            "repeat": "On which days it comes again.",
            "language": 'Such as "en".',
        },
        _Doing.timer,
    ),
    _Tool(
        "get_last_turns",
        "Last turns",
        "What was said to the voice assistant lately and what it answered, newest first.",
        "read",
        LastTurnsRequest,
        {"limit": "How many at most."},
        _Doing.turns,
        reads_only=True,
    ),
)


def offered(box: Box, *, turns: bool) -> tuple[Offered, ...]:
    """All of them. `turns`: what was said lately may be read."""
    does = _Doing(box)
    return tuple(
        Offered(
            tool.name,
            tool.title,
            tool.description,
            tool.scope,
            tool.takes,
            tool_schema(tool.takes, tool.words),
            partial(tool.run, does),
            tool.reads_only,
        )
        for tool in _TOOLS
        if turns or tool.name != "get_last_turns"
    )
