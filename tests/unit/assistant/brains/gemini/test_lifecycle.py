"""Tests of the times at which sessions are opened, resumed, left and closed."""

import pytest

from assistant.brains.gemini.event_reader import TurnAttribution
from assistant.brains.gemini.lifecycle import LiveTimeouts, SessionLifecycle, Step
from integrations.gemini.events import (
    FunctionCall,
    FunctionCalls,
    InputText,
    Interrupted,
    LiveEvent,
    OutputAudio,
    OutputText,
    TurnComplete,
)


@pytest.fixture
def life() -> SessionLifecycle:
    return SessionLifecycle(LiveTimeouts())


def used(life: SessionLifecycle, until: float, handle: str | None = None) -> None:
    """Play a turn from second 0 to `until`; with a handle the session closes then."""
    life.turn_began(0.0)
    life.opened(0.0)
    life.turn_ended(until)
    if handle is not None:
        life.closed(until, handle)


def test_the_first_suspicion_connects(life: SessionLifecycle) -> None:
    assert life.suspect(5.0)


@pytest.mark.parametrize(("at", "again"), [(29.9, False), (30.0, True)])
def test_one_connect_on_suspicion_in_thirty_seconds(
    life: SessionLifecycle, at: float, again: bool
) -> None:
    assert life.suspect(0.0)
    life.opened(0.4)
    life.closed(10.4, None)
    assert life.suspect(at) is again


def test_a_suspicion_while_connecting_changes_nothing(life: SessionLifecycle) -> None:
    life.suspect(0.0)
    assert not life.suspect(0.1)


def test_a_socket_that_no_turn_followed_closes_after_ten_seconds(life: SessionLifecycle) -> None:
    life.suspect(0.0)
    life.opened(0.4)
    assert life.due() == 10.4
    assert life.step(10.3) is Step.NOTHING
    assert life.step(10.4) is Step.CLOSE


def test_a_warm_session_is_used_instead(life: SessionLifecycle) -> None:
    used(life, until=4.0)
    assert not life.suspect(100.0)


def test_a_suspicion_keeps_a_warm_session_a_little_longer(life: SessionLifecycle) -> None:
    used(life, until=0.0)
    life.suspect(179.0)
    assert life.step(180.0) is Step.NOTHING
    assert life.step(189.0) is Step.CLOSE


def test_kept_warm_for_three_minutes_after_use(life: SessionLifecycle) -> None:
    used(life, until=4.0)
    assert life.due() == 184.0
    assert life.step(184.0) is Step.CLOSE


def test_nothing_is_due_in_a_turn(life: SessionLifecycle) -> None:
    life.turn_began(0.0)
    life.opened(0.1)
    assert life.due() is None
    assert life.step(5_000.0) is Step.NOTHING


def test_a_handle_resumes_once_and_then_it_is_fresh_with_history(life: SessionLifecycle) -> None:
    used(life, until=4.0, handle="h")
    assert life.take_handle(5.0) == "h"
    assert life.take_handle(5.1) is None


@pytest.mark.parametrize(("at", "handle"), [(7_203.9, "h"), (7_204.0, None)])
def test_a_handle_is_good_for_two_hours(
    life: SessionLifecycle, at: float, handle: str | None
) -> None:
    used(life, until=4.0, handle="h")
    assert life.take_handle(at) == handle


def test_a_quiet_spell_ends_the_talk(life: SessionLifecycle) -> None:
    used(life, until=4.0, handle="h")
    assert life.due() == 604.0
    assert life.step(603.9) is Step.NOTHING
    assert life.step(604.0) is Step.FORGET
    life.forgot()
    assert life.take_handle(604.0) is None
    assert life.due() is None


@pytest.mark.parametrize(
    ("left_s", "leave_at"), [(60.0, 50.0), (300.0, 290.0), (20.0, 10.0), (12.0, 6.0), (0.2, 0.1)]
)
def test_a_go_away_in_a_turn_is_obeyed_at_the_latest_moment(
    life: SessionLifecycle, left_s: float, leave_at: float
) -> None:
    life.turn_began(0.0)
    life.opened(0.0)
    life.go_away(0.0, left_s)
    assert life.due() == leave_at
    assert life.step(leave_at - 0.01) is Step.NOTHING
    assert life.step(leave_at) is Step.CLOSE


def test_a_go_away_is_obeyed_at_once_when_the_turn_is_over(life: SessionLifecycle) -> None:
    life.turn_began(0.0)
    life.opened(0.0)
    life.go_away(1.0, 300.0)
    life.turn_ended(5.0)
    assert life.must_leave
    assert life.due() == 0.0
    assert life.step(5.0) is Step.ROTATE


def test_go_away_after_go_away_does_not_connect_for_ever(life: SessionLifecycle) -> None:
    used(life, until=0.0)
    life.go_away(1.0, 300.0)
    assert life.step(1.0) is Step.ROTATE
    life.closed(1.0, "h")
    life.opened(1.5)
    life.go_away(1.6, 300.0)
    assert life.step(1.6) is Step.CLOSE


