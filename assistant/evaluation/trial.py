"""Evaluation of one brain: speak the commands in the simulated house and report the results."""

import json
import statistics
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.app.build import App, open_app
from assistant.config.schema import Settings
from assistant.conversation.record import FinishedTurn, joined
from assistant.domain.brain import Usage
from assistant.domain.tool_call import Decision, Status
from assistant.evaluation.commands import Outcome, Seen, Sentence, judge
from audio.player import NullPlayer
from audio.sound_files import WavSource
from integrations.address import shown
from integrations.demo_home.house import DemoHouse, Snapshot
from integrations.home_assistant.house import House
from integrations.home_assistant.services import is_snapshot

_SETTLE_S = 2.0  # longest time in seconds until a moving cover or lock reports its new state
_ON_ITS_WAY = frozenset({"opening", "closing", "locking", "unlocking", "returning"})
_NOT_RUN = (Decision.DENIED, Decision.NEEDS_CONFIRMATION)
_UNDONE = (Status.FAILED, Status.NOT_OBSERVED, Status.TIMEOUT, Status.UNKNOWN)


class Stage:
    """The simulated house, which is reset before a command and observed afterwards."""

    def __init__(self, app: App) -> None:
        assert app.home.demo is not None
        self.app = app
        self._house: DemoHouse = app.home.demo.house
        self._first = self._house.all()
        self._before: dict[str, str] = {}

    async def reset(self, given: Mapping[str, str]) -> None:
        """Set every entity to its state in `given`, or otherwise to its initial state. Returns when
        Hearth has received the changes. Raises RuntimeError if it hasn't after 2 s."""
        self._house.stop()
        self._house.remembered.clear()
        for items in self._house.todo.values():
            items.clear()
        # Without this, Hearth would conclude that the lamp before it opened the door.
        self.app.home.client.expect([first.entity_id for first in self._first])
        for first in self._first:
            state = given.get(first.entity_id, first.state)
            self._house.write(first.entity_id, state, **first.attributes)
        if not await self._wait(lambda house: _same(house, self._first_now())):
            raise RuntimeError("Hearth did not notice that the simulated house was reset")
        self._before = self.now()

    async def look(self, turn: FinishedTurn | None) -> Seen:
        return await self.look_at([] if turn is None else [turn])

    async def look_at(self, turns: Sequence[FinishedTurn]) -> Seen:
        """Wait until the house has settled, and return the combined result of the turns."""
        await self._wait(lambda _: not any(s.state in _ON_ITS_WAY for s in self._house.all()))
        now = self.now()
        changes = {key: now[key] for key in now if self._before.get(key) != now[key]}
        if not turns:
            return Seen(False, changes=changes)
        calls = [call for turn in turns for call in turn.outcomes]
        return Seen(
            True,
            " | ".join(turn.record.heard or "" for turn in turns),
            turns[-1].record.answer or " ".join(turns[-1].record.clauses),
            tuple(f"{call.name} {json.dumps(call.arguments)}" for call in calls),
            tuple(
                f"{call.name} {json.dumps(call.arguments)} {_asked(turn)}"
                for turn in turns
                for call in turn.outcomes
                if call.decision in _NOT_RUN
            ),
            tuple(call.name for call in calls if call.status is Status.DONE),
            any(call.status in _UNDONE for call in calls) or _told_of_a_failure(turns[-1]),
            turns[-1].record.understood,
            changes,
        )

    def now(self) -> dict[str, str]:
        """Return states by entity id and attributes by `<entity id>.<attribute>`, all as text."""
        shown = self._house.all()
        return _flat(one for one in shown if not is_snapshot(one.entity_id))

    def _first_now(self) -> list[Snapshot]:
        return [self._house.get(first.entity_id) for first in self._first]

    async def _wait(self, predicate: Callable[[House], bool]) -> bool:
        ids = [first.entity_id for first in self._first]
        return await self.app.home.client.wait_for(ids, predicate, _SETTLE_S)


def _told_of_a_failure(turn: FinishedTurn) -> bool:
    return turn.record.error is not None and bool(turn.record.clauses)


def _asked(turn: FinishedTurn) -> str:
    told = turn.record.confirmation
    return (told.asked or "") if told is not None else ""


def _flat(snapshots: Iterable[Snapshot]) -> dict[str, str]:
    flat: dict[str, str] = {}
    for snapshot in snapshots:
        flat[snapshot.entity_id] = snapshot.state
        for key, value in snapshot.attributes.items():
            flat[f"{snapshot.entity_id}.{key}"] = _text(value)
    return flat


