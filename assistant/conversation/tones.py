"""The rules of our short tones: pure, and part of the turn machine."""

from dataclasses import replace

from assistant.conversation.effects import Effect, PlaySound, WatchThinking
from assistant.conversation.events import Acknowledged, StillThinking, WentOffline
from assistant.conversation.state import Machine, State

Step = tuple[Machine, list[Effect]]

_UNSPOKEN = frozenset({"text", "announcement"})  # nobody in the room waits for a tone


def sentence_over(machine: Machine) -> list[Effect]:
    """The person has spoken to their end; from here on they wait."""
    return [PlaySound("end"), wait(machine)]


def wait(machine: Machine) -> Effect:
    """A person waits for the answer of the newest turn."""
    return WatchThinking(machine.turn, machine.rules.thinking_ms)


def still_thinking(machine: Machine, event: StillThinking) -> Step:
    """A soft tone while nothing is said: we are at it. Not where a yes or a PIN is weighed."""
    silent = machine.state is State.THINKING and not machine.acknowledged
    if not silent or machine.confirming is not None or machine.error or _is_unspoken(machine):
        return machine, []
    again = WatchThinking(machine.turn, machine.rules.thinking_again_ms)
    return machine, [PlaySound("thinking"), again]


def acknowledged(machine: Machine, event: Acknowledged) -> Step:
    """One tone in place of words."""
    if not _may_sound(machine):
        return machine, []
    return replace(machine, acknowledged=True), [PlaySound("done")]


def went_offline(machine: Machine, event: WentOffline) -> Step:
    """A tone in front of the sentence that tells why."""
    return machine, [PlaySound("offline")] if _may_sound(machine) else []


def _may_sound(machine: Machine) -> bool:
    """Nothing is being said, and the voice is not that of a question of ours."""
    thinking = machine.state is State.THINKING and machine.confirming is None
    return thinking and not machine.error and not _is_unspoken(machine)


def _is_unspoken(machine: Machine) -> bool:
    return machine.source in _UNSPOKEN
