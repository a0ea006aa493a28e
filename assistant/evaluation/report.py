"""The figures of `hearth eval`: for programs, and as a table to share. Pure."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.evaluation.commands import Outcome
from assistant.evaluation.trial import Trial
from integrations.address import shown


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Where and with what it was measured."""

    hearth: str  # version
    brain: str
    model: str
    voice: str  # voice.engine
    base_url: str  # "" for Google's own
    machine: str
    day: str  # ISO
    realtime: bool
    of: int  # sentences that there are
    cap_usd: float


def as_json(trials: Sequence[Trial], about: Circumstances) -> dict[str, Any]:
    """One object: the figures, and every sentence."""
    return {
        "about": {
            "hearth": about.hearth,
            "brain": about.brain,
            "model": about.model,
            "voice": about.voice,
            "base_url": shown(about.base_url),
            "machine": about.machine,
            "day": about.day,
            "realtime": about.realtime,
            "sentences": about.of,
            "cap_usd": about.cap_usd,
        },
        "said": len(trials),
        "outcomes": _counts(trials),
        "by_language": {
            language: _counts(one for one in trials if one.sentence.language == language)
            for language in _languages(trials)
        },
        "to_first_sound_ms": _spread(_latencies(trials)) if about.realtime else None,
        "cost_usd": sum(one.cost_usd for one in trials),
        "tokens": _tokens(trials),
        "trials": [_trial(one) for one in trials],
    }


def as_markdown(trials: Sequence[Trial], about: Circumstances) -> str:
    """A table to share, and what did not go right."""
    lines = [
        f"### Hearth {about.hearth}, {about.brain} with {about.model}",
        "",
        f"{len(trials)} of {about.of} made sentences to the embedded house, {about.day}, "
        f"{about.machine}, voice {about.voice}"
        + (f", service at {shown(about.base_url)}" if about.base_url else "")
        + ".",
        "",
        "| | said | right | asked | silent | wrong | of these did something |",
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
    if len(trials) < about.of:
        lines += [f"The cap of ${about.cap_usd:.2f} kept the rest from being said.", ""]
    missed = [one for one in trials if one.outcome is not Outcome.RIGHT]
    if missed:
        lines += ["| not right | said | heard | answer |", "|---|---|---|---|"]
        lines += [_row(one) for one in missed]
    return "\n".join(lines).rstrip() + "\n"


def _row(one: Trial) -> str:
    why = f" ({one.error})" if one.error else ""
    cells = (f"{one.outcome}{why}", one.sentence.words, one.heard, one.answer)
    return f"| {' | '.join(map(_cell, cells))} |"


def _groups(trials: Sequence[Trial]) -> Iterable[tuple[str, list[Trial]]]:
    for language in _languages(trials):
        yield language, [one for one in trials if one.sentence.language == language]
    yield "together", list(trials)


def _figures(trials: Sequence[Trial], about: Circumstances) -> list[str]:
    cost = sum(one.cost_usd for one in trials)
    each = cost / max(1, sum(one.asked for one in trials))
    tokens = _tokens(trials)
    told = [
        f"Cost ${cost:.4f} in all, ${each:.5f} a sentence ({tokens['input']:,} tokens in, "
        f"{tokens['output']:,} out), by the prices that Hearth knows."
    ]
    spread = _spread(_latencies(trials))
    if about.realtime and spread is not None:
        told.append(
            f"End of speech to first sound: {spread['p50']:.0f} ms at the median, "
            f"{spread['p95']:.0f} ms at the 95th percentile of {spread['count']:.0f}."
        )
    return told


def _latencies(trials: Iterable[Trial]) -> list[float]:
    return [one.to_sound_ms for one in trials if one.to_sound_ms is not None]


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    """Median and 95th percentile, linear between neighbours."""
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
