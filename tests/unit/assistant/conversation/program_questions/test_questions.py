"""Tests of a program's question: heard, judged, asked again, or given up."""

from collections.abc import Mapping
from typing import Any

import pytest

from assistant.conversation.record import record_of, wordless
from assistant.domain.brain import Heard, ReplyText, Serving
from tests.unit.assistant.conversation.asking_stage import LIGHT, Ear, means, replies
from tests.unit.assistant.conversation.doubles import ScriptedBrain, Tools
from tests.unit.assistant.conversation.program_questions.stage import ONCE, TWICE, stage

AGAIN = "Sorry, I didn't understand that. Shall I close the blinds?"


class TestAnswered:
    async def test_an_expected_answer(self) -> None:
        learned: list[str] = []
        brain = ScriptedBrain(replies(Heard("Yes."), ReplyText("You are welcome!")))
        async with stage(brain, ONCE, means(Ear("what"), learned)) as room:
            answer = await room.ask()
        assert (answer.result, answer.id, answer.sentence) == ("answered", "yes", "Yes.")
        [turn] = room.turns
        assert turn.spoken.clauses == ("Shall I close the blinds?",)
        assert "What they said then was meant for it and not for you" in learned[0]
        record = record_of(turn, room.closed[0][1])
        assert (record.source, record.caller) == ("announcement", "http:garden")
        assert (record.heard, record.answer) == ("Yes.", "Shall I close the blinds?")
        assert wordless(record).heard is None
        assert record.error is None

    async def test_what_happened_is_told_with_the_turn(self) -> None:
        brain = ScriptedBrain(replies(Heard("no thanks")))
        async with stage(brain, ONCE, means(None)) as room:
            await room.ask()
        [told] = room.told
        assert (told.kind, told.turn_id) == ("question", room.turns[0].turn_id)
        assert (told.data["result"], told.data["answer"]) == ("answered", "no")
        assert told.data["caller"] == "http:garden"
        assert told.words == {"question": "Shall I close the blinds?", "sentence": "no thanks"}

    async def test_but_no_words_of_guests(self) -> None:
        brain = ScriptedBrain(replies(Heard("no")))
        async with stage(brain, ONCE, means(None), keeps_words=False) as room:
            await room.ask()
        assert [told.words for told in room.told] == [{}]

    async def test_what_this_device_hears_will_do_where_the_service_misheard(self) -> None:
        brain = ScriptedBrain(replies(Heard("The guess.")))
        async with stage(brain, ONCE, means(Ear("yes"))) as room:
            answer = await room.ask()
        assert (answer.id, answer.sentence) == ("yes", "yes")

    async def test_a_call_that_a_model_makes_of_an_answer_is_never_run(self) -> None:
        tools = Tools()
        brain = ScriptedBrain(replies(Heard("Yes."), LIGHT))
        async with stage(brain, ONCE, means(None), tools=tools) as room:
            answer = await room.ask()
        assert answer.id == "yes"
        assert tools.calls == []
        assert brain.turns[0].answers == []

    async def test_open_places_are_slots(self) -> None:
        answers = [{"id": "room", "sentences": ["[in] [the] {room}"]}]
        brain = ScriptedBrain(replies(Heard("In the Kitchen, please.")))
        async with stage(brain, ONCE, means(None)) as room:
            answer = await room.ask(answers=answers)
        assert (answer.id, answer.slots) == ("room", {"room": "Kitchen"})
        assert answer.turn_id == room.turns[0].turn_id

    async def test_of_guests_it_is_told_which_answer_it_was_and_no_words(self) -> None:
        answers = [{"id": "room", "sentences": ["[in] [the] {room}"]}]
        brain = ScriptedBrain(replies(Heard("In the Kitchen, please.")))
        async with stage(brain, ONCE, means(None), keeps_words=False) as room:
            answer = await room.ask(answers=answers)
        assert (answer.id, answer.sentence, answer.slots) == ("room", None, {})
        assert [told.words for told in room.told] == [{}]

    @pytest.mark.parametrize("keeps_words", [True, False])
    @pytest.mark.parametrize(("said", "name"), [("Yes please.", "yes"), ("No.", "no")])
    async def test_where_none_is_expected_a_plain_yes_or_no_is_told_as_one(
        self, said: str, name: str, keeps_words: bool
    ) -> None:
        brain = ScriptedBrain(replies(Heard(said)))
        async with stage(brain, ONCE, means(None), keeps_words=keeps_words) as room:
            answer = await room.ask(answers=[])
        assert answer.id == name
        assert answer.sentence == (said if keeps_words else None)

    async def test_without_expected_answers_any_words_will_do(self) -> None:
        brain = ScriptedBrain(replies(Heard("Tell Anna that I am late.")))
        async with stage(brain, ONCE, means(None)) as room:
            answer = await room.ask(answers=[])
        assert (answer.result, answer.id) == ("answered", None)
        assert answer.sentence == "Tell Anna that I am late."


