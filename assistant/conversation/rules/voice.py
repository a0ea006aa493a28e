"""Pure rules for Hearth's speech: tones, interruptions, announcements and questions."""

from dataclasses import replace

from assistant.conversation.rules.effects import (
    AwaitAnswer,
    CancelReason,
    CancelTurn,
    CloseTurn,
    Duck,
    Effect,
    EndAnswer,
    FinishSpeech,
    Hush,
    ListenForStop,
    NoAnswer,
    OpenTurn,
    PlaySound,
    StopWatching,
    WatchSpeech,
    WatchThinking,
)
from assistant.conversation.rules.events import (
    Acknowledged,
    Announced,
    AnswersBy,
    ConfirmationSettled,
    ForAnswer,
    ForTalk,
    Ringing,
    SpeechEnded,
    SpeechHeld,
    SpeechPassed,
    SpeechStarted,
    StillThinking,
    StopHeard,
    TalkEnded,
    WakeHeard,
    WentOffline,
)
from assistant.conversation.rules.state import (
    ANNOUNCEMENTS_WAITING,
    Machine,
    MicrophoneState,
    State,
)

Step = tuple[Machine, list[Effect]]

_UNSPOKEN = frozenset({"text", "announcement"})  # nobody in the room expects a tone


def sentence_over(machine: Machine) -> list[Effect]:
    """Return the effects that follow the end of the person's sentence."""
    return [PlaySound("end"), wait(machine)]


def wait(machine: Machine) -> Effect:
    return WatchThinking(machine.turn, machine.rules.thinking_ms)


def still_thinking(machine: Machine, event: StillThinking) -> Step:
    """Play the thinking tone if Hearth is still silent."""
    silent = machine.state is State.THINKING and not machine.acknowledged
    if not silent or machine.confirming is not None or machine.error or _is_unspoken(machine):
        return machine, []
    again = WatchThinking(machine.turn, machine.rules.thinking_again_ms)
    return machine, [PlaySound("thinking"), again]


def acknowledged(machine: Machine, event: Acknowledged) -> Step:
    """Play a tone in place of the spoken reply, if Hearth is still silent."""
    if not _may_sound(machine):
        return machine, []
    return replace(machine, acknowledged=True), [PlaySound("done")]


def went_offline(machine: Machine, event: WentOffline) -> Step:
    """Play a tone before Hearth says that it is offline, if Hearth is still silent."""
    return machine, [PlaySound("offline")] if _may_sound(machine) else []


def _may_sound(machine: Machine) -> bool:
    thinking = machine.state is State.THINKING and machine.confirming is None
    return thinking and not machine.error and not _is_unspoken(machine)


def _is_unspoken(machine: Machine) -> bool:
    return machine.source in _UNSPOKEN


# Talking over Hearth: what lowers its voice, what interrupts it and what is ignored.


CUT_SHORT: dict[CancelReason, tuple[str, str]] = {
    "barge_in": ("interrupted", "A new sentence interrupted this one."),
    "stop": ("interrupted", "The turn was stopped."),
    "source_lost": ("microphone_lost", "The microphone was lost in the middle of the sentence."),
    "no_speech": ("no_speech", "Nothing was said after the wake word."),
    "muted": ("muted", "The microphone was muted in the middle of the sentence."),
    "withdrawn": ("withdrawn", "The program that asked has disconnected."),
}


def cancel(machine: Machine, reason: CancelReason) -> list[Effect]:
    return [CancelTurn(machine.turn, reason), CloseTurn(machine.turn, *CUT_SHORT[reason])]


def voice_begins(machine: Machine) -> Step:
    """Enter SPEAKING when the first sample of the answer is played."""
    speaking = replace(machine, state=State.SPEAKING)
    if not machine.hears_over:
        return speaking, []
    return speaking, [WatchSpeech(from_ms=machine.now_ms, after_ms=machine.now_ms)]


def begun(machine: Machine, event: SpeechStarted) -> Step:
    """Record that somebody is talking over Hearth or a ringing timer."""
    over = machine.ringing if machine.rests else machine.hears_over
    return (replace(machine, over_ms=event.at_ms) if over else machine), []


def held(machine: Machine, event: SpeechHeld) -> Step:
    """Let somebody who has spoken for long enough interrupt Hearth."""
    speaking = machine.state is State.SPEAKING
    ended_meanwhile = machine.state is State.FOLLOW_UP and machine.over_ms is not None
    if not machine.hears_over or not (speaking or ended_meanwhile):
        return machine, []
    turn = machine.turn + 1
    opened = replace(
        machine.fresh(),
        state=State.LISTENING,
        turn=turn,
        source="barge_in",
        since_ms=event.began_ms,
    )
    mark = max(0.0, event.began_ms - machine.rules.pre_roll_ms)
    # A person who talks over an opening line answers it.
    talk = machine.announcing if isinstance(machine.then, ForTalk) else None
    opening = OpenTurn(
        turn, "barge_in", mark_ms=mark, near_own_speech=True, over_ours=True, talk=talk
    )
    return opened, [*(cancel(machine, "barge_in") if speaking else []), opening]


