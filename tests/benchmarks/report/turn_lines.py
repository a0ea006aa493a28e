"""Measurements of whole turns, as lines and tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tests.benchmarks.cut_offs import Delays, cut_percent
from tests.benchmarks.end_of_turn import HEAD, row
from tests.benchmarks.lost_start import Opened, rounded, unanswered
from tests.benchmarks.peers.pipecat import NAME, lines_to_write
from tests.benchmarks.report.line import Line, Measured, Other, Table, beside
from tests.benchmarks.weighing import OURS, THEIRS, Weights
from tests.benchmarks.whole_turns import LOCAL_VOICE, THINK_S, VOICES, Turn

MORE = (
    "The first turn loads the recogniser that ends turns by their words, with the house's "
    "grammar and a language's sentences. The peer has neither such a recogniser nor a house."
)
PAUSE = (
    "320 ms of this are the pause that ends a command. The remaining time is due to a busy "
    "machine, on which the recogniser's verdict came late (see hot-spots.md)."
)
BOUND_MS = 370.0  # Gemini's voice: 0.7 of the 526 that the peer took on a quiet machine
IDLE_RATIO, MEMORY_RATIO = 0.25, 1.0
MEMORY_MB = 210.0  # the peer's after 30 turns
PEER = NAME
NATIVE = f"{NAME}, Gemini's voice"  # it has no other
HEAD_START = (
    "Hearth connects when the wake word's score rises, so the rest of the wake word gives it "
    "a head start. The peer has no wake word and connects 0.1 s before the command."
)
# By voice, or the peer, and tool calls.
Rows = dict[tuple[str, int], list[Turn]]

_CALLS = ("no tool call", "one tool call")
_NAMES = {"gemini": "Hearth, Gemini's voice", "espeak": "Hearth, local voice", THEIRS: NAME}


@dataclass(frozen=True, slots=True)
class Found:
    """All measurements; without the peer, its own are missing."""

    rows: Rows
    cold: Sequence[Opened]
    delays: dict[str, Delays]  # OURS, THEIRS
    weights: Weights
    installed: dict[str, tuple[float, int]]  # MB, packages
    speakers: int
    versions: dict[str, str] = field(default_factory=dict)


def lines(found: Found) -> Iterator[Line]:
    """Yield all lines in their order."""
    yield from turn_lines(found.rows)
    yield from cut_off_lines(found.delays)
    yield from lost_lines(found.rows, found.cold)
    yield from weight_lines(found.weights)
    yield _line("installed size without compiled files", "MB", *_sizes(found))


def turn_lines(rows: Rows) -> Iterator[Line]:
    """Yield the delays of answers, ours beside the peer's with as many tool calls."""
    for voice in VOICES:
        for calls, called in enumerate(_CALLS):
            line = _line(
                "from the last word to the first audio, "
                f"{_NAMES[voice].partition(', ')[2]}, {called}",
                "ms",
                sounds(rows[voice, calls]),
                sounds(rows.get((THEIRS, calls), [])),
                most=BOUND_MS if voice == "gemini" else None,
                peer=NATIVE if voice == LOCAL_VOICE else PEER,
            )
            yield line.because(PAUSE) if voice == "gemini" else line


def sounds(turns: Sequence[Turn]) -> tuple[float, ...]:
    """Return the ms to the first sound of finished commands, without the service's thinking."""
    heard = (turn.audible for turn in turns if not turn.cut_off)
    return tuple(ms - THINK_S * 1000 for ms in heard if ms is not None)


def cut_off_lines(delays: dict[str, Delays]) -> Iterator[Line]:
    """Yield the percentages that are cut off, among all utterances of a kind."""
    for kind in ("command", "question"):
        shares = {who: (cut_percent(found, kind),) for who, found in delays.items()}
        said = [one for one, _ in delays[OURS] if one.kind == kind]
        paused = sum(one.pause_ms > 0 for one in said)
        subject = f"share of {len(said)} {kind}s cut off (synthetic voices, {paused} with a pause)"
        yield _line(subject, "%", shares[OURS], shares.get(THEIRS, ()))


def lost_lines(rows: Rows, cold: Sequence[Opened]) -> Iterator[Line]:
    """Yield the missing parts of a command's start."""
    warm = (_missing(rows.get((who, 0), ())) for who in ("gemini", THEIRS))
    yield _line("lost start of a command, open session", "ms", *warm, most=0.0)
    for opened in cold:
        subject = f"lost start of a command, connection time {opened.delay_s:g} s"
        line = _line(subject, "ms", _missing(opened.ours), _missing(opened.theirs), most=0.0)
        yield line if line.theirs is None else replace(line, remark=HEAD_START)


