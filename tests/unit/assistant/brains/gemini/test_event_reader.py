"""Table-driven tests of the translation from a session's events to the brain's."""

from collections.abc import Callable

import pytest

from assistant.brains.briefing.briefer import STAY_SILENT
from assistant.brains.gemini.event_reader import Answered, EventReader, Item
from assistant.brains.gemini.lifecycle import LiveTimeouts
from assistant.brains.gemini.transcript_filters import (
    EchoFilter,
    LeakFilter,
    MarkFilter,
    RepeatFilter,
)
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplySettled,
    ReplyText,
    Restarted,
    ToolCallsCancelled,
    TurnDone,
)
from assistant.domain.tool_call import ToolCall
from integrations.errors import Exhausted, Unavailable
from integrations.gemini import events as live

UPLOADED = Reached("upload_done")
CALL = live.FunctionCall("1", "HassTurnOn", {"name": "Lamp"})
CALLS = live.FunctionCalls((CALL,))
ANSWERED = Answered(("1",))
END = live.TurnComplete()


def text(words: str) -> live.OutputText:
    return live.OutputText(words, with_sound=True)


def local() -> EventReader:
    """Return a reader whose sentence is over, for a local voice."""
    reading = EventReader(native_voice=False, timeouts=LiveTimeouts())
    reading.take(UPLOADED, 0.0)
    return reading


def native() -> EventReader:
    reading = EventReader(native_voice=True, timeouts=LiveTimeouts())
    reading.take(UPLOADED, 0.0)
    return reading


def read(reading: EventReader, *items: Item) -> list[BrainEvent]:
    """Return what follows from all of `items`, and from silence after the last one."""
    events = [event for item in items for event in reading.take(item, 1.0)]
    return events if reading.over else [*events, *reading.overdue(3.0)]


def test_what_is_heard_grows() -> None:
    reading = local()
    assert reading.take(live.InputText("turn on"), 0.1) == [Heard("turn on")]
    assert reading.take(live.InputText(" the lamp", "en"), 0.2) == [Heard("turn on the lamp", "en")]


SOUND = live.OutputAudio(b"\1\0", 24_000)
CALLED = ToolCall("1", "HassTurnOn", {"name": "Lamp"})
ON = (ReplyText("On."), ReplySettled(), TurnDone())
EMPTY = BrainFault("empty", "Gemini gave no answer.", retryable=True)
WITHOUT_ID = BrainFault("empty", "Gemini made a call that cannot be answered.", retryable=True)
GONE = live.FunctionCallsCancelled(("1",))


@pytest.mark.parametrize(
    ("items", "events"),
    [
        ([SOUND, text("It is"), text(" on."), END],
         [ReplyText("It is"), ReplyText(" on."), ReplySettled(), TurnDone()]),
        ([live.InnerText("{tool}", False), text("On."), END], [*ON]),
        ([live.InnerText("{tool}", True), text("On."), END], [*ON]),
        ([CALLS, live.OutputText("Lamp", with_sound=False), ANSWERED, text("On."), END],
         [CALLED, *ON]),
        ([CALLS, GONE, END], [CALLED, ToolCallsCancelled(("1",)), TurnDone()]),
        ([CALLS, ANSWERED, END], [CALLED, TurnDone()]),
        ([text("On it."), CALLS, END, ANSWERED], [ReplyText("On it."), CALLED, TurnDone()]),
        ([text("On."), live.GenerationComplete(), live.Interrupted(), END],
         [ReplyText("On."), ReplySettled(), TurnDone()]),
        ([text("The lamp is on. "), text("The lamp is on."), END],
         [ReplyText("The lamp is on. "), ReplySettled(), TurnDone()]),
        ([text("I do it now."), CALLS, ANSWERED, text("I do it now."), END],
         [ReplyText("I do it now."), CALLED, ReplyText(" I do it now."), ReplySettled(),
          TurnDone()]),
        ([text("The lamp is on."), text("The lamp"), live.GenerationComplete(), END],
         [ReplyText("The lamp is on."), ReplySettled(), ReplyText("The lamp"), TurnDone()]),
        ([text("On it"), CALLS, ANSWERED, END],
         [ReplyText("On it"), CALLED, ReplySettled(), TurnDone()]),
        ([live.CallWithoutId()], [WITHOUT_ID]),
    ],
    ids=["a local voice, sound is dropped", "inner text", "a thought", "a phantom after a call",
         "cancelled calls alone", "an answered call", "nothing follows the results",
         "an interruption after the whole answer", "a sentence twice",
         "a sentence again after a call", "the beginning of a sentence again",
         "no end of a sentence before a call", "a call without an id"],
)  # fmt: skip
def test_a_whole_turn(items: list[Item], events: list[BrainEvent]) -> None:
    assert read(local(), *items) == events


