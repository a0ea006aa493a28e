"""Tests that the simulated model knows only the words that reached it."""

import numpy as np

from tests.dialogues.model import SORRY, Model
from tests.dialogues.script import Dialogue, Line, parse
from tests.dialogues.sound import Place, Recording
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, CallTogether, Done, Hear, Say

RATE = 16_000
PCM = np.random.default_rng(1).integers(-20, 20, 6 * RATE, np.int16).tobytes()
[TALK] = parse(
    '[lamp]\nsay: turn on the lamp\ndo: HassTurnOn name="Lamp" -> done\ndo: GetDateTime\n'
    "reply: yes\nwant: light.x=on\n",
    "en",
)
RECORDING = Recording(
    PCM, (Place("turn on the lamp", RATE, 3 * RATE, True), Place("yes", 4 * RATE, 5 * RATE, True))
)


def model() -> Model:
    made = Model(lambda tool: f"intent__{tool}")
    made.listen_to(TALK, RECORDING)
    return made


def turn(start: int, end: int) -> HeardTurn:
    heard = HeardTurn(0, "audio", 0, "s", 0.0)
    heard.heard += PCM[2 * start : 2 * end]
    return heard


def test_what_came_whole_is_done() -> None:
    hear, calls, said, done = model().live(turn(RATE // 2, 3 * RATE))
    assert hear == Hear("turn on the lamp", language="en-GB")
    assert isinstance(calls, CallTogether)
    assert [(call.name, call.args) for call in calls.calls] == [
        ("intent__HassTurnOn", {"name": "Lamp"}),
        ("intent__GetDateTime", {}),
    ]
    assert (said, done) == (Say("Done."), Done())


def test_what_was_cut_is_not_understood() -> None:
    told = model().live(turn(2 * RATE, 3 * RATE))
    assert told == [Hear("the lamp", language="en-GB"), Say(SORRY["en"]), Done()]


def test_silence_and_sound_from_elsewhere() -> None:
    assert model().live(turn(3 * RATE, 4 * RATE)) == [Say(SORRY["en"]), Done()]
    strange = turn(0, 0)
    strange.heard += bytes(6_400)
    assert model().live(strange) == [Say(SORRY["en"]), Done()]


def test_an_answer_has_its_own_line() -> None:
    assert model().live(turn(4 * RATE, 5 * RATE))[1] == Say("All right.")
    assert model().transcript(PCM) == "turn on the lamp yes"


def test_typed() -> None:
    made = Model(str)
    made.listen_to(TALK, None)
    typed = HeardTurn(0, "text", 0, "s", 0.0, text="turn on the lamp")
    assert isinstance(made.live(typed)[0], CallTogether)
    asked = OnceRequest(0, 0.0, "m", (), "", (), None, b"", ("turn on the lamp",))
    assert isinstance(made.once(asked)[0], CallTogether)


def test_a_result_that_does_not_hold_what_is_then_told() -> None:
    made = model()
    calls = made.live(turn(0, 3 * RATE))[1]
    assert isinstance(calls, CallTogether)
    first: Call = calls.calls[0]
    assert callable(first.answer)
    assert first.answer({"status": "done"})
    assert made.misses == []
    assert first.answer({"status": "failed"})
    assert len(made.misses) == 1
    other = Dialogue("x", "en", False, TALK.turns, TALK.wish)
    made.listen_to(other, RECORDING)
    assert made.misses == []
    assert Line("x").deeds == ()
