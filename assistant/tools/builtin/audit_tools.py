"""The tools `what_did_you_do`, `why_did_you_refuse` and `that_was_wrong`, which use the journal."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import AuditRecord, Mark, StoreError
from assistant.domain.tool_call import Decision, Observed, Status, Tier
from assistant.journal.reports import MARKING, Reports
from assistant.journal.store import Store
from assistant.speech.catalogue import FALLBACK, Catalogue, counted
from assistant.tools.builtin.protocol import (
    NO_ARGUMENTS,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    one_line,
    schema,
)
from assistant.tools.execution.outcomes import Sentences
from assistant.tools.house.names import spoken_things
from integrations.home_assistant.house import House

_log = logging.getLogger(__name__)
WHAT_DID_YOU_DO = "what_did_you_do"
WHY_DID_YOU_REFUSE = "why_did_you_refuse"
MAX_TOLD = 4  # calls in the sentence; the data has more
_MAX_ROWS = 30  # calls in the data
_READ = 200  # rows to search
_LONGEST = 24 * 60  # minutes; the sentences give a time without a date

# First word of a state -> end of the catalogue key of its verb ("I turned off the lamp").
_VERBS = {
    "on": "on",
    "off": "off",
    "open": "open",
    "opening": "open",
    "closed": "closed",
    "closing": "closed",
    "locked": "locked",
    "locking": "locked",
    "unlocked": "unlocked",
    "unlocking": "unlocked",
}
_UNCLEAR = frozenset(
    (
        "fields mixed none_here not_heard range unseen which_of which_one which_room which_thing"
    ).split()
)
_OWNERS = "policy.rules"  # prefix of the owner's rules


@dataclass(frozen=True, slots=True)
class AuditTools:
    """The tools that answer questions about past calls. Guests can't use them."""

    audit: Store
    house: Callable[[], House]
    catalogue: Catalogue
    clock: Clock

    def tools(self) -> tuple[BuiltIn, BuiltIn]:
        did = BuiltIn(
            name=WHAT_DID_YOU_DO,
            description="What you changed in the home, when and why. Call it when someone asks "
            "what you did or why something changed; never answer that from memory.",
            schema=schema(
                {
                    "minutes": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": _LONGEST,
                        "description": "How far back; else the last turn.",
                    }
                }
            ),
            tier=Tier.READ,
            run=self._did,
            programs=False,
            guests=False,
        )
        refused = BuiltIn(
            name=WHY_DID_YOU_REFUSE,
            description="Why you did not do the last thing that you refused, and what would help.",
            schema=NO_ARGUMENTS,
            tier=Tier.READ,
            run=self._refused,
            programs=False,
            guests=False,
        )
        return did, refused

    async def _did(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        sentences = Sentences(self.catalogue, request.language)
        minutes = arguments.get("minutes")
        try:
            ends = _ends(await self._rows(minutes or _LONGEST))
        except StoreError:
            return BuiltInResult(sentences.say("audit.unread"), failed=True)
        rows = [row for row in ends if row.tier is not Tier.READ]
        if not minutes:
            rows = _last_turn(rows, besides=request.turn_id)
        if not rows:
            return BuiltInResult(sentences.say("audit.nothing"))
        told = [self._told(row, sentences) for row in reversed(rows[:MAX_TOLD])]
        if len(rows) > MAX_TOLD:
            told.insert(
                0, sentences.say("audit.many", count=counted(len(rows)), told=counted(MAX_TOLD))
            )
        return BuiltInResult(" ".join(told), self._data(rows), outside=_of_programs(rows))

    async def _refused(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        sentences = Sentences(self.catalogue, request.language)
        try:
            rows = await self._rows(_LONGEST)
        except StoreError:
            return BuiltInResult(sentences.say("audit.unread"), failed=True)
        refused = next((row for row in _ends(rows) if _is_refused(row)), None)
        if refused is None:
            return BuiltInResult(sentences.say("audit.refused_nothing"))
        asked = any(
            row.decision is Decision.NEEDS_CONFIRMATION
            for row in rows
            if (row.turn_id, row.call_id) == (refused.turn_id, refused.call_id)
        )
        told = self._told(refused, sentences)
        # The sentences about limits already give the reason.
        if f"guards.{refused.rule}" not in self.catalogue.keys(FALLBACK):
            told = f"{told} {sentences.say(_mend(refused, asked=asked))}"
        return BuiltInResult(told, self._data([refused]), outside=_of_programs([refused]))

    async def _rows(self, minutes: int) -> list[AuditRecord]:
        """Return the audit records of the last `minutes`, newest first. Raises StoreError."""
        since = self.clock.now() - timedelta(minutes=minutes)
        return await self.audit.audited(since=since, limit=_READ)

    def _told(self, row: AuditRecord, sentences: Sentences) -> str:
        time = row.at.astimezone(self.clock.now().tzinfo)
        heard = one_line(row.heard) if row.heard else ""
        program = _program_of(row)
        end = "_program" if program else "_heard" if heard else ""
        who = {"time": time, "heard": heard, "program": program}
        if row.status is Status.DONE and row.observed:
            did = _changes(row.observed, self.house(), sentences)
            return sentences.say(f"audit.did{end}", did=did, **who)
        if row.decision is Decision.NEEDS_CONFIRMATION:
            told = sentences.say("audit.no_yes")
        else:
            told = one_line(row.sentence or sentences.say(f"audit.ended_{row.status}"))
        if program and row.rule in _UNCLEAR:
            told = ""  # the sentence quotes what the program said
        key = "audit.refused" if _is_refused(row) else "audit.other"
        return sentences.say(f"{key}{end}", told=told, **who).strip()

    def _data(self, rows: Sequence[AuditRecord]) -> str:
        told = [
            {
                "time": row.at.astimezone(self.clock.now().tzinfo).isoformat(timespec="minutes"),
                **_asked_by(row),
                "tool": row.name,
                "entities": row.entities,
                "decision": row.decision,
                "rule": row.rule,
                "status": row.status,
                "observed": [
                    f"{one.entity_id}: {one.before} -> {one.after}" for one in row.observed
                ],
            }
            for row in rows[:_MAX_ROWS]
        ]
        return json.dumps({"calls": told}, ensure_ascii=False)


def _asked_by(row: AuditRecord) -> dict[str, Any]:
    # People learn that a program acted, but not what it said. Its arguments are left out too,
    # because they can contain its words.
    program = _program_of(row)
    return {"program": program} if program else {"heard": row.heard, "arguments": row.arguments}


def _program_of(row: AuditRecord) -> str:
    """Return the name of the program whose turn it was, such as "agent" for "mcp:agent", or "" for
    a person's turn."""
    return row.satellite.partition(":")[2]


def _last_turn(rows: Sequence[AuditRecord], besides: str) -> list[AuditRecord]:
    earlier = [row for row in rows if row.turn_id != besides]
    return [row for row in earlier if row.turn_id == earlier[0].turn_id]


def _of_programs(rows: Sequence[AuditRecord]) -> bool:
    return any(":" in row.satellite for row in rows)


def _is_refused(row: AuditRecord) -> bool:
    return row.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION)


def _ends(rows: Sequence[AuditRecord]) -> list[AuditRecord]:
    ends: dict[tuple[str, str], AuditRecord] = {}
    for row in rows:
        ends.setdefault((row.turn_id, row.call_id), row)
    return list(ends.values())


def _mend(row: AuditRecord, *, asked: bool) -> str:
    if asked:
        return "audit.mend_yes"
    if row.rule in ("guest", "caller", "in_talk"):
        return f"audit.mend_{row.rule}"
    if row.rule in _UNCLEAR:
        return "audit.mend_clear"
    if row.tier in (Tier.SECURE, Tier.COSTLY) and not row.rule.startswith(_OWNERS):
        return f"audit.mend_{row.tier}"
    return "audit.mend_settings"


def _changes(observed: Sequence[Observed], house: House, sentences: Sentences) -> str:
    groups: dict[tuple[str, str], list[str]] = {}
    for one in observed:
        entity = house.entities.get(one.entity_id)
        name = one_line(entity.name if entity is not None else one.entity_id)
        groups.setdefault(_came_to(one), []).append(name)
    return ", ".join(
        sentences.say(key, names=spoken_things(names), state=sentences.state(state))
        for (key, state), names in groups.items()
    )


def _came_to(one: Observed) -> tuple[str, str]:
    before, after = (text.partition(" ")[0] for text in (one.before or "", one.after or ""))
    if after in _VERBS and after != before:
        return f"audit.did_{_VERBS[after]}", ""
    return "audit.did_set", one.after or ""


THAT_WAS_WRONG = MARKING
WITHIN = timedelta(minutes=10)  # later, it is unclear which turn the person means


@dataclass(frozen=True, slots=True)
class Marking:
    """The tool `that_was_wrong`, which marks a turn for the statistics (`hearth trace --list`)."""

    marks: Reports
    catalogue: Catalogue
    clock: Clock

    def tool(self) -> BuiltIn:
        return BuiltIn(
            name=THAT_WAS_WRONG,
            description="Notes that your last action or answer was wrong, when the person says so: "
            '"you misheard me". It undoes nothing: use correct_last or undo as well '
            "where they fit.",
            schema=schema(
                {
                    "misheard": {
                        "type": "boolean",
                        "description": "The words were misheard.",
                    }
                }
            ),
            tier=Tier.COMFORT,
            run=self._mark,
            programs=False,
        )

    async def _mark(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        mark: Mark = "misheard" if arguments.get("misheard") else "wrong"
        say = self.catalogue.say
        try:
            meant = await self.marks.last_command(self.clock.now() - WITHIN)
            marked = meant is not None and await self.marks.mark(meant.turn_id, mark)
        except StoreError as error:
            if not error.told:
                _log.error("a turn could not be marked: %s", error)
            return BuiltInResult(say("wrong.not_noted", request.language), failed=True)
        if not marked:
            return BuiltInResult(say("wrong.nothing", request.language), failed=True)
        return BuiltInResult(say(f"wrong.{mark}", request.language))