def test_with_its_own_voice_the_sound_is_the_answer_and_nothing_is_waited_for() -> None:
    reading = native()
    sound = live.OutputAudio(b"\1\0", 24_000)
    assert [event for item in (sound, text("On."), END) for event in reading.take(item, 1.0)] == [
        ReplyAudio(b"\1\0", 24_000),
        ReplyText("On.", voiced=False),
        TurnDone(),
    ]


@pytest.mark.parametrize(
    ("reader", "generated", "acted", "broken_off"),
    [
        (local, False, False, True),
        (local, True, False, False),
        (local, True, True, True),  # the ledger can report the action instead
        (native, False, False, False),
    ],
)
def test_an_answer_that_ends_within_a_sentence_is_asked_for_again(
    reader: Callable[[], EventReader], generated: bool, acted: bool, broken_off: bool
) -> None:
    reading = reader()
    reading.acted = acted
    complete = [live.GenerationComplete()] if generated else []
    events = read(reading, SOUND, text("It is about three"), *complete, END)
    assert (Restarted() in events) is broken_off
    assert events[-1] == TurnDone()
    assert reading.empty is broken_off
    assert reading.answer == ("" if broken_off else "It is about three")


def test_a_session_with_a_call_that_cannot_be_answered_is_left() -> None:
    reading = local()
    reading.take(live.CallWithoutId(), 1.0)
    assert (reading.lost, reading.empty) == (True, True)


def test_the_text_is_told_to_be_whole_when_the_model_has_made_it() -> None:
    reading = local()
    assert reading.take(live.GenerationComplete(), 1.0) == []
    assert reading.take(text("It is on."), 1.0) == [ReplyText("It is on.")]
    assert reading.take(live.GenerationComplete(), 1.0) == [ReplySettled()]
    assert reading.take(END, 1.1) == []
    assert reading.take(text(" Good night."), 1.2) == [ReplyText(" Good night.")]
    assert reading.overdue(1.5) == [TurnDone()]


def test_late_text_is_said() -> None:
    reading = local()
    reading.take(text("It is"), 1.0)
    reading.take(END, 1.0)
    assert reading.patience_s(1.0) == pytest.approx(2.0)
    assert reading.take(text(" on."), 1.2) == [ReplyText(" on.")]
    assert reading.patience_s(1.2) == pytest.approx(0.3)
    assert reading.overdue(1.5) == [TurnDone()]


def test_late_text_has_an_end() -> None:
    reading = local()
    reading.take(END, 1.0)
    for tenth in range(1, 20):
        reading.take(text(" on"), 1.0 + tenth / 10)
    assert reading.patience_s(2.9) == pytest.approx(0.1)


