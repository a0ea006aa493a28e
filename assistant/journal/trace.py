"""One turn as plain text: what happened when, as a waterfall no wider than 80 columns."""

import json
import textwrap
from collections.abc import Mapping, Sequence

from assistant.journal.records import AuditRecord, CallRecord, TurnRecord

WIDTH = 80  # columns
_LABEL = 12
_BAR = 54

LEGEND = "= speech  - pause  # recognition  + house  ~ voice  > answer"
_PHASES = (  # of a turn in their order, each with the moment that ends it
    ("=", "speech_end"),
    ("-", "end_of_turn"),
    ("#", "heard"),
    ("+", "last_tool_result"),
    ("~", "first_audio_out"),
    (">", "answer_done"),
)
_ROWS = (  # label, moments that may begin it (the last of them counts), moment that ends it
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


def draw_trace(
    turn: TurnRecord, calls: Sequence[CallRecord], audited: Sequence[AuditRecord] = ()
) -> str:
    """The whole turn: its head, the waterfall, the tool calls, the answer.

    `audited`: the turn's rows of the audit, newest first, for what was decided and by whom.
    """
    began = turn.started_at.astimezone()
    facts = [turn.turn_id, f"{began:%Y-%m-%d %H:%M:%S}", turn.source, turn.brain or "no brain"]
    lines = ["  ".join([*facts, turn.language])]
    lines += _told("heard", turn.heard)
    lines += _waterfall(turn.timeline)
    ends = {row.call_id: row for row in reversed(audited)}
    for call in calls:
        lines += _told("call", _call(call) + _decided(call, ends.get(call.id)))
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
    return "\n".join(lines)


def draw_bar(timeline: Mapping[str, float], width: int = 60) -> str:
    """The turn as one line of at most `width` columns (see LEGEND); "" where nothing was timed."""
    if len(timeline) < 2:
        return ""
    start = cursor = timeline.get("speech_start", min(timeline.values()))
    parts: list[tuple[str, float]] = []
    for sign, moment in _PHASES:
        end = timeline.get(moment, cursor)
        if end > cursor:
            parts.append((sign, end - cursor))
            cursor = end
    room = width - 2 - len(parts)  # every phase has one column at least
    scale = room / (cursor - start) if parts else 0.0
    return "|" + "".join(sign * (1 + int(ms * scale)) for sign, ms in parts) + "|"


def first_sound_ms(timeline: Mapping[str, float]) -> float | None:
    """From the last voiced sample (typed: from the end of typing) to the answer's first sample."""
    since = timeline.get("speech_end", timeline.get("end_of_turn"))
    if since is None or "first_audio_out" not in timeline:
        return None
    return timeline["first_audio_out"] - since


def _waterfall(timeline: Mapping[str, float]) -> list[str]:
    if not timeline:
        return []
    first, last = min(timeline.values()), max(timeline.values())
    scale = (_BAR - 1) / max(last - first, 1.0)
    lines = []
    for label, begins, moment in _ROWS:
        if moment not in timeline:
            continue
        end = timeline[moment]
        starts = [timeline[name] for name in begins if name in timeline]
        start = min(max(starts, default=end), end)
        left, right = int((start - first) * scale), int((end - first) * scale)
        bar = " " * left + ("=" * (right - left + 1) if starts else "*")
        figure = f"{end - start:.0f} ms" if starts else f"at {end - first:.0f}"
        lines.append(f"{label:<{_LABEL}}|{bar:<{_BAR}}|{figure:>11}")
    return lines


def _call(call: CallRecord) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    words = [f"{call.server} {call.name} {arguments}:", f"{call.decision},"]
    words += [call.status or "under way", f"({call.ms:.0f} ms)"]
    seen = [f"{one.entity_id} {one.before or '?'} -> {one.after or '?'}" for one in call.observed]
    return " ".join(words) + "".join(f"; {change}" for change in seen)


def _decided(call: CallRecord, row: AuditRecord | None) -> str:
    """By which rule, for what, and who said yes."""
    if row is None:
        return ""
    seen = {one.entity_id for one in call.observed}
    unseen = [entity_id for entity_id in row.entities if entity_id not in seen]
    told = [f"{row.tier} by rule {row.rule}"] if row.rule else []
    told += [f"for {', '.join(unseen)}"] if unseen else []
    told += [f"confirmed by {row.confirmed_by}"] if row.confirmed_by else []
    return "".join(f"; {one}" for one in told)


def _told(label: str, text: str | None) -> list[str]:
    """A labelled text, folded under its label."""
    return textwrap.wrap(
        text or "(nothing, or erased)",
        WIDTH,
        initial_indent=f"{label:<{_LABEL}} ",
        subsequent_indent=" " * (_LABEL + 1),
    )
