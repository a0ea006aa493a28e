"""Pure rules for losing, recovering and muting the microphone, and for programs that open it."""

from dataclasses import replace

from assistant.conversation.rules.effects import (
    AnnounceLine,
    AwaitAnswer,
    CloseTurn,
    Effect,
    ForgetSound,
    NoAnswer,
    SoundOpening,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.rules.events import (
    ForAnswer,
    ForTalk,
    Muted,
    OpeningSounded,
    SourceBack,
    SourceLost,
    Withdrawn,
)
from assistant.conversation.rules.state import Machine, MicrophoneState, State
from assistant.conversation.rules.voice import cancel, rest, unanswered, voice_ended

Step = tuple[Machine, list[Effect]]


def lost(machine: Machine, event: SourceLost) -> Step:
    """Handle the loss of the microphone. An answer in progress continues."""
    machine = replace(machine, microphone=MicrophoneState.LOST)
    match machine.state:
        case State.WAKING | State.LISTENING:
            effects = [StopWatching(), *cancel(machine, "source_lost")]
            return replace(machine, state=State.FAULT), [*effects, AnnounceLine(_LOST)]
        case State.IDLE | State.FOLLOW_UP:
            return replace(machine, state=State.FAULT), [StopWatching()]
        case State.CONFIRMING if machine.confirming == "ear":
            return unanswered(machine, waited=True)
        case _:
            return machine, []


def back(machine: Machine, event: SourceBack) -> Step:
    """Resume listening. If the source's clock has restarted, discard times from the old source."""
    anew = event.at_ms < machine.now_ms
    machine = replace(machine, microphone=MicrophoneState.OPEN, now_ms=event.at_ms)
    if anew:
        machine = replace(machine, since_ms=event.at_ms, silent_since_ms=None)
    if machine.state is State.FAULT:
        return replace(machine, state=State.IDLE), []
    return machine, []


def muted(machine: Machine, event: Muted) -> Step:
    if event.on is machine.muted:
        return machine, []
    machine = replace(machine, muted=event.on)
    if not event.on:
        return machine, []
    resting = replace(machine, state=rest(machine))
    match machine.state:
        case State.WAKING | State.LISTENING:
            return resting, [ForgetSound(), StopWatching(), *cancel(machine, "muted")]
        case State.FOLLOW_UP:
            return resting, [ForgetSound(), StopWatching()]
        case State.CONFIRMING if machine.confirming == "ear":
            silent, effects = unanswered(machine, waited=True)
            return silent, [ForgetSound(), *effects]
        case _:
            return machine, [ForgetSound()]  # an answer in progress continues


_LOST = "microphone.lost_while_speaking"


# A microphone opened by a program: a tone precedes it, and the time is limited.


def wants_opening(machine: Machine) -> bool:
    """Return True if the microphone should open after the current announcement."""
    asks = isinstance(machine.then, ForAnswer) and machine.confirming is not None
    return asks or isinstance(machine.then, ForTalk)


def said(machine: Machine) -> Step:
    """Play the opening tone after an announcement, unless the microphone is muted or missing."""
    if not _hears(machine):
        return _stays_closed(machine)
    return replace(machine, state=State.SPEAKING), [SoundOpening(machine.turn)]


def sounded(machine: Machine, event: OpeningSounded) -> Step:
    """Open the microphone for a program if the opening tone was audible."""
    if machine.state is not State.SPEAKING or not wants_opening(machine):
        return machine, []
    if not event.heard or not _hears(machine):
        return _stays_closed(machine)
    # Speech counts immediately, because detectors don't mistake the tone for speech.
    machine = replace(machine, since_ms=machine.now_ms, over_ms=None)
    watch = WatchSpeech(from_ms=machine.now_ms, after_ms=machine.now_ms)
    if isinstance(machine.then, ForTalk):
        return replace(machine, state=State.FOLLOW_UP), [CloseTurn(machine.turn), watch]
    waiting = replace(machine, state=State.CONFIRMING, answering=False)
    return waiting, [watch, AwaitAnswer(machine.turn, "ear")]


def withdrawn(machine: Machine, event: Withdrawn) -> Step:
    """Cancel a question or conversation that its program has withdrawn."""
    under_way = machine.then is event.then and machine.state in _UNDER_WAY
    if not under_way:
        return machine, []
    resting = replace(machine, state=rest(machine), over_ms=None)
    return resting, [StopWatching(), *cancel(machine, "withdrawn")]


def begun_at(machine: Machine, speech_ms: float) -> float:
    """Return the time from which `Rules.longest_ms` is measured: the start of the speech or, if a
    program opened the microphone, the time at which it was opened."""
    return speech_ms if machine.then is None else machine.since_ms


def _hears(machine: Machine) -> bool:
    return machine.microphone is MicrophoneState.OPEN and not machine.muted


def _stays_closed(machine: Machine) -> Step:
    if machine.confirming is not None:
        return replace(machine, state=State.THINKING), [NoAnswer(machine.turn, waited=False)]
    return voice_ended(replace(machine, over_ms=None), CloseTurn(machine.turn))


_UNDER_WAY = frozenset({State.THINKING, State.SPEAKING, State.CONFIRMING})
