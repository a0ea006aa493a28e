"""The tools `undo` and `correct_last`: revert changes, and repeat a command for another target."""

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from assistant.domain.tool_call import Status, Tier, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue, counted
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult, schema
from assistant.tools.catalog.menu import Menu
from assistant.tools.execution.confirmations import CANNOT_ASK
from assistant.tools.house.names import spoken_things
from assistant.tools.house.targets import (
    domain_of,
    find_areas,
    is_called,
    listed,
)
from assistant.tools.undo.stack import MAX_LEVELS, DoneCall, Undone, UndoStack
from assistant.tools.undo.step import UndoneReport
from integrations.home_assistant.house import House

if TYPE_CHECKING:
    from assistant.tools.execution.toolbox import Toolbox


_TARGETS = frozenset({"name", "area", "floor", "device_class", "domain"})


def corrected(
    calls: Sequence[DoneCall], name: str, area: str, house: House, takes: Collection[str]
) -> dict[str, Any] | None:
    """Return the arguments of the call that the person meant, or None if they are unclear.

    `calls` are all calls of the turn to undo, and `takes` contains the names of the tool's
    arguments.
    """
    last = calls[-1]
    same = all(one.name == last.name and _values(one) == _values(last) for one in calls)
    if not same or not (name or area):
        return None
    target = _named(last, name, area, house) if name else _placed(calls, area, house, takes)
    if target is None or not target.keys() <= set(takes):
        return None
    return _values(last) | target


def _values(call: DoneCall) -> dict[str, Any]:
    return {key: value for key, value in call.arguments.items() if key not in _TARGETS}


def _named(last: DoneCall, name: str, area: str, house: House) -> dict[str, Any]:
    target: dict[str, Any] = {"name": name} | ({"area": area} if area else {})
    kinds = listed(last.arguments.get("domain"))
    if any(one.domain in kinds and is_called(one, name) for one in house.exposed()):
        target["domain"] = last.arguments["domain"]
    return target


def _placed(
    calls: Sequence[DoneCall], area: str, house: House, takes: Collection[str]
) -> dict[str, Any] | None:
    last = calls[-1]
    ids = {found.area_id for found in find_areas(house, area)}
    name = last.arguments.get("name")
    if isinstance(name, str) and any(
        one.area_id in ids and is_called(one, name) for one in house.exposed()
    ):
        kept = {key: last.arguments[key] for key in ("domain", "name") if key in last.arguments}
        return {**kept, "area": area}
    if "domain" not in takes:
        return {"area": area}
    kinds = _kinds(calls)
    return {"area": area, "domain": kinds} if kinds else None


def _kinds(calls: Sequence[DoneCall]) -> list[str]:
    told = [kind for call in calls for kind in listed(call.arguments.get("domain"))]
    touched = [domain_of(entity_id) for call in calls for entity_id in call.entities]
    return list(dict.fromkeys(told or touched))


UNDO = "undo"
CORRECT_LAST = "correct_last"
CORRECT_WITHIN_S = 60.0

# Runs a call on its usual path, from the policy to the journal.
Rerun = Callable[[ToolCall, BuiltInRequest], Awaitable[ToolOutcome]]


def through(tools: "Toolbox") -> Rerun:
    """Return a function that runs a corrected call as part of the turn that corrects it. A call
    that needs a confirmation is refused; the brain must make it itself."""

    async def rerun(call: ToolCall, request: BuiltInRequest) -> ToolOutcome:
        situation = replace(request.situation, can_ask=False)
        return await tools.call(call, request.turn_id, request.heard, request.language, situation)

    return rerun


