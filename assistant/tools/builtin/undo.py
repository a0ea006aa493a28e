"""`undo` and `correct_last`: back to how things were, and to what was really meant."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.call import ToolCall
from assistant.tools.menu import Menu, MenuEntry
from assistant.tools.outcome import Decision, Status, Tier, ToolOutcome
from assistant.tools.undo.correct import corrected
from assistant.tools.undo.stack import MAX_LEVELS, DoneCall, Undone
from assistant.tools.undo.step import UndoneReport
from assistant.tools.undo.words import tell
from assistant.tools.verdict import Verdict
from integrations.home_assistant.house import House

UNDO = "undo"
CORRECT_LAST = "correct_last"
CORRECT_WITHIN_S = 60.0

# The whole way of a call, from the policy to the journal: nothing is judged here. None: the
# person must be asked first, so that the brain has to call it itself.
Rerun = Callable[[ToolCall, BuiltInRequest], Awaitable[ToolOutcome | None]]


class Stack(Protocol):
    """What can be undone (`assistant.tools.undo.stack.UndoStack`)."""

    async def undo(self, steps: int = 1) -> Undone:
        """Put back what the newest turns have changed."""
        ...

    def last_calls(self, within_s: float) -> tuple[DoneCall, ...]:
        """The calls of the newest level, where they are as new as that."""
        ...


class Tools(Protocol):
    """The way of every call (`assistant.tools.toolbox.Toolbox`)."""

    async def call(
        self, call: ToolCall, turn_id: str, heard: str | None = None, language: str = "en"
    ) -> ToolOutcome:
        """Run one call, or say why not."""
        ...

    async def explain(
        self, name: str, arguments: Mapping[str, Any], heard: str | None = None
    ) -> tuple[MenuEntry, Verdict] | None:
        """What would be decided about it."""
        ...


def through(tools: Tools) -> Rerun:
    """A corrected call takes the same way as every other one, unless it must be asked about."""

    async def rerun(call: ToolCall, request: BuiltInRequest) -> ToolOutcome | None:
        judged = await tools.explain(call.name, call.arguments, request.heard)
        if judged is not None and judged[1].decision is Decision.NEEDS_CONFIRMATION:
            return None
        return await tools.call(call, request.turn_id, request.heard, request.language)

    return rerun


@dataclass(frozen=True, slots=True)
class Undoing:
    """The two tools."""

    stack: Stack
    rerun: Rerun
    menu: Callable[[], Menu]  # as last listed
    house: Callable[[], House]
    catalogue: Catalogue

    def tools(self) -> tuple[BuiltIn, BuiltIn]:
        """Both, for the menu."""
        undo = BuiltIn(
            name=UNDO,
            description="Puts back what was changed last in the home: brightness, colours, "
            "temperatures, blinds, volume, replaced files. Call it when the person says to undo "
            "it or to put it back as it was. It cannot unlock or open anything.",
            schema={
                "type": "object",
                "properties": {
                    "steps": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_LEVELS,
                        "description": "How many requests are undone, the newest first; 1 unless "
                        "the person says more.",
                    }
                },
            },
            tier=Tier.COMFORT,
            run=self._undo,
            programs=False,
        )
        correct = BuiltIn(
            name=CORRECT_LAST,
            description="Undoes what was changed last and does the same to what was really meant. "
            'Call it when the person corrects the last command: "no, the bedroom", "I meant the '
            'lamp". Give the name or the area, or both; everything else stays as it was asked.',
            schema={
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The device that was meant."},
                    "area": {"type": "string", "description": "The room that was meant."},
                },
            },
            tier=Tier.COMFORT,
            run=self._correct,
            programs=False,
        )
        return undo, correct

    async def _undo(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        undone = await self.stack.undo(int(arguments.get("steps", 1)))
        if undone.away or not undone.levels:
            key = "tools.unreachable" if undone.away else "undo.nothing"
            return BuiltInResult(self.catalogue.say(key, request.language), failed=True)
        report = undone.report
        sentence = tell(report, self.catalogue, request.language)
        return BuiltInResult(sentence, _data(report), failed=_in_vain(report))

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
        undone = await self.stack.undo()
        if undone.away or not undone.levels:
            key = "tools.unreachable" if undone.away else "undo.nothing_to_correct"
            return BuiltInResult(say(key, request.language), failed=True)
        told = tell(undone.report, self.catalogue, request.language)
        call = ToolCall(f"{request.id}-meant", entry.declaration.name, meant)
        outcome = await self.rerun(call, request)
        if outcome is None:
            sentence = f"{told} {say('undo.call_it', request.language)}".strip()
            return BuiltInResult(sentence, _data(undone.report, call=call), failed=True)
        return BuiltInResult(
            " ".join(filter(None, (told, outcome.sentence))),
            _data(undone.report, outcome),
            failed=outcome.status is not Status.DONE,
            valid_options=outcome.valid_options,
        )


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