def begins_with(machine: Machine, event: WakeHeard) -> bool:
    """Return True if the speech that interrupted Hearth started with this wake word."""
    barged = machine.state is State.LISTENING and machine.source == "barge_in"
    return barged and event.mark_ms - machine.since_ms <= machine.rules.wake_first_ms


def passed(machine: Machine, event: SpeechPassed) -> Step:
    """Handle speech that was too short to interrupt Hearth."""
    if machine.over_ms is None:
        return machine, []
    match machine.state:
        case State.SPEAKING:
            return replace(machine, over_ms=None), [ListenForStop(machine.over_ms, machine.turn)]
        case State.FOLLOW_UP:
            return ended_over(machine)
        case _:
            return machine, []  # speech during a ringing timer is judged when it ends


def ended(machine: Machine, event: SpeechEnded) -> Step:
    """Handle the end of speech while a timer is ringing or Hearth is speaking."""
    if machine.over_ms is None:
        return machine, []
    if machine.state is State.FOLLOW_UP:
        return ended_over(machine)
    return replace(machine, over_ms=None), may_be_stop(machine, machine.over_ms, event.at_ms)


def may_be_stop(machine: Machine, began_ms: float, ended_ms: float) -> list[Effect]:
    """Return the effect that checks speech for a stop word, or [] if the speech was too long."""
    short = ended_ms - began_ms <= machine.rules.stop_word_ms
    return [ListenForStop(began_ms, machine.turn)] if short else []


def ended_over(machine: Machine) -> Step:
    """Continue as if nobody had spoken, after speech that overlapped with the end of Hearth's
    answer."""
    quiet = replace(machine, over_ms=None)
    if follows_up(quiet):
        return quiet, []  # the microphone is already open
    return replace(quiet, state=rest(quiet)), [StopWatching()]


def voice_ended(machine: Machine, close: CloseTurn) -> Step:
    """End the turn after its speech. The microphone stays open for a follow-up, or for somebody who
    is talking over the end of the answer."""
    if machine.over_ms is not None and machine.hears_over:
        return replace(machine, state=State.FOLLOW_UP, since_ms=machine.now_ms), [close]
    watched: list[Effect] = [StopWatching()] if machine.hears_over else []
    if not follows_up(machine):
        return replace(machine, state=rest(machine)), [close, *watched]
    after = machine.now_ms + machine.rules.echo_tail_ms
    opened = replace(machine, state=State.FOLLOW_UP, since_ms=machine.now_ms)
    watch = WatchSpeech(from_ms=machine.now_ms, after_ms=after)
    return opened, [close, PlaySound("open"), watch]


def follows_up(machine: Machine) -> bool:
    """Return True if the microphone stays open after the answer."""
    if (
        machine.microphone is not MicrophoneState.OPEN
        or machine.muted
        or machine.error
        or machine.over
    ):
        return False
    if machine.source in ("text", "announcement"):
        return False
    habit = machine.rules.follow_up
    return habit == "always" or (habit == "question" and machine.asks)


def rest(machine: Machine) -> State:
    """Return the state between turns: FAULT if the microphone is lost, otherwise IDLE."""
    return State.FAULT if machine.microphone is MicrophoneState.LOST else State.IDLE


def ringing(machine: Machine, event: Ringing) -> Step:
    return replace(machine, ringing=event.on), []


def settle(before: Machine, after: Machine, effects: list[Effect]) -> Step:
    """Add the effects that depend only on the states before and after an event, such as ducking."""
    if after.over_ms is not None and (after.muted or after.microphone is not MicrophoneState.OPEN):
        after = replace(after, over_ms=None)
    if before.ducks is not after.ducks:
        effects = [*effects, Duck(after.ducks)]
    waited, waits = before.rests and before.ringing, after.rests and after.ringing
    if waits and not waited:
        effects = [*effects, WatchSpeech(from_ms=after.now_ms, after_ms=after.now_ms)]
    elif waited and after.rests and not waits:
        after = replace(after, over_ms=None)
        effects = [*effects, StopWatching()]
    return after, effects


def stop_heard(machine: Machine, event: StopHeard) -> Step:
    """Stop, unless the turn that the stop word was meant for is already over."""
    same = machine.turn == event.after and machine.stops_by_text
    return stopped(machine) if same else (machine, [])


