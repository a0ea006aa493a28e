"""How fast a voice works, and what is said of a slow one."""

import pytest

from audio.tts.tuned import Meter, lighter, slowness


def test_there_is_no_figure_before_a_second_of_sound() -> None:
    meter = Meter()
    assert meter.factor is None
    meter.note(9.0, 0.9)
    assert meter.factor is None
    assert not meter.slow
    meter.note(0.0, 0.1)
    assert meter.factor == pytest.approx(9.0)
    assert meter.slow


@pytest.mark.parametrize(("worked_s", "slow"), [(0.1, False), (0.5, False), (0.51, True)])
def test_slower_than_half_of_real_time_is_slow(worked_s: float, slow: bool) -> None:
    meter = Meter()
    meter.note(worked_s, 1.0)
    assert meter.slow is slow


def test_the_figure_is_of_what_was_made_last() -> None:
    meter = Meter()
    meter.note(20.0, 20.0)  # while something else kept the machine busy
    for _ in range(10):
        meter.note(0.4, 2.0)
    assert meter.factor == pytest.approx((20 + 4) / 40)
    for _ in range(5):
        meter.note(0.4, 2.0)
    assert meter.factor == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("voice", "lower"),
    [
        ("en_US-lessac-high", "en_US-lessac-medium"),
        ("en_US-lessac-medium", "en_US-lessac-low"),
        ("es_ES-mls_10246-low", "es_ES-mls_10246-x_low"),
        ("es_ES-carlfm-x_low", None),
        ("my-own", None),
        ("medium", None),
    ],
)
def test_the_lower_quality_of_a_voice(voice: str, lower: str | None) -> None:
    assert lighter(voice) == lower


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("piper:en_US-lessac-medium", "name en_US-lessac-low in voice.models."),
        ("piper:mine", 'set voice.engine = "espeak".'),
        ("espeak:en-us", "see what else keeps it busy."),
    ],
)
def test_a_slow_voice_is_one_sentence(name: str, mend: str) -> None:
    sentence = slowness(name, 0.834)
    voice = name.partition(":")[2]
    assert sentence.startswith(f"The voice {voice} takes 0.83 s for each second of sound")
    assert sentence.endswith(mend)