def _missing(turns: Sequence[Turn]) -> tuple[float, ...]:
    return tuple(turn.missing for turn in turns)


def weight_lines(weights: Weights) -> Iterator[Line]:
    """Yield the costs of waiting, and the memory."""
    idle = (tuple(weights.idle.get(who, ())) for who in (OURS, THEIRS))
    yield _line("idle in a silent room", "% of a core", *idle, most_ratio=IDLE_RATIO)
    for when, held in (
        ("ready", weights.ready),
        (f"after {weights.turns} turns", weights.after),
    ):
        sizes = ((held[who].rss,) if who in held else () for who in (OURS, THEIRS))
        line = _line(f"memory, {when}", "MB", *sizes, most_ratio=MEMORY_RATIO, most=MEMORY_MB)
        yield line.because(MORE)


def tables(found: Found) -> Iterator[Table]:
    """Yield the data that lines do not show."""
    yield Table(
        "Time from the last voiced sample, ms",
        (
            *("program", "tool calls", "turns", "without an answer", "cut off"),
            *("end detected, p50 / p95", "first audio, p50 / p95"),
        ),
        [_turns(_NAMES[who], _CALLS[calls], turns) for (who, calls), turns in found.rows.items()],
    )
    yield Table(
        "Cut-offs and delays",
        HEAD,
        [
            row(NAME if who == THEIRS else "Hearth", f"{kind}s", one).cells()
            for kind in ("command", "question")
            for who, delays in found.delays.items()
            for one in [[ms for said, ms in delays if said.kind == kind]]
        ],
    )
    yield lost_table(found.cold)
    yield Table(
        "Installed size and code to write",
        ("program", "MB", "packages", "lines of code to write"),
        [
            (NAME if who == THEIRS else "Hearth", f"{size:.0f}", count, _code(who))
            for who, (size, count) in found.installed.items()
        ],
    )
    yield memory_table(found.weights)


def lost_table(cold: Sequence[Opened]) -> Table:
    """Return the whole turns that came to nothing."""
    rows = []
    for opened in cold:
        for name, turns in (("Hearth", opened.ours), (NAME, opened.theirs)):
            if turns:
                lost = rounded(_missing(turns))
                none = f"{unanswered(turns)} of {len(turns)}"
                rows.append((f"{opened.delay_s:g} s", name, lost, none))
    return Table(
        "Connecting during the turn",
        ("connection time", "program", "lost, ms", "without an answer"),
        rows,
    )


def memory_table(weights: Weights) -> Table:
    """Return the memory, counted in both ways."""
    rows = []
    again = weights.said - weights.turns
    after = f"{weights.turns} turns{f', {again} commands said again' if again else ''}"
    for when, held in (("ready", weights.ready), (after, weights.after)):
        for who, size in held.items():
            name = NAME if who == THEIRS else "Hearth"
            rows.append((name, when, f"{size.pss:.0f}", f"{size.rss:.0f}"))
    return Table("Memory of all processes, MB", ("program", "state", "PSS", "RSS"), rows)


def _turns(name: str, called: str, turns: Sequence[Turn]) -> tuple[object, ...]:
    wire = [turn.wire for turn in turns if turn.wire is not None and not turn.cut_off]
    none = sum(turn.audible is None for turn in turns)
    cut = sum(turn.cut_off for turn in turns)
    return (name, called, len(turns), none, cut, _spread(wire), _spread(sounds(turns)))


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    p50, p95 = np.percentile(values, (50, 95))
    return f"{p50:.0f} / {p95:.0f}"


def _sizes(found: Found) -> tuple[tuple[float, ...], tuple[float, ...]]:
    theirs = found.installed.get(THEIRS)
    return (found.installed[OURS][0],), () if theirs is None else (theirs[0],)


def _code(who: str) -> str:
    if who == OURS:
        return "none, only settings"
    return f"{lines_to_write()}, without microphone, wake word and house"


def _line(
    subject: str,
    unit: str,
    ours: tuple[float, ...],
    theirs: tuple[float, ...] = (),
    *,
    most: float | None = None,
    most_ratio: float | None = None,
    peer: str = PEER,
) -> Line:
    """Return ours beside the peer's if it is there; ours alone has no bound on the ratio."""
    others = [Other(peer, Measured(theirs, unit), most_ratio=most_ratio)] if theirs else []
    return next(beside(subject, Measured(ours, unit), others, most=most))
