"""The turn machine: the conversation's rules as one pure function.

`reduce(machine, event)` returns the next machine and the effects to carry out. There is no event
loop, clock or audio here: events contain their own times, and the effect runner carries out the
effects.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assistant.conversation.rules import microphone, voice
from assistant.conversation.rules.effects import (
    Anticipate,
    CancelTurn,
    CloseTurn,
    Effect,
    EndListening,
    FinishSpeech,
    HearAnswer,
    OpenTurn,
    PlaySound,
    ReleaseSound,
    SayLine,
    SayText,
    StopWatching,
    WatchSpeech,
)
from assistant.conversation.rules.events import (
    STOP_WORD,
    Acknowledged,
    Announced,
    AsideFor,
    BrainFailed,
    BrainFinished,
    ConfirmationAsked,
    ConfirmationSettled,
    Event,
    ForTalk,
    Muted,
    OpeningSounded,
    PlaybackEnded,
    PlaybackStarted,
    Ringing,
    SetAside,
    SourceBack,
    SourceEnded,
    SourceLost,
    SpeechEnded,
    SpeechHeld,
    SpeechNotMeant,
    SpeechPassed,
    SpeechStarted,
    StillThinking,
    StopAsked,
    StopHeard,
    TalkEnded,
    Tick,
    Typed,
    WakeHeard,
    WakeRising,
    WentOffline,
    Withdrawn,
)
from assistant.conversation.rules.state import Machine, MicrophoneState, Rules, State
from assistant.conversation.rules.voice import (
    CUT_SHORT,
    answered,
    await_answer,
    cancel,
    is_unanswered,
    near_own_speech,
    settled,
    talk_ended,
    unanswered,
)

__all__ = ["Machine", "MicrophoneState", "Rules", "State", "reduce"]

_BUSY = frozenset({State.THINKING, State.SPEAKING})
_IN_TURN = _BUSY | {State.WAKING, State.LISTENING, State.CONFIRMING}
# States in which a wake word would open a turn and no brain is working yet.
_BEFORE_A_TURN = frozenset({State.IDLE, State.FOLLOW_UP, State.SPEAKING})
# In CONFIRMING, the wake word is part of the answer.
_DEAF_TO_WAKE = frozenset({State.WAKING, State.LISTENING, State.CONFIRMING, State.FAULT})
_FROM_THE_EAR = (WakeRising, WakeHeard, SpeechStarted, SpeechEnded, SpeechHeld, SpeechPassed)

Step = tuple[Machine, list[Effect]]


def reduce(machine: Machine, event: Event) -> Step:
    """Return the next machine and the effects of an event."""
    turn = getattr(event, "turn", None)
    if turn is not None and (turn != machine.turn or machine.state not in _IN_TURN):
        return machine, []  # belongs to a turn that was cancelled or is over
    if machine.muted and isinstance(event, _FROM_THE_EAR):
        return machine, []  # from a frame that was in progress when muted
    after, effects = voice.next_said(*_HANDLERS[type(event)](machine, event))
    return voice.settle(machine, after, effects)


def _wake_rising(machine: Machine, event: WakeRising) -> Step:
    return machine, [Anticipate()] if machine.state in _BEFORE_A_TURN else []


def _wake_heard(machine: Machine, event: WakeHeard) -> Step:
    if event.word == STOP_WORD:
        return voice.stopped(machine) if machine.stops_by_ear else (machine, [])
    if event.caller and not machine.rests:
        return machine, []  # a person is speaking; ignore the program
    begins = voice.begins_with(machine, event)
    if machine.state in _DEAF_TO_WAKE and not begins:
        return machine, []
    near = begins or machine.state is State.SPEAKING or near_own_speech(machine, event.mark_ms)
    busy = begins or machine.state in _BUSY
    before = cancel(machine, "barge_in") if busy else []
    turn = machine.turn + 1
    after = event.at_ms + machine.rules.settle_ms
    waking = replace(
        machine.fresh(),
        state=State.WAKING,
        turn=turn,
        source="voice",
        since_ms=event.at_ms,
        sounded=event.pressed,
    )
    opening = OpenTurn(
        turn,
        "voice",
        mark_ms=event.mark_ms,
        wake=event,
        near_own_speech=near,
        over_ours=busy or machine.ringing,
        caller=event.caller,
    )
    sound: list[Effect] = [PlaySound("wake")] if event.pressed and not event.caller else []
    watch = WatchSpeech(from_ms=event.mark_ms, after_ms=after)
    return waking, [*before, opening, *sound, watch]


def _speech_started(machine: Machine, event: SpeechStarted) -> Step:
    match machine.state:
        case State.WAKING:
            return replace(machine, state=State.LISTENING), [ReleaseSound(machine.turn)]
        case State.FOLLOW_UP if machine.over_ms is None:
            turn, talk = machine.turn + 1, machine.announcing
            listening = replace(
                machine.fresh(),
                state=State.LISTENING,
                turn=turn,
                source="follow_up",
                since_ms=microphone.begun_at(machine, event.at_ms),
            )
            # Skip audio from before the microphone was opened: it was not addressed to Hearth.
            mark = max(machine.since_ms, event.at_ms - machine.rules.pre_roll_ms)
            # An answer to Hearth's own question may follow its speech closely.
            near = not machine.asks and near_own_speech(machine, event.at_ms)
            opening = OpenTurn(turn, "follow_up", mark_ms=mark, near_own_speech=near)
            if talk is not None and isinstance(talk.then, ForTalk):
                opening = replace(opening, caller=talk.then.caller, talk=talk)
            return listening, [opening]
        case State.SPEAKING | State.IDLE | State.FAULT:
            return voice.begun(machine, event)
        case State.CONFIRMING if machine.confirming == "ear" and not machine.answering:
            mark = max(machine.since_ms, event.at_ms - machine.rules.pre_roll_ms)
            near = near_own_speech(machine, event.at_ms)
            since = microphone.begun_at(machine, event.at_ms)
            heard = replace(machine, answering=True, answer_near=near, since_ms=since)
            return heard, [HearAnswer(machine.turn, mark)]
        case _:
            return machine, []


def _speech_ended(machine: Machine, event: SpeechEnded) -> Step:
    if machine.state is State.CONFIRMING and machine.answering:
        return answered(machine)
    if machine.state is not State.LISTENING:
        return voice.ended(machine, event)
    thinking, effects = _think(machine, event.at_ms, event.decided_ms)
    if machine.source == "barge_in":
        effects += voice.may_be_stop(machine, machine.since_ms, event.at_ms)
    return thinking, effects


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
    machine = replace(machine, microphone=MicrophoneState.ENDED, now_ms=event.at_ms)
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


def _typed(machine: Machine, event: Typed) -> Step:
    if event.caller and not machine.rests:
        return machine, []  # programs never interrupt
    before: list[Effect] = []
    if machine.state in _IN_TURN:
        before = [StopWatching(), *cancel(machine, "barge_in")]
    elif machine.state is State.FOLLOW_UP:
        before = [StopWatching()]
    turn = machine.turn + 1
    thinking = replace(
        machine.fresh(),
        state=State.THINKING,
        turn=turn,
        source="text",
        silent=bool(event.caller) or event.terminal is not None,
    )
    opening = OpenTurn(
        turn,
        "text",
        text=event.text,
        caller=event.caller,
        owner=event.owner,
        terminal=event.terminal,
        brain=event.brain,
    )
    return thinking, [*before, opening]


def _playback_started(machine: Machine, event: PlaybackStarted) -> Step:
    return voice.voice_begins(machine) if machine.state is State.THINKING else (machine, [])


def _brain_finished(machine: Machine, event: BrainFinished) -> Step:
    done = replace(machine, state=_at_least_thinking(machine), asks=event.asks)
    return done, [*_stop_listening(machine), FinishSpeech(machine.turn)]


def _brain_failed(machine: Machine, event: BrainFailed) -> Step:
    if machine.error:
        return machine, []  # only the first error is reported
    failed = replace(machine, state=_at_least_thinking(machine), error=(event.kind, event.message))
    say = (
        SayText(machine.turn, event.spoken)
        if event.spoken
        else SayLine(machine.turn, f"fault.{event.kind}")
    )
    return failed, [
        *_stop_listening(machine),
        *([] if machine.silent else [PlaySound("error")]),
        say,
        FinishSpeech(machine.turn),
    ]


def _speech_not_meant(machine: Machine, event: SpeechNotMeant) -> Step:
    # Play only a tone, because people who were not talking to Hearth want no answer.
    ignored = replace(machine, state=_at_least_thinking(machine), error=_NOT_MEANT)
    return ignored, [
        *_stop_listening(machine),
        *([] if machine.silent else [PlaySound("unmeant")]),
        FinishSpeech(machine.turn),
    ]


def _set_aside(machine: Machine, event: SetAside) -> Step:
    aside = replace(machine, state=_at_least_thinking(machine), error=_SET_ASIDE[event.why])
    return aside, [*_stop_listening(machine), FinishSpeech(machine.turn)]


def _at_least_thinking(machine: Machine) -> State:
    return machine.state if machine.state in _BUSY else State.THINKING


def _stop_listening(machine: Machine) -> list[Effect]:
    if machine.state in _BUSY:
        return []
    return [StopWatching(), EndListening(machine.turn, None, machine.now_ms)]


def _playback_ended(machine: Machine, event: PlaybackEnded) -> Step:
    if machine.state not in _BUSY:
        return machine, []
    machine = replace(machine, silent_since_ms=machine.now_ms)
    if microphone.wants_opening(machine):
        return microphone.said(machine)
    if machine.confirming is not None:
        return await_answer(machine, machine.confirming)
    kind, message = machine.error or (None, None)
    return voice.voice_ended(machine, CloseTurn(machine.turn, kind, message))


def _confirmation_asked(machine: Machine, event: ConfirmationAsked) -> Step:
    asked = replace(
        machine,
        state=_at_least_thinking(machine),
        confirming=event.by,
        over_ms=None,
        error=None,
    )
    if machine.state is State.SPEAKING and machine.hears_over:
        return asked, [StopWatching()]  # the question is played to the end
    return asked, _stop_listening(machine)


def _stop_asked(machine: Machine, event: StopAsked) -> Step:
    return voice.stopped(machine)


def _think(machine: Machine, speech_end_ms: float | None, decided_ms: float) -> Step:
    return replace(machine, state=State.THINKING), [
        StopWatching(),
        EndListening(machine.turn, speech_end_ms, decided_ms),
        *voice.sentence_over(machine),
    ]


def _nobody_spoke(machine: Machine, at_ms: float) -> Step:
    # Stay silent: a false detection must not make the device talk.
    return replace(machine, state=State.IDLE), [
        StopWatching(),
        # Cancel first, so that the end of the audio does not make a recogniser process silence.
        CancelTurn(machine.turn, "no_speech"),
        EndListening(machine.turn, None, at_ms),
        CloseTurn(machine.turn, *CUT_SHORT["no_speech"]),
    ]


_NOT_MEANT = ("not_meant", "The sentence was probably not meant for Hearth.")
_SET_ASIDE: dict[AsideFor, tuple[str, str]] = {
    "echo": ("echo", "The sentence was Hearth's own voice."),
    "stop_word": ("stopped", "The sentence was a stop word."),
}

_HANDLERS: dict[type[Any], Callable[[Machine, Any], Step]] = {
    WakeHeard: _wake_heard,
    WakeRising: _wake_rising,
    SpeechStarted: _speech_started,
    SpeechEnded: _speech_ended,
    SpeechHeld: voice.held,
    SpeechPassed: voice.passed,
    Tick: _tick,
    SourceEnded: _source_ended,
    SourceLost: microphone.lost,
    SourceBack: microphone.back,
    Typed: _typed,
    Announced: voice.waits,
    OpeningSounded: microphone.sounded,
    Withdrawn: microphone.withdrawn,
    Muted: microphone.muted,
    Ringing: voice.ringing,
    PlaybackStarted: _playback_started,
    BrainFinished: _brain_finished,
    BrainFailed: _brain_failed,
    SpeechNotMeant: _speech_not_meant,
    SetAside: _set_aside,
    StillThinking: voice.still_thinking,
    Acknowledged: voice.acknowledged,
    WentOffline: voice.went_offline,
    PlaybackEnded: _playback_ended,
    StopAsked: _stop_asked,
    StopHeard: voice.stop_heard,
    TalkEnded: talk_ended,
    ConfirmationAsked: _confirmation_asked,
    ConfirmationSettled: settled,
}