def test_where_there_was_sound_its_transcript_is_waited_for_longer() -> None:
    reading = local()
    reading.take(live.OutputAudio(b"", 24_000), 1.0)
    reading.take(END, 1.0)
    assert reading.patience_s(1.0) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("words", "audio_ms", "finished", "patience_s"),
    [
        ("It is about three hundred and eighty", 4_000, False, 2.0),
        ("It is about three hundred and eighty thousand kilometres", 4_000, True, 0.3),
        ("It is on.", 2_500, True, 0.3),
        ("“It is on.”", 2_500, True, 0.3),
        ("It is on.", 4_000, True, 2.0),  # another sentence may follow
        ("Twenty degrees", 0, True, 0.3),
        ("Twenty degrees", 1_000, True, 0.3),
        ("Ja", 2_000, False, 2.0),
    ],
)
def test_the_end_of_a_sentence_is_waited_for_where_the_audio_is_longer(
    words: str, audio_ms: float, finished: bool, patience_s: float
) -> None:
    reading = local()
    reading.take(live.OutputAudio(b"", 24_000, audio_ms), 1.0)
    reading.take(text(words), 1.0)
    settled = [ReplySettled()] if finished else []
    assert reading.take(live.GenerationComplete(), 1.0) == settled
    assert reading.take(END, 1.0) == []
    assert reading.patience_s(1.0) == pytest.approx(patience_s)


def test_the_rest_of_a_sentence_is_said_with_its_beginning() -> None:
    reading = local()
    reading.take(live.OutputAudio(b"", 24_000, 4_000), 1.0)
    reading.take(text("It is about three hundred and eighty"), 1.0)
    assert reading.take(END, 1.0) == []
    rest = " thousand kilometres."
    assert reading.take(text(rest), 2.5) == [ReplyText(rest)]
    assert reading.patience_s(2.5) == pytest.approx(0.3)
    assert reading.overdue(2.8) == [TurnDone()]


def test_an_interaction_in_progress_goes_on() -> None:
    reading = local()
    assert reading.take(live.TurnComplete(idle=False), 1.0) == []
    assert not reading.over
    assert read(reading, text("Done."), END) == [ReplyText("Done."), ReplySettled(), TurnDone()]


def test_parallel_calls_are_one_event_each() -> None:
    other = live.FunctionCall("2", "HassTurnOff", {})
    assert local().take(live.FunctionCalls((CALL, other)), 1.0) == [
        ToolCall("1", "HassTurnOn", {"name": "Lamp"}),
        ToolCall("2", "HassTurnOff", {}),
    ]


def test_cancelled_calls_are_told_and_not_waited_for() -> None:
    reading = local()
    reading.take(CALLS, 1.0)
    assert reading.take(live.FunctionCallsCancelled(("1",)), 1.1) == [ToolCallsCancelled(("1",))]
    assert reading.patience_s(1.1) == 10.0


def test_an_end_with_calls_open_is_not_the_end() -> None:
    reading = local()
    reading.take(CALLS, 1.0)
    assert reading.take(END, 1.0) == []
    assert reading.patience_s(1.0) is None
    assert read(reading, ANSWERED, text("On."), END) == [
        ReplyText("On."),
        ReplySettled(),
        TurnDone(),
    ]


def test_to_stay_silent_ends_the_turn_at_once() -> None:
    reading = local()
    silent = live.FunctionCall("2", STAY_SILENT, {})
    assert reading.take(live.FunctionCalls((CALL, silent)), 1.0) == [NotMeant()]
    assert reading.over
    assert reading.dismissed == (CALL, silent)


@pytest.mark.parametrize(
    "items",
    [
        [END],
        [text(" "), END],
        [text("[Silence]"), END],
        [live.InnerText("hm", True), END],
        [live.InputText("turn on"), live.GenerationComplete(), END],
        [live.OutputAudio(b"", 24_000), END],  # with a local voice nobody would hear anything
    ],
)
def test_an_empty_turn_is_worth_another_attempt(items: list[Item]) -> None:
    reading = local()
    events = read(reading, *items)
    assert events[-1] == BrainFault("empty", "Gemini gave no answer.", retryable=True)
    assert reading.empty
    assert not reading.lost


