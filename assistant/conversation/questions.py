"""The rules of a question that is open: who is waited for, how long, and what is over."""

from dataclasses import replace

from assistant.conversation import tones
from assistant.conversation.effects import (
    AwaitAnswer,
    CloseTurn,
    Effect,
    EndAnswer,
    FinishSpeech,
    NoAnswer,
    OpenTurn,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.events import AnswersBy, ConfirmationSettled, TalkEnded
from assistant.conversation.programs import ForAnswer
from assistant.conversation.state import Machine, MicrophoneState, State

Step = tuple[Machine, list[Effect]]


def await_answer(machine: Machine, by: AnswersBy) -> Step:
    """Our question has been heard: what begins from now on may be its answer."""
    if by == "ear" and (machine.microphone is not MicrophoneState.OPEN or machine.muted):
        return replace(machine, state=State.THINKING), [NoAnswer(machine.turn, waited=False)]
    waiting = replace(machine, state=State.CONFIRMING, since_ms=machine.now_ms, answering=False)
    wait = AwaitAnswer(machine.turn, by)
    if by != "ear":
        return waiting, [wait]
    after = machine.now_ms + machine.rules.echo_tail_ms
    return waiting, [WatchSpeech(from_ms=machine.now_ms, after_ms=after), wait]


def answered(machine: Machine) -> Step:
    """What was said is complete."""
    return replace(machine, state=State.THINKING), [StopWatching(), EndAnswer(machine.turn)]


def unanswered(machine: Machine, *, waited: bool) -> Step:
    """Nobody said anything. `waited`: as long as one waits."""
    silent = replace(machine, state=State.THINKING)
    return silent, [StopWatching(), NoAnswer(machine.turn, waited)]


def near_own_speech(machine: Machine, at_ms: float) -> bool:
    """Whether what began then may be our own voice, or an echo of it from somewhere."""
    since = machine.silent_since_ms
    return since is not None and at_ms - since < machine.rules.own_speech_ms


def is_unanswered(machine: Machine, waited_ms: float) -> bool:
    """Whether silence is an answer by now; keyboard and phone have a time of their own."""
    silent = machine.confirming == "ear" and not machine.answering
    asked = machine.then  # by a program, which says how long
    most_ms = asked.wait_ms if isinstance(asked, ForAnswer) else machine.rules.confirm_ms
    return silent and waited_ms >= min(most_ms, machine.rules.longest_ms)


def settled(machine: Machine, event: ConfirmationSettled) -> Step:
    """What came of it is on its way to the mouth, or a turn of its own."""
    told = replace(machine, state=State.THINKING, confirming=None, answering=False)
    if not event.new_command:
        # Somebody may have answered elsewhere while the person was being listened to.
        ear = machine.state is State.CONFIRMING and machine.confirming == "ear"
        deaf: list[Effect] = [StopWatching(), NoAnswer(machine.turn, waited=True)] if ear else []
        return told, deaf if event.more else [*deaf, FinishSpeech(machine.turn)]
    turn, close = machine.turn + 1, CloseTurn(machine.turn)
    if event.text is not None:
        typed = replace(told.fresh(), turn=turn, source="text")
        return typed, [close, OpenTurn(turn, "text", text=event.text)]
    opened = replace(told.fresh(), turn=turn, source="follow_up")
    near = machine.answer_near
    opening = OpenTurn(turn, "follow_up", held=True, near_own_speech=near)
    return opened, [close, opening, tones.wait(opened)]


def talk_ended(machine: Machine, event: TalkEnded) -> Step:
    """After this answer nothing is listened for."""
    return replace(machine, over=True), []