def _text(value: object) -> str:
    """Format a value as in the command table: 21 for 21.0, and 255,0,0 for a colour."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _same(house: House, snapshots: Iterable[Snapshot]) -> bool:
    for snapshot in snapshots:
        entity = house.entities.get(snapshot.entity_id)
        if entity is None:
            continue
        if entity.state != snapshot.state:
            return False
        if json.dumps(dict(entity.attributes)) != json.dumps(dict(snapshot.attributes)):
            return False
    return True


_UNLIMITED = {"comfort_per_minute": 10_000, "costly_per_hour": 10_000, "secure_per_hour": 10_000}


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of one spoken command."""

    sentence: Sentence
    outcome: Outcome
    acted: bool  # something in the house has changed
    heard: str  # the brain's transcript, or ""
    answer: str
    error: str  # the error's kind, or ""
    # Milliseconds from the end of speech to the answer's first sample; None without an answer.
    to_sound_ms: float | None
    cost_usd: float
    usage: Usage | None
    asked: bool  # a brain was asked, so there can be a cost


def trial_settings(settings: Settings, brain: str, folder: Path, cap_usd: float) -> Settings:
    """Return demo settings with the user's model, API key and voice. Data goes into `folder`."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    models = settings.data_folder / "models"
    if models.is_dir():  # use the installed voices
        (data / "models").symlink_to(models.resolve())
    given = {
        "assistant": {"data": str(data), "languages": ["en", "es"], "follow_up": "never"},
        "privacy": settings.privacy.model_dump(),
        "home_assistant": {"url": "demo"},
        "gemini": settings.gemini.model_dump(),
        "brain": {"order": [brain]},
        "voice": settings.voice.model_dump(),
        "limits": {**_UNLIMITED, "daily_cost_usd": cap_usd},
    }
    return Settings.model_validate(given)


@asynccontextmanager
async def open_trials(settings: Settings, *, realtime: bool) -> AsyncIterator["Trials"]:
    """Start Hearth without audio devices, and stop it when the context closes."""
    async with open_app(settings, NullPlayer(paced=realtime), hears=True, paced=realtime) as app:
        yield Trials(app, realtime=realtime)


class Trials:
    """Speaks commands one after another."""

    def __init__(self, app: App, *, realtime: bool) -> None:
        """With `realtime`, recordings play at normal speed. Latencies are valid only then."""
        self._app = app
        self._stage = Stage(app)
        self._realtime = realtime
        self._turns: list[FinishedTurn] = []
        app.log.on_turn(self._turns.append)

    @property
    def notices(self) -> Sequence[str]:
        return self._app.notices

    async def say(self, sentence: Sentence, recording: Path) -> Trial:
        self._turns.clear()
        await self._stage.reset(sentence.wish.given)
        source = WavSource(recording, realtime=self._realtime)
        await self._app.runner.listen(source, turns=1)
        seen = await self._stage.look_at(self._turns)
        outcome = judge(sentence.wish, seen, self._stage.now())
        if not self._turns:
            return Trial(sentence, outcome, False, "", "", "no_wake", None, 0.0, None, False)
        turn = joined(self._turns).record
        return Trial(
            sentence,
            outcome,
            bool(seen.changed),
            turn.heard or "",
            seen.answer,
            turn.error.kind if turn.error else "",
            _between(turn.timeline, "speech_end", "first_audio_out"),
            turn.cost_usd,
            turn.usage,
            turn.brain is not None,
        )


def _between(timeline: dict[str, float], begin: str, end: str) -> float | None:
    if begin not in timeline or end not in timeline:
        return None
    return round(timeline[end] - timeline[begin], 1)


async def run_trials(
    trials: Trials,
    given: Sequence[tuple[Sentence, Path]],
    cap_usd: float,
    one_usd: float,
    told: Callable[[Trial], None],
) -> None:
    """Speak the commands in order, and stop before the total cost could exceed `cap_usd`. `one_usd`
    is the most that one command is expected to cost. `told` is called with each result."""
    spent = 0.0
    for sentence, recording in given:
        if spent + one_usd > cap_usd:
            return
        trial = await trials.say(sentence, recording)
        spent += trial.cost_usd
        told(trial)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The conditions under which an evaluation was run."""

    hearth: str  # version
    brain: str
    model: str
    voice: str  # voice.engine
    base_url: str  # "" for Google's
    machine: str
    day: str  # ISO date
    realtime: bool
    sentences: int  # number of sentences in the table
    cap_usd: float


