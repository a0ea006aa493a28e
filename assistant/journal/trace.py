"""A turn's stages, its JSON form, and its trace: a text waterfall of at most 80 columns."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from assistant.domain.records import AuditRecord, CallRecord, FaultRecord, TurnRecord


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a turn, in ms on the turn's clock. Stages can overlap."""

    name: str
    start: float
    end: float
    waited: bool = False  # the person is waiting for Hearth
    instant: bool = False  # True if it has no duration

    @property
    def ms(self) -> float:
        """Duration in ms. For a stage without a duration, the time since the first audio sample."""
        return self.end if self.instant else self.end - self.start


# Name, start events (the latest one counts) and end event of each stage.
_STAGES = (
    ("wake word", (), "wake"),
    ("speech", ("speech_start",), "speech_end"),
    ("pause", ("speech_end",), "end_of_turn"),
    ("connection", (), "connected"),
    ("upload", ("first_upload",), "upload_done"),
    ("recognition", ("end_of_turn",), "heard"),
    ("house", ("first_tool_call",), "last_tool_result"),
    ("first words", (), "first_reply_text"),
    ("voice", ("first_reply_text", "last_tool_result"), "first_audio_out"),
    ("answer", ("first_audio_out",), "answer_done"),
)
_NOT_WAITED = {"speech", "answer", "upload"}  # uploading runs while the person speaks
_WORTH_NAMING_MS = 50.0


def stages(timeline: Mapping[str, float]) -> list[Stage]:
    """Return a turn's stages in their usual order. Stages that the timeline lacks are left out."""
    found: list[Stage] = []
    for name, begins, moment in _STAGES:
        if name == "house":
            found += _thinking(timeline)
        if moment not in timeline:
            continue
        end = timeline[moment]
        starts = [timeline[begin] for begin in begins if begin in timeline]
        if name == "pause" and not starts:
            continue  # a typed turn
        start = min(max(starts, default=end), end)
        waited = bool(starts) and name not in _NOT_WAITED
        found.append(Stage(name, start, end, waited=waited, instant=not starts))
    return found


def slowest(found: list[Stage]) -> Stage | None:
    """Return the stage with the longest wait, or None if every wait was under 50 ms."""
    waits = [stage for stage in found if stage.waited and stage.ms >= _WORTH_NAMING_MS]
    return max(waits, key=lambda stage: stage.ms, default=None)


def first_sound_ms(timeline: Mapping[str, float]) -> float | None:
    """Return the time in ms from the end of the request to the answer's first sample, or None if
    either is missing from the timeline."""
    since = timeline.get("speech_end", timeline.get("end_of_turn"))
    if since is None or "first_audio_out" not in timeline:
        return None
    return timeline["first_audio_out"] - since


def _thinking(timeline: Mapping[str, float]) -> list[Stage]:
    after = [timeline[one] for one in ("first_reply_text", "first_tool_call") if one in timeline]
    known = [timeline[one] for one in ("end_of_turn", "heard") if one in timeline]
    if not after or not known:
        return []
    start, end = max(known), min(after)
    if start > end:  # the transcript arrived after the answer had started
        start = min(timeline.get("end_of_turn", end), end)
    return [Stage("thinking", start, end, waited=True)]


# `hearth trace --json` and the HTTP API use the same JSON.
def turn_and_calls_json(
    turn: TurnRecord,
    calls: Sequence[CallRecord],
    audited: Sequence[AuditRecord],
    faults: Sequence[FaultRecord],
) -> dict[str, Any]:
    """Return a turn with its calls as JSON. `audited` contains the turn's audit rows, newest first,
    and `faults` contains the faults that began during the turn."""
    ends = {row.call_id: row for row in reversed(audited)}
    return {
        **turn_json(turn),
        "tool_calls": [_call_json(call, ends.get(call.id)) for call in calls],
        "faults": [_timed(asdict(fault)) for fault in faults],
    }


def faults_during(turn: TurnRecord, faults: Sequence[FaultRecord]) -> list[FaultRecord]:
    """Return the faults that began during the turn, oldest first."""
    times = turn.timeline.values()
    took = timedelta(milliseconds=max(times, default=0.0) - min(times, default=0.0))
    end = turn.started_at + took
    found = [fault for fault in faults if turn.started_at <= fault.began_at <= end]
    return sorted(found, key=lambda fault: fault.began_at)


def turn_json(turn: TurnRecord) -> dict[str, Any]:
    return _timed(asdict(turn))


def _call_json(call: CallRecord, row: AuditRecord | None) -> dict[str, Any]:
    return {
        **_timed(asdict(call)),
        "rule": row.rule if row else "",
        "entities": list(row.entities) if row else [],
        "confirmed_by": row.confirmed_by if row else "",
    }


def _timed(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in fields.items()
    }


WIDTH = 80  # columns
_LABEL = 12
_BAR = 54
LEGEND = "= speech  - pause  # recognition  + house  ~ voice  > answer"
_PHASES = (  # a turn's phases in order, each with its end event
    ("=", "speech_end"),
    ("-", "end_of_turn"),
    ("#", "heard"),
    ("+", "last_tool_result"),
    ("~", "first_audio_out"),
    (">", "answer_done"),
)


