"""An answer that was cut off: what the model and its history know of it."""

from dataclasses import replace

import pytest

from assistant.brains.gemini.calls import note_of_cut
from assistant.brains.gemini.session_manager import LiveSessionManager
from assistant.domain.brain import ReplyText, TurnDone
from integrations.errors import Unavailable
from integrations.gemini.events import InputText, OutputText, TurnComplete
from tests.unit.assistant.brains.gemini.doubles import ROW, Sent
from tests.unit.assistant.brains.gemini.stage import YES, sentence, session, spoken, stage, typed

LONG = (InputText("how is it"), OutputText("It is fine and warm.", True), TurnComplete())
NOTE = note_of_cut("It is")


async def test_it_is_told_once_before_the_next_sentence() -> None:
    talk = session(*sentence(*LONG), Sent("context", NOTE), *sentence(*YES), *sentence(*YES))
    async with stage(talk) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(spoken(turn_id="2"))
        await on.play(spoken(turn_id="3"))


async def test_in_front_of_a_typed_one() -> None:
    talk = session(*sentence(*LONG), Sent("text", f"{NOTE}\nturn on the lamp", YES))
    async with stage(talk) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(typed(turn_id="2"))


async def test_where_a_model_takes_no_text_beside_speech_an_old_answer_is_not_told_of() -> None:
    row = replace(ROW, client_content=False)
    talk = session(
        *sentence(*LONG),
        Sent("text", f"{NOTE}\nturn on the lamp", YES),
        *sentence(*LONG),
        *sentence(*YES),
        Sent("text", "turn on the lamp", YES),
    )
    async with stage(talk, row=row) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(typed(turn_id="2"))
        await on.play(spoken(turn_id="3"))
        on.brain.cut_off("3", "It")
        await on.play(spoken(turn_id="4"))  # from here on the last answer is another one
        await on.play(typed(turn_id="5"))


async def test_a_session_that_begins_afresh_has_it_in_the_history_alone() -> None:
    first = session(*sentence(*LONG))
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        first.break_off(Unavailable("Gone."))
        await on.play(spoken(turn_id="2"))
        told = on.client.setups[1].instruction
        assert "Person: how is it\nYou: It is (cut off)\n" in told
        assert "fine" not in told


async def test_one_that_goes_on_is_told() -> None:
    first = session(*sentence(*LONG), handle="h")
    async with stage(first, session(Sent("context", NOTE), *sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.clock.run(300.0)
        await on.play(spoken(turn_id="2"))
        assert on.client.setups[1].handle == "h"


async def test_what_is_cut_off_before_the_model_has_ended_is_remembered_as_heard() -> None:
    first = session(*sentence(*LONG[:2]))
    async with stage(first, session(*sentence(*YES))) as on:
        turn = on.brain.begin(spoken(turn_id="1"))
        events, _ = await on.until(turn, ReplyText)
        on.brain.cut_off("1", "")
        await events.aclose()
        first.break_off(Unavailable("Gone."))
        await on.play(spoken(turn_id="2"))
        assert "You: (cut off)\n" in on.client.setups[1].instruction


def _tell(keeper: LiveSessionManager, told: list[str]) -> None:
    with keeper.notes() as notes:
        told.append(notes)
        raise Unavailable("Gone.")


async def test_what_did_not_arrive_is_told_again() -> None:
    async with stage(session(*sentence(*LONG), Sent("context", NOTE), *sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        told: list[str] = []
        with pytest.raises(Unavailable):
            _tell(on.brain._sessions.people, told)
        assert told == [NOTE]
        await on.play(spoken(turn_id="2"))


async def test_or_is_in_the_history_where_the_session_broke() -> None:
    broken = session(*sentence(*LONG), Sent("context", NOTE, fails=Unavailable("No.")))
    async with stage(broken, session(*sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        await on.play(spoken(turn_id="2"))
        assert (await on.play(spoken(turn_id="2")))[-1] == TurnDone()
        assert "You: It is (cut off)\n" in on.client.setups[1].instruction


async def test_a_forgotten_talk_leaves_nothing_to_tell() -> None:
    async with stage(session(*sentence(*LONG)), session(*sentence(*YES))) as on:
        await on.play(spoken(turn_id="1"))
        on.brain.cut_off("1", "It is")
        on.brain.forget()
        await on.play(spoken(turn_id="2"))
        assert on.client.setups[1] == on.client.setups[0]
