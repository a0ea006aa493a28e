"""The scores equal those of the model's own package."""

import numpy as np
import pytest
from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

from audio.frames import SAMPLE_RATE
from audio.wake.micro import MicroScore
from tests.corpus.speech import can_speak, say


@pytest.mark.parametrize("model", list(Model))
def test_they_equal_those_of_the_package(model: Model) -> None:
    if not can_speak("slt"):
        pytest.skip("flite is not installed")
    noise = np.random.default_rng(1).integers(-32768, 32767, SAMPLE_RATE)
    sound = np.concatenate([say(model.value.replace("_", " "), "slt"), noise]).astype("<i2")
    theirs, ours = MicroWakeWord.from_builtin(model), MicroWakeWord.from_builtin(model)
    score = MicroScore(ours)
    highest = 0.0
    for step, features in enumerate(MicroWakeWordFeatures().process_streaming(sound.tobytes()), 1):
        expected, given = theirs.process_streaming_prob(features), score.hear(features)
        if step % theirs.stride:
            assert given is None
        else:
            assert given == pytest.approx(expected, abs=1e-12)
            highest = max(highest, given or 0.0)
    assert highest > 0.1  # the comparison was not of silence
    theirs.close()
    ours.close()


def test_without_the_model_there_is_no_score() -> None:
    model = MicroWakeWord.from_builtin(Model.OKAY_NABU)
    score = MicroScore(model)
    model.close()
    (features, *_) = MicroWakeWordFeatures().process_streaming(bytes(3200))
    assert [score.hear(features) for _ in range(6)] == [None] * 6
