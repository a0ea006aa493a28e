"""Last word to first audible word: think times, lagging transcripts, local and native voice."""

import asyncio
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.app.build import App
from assistant.conversation.turn_services import Moment
from tests.benchmarks.figures import Spread, how_many, print_table, spread, write_figures
from tests.benchmarks.service import Always, GeminiProcess
from tests.benchmarks.sound import Clip, NotingPlayer, StampedSource, clips
from tests.benchmarks.stage import LIGHTS_ON, darken, hearth, stamps
from tests.simulators.script import Done, Hear, Say, Step, Think
from tests.tiny_voice import make_tiny_voice

THINKS_S = (0.3, 0.6, 1.0)
LAGS_S = (0.0, 0.3, 1.0)
ANSWER = "The office lights are on."
HEAD = (
    "voice", "tool calls", "think", "lag", "turns", "last word to audible p50 / p95 / max",
    "without the service's time p50 / p95 / max", "word to decision p50",
    "decision to wire p50", "text to player p50", "lead-in p50",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table."""

    voice: str
    think_s: float  # from activity_end to the service's first message
    lag_s: float  # of the transcript behind the sound
    calls: int

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the service's steps."""
        return (
            Hear("turn on the office lights"),
            Think(self.think_s),
            *[LIGHTS_ON] * self.calls,
            Say(ANSWER, lag_s=self.lag_s),
            Done(waits_for_text=self.lag_s <= 0.3),
        )

    @property
    def service_s(self) -> float:
        """Return the service's part of the time: until it gives what this voice speaks from."""
        return self.think_s + (0.0 if self.voice == "gemini" else self.lag_s)


@dataclass(frozen=True, slots=True)
class Times:
    """One turn. All in milliseconds."""

    audible: float  # from the last voiced sample on
    decision: float  # the same
    wire: float  # from the decision on, to activity_end's arrival
    handed: float  # from the last voiced sample to the first piece at the player
    text: float | None  # from the first text of the answer to the first piece at the player
    lead_in: float  # from there to the first audible sample


def cases(voice: str) -> Iterator[Case]:
    """Yield all combinations with LONG=1; else tool calls without lag only."""
    if voice == "piper":  # its sound is a stand-in, so one think time is enough
        yield from (Case(voice, THINKS_S[0], 0.0, calls) for calls in (0, 1))
        return
    for calls, think_s, lag_s in itertools.product((0, 1), THINKS_S, LAGS_S):
        if how_many(0, 1) or not calls or not lag_s:
            yield Case(voice, think_s, lag_s, calls)


async def measure(
    app: App, service: GeminiProcess, case: Case, player: NotingPlayer, spoken: Sequence[Clip]
) -> list[Times]:
    """Run one turn for each clip."""
    service.respond(Always(case.steps))
    results = []
    with stamps() as moments:
        for clip in spoken:
            darken(app)
            player.clear()
            moments.clear()
            source = StampedSource(clip)
            before = app.log.count
            await app.runner.listen(source, turns=1)
            assert app.log.count == before + 1, f"no turn came of {clip.path.name}"
            assert len(app.log.turns[-1].outcomes) == case.calls
            results.append(_times(source, service, player, moments))
    return results


def _times(
    source: StampedSource,
    service: GeminiProcess,
    player: NotingPlayer,
    moments: dict[Moment, float],
) -> Times:
    word, decided = source.last_word_at, moments["end_of_turn"]
    arrived = service.newest().ended_at
    assert arrived is not None
    handed, audible = player.first_sound(after=decided)
    text = moments.get("first_reply_text")
    return Times(
        audible=(audible - word) * 1000,
        decision=(decided - word) * 1000,
        wire=(arrived - decided) * 1000,
        handed=(handed - word) * 1000,
        text=None if text is None else (handed - text) * 1000,
        lead_in=(audible - handed) * 1000,
    )


async def measure_voice(
    voice: str, service: GeminiProcess, folder: Path, spoken: Sequence[Clip]
) -> list[tuple[Case, list[Times]]]:
    """Return all rows of one voice, in one process of Hearth with a warm session."""
    section: dict[str, Any] = {"engine": voice}
    if voice == "piper":
        section["models"] = {"en": str(make_tiny_voice(folder))}
    player = NotingPlayer()
    where = folder / voice
    async with hearth(where, service.address, player, resident=True, **section) as app:
        await measure(app, service, Case(voice, 0.0, 0.0, 0), player, spoken[:1])  # warms up
        return [(case, await measure(app, service, case, player, spoken)) for case in cases(voice)]


def row(case: Case, times: Sequence[Times]) -> tuple[Case, dict[str, Spread | None]]:
    """Return the figures of one row."""
    service_ms = case.service_s * 1000
    texts = [one.text for one in times if one.text is not None]
    return case, {
        "audible": spread(one.audible for one in times),
        "handed": spread(one.handed for one in times),
        "ours": spread(one.audible - service_ms for one in times),
        "decision": spread(one.decision for one in times),
        "wire": spread(one.wire for one in times),
        "text_to_player": spread(texts) if texts and case.voice != "gemini" else None,
        "lead_in": spread(one.lead_in for one in times),
    }


def main() -> None:
    """Measure every voice, and print one table."""
    count = how_many(2, 10)
    results: list[tuple[Case, dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as name, GeminiProcess(Always(())) as service:
        folder = Path(name)
        spoken = list(itertools.islice(itertools.cycle(clips(folder)), count))
        for voice in ("espeak", "piper", "gemini"):
            measured = asyncio.run(measure_voice(voice, service, folder, spoken))
            results += [row(*one) for one in measured]
    print_table(HEAD, (_line(case, figures) for case, figures in results))
    write_figures("turn_latency", [{"case": case, **figures} for case, figures in results])


def _line(case: Case, figures: dict[str, Any]) -> tuple[object, ...]:
    native = case.voice == "gemini"
    return (
        "native" if native else case.voice, case.calls,
        f"{case.think_s * 1000:.0f}", f"{case.lag_s * 1000:.0f}", figures["audible"].count,
        figures["audible"], figures["ours"], f"{figures['decision'].p50:.0f}",
        f"{figures['wire'].p50:.1f}",
        "" if native else f"{figures['text_to_player'].p50:.1f}",
        f"{figures['lead_in'].p50:.0f}",
    )  # fmt: skip
