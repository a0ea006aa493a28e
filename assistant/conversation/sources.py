"""The rules of a microphone that ends, goes, comes back, or is closed by the person."""

from dataclasses import replace

from assistant.conversation.barge_in import cancel, rest, unanswered
from assistant.conversation.effects import AnnounceLine, Effect, ForgetSound, StopWatching
from assistant.conversation.events import Muted, SourceBack, SourceLost
from assistant.conversation.state import Machine, MicrophoneState, State

Step = tuple[Machine, list[Effect]]


def lost(machine: Machine, event: SourceLost) -> Step:
    """Whoever was speaking to us is told; an answer under way is still given."""
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
    """Time goes on; where it began anew, what was counted in the old one is void."""
    anew = event.at_ms < machine.now_ms
    machine = replace(machine, microphone=MicrophoneState.OPEN, now_ms=event.at_ms)
    if anew:
        machine = replace(machine, since_ms=event.at_ms, silent_since_ms=None)
    if machine.state is State.FAULT:
        return replace(machine, state=State.IDLE), []
    return machine, []


def muted(machine: Machine, event: Muted) -> Step:
    """Nothing is listened to, from now on or no longer."""
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
            return machine, [ForgetSound()]  # the answer under way is still given


_LOST = "microphone.lost_while_speaking"
