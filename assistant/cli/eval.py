"""`hearth eval`: measure a Gemini brain with sixty spoken commands in the simulated house."""

import argparse
import asyncio
import math
import platform
import sys
import tempfile
from datetime import date
from pathlib import Path

from rich.progress import Progress, track
from rich.text import Text

from assistant.app.model_access import NO_CONSENT, can_sign_in
from assistant.brains.slots import start_of_day
from assistant.cli.console import Terminal, read_line, worded
from assistant.cli.terminal import CliCommand, Failed, say, say_json
from assistant.config.schema import Settings
from assistant.domain.brain import Usage
from assistant.domain.clock import SystemClock
from assistant.domain.records import TurnRecord, new_id
from assistant.domain.version import own_version
from assistant.evaluation.commands import Outcome, Sentence, make_recording, sentences
from assistant.evaluation.trial import (
    Circumstances,
    Trial,
    as_json,
    as_markdown,
    open_trials,
    run_trials,
    trial_settings,
)
from assistant.journal.store import Store
from assistant.setup.cloud import ONE_COMMAND
from integrations.address import shown
from integrations.gemini.access import NO_KEY
from integrations.gemini.models import ModelRow, cost_usd, model_row

BRAINS = ("gemini-live", "gemini-once")
_CAP_USD = 1.00
_WIDE = 2.0  # a sentence can cost this multiple of the estimate, because the context grows
_SENTENCE_S = 9.0  # seconds for one sentence and its answer in real time


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--yes", action="store_true", help="start without asking")
    parser.add_argument(
        "--cap",
        type=float,
        default=_CAP_USD,
        metavar="USD",
        help=f"stop before the cost exceeds this (default {_CAP_USD:.2f})",
    )
    parser.add_argument(
        "--brain",
        choices=BRAINS,
        default=BRAINS[0],
        help=f"choose the brain to measure (default {BRAINS[0]})",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.md", help="write the table to this file too"
    )
    parser.add_argument(
        "--fast",
        action="store_true",
        help="process the speech as fast as possible; latency is not measured",
    )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    _check(arguments, settings)
    console = Terminal(stderr=True, soft_wrap=True)
    row = _row(arguments.brain, settings)
    one_usd = cost_usd(row, ONE_COMMAND)
    cap_usd = min(arguments.cap, await _left_today(settings))
    if cap_usd < _WIDE * one_usd:
        raise Failed(
            "this would exceed the cost limit: today's limits.daily_cost_usd is reached, or --cap "
            "is too small",
            2,
        )
    given = sentences()
    _announce(console, arguments, settings, row, len(given), one_usd, cap_usd)
    if not arguments.yes and not await _agreed(console):
        console.print("Nothing was sent.")
        return 0
    trials = await _measure(arguments, settings, row, given, cap_usd, _WIDE * one_usd, console)
    about = _about(arguments, settings, row, len(given), cap_usd)
    table = as_markdown(trials, about)
    if arguments.json:
        say_json(as_json(trials, about))
    else:
        say(*table.split("\n"))
    if arguments.out is not None:
        # Write the file last: the result was paid for and must be printed even if this fails.
        _write(arguments.out, table)
    return 0 if any(trial.outcome is Outcome.RIGHT for trial in trials) else 1


def _check(arguments: argparse.Namespace, settings: Settings) -> None:
    if not settings.privacy.accept_cloud:
        raise Failed(NO_CONSENT, 2)
    if not can_sign_in(settings):
        raise Failed(NO_KEY, 2)
    if not 0 < arguments.cap < math.inf:  # excludes nan
        raise Failed("--cap must be more than 0, such as --cap 0.5", 2)
    if arguments.out is not None and not arguments.out.parent.is_dir():
        raise Failed(f"Cannot write {arguments.out} (no such folder); choose another --out", 2)
    if not arguments.yes and not sys.stdin.isatty():
        raise Failed(
            "The evaluation costs money, and there is no terminal to ask on. Add --yes to agree.", 2
        )


def _row(brain: str, settings: Settings) -> ModelRow:
    if brain == "gemini-live":
        return model_row(settings.gemini.model[0])[0]
    return model_row(settings.gemini.once_model, "once")[0]


