"""The fields of scripts, which Home Assistant does not check (2026.11).

A tool's schema says of a field that names a room or a thing only that it is a text, and a script
runs with whatever it is given. The selectors that people chose for the fields tell more.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from assistant.domain.call import SentenceMatch
from assistant.domain.outcome import Status, Tier, ToolOutcome
from assistant.tools.gates import is_safe_to_guess
from assistant.tools.intents import BROADCAST
from assistant.tools.mend import MendedArgument, are_near, folded, stemmed
from assistant.tools.menu import MenuEntry, is_script
from assistant.tools.nearest import nearest
from assistant.tools.resolve import WILDCARD, domain_of, find_areas, find_floors
from assistant.tools.rules import PolicyDecision
from assistant.tools.sentences import Answer, Sentences
from assistant.tools.verify import GLANCE_S, LivePicture, verify
from integrations.cleaning import one_line
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.conversation import EngineReply
from integrations.home_assistant.house import Area, Entity, Floor, House
from integrations.home_assistant.refusals import CommandRefused, Unanswered

Selectors = Mapping[str, Mapping[str, Any]]  # field -> its selector: {"area": {"multiple": True}}
_TARGETS = {"entity_id": "entity", "area_id": "area", "floor_id": "floor", "device_id": "device"}


class SendCommand(Protocol):
    """One websocket command (`integrations.home_assistant.client.HomeAssistant.command`)."""

    def __call__(self, kind: str, **fields: Any) -> Awaitable[Any]:
        """Its result. Raises Refused or Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Fields:
    """A script's arguments as to be sent, or what is wrong with them."""

    arguments: Mapping[str, Any]
    problem: str = ""  # one phrase for the model; empty where all that is named exists
    options: tuple[str, ...] = ()  # what would be right instead, the nearest first
    changes: tuple[MendedArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What a script takes."""

    selectors: Selectors = field(default_factory=dict)
    required: tuple[str, ...] = ()  # fields without which it is not what its owner meant


async def ask_scripts(command: SendCommand) -> dict[str, Taken]:
    """What every script with fields takes, by the script's own name ("movie_night").

    Any user may ask. Raises what `command` raises.
    """
    return read_scripts(await command("get_services"))


def read_scripts(services: Any) -> dict[str, Taken]:
    """From the answer to `get_services`; whatever is not of that form is left out."""
    scripts = services.get("script") if isinstance(services, Mapping) else None
    found: dict[str, Taken] = {}
    for name, service in (scripts or {}).items():
        fields = service.get("fields") if isinstance(service, Mapping) else None
        known = {str(key): one for key, one in (fields or {}).items() if isinstance(one, Mapping)}
        taken = Taken(
            {
                key: one["selector"]
                for key, one in known.items()
                if isinstance(one.get("selector"), Mapping)
            },
            tuple(key for key, one in known.items() if one.get("required") is True),
        )
        if taken != Taken():
            found[str(name)] = taken
    return found


def check_fields(selectors: Selectors, arguments: Mapping[str, Any], house: House) -> Fields:
    """Whether the rooms, floors, things and devices that the fields name are there.

    A near miss is mended as names are (`mend`); beyond that there is a problem and what is near.
    """
    checked = Fields(dict(arguments))
    for key, selector in selectors.items():
        value = checked.arguments.get(key)
        kind = next((one for one in ("area", "floor", "entity", "device") if one in selector), "")
        if value is None or value == "":
            continue
        if "target" in selector and isinstance(value, Mapping):
            checked = _check_target(key, value, house, checked)
        elif kind:
            settings = selector[kind] if isinstance(selector[kind], Mapping) else {}
            checked = _check_value(key, kind, value, settings, house, checked)
        if checked.problem:
            break
    return checked


def _check_target(key: str, target: Mapping[str, Any], house: House, checked: Fields) -> Fields:
    """The parts of a target, each a text or a list."""
    inner = Fields(dict(target), changes=checked.changes)
    for part, kind in _TARGETS.items():
        if target.get(part) and not inner.problem:
            inner = _check_value(part, kind, target[part], {}, house, inner)
    arguments = {**checked.arguments, key: inner.arguments}
    problem = f"{key}.{inner.problem}" if inner.problem else ""
    return replace(inner, arguments=arguments, problem=problem)


def _check_value(
    key: str, kind: str, value: Any, settings: Mapping[str, Any], house: House, checked: Fields
) -> Fields:
    """One name, or a list of them."""
    meant: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, str):
            return replace(checked, problem=f"{key}: it must name one {kind}")
        name, options = _meant(kind, one, settings, house)
        if name is None:
            problem = f"{key}: there is no {kind} {one}"
            return replace(checked, problem=problem, options=options)
        if name != one:
            change = MendedArgument(key, one, name, key)
            checked = replace(checked, changes=(*checked.changes, change))
        meant.append(name)
    arguments = {**checked.arguments, key: meant if isinstance(value, list) else meant[0]}
    return replace(checked, arguments=arguments)


def _meant(
    kind: str, text: str, settings: Mapping[str, Any], house: House
) -> tuple[str | None, tuple[str, ...]]:
    """What the text means, or None and what is near it."""
    if kind == "device":
        devices = {one.device_id for one in house.exposed()}
        return (text if text in devices else None), ()
    if kind == "entity":
        return _meant_entity(text, settings, house)
    if find_areas(house, text) if kind == "area" else find_floors(house, text):
        return text, ()  # Home Assistant finds its id
    places: Iterable[Area | Floor] = (house.areas if kind == "area" else house.floors).values()
    known = {name: one.name for one in places for name in (one.name, *one.aliases)}

    def is_safe(name: str) -> bool:
        found = {one.area_id for one in find_areas(house, name)} if kind == "area" else set()
        floors = {one.floor_id for one in find_floors(house, name)} if kind == "floor" else set()
        found |= {one.area_id for one in house.areas.values() if one.floor_id in floors}
        inside = [key for key, one in house.entities.items() if one.area_id in found]
        return all(is_safe_to_guess(entity_id, house) for entity_id in inside)

    return _guessed(text, known, is_safe)


def _meant_entity(
    text: str, settings: Mapping[str, Any], house: House
) -> tuple[str | None, tuple[str, ...]]:
    """An entity's id, also where its name is given."""
    pool = [one for one in house.exposed() if _is_wanted(one, settings)]
    if any(one.entity_id == text for one in pool):
        return text, ()
    known: dict[str, str] = {}
    shared: set[str] = set()
    for one in pool:
        for name in one.names:
            if known.setdefault(name, one.entity_id) != one.entity_id:
                shared.add(name)
    if text in shared:
        return None, tuple(one.entity_id for one in pool if text in one.names)
    known = {name: entity_id for name, entity_id in known.items() if name not in shared}
    return _guessed(text, known, lambda entity_id: is_safe_to_guess(entity_id, house))


def _is_wanted(entity: Entity, settings: Mapping[str, Any]) -> bool:
    """Whether the selector's domains, in its old form or as filters, let the entity through."""
    filters = settings.get("filter") or [settings]
    for one in filters if isinstance(filters, list) else [filters]:
        domains = one.get("domain") if isinstance(one, Mapping) else None
        wanted = [domains] if isinstance(domains, str) else domains
        if not wanted or domain_of(entity.entity_id) in wanted:
            return True
    return False


def _guessed(
    text: str, known: Mapping[str, str], is_safe: Callable[[str], bool]
) -> tuple[str | None, tuple[str, ...]]:
    """Of names and what they stand for, the one that the text means (`mend` says how)."""
    steps: list[Callable[[str], bool]] = [
        lambda name: folded(name) == folded(text),
        lambda name: stemmed(name) == stemmed(text),
        lambda name: are_near(text, name),
    ]
    for number, step in enumerate(steps):
        readings = {meant for name, meant in known.items() if step(name)}
        if len(readings) == 1:
            meant = readings.pop()
            return (meant, ()) if number == 0 or is_safe(meant) else (None, (meant,))
        if readings:
            return None, tuple(sorted(readings))
    return None, tuple(dict.fromkeys(known[name] for name in nearest(text, known)))


# Says one sentence to the home's conversation engine, once, and looks what happened.


TRIGGER = "conversation.trigger"  # a sentence that automations wait for, as rules know it
NAME = "conversation.process"  # of such a call in the journal; no tool of the menu
MAX_SPEECH = 2_000  # characters of a reply

# A sentence -> Hearth's own answer to it, where the engine's is not to be trusted; "": it is.
CheckAnswer = Callable[[SentenceMatch], Awaitable[str]]


class Engine(Protocol):
    """The conversation engine (`integrations.home_assistant.conversation.Conversation`)."""

    async def process(self, text: str, language: str, owner: str = "") -> EngineReply:
        """Say it, in the conversation of `owner`. Raises Unanswered where it may have been carried
        out, else IntegrationError."""
        ...


class Saying:
    """The execution of a call that is a sentence. Its own words of reply end in `data`."""

    def __init__(
        self,
        engine: Engine,
        home: LivePicture,
        wait_s: float,
        check: CheckAnswer | None = None,
    ) -> None:
        """`wait_s`: how long a change in the house is waited for; `check`: see `CheckAnswer`."""
        self._engine = engine
        self._home = home
        self._wait_s = wait_s
        self._check = check

    async def run(
        self,
        match: SentenceMatch,
        verdict: PolicyDecision,
        outcome: ToolOutcome,
        sentences: Sentences,
        owner: str = "",
    ) -> ToolOutcome:
        """The outcome, filled in from one that holds what is known before. `owner`: whose talk
        with the engine it is part of, a program's name or "" for people."""
        before = self._home.house
        try:
            reply = await self._engine.process(match.text, match.language, owner)
        except Unanswered as error:
            status = Status.TIMEOUT if error.timed_out else Status.UNKNOWN
            sentence = sentences.say("tools.timeout" if error.timed_out else "tools.lost")
            late = await verify(
                match.intent, match.slots, verdict.entities, before, self._home, 0.0
            )
            return replace(outcome, status=status, sentence=sentence, awaited=late.awaited)
        except CommandRefused as error:
            reason = one_line(str(error), MAX_SPEECH).rstrip(".")
            sentence = sentences.say("tools.failed", reason=reason)
            return replace(outcome, status=Status.FAILED, sentence=sentence)
        except IntegrationError as error:
            return replace(
                outcome,
                status=Status.FAILED,
                sentence=sentences.say("tools.unreachable"),
                data=str(error),
                retryable=isinstance(error, Unavailable),
            )
        speech = one_line(reply.speech, MAX_SPEECH)
        own = await self._check(match) if self._check and verdict.tier is Tier.READ else ""
        if own:  # also in place of an error: it names nothing that can be seen
            answered = sentences.say("tools.answered")
            return replace(outcome, status=Status.DONE, sentence=answered, data=own)
        if reply.kind == "error":
            reason = speech or sentences.say("tools.failed", reason=reply.code or "error")
            return replace(outcome, status=Status.FAILED, sentence=reason, data=speech)
        if verdict.tier is Tier.READ:
            # "Never mind" is answered without a word.
            answered = sentences.say("tools.answered" if speech else "tools.done")
            return replace(outcome, status=Status.DONE, sentence=answered, data=speech)
        return await self._look(match, verdict, reply, before, sentences, outcome)

    async def _look(
        self,
        match: SentenceMatch,
        verdict: PolicyDecision,
        reply: EngineReply,
        before: House,
        sentences: Sentences,
        outcome: ToolOutcome,
    ) -> ToolOutcome:
        """What the house shows of it. An automation's effect is not known, so it is believed."""
        if match.intent == BROADCAST and not reply.succeeded:
            unheard = sentences.say("tools.unheard")
            return replace(outcome, status=Status.NOT_OBSERVED, sentence=unheard)
        reached = reply.succeeded or verdict.entities
        wait_s = self._wait_s if match.intent else min(self._wait_s, GLANCE_S)
        finding = await verify(
            match.intent, match.slots, reached, before, self._home, wait_s, verdict.effects
        )
        status = Status.DONE
        if reply.failed:
            status = Status.FAILED
        elif finding.as_asked is False or (reached and not self._home.connected):
            status = Status.NOT_OBSERVED
        speech = one_line(reply.speech, MAX_SPEECH)
        failed = tuple(one_line(name, MAX_SPEECH) for name in reply.failed)
        answer = Answer(speech, succeeded=reply.succeeded, failed=failed)
        return replace(
            outcome,
            status=status,
            observed=finding.observed,
            sentence=sentences.after(status, answer, finding, self._home.house),
            data=speech,
            as_asked=finding.as_asked is True,
            awaited=finding.awaited,
        )


# Tools of Home Assistant that are someone's script, and what their fields name.


def is_script_tool(entry: MenuEntry, house: House) -> bool:
    """Whether this tool is someone's script."""
    return script_behind(entry, house) is not None


def script_behind(entry: MenuEntry, house: House) -> str | None:
    """Id of the script that this tool is; "" where it has none, None where it is no script.

    Up to Home Assistant 2026.7 the tool bears the script's bare name.
    """
    if not entry.of_home:
        return None  # another server's tool may bear any name
    name = f"script.{entry.suffix}"
    if entry.tool.name.startswith("intent_script__"):
        return ""
    bare = entry.suffix == entry.tool.name and name in house.entities
    return name if is_script(entry.tool.name) or bare else None


def named_in(arguments: Mapping[str, Any], house: House) -> list[str]:
    """The things that a script's fields name: by id, also several in one text, as Home Assistant
    takes them (`config_validation.comp_entity_ids`), by device, area, floor or label, or "all" of
    them. The script may act on them."""
    found: list[str] = []
    level = list(arguments.values())
    while level:
        value = level.pop()
        if isinstance(value, Mapping):
            level.extend(value.values())
        elif isinstance(value, list | tuple):
            level.extend(value)
        elif isinstance(value, str):
            texts = [part.strip().lower() for part in value.split(",")]
            found += house.entities if WILDCARD in texts else ()
            found += [part for part in texts if part in house.entities]
            found += [name for name, one in house.entities.items() if one.device_id == value]
            found += [name for name, one in house.entities.items() if value in one.labels]
            areas = {one.area_id for one in find_areas(house, value)}
            floors = {one.floor_id for one in find_floors(house, value)}
            areas |= {one.area_id for one in house.areas.values() if one.floor_id in floors}
            found += [name for name, one in house.entities.items() if one.area_id in areas]
    return list(dict.fromkeys(found))
