"""A turn's timeline as stages: what took how long. Pure; all in ms on the turn's one clock."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a turn. Stages may lie beside each other."""

    name: str
    start: float
    end: float
    waited: bool = False  # the person waits for it: neither their own speech nor the answer's
    instant: bool = False  # no stretch of time but a moment

    @property
    def ms(self) -> float:
        """How long it took; of a moment when it was, from the first sample."""
        return self.end if self.instant else self.end - self.start


# Name, moments that may begin it (the last of them counts), the moment that ends it.
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
_NOT_WAITED = {"speech", "answer", "upload"}  # an upload runs beside the speech
_WORTH_NAMING_MS = 50.0


def stages(timeline: Mapping[str, float]) -> list[Stage]:
    """Those that there were, in their usual order."""
    found: list[Stage] = []
    for name, begins, moment in _STAGES:
        if name == "house":
            found += _thinking(timeline)
        if moment not in timeline:
            continue
        end = timeline[moment]
        starts = [timeline[begin] for begin in begins if begin in timeline]
        if name == "pause" and not starts:
            continue  # it was typed
        start = min(max(starts, default=end), end)
        waited = bool(starts) and name not in _NOT_WAITED
        found.append(Stage(name, start, end, waited=waited, instant=not starts))
    return found


def slowest(found: list[Stage]) -> Stage | None:
    """What the person waited for longest; None where nothing was worth a word."""
    waits = [stage for stage in found if stage.waited and stage.ms >= _WORTH_NAMING_MS]
    return max(waits, key=lambda stage: stage.ms, default=None)


def first_sound_ms(timeline: Mapping[str, float]) -> float | None:
    """From the last voiced sample (typed: from the end of typing) to the answer's first sample."""
    since = timeline.get("speech_end", timeline.get("end_of_turn"))
    if since is None or "first_audio_out" not in timeline:
        return None
    return timeline["first_audio_out"] - since


def _thinking(timeline: Mapping[str, float]) -> list[Stage]:
    """The brain, from knowing what was said to its first word or call."""
    after = [timeline[one] for one in ("first_reply_text", "first_tool_call") if one in timeline]
    known = [timeline[one] for one in ("end_of_turn", "heard") if one in timeline]
    if not after or not known:
        return []
    start, end = max(known), min(after)
    if start > end:  # its words were told while it answered already
        start = min(timeline.get("end_of_turn", end), end)
    return [Stage("thinking", start, end, waited=True)]
