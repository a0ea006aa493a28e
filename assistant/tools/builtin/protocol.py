"""Built-in tools: Hearth's own, on the same path as every server's tool."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.domain.tool_call import CALM, CallContext, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.intents import Move
from integrations import cleaning

HEARTH = "hearth"  # the server under which the menu and the journal list them

# Tools of the memory. A model may call one by itself, so the person's own words decide.
REMEMBER, RECALL, FORGET, CORRECT = "remember", "recall", "forget", "correct_memory"
BY_WORDS = frozenset({REMEMBER, FORGET, CORRECT})


@dataclass(frozen=True, slots=True)
class BuiltInRequest:
    """Origin of a call of a built-in."""

    id: str  # of this piece of work, unique among all turns
    turn_id: str
    heard: str | None  # the person's own words
    language: str  # of the turn, for the sentence
    program: bool = False  # a program asks, and not a person
    situation: CallContext = CALM  # for calls that it makes in its turn
    judged: tuple[Move, ...] = ()  # what of `BuiltIn.moves` was let through, and nothing else
    recalls: bool = True  # whoever asks may be told what people have said
    caller: str = ""  # the program whose own turn it is, as the audit names it; "": people's
    tainted: bool = False  # the model may have read what a stranger wrote
    said: tuple[str, ...] = ()  # the person's words in this talk


@dataclass(frozen=True, slots=True)
class BuiltInResult:
    """Result of a call of a built-in."""

    sentence: str  # what happened, for the brain
    data: str = ""  # what was asked for, where a sentence does not hold it
    failed: bool = False
    valid_options: tuple[str, ...] = ()  # what would have worked instead
    stale: bool = False  # it is of a picture that is not live; the sentence tells its age
    outside: bool = False  # it tells what a program or a stranger wrote


def failure(
    catalogue: Catalogue,
    key: str,
    request: BuiltInRequest,
    options: tuple[str, ...] = (),
    **values: str,
) -> BuiltInResult:
    """A sentence of the catalogue that says why not. `options`: what would have worked instead."""
    sentence = catalogue.say(key, request.language, **values)
    return BuiltInResult(sentence, failed=True, valid_options=options)


@dataclass(frozen=True, slots=True)
class AskFirst:
    """Question to the person before a call runs, whatever the settings let through."""

    name: str  # the catalogue holds `confirm.ask_NAME` and `confirm.left_NAME`
    text: str = ""  # what it is about, as the question says it: `{names}`


Run = Callable[[Mapping[str, Any], BuiltInRequest], Awaitable[BuiltInResult]]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One tool of Hearth's own."""

    name: str
    description: str  # for the model: what it does and when to call it
    schema: Mapping[str, Any]  # JSON Schema of the arguments
    tier: Tier
    run: Run  # gets arguments that fit the schema; raises IntegrationError where it cannot
    replaces: frozenset[str] = frozenset()  # further tools of the home, by suffix, that it hides
    needed: Callable[[], bool] = lambda: True  # whether this house has anything to use it on
    guests: bool = True  # may be used while `policy.mode` is "guest"
    programs: bool = True  # a program's turn may use it, within its rights
    words: bool = False  # it tells what people have said: a program needs `Rights.recalls` for it
    # The tier by the arguments, where they decide; then its name is the rule of a gated call, and
    # the catalogue holds `confirm.ask_NAME`, `confirm.left_NAME` and `policy.NAME`.
    stake: Callable[[Mapping[str, Any]], Tier] | None = None
    # By the arguments and the person's own words (None: not known); no question: None.
    asks: Callable[[Mapping[str, Any], str | None], AskFirst | None] | None = None
    # What it would switch in the house as it is now: each is judged as a call that does the same.
    moves: Callable[[Mapping[str, Any]], tuple[Move, ...]] | None = None
    sounds: bool = False  # it may speak or make something louder: not while an answer is waited for
    open_world: bool = False  # its results are text from outside: nothing secure follows in a turn


def text(description: str) -> dict[str, Any]:
    """JSON Schema of a string that the model fills in."""
    return {"type": "string", "description": description}


def schema(
    properties: Mapping[str, Any], *required: str, closed: bool = False
) -> Mapping[str, Any]:
    """JSON Schema of a tool's arguments. `closed`: no others are taken."""
    told: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        told["required"] = list(required)
    return told | {"additionalProperties": False} if closed else told


NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}
MAX_TEXT = 300  # characters of one name or state


def one_line(text: str) -> str:
    """A name or state as data: no line breaks, control or invisible signs, not without end."""
    return cleaning.one_line(text, MAX_TEXT)
