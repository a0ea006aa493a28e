"""Definitions of built-in tools, their requests and their results."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.domain.tool_call import CALM, CallContext, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.intents import Move
from integrations import cleaning

HEARTH = "hearth"  # server name of the built-in tools in the menu and the journal

# Memory tools. A model can call them unasked, so the policy checks what the person said.
REMEMBER, RECALL, FORGET, CORRECT = "remember", "recall", "forget", "correct_memory"
BY_WORDS = frozenset({REMEMBER, FORGET, CORRECT})

# Tools through which a model reaches all others (`assistant.tools.builtin.find_tools`).
FINDERS = FIND_TOOLS, CALL_TOOL = "find_tools", "call_tool"
SWITCH_PROFILE = "switch_profile"


@dataclass(frozen=True, slots=True)
class BuiltInRequest:
    id: str  # of this piece of work, unique across all turns
    turn_id: str
    heard: str | None  # what the person said
    language: str  # of the turn, for the sentence
    program: bool = False  # the caller is a program
    situation: CallContext = CALM  # for calls that the tool makes itself
    # The moves of `BuiltIn.moves` that were allowed; no others may be made.
    judged: tuple[Move, ...] = ()
    recalls: bool = True  # the caller may see what people have said
    caller: str = ""  # program that started the turn, as in the audit log; "" for a person
    tainted: bool = False  # the model may have read text from outside
    said: tuple[str, ...] = ()  # the person's earlier sentences in this conversation


@dataclass(frozen=True, slots=True)
class BuiltInResult:
    sentence: str  # what happened, for the brain
    data: str = ""  # the requested data, if the sentence can't hold it
    failed: bool = False
    valid_options: tuple[str, ...] = ()  # values that would have worked
    stale: bool = False  # based on old states; the sentence says how old
    outside: bool = False  # contains text from a program or from outside the household


def failure(
    catalogue: Catalogue,
    key: str,
    request: BuiltInRequest,
    options: tuple[str, ...] = (),
    **values: str,
) -> BuiltInResult:
    """Return a failed result with the catalogue's sentence for `key`."""
    sentence = catalogue.say(key, request.language, **values)
    return BuiltInResult(sentence, failed=True, valid_options=options)


@dataclass(frozen=True, slots=True)
class AskFirst:
    """A question that the person must answer before a call runs, regardless of the settings."""

    name: str  # key: the catalogue has `confirm.ask_NAME` and `confirm.left_NAME`
    text: str = ""  # the subject, as `{names}` in the question


Run = Callable[[Mapping[str, Any], BuiltInRequest], Awaitable[BuiltInResult]]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    name: str
    description: str  # for the model: what it does and when to call it
    schema: Mapping[str, Any]  # JSON Schema of the arguments
    tier: Tier
    run: Run  # gets arguments that fit the schema; may raise IntegrationError
    replaces: frozenset[str] = frozenset()  # Home Assistant tools that it hides, without prefix
    needed: Callable[[], bool] = lambda: True  # returns True if this house has a use for it
    guests: bool = True  # available while `policy.mode` is "guest"
    programs: bool = True  # available in a program's turn, within its rights
    words: bool = False  # reveals what people have said, so a program needs `Rights.recalls`
    # Tier by the arguments, if they determine it. The rule of a gated call is then the tool's name,
    # and the catalogue has `confirm.ask_NAME`, `confirm.left_NAME` and `policy.NAME`.
    stake: Callable[[Mapping[str, Any]], Tier] | None = None
    # Question by the arguments and what the person said (None if unknown). None: no question.
    asks: Callable[[Mapping[str, Any], str | None], AskFirst | None] | None = None
    # The changes it would make in the house. Each is judged like a call that does the same.
    moves: Callable[[Mapping[str, Any]], tuple[Move, ...]] | None = None
    sounds: bool = False  # may speak or raise a volume, so it doesn't run during a question
    open_world: bool = False  # returns text from outside, so nothing secure may follow in the turn


def text(description: str) -> dict[str, Any]:
    """Return the JSON Schema of a string argument."""
    return {"type": "string", "description": description}


def schema(
    properties: Mapping[str, Any], *required: str, closed: bool = False
) -> Mapping[str, Any]:
    """Return the JSON Schema of a tool's arguments. With `closed`, it allows no other arguments."""
    told: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        told["required"] = list(required)
    return told | {"additionalProperties": False} if closed else told


NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}
MAX_TEXT = 300  # characters of one name or state


def one_line(text: str) -> str:
    """Return a name or state as a single line of at most MAX_TEXT characters, without control
    characters and invisible characters."""
    return cleaning.one_line(text, MAX_TEXT)
