"""Wake words: hits on people's voices, clean, in noise and run into a command; false accepts.

LONG=1 takes ten seeds instead of three, and an hour of other sound instead of six minutes.
"""

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from audio.frames import SAMPLE_RATE, Framer
from audio.wake import WakeEngine
from audio.wake.wrappers import LOOK_MS, REFUSED_BELOW, second_score
from tests.benchmarks import waking
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.benchmarks.noises import Sound, at_level, babble, fan, music, pink, talker, water, white
from tests.benchmarks.sound import voiced
from tests.benchmarks.waking import ENGINES, LEAD_MS, SENSITIVITIES, WORDS, Heard

GAPS_MS = (0, 100, 200)
NOISE_SNR_DB = 10.0
_PIECE_S = 30.0  # of the mixture
_DBFS = -30.0  # its usual level


def main() -> None:
    """Print the tables; write out/benchmarks/wake_words.json."""
    if not waking.has_clips():
        print("  the recordings of people are missing; set HEARTH_SHARED")
        return
    figures: dict[str, Any] = {}
    for part in (clean, in_noise, one_breath, other_sound):
        print(f"\n  {part.__doc__}\n")
        figures[part.__name__] = part()
    write_figures("wake_words", figures)


def clean() -> dict[str, Any]:
    """Clean clips: each word once, at normal; detection after the word's end in ms"""
    rows, figures = [], {}
    for name in ENGINES:
        engine = waking.make(name)
        for clip, word in waking.spoken(name):
            pcm = waking.BEFORE + waking.clip(clip) + waking.AFTER
            found = waking.fired(engine, name, pcm)
            heard = ", ".join(detection.word for detection in found) or "nothing"
            late: object = ""
            if clip in waking.WORD_ENDS and found:
                late = round((found[0].at / SAMPLE_RATE - 1 - waking.WORD_ENDS[clip]) * 1000)
            score = f"{found[0].score:.3f}" if found else ""
            rows.append((name, clip, word, heard, score, late))
        others = [
            clip
            for clip in waking.other_speech(name)
            if waking.fired(engine, name, waking.BEFORE + waking.clip(clip) + waking.AFTER)
        ]
        count = len(waking.other_speech(name))
        rows.append((name, f"{count} others", "none", ", ".join(others) or "nothing", "", ""))
        late_ones = [row[5] for row in rows if row[0] == name and isinstance(row[5], int)]
        figures[name] = {"others": others, "median late ms": median(late_ones)}
        engine.close()
    print_table(("engine", "clip", "said", "heard", "score", "late ms"), rows)
    return {"rows": rows, **figures}


def in_noise() -> dict[str, Any]:
    """White and pink noise at 10 dB under the active speech: hits of seeds, at each sensitivity"""
    seeds = how_many(3, 10)
    rows = []
    for name in ENGINES:
        engine = waking.make(name)
        levels = {level: waking.thresholds(name, level) for level in SENSITIVITIES}
        for noise in (white, pink):
            sums = dict.fromkeys((*SENSITIVITIES, "strict"), 0)
            for clip, word in waking.spoken(name):
                pieces = waking.in_noise(clip, noise, NOISE_SNR_DB, seeds)
                hits = _hits(name, [waking.hear(engine, pcm) for pcm in pieces], word, levels)
                rows.append((name, noise.__name__, clip, *hits.values()))
                sums = {level: sums[level] + hits[level] for level in sums}
            possible = seeds * len(waking.spoken(name))
            parts = (f"{hits / possible:.0%}" for hits in sums.values())
            rows.append((name, noise.__name__, "all", *parts))
        engine.close()
    print_table(("engine", "noise", "clip", *SENSITIVITIES, "strict"), rows)
    return {"seeds": seeds, "rows": rows}


def one_breath() -> dict[str, Any]:
    """Word and command, both cut at their first and last loud frame: hits of ten commands"""
    commands = [name for name in waking.other_speech("open") if name.startswith("turn_on")]
    rows = []
    for name in ENGINES:
        engine = waking.make(name)
        for word in WORDS[name]:
            hits = dict.fromkeys(GAPS_MS, 0)
            for gap in GAPS_MS:
                for command in commands:
                    silence = bytes(gap * SAMPLE_RATE // 1000 * 2)
                    said = _cut(waking.clip(word)) + silence + _cut(waking.clip(command))
                    heard = waking.hear(engine, waking.BEFORE + said + waking.AFTER)
                    found = heard.fired(engine.thresholds, LEAD_MS[name])
                    hits[gap] += [detection.word for detection in found] == [word]
            rows.append((name, word, *hits.values()))
        engine.close()
    print_table(("engine", "word", *(f"{gap} ms between" for gap in GAPS_MS)), rows)
    return {"commands": len(commands), "rows": rows}


def other_sound() -> dict[str, Any]:
    """Talk, music-like and noise, no wake word in it: false accepts, all words armed"""
    seconds = how_many(360, 3600)
    sound = mixture(seconds)
    rows: list[tuple[object, ...]] = []
    for name in ENGINES:
        engine = waking.make(name)
        heard = waking.hear(engine, sound)
        other = waking.make("open" if name == "micro" else "micro")
        for level, strict in (*((level, False) for level in SENSITIVITIES), ("normal", True)):
            found = heard.fired(waking.thresholds(name, level), LEAD_MS[name], strict)
            words = ", ".join(detection.word for detection in found)
            kept = sum(_verified(other, sound, at.at, at.word) for at in found)
            label = "strict" if strict else level
            rows.append(
                (name, label, len(found), f"{len(found) * 3600 / seconds:.1f}", kept, words)
            )
        engine.close()
        other.close()
    head = ("engine", "sensitivity", f"in {seconds} s", "an hour", "left by the verifier", "words")
    print_table(head, rows)
    return {"seconds": seconds, "rows": rows}


def mixture(seconds: int) -> bytes:
    """Return talk, talk over music, several talkers, music and noise in turn, at different
    levels."""
    makers: tuple[Callable[[float, int], Sound], ...] = (
        talker,
        music,
        talker,
        lambda length, seed: talker(length, seed) + 0.5 * music(length, seed),
        babble,
        lambda length, seed: talker(length, seed) + 0.3 * water(length, seed),
        fan,
        talker,
    )
    rng = np.random.default_rng(6)
    pieces = [
        at_level(makers[number % len(makers)](_PIECE_S, number), _DBFS + rng.uniform(-10, 10))
        for number in range(int(seconds / _PIECE_S))
    ]
    return b"".join(pieces)


def _verified(other: WakeEngine, sound: bytes, at: int, word: str) -> bool:
    """Return whether the other engine confirms a detection."""
    if word not in other.scores:
        return True
    other.restart()
    start = max(0, at - LOOK_MS * SAMPLE_RATE // 1000)
    frames = [(frame.pcm, frame.end) for frame in Framer().push(sound[start * 2 : at * 2])]
    return second_score(other, frames, word) >= REFUSED_BELOW


def _hits(name: str, heard: list[Heard], word: str, levels: dict[Any, Any]) -> dict[str, int]:
    def hits(level: str, strict: bool) -> int:
        fired = (one.fired(levels[level], LEAD_MS[name], strict) for one in heard)
        return sum([found.word for found in all_of_them] == [word] for all_of_them in fired)

    return {level: hits(level, False) for level in levels} | {"strict": hits("normal", True)}


def _cut(pcm: bytes) -> bytes:
    first, last = voiced(pcm)
    return pcm[first * 2 : last * 2]
