"""One turn as plain text: what happened when, as a waterfall no wider than 80 columns."""

import json
import textwrap
from collections.abc import Mapping, Sequence

from assistant.domain.records import AuditRecord, CallRecord, TurnRecord
from assistant.journal.stages import first_sound_ms, slowest, stages

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


def draw_trace(
    turn: TurnRecord, calls: Sequence[CallRecord], audited: Sequence[AuditRecord] = ()
) -> list[str]:
    """The whole turn, line by line: its head, the waterfall, the tool calls, the answer.

    `audited`: the turn's rows of the audit, newest first, for what was decided and by whom.
    """
    began = turn.started_at.astimezone()
    facts = [turn.turn_id, f"{began:%Y-%m-%d %H:%M:%S}", turn.source, turn.brain or "no brain"]
    lines = ["  ".join([*facts, turn.language])]
    lines += _told("heard", turn.heard)
    lines += _waterfall(turn.timeline)
    ends = {row.call_id: row for row in reversed(audited)}
    for call in calls:
        decided = told_decision(call, ends.get(call.id))
        lines += _told("call", "; ".join(filter(None, [_call(call), decided])))
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
    """ "$0.0021, 812 tokens in and 96 out, gemini-3.8-live"; "" where nothing was spent."""
    if turn.usage is None and not turn.cost_usd:
        return ""
    told = [f"${turn.cost_usd:.4f}"]
    if turn.usage is not None:
        told.append(f"{turn.usage.input_tokens} tokens in and {turn.usage.output_tokens} out")
    return ", ".join([*told, *filter(None, [turn.model])])


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


def _call(call: CallRecord) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    words = [f"{call.server} {call.name} {arguments}:", f"{call.decision},"]
    words += [call.status or "under way", f"({call.ms:.0f} ms)"]
    seen = [f"{one.entity_id} {one.before or '?'} -> {one.after or '?'}" for one in call.observed]
    return " ".join(words) + "".join(f"; {change}" for change in seen)


def told_decision(call: CallRecord, row: AuditRecord | None) -> str:
    """By which rule, for what, and who said yes; "" where nothing is known of that."""
    if row is None:
        return ""
    seen = {one.entity_id for one in call.observed}
    unseen = [entity_id for entity_id in row.entities if entity_id not in seen]
    told = [f"{row.tier} by rule {row.rule}"] if row.rule else []
    told += [f"for {', '.join(unseen)}"] if unseen else []
    told += [f"confirmed by {row.confirmed_by}"] if row.confirmed_by else []
    return "; ".join(told)


def _told(label: str, text: str | None) -> list[str]:
    """A labelled text, folded under its label."""
    return textwrap.wrap(
        text or "(nothing, or erased)",
        WIDTH,
        initial_indent=f"{label:<{_LABEL}} ",
        subsequent_indent=" " * (_LABEL + 1),
        replace_whitespace=False,  # line ends and tabs are the terminal's to spell out
        expand_tabs=False,
    )