class TestNotAnswered:
    async def test_silence(self) -> None:
        async with stage(ScriptedBrain(), {}, means(None)) as room:
            answer = await room.ask(timeout_s=3)
        assert answer.result == "no_answer"
        assert [turn.heard for turn in room.turns] == [None]

    async def test_other_words_twice(self) -> None:
        brain = ScriptedBrain(replies(Heard("hm")), replies(Heard("who knows")))
        async with stage(brain, TWICE, means(None)) as room:
            answer = await room.ask()
        assert (answer.result, answer.sentence, answer.id) == ("unclear", "who knows", None)
        assert room.turns[0].spoken.clauses == ("Shall I close the blinds?", AGAIN)

    async def test_once_asked_again_it_is_answered(self) -> None:
        brain = ScriptedBrain(replies(Heard("hm")), replies(Heard("yes")))
        async with stage(brain, TWICE, means(None)) as room:
            answer = await room.ask()
        assert (answer.result, answer.id) == ("answered", "yes")

    async def test_silence_after_other_words_is_no_silence(self) -> None:
        async with stage(ScriptedBrain(replies(Heard("hm"))), ONCE, means(None)) as room:
            answer = await room.ask()
        assert (answer.result, answer.sentence) == ("unclear", "hm")

    async def test_words_that_ask_for_silence_are_not_asked_again(self) -> None:
        brain = ScriptedBrain(replies(Heard("Be quiet.")))
        async with stage(brain, ONCE, means(None)) as room:
            answer = await room.ask(answers=[])
        assert answer.result == "unclear"
        assert room.turns[0].spoken.clauses == ("Shall I close the blinds?",)

    async def test_a_command_is_served_and_the_question_left(self) -> None:
        tools = Tools()
        words = Heard("turn on the hall light")
        brain = ScriptedBrain(replies(words, LIGHT, ReplyText("The hall light is on.")))
        async with stage(brain, ONCE, means(None), tools=tools) as room:
            answer = await room.ask()
        assert (answer.result, answer.sentence) == ("unclear", "turn on the hall light")
        asked, served = room.turns
        assert served.spoken.clauses == ("The hall light is on.",)
        assert (served.opening.caller, served.heard) == ("", "turn on the hall light")
        assert tools.calls == [LIGHT]
        assert served.turn_id != asked.turn_id

    async def test_words_that_a_model_only_talks_about_are_no_command(self) -> None:
        tools = Tools()
        brain = ScriptedBrain(
            replies(Heard("the weather is so nice"), ReplyText("It is!")),
            replies(Heard("no")),
        )
        async with stage(brain, TWICE, means(None), tools=tools) as room:
            answer = await room.ask()
        assert answer.id == "no"
        assert tools.calls == []

    async def test_neither_is_one_word_that_a_model_takes_for_one(self) -> None:
        tools = Tools()
        brain = ScriptedBrain(replies(Heard("light"), LIGHT), replies(Heard("no")))
        async with stage(brain, TWICE, means(None), tools=tools) as room:
            answer = await room.ask()
        assert answer.id == "no"
        assert tools.calls == []

    async def test_a_brain_that_gave_up_understood_no_command(self) -> None:
        brain = ScriptedBrain(
            replies(Heard("do something else entirely"), Serving("home-assistant")),
            replies(Heard("no")),
        )
        async with stage(brain, TWICE, means(None)) as room:
            assert (await room.ask()).id == "no"


class Values:
    """A model that returns a scripted value for each answer."""

    def __init__(self, *values: dict[str, Any] | None) -> None:
        self.values = list(values)
        self.asked: list[tuple[str, str]] = []

    async def map(
        self, question: str, sentence: str, schema: Mapping[str, Any], language: str
    ) -> dict[str, Any] | None:
        self.asked.append((question, sentence))
        return self.values.pop(0)


SCHEMA = {"type": "object", "properties": {"minutes": {"type": "integer"}}}


class TestSchema:
    async def test_values_are_made_of_the_words(self) -> None:
        mapper = Values({"minutes": 90})
        brain = ScriptedBrain(replies(Heard("In an hour and a half.")))
        async with stage(brain, ONCE, means(None), mapper=mapper.map) as room:
            answer = await room.ask(answers=[], schema=SCHEMA)
        assert (answer.result, answer.id, answer.slots) == ("answered", None, {"minutes": 90})
        assert answer.sentence == "In an hour and a half."
        assert mapper.asked == [("Shall I close the blinds?", "In an hour and a half.")]

    async def test_what_has_no_value_is_asked_again(self) -> None:
        brain = ScriptedBrain(replies(Heard("Hm?")), replies(Heard("Ten.")))
        mapper = Values(None, {"minutes": 10})
        async with stage(brain, TWICE, means(None), mapper=mapper.map) as room:
            answer = await room.ask(answers=[], schema=SCHEMA)
        assert answer.slots == {"minutes": 10}

    async def test_without_a_model_nobody_is_asked_twice(self) -> None:
        brain = ScriptedBrain(replies(Heard("Ten.")))
        async with stage(brain, ONCE, means(None)) as room:
            answer = await room.ask(answers=[], schema=SCHEMA)
        assert (answer.result, answer.sentence, answer.slots) == ("unclear", "Ten.", {})

    async def test_an_expected_answer_needs_no_model(self) -> None:
        brain = ScriptedBrain(replies(Heard("no")))
        async with stage(brain, ONCE, means(None), mapper=Values().map) as room:
            answer = await room.ask(schema=SCHEMA)
        assert answer.id == "no"
