"""Tests of questions about past actions and refusals, answered from the audit alone."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import AuditRecord, Mark, StoreError, TurnRecord
from assistant.domain.tool_call import Decision, Observed, Status, Tier
from assistant.journal.reports import Reports
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue, counted
from assistant.tools.builtin.audit_tools import (
    MAX_TOLD,
    WHAT_DID_YOU_DO,
    WHY_DID_YOU_REFUSE,
    WITHIN,
    AuditTools,
    Marking,
)
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from integrations.home_assistant.house import Entity, House

MADRID = timezone(timedelta(hours=1), "CET")
NOW = datetime(2026, 11, 22, 18, 5, tzinfo=MADRID)
HOUSE = House(
    entities={
        entity_id: Entity(entity_id, name, "on")
        for entity_id, name in {
            "light.kitchen": "Kitchen Light",
            "light.hall": "Hall Light",
            "lock.front": "Front Door",
            "climate.hall": "Thermostat",
        }.items()
    }
)
LIMIT = next(
    key.removeprefix("guards.") for key in Catalogue().keys("en") if key.startswith("guards.")
)
LAMP = AuditRecord(
    at=(NOW - timedelta(minutes=3)).astimezone(UTC),
    turn_id="t1",
    call_id="c1",
    server="home_assistant",
    name="HassTurnOff",
    arguments={"name": "Kitchen Light"},
    tier=Tier.COMFORT,
    decision=Decision.ALLOWED,
    status=Status.DONE,
    rule="comfort",
    entities=("light.kitchen",),
    observed=(Observed("light.kitchen", "on", "off"),),
    heard="turn off the kitchen light",
    sentence="Done. Kitchen Light: off.",
)
DOOR = replace(
    LAMP,
    tier=Tier.SECURE,
    decision=Decision.DENIED,
    status=Status.NOT_RUN,
    rule="unlock",
    entities=("lock.front",),
    observed=(),
    heard="unlock the door",
    sentence="I'm not allowed to unlock the front door.",
)


class Journal(Store):
    """A journal with the given rows, newest first, or one that cannot be read."""

    def __init__(self, rows: tuple[AuditRecord, ...], broken: bool = False) -> None:
        self._audit = rows
        self._broken = broken

    async def audited(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
        *_: object,
        **__: object,
    ) -> list[AuditRecord]:
        if self._broken:
            raise StoreError("The journal failed.")
        found = [row for row in self._audit if since is None or row.at >= since]
        return sorted(found, key=lambda row: row.at, reverse=True)[:limit]


async def _ask(
    tool: str, *rows: AuditRecord, language: str = "en", broken: bool = False, **arguments: Any
) -> BuiltInResult:
    tools = AuditTools(Journal(rows, broken), lambda: HOUSE, Catalogue(), VirtualClock(NOW))
    run = {one.name: one.run for one in tools.tools()}[tool]
    return await run(arguments, BuiltInRequest("now-1", "now", None, language))


def _seen(*observed: tuple[str, str | None, str | None]) -> AuditRecord:
    return replace(LAMP, observed=tuple(Observed(*one) for one in observed))


@pytest.mark.parametrize(
    ("row", "language", "sentence"),
    [
        (
            LAMP,
            "en",
            "At 18:02 I turned off the kitchen light, because you said "
            "“turn off the kitchen light”.",
        ),
        (
            replace(LAMP, heard="apaga la luz"),
            "es-MX",
            "A las 18:02 apagué Kitchen Light, porque dijiste “apaga la luz”.",
        ),
        (replace(LAMP, heard=None), "en", "At 18:02 I turned off the kitchen light."),
        (
            replace(LAMP, satellite="mcp:agent"),
            "en",
            "At 18:02 I turned off the kitchen light, because the program agent asked for it.",
        ),
        (
            replace(
                _seen(("light.kitchen", "off", "on 30 %"), ("light.hall", "off", "on")), heard=None
            ),
            "en",
            "At 18:02 I turned on the kitchen light and the hall light.",
        ),
        (
            replace(_seen(("light.kitchen", "on 30 %", "on 50 %")), heard=None),
            "en",
            "At 18:02 I set the kitchen light to on 50 %.",
        ),
        (
            replace(
                _seen(("lock.front", "unlocked", "locking"), ("climate.hall", "off", "heat 21 °C")),
                heard=None,
            ),
            "en",
            "At 18:02 I locked the front door, I set the thermostat to heating 21 °C.",
        ),
        (
            replace(LAMP, observed=(), sentence="The timer runs."),
            "en",
            "At 18:02 you said “turn off the kitchen light”. The timer runs.",
        ),
        (
            replace(LAMP, status=Status.TIMEOUT, heard=None, sentence=None),
            "en",
            "At 18:02 I got a request. Home Assistant didn't answer in time.",
        ),
        (
            DOOR,
            "en",
            "At 18:02 you said “unlock the door”, but I didn't do it. "
            "I'm not allowed to unlock the front door.",
        ),
        (
            replace(LAMP, heard="line\none\u202e \x1b[31mred"),
            "en",
            "At 18:02 I turned off the kitchen light, because you said “line one [31mred”.",
        ),
    ],
)
async def test_what_was_done_is_told(row: AuditRecord, language: str, sentence: str) -> None:
    told = await _ask(WHAT_DID_YOU_DO, row, language=language)
    assert (told.sentence, told.failed) == (sentence, False)
    (call,) = json.loads(told.data)["calls"]
    assert (call["time"], call["rule"]) == ("2026-11-22T18:02+01:00", row.rule)


async def test_the_last_turn_counts_and_not_this_one() -> None:
    older = replace(LAMP, turn_id="t0", at=LAMP.at - timedelta(minutes=9))
    read = replace(LAMP, turn_id="t2", tier=Tier.READ, at=NOW)
    own = replace(LAMP, turn_id="now", at=NOW)
    second = replace(_seen(("light.hall", "off", "on")), call_id="c2", heard=None)
    told = await _ask(WHAT_DID_YOU_DO, older, LAMP, second, read, own)
    assert [row["tool"] for row in json.loads(told.data)["calls"]] == ["HassTurnOff"] * 2
    assert "I turned on the hall light." in told.sentence


async def test_minutes_reach_over_turns() -> None:
    rows = [
        replace(LAMP, call_id=f"c{number}", turn_id=f"t{number}", at=NOW - timedelta(minutes=n))
        for number, n in enumerate((1, 2, 3, 4, 5, 59))
    ]
    told = await _ask(WHAT_DID_YOU_DO, *rows, minutes=10)
    assert len(json.loads(told.data)["calls"]) == 5
    assert told.sentence.startswith(
        f"I did five things. Here are the last {counted(MAX_TOLD).english}. At 18:01"
    )
    assert told.sentence.index("18:01") < told.sentence.index("18:04")


async def test_a_question_that_got_its_yes_is_told_as_done() -> None:
    asked = replace(DOOR, decision=Decision.NEEDS_CONFIRMATION)
    done = replace(
        asked,
        at=NOW,
        decision=Decision.CONFIRMED,
        status=Status.DONE,
        observed=(Observed("lock.front", "locked", "unlocked"),),
    )
    told = await _ask(WHAT_DID_YOU_DO, asked, done)
    assert (
        told.sentence == "At 18:05 I unlocked the front door, because you said “unlock the door”."
    )
    refused = await _ask(WHY_DID_YOU_REFUSE, asked, done)
    assert refused.sentence == "I haven't refused anything lately."


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            DOOR,
            ("I'm not allowed to unlock the front door.", "or to sound an alarm"),
        ),
        (
            replace(DOOR, decision=Decision.NEEDS_CONFIRMATION),
            ("I asked for confirmation and didn't get it.", "answer my question with yes"),
        ),
        (
            replace(DOOR, tier=Tier.COMFORT, rule="which_room", sentence="Which room do you mean?"),
            ("Which room do you mean?", "Say it again with the device and the room."),
        ),
        (replace(DOOR, tier=Tier.COSTLY, rule="script"), ("keeps running",)),
        (replace(DOOR, rule="policy.rules[2]"), ("A rule in my settings doesn't allow that",)),
        (replace(DOOR, rule="guest"), ("in guest mode",)),
        (
            replace(DOOR, tier=Tier.COMFORT, rule="night"),
            ("A rule in my settings doesn't allow that",),
        ),
    ],
)
async def test_why_it_refused(row: AuditRecord, words: tuple[str, ...]) -> None:
    told = await _ask(WHY_DID_YOU_REFUSE, replace(LAMP, turn_id="t9", at=NOW), row)
    assert [word for word in words if word not in told.sentence] == []
    assert json.loads(told.data)["calls"][0]["decision"] == row.decision


async def test_a_limit_tells_by_itself_what_would_help() -> None:
    told = await _ask(
        WHY_DID_YOU_REFUSE,
        replace(DOOR, tier=Tier.READ, rule=LIMIT, sentence="That was too much.", heard=None),
    )
    assert told.sentence == ("At 18:02 I refused a request. That was too much.")


async def test_a_no_is_told_as_that() -> None:
    asked = replace(DOOR, decision=Decision.NEEDS_CONFIRMATION)
    left = replace(DOOR, at=NOW, sentence="OK, I left the front door locked.")
    told = await _ask(WHY_DID_YOU_REFUSE, asked, left)
    assert (
        "OK, I left the front door locked. Ask for it again, and answer my question with yes"
        in told.sentence
    )


@pytest.mark.parametrize(
    ("tool", "sentence"),
    [
        (WHAT_DID_YOU_DO, "I haven't changed anything lately."),
        (WHY_DID_YOU_REFUSE, "I haven't refused anything lately."),
    ],
)
async def test_nothing_lately(tool: str, sentence: str) -> None:
    long_ago = replace(DOOR, at=NOW - timedelta(days=2))
    assert await _ask(tool, long_ago) == BuiltInResult(sentence)


@pytest.mark.parametrize("tool", [WHAT_DID_YOU_DO, WHY_DID_YOU_REFUSE])
async def test_a_journal_that_cannot_be_read(tool: str) -> None:
    told = await _ask(tool, broken=True)
    assert told == BuiltInResult("I can't read my journal right now.", failed=True)


def test_guests_are_told_nothing_of_it() -> None:
    tools = AuditTools(Journal(()), lambda: HOUSE, Catalogue(), VirtualClock(NOW)).tools()
    assert [tool.guests for tool in tools] == [False, False]


async def test_what_a_program_was_refused_is_told_as_its_own() -> None:
    row = replace(DOOR, satellite="http:panel", rule="caller", sentence="A program may not.")
    told = await _ask(WHY_DID_YOU_REFUSE, row)
    assert told.sentence.startswith(
        "At 18:02 I refused a request from the program panel. A program may not."
    )
    assert "under policy, can allow it" in told.sentence


async def test_the_words_of_a_program_are_not_told_with_what_it_had_done() -> None:
    own = replace(LAMP, call_id="c2", heard="my word is aubergine")
    programs = replace(
        LAMP,
        satellite="mcp:agent",
        heard="my word is bandicoot",
        arguments={"question": "about a bandicoot"},
    )
    result = await _ask("what_did_you_do", own, programs, minutes=10)
    assert "bandicoot" not in f"{result}"
    people, program = json.loads(result.data)["calls"]
    assert (people["heard"], people["arguments"]) == (own.heard, own.arguments)
    assert (program["program"], program["observed"]) == ("agent", ["light.kitchen: on -> off"])


async def test_what_was_not_understood_of_a_program_is_not_quoted() -> None:
    row = replace(
        DOOR, satellite="mcp:agent", rule="which_thing", sentence="There is no bandicoot here."
    )
    result = await _ask("why_did_you_refuse", row)
    assert "bandicoot" not in f"{result}"
    assert result.sentence.startswith("At 18:02 I refused a request from the program agent")
    own = await _ask("why_did_you_refuse", replace(row, satellite=""))
    assert "bandicoot" in own.sentence


# A complaint marks the turn before, and has no other effect.


class Marks(Reports):
    """Reports that hold one command, or none."""

    def __init__(self, turn: TurnRecord | None = None, problem: StoreError | None = None) -> None:
        self.turn = turn
        self.problem = problem
        self.marked: list[tuple[str, Mark]] = []

    async def last_command(self, since: datetime) -> TurnRecord | None:
        if self.problem is not None:
            raise self.problem
        return self.turn if self.turn is not None and self.turn.started_at >= since else None

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        self.marked.append((turn_id, mark))
        return True


async def call(marks: Marks, clock: VirtualClock, language: str, **given: Any) -> BuiltInResult:
    tool = Marking(marks, Catalogue(), clock).tool()
    assert tool.tier is Tier.COMFORT
    return await tool.run(given, BuiltInRequest("c1", "t2", "that was wrong", language))


@pytest.mark.parametrize(
    ("given", "language", "mark", "said"),
    [
        ({}, "en", "wrong", "Sorry about that. I've noted it."),
        ({"misheard": False}, "es", "wrong", "Lo siento. Lo he anotado."),
        ({"misheard": True}, "en", "misheard", "Sorry, I misheard you. I've noted it."),
        ({"misheard": True}, "es-MX", "misheard", "Perdona, te entendí mal. Lo he anotado."),
    ],
)
async def test_the_turn_before_is_marked(
    given: dict[str, Any], language: str, mark: Mark, said: str
) -> None:
    clock = VirtualClock()
    marks = Marks(TurnRecord("t1", clock.now(), "voice", "en"))
    result = await call(marks, clock, language, **given)
    assert (result.sentence, result.failed) == (said, False)
    assert marks.marked == [("t1", mark)]


async def test_what_is_long_ago_is_not_meant() -> None:
    clock = VirtualClock()
    marks = Marks(TurnRecord("t1", clock.now(), "voice", "en"))
    clock.advance(WITHIN.total_seconds() + 1)
    result = await call(marks, clock, "en")
    assert result.failed
    assert result.sentence.startswith("I haven't done anything in the last few minutes")
    assert marks.marked == []


@pytest.mark.parametrize("told", [True, False])
async def test_a_journal_that_fails_is_said(told: bool, caplog: pytest.LogCaptureFixture) -> None:
    marks = Marks(problem=StoreError("The disk is full.", told=told))
    result = await call(marks, VirtualClock(), "en")
    assert (result.sentence, result.failed) == ("Sorry, I can't save notes right now.", True)
    assert bool(caplog.messages) is not told
