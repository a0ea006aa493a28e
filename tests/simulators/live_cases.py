"""Read message scripts of reported behaviours of Gemini Live, and play them in the simulator.

A script is a JSON file: `sessions` are the beginnings of the connections (the last one repeats),
`turns` are what the service does for each input (the last one repeats), `n` is how often the person
speaks.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.simulators.records import HeardTurn
from tests.simulators.script import (
    AwaitAnswers,
    Call,
    CallTogether,
    Cancel,
    Close,
    Done,
    Drop,
    GenerationDone,
    Hear,
    Opening,
    Phantom,
    Raw,
    Say,
    Sound,
    Step,
    Wait,
)
from tests.simulators.sound import tone
from tests.simulators.wire import encoded

Lines = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class LiveCase:
    """One script."""

    name: str
    source: str
    spoken: int  # turns of the person
    openings: tuple[Opening, ...]
    turns: tuple[tuple[Step, ...], ...]
    lost_calls: int  # calls whose connection ends before their answer
    rest_s: float  # what the service still does after an answer takes this long


def read_case(path: Path, tools: Mapping[str, str]) -> LiveCase:
    """Read a script; `tools` maps the names of its tools to those that Hearth declares."""
    told = json.loads(path.read_text())
    update_refusal = tuple(told["context_update_close"]) if "context_update_close" in told else None
    turns = [list(_steps(lines, tools)) for lines in told["turns"]]
    return LiveCase(
        path.stem,
        told["source"],
        told["n"],
        tuple(
            replace(_opening(one, tools), update_refusal=update_refusal) for one in told["sessions"]
        ),
        tuple(map(tuple, turns)),
        sum(_loses_a_call(lines) for lines in told["turns"]),
        max(
            *(_seconds_after_the_answer(lines) for lines in told["turns"]),
            *(sum(_sleeps(one.get("after", ()))) for one in told["sessions"]),
        ),
    )


class CasePlayer:
    """Gives the service's steps for each input."""

    def __init__(self, case: LiveCase) -> None:
        self._left = deque(case.turns)

    def __call__(self, turn: HeardTurn) -> Sequence[Step]:
        return self._left.popleft() if len(self._left) > 1 else self._left[0]


def _opening(told: Mapping[str, Any], tools: Mapping[str, str]) -> Opening:
    status, body = told.get("http", (None, "{}"))
    refused = told.get("refuse_if", {})
    return Opening(
        http_status=status,
        http_message=json.loads(body).get("error", {}).get("message", ""),
        delay_s=told.get("delay", 0.0),
        silent=told.get("silent_setup", False),
        refuse=tuple(told["refuse"]) if "refuse" in told else None,
        refuses=[refused["path"]] if refused else (),
        refusal=tuple(refused["close"]) if refused else Opening().refusal,
        refuse_handle="refuse_handle" in told,
        then=tuple(_steps(told.get("after", ()), tools)),
    )


def _steps(lines: Lines, tools: Mapping[str, str]) -> Iterator[Step]:
    ids: set[str] = set()
    for kind, *given in lines:
        match kind, given:
            case "hear", [text, *language]:
                yield Hear(text, language=language[0] if language else None)
            case "call", [name, arguments, *id]:
                yield _call(tools[name], arguments, id[0] if id else None, ids)
            case "calls", [calls]:
                yield CallTogether(*(Call(tools[name], args, wait=False) for name, args in calls))
            case "await", []:
                yield AwaitAnswers()
            case "words", [text]:
                yield Say(text)
            case "text", [text]:
                yield Phantom(text)
            case "audio", [seconds]:
                yield Sound(seconds)
            case "frame" | "binary", [frame]:  # the simulator sends all frames as binary
                yield Raw(json.loads(json.dumps(frame).replace("$A", encoded(tone(1.0)))))
            case "gen", []:
                yield GenerationDone()
            case "done", more:
                fields = more[0] if more else {}
                reason = fields.get("turnCompleteReason")
                status = fields.get("interactionStatus")
                yield Done(status, reason, generation=False)
            case "sleep", [seconds]:
                yield Wait(seconds)
            case "cancel", []:
                yield Cancel()
            case "abort", []:
                yield Drop()
            case "close", [code, reason]:
                yield Close(code, reason)
            case _:
                raise AssertionError(f"unknown step: {kind} {given}")


def _call(name: str, arguments: Any, id: str | None, ids: set[str]) -> Step:
    """Make a call; the simulator keeps no record of one without an id, or with an earlier id."""
    if id is None or (id and id not in ids):
        ids.add(id or "")
        return Call(name, arguments, id=id, wait=False)
    made = {"name": name, "args": arguments, **({"id": id} if id else {})}
    return Raw({"toolCall": {"functionCalls": [made]}})


def _loses_a_call(lines: Lines) -> bool:
    kinds = [line[0] for line in lines]
    return "call" in kinds and "abort" in kinds[kinds.index("call") :] and "await" not in kinds


def _seconds_after_the_answer(lines: Lines) -> float:
    kinds = [line[0] for line in lines]
    after = lines[kinds.index("done") :] if "done" in kinds else ()
    return sum(_sleeps(after))


def _sleeps(lines: Lines) -> Iterator[float]:
    return (line[1] for line in lines if line[0] == "sleep")