def stopped(machine: Machine) -> Step:
    """Cancel the current turn and silence ringing timers."""
    silenced: list[Effect] = [Hush()] if machine.ringing else []
    if machine.state is State.SPEAKING:
        machine = replace(machine, silent_since_ms=machine.now_ms)
    resting = replace(machine, state=rest(machine), over_ms=None)
    if machine.state in _IN_TURN:
        return resting, [StopWatching(), *cancel(machine, "stop"), *silenced]
    if machine.state is State.FOLLOW_UP:
        return resting, [StopWatching(), *silenced]
    return machine, silenced


_IN_TURN = frozenset(
    {State.WAKING, State.LISTENING, State.THINKING, State.SPEAKING, State.CONFIRMING}
)


# Announcements, which wait and never interrupt a turn.


def waits(machine: Machine, event: Announced) -> Step:
    """Queue an announcement. If the queue is full, the oldest one is dropped."""
    waiting = (*machine.announcements, event)[-ANNOUNCEMENTS_WAITING:]
    return replace(machine, announcements=waiting), []


def next_said(machine: Machine, effects: list[Effect]) -> Step:
    """Start the next queued announcement if the conversation is idle."""
    if not machine.rests or not machine.announcements:
        return machine, effects
    first, *others = machine.announcements
    turn = machine.turn + 1
    announcing = replace(
        machine.fresh(),
        state=State.THINKING,
        turn=turn,
        source="announcement",
        announcing=first,
        announcements=tuple(others),
        confirming="ear" if isinstance(first.then, ForAnswer) else None,
    )
    opening = OpenTurn(
        turn,
        "announcement",
        text=first.text,
        language=first.language,
        manner=first.manner,
        then=first.then,
        caller=first.manner.caller if first.then is None else first.then.caller,
    )
    return announcing, [*effects, opening]


# Open questions: how long they wait, and what ends them.


def await_answer(machine: Machine, by: AnswersBy) -> Step:
    """Wait for an answer after Hearth's question has been played."""
    if by == "ear" and (machine.microphone is not MicrophoneState.OPEN or machine.muted):
        return replace(machine, state=State.THINKING), [NoAnswer(machine.turn, waited=False)]
    waiting = replace(machine, state=State.CONFIRMING, since_ms=machine.now_ms, answering=False)
    answer = AwaitAnswer(machine.turn, by)
    if by != "ear":
        return waiting, [answer]
    after = machine.now_ms + machine.rules.echo_tail_ms
    return waiting, [WatchSpeech(from_ms=machine.now_ms, after_ms=after), answer]


def answered(machine: Machine) -> Step:
    return replace(machine, state=State.THINKING), [StopWatching(), EndAnswer(machine.turn)]


def unanswered(machine: Machine, *, waited: bool) -> Step:
    """Stop waiting for an answer. `waited` is False if nobody was able to answer."""
    silent = replace(machine, state=State.THINKING)
    return silent, [StopWatching(), NoAnswer(machine.turn, waited)]


def near_own_speech(machine: Machine, at_ms: float) -> bool:
    """Return True if speech that started at `at_ms` came so soon after Hearth's own that it may be
    an echo."""
    since = machine.silent_since_ms
    return since is not None and at_ms - since < machine.rules.own_speech_ms


def is_unanswered(machine: Machine, waited_ms: float) -> bool:
    """Return True if the time for a spoken answer is over."""
    silent = machine.confirming == "ear" and not machine.answering
    asked = machine.then  # a program sets its own time limit
    most_ms = asked.wait_ms if isinstance(asked, ForAnswer) else machine.rules.confirm_ms
    return silent and waited_ms >= min(most_ms, machine.rules.longest_ms)


def settled(machine: Machine, event: ConfirmationSettled) -> Step:
    """Continue after a question has been settled: speak the result, or open a turn for the new
    command."""
    told = replace(machine, state=State.THINKING, confirming=None, answering=False)
    if not event.new_command:
        # The question may have been answered elsewhere while Hearth was listening.
        ear = machine.state is State.CONFIRMING and machine.confirming == "ear"
        deaf: list[Effect] = [StopWatching(), NoAnswer(machine.turn, waited=True)] if ear else []
        return told, deaf if event.more else [*deaf, FinishSpeech(machine.turn)]
    turn, close = machine.turn + 1, CloseTurn(machine.turn)
    if event.text is not None:
        terminal = event.terminal
        typed = replace(told.fresh(), turn=turn, source="text", silent=terminal is not None)
        return typed, [close, OpenTurn(turn, "text", text=event.text, terminal=terminal)]
    opened = replace(told.fresh(), turn=turn, source="follow_up")
    near = machine.answer_near
    opening = OpenTurn(turn, "follow_up", held=True, near_own_speech=near)
    return opened, [close, opening, wait(opened)]


def talk_ended(machine: Machine, event: TalkEnded) -> Step:
    return replace(machine, over=True), []