@dataclass(frozen=True, slots=True)
class Undoing:
    stack: UndoStack
    rerun: Rerun
    menu: Callable[[], Menu]  # as last listed
    house: Callable[[], House]
    catalogue: Catalogue

    def tools(self) -> tuple[BuiltIn, BuiltIn]:
        undo = BuiltIn(
            name=UNDO,
            description='Puts back what was changed last in the home, for "undo that" or "put it '
            'back". It cannot unlock or open anything.',
            schema=schema(
                {
                    "steps": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_LEVELS,
                        "description": "How many requests, the newest first.",
                    }
                }
            ),
            tier=Tier.COMFORT,
            run=self._undo,
            programs=False,
            moves=lambda arguments: self.stack.moves(int(arguments.get("steps", 1))),
        )
        correct = BuiltIn(
            name=CORRECT_LAST,
            description='Undoes the last change and does the same to what was really meant: "no, '
            'the bedroom", "I meant the lamp".',
            schema=schema(
                {
                    "name": {"type": "string"},
                    "area": {"type": "string"},
                }
            ),
            tier=Tier.COMFORT,
            run=self._correct,
            programs=False,
            moves=lambda arguments: self.stack.moves(),
        )
        return undo, correct

    async def _undo(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        undone = await self.stack.undo(int(arguments.get("steps", 1)), request.judged)
        if not undone.levels:
            key = _why_nothing(undone, "undo.nothing")
            return BuiltInResult(self.catalogue.say(key, request.language), failed=True)
        report = undone.report
        told = [tell(report, self.catalogue, request.language)]
        if undone.changed:
            told.append(self.catalogue.say("undo.changed", request.language))
        return BuiltInResult(" ".join(told), _data(report), failed=_in_vain(report))

    async def _correct(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        say = self.catalogue.say
        name, area = (str(arguments.get(key) or "").strip() for key in ("name", "area"))
        if not (name or area):
            return BuiltInResult(say("undo.which", request.language), failed=True)
        calls = self.stack.last_calls(CORRECT_WITHIN_S)
        if not calls:
            return BuiltInResult(say("undo.nothing_to_correct", request.language), failed=True)
        entry = self.menu().find(calls[-1].name)
        takes = entry.tool.input_schema.get("properties", {}) if entry is not None else {}
        meant = corrected(calls, name, area, self.house(), takes)
        if entry is None or meant is None:
            return BuiltInResult(say("undo.say_whole", request.language), failed=True)
        undone = await self.stack.undo(1, request.judged)
        if not undone.levels:
            key = _why_nothing(undone, "undo.nothing_to_correct")
            return BuiltInResult(say(key, request.language), failed=True)
        told = tell(undone.report, self.catalogue, request.language)
        call = ToolCall(f"{request.id}-meant", entry.declaration.name, meant)
        outcome = await self.rerun(call, request)
        if outcome.rule == CANNOT_ASK:
            sentence = f"{told} {say('undo.call_it', request.language)}".strip()
            return BuiltInResult(sentence, _data(undone.report, call=call), failed=True)
        return BuiltInResult(
            " ".join(filter(None, (told, outcome.sentence))),
            _data(undone.report, outcome),
            failed=outcome.status is not Status.DONE,
            valid_options=outcome.valid_options,
        )


def _why_nothing(undone: Undone, empty: str) -> str:
    if undone.away:
        return "tools.unreachable"
    return "undo.changed" if undone.changed else empty


def _in_vain(report: UndoneReport) -> bool:
    return bool(report.not_put_back) and not (report.put_back or report.on_the_way)


def _data(
    report: UndoneReport, outcome: ToolOutcome | None = None, call: ToolCall | None = None
) -> str:
    told: dict[str, Any] = {
        "put_back": _names(report.put_back),
        "on_the_way": _names(report.on_the_way),
        "not_put_back": _names(one.name for one in report.not_put_back),
    }
    if outcome is not None:
        told["then"] = {"status": outcome.status, "decision": outcome.decision}
    if call is not None:
        told["call_next"] = {"name": call.name, "arguments": call.arguments}
    return json.dumps(told, ensure_ascii=False)


def _names(names: Iterable[str]) -> list[str]:
    return [name for name in names if name]


MAX_NAMED = 4  # entities to name


def tell(report: UndoneReport, catalogue: Catalogue, language: str) -> str:
    """Return sentences about what was restored and what wasn't, or "" for an empty report."""

    def some(key: str, names: Sequence[str], why: str = "") -> str:
        told = [name for name in dict.fromkeys(names) if name]
        if not names:
            return ""
        values = {"why": catalogue.say(why, language, names=spoken_things(told))} if why else {}
        if not told:
            return catalogue.say(f"{key}_it", language, **values)
        if len(told) > MAX_NAMED:
            return catalogue.say(f"{key}_many", language, count=counted(len(told)), **values)
        return catalogue.say(key, language, names=spoken_things(told), **values)

    sentences = [some("undo.done", report.put_back), some("undo.moving", report.on_the_way)]
    if not any((report.put_back, report.on_the_way, report.not_put_back)):
        sentences.append(some("undo.unchanged", report.unchanged))
    left = sorted(report.not_put_back, key=lambda one: one.why)
    for why, ones in groupby(left, key=lambda one: one.why):
        names = [one.name for one in ones]
        sentences.append(some("undo.left", names, why))
    return " ".join(filter(None, sentences))