@pytest.mark.parametrize(
    ("reason", "kind", "retryable"),
    [
        ("MALFORMED_FUNCTION_CALL", "empty", True),
        ("MAX_REGENERATION_REACHED", "empty", True),
        ("SAFETY", "blocked", False),
        ("PROHIBITED_INPUT_CONTENT", "blocked", False),
        ("GENERATED_AUDIO_SAFETY", "blocked", False),
        ("BLOCKLIST", "blocked", False),
        ("RESPONSE_REJECTED", "blocked", False),
        ("A_REASON_OF_TOMORROW", "blocked", False),
    ],
)
def test_a_bad_end_is_a_fault(reason: str, kind: str, retryable: bool) -> None:
    (fault,) = local().take(live.TurnComplete(reason=reason), 1.0)
    assert isinstance(fault, BrainFault)
    assert (fault.kind, fault.retryable) == (kind, retryable)
    assert reason in fault.message


@pytest.mark.parametrize("reason", ["NEED_MORE_INPUT", "TURN_COMPLETE_REASON_UNSPECIFIED"])
def test_a_natural_reason_is_none(reason: str) -> None:
    assert read(local(), text("Which one?"), live.TurnComplete(reason=reason))[-1] == TurnDone()


def test_a_lost_connection_is_a_fault() -> None:
    reading = local()
    assert reading.take(live.Closed(Exhausted("Used up.")), 1.0) == [
        BrainFault("quota", "Used up.", retryable=False)
    ]
    assert reading.lost


def test_a_connection_lost_after_the_end_takes_nothing_away() -> None:
    assert read(local(), text("On."), END, live.Closed(Unavailable("Gone."))) == [
        ReplyText("On."),
        ReplySettled(),
        TurnDone(),
    ]


@pytest.mark.parametrize(
    ("items", "patience_s"),
    [
        ([], 6.0),
        ([live.InputText("turn on")], 10.0),
        ([text("It")], 10.0),
        ([live.TurnComplete(idle=False)], 10.0),
        ([CALLS], None),
        ([CALLS, ANSWERED], 6.0),
        ([CALLS, ANSWERED, text("It")], 10.0),
    ],
)
def test_how_long_silence_may_last(items: list[Item], patience_s: float | None) -> None:
    reading = local()
    for item in items:
        reading.take(item, 1.0)
    assert reading.patience_s(1.0) == patience_s


@pytest.mark.parametrize(
    ("items", "patience_s"), [([], 6.0), ([text("The")], 6.0), ([text("The"), CALLS], None)]
)
def test_a_promise_after_an_action_is_waited_for_no_longer_than_its_report(
    items: list[Item], patience_s: float | None
) -> None:
    reading = local()
    reading.acted = True
    for item in (CALLS, ANSWERED, *items, live.TurnComplete(idle=False)):
        reading.take(item, 1.0)
    assert reading.patience_s(1.0) == patience_s
    reading.take(text("It is on."), 2.0)
    assert reading.patience_s(2.0) == (10.0 if patience_s else None)


def test_nothing_is_due_while_the_person_speaks() -> None:
    reading = EventReader(native_voice=False, timeouts=LiveTimeouts())
    reading.take(Reached("connected"), 0.0)
    reading.take(live.InputText("turn"), 0.5)
    assert reading.patience_s(1.0) is None


def test_too_long_a_silence_is_a_fault_and_the_session_unusable() -> None:
    reading = local()
    (fault,) = reading.overdue(6.0)
    assert fault == BrainFault("timeout", "Gemini stopped answering.", retryable=True)
    assert reading.lost


def test_a_turn_that_ended_before_its_results_has_nothing_to_add_to_them() -> None:
    reading = local()
    for item in (CALLS, END, ANSWERED):
        reading.take(item, 1.0)
    assert reading.overdue(7.0) == [TurnDone()]
    assert reading.lost  # what still comes would be taken for the next turn's


