"""The rules of a microphone that a program opens: a tone first, and never longer than a while."""

from dataclasses import replace

from assistant.conversation.barge_in import cancel, rest, voice_ended
from assistant.conversation.effects import (
    AwaitAnswer,
    CloseTurn,
    Effect,
    NoAnswer,
    SoundOpening,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.events import OpeningSounded, Withdrawn
from assistant.conversation.programs import ForAnswer, ForTalk
from assistant.conversation.state import Machine, MicrophoneState, State

Step = tuple[Machine, list[Effect]]


def wants_opening(machine: Machine) -> bool:
    """What has just been said was said for the microphone to open."""
    asks = isinstance(machine.then, ForAnswer) and machine.confirming is not None
    return asks or isinstance(machine.then, ForTalk)


def said(machine: Machine) -> Step:
    """It was heard to its end: now the tone, where there is a microphone to open."""
    if not _hears(machine):
        return _stays_closed(machine)
    return replace(machine, state=State.SPEAKING), [SoundOpening(machine.turn)]


def sounded(machine: Machine, event: OpeningSounded) -> Step:
    """Only a tone that was heard opens it. What begins from now on may be for us: the tone itself
    is no speech to any detector."""
    if machine.state is not State.SPEAKING or not wants_opening(machine):
        return machine, []
    if not event.heard or not _hears(machine):
        return _stays_closed(machine)
    machine = replace(machine, since_ms=machine.now_ms, over_ms=None)
    watch = WatchSpeech(from_ms=machine.now_ms, after_ms=machine.now_ms)
    if isinstance(machine.then, ForTalk):
        return replace(machine, state=State.FOLLOW_UP), [CloseTurn(machine.turn), watch]
    waiting = replace(machine, state=State.CONFIRMING, answering=False)
    return waiting, [watch, AwaitAnswer(machine.turn, "ear")]


def withdrawn(machine: Machine, event: Withdrawn) -> Step:
    """Nobody wants to know any more: what is under way for them ends."""
    under_way = machine.then is event.then and machine.state in _UNDER_WAY
    if not under_way:
        return machine, []
    resting = replace(machine, state=rest(machine), over_ms=None)
    return resting, [StopWatching(), *cancel(machine, "withdrawn")]


def begun_at(machine: Machine, speech_ms: float) -> float:
    """From when the longest sentence is counted: where a program opened the microphone that is the
    opening, so that it is never open for longer; else the beginning of the speech."""
    return speech_ms if machine.then is None else machine.since_ms


def _hears(machine: Machine) -> bool:
    return machine.microphone is MicrophoneState.OPEN and not machine.muted


def _stays_closed(machine: Machine) -> Step:
    if machine.confirming is not None:
        return replace(machine, state=State.THINKING), [NoAnswer(machine.turn, waited=False)]
    return voice_ended(replace(machine, over_ms=None), CloseTurn(machine.turn))


_UNDER_WAY = frozenset({State.THINKING, State.SPEAKING, State.CONFIRMING})
