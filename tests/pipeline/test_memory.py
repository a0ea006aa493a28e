"""Tests of requests to remember, in whole turns: with the simulated Gemini, and offline."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.records import MemoryRecord
from assistant.domain.tool_call import Decision
from audio.sound_files import WavSource
from tests.pipeline.gemini_rig import LIVE, OFFLINE, Scene, ended, said, scene
from tests.pipeline.test_gemini_confirming import dialogue
from tests.pipeline.test_modes_day import Types
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.script import Call, Done, Hear, Say, Step, Turn

BIN, NUTS = "The bin goes out on Tuesday", "I am allergic to nuts"
CLAIM = "I will keep that in mind."
ASKED = f"Should I remember this: {BIN}?"

# Sentences, and the model's calls for them.
STEPS: dict[str, Sequence[Step]] = {
    "remember that the bin goes out on Tuesday": [
        Call("remember", {"fact": BIN, "english": "rubbish bin", "spanish": "basura cubo"}),
        Say("OK, I'll remember that."),
    ],
    "the bin goes out on Tuesday, you know": [
        Call("remember", {"fact": BIN, "offered": True}),
        Say(CLAIM),
    ],
    "what a fine page about bins": [Call("remember", {"fact": BIN}), Say(CLAIM)],
    "remember that I am allergic to nuts": [
        Call("remember", {"fact": NUTS, "sensitive": True}),
        Say("And what is your name?"),
    ],
    "my name is Ana": [
        Call("remember", {"fact": "Ana is allergic to nuts", "who": "Ana"}),
        Say("Thank you, Ana."),
    ],
    "it goes out on Friday now": [
        Call("correct_memory", {"about": "basura", "fact": "The bin goes out on Friday"}),
        Say("I have changed that."),
    ],
    "tidy yourself up": [Call("forget", {"about": "bin"}), Say("I have tidied up.")],
    "forget everything": [Call("forget", {"all": True}), Say("All is gone.")],
    "hello": [Say("Hello.")],
}


def service() -> GeminiSimulator:
    def respond(turn: HeardTurn) -> Sequence[Step]:
        found = max((text for text in STEPS if turn.text.endswith(text)), key=len)
        return [*STEPS[found], Done()]

    return GeminiSimulator(respond=respond)


async def facts(on: Scene) -> list[MemoryRecord]:
    return await on.app.home.store.memory.all()


async def texts(on: Scene) -> list[str]:
    return [fact.text for fact in await facts(on)]


def instruction(on: Scene) -> str:
    """Return the instruction of the newest session."""
    setup = on.service.connections[-1].setup
    assert setup is not None
    return setup.instruction


async def test_what_is_remembered_is_told_to_the_next_talk_but_not_while_guests_are_there(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, service()) as on:
        turn = await on.ask("Please remember that the bin goes out on Tuesday")
        assert (ended(turn), said(turn)) == ((LIVE, None), "OK, I'll remember that.")
        assert turn.outcomes[0].decision is Decision.ALLOWED
        [fact] = await facts(on)
        assert (fact.text, fact.who, fact.spanish) == (BIN, "", "basura cubo")
    async with scene(tmp_path, service()) as on:
        await on.ask("hello")
        assert f"<remembered>\n{BIN}\n</remembered>" in instruction(on)
    async with scene(tmp_path, service(), policy={"mode": "guest"}) as on:
        on.private = True
        await on.ask("hello")
        assert BIN not in instruction(on)


async def test_a_fact_of_a_person_asks_for_the_name_and_the_next_turn_tells_it(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, service(), prompter=Types()) as on:
        turn = await on.ask("remember that I am allergic to nuts")
        assert "What's your name, so I know who that's about?" in turn.outcomes[0].sentence
        turn = await on.ask("my name is Ana")
        assert turn.outcomes[0].decision is Decision.ALLOWED
        [fact] = await facts(on)
        assert (fact.text, fact.who, fact.about, fact.sensitive) == (NUTS, "Ana", "Ana", True)
    async with scene(tmp_path, service()) as on:
        await on.ask("hello")
        assert "nuts" not in instruction(on)  # it is sensitive
        assert "ask for them with recall" in instruction(on)


@pytest.mark.parametrize(
    "idea", ["the bin goes out on Tuesday, you know", "what a fine page about bins"]
)
@pytest.mark.parametrize("policy", [{}, {"mode": "trusting", "costly": "allow"}])
async def test_what_nobody_asked_for_is_kept_only_after_a_yes(
    tmp_path: Path, idea: str, policy: dict[str, Any]
) -> None:
    """Even if the model admits that it was its idea, and whatever the settings allow."""
    person = Types("no", "yes")
    async with scene(tmp_path, service(), prompter=person, policy=policy) as on:
        turn = await on.ask(idea)
        assert said(turn) == f"{ASKED} OK, I didn't save that."
        assert await texts(on) == []
        turn = await on.ask(idea)
        assert said(turn) == f"{ASKED} OK, I'll remember that."
        assert turn.outcomes[0].decision is Decision.CONFIRMED
        assert await texts(on) == [BIN]
        assert len(person.asked) == 2


@pytest.mark.parametrize(
    ("answer", "kept", "told"),
    [
        ("yes please", [BIN], f"{ASKED} OK, I'll remember that."),
        ("no", [], f"{ASKED} OK, I didn't save that."),
    ],
)
async def test_by_ear(tmp_path: Path, answer: str, kept: list[str], told: str) -> None:
    idea = "the bin goes out on tuesday"
    turns = [
        Turn("audio", [Hear(idea), Call("remember", {"fact": BIN}), Done()]),
        Turn("audio", [Hear(answer), Say(CLAIM), Done()], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        clip = dialogue(tmp_path, answer, request=idea)
        await on.app.runner.listen(WavSource(clip, realtime=False), turns=1)
        [turn] = on.turns
        assert said(turn) == told
        assert await texts(on) == kept


async def test_it_is_put_right_and_forgotten(tmp_path: Path) -> None:
    person = Types("no", "no", "yes")
    async with scene(tmp_path, service(), prompter=person) as on:
        await on.ask("remember that the bin goes out on Tuesday")
        await on.ask("it goes out on Friday now")
        assert await texts(on) == ["The bin goes out on Friday"]
        turn = await on.ask("tidy yourself up")  # nobody asked for that
        assert said(turn) == "Should I forget this: bin? OK, I haven't forgotten it."
        turn = await on.ask("forget everything")
        assert said(turn).endswith("OK, I haven't forgotten anything.")
        assert await texts(on) == ["The bin goes out on Friday"]
        await on.ask("forget everything")
        assert await texts(on) == []


async def test_without_any_cloud_in_both_languages(tmp_path: Path) -> None:
    person = Types("sí")
    settings: dict[str, Any] = {"languages": ["en", "es"], "data": str(tmp_path / "data")}
    async with scene(
        tmp_path,
        service(),
        prompter=person,
        assistant=settings,
        brain={"order": [OFFLINE]},
    ) as on:
        dialogue = [
            ("remember that the bin goes out on Tuesday", "OK, I'll remember that."),
            ("what do you know about the bin?", f"Here's what I remember. {BIN}."),
            (
                "recuerda que soy alérgica a las nueces",
                "Lo recordaré, y solo lo diré si alguien me lo pregunta. "
                "¿De quién es eso? ¿Cómo te llamas?",
            ),
            ("me llamo Ana", "Gracias, Ana, ahora sé de quién es."),
            (
                "¿qué recuerdas de las nueces?",
                "Esto es lo que recuerdo. Ana: Soy alérgica a las nueces.",
            ),
            (
                "what do you remember?",
                f"Here's what I remember. {BIN}. "
                "I also remember something private. "
                "Ask me about it directly if you want to hear it.",
            ),
            ("forget what you know about the bin", "OK, I've forgotten that."),
            (
                "olvida todo lo que recuerdas",
                "¿Olvido todo lo que me habéis pedido recordar? "
                "He olvidado todo lo que me habíais pedido recordar.",
            ),
            ("qué recuerdas", "Todavía no me habéis pedido que recuerde nada."),
        ]
        for sentence, answer in dialogue:
            assert said(await on.ask(sentence)) == answer, sentence
        assert await facts(on) == []
