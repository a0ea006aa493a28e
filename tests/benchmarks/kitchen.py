"""Wake words in a kitchen: a fan, water, dishes, a second talker, music; both engines.

LONG=1 takes ten seeds instead of two, and half an hour of each sound instead of two minutes.
"""

from audio.frames import SAMPLE_RATE
from tests.benchmarks import waking
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.benchmarks.noises import Noise, at_level, babble, dishes, fan, music, talker, water
from tests.benchmarks.waking import ENGINES

NOISES: tuple[Noise, ...] = (fan, water, dishes, music, talker, babble)
SNRS_DB = (10.0, 5.0, 0.0)
_DBFS = -30.0  # of each sound alone
_COMMANDS = ("turn_on_the_office_lights_04", "turn_on_the_office_lights_14", "negative_reference")


def main() -> None:
    """Print the table; write out/benchmarks/kitchen.json."""
    if not waking.has_clips():
        print("  the recordings of people are missing; set HEARTH_SHARED")
        return
    seeds, alone_s = how_many(2, 10), how_many(120, 1800)
    rows = []
    for name in ENGINES:
        engine = waking.make(name)
        for noise in NOISES:
            recall = [f"{_recall(engine, name, noise, snr, seeds):.0%}" for snr in SNRS_DB]
            mixed, seconds = _accepts_in_talk(engine, name, noise, seeds)
            alone = waking.fired(engine, name, at_level(noise(alone_s, 100), _DBFS))
            rows.append(
                (
                    *(name, noise.__name__, *recall),
                    *(f"{mixed} in {seconds:.0f} s", f"{len(alone)} in {alone_s} s"),
                )
            )
        engine.close()
    snrs = (f"{snr:.0f} dB" for snr in SNRS_DB)
    print_table(("engine", "with", *snrs, "others mixed with it", "it alone"), rows)
    print(f"  hits of all words, {seeds} seeds; then false accepts")
    write_figures("kitchen", {"seeds": seeds, "rows": rows})


def _recall(engine: waking.Engine, name: str, noise: Noise, snr_db: float, seeds: int) -> float:
    hits = [
        word in {found.word for found in waking.fired(engine, name, pcm)}
        for clip, word in waking.spoken(name)
        for pcm in waking.in_noise(clip, noise, snr_db, seeds)
    ]
    return sum(hits) / len(hits)


def _accepts_in_talk(
    engine: waking.Engine, name: str, noise: Noise, seeds: int
) -> tuple[int, float]:
    """Return the false accepts at all levels, and the total length, of clips without a wake
    word."""
    accepts, samples = 0, 0
    for clip in _COMMANDS:
        for snr in SNRS_DB:
            for pcm in waking.in_noise(clip, noise, snr, seeds):
                accepts += len(waking.fired(engine, name, pcm))
                samples += len(pcm) // 2
    return accepts, samples / SAMPLE_RATE