def draw_trace(
    turn: TurnRecord,
    calls: Sequence[CallRecord],
    audited: Sequence[AuditRecord] = (),
    faults: Sequence[FaultRecord] = (),
) -> list[str]:
    """Return a turn as lines of text: summary, waterfall, tool calls and answer. `audited` and
    `faults` are as in `turn_and_calls_json`."""
    began = turn.started_at.astimezone()
    facts = [turn.turn_id, f"{began:%Y-%m-%d %H:%M:%S}", turn.source, turn.brain or "no brain"]
    lines = ["  ".join([*facts, turn.language])]
    lines += _told("heard", turn.heard)
    lines += _waterfall(turn.timeline)
    ends = {row.call_id: row for row in reversed(audited)}
    for call in calls:
        decided = told_decision(call, ends.get(call.id))
        lines += _told("call", "; ".join(filter(None, [_called(call), decided])))
        lines += _told("reason", call.reason) if call.reason else []
    for fault in faults:
        lines += _told("fault", fault.problem)
    if turn.confirmation:
        asked = turn.confirmation
        lines += _told("asked", f"{asked.asked or '(erased)'} {asked.verdict}")
    lines += _told("answer", turn.answer)
    if turn.cut_at is not None:
        lines += _told("cut at", turn.cut_at)
    if turn.error:
        lines += _told("error", f"{turn.error.kind}: {turn.error.message or '(erased)'}")
    latency = first_sound_ms(turn.timeline)
    if latency is not None:
        lines += _told("latency", f"first sound {latency:.0f} ms after the last word")
    longest = slowest(stages(turn.timeline))
    if longest is not None:
        lines += _told("longest wait", f"{longest.name}, {longest.ms:.0f} ms")
    if cost := told_cost(turn):
        lines += _told("cost", cost)
    if turn.mark:
        lines += _told("marked", turn.mark)
    return lines


def told_cost(turn: TurnRecord) -> str:
    """Return text such as "$0.0021, 812 tokens in and 96 out, gemini-3.8-live", or "" if the turn
    cost nothing."""
    if turn.usage is None and not turn.cost_usd:
        return ""
    told = [f"{_about(turn)}${turn.cost_usd:.4f}"]
    if turn.usage is not None:
        told.append(f"{turn.usage.input_tokens} tokens in and {turn.usage.output_tokens} out")
        if turn.usage.estimated:
            told.append("estimated, because Gemini didn't report all tokens")
    return ", ".join([*told, *filter(None, [turn.model])])


def short_cost(turn: TurnRecord) -> str:
    """Return text such as "$0.0021" or, for an estimate, "~$0.0021"; "" if it cost nothing."""
    return f"{_about(turn, '~')}${turn.cost_usd:.4f}" if turn.cost_usd else ""


def _about(turn: TurnRecord, word: str = "about ") -> str:
    return word if turn.usage is not None and turn.usage.estimated else ""


def draw_bar(timeline: Mapping[str, float], width: int = 60) -> str:
    """Return a turn's phases as one line of at most `width` columns (see LEGEND), or "" if the
    timeline has fewer than two entries."""
    if len(timeline) < 2:
        return ""
    start = cursor = timeline.get("speech_start", min(timeline.values()))
    parts: list[tuple[str, float]] = []
    for sign, moment in _PHASES:
        end = timeline.get(moment, cursor)
        if end > cursor:
            parts.append((sign, end - cursor))
            cursor = end
    room = width - 2 - len(parts)  # every phase has at least one column
    scale = room / (cursor - start) if parts else 0.0
    return "|" + "".join(sign * (1 + int(ms * scale)) for sign, ms in parts) + "|"


def _waterfall(timeline: Mapping[str, float]) -> list[str]:
    if not timeline:
        return []
    first, last = min(timeline.values()), max(timeline.values())
    scale = (_BAR - 1) / max(last - first, 1.0)
    lines = []
    for stage in stages(timeline):
        left, right = int((stage.start - first) * scale), int((stage.end - first) * scale)
        bar = " " * left + ("*" if stage.instant else "=" * (right - left + 1))
        figure = f"at {stage.end - first:.0f}" if stage.instant else f"{stage.ms:.0f} ms"
        lines.append(f"{stage.name:<{_LABEL}}|{bar:<{_BAR}}|{figure:>11}")
    return lines


def _called(call: CallRecord) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    words = [f"{call.server} {call.name} {arguments}:", f"{call.decision},"]
    words += [call.status or "under way", f"({call.ms:.0f} ms)"]
    seen = [f"{one.entity_id} {one.before or '?'} -> {one.after or '?'}" for one in call.observed]
    return " ".join(words) + "".join(f"; {change}" for change in seen)


def told_decision(call: CallRecord, row: AuditRecord | None) -> str:
    """Return the call's rule, entities and confirmation as text, or "" without an audit row."""
    if row is None:
        return ""
    seen = {one.entity_id for one in call.observed}
    unseen = [entity_id for entity_id in row.entities if entity_id not in seen]
    told = [f"{row.tier} by rule {row.rule}"] if row.rule else []
    told += [f"for {', '.join(unseen)}"] if unseen else []
    told += [f"confirmed by {row.confirmed_by}"] if row.confirmed_by else []
    return "; ".join(told)


def _told(label: str, text: str | None) -> list[str]:
    return textwrap.wrap(
        text or "(nothing, or erased)",
        WIDTH,
        initial_indent=f"{label:<{_LABEL}} ",
        subsequent_indent=" " * (_LABEL + 1),
        replace_whitespace=False,  # the caller escapes line ends and tabs
        expand_tabs=False,
    )