# --- Parts of the transcript that are spoken.


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["Yes.", " It is on."], "Yes. It is on."),
        (["[Silence]"], ""),
        (["[silence] Yes."], " Yes."),
        (["Yes. [Sil", "ence] No."], "Yes.  No."),
        (list("a[Silence]b"), "ab"),
        (["[Si[Silence]lence]"], "[Silence]"),
        (["See [Sil"], "See [Sil"),
        (["<noise> It is on. [laughs]"], " It is on. "),
        (["<no", "ise>On.<end_of_turn>"], "On."),
        (["5 < 6, and 7 > 3"], "5 < 6, and 7 > 3"),
        (["A [bracket that is much too long to be a mark] stays."],
         "A [bracket that is much too long to be a mark] stays."),
    ],
)  # fmt: skip
def test_marks_are_never_said(pieces: list[str], said: str) -> None:
    marks = MarkFilter()
    text = "".join(marks.push(piece) for piece in pieces) + marks.flush()
    assert text == said


@pytest.mark.parametrize(
    ("pieces", "said", "leaked"),
    [
        (["It is on."], "It is on.", False),
        (["Tool", " shed: it is on."], "Tool shed: it is on.", False),
        (["Call", "ing Mum."], "Calling Mum.", False),
        (["T"], "T", False),
        (["call:HassTurnOn area: Office"], "", True),
        ([" ca", "ll:Hass", "TurnOn"], "", True),
        (['tool_outputs {"status": "done"}', " It is on."], " It is on.", True),
        (['{"status": "done"} It is on.'], " It is on.", True),
        (["print(default_api.HassTurnOn())"], "", True),
        (["```tool_code\nHassTurnOn()"], "", True),
        (["Hass", "TurnOn", '(area="Office")'], "", True),
        (["HassTurnOn", ' {"area": "Office"}', " It is on."], " It is on.", True),
        (["It is on. ", 'tool_outputs {"status": "done"}'], "It is on. ", True),
        (["Sure.", " call:HassTurnOn"], "Sure.", True),
        (["Sure. ", "Which", " one?"], "Sure. Which one?", False),
        (["Mitarbeiter(in", ") ist da."], "Mitarbeiter(in) ist da.", False),
        (["Note: it is", " 3.", "5 degrees"], "Note: it is 3.5 degrees", False),
    ],
)
def test_calls_and_results_are_never_said(pieces: list[str], said: str, leaked: bool) -> None:
    leak = LeakFilter()
    text = "".join(leak.push(piece) for piece in pieces) + leak.flush()
    assert (text, leak.leaked) == (said, leaked)


def test_only_the_first_word_of_a_sentence_is_held_back() -> None:
    leak = LeakFilter()
    assert [leak.push(piece) for piece in ("The", " office", " is")] == ["", "The office", " is"]


def test_a_call_that_is_only_spoken_fails_the_turn_so_that_it_is_asked_again() -> None:
    reader = local()
    events = read(reader, text("call:HassTurnOn area: Office"), END)
    [fault] = events
    assert isinstance(fault, BrainFault)
    assert (fault.kind, fault.retryable, reader.empty, reader.lost) == ("empty", True, True, False)
    assert reader.answer == ""


def test_a_result_that_is_spoken_after_a_call_is_left_out() -> None:
    spoken = text('tool_outputs {"status": "done"} It is on.')
    assert read(local(), CALLS, ANSWERED, spoken, END) == [
        CALLED,
        ReplyText(" It is on."),
        TurnDone(),
    ]
    spoken = text("tool_outputs status: done")
    assert read(local(), CALLS, ANSWERED, spoken, END) == [CALLED, TurnDone()]


def test_what_is_certain_is_given_at_once() -> None:
    assert MarkFilter().push("Yes, [S") == "Yes, "


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["I will do it now. " * 3], "I will do it now. "),
        (["The lights", " are on.", "The lights", " are on."], "The lights are on."),
        (["The lights are on. The lights", " are bright."], None),
        (["The lights are on. ", "The lights are"], None),
        (["No. No. No."], None),
        (["It is 3.5 degrees. It is cold."], None),
        (["¡Hola a todos! ¡Hola a todos!"], "¡Hola a todos! "),
    ],
)
def test_a_sentence_is_said_once(pieces: list[str], said: str | None) -> None:
    repeats = RepeatFilter()
    heard = "".join(map(repeats.push, pieces)) + repeats.flush()
    assert heard == ("".join(pieces) if said is None else said)