def as_json(trials: Sequence[Trial], about: Circumstances) -> dict[str, Any]:
    return {
        "about": {**asdict(about), "base_url": shown(about.base_url)},
        "said": len(trials),
        "outcomes": _counts(trials),
        "by_language": {
            language: _counts(one for one in trials if one.sentence.language == language)
            for language in _languages(trials)
        },
        "to_first_sound_ms": _spread(_latencies(trials)) if about.realtime else None,
        "cost_usd": sum(one.cost_usd for one in trials),
        "cost_estimated": _estimated(trials),
        "tokens": _tokens(trials),
        "trials": [_trial(one) for one in trials],
    }


def as_markdown(trials: Sequence[Trial], about: Circumstances) -> str:
    """Return a Markdown report with the totals, and a table of commands that weren't right."""
    lines = [
        f"### Hearth {about.hearth}, {about.brain} with {about.model}",
        "",
        f"{len(trials)} of {about.sentences} generated sentences in the simulated house, "
        f"{about.day}, {about.machine}, voice {about.voice}"
        + (f", service at {shown(about.base_url)}" if about.base_url else "")
        + ".",
        "",
        "| | spoken | right | asked | silent | wrong | wrong with an effect |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, some in _groups(trials):
        counts = _counts(some)
        shares = " | ".join(
            f"{counts[one]} ({_percent(counts[one], len(some))})" for one in Outcome
        )
        acted = sum(one.acted for one in some if one.outcome is Outcome.WRONG)
        lines.append(f"| {name} | {len(some)} | {shares} | {acted} |")
    lines += ["", *_figures(trials, about), ""]
    if len(trials) < about.sentences:
        lines += [
            (
                f"The cap of ${about.cap_usd:.2f} was reached before the remaining sentences were "
                "spoken."
            ),
            "",
        ]
    missed = [one for one in trials if one.outcome is not Outcome.RIGHT]
    if missed:
        lines += ["| not right | spoken | heard | answer |", "|---|---|---|---|"]
        lines += [_row(one) for one in missed]
    return "\n".join(lines).rstrip() + "\n"


def _row(one: Trial) -> str:
    why = f" ({one.error})" if one.error else ""
    cells = (f"{one.outcome}{why}", one.sentence.words, one.heard, one.answer)
    return f"| {' | '.join(map(_cell, cells))} |"


def _groups(trials: Sequence[Trial]) -> Iterable[tuple[str, list[Trial]]]:
    for language in _languages(trials):
        yield language, [one for one in trials if one.sentence.language == language]
    yield "all", list(trials)


def _figures(trials: Sequence[Trial], about: Circumstances) -> list[str]:
    cost = sum(one.cost_usd for one in trials)
    each = cost / max(1, sum(one.asked for one in trials))
    tokens = _tokens(trials)
    told = [
        f"Total cost: {'about ' * _estimated(trials)}${cost:.4f}, ${each:.5f} per sentence "
        f"({tokens['input']:,} tokens in, {tokens['output']:,} out), by Hearth's price list."
    ]
    spread = _spread(_latencies(trials))
    if about.realtime and spread is not None:
        told.append(
            f"End of speech to first sound: {spread['p50']:.0f} ms at the median, "
            f"{spread['p95']:.0f} ms at the 95th percentile of {spread['count']:.0f}."
        )
    return told


def _estimated(trials: Iterable[Trial]) -> bool:
    """Return True if the service didn't report all tokens."""
    return any(one.usage is not None and one.usage.estimated for one in trials)


def _latencies(trials: Iterable[Trial]) -> list[float]:
    return [one.to_sound_ms for one in trials if one.to_sound_ms is not None]


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    if len(values) == 1:
        return {"count": 1, "p50": values[0], "p95": values[0]}
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    return {"count": len(values), "p50": statistics.median(values), "p95": cuts[-1]}


def _counts(trials: Iterable[Trial]) -> dict[str, int]:
    counted = Counter(one.outcome for one in trials)
    return {outcome: counted[outcome] for outcome in Outcome}


def _languages(trials: Iterable[Trial]) -> list[str]:
    return list(dict.fromkeys(one.sentence.language for one in trials))


def _tokens(trials: Iterable[Trial]) -> dict[str, int]:
    used = [one.usage for one in trials if one.usage is not None]
    return {
        "input": sum(one.input_tokens for one in used),
        "output": sum(one.output_tokens for one in used),
    }


def _trial(one: Trial) -> dict[str, Any]:
    return {
        "number": one.sentence.number,
        "language": one.sentence.language,
        "voice": one.sentence.voice,
        "words": one.sentence.words,
        "outcome": one.outcome,
        "acted": one.acted,
        "heard": one.heard,
        "answer": one.answer,
        "error": one.error or None,
        "to_first_sound_ms": one.to_sound_ms,
        "cost_usd": one.cost_usd,
    }


def _percent(part: int, whole: int) -> str:
    return f"{round(100 * part / whole)} %" if whole else "-"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
