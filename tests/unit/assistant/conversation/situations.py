"""Machines in each state, and values that most rows of the tables share."""

from dataclasses import replace

from assistant.conversation.rules.effects import (
    CancelTurn,
    CloseTurn,
    Effect,
    OpenTurn,
    PlaySound,
    WatchSpeech,
    WatchThinking,
)
from assistant.conversation.rules.events import Event, WakeHeard
from assistant.conversation.rules.machine import Machine, MicrophoneState, State, reduce

Row = tuple[str, Machine, Event, State, list[Effect]]  # what, before, event, after, effects
WAKE = WakeHeard("okay_nabu", 0.9, at_ms=1_000, mark_ms=700)
WATCH = WatchSpeech(from_ms=700, after_ms=1_200)
OVER_OURS = OpenTurn(2, "voice", 700, WAKE, over_ours=True)
IDLE = Machine()
WAKING = Machine(state=State.WAKING, turn=1, since_ms=1_000, now_ms=1_000)
LISTENING = replace(WAKING, state=State.LISTENING, now_ms=2_000)
THINKING = replace(LISTENING, state=State.THINKING, now_ms=3_000)
SPEAKING = replace(THINKING, state=State.SPEAKING)
FOLLOW_UP = replace(SPEAKING, state=State.FOLLOW_UP, since_ms=6_000, now_ms=6_000)
FAULT = replace(IDLE, state=State.FAULT, microphone=MicrophoneState.LOST)
ENDED = MicrophoneState.ENDED
BARGED_IN = "A new sentence interrupted this one."
CUT_OFF: list[Effect] = [CancelTurn(1, "barge_in"), CloseTurn(1, "interrupted", BARGED_IN)]


def waited(turn: int) -> list[Effect]:
    """Return the effects of a sentence's end, after which the person waits."""
    return [PlaySound("end"), WatchThinking(turn, 1_500)]


def check(machine: Machine, event: Event, state: State, effects: list[Effect]) -> None:
    """Check that `event` leads to this state and these effects."""
    after, done = reduce(machine, event)
    assert after.state is state
    assert done == effects
