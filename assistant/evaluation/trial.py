"""Says the sentences to one brain on the embedded house, and keeps what came of each."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from assistant.app.build import App, open_app
from assistant.config.schema import Settings
from assistant.conversation.log import FinishedTurn, joined
from assistant.domain.brain import Usage
from assistant.evaluation.commands import Sentence
from assistant.evaluation.stage import Stage
from assistant.evaluation.wishes import Outcome, judge
from audio.player import NullPlayer
from audio.wav import WavSource

_UNLIMITED = {"comfort_per_minute": 10_000, "costly_per_hour": 10_000, "secure_per_hour": 10_000}


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one sentence."""

    sentence: Sentence
    outcome: Outcome
    acted: bool  # something in the house has changed
    heard: str  # as the service wrote it down, "" where it did not
    answer: str
    error: str  # kind of the turn's error, "" for none
    to_sound_ms: float | None  # end of speech to the first sound; None: none came
    cost_usd: float
    usage: Usage | None
    asked: bool  # a brain was asked, so that it may have cost something


def trial_settings(settings: Settings, brain: str, folder: Path, cap_usd: float) -> Settings:
    """The reader's model, key and voice; all else as in the demonstration. `folder`: for data."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    models = settings.data_folder / "models"
    if models.is_dir():  # the voices that are there
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
    """A whole Hearth without devices, for as long as the block runs."""
    async with open_app(settings, NullPlayer(paced=realtime), hears=True, paced=realtime) as app:
        yield Trials(app, realtime=realtime)


class Trials:
    """Says one sentence after the other."""

    def __init__(self, app: App, *, realtime: bool) -> None:
        """`realtime`: as fast as it is spoken; latencies count only then."""
        self._app = app
        self._stage = Stage(app)
        self._realtime = realtime
        self._turns: list[FinishedTurn] = []
        app.log.on_turn = self._turns.append

    @property
    def notices(self) -> Sequence[str]:
        """What the reader should know before."""
        return self._app.notices

    async def say(self, sentence: Sentence, recording: Path) -> Trial:
        """One of them, on the house as it is in the beginning."""
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
    """Say them all; stop before one that might pass the cap. `one_usd`: what one may cost."""
    spent = 0.0
    for sentence, recording in given:
        if spent + one_usd > cap_usd:
            return
        trial = await trials.say(sentence, recording)
        spent += trial.cost_usd
        told(trial)
