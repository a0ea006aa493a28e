"""The turn machine: every rule that a person notices, as a pure function.

`reduce(machine, event)` gives the next machine and the effects to carry out. No loop, no clock, no
sound: time comes in with the events. The runner does what the effects say.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assistant.turn.events import (
    Announced,
    Anticipate,
    BrainFailed,
    BrainFinished,
    CancelReason,
    CancelTurn,
    CloseTurn,
    ConfirmationAsked,
    ConfirmationSettled,
    Effect,
    EndListening,
    Event,
    FinishSpeech,
    ForgetSound,
    HearAnswer,
    Muted,
    OpenTurn,
    PlaybackEnded,
    PlaybackStarted,
    PlaySound,
    ReleaseSound,
    SayLine,
    SayText,
    SourceBack,
    SourceEnded,
    SourceLost,
    SpeechEnded,
    SpeechNotMeant,
    SpeechStarted,
    StopAsked,
    StopWatching,
    TalkEnded,
    Tick,
    Typed,
    WakeHeard,
    WakeRising,
    WatchSpeech,
)
from assistant.turn.questions import (
    answered,
    await_answer,
    is_unanswered,
    near_own_speech,
    settled,
    talk_ended,
    unanswered,
)
from assistant.turn.state import ANNOUNCEMENTS_WAITING, Machine, Microphone, Rules, State

__all__ = ["Machine", "Microphone", "Rules", "State", "reduce"]

_BUSY = frozenset({State.THINKING, State.SPEAKING})
_IN_TURN = _BUSY | {State.WAKING, State.LISTENING, State.CONFIRMING}
# Where a wake word that is coming up opens a turn, and the brain is not at work already.
_BEFORE_A_TURN = frozenset({State.IDLE, State.FOLLOW_UP, State.SPEAKING})
# An answer to a question of ours may begin with the wake word: it is part of the answer.
_DEAF_TO_WAKE = frozenset({State.WAKING, State.LISTENING, State.CONFIRMING, State.FAULT})
_FROM_THE_EAR = (WakeRising, WakeHeard, SpeechStarted, SpeechEnded)

Step = tuple[Machine, list[Effect]]


def reduce(machine: Machine, event: Event) -> Step:
    """Take one event. Events that mean nothing in the present state change nothing."""
    turn = getattr(event, "turn", None)
    if turn is not None and (turn != machine.turn or machine.state not in _IN_TURN):
        return machine, []  # from a turn that was cancelled or is over
    if machine.muted and isinstance(event, _FROM_THE_EAR):
        return machine, []  # of a frame that was under way when we were muted
    return _announce(*_HANDLERS[type(event)](machine, event))


def _wake_rising(machine: Machine, event: WakeRising) -> Step:
    return machine, [Anticipate()] if machine.state in _BEFORE_A_TURN else []


def _wake_heard(machine: Machine, event: WakeHeard) -> Step:
    if machine.state in _DEAF_TO_WAKE:
        return machine, []
    near = machine.state is State.SPEAKING or near_own_speech(machine, event.mark_ms)
    before: list[Effect] = []
    if machine.state in _BUSY:
        before = _cancel(machine, "barge_in")
    turn = machine.turn + 1
    after = event.at_ms + machine.rules.settle_ms
    opened = replace(
        machine.fresh(), state=State.WAKING, turn=turn, source="voice", since_ms=event.at_ms
    )
    return opened, [
        *before,
        OpenTurn(turn, "voice", mark_ms=event.mark_ms, wake=event, near_own_speech=near),
        WatchSpeech(from_ms=event.mark_ms, after_ms=after),
    ]


def _speech_started(machine: Machine, event: SpeechStarted) -> Step:
    match machine.state:
        case State.WAKING:
            return replace(machine, state=State.LISTENING), [ReleaseSound(machine.turn)]
        case State.FOLLOW_UP:
            turn = machine.turn + 1
            opened = replace(
                machine.fresh(),
                state=State.LISTENING,
                turn=turn,
                source="follow_up",
                since_ms=event.at_ms,
            )
            # Nothing from before the microphone was opened: that was not said to us.
            mark = max(machine.since_ms, event.at_ms - machine.rules.pre_roll_ms)
            # The answer to a question of ours is no request out of nowhere.
            near = not machine.asks and near_own_speech(machine, event.at_ms)
            opening = OpenTurn(turn, "follow_up", mark_ms=mark, near_own_speech=near)
            return opened, [opening]
        case State.CONFIRMING if machine.confirming == "ear" and not machine.answering:
            mark = max(machine.since_ms, event.at_ms - machine.rules.pre_roll_ms)
            near = near_own_speech(machine, event.at_ms)
            heard = replace(machine, answering=True, answer_near=near, since_ms=event.at_ms)
            return heard, [HearAnswer(machine.turn, mark)]
        case _:
            return machine, []


def _speech_ended(machine: Machine, event: SpeechEnded) -> Step:
    if machine.state is State.CONFIRMING and machine.answering:
        return answered(machine)
    if machine.state is not State.LISTENING:
        return machine, []
    return _think(machine, event.at_ms, event.decided_ms)


def _tick(machine: Machine, event: Tick) -> Step:
    machine = replace(machine, now_ms=event.at_ms)
    waited = event.at_ms - machine.since_ms
    match machine.state:
        case State.WAKING if waited >= machine.rules.no_speech_ms:
            return _nobody_spoke(machine, event.at_ms)
        case State.WAKING if not machine.sounded and waited >= machine.rules.wake_sound_ms:
            return replace(machine, sounded=True), [PlaySound("wake")]
        case State.LISTENING if waited >= machine.rules.longest_ms:
            return _think(machine, None, event.at_ms)
        case State.FOLLOW_UP if waited >= machine.rules.follow_up_ms:
            return replace(machine, state=State.IDLE), [StopWatching()]
        case State.CONFIRMING if machine.answering and waited >= machine.rules.longest_ms:
            return answered(machine)
        case State.CONFIRMING if is_unanswered(machine, waited):
            return unanswered(machine, waited=True)
        case _:
            return machine, []


def _source_ended(machine: Machine, event: SourceEnded) -> Step:
    machine = replace(machine, microphone=Microphone.ENDED, now_ms=event.at_ms)
    match machine.state:
        case State.WAKING:
            return _nobody_spoke(machine, event.at_ms)
        case State.LISTENING:
            return _think(machine, None, event.at_ms)
        case State.FOLLOW_UP:
            return replace(machine, state=State.IDLE), [StopWatching()]
        case State.CONFIRMING if machine.confirming == "ear":
            return answered(machine) if machine.answering else unanswered(machine, waited=False)
        case _:
            return machine, []


def _source_lost(machine: Machine, event: SourceLost) -> Step:
    machine = replace(machine, microphone=Microphone.LOST)
    match machine.state:
        case State.WAKING | State.LISTENING:
            effects = [StopWatching(), *_cancel(machine, "source_lost")]
            return replace(machine, state=State.FAULT), effects
        case State.IDLE | State.FOLLOW_UP:
            return replace(machine, state=State.FAULT), [StopWatching()]
        case State.CONFIRMING if machine.confirming == "ear":
            return unanswered(machine, waited=True)
        case _:
            return machine, []  # the answer under way is still given


def _source_back(machine: Machine, event: SourceBack) -> Step:
    machine = replace(
        machine, microphone=Microphone.OPEN, now_ms=0.0, since_ms=0.0, silent_since_ms=None
    )
    if machine.state is State.FAULT:
        return replace(machine, state=State.IDLE), []
    return machine, []


def _typed(machine: Machine, event: Typed) -> Step:
    before: list[Effect] = []
    if machine.state in _IN_TURN:
        before = [StopWatching(), *_cancel(machine, "barge_in")]
    elif machine.state is State.FOLLOW_UP:
        before = [StopWatching()]
    turn = machine.turn + 1
    opened = replace(machine.fresh(), state=State.THINKING, turn=turn, source="text")
    return opened, [*before, OpenTurn(turn, "text", text=event.text)]


def _announced(machine: Machine, event: Announced) -> Step:
    waiting = (*machine.announcements, event)[-ANNOUNCEMENTS_WAITING:]
    return replace(machine, announcements=waiting), []


def _announce(machine: Machine, effects: list[Effect]) -> Step:
    """Once the conversation rests, what waits to be announced is said, one after the other."""
    if not machine.rests or not machine.announcements:
        return machine, effects
    first, *others = machine.announcements
    turn = machine.turn + 1
    opened = replace(
        machine.fresh(),
        state=State.THINKING,
        turn=turn,
        source="announcement",
        announcing=first,
        announcements=tuple(others),
    )
    opening = OpenTurn(turn, "announcement", text=first.text, language=first.language)
    return opened, [*effects, opening]


def _muted(machine: Machine, event: Muted) -> Step:
    if event.on is machine.muted:
        return machine, []
    machine = replace(machine, muted=event.on)
    if not event.on:
        return machine, []
    rest = replace(machine, state=_rest(machine))
    match machine.state:
        case State.WAKING | State.LISTENING:
            return rest, [ForgetSound(), StopWatching(), *_cancel(machine, "muted")]
        case State.FOLLOW_UP:
            return rest, [ForgetSound(), StopWatching()]
        case State.CONFIRMING if machine.confirming == "ear":
            silent, effects = unanswered(machine, waited=True)
            return silent, [ForgetSound(), *effects]
        case _:
            return machine, [ForgetSound()]  # the answer under way is still given


def _playback_started(machine: Machine, event: PlaybackStarted) -> Step:
    if machine.state is State.THINKING:
        return replace(machine, state=State.SPEAKING), []
    return machine, []


def _brain_finished(machine: Machine, event: BrainFinished) -> Step:
    done = replace(machine, state=_at_least_thinking(machine), asks=event.asks)
    return done, [*_stop_listening(machine), FinishSpeech(machine.turn)]


def _brain_failed(machine: Machine, event: BrainFailed) -> Step:
    if machine.error:
        return machine, []  # the first trouble is the one that is told
    failed = replace(machine, state=_at_least_thinking(machine), error=(event.kind, event.message))
    say = (
        SayText(machine.turn, event.spoken)
        if event.spoken
        else SayLine(machine.turn, f"fault.{event.kind}")
    )
    return failed, [
        *_stop_listening(machine),
        PlaySound("error"),
        say,
        FinishSpeech(machine.turn),
    ]


def _speech_not_meant(machine: Machine, event: SpeechNotMeant) -> Step:
    # A tone and no words: whoever was not speaking to us does not want an answer.
    ignored = replace(machine, state=_at_least_thinking(machine), error=_NOT_MEANT)
    return ignored, [
        *_stop_listening(machine),
        PlaySound("unmeant"),
        FinishSpeech(machine.turn),
    ]


def _at_least_thinking(machine: Machine) -> State:
    return machine.state if machine.state in _BUSY else State.THINKING


def _stop_listening(machine: Machine) -> list[Effect]:
    """A brain may end before the person does: then the rest of the sentence is not waited for."""
    if machine.state in _BUSY:
        return []
    return [StopWatching(), EndListening(machine.turn, None, machine.now_ms)]


def _playback_ended(machine: Machine, event: PlaybackEnded) -> Step:
    if machine.state not in _BUSY:
        return machine, []
    machine = replace(machine, silent_since_ms=machine.now_ms)
    if machine.confirming is not None:
        return await_answer(machine, machine.confirming)
    kind, message = machine.error or (None, None)
    close = CloseTurn(machine.turn, kind, message)
    if not _follows_up(machine):
        return replace(machine, state=_rest(machine)), [close]
    after = machine.now_ms + machine.rules.echo_tail_ms
    opened = replace(machine, state=State.FOLLOW_UP, since_ms=machine.now_ms)
    return opened, [close, WatchSpeech(from_ms=machine.now_ms, after_ms=after)]


def _confirmation_asked(machine: Machine, event: ConfirmationAsked) -> Step:
    asked = replace(machine, state=_at_least_thinking(machine), confirming=event.by, error=None)
    return asked, _stop_listening(machine)


def _follows_up(machine: Machine) -> bool:
    if machine.microphone is not Microphone.OPEN or machine.muted or machine.error or machine.over:
        return False
    if machine.source in ("text", "announcement"):
        return False
    habit = machine.rules.follow_up
    return habit == "always" or (habit == "question" and machine.asks)


def _rest(machine: Machine) -> State:
    return State.FAULT if machine.microphone is Microphone.LOST else State.IDLE


def _stop_asked(machine: Machine, event: StopAsked) -> Step:
    if machine.state is State.SPEAKING:
        machine = replace(machine, silent_since_ms=machine.now_ms)
    rest = replace(machine, state=_rest(machine))
    if machine.state in _IN_TURN:
        return rest, [StopWatching(), *_cancel(machine, "stop")]
    if machine.state is State.FOLLOW_UP:
        return rest, [StopWatching()]
    return machine, []


def _think(machine: Machine, speech_end_ms: float | None, decided_ms: float) -> Step:
    return replace(machine, state=State.THINKING), [
        StopWatching(),
        EndListening(machine.turn, speech_end_ms, decided_ms),
    ]


def _nobody_spoke(machine: Machine, at_ms: float) -> Step:
    # Quietly: a false wake must not make the box talk.
    return replace(machine, state=State.IDLE), [
        StopWatching(),
        # Cancelled first: the end of the sound must not set a recogniser to work on silence.
        CancelTurn(machine.turn, "no_speech"),
        EndListening(machine.turn, None, at_ms),
        CloseTurn(machine.turn, *_CUT_SHORT["no_speech"]),
    ]


def _cancel(machine: Machine, reason: CancelReason) -> list[Effect]:
    return [CancelTurn(machine.turn, reason), CloseTurn(machine.turn, *_CUT_SHORT[reason])]


_NOT_MEANT = ("not_meant", "Probably not meant for us.")
_CUT_SHORT: dict[CancelReason, tuple[str, str]] = {
    "barge_in": ("interrupted", "A new sentence interrupted this one."),
    "stop": ("interrupted", "It was stopped."),
    "source_lost": ("microphone_lost", "The microphone was lost in the middle of the sentence."),
    "no_speech": ("no_speech", "Nothing was said after the wake word."),
    "muted": ("muted", "The microphone was muted in the middle of the sentence."),
}

_HANDLERS: dict[type[Any], Callable[[Machine, Any], Step]] = {
    WakeHeard: _wake_heard,
    WakeRising: _wake_rising,
    SpeechStarted: _speech_started,
    SpeechEnded: _speech_ended,
    Tick: _tick,
    SourceEnded: _source_ended,
    SourceLost: _source_lost,
    SourceBack: _source_back,
    Typed: _typed,
    Announced: _announced,
    Muted: _muted,
    PlaybackStarted: _playback_started,
    BrainFinished: _brain_finished,
    BrainFailed: _brain_failed,
    SpeechNotMeant: _speech_not_meant,
    PlaybackEnded: _playback_ended,
    StopAsked: _stop_asked,
    TalkEnded: talk_ended,
    ConfirmationAsked: _confirmation_asked,
    ConfirmationSettled: settled,
}