def test_a_sentence_can_be_said_again_after_a_call() -> None:
    repeats = RepeatFilter()
    said = repeats.push("The lights are on.")
    repeats.begin()
    assert said + repeats.push("The lights are on.") == "The lights are on." * 2


@pytest.fixture
def echo() -> EchoFilter:
    filter = EchoFilter()
    filter.called([{"name": "Kitchen Light", "domain": ["light"], "slots": {"item": "Milk"}}])
    return filter


@pytest.mark.parametrize("text", ["Kitchen Light", "kitchen light.", "light", " milk "])
def test_an_echo_of_an_argument_is_dropped_while_the_call_is_open(
    echo: EchoFilter, text: str
) -> None:
    assert echo.push(text, with_sound=False, answered=False) == ""
    echo.sound()
    assert echo.flush() == ""


@pytest.mark.parametrize(
    ("text", "with_sound"),
    [("The kitchen light is on.", False), ("Kitchen Light", True), ("Kitchen", False)],
)
def test_real_text_stays(echo: EchoFilter, text: str, with_sound: bool) -> None:
    assert echo.push(text, with_sound, answered=True) == text


def test_an_echo_after_the_answer_gives_way_to_the_sentence(echo: EchoFilter) -> None:
    assert echo.push("Kitchen Light", with_sound=False, answered=True) == ""
    assert echo.push("It is on.", with_sound=False, answered=True) == "It is on."


def test_a_sentence_that_begins_like_an_argument_is_whole(echo: EchoFilter) -> None:
    assert echo.push("Milk", with_sound=False, answered=True) == ""
    assert echo.push(" is on your list.", with_sound=False, answered=True) == (
        "Milk is on your list."
    )


@pytest.mark.parametrize(("sounded", "said"), [(True, "Milk."), (False, "")])
def test_a_last_word_is_said_if_it_was_heard(echo: EchoFilter, sounded: bool, said: str) -> None:
    echo.push("Milk.", with_sound=False, answered=True)
    if sounded:
        echo.sound()
    assert echo.flush() == said


def test_later_in_the_answer_an_argument_is_a_word_like_any_other(echo: EchoFilter) -> None:
    echo.push("I have put it there: ", with_sound=False, answered=True)
    assert echo.push("milk", with_sound=False, answered=True) == "milk"


def test_without_a_call_nothing_is_an_echo() -> None:
    assert EchoFilter().push("Milk", with_sound=False, answered=True) == "Milk"


@pytest.mark.parametrize("before", [[], [text("The office")], [CALLS, ANSWERED, text("The")]])
def test_an_interruption_that_nobody_caused_fails_the_turn_and_ends_the_session(
    before: list[Item],
) -> None:
    reader = local()
    events = read(reader, *before, live.Interrupted())
    fault = events[-1]
    assert isinstance(fault, BrainFault)
    assert (fault.kind, fault.retryable) == ("empty", True)
    assert (reader.over, reader.lost) == (True, True)


def test_one_during_a_call_fails_the_turn_even_after_words_that_were_complete() -> None:
    reader = local()
    events = read(reader, text("On it."), live.GenerationComplete(), CALLS, live.Interrupted())
    assert isinstance(events[-1], BrainFault)


@pytest.mark.parametrize(
    ("items", "stands"),
    [
        ([CALLS, ANSWERED, text("It is on.")], True),
        ([text("Let me see."), CALLS, ANSWERED], False),
        ([text("Let me see.")], False),
    ],
)
def test_an_answer_about_the_results_stands_though_more_was_promised(
    items: list[Item], stands: bool
) -> None:
    reader = local()
    for item in (UPLOADED, *items, live.TurnComplete(idle=False)):
        reader.take(item, 1.0)
    [end] = reader.overdue(60.0)
    assert isinstance(end, TurnDone if stands else BrainFault)
    assert reader.lost