def test_a_full_session_is_replaced_after_the_turn_and_not_resumed(
    life: SessionLifecycle,
) -> None:
    used(life, until=5.0)
    life.filled()
    assert (life.must_leave, life.due()) == (True, 0.0)
    assert life.step(5.0) is Step.ROTATE
    life.closed(5.0, "h")
    assert life.take_handle(5.0) is None
    life.opened(5.4)
    assert not life.must_leave


def test_a_session_that_is_lost_cannot_fill_the_next(life: SessionLifecycle) -> None:
    used(life, until=5.0, handle="h")
    life.filled()
    life.opened(6.0)
    assert not life.must_leave


def test_a_rotated_session_keeps_its_time(life: SessionLifecycle) -> None:
    used(life, until=0.0)
    life.go_away(60.0, 50.0)
    assert life.step(60.0) is Step.ROTATE
    life.closed(60.0, "h")
    life.opened(60.4)
    assert life.due() == 180.0


def test_failures_back_off_for_as_long_as_a_session_would_wait(life: SessionLifecycle) -> None:
    life.suspect(0.0)
    now, tries = 0.0, []
    while True:
        life.failed(now, worth_another=True)
        due = life.due()
        if due is None:
            break
        tries.append(due)
        assert life.step(due) is Step.CONNECT
        now = due
    assert tries == [0.5, 1.5, 3.5, 7.5]


def test_what_no_other_try_mends_is_not_tried_again(life: SessionLifecycle) -> None:
    life.suspect(0.0)
    life.failed(0.2, worth_another=False)
    assert life.due() is None


def test_a_turn_does_not_wait_for_the_next_try(life: SessionLifecycle) -> None:
    life.suspect(0.0)
    life.failed(0.2, worth_another=True)
    life.turn_began(0.3)
    assert life.due() is None


# --- The turn that an event belongs to.

TEXT = OutputText("Yes.", with_sound=True)
SOUND = OutputAudio(b"", 24_000)
CALLS = FunctionCalls((FunctionCall("1", "f", {}),))
HEARD = InputText("turn on")
END = TurnComplete()


ATTACH, SPEAK, OVER, LEAVE = "attach", "speech_begins", "sentence_over", "leave"
# What the turns do, by the method that is told of it, and events with whether they are the turn's.
BusEvent = str | tuple[LiveEvent, bool]
ANSWERING = (ATTACH, SPEAK, OVER)  # a turn whose sentence is over
COMPLETE = (*ANSWERING, (END, True))
# A new turn is listening, the one before it left in the middle of the answer.
CUT_OFF = (*ANSWERING, (TEXT, True), LEAVE, ATTACH)


def after(*ending: LiveEvent) -> tuple[BusEvent, ...]:
    """Return the end of an earlier answer, which is not this turn's, and a text that is."""
    return (*CUT_OFF, OVER, *((one, False) for one in ending), (TEXT, True))


TURNS: list[tuple[str, tuple[BusEvent, ...], bool]] = [  # last: an earlier answer has to end
    *(("after the sentence", (*ANSWERING, (one, True)), False)
      for one in (TEXT, SOUND, CALLS, HEARD, END)),
    *(("before its end", (ATTACH, (one, False)), False) for one in (TEXT, SOUND, CALLS, END)),
    ("what is heard comes early", (ATTACH, SPEAK, (HEARD, True)), False),
    ("heard of an earlier turn", (*COMPLETE, ATTACH, (HEARD, False)), False),
    ("nothing of a typed turn is heard", (ATTACH, OVER, (HEARD, False)), False),
    *(("without a turn", ((one, False),), False) for one in (TEXT, HEARD, CALLS)),
    ("cut off", after(END), False),
    ("cut off by interruption", after(Interrupted(), END), False),
    ("cut off with more to say", after(TEXT, SOUND, CALLS, Interrupted(), END), False),
    ("the interaction goes on", (*CUT_OFF, (TurnComplete(idle=False), False)), True),
    ("after an interruption any end is one",
     (*CUT_OFF, (Interrupted(), False), (TurnComplete(idle=False), False)), False),
    ("it ended between the turns", (*ANSWERING, LEAVE, (END, False), ATTACH, OVER, (TEXT, True)),
     False),
    ("a complete answer leaves nothing behind", (*COMPLETE, LEAVE), False),
    ("what was complete is interrupted",
     (*COMPLETE, LEAVE, ATTACH, (Interrupted(), False), (END, False), OVER, (TEXT, True)), False),
    ("the answer itself is interrupted", (*ANSWERING, (TEXT, True), (Interrupted(), True)), False),
    ("results for an earlier turn make it go on",
     (ATTACH, "continues", OVER, (TEXT, False), (END, False), (TEXT, True)), False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("happened", "debt"), [one[1:] for one in TURNS], ids=[one[0] for one in TURNS]
)
def test_whose_an_event_is(happened: tuple[BusEvent, ...], debt: bool) -> None:
    attribution = TurnAttribution()
    for one in happened:
        if isinstance(one, str):
            getattr(attribution, one)()
        else:
            assert attribution.judge(one[0]) is one[1], one
    assert attribution.debt is debt