async def _left_today(settings: Settings) -> float:
    clock = SystemClock()
    async with Store(settings.database, clock) as store:
        spent = await store.spent_since(start_of_day(clock.now()))
    return max(0.0, settings.limits.daily_cost_usd - spent)


def _announce(
    console: Terminal,
    arguments: argparse.Namespace,
    settings: Settings,
    row: ModelRow,
    count: int,
    one_usd: float,
    cap_usd: float,
) -> None:
    address = shown(settings.gemini.base_url)
    service = f"{row.name} at {address}" if address else row.name
    minutes = "" if arguments.fast else f", in about {round(count * _SENTENCE_S / 60)} minutes"
    console.print(
        f"{count} generated sentences about the demo's simulated house go to Google's "
        f"{service}{minutes}. None of your own are sent."
    )
    console.print(
        f"Estimated cost: ${count * one_usd:.2f}. The evaluation stops before ${cap_usd:.2f} "
        "(--cap, or what is left of today's limits.daily_cost_usd)."
    )


async def _agreed(console: Terminal) -> bool:
    console.print("Start? (yes or no) ", end="")
    return (await read_line()).strip().casefold() in ("y", "yes")


async def _measure(
    arguments: argparse.Namespace,
    settings: Settings,
    row: ModelRow,
    given: list[Sentence],
    cap_usd: float,
    one_usd: float,
    console: Terminal,
) -> list[Trial]:
    """Run the sentences and print each result. `one_usd` is the most that one sentence is expected
    to cost."""
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        making = track(given, "Generating the speech", console=console, transient=True)
        clips = [(one, await asyncio.to_thread(make_recording, one, folder)) for one in making]
        chosen = trial_settings(settings, arguments.brain, folder, cap_usd)
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task("Speaking", total=len(clips))

            def told(trial: Trial) -> None:
                trials.append(trial)
                progress.console.print(_line(trial))
                progress.advance(bar)

            try:
                async with open_trials(chosen, realtime=not arguments.fast) as opened:
                    for notice in opened.notices:
                        console.print(f"hearth: {notice}", style="dim")
                    await run_trials(opened, clips, cap_usd, one_usd, told)
            finally:
                await _keep_cost(settings, arguments.brain, row, trials)
    return trials


def _line(trial: Trial) -> Text:
    colour = {Outcome.RIGHT: "green", Outcome.WRONG: "red"}.get(trial.outcome, "yellow")
    late = f"{trial.to_sound_ms:5.0f} ms" if trial.to_sound_ms is not None else "        "
    outcome = Text(f"{trial.outcome:<6}", style=colour)
    told = "{outcome} [dim]{late}[/] {words}"
    return worded(told, outcome=outcome, late=late, words=trial.sentence.words)


async def _keep_cost(settings: Settings, brain: str, row: ModelRow, trials: list[Trial]) -> None:
    spent = sum(trial.cost_usd for trial in trials)
    if not spent:
        return
    clock = SystemClock()
    now, used = clock.now(), Usage(0, 0)
    for trial in trials:
        used = used + trial.usage if trial.usage is not None else used
    record = TurnRecord(
        new_id(now), now, "job", "", brain=brain, usage=used, cost_usd=spent, model=row.name
    )
    async with Store(settings.database, clock) as store:
        await store.record_turn(record)


def _about(
    arguments: argparse.Namespace, settings: Settings, row: ModelRow, count: int, cap_usd: float
) -> Circumstances:
    return Circumstances(
        hearth=own_version(),
        brain=arguments.brain,
        model=row.name,
        voice=settings.voice.engine,
        base_url=settings.gemini.base_url,
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        day=date.today().isoformat(),
        realtime=not arguments.fast,
        sentences=count,
        cap_usd=round(cap_usd, 4),
    )


def _write(path: Path, table: str) -> None:
    try:
        path.write_text(table, encoding="utf-8")
    except OSError as error:
        raise Failed(f"Cannot write {path} ({error.strerror}); choose another --out") from error


COMMAND = CliCommand(
    name="eval",
    examples=("hearth eval", "hearth eval --cap 0.30 --out eval.md"),
    add_arguments=_arguments,
    run=_run,
)
